"""A record against the model of its benchmark: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

Three separate questions. *Efficiency*: does a case reach the limits of its parts, measured in the
same launch? *State*: are those parts as in earlier launches (:mod:`plumbline.judge.state`)?
*Promise*: does the case reach its expectation by a system file or a stored calibration? Records
without parts have the last only, as their verdict.

By its parts a case is slow if its level (:mod:`plumbline.judge.levels`) lies beyond the
expectation's interval, and its whole interval beyond the expectation times 1 + tolerance; the
expectation is the model's time from the parts, times the usual ratio
(:mod:`plumbline.judge.usual`). A benchmark with a yardstick (:mod:`plumbline.model.yardsticks`) has
the mean of its parts in place of a model's time, and no verdict before its usual ratio is known. It
is ambiguous, with the reason in a word, if its level lies beyond
and its interval does not (``spread``), if waiting for cores may be the cause (``waited``), or if
its parts are so uncertain that it may lie beyond (``parts``), or if it was as slow in many earlier
runs (``usual``). A run may have several launches
(:mod:`plumbline.judge.sequence`), which are judged together, and a case is ambiguous (``launches``)
while more of them would decide. By a system it is slow if the
interval of its median lies beyond the expected time times 1 + tolerance, and fast on the other
side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import exp, inf, log, log1p, sqrt
from statistics import fmean, median, pstdev
from typing import Literal, TypeVar

from plumbline.judge.levels import QUARTER, TENTH, Level, level_of, mean_level, times_of_case
from plumbline.judge.parts import in_situ, limits_within, mean_of, mean_of_parts
from plumbline.judge.sequence import (
    AS_USUAL,
    IN_DOUBT,
    Excess,
    verdict_of_launches,
    verdict_of_most,
)
from plumbline.judge.state import StateOfMachine, state_of, student
from plumbline.judge.usual import (
    FEWEST_LAUNCHES,
    FEWEST_STEADY,
    PRIOR,
    PRIOR_OF_KERNELS,
    Usual,
    common_shift,
    steadied,
    usual_of,
    usual_of_peers,
)
from plumbline.model.benchmarks import Model, missed_by, model_of, need_of
from plumbline.model.prediction import Prediction
from plumbline.model.yardsticks import LIMITS_THEMSELVES, PARTS, yardstick_of
from plumbline.record.expectations import (
    DEFAULT_OF_PARTS,
    DEFAULT_TOLERANCE,
    IN_SITU,
    JudgedCase,
    JudgedRecord,
    Verdict,
)
from plumbline.record.record import Case, Record
from plumbline.system.system import LOCAL, Between, Conditions, Need, System

# Uncertainty of a sum of links, a factor, in addition to their parts' intervals, if the usual ratio
# is unknown. That of a bound, which kernels may miss, is `missed_by` the benchmark.
OF_LINKS = 1.05
ALIKE = 0.15  # launches whose parts' times differ by less met the machine in one state
WIDE = 0.25  # width of an interval; wider ones give no verdict by parts and no usual ratio
MOST_WAITED = 0.5  # of a case's time beyond the usual: more may cause any delay
DISTURBED = 2.0  # a yardstick's parts take so many times as long beside a case as usual
MOST_APART_S = 60.0  # between the starts of any two launches that count as one run
FEWEST_FOLLOWED = 8  # launches from which it is known which limit follows a case best
NEAREST = 8  # launches that count, of those with limits within a case: most alike in their times
FOLLOWS_BETTER = 0.8  # times the deviation beside all limits, at most, makes one of them the best
FEWEST_OF_WAITS = 6  # launches from which a kernel's usual waiting for cores is known
_MOST_DEVIATIONS = 4.0  # of few launches; their deviation is pooled over many cases
_T = TypeVar("_T")
# Parts beside a case: bare calls that do the same, limits of a device, or a yardstick.
Basis = Literal["links", "bounds", "yardstick"]
_VERDICTS: tuple[Verdict, ...] = ("ok", "slow", "fast", "ambiguous")
# For missing figures that no run calibrates.
_HINTS = {"operations": " (shoms measures one-sided operations, of OpenSHMEM only)"}
_CALIBRATE = " (plumb calibrate measures what a model needs)"


@dataclass(frozen=True)
class Judgement:
    """Contents of the expectation file, or None; ``line`` is the result, or the reason for none.

    ``expectations`` are by case key, as are ``alone``, the efficiencies by this launch alone.
    """

    judged: JudgedRecord | None
    line: str
    expectations: Mapping[str, Prediction] = field(default_factory=dict)
    alone: Mapping[str, Efficiency] = field(default_factory=dict)

    def in_doubt(self) -> list[str]:
        """Keys of the cases that more launches of the run would decide."""
        cases = self.judged.cases if self.judged else {}
        open_ = {key: one for key, one in cases.items() if one.verdict == "ambiguous"}
        return [
            key
            for key, one in self.alone.items()
            if key in open_ and (one.excess or open_[key].why == IN_DOUBT)
        ]


def verdict_of(
    median_s: float,
    interval_s: tuple[float, float] | None,
    expected_s: float,
    tolerance: float,
    reach: float = 0.0,
) -> Verdict:
    """The verdict on one case; times in seconds of one count, ``expected_s`` above zero.

    ``interval_s`` is the 95 % interval of the median; without one the median alone decides.
    ``reach`` is the half width of the expectation's interval, of the logarithm.
    """
    wide = (1 + tolerance) * exp(reach)
    slow, fast = expected_s * wide, expected_s / wide
    low, high = interval_s or (median_s, median_s)
    if low > slow:
        return "slow"
    if high < fast:
        return "fast"
    return "ambiguous" if high > slow or low < fast else "ok"


def judge_cases(
    record: Record,
    expectations: Mapping[str, Prediction],
    *,
    model: str,
    system: str,
    tolerance: float = DEFAULT_TOLERANCE,
    between: Between | None = None,
) -> JudgedRecord:
    """Judge every measured case of ``record`` with an expectation.

    ``between``: deviations between the launches from which the expectations derive.
    """
    reach = reach_of_launch(between)
    cases: dict[str, JudgedCase] = {}
    without: dict[str, str] = {}
    for case in record.cases:
        expected = expectations.get(case.key)
        median = case.median_s()
        if expected is None or median is None:
            continue
        if not expected.seconds:
            without[case.key] = expected.reason or "the model gives no time"
            continue
        verdict = verdict_of(median, case.interval_s(), expected.seconds, tolerance, reach)
        if expected.reason:
            without[case.key] = expected.reason
        cases[case.key] = JudgedCase(
            expected_s=expected.seconds,
            ratio=median / expected.seconds,
            verdict=None if expected.reason else verdict,
            bound=expected.bound,
            interval_s=(expected.seconds * exp(-reach), expected.seconds * exp(reach))
            if reach
            else None,
        )
    return JudgedRecord(model=model, system=system, cases=cases, without=without)


def reach_of_launch(between: Between | None) -> float:
    """Half width of a new launch's 95 % interval by a calibration's launches, of the logarithm.

    By Student's t of a new observation; 0 if the deviation between launches is unknown.
    """
    if between is None or between.launches < 2:
        return 0.0
    t = student(between.launches, 0.95)
    return min(t, _MOST_DEVIATIONS) * between.deviation * sqrt(1 + 1 / between.launches)


def conditions_of(record: Record) -> Conditions:
    """The conditions of a record on which calibrations depend."""
    device = record.ranks[0].device
    transfers = record.transport is not None
    replications = record.parameters.get("replications", 1)
    kind = record.memory.kind
    bank = record.memory.bank
    return Conditions(
        cpu=record.hosts[0].cpu,
        library=record.world.library or record.world.kind,
        ranks=record.world.ranks,
        nodes=record.world.nodes,
        cores_per_rank=min(len(rank.cores) for rank in record.ranks),
        transport=record.transport_name,
        memory=kind if bank is None else f"{kind}:{bank}",
        runtime=device.runtime if device else "none",
        platform=device.platform if device else "none",
        devices=record.devices(),
        driver=device.driver if device else "none",
        form=str(record.parameters.get("form", "exchange")) if transfers else "none",
        messages=2 * (replications if isinstance(replications, int) else 1) if transfers else 0,
        build_type=record.program.build_type,
    )


def is_covered(record: Record, system: System) -> bool:
    """Whether ``system`` has figures for ``record``'s conditions, or no model requires them."""
    model = model_of(record.benchmark.name)
    if model is None or record.transport_name not in model.TRANSPORTS:
        return True
    need = need_of(model, record.transport_name)
    return need == "channel" or system.figures_under(conditions_of(record)).has(need)


