"""A record against the model of its benchmark: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

Three separate questions. *Efficiency*: does a case reach the limits of its parts, measured in the
same launch (:mod:`plumbline.judge.efficiency`)? *State*: are those parts as in earlier launches
(:mod:`plumbline.judge.state`)? *Promise*: does the case reach its expectation by a system file or a
stored calibration (:mod:`plumbline.judge.promise`)? Records without parts have the last only, as
their verdict. A run may have several launches (:mod:`plumbline.judge.sequence`), which are judged
together, and a case is ambiguous (``launches``) while more of them would decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from plumbline.judge.beside import basis_of, beside_parts, earlier_ratios
from plumbline.judge.efficiency import Efficiency, efficiencies
from plumbline.judge.parts import Identity, identity_of
from plumbline.judge.promise import conditions_of, judge_cases
from plumbline.judge.sequence import IN_DOUBT, verdict_of_launches, verdict_of_most
from plumbline.judge.state import StateOfMachine, state_of
from plumbline.judge.usual import FEWEST_LAUNCHES
from plumbline.model.benchmarks import missed_by, model_of, need_of
from plumbline.model.prediction import Prediction
from plumbline.model.yardsticks import LIMITS_THEMSELVES
from plumbline.record.expectations import (
    DEFAULT_OF_PARTS,
    DEFAULT_TOLERANCE,
    IN_SITU,
    JudgedCase,
    JudgedRecord,
    Verdict,
)
from plumbline.record.record import Record
from plumbline.system.system import LOCAL, Conditions, Need, System

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


def _is_alike(earlier: Record, record: Record) -> bool:
    """Whether both had the same options and the same parts, so that their ratios compare."""
    return earlier.parameters == record.parameters and _measured(earlier) == _measured(record)


def _measured(record: Record) -> set[Identity]:
    parts = record.parts.cases if record.parts else []
    return {identity_of(one) for one in parts if one.visits}


def _new(launches: int) -> str:
    return (
        f"what is usual beside its parts is known from {FEWEST_LAUNCHES} earlier launches on, "
        f"and there {'is' if launches == 1 else 'are'} {launches or 'none'}"
    )


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
    elsewhere = system.made_elsewhere(conditions, need) if system else []
    of = f"; not used: the calibration of {'; of '.join(elsewhere)}" if elsewhere else ""
    if system is None or system.system.name == LOCAL:
        hint = _HINTS.get(need, _CALIBRATE)
        return f"no model: this machine is not calibrated for this kind of run{hint}{of}"
    missing = {
        "device": "figures of this device",
        "updates": "rates of random updates",
        "operations": "one-sided operations",
    }.get(need, need)
    return f"no model: the system {system.system.name} has no {missing}{of}"


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
