"""b_eff: messages of ``size`` bytes between neighbours; without a size the mean over all 21."""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import b_eff
from plumbline.model.forecast import (
    Case,
    Point,
    bitstream_of,
    longest,
    message_of,
    size_of,
    too_many,
)
from plumbline.model.transfer import Transfer
from plumbline.system.system import System

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "2 L / t of one device, t by the transport; eq. 4.1 to 4.4; latency: t of 1 B in us"
SIZE = "bytes of a message"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("latency", "one way")
SENDS = True


def sizes(_system: System) -> list[float]:
    """The 21 sizes of eq. 4.1."""
    return [float(size) for size in b_eff.sizes()]


def point(system: System, case: Case) -> Point:
    """One exchange; kernels of a board use two channels each, all pairs at once."""
    way, beyond = message_of(system, case), too_many(system, case)
    pairs = _pairs(system, case, way)
    if case.operation == "latency":
        parts = _parts(way, case.size or 1.0)
        seconds = sum(parts.values())
        return Point(seconds, seconds * 1e6, longest(parts), parts, None, beyond, "us")
    if case.operation == "one way":
        parts = _parts(way, size_of(case, "size"))
        seconds = sum(parts.values())
        value = size_of(case, "size") / seconds * 1e-9
        return Point(seconds, value, longest(parts), parts, None, beyond)
    length = b_eff.sizes() if case.size is None else np.array([case.size])
    if way.is_extrapolated(length).any():
        beyond = f"the figures of {way.name} end at {way.largest_bytes} B"
    rates = b_eff.bandwidth(length, way.seconds(length)) * pairs * 1e-9
    parts = _parts(way, float(length[-1]))
    printed = float(b_eff.effective_bandwidth(_printed(way, length) * pairs * 1e-9))
    value = float(b_eff.effective_bandwidth(rates))
    return Point(float(way.seconds(length).sum()), value, longest(parts), parts, printed, beyond)


def _pairs(system: System, case: Case, way: Transfer) -> float:
    if way.transport != "channel" or system.channel is None:
        return 1
    kernel = bitstream_of(system, "b_eff", case) if system.device else None
    most = system.channel.count / b_eff.CHANNELS_OF_A_PAIR
    return min(most, kernel.replications) if kernel else most


def _printed(way: Transfer, length: np.ndarray) -> np.ndarray:
    """Eq. 4.2 has peaks alone (eq. 4.7), eq. 4.3 its latency too."""
    if way.transport == "channel" or way.transport.startswith("accl"):
        return b_eff.bandwidth(length, way.seconds(length))
    return b_eff.bandwidth(length, way.seconds(length) - way.seconds(np.zeros_like(length)))


def _parts(way: Transfer, size: float) -> dict[str, float]:
    return {name: float(part) for name, part in way.parts_s(size).items()}
