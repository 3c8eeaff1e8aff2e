"""Comparison of several transports: table, CSV, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from plumbline.base.columns import aligned, csv_text
from plumbline.base.units import size_text
from plumbline.record.record import Case, Metric, Record

Unit = Literal["us", "GB/s"]
UNITS: tuple[Unit, ...] = ("us", "GB/s")
_CSV_HEAD = (
    *("benchmark", "ranks", "case", "message_bytes", "transport", "approach"),
    *("time_us", "bandwidth_gb_s", "outcome", "fastest", "record"),
    "emulated",
)


@dataclass(frozen=True)
class LeftOut:
    """A transport in an approach without a result, with the reason."""

    transport: str
    approach: str
    reason: str

    @property
    def label(self) -> str:
        """As users read it."""
        return f"{self.transport}/{self.approach}"


@dataclass(frozen=True)
class Column:
    """A transport in an approach, and the record of its run."""

    transport: str
    approach: str
    path: Path
    record: Record

    @property
    def label(self) -> str:
        """As users read it."""
        return f"{self.transport}/{self.approach}"

    def case(self, key: str) -> Case | None:
        """The case ``key``, if the run reached it."""
        return next((case for case in self.record.cases if case.key == key), None)

    def value(self, key: str, unit: Unit) -> float | None:
        """The case's first metric in that unit (best repetition); None unless it passed."""
        case = self.case(key)
        metric = _first(case.metrics, unit) if case and case.outcome.status == "passed" else None
        return metric.value if metric else None


@dataclass(frozen=True)
class Crossover:
    """The fastest transport for messages of ``from_bytes`` to ``to_bytes``, one kind of case."""

    group: str
    from_bytes: int
    to_bytes: int
    fastest: str


@dataclass
class Comparison:
    """Runs of one benchmark that differ in transport and approach."""

    benchmark: str
    ranks: int
    columns: list[Column] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def cases(self) -> list[Case]:
        """One case of each key, in the order of the runs."""
        found: dict[str, Case] = {}
        for column in self.columns:
            for case in column.record.cases:
                found.setdefault(case.key, case)
        return list(found.values())

    def fastest(self, key: str) -> Column | None:
        """The column of the shortest time (without times: of the largest bandwidth)."""
        for unit in UNITS:
            values = [(column.value(key, unit), column) for column in self.columns]
            best = _best([value for value, _ in values], unit)
            if best is not None:
                return next(column for value, column in values if value == best)
        return None

    def aggregates(self, unit: Unit) -> list[tuple[str, str | None]]:
        """Names and groups of the aggregates in that unit: the first of each group."""
        found: dict[str | None, str] = {}
        for column in self.columns:
            for metric in column.record.metrics:
                if metric.unit == unit and metric.table:
                    found.setdefault(metric.group, metric.name)
        return [(name, group) for group, name in found.items()]

    def crossovers(self) -> list[Crossover]:
        """The fastest transport of each range of sizes, for each kind of case."""
        sized = [case for case in self.cases() if case.message_bytes() > 0]
        kinds = dict.fromkeys(_kind(case) for case in sized)
        return [found for kind in kinds for found in self._crossovers_of(kind, sized)]

    def _crossovers_of(self, kind: str, sized: Sequence[Case]) -> Iterator[Crossover]:
        cases = sorted((c for c in sized if _kind(c) == kind), key=Case.message_bytes)
        winners = [(case.message_bytes(), self.fastest(case.key)) for case in cases]
        known = [(size, column.label) for size, column in winners if column is not None]
        for label, group in groupby(known, key=lambda entry: entry[1]):
            sizes = [size for size, _ in group]
            yield Crossover(kind, sizes[0], sizes[-1], label)


def write(comparison: Comparison, form: str) -> str:
    """The comparison as ``table``, ``csv`` (a line per case and column) or ``json``."""
    if form == "json":
        return json.dumps(_document(comparison), indent=2)
    if form == "csv":
        return csv_text(_CSV_HEAD, _csv(comparison))
    return "\n".join(_table(comparison))


def _table(comparison: Comparison) -> Iterator[str]:
    ranks = f"{comparison.ranks} rank{'s' if comparison.ranks != 1 else ''}"
    devices = dict.fromkeys(name for c in comparison.columns for name in c.record.devices())
    yield f"{comparison.benchmark} on {ranks}{', ' if devices else ''}{', '.join(devices)}"
    emulated = dict.fromkeys(column.record.emulated for column in comparison.columns)
    yield from (f"emulated: {sentence}" for sentence in emulated if sentence)
    common = len({_kind(case) for case in comparison.cases()}) == 1
    if common:
        yield f"all cases: {_kind(comparison.cases()[0])}"
    for unit in UNITS:
        rows = [*_case_rows(comparison, unit, common), *_aggregate_rows(comparison, unit)]
        if any(cell.strip(" -") for row in rows for cell in row[1:]):
            yield from ("", *aligned([*_head(comparison, unit), *rows], left=1))
    yield from ("", "* fastest of its row") if comparison.columns else ()
    for kind, found in groupby(comparison.crossovers(), key=lambda crossover: crossover.group):
        yield from ("", "fastest by message size" if common else f"fastest by message size, {kind}")
        yield from (f"  {_range(crossover)}: {crossover.fastest}" for crossover in found)
    for title, lines in (("none", _reasons(comparison)), ("left out", _left_out(comparison))):
        if lines:
            yield from ("", title, *lines)