def judge(
    record: Record,
    system: System | None,
    tolerance: float | None,
    history: Sequence[Record] = (),
    launches: Sequence[Mapping[str, Efficiency]] | None = None,
) -> Judgement:
    """Judge ``record`` by its parts and by ``system``; ``tolerance`` is relative (None: usual).

    ``history``: earlier records of the same conditions; ``launches``: efficiencies in earlier
    launches of the same run, if it may have several. Records without parts are judged by ``system``
    only, and emulated ones not at all.
    """
    if record.emulated:
        return Judgement(None, f"no verdict, as its times are of no board: {record.emulated}")
    promised = by_system(record, system, DEFAULT_TOLERANCE if tolerance is None else tolerance)
    own = by_parts(record, DEFAULT_OF_PARTS if tolerance is None else tolerance, history, launches)
    if own is None or own.judged is None:
        return promised if promised.judged or own is None else own
    return with_promise(own, promised, state_of(record, history))


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


def by_parts(
    record: Record,
    tolerance: float,
    history: Sequence[Record] = (),
    launches: Sequence[Mapping[str, Efficiency]] | None = None,
) -> Judgement | None:
    """Judge ``record`` by the parts measured with its cases; None if it has none."""
    model, by = model_of(record.benchmark.name), basis_of(record)
    if record.parts is None or (model is None and by != "yardstick"):
        return None
    beside, without = beside_parts(model, record)
    if not beside:
        reason = next(iter(without.values()), "no case was measured")
        return Judgement(None, f"no model: {reason}")
    alike = [one for one in history if by != "yardstick" or _is_alike(one, record)]
    earlier = earlier_ratios(model, beside, alike)
    missed = missed_by(record.benchmark.name)
    own = alone = efficiencies(beside, earlier, by=by, tolerance=tolerance, missed=missed)
    if launches is not None:
        own = {key: together(one, launches, key, tolerance) for key, one in alone.items()}
    cases: dict[str, JudgedCase] = {}
    for case in (one for one in record.cases if one.key in beside):
        one = beside[case.key]
        if case.key not in own:
            reasons = one.expected.reason, _new(len(alike))
            without[case.key] = "; ".join(filter(None, reasons))
            continue
        found = own[case.key]
        # In terms of the median; the level is another quantile of the same repetitions.
        scale = (case.median_s() or one.measured.middle) / one.measured.middle
        usually = found.usual.middle if found.usual and by == "yardstick" else 0.0
        expected_s = one.expected.time_s * exp(usually)
        cases[case.key] = JudgedCase(
            expected_s=expected_s * scale,
            ratio=one.measured.middle / expected_s,
            verdict=found.verdict,
            bound=one.expected.bound,
            interval_s=(found.expected.low_s * scale, found.expected.high_s * scale),
            why=found.why,
        )
    if not cases:
        return Judgement(None, f"no verdict yet: {_new(len(alike))}")
    described = next(reversed(beside.values())).described
    judged = JudgedRecord(model=described, system=IN_SITU, cases=cases, without=without)
    line = f"{_line(judged, len(record.cases), tolerance)}; {_learnt_from(own, missed)}"
    if launches:
        line += f"; by {len(launches) + 1} launches of this run"
    return Judgement(judged, line, {key: one.expected for key, one in beside.items()}, alone)


