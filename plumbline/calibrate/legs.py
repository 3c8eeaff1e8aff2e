"""Derives the legs of a transfer, and the transfer as a whole, from ``b_eff --part all``.

Launches differ (PoCL's transfers have two states, a quarter apart, for the lifetime of a process):
four launches measure launch, read, exchange, write and the whole transfer at every size, and the
median of their medians counts. Each is then fitted by few straight lines. A transfer takes longer
than the sum of its legs, because in every round a rank waits for the slower of its neighbours.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from plumbline.model.legs import is_whole, leg_of
from plumbline.record.record import Case, Record
from plumbline.system.segments import Segment
from plumbline.system.system import LEGS, Leg, Legs, MeasuredTransfer, Point

BENCHMARK = "b_eff"
_Choice = Callable[[Record, Case], bool]
_LAUNCHES = 4
_DISTURBED_SHARE = 0.1
# Options of a run that select its calibration; others (sizes, repetitions) do not.
DECIDING = (
    "runtime",
    "device",
    "device-map",
    "memory",
    "transport",
    "form",
    "batch",
    "replications",
)
_FIXED = (
    *("--part", "all", "--ring", "natural", "--min-size", "0", "--max-size", "22"),
    *("--time-limit", "0.01"),
)


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records for fits of legs; ``start`` runs a benchmark with options."""
    return [start(BENCHMARK, _FIXED) for _ in range(_LAUNCHES)]


def fit_transfers(records: Sequence[Record]) -> list[MeasuredTransfer]:
    """Fit transfers of several legs as a whole, from their cases in ``records``."""
    from plumbline.fit.segments import fit_segments, undisturbed

    points = undisturbed(_points(records, is_whole))
    if not points:
        return []
    record = records[0]
    approach = record.approach
    segments = fit_segments(points)
    return [MeasuredTransfer(transport=record.transport_name, approach=approach, segments=segments)]


def fit_legs(records: Sequence[Record]) -> Legs:
    """Fit each leg with cases in ``records``."""
    from plumbline.fit.segments import (  # SciPy takes half a second to import
        fit_segments,
        undisturbed,
    )

    fitted: dict[Leg, list[Segment]] = {}
    for leg in LEGS:
        points = undisturbed(_points(records, _measures(leg)))
        if points:
            fitted[leg] = fit_segments(points)
    return Legs.model_validate(fitted)


def is_disturbed(records: Sequence[Record]) -> bool:
    """Whether other work disturbed more than a tenth of the points."""
    from plumbline.fit.segments import undisturbed

    measured = [_points(records, chosen) for chosen in (*map(_measures, LEGS), is_whole)]
    kept = sum(len(undisturbed(points)) for points in measured)
    return 1 - kept / max(sum(len(points) for points in measured), 1) > _DISTURBED_SHARE


def _measures(leg: Leg) -> _Choice:
    return lambda record, case: leg_of(record, case) == leg


def _points(records: Sequence[Record], chosen: _Choice) -> list[Point]:
    """Times of the ``chosen`` cases by size: the median of the records' medians.

    A median more than twice the lowest counts as disturbed and is omitted.
    """
    medians: dict[int, list[Point]] = {}
    for record, case in ((made, case) for made in records for case in made.cases):
        seconds = case.median_s()
        if chosen(record, case) and seconds:
            point = Point(case.work.messages, case.message_bytes(), seconds)
            medians.setdefault(point.message_bytes, []).append(point)
    return [_middle(medians[size]) for size in sorted(medians)]


def _middle(points: Sequence[Point]) -> Point:
    lowest = min(points, key=lambda point: point.seconds)
    counted = [point.seconds for point in points if point.seconds <= 2 * lowest.seconds]
    return replace(lowest, seconds=statistics.geometric_mean(counted))
