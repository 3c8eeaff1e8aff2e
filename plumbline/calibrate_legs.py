"""Learns the legs of a transfer from ``b_eff --part all``.

Launches differ: two give launch, read, exchange and write at every size, and the middle of the
medians counts. Each leg is then fitted by few straight lines.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from plumbline.models.b_eff import BENCHMARK, leg_of
from plumbline.record import Record
from plumbline.segments import Segment
from plumbline.systems import LEGS, Leg, Legs, Point

_LAUNCHES = 2
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
    *("--time-limit", "0.02"),
)


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records that legs are fitted from; ``start`` runs a benchmark with options."""
    return [start(BENCHMARK, _FIXED) for _ in range(_LAUNCHES)]


def fit_legs(records: Sequence[Record]) -> Legs:
    """Fit each leg that ``records`` have cases of."""
    from plumbline.fit import fit_segments, undisturbed  # SciPy takes half a second to import

    fitted: dict[Leg, list[Segment]] = {}
    for leg in LEGS:
        points = undisturbed(_points(records, leg))
        if points:
            fitted[leg] = fit_segments(points)
    return Legs.model_validate(fitted)


def is_disturbed(records: Sequence[Record]) -> bool:
    """Whether something else on the machine disturbed more than a tenth of the points."""
    from plumbline.fit import undisturbed

    measured = [_points(records, leg) for leg in LEGS]
    kept = sum(len(undisturbed(points)) for points in measured)
    return 1 - kept / max(sum(len(points) for points in measured), 1) > _DISTURBED_SHARE


def _points(records: Sequence[Record], leg: Leg) -> list[Point]:
    """The times of ``leg`` by size: the middle of the records' medians.

    A median more than twice the lowest was disturbed by something else, and does not count.
    """
    medians: dict[int, list[Point]] = {}
    for record, case in ((made, case) for made in records for case in made.cases):
        seconds = case.median_s()
        if leg_of(record, case) == leg and seconds:
            point = Point(case.work.messages, case.message_bytes(), seconds)
            medians.setdefault(point.message_bytes, []).append(point)
    return [_middle(medians[size]) for size in sorted(medians)]


def _middle(points: Sequence[Point]) -> Point:
    lowest = min(points, key=lambda point: point.seconds)
    counted = [point.seconds for point in points if point.seconds <= 2 * lowest.seconds]
    return replace(lowest, seconds=statistics.geometric_mean(counted))