def together(
    one: Efficiency, launches: Sequence[Mapping[str, Efficiency]], key: str, tolerance: float
) -> Efficiency:
    """The efficiency of a case by all launches of the run; ``one`` is the last launch's alone."""
    every = [*(launch[key] for launch in launches if key in launch), one]
    if one.excess is None:
        verdict, why = verdict_of_most([(each.verdict, each.why) for each in every])
    else:
        excesses = [each.excess for each in every if each.excess]
        verdict, why = verdict_of_launches(excesses, tolerance)
        if verdict == "slow" and one.why == "parts":
            return one
    return replace(one, verdict=verdict, why=why)


def basis_of(record: Record) -> Basis:
    """The meaning of the parts' times beside the cases of ``record``."""
    form = record.parameters.get("form", "exchange")
    name = record.benchmark.name
    if yardstick_of(name, record.transport_name, record.approach, form) is not None:
        return "yardstick"
    return "links" if any(case.message_bytes() for case in record.cases) else "bounds"


def _is_alike(earlier: Record, record: Record) -> bool:
    """Whether both had the same options and the same parts, so that their ratios compare."""
    return earlier.parameters == record.parameters and _measured(earlier) == _measured(record)


def _measured(record: Record) -> set[tuple[str, str]]:
    parts = record.parts.cases if record.parts else []
    return {(one.benchmark, one.key) for one in parts if one.visits}


