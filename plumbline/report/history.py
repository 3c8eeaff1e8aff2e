"""Figures over time: a line per machine, device and setting, with its changes of level."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from plumbline.base.columns import aligned, bar_row, csv_text
from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.units import duration
from plumbline.judge.changes import Change, changes
from plumbline.judge.comparison import has_direction, is_rate
from plumbline.record.record import option_text
from plumbline.record.store import TIME, Measured, Series, Store

FORMS = ["text", "json", "csv", "parquet", "prometheus"]
_CONDITIONS = ("driver", "version", "library", "kernel")  # may change along a line
_COLUMNS = ("benchmark", "case", "metric", "group", "unit", *Measured._fields)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


@dataclass(frozen=True)
class Wanted:
    """Selected figures, by shell patterns; ``since`` is the start of a time in UTC.

    Without ``metric``: the benchmark's aggregates, or if it has none, each case's first rate.
    """

    benchmark: str
    metric: str | None = None
    case: str | None = None
    host: str = "*"
    device: str = "*"
    since: str = ""


@dataclass(frozen=True)
class Line:
    """The values of a series on one machine and device, in one setting, oldest first."""

    series: Series
    values: Sequence[Measured]
    changes: Sequence[Change]

    def title(self, others: Sequence[Line]) -> str:
        """The figure and its machine; the setting if ``others`` differ in it."""
        first = self.values[0]
        way = f", {first.transport} {first.approach}" if first.approach else ""
        ranks = f"{first.ranks} rank{'s' * (first.ranks != 1)}"
        own = _own_words(first.setting, [line.values[0].setting for line in others])
        mark = " (emulated)" if first.emulated else ""
        return f"{self.series.title}: {first.host}, {first.device}, {ranks}{way}{own}{mark}"


def lines_of(store: Store, wanted: Wanted) -> list[Line]:
    """The selected lines. Raises :class:`UsageError` if there is none."""
    found = []
    for series in chosen(store.series(wanted.benchmark), wanted):
        by_line: dict[tuple[object, ...], list[Measured]] = {}
        for one in store.history(series):
            if one.started >= wanted.since and _fits(one, wanted):
                where = (one.host, one.device, one.ranks, one.emulated)
                key = (*where, one.transport, one.approach, one.setting)
                by_line.setdefault(key, []).append(one)
        found += [Line(series, values, _changes(values)) for values in by_line.values()]
    if not found:
        raise UsageError(f"no record of {wanted.benchmark} has a value on that host and device")
    return found


def chosen(every: Sequence[Series], wanted: Wanted) -> list[Series]:
    """The members of ``every`` with matching metric and case; raises if there is none."""
    if not every:
        raise UsageError(f"there is no record of {wanted.benchmark} with a right result yet")
    of_cases = [one for one in every if one.case]
    found = list(every)
    if wanted.case is not None:
        found = [one for one in of_cases if fnmatchcase(one.case, wanted.case)]
        _refuse("case", wanted.case, found, [one.case for one in of_cases])
    if wanted.metric is not None:
        names = [one.metric for one in found]
        found = [one for one in found if fnmatchcase(one.metric, wanted.metric)]
        _refuse("metric", wanted.metric, found, names)
        return found
    return [] if not found else _usual(found)


def _usual(found: Sequence[Series]) -> list[Series]:
    aggregates = [one for one in found if not one.case]
    if aggregates:
        return aggregates
    by_case: dict[str, Series] = {}
    for one in found:
        known = by_case.get(one.case)
        if known is None or (is_rate(one.unit) and not is_rate(known.unit)):
            by_case[one.case] = one
    return list(by_case.values())


def _refuse(what: str, word: str, found: Sequence[Series], names: Sequence[str]) -> None:
    if not found:
        known = list(dict.fromkeys(names))
        near = did_you_mean(word, known) or f" (there are {_some(known)})"
        raise UsageError(f"no record has a {what} {word}{near}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _fits(one: Measured, wanted: Wanted) -> bool:
    return fnmatchcase(one.host, wanted.host) and fnmatchcase(one.device, wanted.device)


def _changes(values: Sequence[Measured]) -> list[Change]:
    numbers = [one.value for one in values]
    return changes(numbers) if min(numbers) > 0 else []


def _own_words(setting: str, every: Iterable[str]) -> str:
    """The parameters in which the setting differs from another."""
    own: dict[str, Any] = json.loads(setting)
    others = [json.loads(text) for text in set(every) - {setting}]
    differing = [
        option_text(name, value)
        for name, value in own.items()
        if any(other.get(name) != value for other in others)
    ]
    return f", {' '.join(differing)}" if differing else ""


# --- forms ----------------------------------------------------------------------------------------


def write(lines: Sequence[Line], form: str) -> str:
    """The lines as ``text``, ``json``, ``csv`` or ``prometheus``."""
    forms: dict[str, Callable[[Sequence[Line]], str]] = {
        "text": _text,
        "json": _json,
        "csv": lambda lines: csv_text(_COLUMNS, _rows(lines)),
        "prometheus": _prometheus,
    }
    return forms[form](lines)


def write_parquet(lines: Sequence[Line], path: Path) -> None:
    """Write every value with its origin. Raises :class:`UsageError` without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "--format parquet needs pyarrow: pip install pyarrow, or --format csv"
        ) from None
    rows = list(_rows(lines))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(_COLUMNS)}
    made = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), made)
    try:
        path.write_bytes(made.getvalue())
    except OSError as error:
        raise UsageError(f"--output {path} cannot be written: {error.strerror}") from None


