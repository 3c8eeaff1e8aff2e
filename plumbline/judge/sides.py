"""Records as the two sides of a comparison, with reasons for cases that cannot be compared.

Records of one benchmark are compared case by case, except if conditions (ranks, devices, driver,
memory, types) or work (sizes) differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from statistics import fmean

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.judge.comparison import (
    DEFAULT_THRESHOLD,
    Compared,
    Estimate,
    apart_in_some,
    has_direction,
    is_rate,
    judge,
    of_family,
    pseudo_median,
    ratio_of,
)
from plumbline.judge.covariate import Adjusted, Limits, compare_beside, compare_pairs_beside
from plumbline.judge.levels import Level
from plumbline.judge.parts import limits_within, mean_of_parts
from plumbline.record.record import Case, Record

CONDITIONS = ("world", "ranks", "nodes", "devices", "driver", "memory", "type")
TIME = "time"  # of one count, in seconds; the default metric


@dataclass(frozen=True)
class Apart:
    """A case, or (empty key) a benchmark's records, not compared, with the reason."""

    benchmark: str
    key: str
    reason: str

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.benchmark} {self.key}".rstrip()


@dataclass(frozen=True)
class Comparison:
    """Every case of two sides; ``launches`` of A and of B, permitted ``differences``.

    ``metric`` is the compared metric, ``pairs`` the number of pairs (None: sets).
    """

    cases: Sequence[Compared]
    apart: Sequence[Apart]
    launches: tuple[int, int]
    differences: Sequence[str] = field(default=())
    metric: str = TIME
    threshold: float = DEFAULT_THRESHOLD
    pairs: int | None = None
    emulated: str = ""  # why times of a side are of no board

    def count(self, word: str) -> int:
        """The number of cases with that word."""
        return sum(case.word == word for case in self.cases)


def compare_records(
    a: Sequence[Record],
    b: Sequence[Record],
    *,
    threshold: float = DEFAULT_THRESHOLD,
    metric: str = TIME,
    despite: Collection[str] = (),
) -> Comparison:
    """Compare two sets of launches. Raises :class:`UsageError` if no case can be compared."""
    found = _Found(metric, despite)
    for name, (of_a, of_b) in _by_benchmark(a, b).items():
        found.add_benchmark(name, of_a, of_b)
    beside = {
        key: compare_beside(one, other, found.limits.get(key, {}), threshold)
        for key, (one, other) in found.values.items()
    }
    estimates = {key: one.estimate for key, one in beside.items()}
    judged = found.with_apart(judge(estimates, found.listed(estimates), threshold))
    cases = [_with_limits(case, beside[case.benchmark, case.key], threshold) for case in judged]
    return _checked(
        Comparison(
            *(cases, found.apart, (len(a), len(b)), _differences(a, b, despite), metric, threshold),
            emulated=_emulated((*a, *b)),
        )
    )


def compare_pairs_of_records(
    pairs: Sequence[tuple[Record, Record]],
    *,
    threshold: float = DEFAULT_THRESHOLD,
    metric: str = TIME,
    despite: Collection[str] = (),
) -> Comparison:
    """Compare alternating launches, pair by pair.

    Each launch counts with the lower quartile of its repetitions' times: on shared cores it is
    disturbed less often than the median, and the same for both sides. Beside limits within the case
    it counts with its mean rate, as they do.
    """
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    found = _Found(metric, despite, quantile=0.25)
    names = {record.benchmark.name for record in (*a, *b)}
    if len(names) > 1:
        raise UsageError(f"A and B must run one benchmark, not {' and '.join(sorted(names))}")
    found.add_benchmark(names.pop(), a, b)
    whole = {
        key: values
        for key, values in found.values.items()
        if len(values[0]) == len(values[1]) == len(pairs)
    }
    for benchmark, key in found.values.keys() - whole.keys():
        found.apart.append(Apart(benchmark, key, "it is not in both launches of every pair"))
    found.values = {key: values for key, values in found.values.items() if key in whole}
    beside = {
        key: compare_pairs_beside(
            *(*values, found.limits.get(key, {}), threshold),
            cases=len(whole),
            plain=_log_ratios(*values, found.quantile),
        )
        for key, values in whole.items()
    }
    own = {key: one.estimate for key, one in beside.items()}
    estimates = of_family(own, len(pairs), threshold)
    judged = found.with_apart(judge(estimates, found.listed(estimates), threshold))
    cases = [_with_limits(case, beside[case.benchmark, case.key], threshold) for case in judged]
    differences = _differences(a, b, despite)
    counts = (len(a), len(b))
    return _checked(
        Comparison(
            *(cases, found.apart, counts, differences, metric, threshold, len(pairs)),
            emulated=_emulated((*a, *b)),
        )
    )


