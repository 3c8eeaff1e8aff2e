"""Promise: whether a case reaches its expectation by a system file or a stored calibration.

It is slow if the interval of its median lies beyond the expected time times 1 + tolerance, and fast
on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, sqrt

from plumbline.judge.state import student
from plumbline.model.benchmarks import model_of, need_of
from plumbline.model.prediction import Prediction
from plumbline.record.expectations import (
    DEFAULT_TOLERANCE,
    JudgedCase,
    JudgedRecord,
    Verdict,
)
from plumbline.record.record import Record
from plumbline.system.system import Between, Conditions, System

_MOST_DEVIATIONS = 4.0  # of few launches; their deviation is pooled over many cases


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
