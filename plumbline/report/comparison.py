"""Comparison of two sides case by case: table, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from plumbline.base.columns import aligned
from plumbline.base.units import duration
from plumbline.judge.comparison import DISCOVERY_RATE, Compared, is_rate
from plumbline.judge.sides import TIME, Comparison

WORDS = ("same", "faster", "slower", "ambiguous")
_CSV_HEAD = (
    *("benchmark", "case", "unit", "a", "b", "ratio", "low", "high", "p", "verdict", "reason"),
    *("launches_a", "launches_b", "needed", "emulated", "limit", "limit_ratio"),
)


def write(comparison: Comparison, form: str) -> str:
    """The comparison as ``table``, ``csv`` (a line for each case) or ``json``."""
    if form == "json":
        return json.dumps(_document(comparison), indent=2)
    if form == "csv":
        return _csv(comparison)
    return "\n".join(_table(comparison))


def _table(comparison: Comparison) -> Iterator[str]:
    a, b = comparison.launches
    sides = (
        f"{comparison.pairs} pairs in turn" if comparison.pairs else f"launches: {a} of A, {b} of B"
    )
    yield sides
    for difference in comparison.differences:
        yield f"differs: {difference}"
    if comparison.emulated:
        yield f"emulated: {comparison.emulated}"
    several = len({case.benchmark for case in comparison.cases}) > 1
    head = ["case", "A", "B", "B/A", "95 % interval", "verdict", ""]
    rows = [_row(case, several) for case in comparison.cases]
    yield from ("", *_aligned([head, *rows]))
    yield from ("", _sense(comparison), summary(comparison))
    if comparison.apart:
        yield from ("", "not compared")
        for reason, group in groupby(comparison.apart, key=lambda apart: apart.reason):
            titles = [apart.title for apart in group]
            yield f"  {', '.join(titles[:3])}{_more(titles[3:])}: {reason}"


def summary(comparison: Comparison) -> str:
    """The number of cases by word, and the rule."""
    counts = [f"{comparison.count(word)} {word}" for word in WORDS if comparison.count(word)]
    number = len(comparison.cases)
    return (
        f"{number} case{'s' if number != 1 else ''}: {', '.join(counts)} (threshold "
        f"{comparison.threshold * 100:g} %, at most {DISCOVERY_RATE * 100:g} % false among those "
        "called slower or faster)"
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Left-aligns the last two columns, which are words."""
    figures = [row[:5] for row in rows]
    words = [f"{row[5]}{': ' if row[6] else ''}{row[6]}" for row in rows]
    for line, word in zip(_padded(figures), words, strict=True):
        yield f"{line}  {word}".rstrip()


def _padded(rows: Sequence[Sequence[str]]) -> list[str]:
    ended = [[*row, "|"] for row in rows]  # keeps trailing blanks
    return [line.removesuffix("|").removesuffix("  ") for line in aligned(ended, left=1)]


def _row(case: Compared, several: bool) -> list[str]:
    name = f"{case.benchmark} {case.key}" if several else case.key
    interval = "-" if case.interval is None else "{:.3f}..{:.3f}".format(*case.interval)
    values = [_value(case.a, case.unit), _value(case.b, case.unit)]
    return [name, *values, f"{case.ratio:.3f}", interval, case.word, case.reason]


def _value(value: float, unit: str) -> str:
    return duration(value) if unit == "s" else f"{value:.4g} {unit}"


def _sense(comparison: Comparison) -> str:
    what = "time of one count" if comparison.metric == TIME else comparison.metric
    rates = any(is_rate(case.unit) for case in comparison.cases)
    return f"B/A of the {what}: {'below' if rates else 'above'} 1 is slower"


def _more(titles: Sequence[str]) -> str:
    return f" and {len(titles)} more" if titles else ""


def _csv(comparison: Comparison) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_HEAD)
    for case in comparison.cases:
        low, high = case.interval or ("", "")
        figures = [case.unit, case.a, case.b, case.ratio, low, high, _blank(case.p)]
        tail = [case.word, case.reason, *case.launches, _blank(case.needed), comparison.emulated]
        tail += [case.limit, _blank(case.limit_ratio)]
        writer.writerow([case.benchmark, case.key, *figures, *tail])
    return text.getvalue().rstrip("\n")


def _blank(value: float | None) -> float | str:
    return "" if value is None else value


def _document(comparison: Comparison) -> dict[str, object]:
    return {
        "metric": comparison.metric,
        "threshold": comparison.threshold,
        "launches": dict(zip("ab", comparison.launches, strict=True)),
        "pairs": comparison.pairs,
        "differences": list(comparison.differences),
        "emulated": comparison.emulated or None,
        "counts": {word: comparison.count(word) for word in WORDS},
        "cases": [asdict(case) for case in comparison.cases],
        "apart": [asdict(apart) for apart in comparison.apart],
    }
