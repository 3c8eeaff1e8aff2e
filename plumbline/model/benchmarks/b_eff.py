"""b_eff: effective bandwidth, and the time of an exchange over hosts and serial channels.

Source: Meyer 2024, eq. 4.1 to 4.4 and 4.7; section 5.1.2 for the sub-steps of a staged transfer.
Sizes in bytes, times in seconds, rates in bytes a second.

*A case of a record.* A staged transfer is read, exchange and write, one after another (eq. 4.2 and
4.7; the sub-steps of section 5.1.2 are legs here). How many messages a leg carries, and how this
relates to eq. 4.7's 6.06 GB/s, is in :mod:`plumbline.system.system`.

A system's own ``[[transfers]]``, measured or fitted, replace both. If the legs are known as well,
the excess of the whole over them is its part ``handover``: waiting for the slower neighbour, and
for a core.

Over serial links (transport ``channel``) a message takes eq. 4.3's time: each lane has two of the
board's channels, as a kernel pair has there, and lanes beyond the number of channels take turns.

*A forecast.* Messages of ``size`` bytes between neighbours; without a size the mean over all 21.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import Forecast, Scenario, bitstream_of, message_of, size_of, too_many
from plumbline.model.legs import HANDOVER, LEGS_OF, legs_of
from plumbline.model.messages import CHANNELS_OF_A_PAIR, channel_s
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.transfer import Transfer
from plumbline.record.record import Case, Record
from plumbline.system.segments import time_of
from plumbline.system.system import (
    LEGS,
    Channel,
    Figures,
    Leg,
    Legs,
    MeasuredTransfer,
    Need,
    System,
    known,
)

# --- equations ------------------------------------------------------------------------------------

LOG_SIZES = 21  # messages of 2^0 to 2^20 bytes


def message_sizes() -> Floats:
    """The 21 message sizes of section 4.1.1."""
    return floats(2.0 ** np.arange(LOG_SIZES))


def effective_bandwidth(bandwidths: ArrayLike) -> Floats:
    """Eq. 4.1: the mean over the sizes, along the last axis."""
    return floats(np.mean(floats(bandwidths), axis=-1))


def bandwidth(message_bytes: ArrayLike, seconds: ArrayLike) -> Floats:
    """b_L = 2 L / t, the numerator of eq. 4.2 and 4.4: bytes sent and received."""
    return floats(2 * floats(message_bytes) / floats(seconds))


def printed_channel_bandwidth(message_bytes: ArrayLike) -> Floats:
    """Eq. 4.4 as printed: 2 L / (ceil(L / 64 B) 6.4 ns + 520 ns), of one pair of kernels."""
    ticks = np.ceil(floats(message_bytes) / 64)
    return floats(2 * floats(message_bytes) / (ticks * 6.4e-9 + 520e-9))


# --- a case of a record ---------------------------------------------------------------------------

NEEDS: Need = "legs"
TRANSPORTS = frozenset({"mpi", "staged", "channel"})

_TRANSFER_WHOLE = Bound("transfer", "transfer")
_CLOCK = Bound("clock", "channel clock")
_LATENCY = Bound("latency", "channel latency")


def describe(record: Record, figures: Figures) -> str:
    """The transfer's model, with its equation."""
    if figures.transfer(record.transport_name, record.approach):
        legs = LEGS_OF.get(record.transport_name, ()) if figures.legs else ()
        of = f", of {', '.join(legs)} and handover" if legs else ""
        return f"{record.transport_name}, measured whole{of}: latency + n L / bandwidth"
    if record.transport_name == "staged":
        return "staged = read + exchange + write (Meyer 2024, eq. 4.2)"
    if record.transport_name == "mpi":
        return "mpi = exchange"
    if record.transport_name == "channel":
        return "channel = ceil(L / (2 channels' width)) / clock + latency (Meyer 2024, eq. 4.3)"
    return f"none for the transport {record.transport_name}"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each case; cases without a model carry the reason."""
    transfer = figures.transfer(record.transport_name, record.approach)
    if record.transport_name == "channel" and transfer is None:
        return {case.key: _over_links(record, case, figures.channel) for case in record.cases}
    legs = figures.legs or Legs()
    return {case.key: _expectation(record, case, legs, transfer) for case in record.cases}


def _expectation(
    record: Record, case: Case, legs: Legs, transfer: MeasuredTransfer | None
) -> Prediction:
    steps = legs_of(record, case)
    whole = transfer is not None and case.label("part") not in LEGS
    if not (steps or whole):
        return Prediction.unknown(f"no model for the transport {record.transport_name}")
    form = record.parameters.get("form", "exchange")
    if form != "exchange":
        return Prediction.unknown(f"no model for the form {form}, only for exchange")
    if transfer is not None and whole:
        return _measured_whole(case, legs, steps, transfer)
    parts = _parts(case, legs, steps)
    for leg, seconds in parts.items():
        if seconds is None:
            return Prediction.unknown(f"the system file has no leg {leg}")
    took: dict[str, float] = {leg: seconds or 0.0 for leg, seconds in parts.items()}
    return Prediction.in_turn(took)


def _parts(case: Case, legs: Legs, steps: tuple[Leg, ...]) -> dict[str, float | None]:
    """Seconds of each leg; None if unknown."""
    return {
        Bound(leg, "transfer"): legs.time_s(leg, case.work.messages, case.message_bytes())
        for leg in steps
    }


def _measured_whole(
    case: Case, legs: Legs, steps: tuple[Leg, ...], transfer: MeasuredTransfer
) -> Prediction:
    """The time of the whole; if its legs are known, their times and the excess."""
    whole = time_of(transfer.segments, case.work.messages, case.message_bytes()) or 0.0
    took: dict[str, float] = {
        leg: seconds or 0.0 for leg, seconds in _parts(case, legs, steps).items()
    }
    if not all(took.values()) or not took:
        return Prediction.in_turn({_TRANSFER_WHOLE: whole})
    if whole > sum(took.values()):
        took[HANDOVER] = whole - sum(took.values())
    return Prediction(whole, bound=max(took, key=took.__getitem__), parts=took)


def _over_links(record: Record, case: Case, channel: Channel | None) -> Prediction:
    form = record.parameters.get("form", "exchange")
    if form != "exchange":
        return Prediction.unknown(f"no model for the form {form}, only for exchange")
    if channel is None:
        return Prediction.unknown("the system file has no channel")
    try:
        latency = known(channel.latency_ns, "latency_ns", "channel") * 1e-9
        clock = known(channel.frequency_mhz, "frequency_mhz", "channel") * 1e6
        width = known(channel.width_bytes, "width_bytes", "channel")
    except UsageError as error:
        return Prediction.unknown(str(error))
    turns = math.ceil(case.work.messages * CHANNELS_OF_A_PAIR / channel.count)
    clocked = turns * float(channel_s(case.message_bytes(), width, clock, 0))
    return Prediction.in_turn({_LATENCY: latency, _CLOCK: clocked})


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "2 L / t of one device, t by the transport; eq. 4.1 to 4.4; latency: t of 1 B in us"
SIZE = "bytes of a message"
GROWS = ""
RANKS = (2,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("latency", "one way")
SENDS = True
SCALED = "b_eff"  # the metric of a series over ranks


def sizes(_system: System) -> list[float]:
    """The 21 sizes of eq. 4.1."""
    return [float(size) for size in message_sizes()]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One exchange; kernels of a board use two channels each, all pairs at once."""
    transfer, beyond = message_of(system, scenario), too_many(system, scenario)
    beyond = transfer.emulated or beyond
    pairs = _pairs(system, scenario, transfer)
    if scenario.operation == "latency":
        found = Prediction.in_turn(_parts_of(transfer, scenario.size or 1.0))
        return Forecast(found, found.time_s * 1e6, None, beyond, "us")
    if scenario.operation == "one way":
        found = Prediction.in_turn(_parts_of(transfer, size_of(scenario, "size")))
        return Forecast(found, size_of(scenario, "size") / found.time_s * 1e-9, None, beyond)
    length = message_sizes() if scenario.size is None else np.array([scenario.size])
    if transfer.is_extrapolated(length).any():
        beyond = f"the figures of {transfer.name} end at {transfer.largest_bytes} B"
    rates = bandwidth(length, transfer.seconds(length)) * pairs * 1e-9
    longest = Prediction.in_turn(_parts_of(transfer, float(length[-1])))
    printed = float(effective_bandwidth(_printed(transfer, length) * pairs * 1e-9))
    value = float(effective_bandwidth(rates))
    found = replace(longest, seconds=float(transfer.seconds(length).sum()))
    return Forecast(found, value, printed, beyond)


def _pairs(system: System, scenario: Scenario, transfer: Transfer) -> float:
    if transfer.transport != "channel" or system.channel is None:
        return 1
    kernel = bitstream_of(system, "b_eff", scenario) if system.device else None
    most = system.channel.count / CHANNELS_OF_A_PAIR
    return min(most, kernel.replications) if kernel else most


def _printed(transfer: Transfer, length: np.ndarray) -> np.ndarray:
    """Eq. 4.2 has peaks alone (eq. 4.7), eq. 4.3 its latency too."""
    if transfer.transport == "channel" or transfer.transport.startswith("accl"):
        return bandwidth(length, transfer.seconds(length))
    return bandwidth(length, transfer.seconds(length) - transfer.seconds(np.zeros_like(length)))


def _parts_of(transfer: Transfer, size: float) -> dict[str, float]:
    return {name: float(part) for name, part in transfer.parts_s(size).items()}