def _new(launches: int) -> str:
    return (
        f"what is usual beside its parts is known from {FEWEST_LAUNCHES} earlier launches on, "
        f"and there {'is' if launches == 1 else 'are'} {launches or 'none'}"
    )


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

    Logarithms of measured over expected and of the expected time, shares waited, the run that
    each launch belongs to, and the logarithms of the times of the limits within the case.
    """

    ratios: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    parts: list[float] = field(default_factory=list)
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
        return median(ratio + part for ratio, part in zip(self.ratios, self.parts, strict=True))

    def alike(self, parts: float) -> Earlier:
        """The launches whose parts took about as long: the machine was in this state.

        All of them if they are few.
        """
        near = [i for i, own in enumerate(self.parts) if abs(own - parts) <= log1p(ALIKE)]
        return self._only(near) if len(near) >= FEWEST_STEADY else self

    def _only(self, kept: Sequence[int]) -> Earlier:
        lists = (self.ratios, self.waited, self.parts)
        ratios, waited, parts = ([one[i] for i in kept] for one in lists)
        runs, limits = [self.runs[i] for i in kept], [self.limits[i] for i in kept]
        return Earlier(ratios, waited, parts, runs, limits)

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
            of_case.runs.append(len(of_case.runs) if run is None else run)
            times = {name: log(level.middle) for name, level in one.limits.items()}
            of_case.limits.append(times)


def is_passed(case: Case) -> bool:
    """Whether a case was measured and its answer is right."""
    return case.outcome.status == "passed"


@dataclass(frozen=True)
class Expected:
    """An expectation, in seconds of one count.

    ``low_s`` and ``high_s`` are the ends of its interval, ``limit_s`` its middle with the
    tolerance; ``parts`` is the upper end of the parts' interval relative to their level, and
    ``waiting`` the allowance for waiting for cores, both relative.
    """

    low_s: float
    high_s: float
    limit_s: float
    parts: float
    waiting: float = 0.0


@dataclass(frozen=True)
class Efficiency:
    """The verdict on a case by its parts, a word on an ambiguous one, and its basis.

    ``excess``: over the usual ratio of earlier launches, if there are enough, and the transport was
    not always slow.
    """

    verdict: Verdict
    why: str | None
    expected: Expected
    usual: Usual | None
    excess: Excess | None = None


def efficiencies(
    beside: Mapping[str, Beside],
    earlier: Mapping[str, Earlier],
    *,
    by: Basis,
    tolerance: float,
    missed: float,
) -> dict[str, Efficiency]:
    """The efficiencies of one launch's cases, given those of earlier launches.

    By a yardstick, and where the model says why its time does not hold, only of cases whose usual
    ratio is known. ``missed``: the factor by which kernels may miss their bound without one.
    """
    above: Mapping[str, float] = {}
    if by == "bounds":
        beside, earlier, above = _in_this_state(beside, earlier)
    by_links = by == "links"
    uncertain = OF_LINKS if by_links else missed
    ratios = {key: earlier[key].ratios for key in beside if key in earlier}
    prior = PRIOR if by_links else PRIOR_OF_KERNELS
    # A transport slower than bare calls is not excused by having been so before.
    tolerable = log(uncertain) + log1p(tolerance) if by_links else inf
    usual = {
        key: usual_of(
            *(ratios, key, len(beside), prior),
            seen=[mean for mean in earlier[key].means if mean <= tolerable]
            if key in earlier
            else (),
        )
        for key in beside
    }
    excesses = {key: beside[key].ratio - known.middle for key, known in usual.items() if known}
    found: dict[str, Efficiency] = {}
    for key, one in beside.items():
        known, shift = usual[key], 0.0
        if known is None and by_links:
            peers = {name: it.ratio for name, it in beside.items() if it.teaches or name == key}
            known = usual_of_peers(peers, key)
        elif known is None and (by == "yardstick" or one.expected.reason):
            continue
        elif by_links:
            shift = common_shift(excesses, key)
        waited = max(0.0, one.waited - usual_wait(beside, earlier, key, known, by))
        expected = expected_of(
            one, known, shift, by_links=by_links, tolerance=tolerance, uncertain=uncertain
        )
        expected = replace(expected, waiting=1 / (1 - waited) - 1 if waited < MOST_WAITED else inf)
        verdict, why = efficiency_of(one, expected)
        if by == "yardstick" and known and one.ratio < known.middle - log(DISTURBED):
            verdict, why = "ambiguous", "parts"
        if verdict == "slow":
            verdict, why = _excused(one, known, above.get(key, inf))
        excess = None
        if known and known.of == "launches":
            usually = known.middle + shift
            if usually <= tolerable:
                more = min(one.ratio - usually, above.get(key, inf))
                excess = Excess(more, log1p(expected.waiting), known)
        found[key] = Efficiency(verdict, why, expected, known, excess)
    return found


def _in_this_state(
    beside: Mapping[str, Beside], earlier: Mapping[str, Earlier]
) -> tuple[dict[str, Beside], dict[str, Earlier], dict[str, float]]:
    """Cases and their alike launches, without parts' usual deviations; and above usual times.

    Parts within a case meet its moments, so their deviations are the machine's, and count; of
    several, the one that has followed the case best, if it is known. What is usual then is that
    of the launches whose limits took about as long.
    """
    moved = {key: one for key, one in beside.items() if one.limits}
    known = {key: one for key, one in earlier.items() if key in moved}
    beside, earlier = _without(beside, moved), _without(earlier, moved)
    alike = {
        key: one.alike(log(beside[key].expected.time_s)) if key in beside else one
        for key, one in earlier.items()
    }
    steady = {
        key: one.steadied(alike[key].parts) if key in alike else one for key, one in beside.items()
    }
    for key, of_case in known.items():
        if best := of_case.best_limit(moved[key].limits):
            moved[key] = replace(moved[key], limits={best: moved[key].limits[best]})
            known[key] = of_case.beside_limit(best)
        known[key] = known[key].nearest(moved[key].limits)
    above = above_usual_times(beside, alike)
    steadied = {key: one.steadied() for key, one in alike.items()}
    return {**moved, **steady}, {**known, **steadied}, above


def _without(every: Mapping[str, _T], keys: Collection[str]) -> dict[str, _T]:
    return {key: one for key, one in every.items() if key not in keys}


def _excused(one: Beside, known: Usual | None, above: float) -> tuple[Verdict, str | None]:
    """A case that is slow by its parts, unless it often was, or is not ``above`` its usual time."""
    if above <= 0:
        return "ambiguous", "parts"
    if known and known.is_common(one.ratio - known.middle):
        return "ambiguous", AS_USUAL
    return "slow", None


def above_usual_times(
    beside: Mapping[str, Beside], earlier: Mapping[str, Earlier]
) -> dict[str, float]:
    """Logarithms of the cases' times over their usual ones, where there are enough launches.

    Limits of a device do not follow its kernels from launch to launch: a case as fast as usual is
    not slow because they were faster, and its excess is at most that over its usual time.
    """
    return {
        key: log(beside[key].measured.middle) - one.usual_time
        for key, one in earlier.items()
        if key in beside and len(one.ratios) >= FEWEST_LAUNCHES
    }


def usual_wait(
    beside: Mapping[str, Beside],
    earlier: Mapping[str, Earlier],
    key: str,
    known: Usual | None,
    by: Basis,
) -> float:
    """The share of waiting for cores included in a case's usual ratio; 0 without one.

    Kernels of few launches have none: how waiting adds to their times differs between launches.
    """
    if known is None or (by != "links" and known.count < FEWEST_OF_WAITS):
        return 0.0
    if known.of == "launches":
        return median(earlier[key].waited)
    return median(one.waited for name, one in beside.items() if name != key)


def expected_of(
    one: Beside,
    usual: Usual | None,
    shift: float,
    *,
    by_links: bool,
    tolerance: float,
    uncertain: float,
) -> Expected:
    """The expectation of a case from its parts and, if known, its usual ratio.

    Without a usual ratio, a transport takes as long as bare calls, within the factor ``uncertain``,
    and a kernel may miss its bound by that factor. A usual ratio never makes a limit of links wider
    than that with the tolerance, so a transport that was always slow is still found. A case as fast
    as its parts (nearly as fast, without a history of its own) is not slow. ``shift``: the
    neighbours' common excess.
    """
    known, tolerated = log(uncertain), log1p(tolerance)
    high, middle, low = known + one.above, 0.0 if by_links else known, -known
    if usual is not None:
        low = usual.middle - usual.reach()
        learnt = usual.middle + shift + max(usual.reach(), one.above)
        least = 0.0 if usual.of == "launches" else known
        high = min(high + tolerated, max(learnt, least)) if by_links else learnt
        middle = min(middle, usual.middle + shift) if by_links else usual.middle
    parts = one.parts if usual else Level(one.expected.time_s, one.fast_s, one.slow_s)
    base = parts.middle
    return Expected(
        parts.low * exp(min(low, high)),
        base * exp(high),
        base * exp(middle + tolerated),
        exp(one.above) - 1,
    )


def efficiency_of(one: Beside, expected: Expected) -> tuple[Verdict, str | None]:
    """The verdict on a case by its parts, and a word on an ambiguous one.

    Slow: the level lies beyond the expectation's interval, and the case's interval beyond the
    expectation with the tolerance, even without its excess of waiting for cores. Faster than the
    parts counts as ``ok``: then the parts were disturbed, not the case.
    """
    level = one.measured
    if level.middle > expected.high_s and level.low > expected.limit_s:
        if level.middle > expected.high_s * (1 + expected.waiting):
            return "slow", None
        return "ambiguous", "waited"
    if level.middle > max(expected.high_s, expected.limit_s):
        return "ambiguous", "spread"
    wide = expected.parts > WIDE
    if wide and level.middle > expected.limit_s / (1 + expected.parts):
        return "ambiguous", "parts"
    return "ok", None


def _learnt_from(own: Mapping[str, Efficiency], missed: float) -> str:
    """The basis of the expectations' width, in a clause."""
    known = [one.usual for one in own.values() if one.usual is not None]
    launches = [usual.count for usual in known if usual.of == "launches"]
    if launches:
        return f"usual ratios from {max(launches)} earlier launches"
    if known:
        return "no earlier launches: usual ratios from the neighbouring sizes of this one"
    return f"no earlier launches: bounds are known to a factor of {missed:g}"