Values = list[list[float]]  # by launch, by repetition


class _Found:
    """Cases of both sides, and cases that cannot be compared."""

    def __init__(self, metric: str, despite: Collection[str], quantile: float = 0.5) -> None:
        self.metric, self.despite, self.quantile = metric, despite, quantile
        self.values: dict[tuple[str, str], tuple[Values, Values]] = {}
        self.units: dict[tuple[str, str], str] = {}
        self.limits: dict[tuple[str, str], Limits] = {}
        self.apart: list[Apart] = []

    def add_benchmark(self, name: str, a: Sequence[Record], b: Sequence[Record]) -> None:
        """All cases of the records of one benchmark."""
        if not a or not b:
            self.apart.append(Apart(name, "", f"there is none in {'B' if a else 'A'}"))
            return
        reason = self._unlike([*a, *b], a[0])
        if reason:
            self.apart.append(Apart(name, "", reason))
            return
        cases = [_by_key(side) for side in (a, b)]
        for key in dict.fromkeys([*cases[0], *cases[1]]):
            of_a, of_b = cases[0].get(key, []), cases[1].get(key, [])
            reason = _case_unlike(of_a, of_b) or self._add_case(name, key, of_a, of_b)
            if reason:
                self.apart.append(Apart(name, key, reason))
            elif self.metric == TIME:
                self._add_limits(name, key, a, b)
        if self.metric != TIME:
            self._add_aggregates(name, a, b)

    def listed(self, estimates: Mapping[tuple[str, str], Estimate]) -> list[Compared]:
        """Every case with its figures, without words."""
        rows = []
        for (benchmark, key), sides in self.values.items():
            estimate = estimates[benchmark, key]
            ratio, interval = ratio_of(estimate)
            a, b = (math.exp(pseudo_median(_levels(side, self.quantile))) for side in sides)
            counts = (len(sides[0]), len(sides[1]))
            unit, p, needed = self.units[benchmark, key], estimate.p, estimate.needed
            rows.append(
                Compared(
                    *(benchmark, key, unit, a, b, ratio, interval, p),
                    *("ambiguous", "", counts, needed),
                )
            )
        return rows

    def with_apart(self, cases: Sequence[Compared]) -> list[Compared]:
        """``cases``; those without a difference name slow launches as the reason."""
        told = []
        for case in cases:
            if case.word in ("same", "ambiguous") and not is_rate(case.unit):
                sides = self.values[case.benchmark, case.key]
                apart = apart_in_some(*(_levels(side, self.quantile) for side in sides))
                case = replace(case, reason=apart or case.reason)
            told.append(case)
        return told

    def _unlike(self, records: Sequence[Record], first: Record) -> str | None:
        wanted = conditions(first)
        for record in records:
            for name, value in conditions(record).items():
                if name not in self.despite and value != wanted[name]:
                    return f"{name} differ: {wanted[name]} and {value}"
        return None

    def _add_case(
        self, benchmark: str, key: str, a: Sequence[Case], b: Sequence[Case]
    ) -> str | None:
        sides = [[_values(case, self.metric) for case in side] for side in (a, b)]
        kept = [[values for values, _ in side if values] for side in sides]
        units = {unit for side in sides for values, unit in side if values}
        if not kept[0] or not kept[1]:
            return None if self.metric != TIME else "it has no samples"
        if len(units) > 1 or not has_direction(next(iter(units))):
            return f"it is not known what is better of {self.metric} in {' and '.join(units)}"
        self.values[benchmark, key] = (kept[0], kept[1])
        self.units[benchmark, key] = units.pop()
        return None

    def _add_limits(self, name: str, key: str, a: Sequence[Record], b: Sequence[Record]) -> None:
        """Those of a case, if every launch has the same, and the mean of several."""
        sides = [[_limits_of(one, key) for one in side if _has(one, key)] for side in (a, b)]
        names = {tuple(sorted(one)) for side in sides for one in side}
        if len(names) != 1:
            return
        own = names.pop()
        each = [(limit, (limit,)) for limit in own]
        every = [("the mean of its limits", own), *each] if len(own) > 1 else each
        self.limits[name, key] = {
            title: (_mean_times(sides[0], some), _mean_times(sides[1], some))
            for title, some in every
        }

    def _add_aggregates(self, benchmark: str, a: Sequence[Record], b: Sequence[Record]) -> None:
        groups = {m.group for r in (*a, *b) for m in r.metrics if m.name == self.metric}
        for group in sorted(groups, key=str):
            metrics = [
                [record.metric(self.metric, group) for record in side if record.metrics]
                for side in (a, b)
            ]
            values = [[[m.value] for m in side if m and m.value] for side in metrics]
            units = {m.unit for side in metrics for m in side if m}
            title = f"{self.metric} ({group})" if group else self.metric
            if values[0] and values[1] and len(units) == 1 and has_direction(next(iter(units))):
                self.values[benchmark, title] = (values[0], values[1])
                self.units[benchmark, title] = units.pop()


