"""A record against the model of its benchmark: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

With a tolerance of 0.25 a case is slow above 1.25 times its expected time and fast below 1/1.25 of
it. Where the measured 95 % interval of the median straddles a limit, the verdict is ambiguous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plumbline.model.benchmarks import model_of, need_of
from plumbline.model.prediction import Prediction
from plumbline.record.expectations import DEFAULT_TOLERANCE, JudgedCase, JudgedRecord, Verdict
from plumbline.record.record import Record
from plumbline.system.system import LOCAL, Conditions, Need, System

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


def judge(record: Record, system: System | None, tolerance: float) -> Judgement:
    """Judge ``record`` by ``system``; ``tolerance`` is relative."""
    model = model_of(record.benchmark.name)
    if model is None:
        return Judgement(None, f"no model: there is none for {record.benchmark.name} yet")
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
    words = [
        f"{counts[word]} {word}" for word in ("ok", "slow", "fast", "ambiguous") if counts[word]
    ]
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