def with_promise(own: Judgement, promised: Judgement, state: StateOfMachine) -> Judgement:
    """The verdicts by parts, with the state of the machine and a system's promises.

    A case whose parts are not as usual gets no promise.
    """
    assert own.judged is not None
    theirs = promised.judged.cases if promised.judged else {}
    cases: dict[str, JudgedCase] = {}
    withheld = 0
    for key, case in own.judged.cases.items():
        other = theirs.get(key)
        usual = state.of_case(key)
        open_ = usual in ("slower", "faster")
        withheld += open_ and other is not None and other.verdict is not None
        cases[key] = case.model_copy(
            update={
                "state": usual,
                "promised_s": other.expected_s if other else None,
                "promise": other.verdict if other and not open_ else None,
            }
        )
    sentence = promised.line.removeprefix("no model: ")
    if promised.judged:
        counts = Counter(one.promise for one in cases.values() if one.promise)
        words = [f"{counts[word]} {word}" for word in _VERDICTS if counts[word]]
        if withheld:
            words.append(f"{withheld} withheld, for the machine is not as usual")
        sentence = f'by the system "{promised.judged.system}": {", ".join(words) or "no verdict"}'
    judged = own.judged.model_copy(
        update={"cases": cases, "state": state.sentence, "promise": sentence}
    )
    return Judgement(judged, own.line, own.expectations, own.alone)