def conditions(record: Record) -> dict[str, str]:
    """Conditions that must be equal in compared records, as shown to users."""
    devices = [rank.device for rank in record.ranks if rank.device]
    bank = "" if record.memory.bank is None else f":{record.memory.bank}"
    runtimes = sorted({device.runtime for device in devices})
    return {
        "world": record.world.kind,
        "ranks": str(record.world.ranks),
        "nodes": str(record.world.nodes),
        "devices": ", ".join([*record.devices(), *runtimes]) or "none",
        "driver": ", ".join(sorted({device.driver for device in devices})) or "none",
        "memory": f"{record.memory.kind}{bank}",
        "type": str(record.parameters.get("type", "none")),
    }


def _differences(
    a: Sequence[Record], b: Sequence[Record], despite: Collection[str]
) -> Sequence[str]:
    """Permitted differences between the sides: ``transport mpi | staged``."""

    def told(records: Sequence[Record], name: str) -> str:
        return ", ".join(sorted({_facts(record).get(name, "none") for record in records}))

    names = dict.fromkeys(name for record in (*a, *b) for name in _facts(record))
    named = [name for name in names if name not in CONDITIONS or name in despite]
    told_both = [(name, told(a, name), told(b, name)) for name in named]
    return [f"{name} {one} | {other}" for name, one, other in told_both if one != other]


def _emulated(records: Sequence[Record]) -> str:
    return "; ".join(dict.fromkeys(one.emulated for one in records if one.emulated))


def _facts(record: Record) -> dict[str, str]:
    commit = f"{record.program.version} {record.program.commit or ''}".rstrip()
    return {
        **conditions(record),
        "program": f"{commit}{' (altered)' if record.program.dirty else ''}",
        "build": record.program.build_type,
        "host": ", ".join(sorted({host.name for host in record.hosts})),
        "library": record.world.library or "none",
        "transport": f"{record.transport_name} {record.approach or ''}".rstrip(),
        **({"emulated": record.emulated} if record.emulated else {}),
        **{name: str(value) for name, value in record.parameters.items() if name != "type"},
    }


def _by_benchmark(
    a: Sequence[Record], b: Sequence[Record]
) -> dict[str, tuple[list[Record], list[Record]]]:
    names = dict.fromkeys(record.benchmark.name for record in (*a, *b))
    return {
        name: (
            [record for record in a if record.benchmark.name == name],
            [record for record in b if record.benchmark.name == name],
        )
        for name in names
    }


def _limits_of(record: Record, key: str) -> dict[str, Level]:
    """The limits within the case ``key``, or the mean of the parts beside it, if any."""
    case = next(one for one in record.cases if one.key == key)
    within = limits_within(record, key)
    beside = None if within else mean_of_parts(record, case)
    if beside is None:
        return within
    names = ", ".join(beside.parts)
    return {f"the mean of {names}" if len(beside.parts) > 1 else names: beside.mean}


