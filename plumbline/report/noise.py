"""Steadiness of a machine, from launches of ``noise``: detours, drift, possible precision."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from plumbline.base.columns import aligned
from plumbline.base.units import duration
from plumbline.judge.comparison import MOST_LAUNCHES, launches_needed
from plumbline.record.record import Case, Record

PRECISIONS = (0.01, 0.03, 0.10)
VERDICT = 0.10  # difference whose detectability is reported
REASONABLE_LAUNCHES = 10  # of a side; a verdict requiring more counts as impossible
_PARTS = 5  # of a launch, for its drift
_BAR = 40  # characters


@dataclass(frozen=True)
class DetourClass:
    """Quanta longer than their sample's shortest by less than ``below_us`` (None: no limit)."""

    below_us: int | None
    quanta: float
    lost_s: float


@dataclass(frozen=True)
class Part:
    """One case over all launches; times of a quantum in seconds, shares of 1.

    ``lost`` is the share of time in detours, ``by_rank`` each rank's; ``drift`` the largest
    deviation of a fifth of a launch from the launch's median; ``between`` the standard deviation
    of the logarithms of launches' medians (None: one launch).
    """

    key: str
    shortest_s: float
    medians_s: Sequence[float]
    longest_s: float
    lost: float
    by_rank: Sequence[float]
    detours: Sequence[DetourClass]
    drift: float
    between: float | None

    def launches_for(self, precision: float) -> int | None:
        """Launches of each side for an interval of the given half width."""
        return (
            None if self.between is None else launches_needed(self.between, math.log1p(precision))
        )


@dataclass(frozen=True)
class Steadiness:
    """The result of ``plumb noise``.

    ``clock_hz`` is by launch, from its fastest quantum; ``stolen`` and ``busy`` are shares of all
    cores' time: taken by the hypervisor, and used by all programs, ours included. None: unknown.
    """

    parts: Sequence[Part]
    launches: int
    ranks: int
    seconds: float
    clock_hz: Sequence[float] = field(default=())
    stolen: float | None = None
    busy: float | None = None


def steadiness(
    records: Sequence[Record],
    seconds: float,
    stolen: float | None = None,
    busy: float | None = None,
) -> Steadiness:
    """The steadiness from launches of ``noise`` and their total duration."""
    keys = dict.fromkeys(case.key for record in records for case in record.cases)
    cases = {key: [c for r in records for c in r.cases if c.key == key and c.laps] for key in keys}
    parts = [_part(key, found) for key, found in cases.items() if found]
    ranks = max(record.world.ranks for record in records)
    clocks = [clock for case in cases.get("core", []) if (clock := _clock(case))]
    return Steadiness(parts, len(records), ranks, seconds, clocks, stolen, busy)


def write(found: Steadiness, form: str) -> str:
    """As ``text`` or ``json``."""
    if form == "json":
        return json.dumps(_document(found), indent=2)
    return "\n".join(_text(found))


def _part(key: str, cases: Sequence[Case]) -> Part:
    laps = [case.laps.all for case in cases if case.laps]
    medians = [_sample_median(case) for case in cases]
    logs = [math.log(median) for median in medians]
    lost_by_rank = np.sum([_lost(case) for case in cases], axis=0)
    time_by_rank = np.sum([np.sum(case.samples.by_rank, axis=1) for case in cases], axis=0)
    shares = [
        float(lost / time) for lost, time in zip(lost_by_rank, time_by_rank, strict=True) if time
    ]
    return Part(
        key=key,
        shortest_s=min(one.min_s for one in laps),
        medians_s=[one.median_s for one in laps],
        longest_s=max(one.max_s for one in laps),
        lost=float(lost_by_rank.sum() / time_by_rank.sum()),
        by_rank=shares,
        detours=_detours(cases),
        drift=max(_drift(case) for case in cases),
        between=statistics.stdev(logs) if len(logs) > 1 else None,
    )


def _sample_median(case: Case) -> float:
    return float(np.median(np.max(case.samples.by_rank, axis=0))) / case.count


def _lost(case: Case) -> list[float]:
    told = [by for name, by in case.tallies_by_rank.items() if name.startswith("lost_s/")]
    return [math.fsum(column) for column in zip(*told, strict=True)]


def _drift(case: Case) -> float:
    slowest = np.max(case.samples.by_rank, axis=0)
    fifths = [part for part in np.array_split(slowest, _PARTS) if len(part)]
    return float(max(abs(np.median(part) / np.median(slowest) - 1) for part in fifths))


def _detours(cases: Sequence[Case]) -> list[DetourClass]:
    found: dict[float, list[float]] = {}
    for case in cases:
        for name, by_rank in case.tallies_by_rank.items():
            kind, _, label = name.partition("/")
            bound = float(label.split("_")[1]) if label.startswith("below_") else math.inf
            found.setdefault(bound, [0.0, 0.0])[kind == "lost_s"] += math.fsum(by_rank)
    return [
        DetourClass(None if math.isinf(bound) else int(bound), *found[bound])
        for bound in sorted(found)
    ]