def by_system(record: Record, system: System | None, tolerance: float) -> Judgement:
    """Judge ``record`` by ``system``; ``tolerance`` is relative."""
    model = model_of(record.benchmark.name)
    if record.benchmark.name in LIMITS_THEMSELVES:
        return Judgement(None, "no verdict: it measures limits by which others are judged")
    if model is None:
        return Judgement(None, f"no model: there is none for {record.benchmark.name} yet")
    if record.measuring.active_ranks:
        return Judgement(None, "no model: it has figures of all ranks at work, and some idled")
    figures = system.figures_under(conditions_of(record)) if system else None
    whole = bool(
        record.transport and figures and figures.transfer(record.transport_name, record.approach)
    )
    if record.transport_name not in model.TRANSPORTS and not whole:
        return Judgement(None, f"no model: there is none for the {record.transport_name} transport")
    need = need_of(model, record.transport_name)
    if system is None or figures is None or not (whole or figures.has(need)):
        return Judgement(None, _unknown(system, need, conditions_of(record)))
    expectations = model.expect(record, figures)
    judged = judge_cases(
        record,
        expectations,
        model=model.describe(record, figures),
        system=system.system.name,
        tolerance=tolerance,
        between=figures.between,
    )
    if not (judged.cases or judged.without):
        return Judgement(None, "no model: no case was measured")
    return Judgement(judged, _line(judged, len(record.cases), tolerance), expectations)