def _mean_times(launches: Sequence[Mapping[str, Level]], names: Sequence[str]) -> list[float]:
    """Of each launch the mean logarithm of some limits' times."""
    return [fmean(math.log(limits[name].middle) for name in names) for limits in launches]


def _has(record: Record, key: str) -> bool:
    """Whether the record has values of the case."""
    return any(case.key == key and _values(case, TIME)[0] for case in record.cases)


def _with_limits(case: Compared, beside: Adjusted, threshold: float) -> Compared:
    """``case`` with its limit, and with what that says if it is not alike on both sides.

    Times that are the same but for another limit are not the same.
    """
    case = replace(case, limit=beside.limit, limit_ratio=beside.limit_ratio, slope=beside.slope)
    differ = 0.0 if beside.limit_ratio is None else abs(math.log(beside.limit_ratio))
    if differ <= math.log1p(threshold):
        return case
    told = f"{beside.limit} takes {beside.limit_ratio:.2f} times as long in B"
    if case.word == "same" and beside.slope * differ > math.log1p(threshold):
        return replace(case, word="ambiguous", reason=f"as its limit: {told}")
    if case.word in ("slower", "faster"):
        return replace(case, reason=f"beside its limit: {told}" if beside.slope else told)
    return case


def _by_key(records: Sequence[Record]) -> dict[str, list[Case]]:
    cases: dict[str, list[Case]] = {}
    for record in records:
        for case in record.cases:
            cases.setdefault(case.key, []).append(case)
    return cases


def _case_unlike(a: Sequence[Case], b: Sequence[Case]) -> str | None:
    """The reason why a case cannot be compared: failed, missing on a side, or of other work."""
    for side, cases in (("A", a), ("B", b)):
        if not cases:
            return f"it is not in {side}"
        bad = next((case for case in cases if case.outcome.status != "passed"), None)
        if bad:
            return f"{bad.outcome.status} in {side}: {bad.outcome.reason}"
    first = a[0]
    for case in (*a, *b):
        for name, value in case.labels.items():
            if value != first.labels.get(name):
                return f"sizes differ: {name} {first.labels.get(name)} and {value}"
        ours, theirs = first.work.model_dump(), case.work.model_dump()
        for name, amount in ours.items():
            if amount != theirs[name]:
                return f"sizes differ: {name} {amount:.6g} and {theirs[name]:.6g}"
    return None


def _values(case: Case, metric: str) -> tuple[list[float], str]:
    """One launch's positive values of the case, and their unit."""
    if metric == TIME:
        by_rank = np.asarray(case.samples.by_rank)
        if by_rank.size == 0 or not case.count:
            return [], "s"
        slowest = by_rank.max(axis=0) / case.count
        return [float(value) for value in slowest if value > 0], "s"
    found = next((one for one in case.metrics if one.name == metric), None)
    return ([found.value] if found and found.value and found.value > 0 else []), (
        found.unit if found else ""
    )


def _levels(side: Values, quantile: float) -> list[float]:
    return [float(np.quantile(np.log(launch), quantile)) for launch in side]


def _log_ratios(a: Values, b: Values, quantile: float) -> list[float]:
    sides = zip(_levels(a, quantile), _levels(b, quantile), strict=True)
    return [other - one for one, other in sides]


def _checked(comparison: Comparison) -> Comparison:
    """``comparison``. Raises :class:`UsageError` if it has no case."""
    if comparison.cases:
        return comparison
    odd = [one for one in comparison.apart if comparison.metric in one.reason]
    if comparison.metric != TIME and not odd and not any(not one.key for one in comparison.apart):
        raise UsageError(f"no case can be compared: none has a metric called {comparison.metric}")
    reasons = groupby(comparison.apart, key=lambda apart: apart.reason)
    raise UsageError(f"no case can be compared: {'; '.join(_told(reasons))}")


def _told(reasons: Iterator[tuple[str, Iterator[Apart]]]) -> Iterator[str]:
    for reason, group in reasons:
        of = list(group)
        more = f" and {len(of) - 1} more" if len(of) > 1 else ""
        yield f"{of[0].title}{more}: {reason}"
