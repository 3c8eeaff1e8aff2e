"""The biweight: a location that a few values of any size do not move, and its standard error.

Mosteller and Tukey, Data Analysis and Regression (1977), chapters 10 and 14: a value weighs
(1 - u^2)^2, u being its distance from the location over six times the scale (the median distance
from the median, 1.4826 times, as of a normal distribution), and nothing beyond u = 1. Student's t
of 0.7 (n - 1) degrees of freedom holds for the ratio of location and error; here n is the number of
values that weigh anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_REACH = 6.0
_NORMAL = 1.4826  # a normal distribution's deviation over its median distance
_STEPS = 50  # at most; a few suffice


@dataclass(frozen=True)
class Biweight:
    """The location of values, its standard error, how many of them weigh, degrees of freedom."""

    location: float
    error: float
    kept: int

    @property
    def freedom(self) -> float:
        """Degrees of freedom of location over error."""
        return freedom_of(self.kept)


def freedom_of(count: int) -> float:
    """Degrees of freedom of ``count`` values that weigh."""
    return 0.7 * (count - 1)


def biweight(values: Sequence[float]) -> Biweight:
    """The biweight of at least two values; the median if more than half of them are equal."""
    all_values = np.asarray(values, dtype=float)
    count, middle = len(all_values), float(np.median(all_values))
    reach = _REACH * _NORMAL * float(np.median(np.abs(all_values - middle)))
    if reach == 0:
        return Biweight(middle, 0.0, int(np.sum(all_values == middle)))
    for _ in range(_STEPS):
        distance = np.clip((all_values - middle) / reach, -1, 1)
        weights = np.square(1 - np.square(distance))
        before, middle = middle, float(np.sum(weights * all_values) / np.sum(weights))
        if abs(middle - before) <= 1e-13 * reach:
            break
    u = (all_values - middle) / reach
    u = u[np.abs(u) < 1]
    pull = np.sum(np.square(u * np.square(1 - u * u)))
    slope = np.sum((1 - u * u) * (1 - 5 * u * u))
    error = reach * np.sqrt(pull * count / (count - 1)) / max(float(slope), 1.0)
    return Biweight(middle, float(error), len(u))
