"""``plumb report``: writes the page of named records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import RunError, UsageError
from plumbline.base.files import replace_file
from plumbline.base.paths import Home
from plumbline.judge.sides import compare_records
from plumbline.record.record import load_record
from plumbline.report.page import Loaded, write_page
from plumbline.run.accept import judged_of, surveyed
from plumbline.run.compare import load_side, paths_of


@dataclass(frozen=True)
class Asked:
    """The options of the command line."""

    records: Sequence[str]
    output: Path
    against: str | None = None
    title: str | None = None
    metric: str = "time"
    threshold: float = 0.03


def write_report(asked: Asked, home: Home) -> int:
    """Write the page; returns its number of records."""
    if asked.output.is_dir():
        raise UsageError(f"--output {asked.output} is a folder")
    paths = paths_of(asked.records, home) if asked.records else surveyed(home)
    loaded = [Loaded(path.stem, load_record(path), judged_of(path), path.parent) for path in paths]
    comparison = None
    if asked.against is not None:
        comparison = compare_records(
            load_side(asked.against, home),
            [one.record for one in loaded],
            threshold=asked.threshold,
            metric=asked.metric,
        )
    days = sorted({one.record.started[:10] for one in loaded})
    usual = f"Measured {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "")
    sides = (asked.against or "", " ".join(asked.records) or "the newest survey")
    text = write_page(asked.title or usual, loaded, comparison, sides)
    try:
        replace_file(asked.output, text)
    except OSError as error:
        raise RunError(f"--output {asked.output} cannot be written: {error.strerror}") from None
    return len(loaded)