def _clock(case: Case) -> float | None:
    cycles, steps = case.facts.get("cycles_of_a_step"), case.labels.get("steps")
    if not (isinstance(cycles, int) and isinstance(steps, int) and case.laps):
        return None
    return cycles * steps / case.laps.all.min_s


def _text(found: Steadiness) -> Iterator[str]:
    launches = "1 launch" if found.launches == 1 else f"{found.launches} launches"
    ranks = "1 rank" if found.ranks == 1 else f"{found.ranks} ranks"
    yield f"{launches} on {ranks}, {found.seconds:.0f} s"
    rows = [["part", "shortest", "median", "longest", "lost", "worst rank", "drift", "launches"]]
    rows += [_row(part) for part in found.parts]
    yield from ("", *aligned(rows, left=1))
    yield "lost: share of the time beyond that of quanta like the shortest of their sample"
    yield "drift: a fifth of a launch from its whole; launches: standard deviation of their medians"
    for part in found.parts:
        yield from ("", f"{part.key}: quanta by their detour", *_histogram(part))
    yield from ("", *_conditions(found), "", *_precision(found))


def _row(part: Part) -> list[str]:
    between = "-" if part.between is None else f"{100 * part.between:.1f} %"
    return [
        part.key,
        duration(part.shortest_s),
        duration(statistics.median(part.medians_s)),
        duration(part.longest_s),
        f"{100 * part.lost:.1f} %",
        f"{100 * max(part.by_rank):.1f} %",
        f"{100 * part.drift:.1f} %",
        between,
    ]


def _histogram(part: Part) -> Iterator[str]:
    quanta = sum(one.quanta for one in part.detours)
    lost = sum(one.lost_s for one in part.detours) or 1.0
    rows = []
    for one in part.detours:
        share = one.quanta / quanta
        below = "longer" if one.below_us is None else f"< {duration(one.below_us * 1e-6)}"
        bar = "#" * max(1 if one.quanta else 0, round(_BAR * share))
        figures = [f"{100 * share:.1f} %", f"{100 * one.lost_s / lost:.1f} % of what is lost"]
        rows.append([f"  {below}", *figures, f" {bar.ljust(_BAR)}"])
    return aligned(rows, left=1) if rows else iter(())


def _conditions(found: Steadiness) -> Iterator[str]:
    if found.clock_hz:
        low, high = min(found.clock_hz) * 1e-9, max(found.clock_hz) * 1e-9
        yield f"clock, of each launch's fastest quantum: {low:.3f} to {high:.3f} GHz"
    if found.stolen is not None and found.busy is not None:
        yield (
            f"cores busy {100 * found.busy:.0f} % of the time, ours among it; "
            f"stolen by the hypervisor {100 * found.stolen:.1f} %"
        )


def _precision(found: Steadiness) -> Iterator[str]:
    """Launches required for a precision, and whether a verdict on 10 % is possible."""
    if all(part.between is None for part in found.parts):
        yield "one launch says nothing of how launches differ: --launches 3 or more"
        return
    head = ["launches of each side for", *(f"±{100 * one:g} %" for one in PRECISIONS)]
    rows = [
        head,
        *([part.key, *map(_count, map(part.launches_for, PRECISIONS))] for part in found.parts),
    ]
    yield from aligned(rows, left=1)
    needed = {part.key: part.launches_for(VERDICT) or MOST_LAUNCHES for part in found.parts}
    worst = max(needed, key=lambda key: needed[key])
    verdict = f"a verdict of {100 * VERDICT:g} %"
    if needed[worst] <= REASONABLE_LAUNCHES:
        most = f"{worst} needs the most" if len(needed) > 1 else worst
        yield f"{verdict} is possible here with {needed[worst]} launches of each side ({most})"
        return
    able = [key for key, count in needed.items() if count <= REASONABLE_LAUNCHES]
    only = f", but for {' and '.join(able)}" if able else ""
    yield (
        f"{verdict} is not possible here now{only}: {worst} takes {_count(needed[worst])} launches "
        "of each side; runs in turn (plumb compare --ab) see what this cannot"
    )


def _count(needed: int | None) -> str:
    return "-" if needed is None else f"{needed}" if needed < MOST_LAUNCHES else "1000 or more"


def _document(found: Steadiness) -> dict[str, object]:
    launches = [
        {f"{precision:g}": part.launches_for(precision) for precision in PRECISIONS}
        for part in found.parts
    ]
    parts = [
        {**asdict(part), "launches_for": needed}
        for part, needed in zip(found.parts, launches, strict=True)
    ]
    return {**asdict(found), "parts": parts}
