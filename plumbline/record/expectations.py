"""The expectation file beside a record: what was expected of its cases, and the verdicts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plumbline.base.files import replace_file

Verdict = Literal["ok", "slow", "fast", "ambiguous"]
EXPECTED_SUFFIX = ".expected.json"
DEFAULT_TOLERANCE = 0.25  # largest relative excess over the expected time that is still ok


class JudgedCase(BaseModel):
    """A case beside its model. ``expected_s`` is of one count; ``ratio`` is measured / expected.

    No verdict: the model's figures do not hold for the case (``without`` has the reason).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    expected_s: float
    ratio: float
    verdict: Verdict | None
    bound: str | None


class JudgedRecord(BaseModel):
    """The expectation file: kept beside the record, keyed by case.

    ``without`` has the reasons why measured cases have no expectation, or no verdict.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    system: str
    cases: dict[str, JudgedCase]
    without: dict[str, str] = {}

    def counts(self) -> Counter[str]:
        """The number of cases of each verdict."""
        return Counter(case.verdict for case in self.cases.values() if case.verdict)

    def write(self, path: Path) -> None:
        """Write the expectation file. Raises OSError."""
        replace_file(path, json.dumps(self.model_dump(), indent=1) + "\n")


def expected_path(record_path: Path) -> Path:
    """The expectation file of a record: ``x.json`` has ``x.expected.json`` beside it."""
    return record_path.with_name(record_path.name.removesuffix(".json") + EXPECTED_SUFFIX)
