"""The most important figure of a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plumbline.base.units import duration, figure_text
from plumbline.judge.comparison import is_rate
from plumbline.model.benchmarks import scaled_metric
from plumbline.record.record import Record


class Figure(NamedTuple):
    """A metric's value; ``of`` is its case or group, empty for all."""

    name: str
    value: float
    unit: str
    of: str
    emulated: bool = False

    @property
    def text(self) -> str:
        """``2.5 GB/s``."""
        text = duration(self.value) if self.unit == "s" else figure_text(self.value, self.unit)
        return f"{text} (emulated)" if self.emulated else text


def headline(record: Record) -> Figure | None:
    """The most important figure, which says whether it is of no board."""
    found = _headline(record)
    return found and found._replace(emulated=record.emulated is not None)


def _headline(record: Record) -> Figure | None:
    """The benchmark's scaling metric, else its first aggregate, else its best case's.

    The best case has the highest rate, or without rates the shortest time of a count.
    """
    usual = scaled_metric(record.benchmark.name)
    aggregates = [one for one in record.metrics if one.value is not None]
    for metric in sorted(aggregates, key=lambda one: one.name != usual):
        if metric.value is not None:
            return Figure(metric.name, metric.value, metric.unit, metric.group or "")
    rates = list(_rates(record, usual))
    if rates:
        return max(rates, key=lambda one: (one.name == usual, one.value))
    times = [
        Figure("time", median, "s", case.key)
        for case in record.cases
        if case.outcome.status == "passed" and (median := case.median_s()) is not None
    ]
    return min(times, key=lambda one: one.value, default=None)


def _rates(record: Record, usual: str | None) -> Iterator[Figure]:
    for case in record.cases:
        for metric in case.metrics if case.has_figures else ():
            if metric.value is not None and (metric.name == usual or is_rate(metric.unit)):
                yield Figure(metric.name, metric.value, metric.unit, case.key)
