"""Learns the legs of a transfer, and what it takes as a whole, from ``b_eff --part all``.

Launches differ (PoCL's transfers fall into two states, a quarter apart, for as long as a process
lives): four give launch, read, exchange, write and the transfer of them at every size, and
the middle of the medians counts. Each is then fitted by few straight lines. A transfer takes longer
than its legs one by one: in every round a rank waits for the slower of its neighbours.
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
# Options of a run that decide which calibration fits it; the rest (sizes, repetitions) does not.
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
    """The records that legs are fitted from; ``start`` runs a benchmark with options."""
    return [start(BENCHMARK, _FIXED) for _ in range(_LAUNCHES)]


def fit_transfers(records: Sequence[Record]) -> list[MeasuredTransfer]:
    """The transfers of several legs that ``records`` have cases of, as a whole."""
    from plumbline.fit.segments import fit_segments, undisturbed

    points = undisturbed(_points(records, is_whole))
    if not points:
        return []
    record = records[0]
    approach = record.approach
    segments = fit_segments(points)
    return [MeasuredTransfer(transport=record.transport_name, approach=approach, segments=segments)]


def fit_legs(records: Sequence[Record]) -> Legs:
    """Fit each leg that ``records`` have cases of."""
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
    """Whether something else on the machine disturbed more than a tenth of the points."""
    from plumbline.fit.segments import undisturbed

    measured = [_points(records, chosen) for chosen in (*map(_measures, LEGS), is_whole)]
    kept = sum(len(undisturbed(points)) for points in measured)
    return 1 - kept / max(sum(len(points) for points in measured), 1) > _DISTURBED_SHARE


def _measures(leg: Leg) -> _Choice:
    return lambda record, case: leg_of(record, case) == leg


def _points(records: Sequence[Record], chosen: _Choice) -> list[Point]:
    """The times of the ``chosen`` cases by size: the middle of the records' medians.

    A median more than twice the lowest was disturbed by something else, and does not count.
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