def _unknown(system: System | None, need: Need, conditions: Conditions) -> str:
    if system is None or system.system.name == LOCAL:
        elsewhere = system.made_elsewhere(conditions, need) if system else []
        of = f"; not used: the calibration of {'; of '.join(elsewhere)}" if elsewhere else ""
        hint = _HINTS.get(need, _CALIBRATE)
        return f"no model: this machine is not calibrated for this kind of run{hint}{of}"
    missing = {"updates": "rates of random updates", "operations": "one-sided operations"}.get(
        need, need
    )
    return f"no model: the system {system.system.name} has no {missing}"


def _line(judged: JudgedRecord, cases: int, tolerance: float) -> str:
    counts = judged.counts()
    words = [f"{counts[word]} {word}" for word in _VERDICTS if counts[word]]
    if not judged.cases:
        return f"no model: {next(iter(judged.without.values()))}"
    without = cases - counts.total()
    if without:
        why = next(iter(judged.without.values()), None)
        words.append(f"{without} without ({why})" if why else f"{without} without")
    line = (
        f"model: {judged.model}; system {judged.system}; "
        f"verdicts within {tolerance * 100:g} %: {', '.join(words)}"
    )
    if judged.system == LOCAL and counts["slow"] > len(judged.cases) / 2:
        line += " (launches differ: --launches 3 shows by how much; plumb calibrate measures anew)"
    return line