def _head(comparison: Comparison, unit: Unit) -> list[list[str]]:
    names = [
        metric.name
        for column in comparison.columns
        for case in column.record.cases
        if (metric := _first(case.metrics, unit))
    ]
    title = f"{names[0]}, {unit}" if names else unit
    return [
        [title, *(f"{column.transport} " for column in comparison.columns)],
        ["", *(f"{column.approach} " for column in comparison.columns)],
    ]


def _case_rows(comparison: Comparison, unit: Unit, common: bool) -> Iterator[list[str]]:
    for case in comparison.cases():
        values = [column.value(case.key, unit) for column in comparison.columns]
        states = [_state(column, case.key) for column in comparison.columns]
        size = case.message_bytes()
        name = size_text(size) if common and size else case.key
        yield [name, *_cells(values, unit, states)]


def _aggregate_rows(comparison: Comparison, unit: Unit) -> Iterator[list[str]]:
    every = comparison.aggregates(unit)
    for name, group in every:
        found = [_aggregate(column, name, group) for column in comparison.columns]
        values = [metric.value if metric else None for metric in found]
        yield [f"{name} ({group})" if len(every) > 1 else name, *_cells(values, unit)]


def _cells(
    values: Sequence[float | None], unit: Unit, states: Sequence[str] | None = None
) -> Iterator[str]:
    best = _best(values, unit)
    for position, value in enumerate(values):
        if value is None:
            state = states[position] if states else "-"
            yield f"{'-' if state == 'passed' else state} "
        else:
            yield f"{value:.4g}{'*' if value == best else ' '}"


def _reasons(comparison: Comparison) -> list[str]:
    """The distinct reasons for an aggregate without a value."""
    found = {
        f"  {name}: {metric.reason}": None
        for unit in UNITS
        for name, group in comparison.aggregates(unit)
        for column in comparison.columns
        if (metric := _aggregate(column, name, group)) and metric.value is None
    }
    failed = {
        f"  {column.label}, {case.key}: {case.outcome.status}: {case.outcome.reason}": None
        for column in comparison.columns
        for case in column.record.cases
        if case.outcome.status != "passed"
    }
    return [*failed, *found]


def _left_out(comparison: Comparison) -> list[str]:
    return [f"  {way.label}: {way.reason}" for way in comparison.left_out]


def _range(crossover: Crossover) -> str:
    first, last = size_text(crossover.from_bytes), size_text(crossover.to_bytes)
    return first if first == last else f"{first} to {last}"


def _csv(comparison: Comparison) -> Iterator[list[object]]:
    for case in comparison.cases():
        best = comparison.fastest(case.key)
        for column in comparison.columns:
            values = [column.value(case.key, unit) for unit in UNITS]
            head = [comparison.benchmark, comparison.ranks, case.key, case.message_bytes()]
            tail = [_state(column, case.key), "yes" if column is best else "no", column.path]
            emulated = column.record.emulated
            yield [*head, column.transport, column.approach, *values, *tail, emulated]


def _document(comparison: Comparison) -> dict[str, Any]:
    return {
        "benchmark": comparison.benchmark,
        "ranks": comparison.ranks,
        "columns": [_column_document(column) for column in comparison.columns],
        "cases": [
            {
                "key": case.key,
                "message_bytes": case.message_bytes(),
                "time_us": {c.label: c.value(case.key, "us") for c in comparison.columns},
                "bandwidth_gb_s": {c.label: c.value(case.key, "GB/s") for c in comparison.columns},
                "outcome": {c.label: _state(c, case.key) for c in comparison.columns},
                "fastest": best.label if (best := comparison.fastest(case.key)) else None,
            }
            for case in comparison.cases()
        ],
        "crossovers": [vars(crossover) for crossover in comparison.crossovers()],
        "left_out": [vars(way) for way in comparison.left_out],
    }


def _column_document(column: Column) -> dict[str, Any]:
    return {
        "transport": column.transport,
        "approach": column.approach,
        "record": str(column.path),
        "emulated": column.record.emulated,
        "status": column.record.status,
        "outcome": column.record.outcome.status if column.record.outcome else None,
        "facts": column.record.transport.facts if column.record.transport else {},
        "metrics": [metric.model_dump() for metric in column.record.metrics],
    }


def _state(column: Column, key: str) -> str:
    case = column.case(key)
    return case.outcome.status if case else "-"


def _aggregate(column: Column, name: str, group: str | None) -> Metric | None:
    every = column.record.metrics
    return next((m for m in every if m.name == name and m.group == group), None)


def _first(metrics: Sequence[Metric], unit: Unit) -> Metric | None:
    return next((metric for metric in metrics if metric.unit == unit), None)


def _best(values: Sequence[float | None], unit: Unit) -> float | None:
    known = [value for value in values if value is not None]
    return (min if unit == "us" else max)(known, default=None)


def _kind(case: Case) -> str:
    """The labels that distinguish cases, except for the size."""
    labels = {name: value for name, value in case.labels.items() if name != "message_bytes"}
    return ", ".join(f"{name} {value}" for name, value in labels.items())
