"""A record against the model of its benchmark: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

Three questions, told apart. *Efficiency*: does a case reach what its parts, measured beside it in
the same launch, allow? *State*: are those parts as in earlier launches
(:mod:`plumbline.judge.state`)? *Promise*: does it deliver what a system file or a stored
calibration says? A record without parts has the last alone, as its verdict.

By its parts a case is slow where its level (:mod:`plumbline.judge.levels`) lies beyond the
expectation's interval, and with its whole interval beyond the expectation times 1 + tolerance; the
expectation is what the parts give, times the ratio that is usual (:mod:`plumbline.judge.usual`). It
is ambiguous, with the reason in a word, where its level lies beyond and its interval does not
(``spread``), where it waited so long for cores that this may be why (``waited``), or where the
parts are known so badly that it may lie beyond (``parts``). By a system it is slow
where the interval of its median lies beyond the expected time times 1 + tolerance, and fast
on the other side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, log1p, sqrt
from statistics import median

from plumbline.judge.levels import Level, level_of_case
from plumbline.judge.parts import in_situ
from plumbline.judge.state import StateOfMachine, state_of, student
from plumbline.judge.usual import Usual, common_shift, usual_of, usual_of_peers
from plumbline.model.benchmarks import Model, model_of, need_of
from plumbline.model.prediction import Prediction
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

# What expectations are known to beyond their parts' own intervals where no launch tells their usual
# ratio, as factors: of a sum of links, and of a bound, behind which kernels may stay.
OF_LINKS = 1.05
OF_BOUNDS = 3.0
WIDE = 0.25  # of an interval: from there on parts may not tell, and a launch teaches nothing
MOST_WAITED = 0.99
_MOST_DEVIATIONS = 4.0  # of few launches, whose deviation is pooled over many cases
_VERDICTS: tuple[Verdict, ...] = ("ok", "slow", "fast", "ambiguous")
# Where no run calibrates what is missing.
_HINTS = {"operations": " (shoms measures one-sided operations, of OpenSHMEM only)"}
_CALIBRATE = " (plumb calibrate measures what a model needs)"


@dataclass(frozen=True)
class Judgement:
    """What the expectation file holds, or None; ``line`` is the result, or the reason for none.

    ``expectations`` are what was compared with, by the case's key.
    """

    judged: JudgedRecord | None
    line: str
    expectations: Mapping[str, Prediction] = field(default_factory=dict)


def verdict_of(
    median_s: float,
    interval_s: tuple[float, float] | None,
    expected_s: float,
    tolerance: float,
    reach: float = 0.0,
) -> Verdict:
    """The verdict on one case; times in seconds of one count, ``expected_s`` above zero.

    ``interval_s`` is the 95 % interval of the median; without one the median decides alone.
    ``reach`` is how far the expectation's interval reaches to both sides, of the logarithm.
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
    """Judge every case of ``record`` that was measured and has an expectation.

    ``between``: how the launches differ that the expectations come from.
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
    """How far one more launch lies from a calibration's launches in 95 %, of the logarithm.

    By Student's t of a new observation; 0 where nothing is known of how launches differ.
    """
    if between is None or between.launches < 2:
        return 0.0
    t = student(between.launches, 0.95)
    return min(t, _MOST_DEVIATIONS) * between.deviation * sqrt(1 + 1 / between.launches)


def conditions_of(record: Record) -> Conditions:
    """Under what a record was measured, as far as a calibration depends on it."""
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
    """Whether ``system`` has figures for ``record``'s conditions, or no model asks for them."""
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
) -> Judgement:
    """Judge ``record`` by its parts and by ``system``; ``tolerance`` is relative (None: usual).

    ``history``: earlier records of like conditions. A record without parts is judged by ``system``
    alone.
    """
    promised = by_system(record, system, DEFAULT_TOLERANCE if tolerance is None else tolerance)
    own = by_parts(record, DEFAULT_OF_PARTS if tolerance is None else tolerance, history)
    if own is None or own.judged is None:
        return promised if promised.judged or own is None else own
    return with_promise(own, promised, state_of(record, history))


@dataclass(frozen=True)
class Beside:
    """A case beside its parts: its level in seconds of one count, and what the parts give for it.

    ``fast_s`` and ``slow_s`` are what the parts give at the ends of their intervals; ``waited`` is
    the share of the case's time in which a thread of it waited for a core.
    """

    measured: Level
    waited: float
    expected: Prediction
    fast_s: float
    slow_s: float
    described: str

    @property
    def ratio(self) -> float:
        """The logarithm of measured over expected."""
        return log(self.measured.middle / self.expected.time_s)

    @property
    def above(self) -> float:
        """How far the parts' interval reaches above their level, of the logarithm."""
        return log(self.slow_s / self.expected.time_s)

    @property
    def teaches(self) -> bool:
        """Whether neither the case nor its parts were disturbed so much that the ratio is none."""
        widths = (self.slow_s / self.fast_s, self.measured.high / self.measured.low)
        return max(widths) <= 1 + WIDE


