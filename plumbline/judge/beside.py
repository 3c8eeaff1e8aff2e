"""Cases beside their parts: times of both, in this launch and in earlier ones.

A case is compared with the model's time by its parts (:mod:`plumbline.judge.parts`); a benchmark
with a yardstick (:mod:`plumbline.model.yardsticks`) with the mean of its parts instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import exp, log, log1p
from statistics import fmean, median, pstdev
from typing import Literal

from plumbline.judge.levels import QUARTER, TENTH, Level, level_of, mean_level, times_of_case
from plumbline.judge.parts import in_situ, limits_within, mean_of, mean_of_parts
from plumbline.judge.usual import FEWEST_STEADY, steadied
from plumbline.model.benchmarks import Model
from plumbline.model.prediction import Prediction
from plumbline.model.yardsticks import PARTS, yardstick_of
from plumbline.record.record import Case, Record

ALIKE = 0.15  # launches whose parts' times differ by less met the machine in one state
WIDE = 0.25  # width of an interval; wider ones give no verdict by parts and no usual ratio
MOST_APART_S = 60.0  # between the starts of any two launches that count as one run
FEWEST_FOLLOWED = 8  # launches from which it is known which limit follows a case best
NEAREST = 8  # launches that count, of those with limits within a case: most alike in their times
FOLLOWS_BETTER = 0.8  # times the deviation beside all limits, at most, makes one of them the best
# Parts beside a case: bare calls that do the same, limits of a device, or a yardstick.
Basis = Literal["links", "bounds", "yardstick"]


@dataclass(frozen=True)
class Beside:
    """A case and its parts: its level in seconds of one count, and the model's time by its parts.

    ``fast_s`` and ``slow_s`` are the model's times at the ends of the parts' intervals; ``waited``
    is the share of the case's time in which one of its threads waited for a core. ``limits``: the
    parts between the case's repetitions, if any, to whose mean it has a usual ratio.
    """

    measured: Level
    waited: float
    expected: Prediction
    fast_s: float
    slow_s: float
    described: str
    limits: Mapping[str, Level] = field(default_factory=dict)

    @property
    def parts(self) -> Level:
        """What the case has a usual ratio to.

        A kernel computes and moves data, so often the mean of its limits follows it better than the
        one that bounds it (measured: docs/verdicts.md).
        """
        if self.limits:
            return mean_of(list(self.limits.values()))
        return Level(self.expected.time_s, self.fast_s, self.slow_s)

    @property
    def ratio(self) -> float:
        """The logarithm of measured over the parts."""
        return log(self.measured.middle / self.parts.middle)

    @property
    def above(self) -> float:
        """Upper end of the parts' interval relative to their level, of the logarithm."""
        return log(self.parts.high / self.parts.middle)

    @property
    def teaches(self) -> bool:
        """Whether case and parts are precise enough for the ratio to count as usual."""
        widths = (self.parts.high / self.parts.low, self.measured.high / self.measured.low)
        return max(widths) <= 1 + WIDE

    def steadied(self, usual: Sequence[float]) -> Beside:
        """The case beside its parts' times without their usual deviations.

        ``usual``: logarithms of the parts' times in earlier launches.
        """
        middle, fast, slow = (
            exp(steadied(log(seconds), usual))
            for seconds in (self.expected.time_s, self.fast_s, self.slow_s)
        )
        expected = replace(self.expected, seconds=middle)
        return replace(self, expected=expected, fast_s=fast, slow_s=slow)


def basis_of(record: Record) -> Basis:
    """The meaning of the parts' times beside the cases of ``record``."""
    form = record.parameters.get("form", "exchange")
    name = record.benchmark.name
    if yardstick_of(name, record.transport_name, record.approach, form) is not None:
        return "yardstick"
    return "links" if any(case.message_bytes() for case in record.cases) else "bounds"


def beside_parts(model: Model | None, record: Record) -> tuple[dict[str, Beside], dict[str, str]]:
    """Each measured case with its parts, and the reasons for cases without parts."""
    found: dict[str, Beside] = {}
    without: dict[str, str] = {}
    by = basis_of(record)
    for case in record.cases:
        times = times_of_case(case)
        if not times:
            continue
        own = limits_within(record, case.key)
        level = mean_level(times) if own else _level(times, by)
        expected = _expected(model, record, case)
        if isinstance(expected, str):
            without[case.key] = expected
        else:
            middle, fast, slow, described = expected
            waited = float(str(case.facts.get("waited_share", 0.0)))
            found[case.key] = Beside(
                level, waited, middle, fast.time_s, slow.time_s, described, own
            )
    return found, without


def _level(times: Sequence[float], by: Basis) -> Level:
    if by == "links":
        return mean_level(times)
    return level_of(times, QUARTER if by == "bounds" else TENTH)


def _expected(
    model: Model | None, record: Record, case: Case
) -> tuple[Prediction, Prediction, Prediction, str] | str:
    """The model's times for ``case`` by its parts, and the bound; else the reason for none.

    Times are at the parts' levels, and at the fast and slow ends of all intervals.
    """
    none = "no part of it was measured beside it"
    if basis_of(record) == "yardstick":
        return _by_mean(record, case) or none
    found = in_situ(record, case)
    if found is None or model is None:
        return none
    alone = record.model_copy(update={"cases": [case]})
    middle, fast, slow = (
        model.expect(alone, one)[case.key] for one in (found.middle, found.fast, found.slow)
    )
    if not (middle.seconds and fast.seconds and slow.seconds):
        return middle.reason or "the model gives no time"
    return middle, fast, slow, model.describe(alone, found.middle)


