"""Files of the finished runs of a series or a survey, for resumption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from plumbline.base.errors import UsageError, reason_of
from plumbline.base.files import replace_file
from plumbline.base.paths import Home
from plumbline.base.validation import first_problem
from plumbline.record.record import Record, load_record


class Entry(BaseModel):
    """One finished run: ranks, its distinguishing arguments, and its record."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ranks: int
    arguments: list[str]
    record: str


class Runs(BaseModel):
    """All finished runs, in order."""

    model_config = ConfigDict(extra="ignore")

    runs: list[Entry] = []

    def found(self, ranks: int, arguments: Sequence[str]) -> tuple[Path, Record] | None:
        """The record of a passed run, if it still exists."""
        for run in reversed(self.runs):
            if run.ranks != ranks or run.arguments != list(arguments):
                continue
            with suppress(UsageError):
                record = load_record(Path(run.record))
                if is_kept(record, ranks):
                    return Path(run.record), record
        return None

    def add(self, path: Path, ranks: int, arguments: Sequence[str], record: Path) -> None:
        """Add a run, and write the file. Raises OSError."""
        self.runs.append(
            Entry(ranks=ranks, arguments=list(arguments), record=str(record.absolute()))
        )
        self.write(path)

    def write(self, path: Path) -> None:
        """Write the file. Raises OSError."""
        replace_file(path, json.dumps(self.model_dump(), indent=1) + "\n")


class Series(Runs):
    """The runs of a scaling series."""

    format: Literal["plumbline series 1"] = "plumbline series 1"
    benchmark: str
    mode: str


class SurveyRuns(Runs):
    """The runs of a survey; ``plan`` is the text that tells it from surveys of other runs."""

    format: Literal["plumbline survey 1"] = "plumbline survey 1"
    name: str
    started: str
    plan: str


def is_kept(record: Record, ranks: int) -> bool:
    """Whether a run passed, on the same number of ranks."""
    outcome = record.outcome.status if record.outcome else ""
    complete = record.status == "complete" and outcome in ("passed", "skipped", "unsupported")
    return complete and record.world.ranks == ranks


def series_path(home: Home, benchmark: str, mode: str, values: Mapping[str, str]) -> Path:
    """The file of a series with these options; equal options give the same file."""
    text = json.dumps(sorted(values.items()))
    name = hashlib.sha256(text.encode()).hexdigest()[:8]
    return home.root / "series" / f"{benchmark}-{mode}-{name}.json"


def load_series(path: Path, benchmark: str, mode: str) -> Series:
    """The series in ``path``, or an empty one if the file is missing.

    Raises :class:`UsageError` for other files, and for another benchmark's or mode's series.
    """
    if not path.exists():
        return Series(benchmark=benchmark, mode=mode)
    series = _load(path, Series)
    if (series.benchmark, series.mode) != (benchmark, mode):
        raise UsageError(
            f"{path} is a series of {series.benchmark}, {series.mode} scaling, "
            f"not of {benchmark}, {mode}"
        )
    return series


def survey_files(home: Home) -> list[Path]:
    """The files of all surveys, newest first."""
    return sorted((home.root / "surveys").glob("*.json"), key=lambda path: path.name, reverse=True)


def load_survey(path: Path) -> SurveyRuns:
    """The survey in ``path``. Raises :class:`UsageError` for a file that is none."""
    return _load(path, SurveyRuns)


_R = TypeVar("_R", bound=Runs)


def _load(path: Path, kind: type[_R]) -> _R:
    what = "survey" if kind is SurveyRuns else "series"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the {what} {path} cannot be read: {reason_of(error)}") from None
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{path} is not a {what}: {first_problem(error, kind)}") from None
