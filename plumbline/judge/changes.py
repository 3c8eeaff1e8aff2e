"""Lasting changes of a figure's level over time.

The segmentation of least cost into constant levels: each value costs its squared distance from its
segment's level, in units of the noise and at most :data:`BOUND` squared, each segment
:data:`_PENALTY`. The bound makes it robust (Fearnhead and Rigaill 2019, "Changepoint detection in
the presence of outliers", the biweight loss): one or two deviating values are cheaper as outliers
than as a segment, three in a row are a change. The optimum is computed as in that paper, value by
value over all levels at once, here on a grid of levels. Levels are logarithms, so results do not
depend on the unit, or on time versus rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BOUND = 3.0  # standard deviations of noise; values beyond are outliers
LEAST = 0.03  # relative; smaller changes are ignored
FEWEST = 6  # values; shorter series have no changes
_PENALTY = 2 * BOUND**2 + 1  # two outliers at the end are no change, three are
_LEVELS = 400
_LEAST_NOISE = 0.003  # relative; a lower bound of the estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A change of level at ``index``; ``before`` and ``after`` are medians."""

    index: int
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """The new level over the old."""
        return self.after / self.before


def changes(values: Sequence[float], least: float = LEAST) -> list[Change]:
    """The changes of level in ``values`` (positive, in order of time).

    Changes of a ratio within 1 + ``least`` are omitted. Fewer than :data:`FEWEST` values have none.
    """
    data = np.log(np.asarray(values, dtype=float))
    if len(data) < FEWEST or float(np.ptp(data)) == 0:
        return []
    return _told(data, _starts(data, noise_of(data)), math.log1p(least))


def noise_of(data: Floats) -> float:
    """The noise's standard deviation, estimated robustly from differences of neighbours.

    Estimates from few values are enlarged, because they are uncertain.
    """
    differences = np.abs(np.diff(data))
    found = float(np.median(differences)) * 1.4826 / math.sqrt(2)
    return max(found * (1 + 4 / len(differences)), _LEAST_NOISE)


def _starts(data: Floats, noise: float) -> list[int]:
    """Starts of the segments; the first is 0."""
    levels = np.linspace(data.min(), data.max(), _LEVELS)
    losses = np.minimum(((data[:, None] - levels) / noise) ** 2, BOUND**2)
    began = np.zeros((len(data), _LEVELS), dtype=np.int32)  # start of the segment, by level
    cost, start = losses[0].copy(), began[0]
    best = np.empty(len(data), dtype=np.int32)  # level of least cost at each value
    best[0] = int(np.argmin(cost))
    for i in range(1, len(data)):
        anew = cost[best[i - 1]] + _PENALTY
        fresh = cost > anew
        cost = np.where(fresh, anew, cost) + losses[i]
        began[i] = start = np.where(fresh, i, start)
        best[i] = int(np.argmin(cost))
    starts, end = [], len(data) - 1
    while end >= 0:
        first = int(began[end][best[end]])
        starts.append(first)
        end = first - 1
    return starts[::-1]


def _settled(data: Floats, starts: Sequence[int], medians: Sequence[float]) -> list[int]:
    """Moves each start to where the adjacent values lie nearest to the median of their own side.

    The bounded loss is the same on both sides for a value far from both.
    """
    settled = [0]
    for i, (before, after) in enumerate(itertools.pairwise(medians)):
        begin = settled[-1]
        part = data[begin : starts[i + 2] if i + 2 < len(starts) else len(data)]
        cost = np.cumsum(np.abs(part - before) - np.abs(part - after))
        settled.append(begin + 1 + int(np.argmin(cost[:-1])))
    return settled


def _told(data: Floats, starts: list[int], least: float) -> list[Change]:
    """The changes between segments; adjacent segments of nearly equal level are merged."""
    while True:
        bounds = [*starts, len(data)]
        medians = [float(np.median(data[a:b])) for a, b in itertools.pairwise(bounds)]
        steps = [abs(b - a) for a, b in itertools.pairwise(medians)]
        if not steps or min(steps) >= least:
            break
        del starts[steps.index(min(steps)) + 1]
    starts = _settled(data, starts, medians)
    return [
        Change(start, math.exp(before), math.exp(after))
        for start, before, after in zip(starts[1:], medians, medians[1:], strict=False)
    ]