def by_parts(record: Record, tolerance: float, history: Sequence[Record] = ()) -> Judgement | None:
    """Judge ``record`` by the parts measured beside its cases; None where it has none."""
    model = model_of(record.benchmark.name)
    if model is None or record.parts is None:
        return None
    beside, without = beside_parts(model, record)
    if not beside:
        reason = next(iter(without.values()), "no case was measured")
        return Judgement(None, f"no model: {reason}")
    earlier = earlier_ratios(model, beside, history)
    own = efficiencies(beside, earlier, by_links=is_of_links(record), tolerance=tolerance)
    cases: dict[str, JudgedCase] = {}
    for case in (one for one in record.cases if one.key in own):
        one, found = beside[case.key], own[case.key]
        # In terms of the median: the level is another share of the same repetitions.
        scale = (case.median_s() or one.measured.middle) / one.measured.middle
        cases[case.key] = JudgedCase(
            expected_s=one.expected.time_s * scale,
            ratio=exp(one.ratio),
            verdict=found.verdict,
            bound=one.expected.bound,
            interval_s=(found.expected.low_s * scale, found.expected.high_s * scale),
            why=found.why,
        )
    described = next(reversed(beside.values())).described
    judged = JudgedRecord(model=described, system=IN_SITU, cases=cases, without=without)
    line = f"{_line(judged, len(record.cases), tolerance)}; {_learnt_from(own)}"
    return Judgement(judged, line, {key: one.expected for key, one in beside.items()})


def is_of_links(record: Record) -> bool:
    """Whether the cases are messages of one size, which bare calls send as well: no bounds."""
    return any(case.message_bytes() for case in record.cases)


def beside_parts(model: Model, record: Record) -> tuple[dict[str, Beside], dict[str, str]]:
    """Each measured case beside its parts, and the reasons of those that have none."""
    found: dict[str, Beside] = {}
    without: dict[str, str] = {}
    for case in record.cases:
        level = level_of_case(case)
        if level is None:
            continue
        expected = _expected(model, record, case)
        if isinstance(expected, str):
            without[case.key] = expected
        else:
            middle, fast, slow, described = expected
            waited = float(str(case.facts.get("waited_share", 0.0)))
            found[case.key] = Beside(level, waited, middle, fast.time_s, slow.time_s, described)
    return found, without


def _expected(
    model: Model, record: Record, case: Case
) -> tuple[Prediction, Prediction, Prediction, str] | str:
    """What the parts beside ``case`` give, and the model's words; else why there is nothing.

    At their level, and where all are fast, or slow.
    """
    found = in_situ(record, case)
    if found is None:
        return "no part of it was measured beside it"
    alone = record.model_copy(update={"cases": [case]})
    middle, fast, slow = (
        model.expect(alone, one)[case.key] for one in (found.middle, found.fast, found.slow)
    )
    if not (middle.seconds and fast.seconds and slow.seconds):
        return middle.reason or "the model gives no time"
    return middle, fast, slow, model.describe(alone, found.middle)


@dataclass(frozen=True)
class Earlier:
    """Of earlier launches' same case: logarithms of measured over expected, and shares waited."""

    ratios: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)


def earlier_ratios(
    model: Model, cases: Collection[str], history: Sequence[Record]
) -> dict[str, Earlier]:
    """By case: what launches say that were not disturbed."""
    found: dict[str, Earlier] = {}
    for earlier in history:
        wanted = [case for case in earlier.cases if case.key in cases and is_passed(case)]
        beside, _ = beside_parts(model, earlier.model_copy(update={"cases": wanted}))
        add_launch(found, beside)
    return found


def add_launch(earlier: dict[str, Earlier], beside: Mapping[str, Beside]) -> None:
    """Add one launch's cases to what is known of earlier ones."""
    for key, one in beside.items():
        if one.teaches:
            of_case = earlier.setdefault(key, Earlier())
            of_case.ratios.append(one.ratio)
            of_case.waited.append(one.waited)


def is_passed(case: Case) -> bool:
    """Whether a case was measured and its answer was right."""
    return case.outcome.status == "passed"


@dataclass(frozen=True)
class Expected:
    """Where an expectation lies, in seconds of one count.

    ``low_s`` and ``high_s`` are the ends of its interval, ``limit_s`` its middle with the
    tolerance; ``parts`` is how far the parts' own interval reaches above their level, and
    ``waiting`` how much more the case may take for having waited for cores, both relative.
    """

    low_s: float
    high_s: float
    limit_s: float
    parts: float
    waiting: float = 0.0


