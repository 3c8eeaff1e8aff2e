"""``plumb accept``: checks records against a file of requirements."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from plumbline.base.errors import UsageError, reason_of
from plumbline.base.paths import Home
from plumbline.base.validation import first_problem
from plumbline.judge.acceptance import Candidate, Check, References, Requirements, check_all
from plumbline.judge.judgement import by_system
from plumbline.record.expectations import DEFAULT_TOLERANCE, JudgedRecord, expected_path
from plumbline.record.record import Record, load_record
from plumbline.run.compare import load_side, paths_of
from plumbline.run.series import load_survey, survey_files
from plumbline.system.files import find_system


def accept(requirements: Requirements, given: Sequence[str], home: Home) -> list[Check]:
    """Check the records named by ``given``, or those of the newest survey."""
    paths = paths_of(given, home) if given else surveyed(home)
    candidates = [Candidate(path.stem, load_record(path), judged_of(path)) for path in paths]

    @cache
    def records(name: str) -> Sequence[Record]:
        return load_side(name, home)

    def system(record: Record, name: str) -> JudgedRecord | str:
        judgement = by_system(record, find_system(name, home), DEFAULT_TOLERANCE)
        return judgement.judged or judgement.line

    return check_all(requirements.require, candidates, References(system, records))


def load_requirements(path: Path) -> Requirements:
    """A file of requirements. Raises :class:`UsageError` for an invalid one."""
    try:
        return Requirements.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the requirements {path} cannot be read: {reason_of(error)}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error, Requirements)}") from None


def surveyed(home: Home) -> list[Path]:
    """The records of the newest survey with any."""
    for path in survey_files(home):
        runs = load_survey(path).runs  # the last one of a repeated run
        found = {(run.ranks, *run.arguments): Path(run.record) for run in runs}
        if found:
            return list(found.values())
    raise UsageError("there is no survey yet: plumb survey makes one, or name records")


def judged_of(path: Path) -> JudgedRecord | None:
    """The contents of a record's expectation file, if there is one."""
    with suppress(OSError, ValidationError):
        return JudgedRecord.model_validate_json(expected_path(path).read_bytes())
    return None
