"""The limits of a device, one entry each.

An entry defines a limit: its cases in the benchmark ``ceilings``, the field of
:class:`~plumbline.system.device.DeviceTable` with the figure and its derivation from the cases, the
minimum seconds of a case, and its bound with the advice. Calibration, roofline and hints iterate
over :data:`LIMITS`; none of them names a limit. A limit that is a plain rate is :func:`rate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from plumbline.base.units import rounded
from plumbline.model.prediction import Bound
from plumbline.record.record import Case, PartCase, Work
from plumbline.system.device import (
    DeviceTable,
    Launch,
    Link,
    Memory,
    Peak,
    RandomUpdates,
    Rate,
)
from plumbline.system.segments import Segment
from plumbline.system.system import Need

SOURCE = "measured"
# Cases of one limit (of a record, or parts of a run), each with the seconds of one count.
Times = Sequence[tuple[Case | PartCase, float]]


@dataclass(frozen=True)
class Demand:
    """The demands of a case on a device, beyond the work in its record.

    ``type`` is the arithmetic's; ``matrix`` allows matrix units; ``flops``, if given, replaces the
    record's for a peak that counts multiply-adds. The record's bytes go ``passes`` times through
    memory. For random updates: the table's length and whether they are atomic. ``amounts``: for
    limits that are plain rates, by the limit's name.
    """

    type: str | None = None
    matrix: bool = False
    flops: float | None = None
    passes: int = 1
    table_bytes: int = 0
    atomic: bool = False
    amounts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """One limit of a device.

    ``cases``: the label ``limit`` of its cases in ``ceilings``. ``learn`` derives the value of the
    device's ``field`` from them, or None. ``seconds`` is the minimum time of a case's work: 0 if
    the work does not need it, None if the figure is unknown; a limit without ``seconds`` is used
    by models that name it. ``need`` is the calibration that measures it.
    """

    cases: str
    field: str
    learn: Callable[[Times], object]
    bound: Callable[[Demand], Bound]
    seconds: Callable[[DeviceTable, Work, Demand], float | None] | None = None
    need: Need = "device"


def rate(
    name: str,
    cases: str,
    amount: Callable[[Work], float],
    *,
    advice: str,
    in_caches: bool = False,
) -> Limit:
    """A limit that is a plain rate, kept in the device's ``rates``.

    ``amount`` is the work of one count of a case of ``ceilings``; a model gives its case's amount
    as ``Demand.amounts[name]``. ``advice`` is a sentence on how to raise the bound.
    """
    bound = Bound(name, advice=advice, in_caches=in_caches)

    def learn(times: Times) -> list[Rate]:
        best = max((amount(case.work) / seconds for case, seconds in times), default=0.0)
        return [Rate(limit=name, per_s=rounded(best), source=SOURCE)] if best else []

    def seconds(device: DeviceTable, _work: Work, demand: Demand) -> float | None:
        asked = demand.amounts.get(name, 0.0)
        return device.rate_s(name, asked) if asked else 0.0

    return Limit(cases, "rates", learn, lambda _demand: bound, seconds)


# --- figures from ceilings' cases -----------------------------------------------------------------


def _memory(times: Times) -> list[Memory]:
    return [
        Memory.model_validate(
            {
                "access": case.label("operation"),
                "gb_s": rounded((case.work.bytes_read + case.work.bytes_written) / seconds * 1e-9),
                "source": SOURCE,
            }
        )
        for case, seconds in times
    ]


def _peaks(times: Times) -> list[Peak]:
    return [
        Peak.model_validate(
            {
                "type": case.label("type"),
                "units": case.label("units") or "vector",
                "gflop_s": rounded(case.work.flops / seconds * 1e-9),
                "source": SOURCE,
            }
        )
        for case, seconds in times
    ]


def _updates(times: Times) -> list[RandomUpdates]:
    return [
        RandomUpdates(
            table_bytes=int(case.label("bytes")),
            atomic=case.label("operation") == "atomic",
            gup_s=rounded(case.work.updates / seconds * 1e-9),
            source=SOURCE,
        )
        for case, seconds in times
    ]


def _launch(times: Times) -> Launch | None:
    found = {case.label("operation"): seconds for case, seconds in times}
    if not {"wait", "row"} <= found.keys():
        return None
    us = {f"{name}_us": rounded(seconds * 1e6) for name, seconds in found.items()}
    return Launch.model_validate({**us, "source": SOURCE})


def _link(times: Times) -> Link:
    return Link(read=_line(times, "read"), write=_line(times, "write"))


def _line(times: Times, direction: str) -> list[Segment]:
    """The line through the shortest and the longest copy."""
    points = sorted(
        (int(case.label("bytes")), seconds)
        for case, seconds in times
        if case.label("operation") == direction
    )
    if len(points) < 2:
        return []
    (_, short_s), (long, long_s) = points[0], points[-1]
    latency = min(short_s, long_s)
    bandwidth = long / (long_s - latency) if long_s > latency else None
    return [
        Segment(
            latency_us=rounded(latency * 1e6),
            bandwidth_gb_s=rounded(bandwidth * 1e-9) if bandwidth else None,
            source=SOURCE,
        )
    ]


# --- minimum seconds of a case's work ------------------------------------------------------------


def _updates_s(device: DeviceTable, work: Work, demand: Demand) -> float | None:
    if not work.updates:
        return 0.0
    return device.updates_s(work.updates, demand.table_bytes, atomic=demand.atomic)


def _memory_s(device: DeviceTable, work: Work, demand: Demand) -> float | None:
    return device.memory_s(demand.passes * work.bytes_read, demand.passes * work.bytes_written)


def _peak_s(device: DeviceTable, work: Work, demand: Demand) -> float | None:
    flops = work.flops if demand.flops is None else demand.flops
    if not (work.flops and demand.type):
        return 0.0
    return device.peak_s(flops, demand.type, matrix=demand.matrix)


def _launch_s(device: DeviceTable, _work: Work, _demand: Demand) -> float:
    return (device.launch.row_us or 0.0) * 1e-6 if device.launch else 0.0


MEMORY = Bound("memory bandwidth", "memory")
LAUNCH = Bound("launch", "launch", in_caches=True)
LINK = Bound("link", "link")


def updates_bound(*, atomic: bool) -> Bound:
    """The bound of random updates."""
    return Bound(f"rate of {'atomic' if atomic else 'random'} updates", "updates")


def peak_bound(type: str | None) -> Bound:
    """The bound of arithmetic in ``type``."""
    return Bound(f"peak for {type}", "arithmetic", in_caches=True)


LIMITS: tuple[Limit, ...] = (
    Limit(
        "random",
        "random",
        _updates,
        lambda demand: updates_bound(atomic=demand.atomic),
        _updates_s,
        need="updates",
    ),
    Limit("memory", "memory", _memory, lambda _demand: MEMORY, _memory_s),
    Limit("flops", "peaks", _peaks, lambda demand: peak_bound(demand.type), _peak_s),
    Limit("launch", "launch", _launch, lambda _demand: LAUNCH, _launch_s),
    Limit("link", "link", _link, lambda _demand: LINK),
)
