"""Measured against model: ``ok``, ``slow``, ``fast``, or ``ambiguous``.

With a tolerance of 0.25 a case is slow above 1.25 times its expected time and fast below 1/1.25 of
it. Where the measured 95 % interval of the median straddles a limit, the verdict is ambiguous.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plumbline.base.files import replace_file
from plumbline.model import Expectation
from plumbline.record.record import Record

Verdict = Literal["ok", "slow", "fast", "ambiguous"]
DEFAULT_TOLERANCE = 0.25
EXPECTED_SUFFIX = ".expected.json"


class JudgedCase(BaseModel):
    """A case beside its model. ``expected_s`` is of one count; ``ratio`` is measured / expected.

    No verdict: the model's figures do not hold for the case (``without`` says why).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    expected_s: float
    ratio: float
    verdict: Verdict | None
    bound: str | None


class Comparison(BaseModel):
    """The expectation file: kept beside the record, keyed by case.

    ``without`` says of measured cases why they have no expectation, or no verdict.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    system: str
    cases: dict[str, JudgedCase]
    without: dict[str, str] = {}

    def counts(self) -> Counter[str]:
        """How many cases got which verdict."""
        return Counter(case.verdict for case in self.cases.values() if case.verdict)

    def write(self, path: Path) -> None:
        """Write the expectation file. Raises OSError."""
        replace_file(path, json.dumps(self.model_dump(), indent=1) + "\n")


def judge(
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


def compare(
    record: Record,
    expectations: Mapping[str, Expectation],
    *,
    model: str,
    system: str,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Comparison:
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
        verdict = judge(median, case.interval_s(), expected.seconds, tolerance)
        if expected.reason:
            without[case.key] = expected.reason
        cases[case.key] = JudgedCase(
            expected_s=expected.seconds,
            ratio=median / expected.seconds,
            verdict=None if expected.reason else verdict,
            bound=expected.bound,
        )
    return Comparison(model=model, system=system, cases=cases, without=without)


def expected_path(record_path: Path) -> Path:
    """Where the expectation file of a record lies: ``x.json`` has ``x.expected.json`` beside it."""
    return record_path.with_name(record_path.name.removesuffix(".json") + EXPECTED_SUFFIX)