def _by_mean(record: Record, case: Case) -> tuple[Prediction, Prediction, Prediction, str] | None:
    """The mean of the parts beside ``case``, as times without a model."""
    found = mean_of_parts(record, case)
    if found is None:
        return None
    mean = found.mean
    middle, fast, slow = (
        Prediction(seconds, PARTS, found.parts) for seconds in (mean.middle, mean.low, mean.high)
    )
    return middle, fast, slow, f"usual ratio to the mean of {', '.join(found.parts)}"


@dataclass(frozen=True)
class Earlier:
    """A case in earlier launches.

    Logarithms of measured over expected, of the measured and of the expected time, shares waited,
    the run that each launch belongs to, and the logarithms of the times of the limits within the
    case.
    """

    ratios: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    parts: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    limits: list[dict[str, float]] = field(default_factory=list)

    @property
    def means(self) -> list[float]:
        """The mean ratio of each run."""
        of_run: dict[int, list[float]] = {}
        for run, ratio in zip(self.runs, self.ratios, strict=True):
            of_run.setdefault(run, []).append(ratio)
        return [fmean(ratios) for ratios in of_run.values()]

    @property
    def usual_time(self) -> float:
        """The median of the logarithms of the case's times."""
        return median(self.times)

    def alike(self, parts: float) -> Earlier:
        """The launches whose parts took about as long: the machine was in this state.

        All of them if they are few.
        """
        near = [i for i, own in enumerate(self.parts) if abs(own - parts) <= log1p(ALIKE)]
        return self._only(near) if len(near) >= FEWEST_STEADY else self

    def _only(self, kept: Sequence[int]) -> Earlier:
        lists = (self.ratios, self.waited, self.parts, self.times)
        ratios, waited, parts, times = ([one[i] for i in kept] for one in lists)
        runs, limits = [self.runs[i] for i in kept], [self.limits[i] for i in kept]
        return Earlier(ratios, waited, parts, times, runs, limits)

    def best_limit(self, names: Collection[str]) -> str | None:
        """The limit that followed the case clearly better than the mean of all; or None."""
        if len(self.ratios) < FEWEST_FOLLOWED or len(names) < 2:
            return None
        deviation = {name: pstdev(self.beside_limit(name).ratios) for name in names}
        best = min(deviation, key=lambda name: deviation[name])
        return best if deviation[best] <= FOLLOWS_BETTER * pstdev(self.ratios) else None

    def beside_limit(self, name: str) -> Earlier:
        """With ratios to one of the limits within the case."""
        ratios = [
            ratio + fmean(limits.values()) - limits[name]
            for ratio, limits in zip(self.ratios, self.limits, strict=True)
        ]
        return replace(self, ratios=ratios)

    def nearest(self, limits: Mapping[str, Level]) -> Earlier:
        """The launches in which these limits took about as long as now, or all if they are few.

        A quiet machine's ratios differ little between launches, a disturbed one's much, and rise
        with the limits' times.
        """

        def distance(launch: int) -> float:
            own = self.limits[launch]
            return sum((own[name] - log(level.middle)) ** 2 for name, level in limits.items())

        return self._only(sorted(sorted(range(len(self.ratios)), key=distance)[:NEAREST]))

    def steadied(self) -> Earlier:
        """With ratios to the parts' times without their usual deviations.

        Launches with slower parts are left out: it was another machine, or these were disturbed.
        """
        if len(self.parts) < FEWEST_STEADY:
            return self
        middle, steady = median(self.parts), [steadied(own, self.parts) for own in self.parts]
        ratios = [
            ratio + own - one
            for ratio, own, one in zip(self.ratios, self.parts, steady, strict=True)
        ]
        near = [i for i, one in enumerate(steady) if one <= middle]
        return replace(self, ratios=ratios)._only(near)


def earlier_ratios(
    model: Model | None, cases: Mapping[str, Beside], history: Sequence[Record]
) -> dict[str, Earlier]:
    """The figures of earlier undisturbed launches, by case; their parts were measured likewise."""
    found: dict[str, Earlier] = {}
    run, first = 0, None  # the first launch seen of a run
    for earlier in history:
        started = datetime.fromisoformat(earlier.started)
        first = first or started
        if abs(started - first).total_seconds() > MOST_APART_S:
            run, first = run + 1, started
        wanted = [case for case in earlier.cases if case.key in cases and is_passed(case)]
        beside, _ = beside_parts(model, earlier.model_copy(update={"cases": wanted}))
        beside = {
            key: one for key, one in beside.items() if one.limits.keys() == cases[key].limits.keys()
        }
        add_launch(found, beside, basis_of(earlier), run)
    return found


def add_launch(
    earlier: dict[str, Earlier],
    beside: Mapping[str, Beside],
    by: Basis = "bounds",
    run: int | None = None,
) -> None:
    """Add one launch's cases to ``earlier``; by bounds beside them only precise ones.

    By others the spread between launches measures what is usual, and the precise launches alone
    would have less of it. Without ``run`` the launch is a run of its own.
    """
    for key, one in beside.items():
        if one.teaches or one.limits or by != "bounds":
            of_case = earlier.setdefault(key, Earlier())
            of_case.ratios.append(one.ratio)
            of_case.waited.append(one.waited)
            of_case.parts.append(log(one.expected.time_s))
            of_case.times.append(log(one.measured.middle))
            of_case.runs.append(len(of_case.runs) if run is None else run)
            times = {name: log(level.middle) for name, level in one.limits.items()}
            of_case.limits.append(times)


def is_passed(case: Case) -> bool:
    """Whether a case was measured and its answer is right."""
    return case.outcome.status == "passed"
