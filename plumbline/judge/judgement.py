"""A record against the model of its benchmark: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

Three questions, told apart. *Efficiency*: does a case reach what its parts, measured beside it in
the same launch, allow? *State*: are those parts as in earlier launches
(:mod:`plumbline.judge.state`)? *Promise*: does it deliver what a system file or a stored
calibration says? A record without parts has the last alone, as its verdict.

A case is slow where its measured interval lies wholly beyond the expectation's interval times
1 + tolerance. It is ambiguous, with the reason in a word, where its median lies beyond and its
interval does not (``spread``), or where the parts themselves are known so badly that the median may
lie beyond what they allow (``parts``). Of promises ``fast`` is the same on the other side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from statistics import fmean, stdev

from plumbline.judge.parts import in_situ
from plumbline.judge.state import FEWEST, StateOfMachine, state_of, student
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
from plumbline.system.system import LOCAL, Conditions, Need, System

# What expectations are known to beyond their parts' own intervals: of a sum of links, relative; of
# a bound, the factor by which kernels may stay behind it where no history tells their share.
OF_LINKS = 0.05
OF_BOUNDS = 3.0
WIDE = 0.25  # of the parts' own interval, above their middle: from there on they may not tell
_VERDICTS: tuple[Verdict, ...] = ("ok", "slow", "fast", "ambiguous")
# Where no run calibrates what is missing.
_HINTS = {"operations": " (shoms measures one-sided operations, of OpenSHMEM only)"}


@dataclass(frozen=True)
class Judgement:
    """What the expectation file holds, or None; ``line`` is the result, or the reason for none.

    ``expectations`` are what was compared with, by the case's key.
    """

    judged: JudgedRecord | None
    line: str
    expectations: Mapping[str, Prediction] = field(default_factory=dict)


def verdict_of(
    median_s: float, interval_s: tuple[float, float] | None, expected_s: float, tolerance: float
) -> Verdict:
    """The verdict on one case; times in seconds of one count, ``expected_s`` above zero.

    ``interval_s`` is the 95 % interval of the median; without one the median decides alone.
    """
    slow, fast = expected_s * (1 + tolerance), expected_s / (1 + tolerance)
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
) -> JudgedRecord:
    """Judge every case of ``record`` that was measured and has an expectation."""
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
        verdict = verdict_of(median, case.interval_s(), expected.seconds, tolerance)
        if expected.reason:
            without[case.key] = expected.reason
        cases[case.key] = JudgedCase(
            expected_s=expected.seconds,
            ratio=median / expected.seconds,
            verdict=None if expected.reason else verdict,
            bound=expected.bound,
        )
    return JudgedRecord(model=model, system=system, cases=cases, without=without)


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


def by_parts(record: Record, tolerance: float, history: Sequence[Record] = ()) -> Judgement | None:
    """Judge ``record`` by the parts measured beside its cases; None where it has none."""
    model = model_of(record.benchmark.name)
    if model is None or record.parts is None:
        return None
    usual = usual_ratios(model, record, history)
    cases: dict[str, JudgedCase] = {}
    without: dict[str, str] = {}
    expectations: dict[str, Prediction] = {}
    described = ""
    for case in record.cases:
        median = case.median_s()
        if median is None:
            continue
        expected = _expected(model, record, case)
        if isinstance(expected, str):
            without[case.key] = expected
            continue
        middle, fast, slow, described = expected
        expectations[case.key] = middle
        expects = within(record, middle.time_s, fast.time_s, slow.time_s, usual.get(case.key, []))
        verdict, why = efficiency_of(median, case.interval_s(), expects, tolerance)
        cases[case.key] = JudgedCase(
            expected_s=middle.time_s,
            ratio=median / middle.time_s,
            verdict=verdict,
            bound=middle.bound,
            interval_s=(expects.low_s, expects.high_s),
            why=why,
        )
    judged = JudgedRecord(model=described, system=IN_SITU, cases=cases, without=without)
    if not cases:
        reason = next(iter(without.values()), "no case was measured")
        return Judgement(None, f"no model: {reason}")
    return Judgement(judged, _line(judged, len(record.cases), tolerance), expectations)


def _expected(
    model: Model, record: Record, case: Case
) -> tuple[Prediction, Prediction, Prediction, str] | str:
    """What the parts beside ``case`` give: their middle, all fast, all slow, in the model's words.

    Else the reason why there is nothing.
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


