"""Forecasts: what a system should reach that nobody measured, one module a benchmark.

A :class:`Case` says what is asked, a :class:`Point` what to expect. A module offers what
:class:`Forecast` says; to add one, add a module named like the benchmark, and its name below. The
equations are those of :mod:`plumbline.model.equations`; a figure that a system lacks is a
:class:`plumbline.base.errors.UsageError` that names it and its table.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import NamedTuple, Protocol, cast

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.model.transfer import Transfer, transfer_of, transfers_of
from plumbline.system.device import Bitstream, DeviceTable, joined
from plumbline.system.system import System, known

BENCHMARKS = (
    "stream",
    "random_access",
    "fft",
    "gemm",
    "b_eff",
    "ptrans",
    "hpl",
    "shallow_water",
    "collectives",
    "gups",
)


@dataclass(frozen=True)
class Case:
    """What is asked of a system. ``size`` is of the whole problem, over all ``ranks`` devices.

    ``kernel`` names a variant of a board's bitstream; ``single`` is what one device reached
    (GFLOP/s) and at which clock (MHz), where a forecast is to start from that.
    """

    operation: str = ""
    type: str = "float"
    size: float | None = None
    ranks: int = 1
    transport: str | None = None
    approach: str | None = None
    kernel: str | None = None
    window: int = 1
    single: tuple[float, float] | None = None


@dataclass(frozen=True)
class Point:
    """What to expect: the time in seconds, the metric, and what bounds it.

    ``printed`` is the metric by the equation as its source prints it, None where there is none.
    ``extrapolated`` says why the figures do not reach so far, and is empty where they do.
    ``unit`` is the metric's where it is not the benchmark's own.
    """

    seconds: float
    value: float
    bound: str
    parts: dict[str, float] = field(default_factory=dict)
    printed: float | None = None
    extrapolated: str = ""
    unit: str = ""


class Timed(NamedTuple):
    """A time in seconds, the part that it is, and all parts."""

    seconds: float
    bound: str
    parts: dict[str, float]


class Forecast(Protocol):
    """What a module of this package offers."""

    METRIC: str
    UNIT: str
    EQUATION: str
    SIZE: str  # what a size is, with its unit; "" where there is none
    OPERATIONS: tuple[str, ...]  # of a table where none are asked for
    MORE: tuple[str, ...]  # others that may be asked for
    SENDS: bool  # whether it needs a transport

    def sizes(self, system: System) -> list[float]:
        """The sizes of a table, where none are asked for: of one device."""

    def point(self, system: System, case: Case) -> Point:
        """What to expect of ``case``."""


def forecast_of(benchmark: str) -> Forecast:
    """The module of ``benchmark``. Raises :class:`UsageError` where there is none."""
    if benchmark not in BENCHMARKS:
        raise UsageError(
            f"there is no forecast of {benchmark}{did_you_mean(benchmark, BENCHMARKS)} "
            f"(there are: {', '.join(BENCHMARKS)})"
        )
    return cast(Forecast, importlib.import_module(f"{__name__}.{benchmark}"))


def device_of(system: System) -> DeviceTable:
    """The system's device, else what its calibrations found, the newest first."""
    found = [one.device for one in reversed(system.calibrations) if one.device is not None]
    return system.device or (joined(found) if found else DeviceTable())


def bitstream_of(system: System, benchmark: str, case: Case) -> Bitstream | None:
    """The board's bitstream for a case, or None where the device is no board with kernels.

    Raises :class:`UsageError` where a board has bitstreams, but none that fits.
    """
    device = device_of(system)
    found = device.bitstream(benchmark, case.type, case.transport, case.kernel)
    if found is None and device.bitstreams:
        of = f" for the transport {case.transport}" if case.transport else ""
        variant = f" called {case.kernel}" if case.kernel else ""
        raise UsageError(
            f"the system {system.system.name} has no bitstream of {benchmark} in {case.type}"
            f"{variant}{of} in the table [[device.bitstreams]]"
        )
    return found


def message_of(system: System, case: Case) -> Transfer:
    """How a case's messages go: as it says, else the first way that the system knows."""
    if case.transport is not None:
        return transfer_of(system, case.transport, case.approach)
    ways = transfers_of(system)
    if not ways:
        raise UsageError(
            f"the system {system.system.name} knows no way of a message: it needs the table "
            "[legs], [channel], [accl] or [[transfers]]"
        )
    return ways[0]


def update_s(device: DeviceTable, table_bytes: int) -> float:
    """Seconds of an update of a random word: atomic where that is known, else plain."""
    atomic = device.updates_s(1, table_bytes, atomic=True)
    plain = device.updates_s(1, table_bytes, atomic=False)
    return known(plain if atomic is None else atomic, "gup_s", "device.random")


def least(rates: Mapping[str, float]) -> str:
    """The name of the least rate: the bound."""
    return min(rates, key=rates.__getitem__)


def slowest(work: float, rates: Mapping[str, float], device: DeviceTable) -> Timed:
    """The time of ``work`` at the least of ``rates``, or of one launch where that is longer."""
    parts = {name: work / rate for name, rate in rates.items()}
    if device.launch is not None:
        parts["launch"] = device.launch.wait_us * 1e-6
    bound = longest(parts)
    return Timed(parts[bound], bound, parts)


def longest(parts: Mapping[str, float]) -> str:
    """The name of the longest part: the bound of a sum."""
    return max(parts, key=parts.__getitem__)


def too_many(system: System, case: Case) -> str:
    """Why so many devices are an extrapolation, or nothing."""
    if system.machine is None:
        return "the system is one device" if case.ranks > 1 else ""
    devices = system.machine.devices
    return f"the machine has {devices} devices" if case.ranks > devices else ""


def beyond(system: System, case: Case, device_bytes: float = 0) -> str:
    """Why a case is an extrapolation: too many devices, or more than a device's memory holds."""
    holds = device_of(system).memory_bytes
    if holds is not None and device_bytes > holds:
        return f"a device's memory holds {holds / 2**30:g} GiB of {device_bytes / 2**30:.4g}"
    return too_many(system, case)


def side_of(ranks: int) -> int:
    """The side of a square grid. Raises :class:`UsageError` where it is none."""
    side = isqrt(ranks)
    if side * side != ranks:
        raise UsageError(f"--ranks {ranks} is no square grid (P = Q): give 1, 4, 9, 16, 25, ...")
    return side


def size_of(case: Case, name: str) -> float:
    """The case's size. Raises :class:`UsageError` where it has none."""
    if case.size is None:
        raise UsageError(f"the case has no {name}")
    return case.size
