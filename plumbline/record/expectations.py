"""The expectation file beside a record: expected times of its cases, and verdicts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plumbline.base.files import replace_file

Verdict = Literal["ok", "slow", "fast", "ambiguous"]
State = Literal["usual", "slower", "faster", "new"]  # new: there is no history to compare with
IN_SITU = "this run's own parts"
EXPECTED_SUFFIX = ".expected.json"
# Largest relative excess over the expected time that is still ok: over a system's figures, and over
# parts measured in the same launch.
DEFAULT_TOLERANCE = 0.25
DEFAULT_OF_PARTS = 0.1
TOLERANCE = (
    "largest deviation from the model that is still ok, relative (default: "
    f"{DEFAULT_OF_PARTS:g} by parts of the run, {DEFAULT_TOLERANCE:g} by a system)"
)


class JudgedCase(BaseModel):
    """A case beside its model. ``expected_s`` is of one count; ``ratio`` is measured / expected.

    No verdict: the model's figures do not hold for the case (``without`` has the reason). If the
    figures are the run's own parts, ``interval_s`` is the interval of the expectation, ``why`` the
    reason of an open verdict, ``state`` the case's parts against earlier launches, and
    ``promised_s`` and ``promise`` the expectation and verdict by a system.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    expected_s: float
    ratio: float
    verdict: Verdict | None
    bound: str | None
    interval_s: tuple[float, float] | None = None
    why: str | None = None
    state: State | None = None
    promised_s: float | None = None
    promise: Verdict | None = None


class JudgedRecord(BaseModel):
    """The expectation file: kept beside the record, keyed by case.

    ``without`` has the reasons why measured cases have no expectation, or no verdict. ``state``
    and ``promise`` are sentences on the machine's state and its promised figures, for verdicts by
    the run's own parts (``system`` is then :data:`IN_SITU`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    system: str
    cases: dict[str, JudgedCase]
    without: dict[str, str] = {}
    state: str | None = None
    promise: str | None = None

    def counts(self) -> Counter[str]:
        """The number of cases of each verdict."""
        return Counter(case.verdict for case in self.cases.values() if case.verdict)

    def write(self, path: Path) -> None:
        """Write the expectation file. Raises OSError."""
        document = {"without": {}, **self.model_dump(exclude_defaults=True)}
        replace_file(path, json.dumps(document, indent=1) + "\n")


def expected_path(record_path: Path) -> Path:
    """The expectation file of a record: ``x.json`` has ``x.expected.json`` beside it."""
    return record_path.with_name(record_path.name.removesuffix(".json") + EXPECTED_SUFFIX)