def usual_ratios(model: Model, record: Record, history: Sequence[Record]) -> dict[str, list[float]]:
    """By case: measured over expected in earlier launches, for models that are bounds.

    Bounds say what the device allows, not which share of it a kernel reaches: that is learnt.
    """
    found: dict[str, list[float]] = {}
    if record.transport is not None:
        return found
    for earlier in history:
        for case in earlier.cases:
            median = case.median_s()
            expected = _expected(model, earlier, case)
            if median and not isinstance(expected, str) and case.outcome.status == "passed":
                found.setdefault(case.key, []).append(median / expected[0].time_s)
    return found


@dataclass(frozen=True)
class Expected:
    """Where an expectation lies, in seconds of one count.

    ``low_s`` and ``high_s`` are the ends of its interval; ``parts`` is how far the parts' own
    interval reaches above their middle, relative.
    """

    low_s: float
    high_s: float
    parts: float


def within(
    record: Record, middle_s: float, fast_s: float, slow_s: float, usual: Sequence[float]
) -> Expected:
    """The expectation from the parts' times and, for bounds, from the ratios that are usual.

    Of links the bare calls are what a transport does, to :data:`OF_LINKS`. A kernel reaches some
    share of its bound: the usual one within the t-interval of a new observation on a logarithmic
    scale (95 %, at least :data:`OF_LINKS`), or, before :data:`FEWEST` launches are known, anything
    down to 1 / :data:`OF_BOUNDS`.
    """
    low, high = 1 / (1 + OF_LINKS), 1 + OF_LINKS
    if record.transport is None:
        low, high = 1 / OF_BOUNDS, OF_BOUNDS
        if len(usual) >= FEWEST:
            logs = [log(ratio) for ratio in usual]
            spread = student(len(logs), 0.95) * stdev(logs) * sqrt(1 + 1 / len(logs))
            reach = max(spread, log(1 + OF_LINKS))
            low, high = exp(fmean(logs) - reach), exp(fmean(logs) + reach)
    return Expected(fast_s * low, slow_s * high, slow_s / middle_s - 1)


def efficiency_of(
    median_s: float,
    interval_s: tuple[float, float] | None,
    expected: Expected,
    tolerance: float,
) -> tuple[Verdict, str | None]:
    """Whether a case reaches what its parts allow, and a word on an open verdict.

    Times in seconds of one count. Without ``interval_s`` the median stands for it. Faster than the
    parts is as good as they are: they were disturbed, not the case.
    """
    low = interval_s[0] if interval_s else median_s
    limit = expected.high_s * (1 + tolerance)
    if low > limit:
        return "slow", None
    if median_s > limit:
        return "ambiguous", "spread"
    if expected.parts > WIDE and median_s > limit / (1 + expected.parts):
        return "ambiguous", "parts"
    return "ok", None


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
        return Judgement(None, _unknown(system, need))
    expectations = model.expect(record, figures)
    judged = judge_cases(
        record,
        expectations,
        model=model.describe(record, figures),
        system=system.system.name,
        tolerance=tolerance,
    )
    if not (judged.cases or judged.without):
        return Judgement(None, "no model: no case was measured")
    return Judgement(judged, _line(judged, len(record.cases), tolerance), expectations)


def _unknown(system: System | None, need: Need) -> str:
    if system is None or system.system.name == LOCAL:
        return (
            f"no model: this machine is not calibrated for this kind of run{_HINTS.get(need, '')}"
        )
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
