"""Energy of a record's cases in a table, beside the published power of Meyer 2024."""

from __future__ import annotations

from collections.abc import Iterator

from plumbline.base.columns import aligned
from plumbline.base.errors import UsageError
from plumbline.model.published import PublishedTable, tables
from plumbline.record.record import Case, CaseEnergy, Record

_TABLES = {"stream": "3.11", "gemm": "3.12"}
"""The published table of a benchmark."""

_RATES = ("flops", "bytes", "sent", "updates", "edges")
"""Names of amounts in metrics, the first of a case's is shown."""


def text_of(record: Record) -> str:
    """The table. Raises :class:`UsageError` if energy was not measured."""
    measured = [case for case in record.cases if case.energy is not None]
    if not measured:
        reason = (record.energy or {}).get("reason")
        why = f": {reason}" if reason else ", as it was not asked for: plumb run … --energy auto"
        raise UsageError(f"the record has no energy{why}")
    lines = [f"emulated: {record.emulated}", ""] if record.emulated else []
    lines += _cases(measured)
    lines += [
        f"{case.key}: {case.energy.reason}"
        for case in measured
        if case.energy and not case.energy.sums
    ]
    published = next(
        (one for one in tables() if one.name == _TABLES.get(record.benchmark.name)), None
    )
    if published is not None:
        lines += ["", *_beside(published)]
    return "\n".join(lines)


def _cases(cases: list[Case]) -> Iterator[str]:
    head = ["case", "of", "J/operation", "J", "+-", "net J", "s", "mean W", "peak W"]
    rows = [[*head, "per joule", "per peak watt"]]
    for case in cases:
        energy = case.energy
        assert energy is not None
        for one in energy.sums:
            region = energy.region
            assert region is not None
            rows.append(
                [
                    case.key,
                    one.domain,
                    _figure(energy, "joules_per_operation", one.domain),
                    f"{one.joules:.4g}",
                    f"{one.error_j:.2g}",
                    "-" if one.net_j is None else f"{one.net_j:.4g}",
                    f"{region.seconds:.3g}",
                    f"{one.mean_w:.4g}",
                    f"{one.peak_w:.4g}",
                    _rate(energy, "per_joule", one.domain),
                    _rate(energy, "per_peak_watt", one.domain),
                ]
            )
    if len(rows) > 1:
        yield from aligned(rows, left=2)


def _rate(energy: CaseEnergy, per: str, domain: str) -> str:
    for name in _RATES:
        if text := _figure(energy, f"{name}_{per}", domain, with_unit=True):
            return text
    return "-"


def _figure(energy: CaseEnergy, name: str, domain: str, *, with_unit: bool = False) -> str:
    for metric in energy.metrics:
        if metric.name == name and metric.group == domain and metric.value is not None:
            return f"{metric.value:.4g}" + (f" {metric.unit}" if with_unit else "")
    return ""


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _beside(table: PublishedTable) -> Iterator[str]:
    """Power and performance per watt of a published table."""
    yield f"Table {table.name} ({table.title}), {table.source.split(',')[0]}:"
    rows = [row for row in table.rows if row.unit == "W" or "(W s)" in row.unit]
    names = [column.name for column in table.columns]
    head = ["", *names]
    body = [
        [
            f"{row.figure}, {row.unit}",
            *(f"{row.values[name]:g}" if name in row.values else "-" for name in names),
        ]
        for row in rows
    ]
    yield from aligned([head, *body], left=1)
    yield (
        "These divide the best rate by the peak power of the whole run, transfers included; a rate "
        "over watts is work per joule."
    )