@dataclass(frozen=True)
class Efficiency:
    """The verdict on a case by its parts, a word on an open one, and what it comes from."""

    verdict: Verdict
    why: str | None
    expected: Expected
    usual: Usual | None


def efficiencies(
    beside: Mapping[str, Beside],
    earlier: Mapping[str, Earlier],
    *,
    by_links: bool,
    tolerance: float,
) -> dict[str, Efficiency]:
    """The cases of one launch beside their parts, with those of earlier launches."""
    ratios = {key: earlier[key].ratios for key in beside if key in earlier}
    usual = {key: usual_of(ratios, key) for key in beside}
    excesses = {key: beside[key].ratio - known.middle for key, known in usual.items() if known}
    found: dict[str, Efficiency] = {}
    for key, one in beside.items():
        known, shift = usual[key], 0.0
        if known is None and by_links:
            peers = {name: it.ratio for name, it in beside.items() if it.teaches or name == key}
            known = usual_of_peers(peers, key)
        elif by_links:
            shift = common_shift(excesses, key)
        usually = usual_wait(beside, earlier, key, known)
        waited = min(max(0.0, one.waited - usually), MOST_WAITED)
        expected = expected_of(one, known, shift, by_links=by_links, tolerance=tolerance)
        expected = replace(expected, waiting=1 / (1 - waited) - 1)
        found[key] = Efficiency(*efficiency_of(one, expected), expected, known)
    return found


def usual_wait(
    beside: Mapping[str, Beside], earlier: Mapping[str, Earlier], key: str, known: Usual | None
) -> float:
    """The share waited for cores that the usual ratio of a case has in it; 0 without one."""
    if known is None:
        return 0.0
    if known.of == "launches":
        return median(earlier[key].waited)
    return median(one.waited for name, one in beside.items() if name != key)


def expected_of(
    one: Beside, usual: Usual | None, shift: float, *, by_links: bool, tolerance: float
) -> Expected:
    """The expectation of a case from its parts and, where it is known, from the usual ratio.

    Without one, bare calls are what a transport does, to :data:`OF_LINKS`, and a kernel may stay
    behind its bound by :data:`OF_BOUNDS`. What is usual never makes a limit of links wider than
    that with the tolerance: a transport that was always slow remains so. Nor is a case slow
    that is as fast as its parts, or nearly so where its own history is unknown. ``shift``: what the
    neighbours have in common.
    """
    known, tolerated = log(OF_LINKS if by_links else OF_BOUNDS), log1p(tolerance)
    high, middle, low = known + one.above, 0.0 if by_links else known, -known
    if usual is not None:
        low = usual.middle - usual.reach()
        learnt = usual.middle + shift + max(usual.reach(), one.above)
        least = 0.0 if usual.of == "launches" else known
        high = min(high + tolerated, max(learnt, least)) if by_links else learnt
        middle = min(middle, usual.middle + shift) if by_links else usual.middle
    base = one.expected.time_s
    return Expected(
        one.fast_s * exp(min(low, high)),
        base * exp(high),
        base * exp(middle + tolerated),
        exp(one.above) - 1,
    )


def efficiency_of(one: Beside, expected: Expected) -> tuple[Verdict, str | None]:
    """Whether a case reaches what its parts allow, and a word on an open verdict.

    Slow is what lies beyond the expectation's interval, and with its own interval beyond the
    expectation and the tolerance, even without what it waited for cores more than usual. Faster
    than the parts is as good as they are: they were disturbed, not the case.
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


def _learnt_from(own: Mapping[str, Efficiency]) -> str:
    """What the width of the expectations comes from, in a clause."""
    known = [one.usual for one in own.values() if one.usual is not None]
    launches = [usual.count for usual in known if usual.of == "launches"]
    if launches:
        return f"usual ratios from {max(launches)} earlier launches"
    if known:
        return "no earlier launches: usual ratios from the neighbouring sizes of this one"
    return f"no earlier launches: bounds are known to a factor of {OF_BOUNDS:g}"


def with_promise(own: Judgement, promised: Judgement, state: StateOfMachine) -> Judgement:
    """The verdicts by parts with the state of the machine and what a system promises.

    A promise is withheld where the parts of the case are not as usual.
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
    return Judgement(judged, own.line, own.expectations)


def by_system(record: Record, system: System | None, tolerance: float) -> Judgement:
    """Judge ``record`` by ``system``; ``tolerance`` is relative."""
    model = model_of(record.benchmark.name)
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