def _rows(lines: Sequence[Line]) -> Iterator[list[object]]:
    for line in lines:
        for one in line.values:
            yield [*line.series, *one]


def _text(lines: Sequence[Line]) -> str:
    parts = []
    for line in lines:
        numbers = [one.value for one in line.values]
        last = line.values[-1]
        title = line.title([other for other in lines if other.series == line.series])
        count = f"{len(numbers)} value{'s' * (len(numbers) != 1)}"
        rows = [
            ("newest", _value(last.value, line.series), last.started),
            ("median", _value(median(numbers), line.series), count),
            ("lowest", _value(min(numbers), line.series), ""),
            ("highest", _value(max(numbers), line.series), ""),
        ]
        parts += [title, f"  {bar_row(numbers)}", *(f"  {row}" for row in aligned(rows))]
        parts += [f"  {text}" for text in _change_lines(line)]
        parts.append("")
    return "\n".join(parts).rstrip("\n")


def _change_lines(line: Line) -> Iterator[str]:
    for change in line.changes:
        one, before = line.values[change.index], line.values[change.index - 1]
        word = _word(change, line.series.unit)
        percent = f"{(change.ratio - 1) * 100:+.1f} %"
        yield (
            f"{one.started}: {word}, {_value(change.before, line.series)} to "
            f"{_value(change.after, line.series)} ({percent}){_what_changed(before, one)}"
        )


def _word(change: Change, unit: str) -> str:
    if not has_direction(unit):
        return "another level"
    return "faster" if (change.ratio > 1) == is_rate(unit) else "slower"


def _what_changed(before: Measured, after: Measured) -> str:
    differing = [
        f"{name} {getattr(before, name)} to {getattr(after, name)}"
        for name in _CONDITIONS
        if getattr(before, name) != getattr(after, name)
    ]
    return f"; {'; '.join(differing)}" if differing else ""


def _value(value: float, series: Series) -> str:
    return duration(value) if series.metric == TIME else f"{value:.4g} {series.unit}"


def _json(lines: Sequence[Line]) -> str:
    return json.dumps([_document(line) for line in lines], indent=2)


def _document(line: Line) -> dict[str, object]:
    return {
        **line.series._asdict(),
        "values": [{**one._asdict(), "setting": json.loads(one.setting)} for one in line.values],
        "changes": [
            {
                "started": line.values[change.index].started,
                "before": change.before,
                "after": change.after,
                "ratio": change.ratio,
            }
            for change in line.changes
        ],
    }


def _prometheus(lines: Sequence[Line]) -> str:
    """The newest value of each line, in Prometheus' text format (version 0.0.4).

    Without timestamps, as the node exporter's textfile collector refuses them.
    """
    text = [
        "# HELP plumbline_value Newest value of a metric, in the unit of its label.",
        "# TYPE plumbline_value gauge",
        *(f"plumbline_value{{{_labels(line)}}} {line.values[-1].value!r}" for line in lines),
        "# HELP plumbline_started_seconds When the newest value was measured.",
        "# TYPE plumbline_started_seconds gauge",
        *(f"plumbline_started_seconds{{{_labels(line)}}} {_epoch(line)!r}" for line in lines),
    ]
    return "\n".join(text)


def _labels(line: Line) -> str:
    last = line.values[-1]
    named = {
        **line.series._asdict(),
        "host": last.host,
        "device": last.device,
        "transport": last.transport,
        "approach": last.approach,
        "ranks": str(last.ranks),
        "setting": last.setting,
        **({"emulated": last.emulated} if last.emulated else {}),
    }
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in named.items())


def _epoch(line: Line) -> float:
    from datetime import datetime

    return datetime.fromisoformat(line.values[-1].started).timestamp()
