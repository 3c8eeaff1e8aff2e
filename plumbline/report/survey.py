"""The summary of a survey: a row for each run, omitted ones included."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plumbline.base.columns import aligned, csv_text
from plumbline.base.errors import ExitStatus
from plumbline.report.headline import Figure

FORMS = ["text", "json", "csv"]
_WORDS = ("ok", "slow", "fast", "ambiguous")
_CSV = (
    *("benchmark", "options", "ranks", "outcome", "reason", "metric", "of", "value", "unit"),
    "emulated",
    *(*_WORDS, "warnings", "seconds", "kept", "record"),
)


@dataclass(frozen=True)
class Row:
    """A run, or the reason for its omission. ``status`` is its exit status, ``words`` its options.

    ``outcomes`` counts its cases' outcomes.
    """

    benchmark: str
    words: Sequence[str]
    ranks: int = 0
    status: int | None = None
    left_out: str = ""
    seconds: float | None = None
    outcomes: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    figure: Figure | None = None
    verdicts: dict[str, int] = field(default_factory=dict)
    warnings: int = 0
    record: Path | None = None
    kept: bool = False

    @property
    def title(self) -> str:
        """The arguments of ``plumb run``."""
        return " ".join([self.benchmark, *self.words])

    @property
    def outcome(self) -> str:
        """``18 passed, 2 unsupported``, or the end of a run without a record."""
        if self.outcomes:
            return ", ".join(f"{count} {word}" for word, count in self.outcomes.items())
        return ExitStatus(self.status or 0).name.lower().replace("_", " ")


def write(name: str, rows: Sequence[Row], form: str) -> str:
    """The survey as ``text``, ``json`` or ``csv``."""
    if form == "json":
        return json.dumps({"survey": name, "runs": [_document(row) for row in rows]}, indent=2)
    if form == "csv":
        return csv_text(_CSV, map(_csv_row, rows))
    return "\n".join(_text(name, rows))


def _text(name: str, rows: Sequence[Row]) -> Iterator[str]:
    ran = [row for row in rows if row.status is not None]
    out = [row for row in rows if row.status is None]
    head = ["run", "ranks", "outcome", "figure", "verdicts", "time", "record"]
    yield from aligned([head, *(_cells(row) for row in ran)])
    for row in (one for one in ran if one.reason):
        yield f"{row.title}: {row.reason}"
    if out:
        yield from ("", "left out")
        yield from (f"  {row.title}: {row.left_out}" for row in out)
    yield ""
    yield _sentence(name, ran, len(out))


def _sentence(name: str, ran: Sequence[Row], left_out: int) -> str:
    outcomes = sum((Counter(row.outcomes) for row in ran), Counter[str]())
    verdicts = sum((Counter(row.verdicts) for row in ran), Counter[str]())
    words = ["cases: " + ", ".join(f"{count} {word}" for word, count in outcomes.items())]
    if verdicts:
        counts = ", ".join(f"{verdicts[word]} {word}" for word in _WORDS if verdicts[word])
        words.append(f"verdicts: {counts}")
    ended = Counter(ExitStatus(row.status or 0).name.lower() for row in ran if row.status)
    if ended:
        words.insert(
            0, ", ".join(f"{n} ended with {w.replace('_', ' ')}" for w, n in ended.items())
        )
    if left_out:
        words.append(f"{left_out} left out")
    seconds = sum(row.seconds or 0 for row in ran if not row.kept)
    return f"survey {name}: {len(ran)} runs, {'; '.join(words)}; {seconds:.0f} s"


def _cells(row: Row) -> list[str]:
    judged = ", ".join(f"{row.verdicts[w]} {w}" for w in _WORDS if row.verdicts.get(w))
    figure = row.figure
    named = (
        f"{figure.text} {figure.name}{f' ({figure.of})' if figure.of else ''}" if figure else "-"
    )
    took = "kept" if row.kept else f"{row.seconds:.1f} s" if row.seconds is not None else "-"
    place = row.record.name if row.record else "-"
    return [row.title, str(row.ranks), row.outcome, named, judged or "-", took, place]


def _csv_row(row: Row) -> list[object]:
    name, value, unit, of, emulated = row.figure or ("", None, "", "", None)
    verdicts = [row.verdicts.get(word, 0) for word in _WORDS]
    outcome, reason = (row.outcome, row.reason) if row.status is not None else ("", row.left_out)
    head = [row.benchmark, " ".join(row.words), row.ranks or None, outcome, reason]
    return [
        *head,
        name,
        of,
        value,
        unit,
        emulated,
        *verdicts,
        row.warnings,
        row.seconds,
        row.kept,
        row.record,
    ]


def _document(row: Row) -> dict[str, object]:
    return {
        **vars(row),
        "words": list(row.words),
        "figure": row.figure._asdict() if row.figure else None,
        "record": str(row.record) if row.record else None,
    }
