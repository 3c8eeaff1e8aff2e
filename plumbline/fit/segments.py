"""Piecewise linear fits of a leg's measured times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plumbline.base.units import rounded
from plumbline.system.segments import Segment
from plumbline.system.system import Point

_MAX_SEGMENTS = 4
_MIN_POINTS = 2
_NOISE = 0.02
_DISTURBED = 1.25


def undisturbed(points: Sequence[Point]) -> list[Point]:
    """The ``points`` without those above 1.25 times the time of some larger message.

    Such times were disturbed by other activity on the machine. Sorted by message size.
    """
    kept: list[Point] = []
    fastest = math.inf
    for point in sorted(points, key=lambda point: point.message_bytes, reverse=True):
        if point.seconds <= _DISTURBED * fastest:
            kept.insert(0, point)
        fastest = min(fastest, point.seconds)
    return kept


def fit_segments(points: Sequence[Point], most: int = _MAX_SEGMENTS) -> list[Segment]:
    """Few straight lines through ``points`` by message size, with least relative error.

    Exact over all ways to cut the sizes into at most ``most`` segments of at least two points; the
    number of segments is the one with the least ``N ln(mean squared relative error + noise^2) +
    p ln N`` (Schwarz's criterion; p parameters, noise 2 %). Neither latency nor bandwidth is ever
    negative.
    """
    points = sorted(points, key=lambda point: point.message_bytes)
    count = len(points)
    lines = {
        (first, last): _line(points[first:last])
        for first in range(count)
        for last in range(first + 1, count + 1)
        if last - first >= min(_MIN_POINTS, count)
    }
    best: tuple[float, list[tuple[int, int]]] = (math.inf, [])
    for number in range(1, most + 1):
        error, cuts = _cheapest(lines, count, number)
        if not cuts:
            break
        score = count * math.log(error / count + _NOISE**2) + (3 * number - 1) * math.log(count)
        best = min(best, (score, cuts))
    return [_segment(points, lines, cut, count) for cut in best[1]]


@dataclass(frozen=True)
class _Line:
    latency_s: float
    seconds_per_byte: float
    squares: float
    worst: float


def _line(points: Sequence[Point]) -> _Line:
    """The line with the least sum of squared relative errors and non-negative coefficients."""
    from scipy.optimize import nnls  # half a second to import

    seconds = np.array([point.seconds for point in points])
    volume = np.array([point.messages * point.message_bytes for point in points], dtype=float)
    scale = float(volume.max()) or 1.0
    matrix = np.column_stack([1.0 / seconds, volume / scale / seconds])
    scaling = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    solution = nnls(matrix / scaling, np.ones(len(points)))[0] / scaling
    errors = np.abs(matrix @ solution - 1.0)
    return _Line(
        float(solution[0]),
        float(solution[1]) / scale,
        float(errors @ errors),
        float(errors.max()),
    )


def _cheapest(
    lines: Mapping[tuple[int, int], _Line], count: int, number: int
) -> tuple[float, list[tuple[int, int]]]:
    """The cut of ``count`` points into ``number`` segments with the least squared error."""
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for _ in range(number):
        longer: dict[int, tuple[float, list[tuple[int, int]]]] = {}
        for (first, last), line in lines.items():
            if first in best:
                error, cuts = best[first]
                candidate = (error + line.squares, [*cuts, (first, last)])
                longer[last] = min(longer.get(last, (math.inf, [])), candidate)
        best = longer
    return best.get(count, (math.inf, []))


def _segment(
    points: Sequence[Point],
    lines: Mapping[tuple[int, int], _Line],
    cut: tuple[int, int],
    count: int,
) -> Segment:
    line = lines[cut]
    flat = line.seconds_per_byte * points[cut[1] - 1].message_bytes < 1e-6 * points[cut[0]].seconds
    return Segment(
        up_to_bytes=points[cut[1] - 1].message_bytes if cut[1] < count else None,
        latency_us=rounded(line.latency_s * 1e6),
        bandwidth_gb_s=None if flat else rounded(1e-9 / line.seconds_per_byte),
        source="measured",
        worst_error=rounded(line.worst),
        largest_bytes=points[-1].message_bytes if cut[1] == count else None,
    )
