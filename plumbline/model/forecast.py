"""Forecasts: the performance of a system without measurements.

The modules of :mod:`plumbline.model.benchmarks` return a :class:`Forecast` for a
:class:`Scenario`. A missing figure of the system is a
:class:`plumbline.base.errors.UsageError` that names it and its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.model.limits import LAUNCH
from plumbline.model.prediction import Prediction
from plumbline.model.transfer import Transfer, transfer_of, transfers_of
from plumbline.system.device import Bitstream, DeviceTable, joined
from plumbline.system.system import System, known


@dataclass(frozen=True)
class Scenario:
    """The request of a forecast. ``size`` is of the whole problem, over all ``ranks`` devices.

    ``kernel`` names a variant of a board's bitstream; ``single`` is the measured rate of one device
    (GFLOP/s) with its clock (MHz), from which a forecast may start.
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
class Forecast:
    """A forecast: the time with its bound, and the metric.

    ``printed`` is the metric by the equation exactly as printed, or None. ``extrapolated`` is the
    reason for an extrapolation, otherwise empty. ``unit`` is the metric's unit if it differs from
    the benchmark's.
    """

    prediction: Prediction
    value: float
    printed: float | None = None
    extrapolated: str = ""
    unit: str = ""

    @property
    def seconds(self) -> float:
        """The time."""
        return self.prediction.time_s

    @property
    def bound(self) -> str:
        """The part that bounds it."""
        return self.prediction.bound or ""

    @property
    def parts(self) -> Mapping[str, float]:
        """All parts, in seconds."""
        return self.prediction.parts


def device_of(system: System) -> DeviceTable:
    """The system's device, otherwise that of its calibrations, the newest first."""
    found = [one.device for one in reversed(system.calibrations) if one.device is not None]
    return system.device or (joined(found) if found else DeviceTable())


def bitstream_of(system: System, benchmark: str, scenario: Scenario) -> Bitstream | None:
    """The board's bitstream for a scenario, or None unless the device is a board with kernels.

    Raises :class:`UsageError` if none of the board's bitstreams matches, or a kernel is named for
    a device that is no board.
    """
    device = device_of(system)
    found = device.bitstream(benchmark, scenario.type, scenario.transport, scenario.kernel)
    if found is None and (device.bitstreams or scenario.kernel):
        of = f" for the transport {scenario.transport}" if scenario.transport else ""
        variant = f" called {scenario.kernel}" if scenario.kernel else ""
        raise UsageError(
            f"the system {system.system.name} has no bitstream of {benchmark} in {scenario.type}"
            f"{variant}{of} in the table [[device.bitstreams]]"
        )
    return found


def message_of(system: System, scenario: Scenario) -> Transfer:
    """The transfer of a case's messages: the named one, otherwise the system's first.

    Raises :class:`UsageError` if the system has none, or none of that approach.
    """
    if scenario.transport is not None:
        return transfer_of(system, scenario.transport, scenario.approach)
    transfers = transfers_of(system)
    if not transfers:
        raise UsageError(
            f"the system {system.system.name} has no figures of a transport: it needs the table "
            "[legs], [channel], [accl] or [[transfers]]"
        )
    if scenario.approach is None:
        return transfers[0]
    approaches = list(dict.fromkeys(one.approach for one in transfers if one.approach))
    if scenario.approach not in approaches:
        raise UsageError(
            f"the system {system.system.name} has no transport of approach {scenario.approach} "
            f"(choose from {', '.join(approaches)}){did_you_mean(scenario.approach, approaches)}"
        )
    return next(one for one in transfers if one.approach == scenario.approach)


def own_update_s(device: DeviceTable, table_bytes: int) -> float:
    """Seconds of an update of a random word: atomic if known, otherwise plain."""
    atomic = device.updates_s(1, table_bytes, atomic=True)
    plain = device.updates_s(1, table_bytes, atomic=False)
    return known(plain if atomic is None else atomic, "gup_s", "device.random")


def at_least_a_launch(work: float, rates: Mapping[str, float], device: DeviceTable) -> Prediction:
    """The time of ``work`` at the minimum of ``rates``, at least that of a launch."""
    parts = {name: work / rate for name, rate in rates.items()}
    if device.launch is not None:
        parts[LAUNCH] = device.launch.wait_us * 1e-6
    return Prediction.at_once(parts)


def too_many(system: System, scenario: Scenario) -> str:
    """The reason why this number of devices is an extrapolation, or an empty text."""
    if system.machine is None:
        return "the system is one device" if scenario.ranks > 1 else ""
    devices = system.machine.devices
    return f"the machine has {devices} devices" if scenario.ranks > devices else ""


def beyond(system: System, scenario: Scenario, device_bytes: float = 0) -> str:
    """The reason for an extrapolation: too many devices, or a device's memory exceeded."""
    holds = device_of(system).memory_bytes
    if holds is not None and device_bytes > holds:
        return f"a device's memory holds {holds / 2**30:g} GiB of {device_bytes / 2**30:.4g}"
    return too_many(system, scenario)


def side_of(ranks: int) -> int:
    """The side of a square grid. Raises :class:`UsageError` for other numbers of ranks."""
    side = isqrt(ranks)
    if side * side != ranks:
        raise UsageError(f"--ranks must be a square (P = Q): 1, 4, 9, 16, 25, ..., not {ranks}")
    return side


def size_of(scenario: Scenario, name: str) -> float:
    """The case's size. Raises :class:`UsageError` if there is none."""
    if scenario.size is None:
        raise UsageError(f"the case has no {name}")
    return scenario.size
