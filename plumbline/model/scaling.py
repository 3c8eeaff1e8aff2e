"""Scaling of a benchmark: speed-up, efficiency, and serial share.

Source: Amdahl, AFIPS 1967, for strong scaling; Gustafson, CACM 31(5), 1988, for weak scaling;
Meyer 2024, section 4.2.3, for the extrapolated line: p times the rate of one device with a problem
of the size of its part.

p is a number of ranks, R(p) the rate of all of them, b the fewest ranks that were measured, and
s the serial share:

    speed-up S(p) = b R(p)/R(b)          efficiency S(p)/p
    Amdahl        S(p) = 1 / (s + (1 - s)/p)
    Gustafson     S(p) = s + (1 - s) p

b > 1 ranks are assumed to be b times as fast as one; the curves are then divided by their values at
b.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from plumbline.base.distributions import student_quantile
from plumbline.model.arrays import ArrayLike, Floats, floats

Mode = Literal["weak", "strong"]


# --- equations ------------------------------------------------------------------------------------


def amdahl(serial: ArrayLike, ranks: ArrayLike) -> Floats:
    """The speed-up of one problem over ``ranks``."""
    s = floats(serial)
    return floats(1 / (s + (1 - s) / floats(ranks)))


def gustafson(serial: ArrayLike, ranks: ArrayLike) -> Floats:
    """The speed-up of a problem that grows with ``ranks``."""
    s = floats(serial)
    return floats(s + (1 - s) * floats(ranks))


def law(mode: Mode, serial: float, ranks: ArrayLike, base: int = 1) -> Floats:
    """The speed-up by the mode's law, normalised to ``base`` at ``base`` ranks."""
    curve = amdahl if mode == "strong" else gustafson
    return floats(base * curve(serial, ranks) / curve(serial, base))


LAWS: dict[Mode, str] = {"strong": "Amdahl", "weak": "Gustafson"}


@dataclass(frozen=True)
class Fit:
    """The serial share of the law with the least relative error, and its 95 % half-width.

    The half-width is None with a single point beyond the base.
    """

    serial: float
    half_width: float | None
    largest_error: float


def fit_serial(mode: Mode, ranks: Sequence[int], speedups: Sequence[float]) -> Fit | None:
    """The share of a series whose first entry is its base; None with fewer than two entries."""
    if len(ranks) < 2:
        return None
    base, p, s = ranks[0], floats(ranks[1:]), floats(speedups[1:])

    from scipy.optimize import least_squares  # half a second to import

    def errors(x: Floats) -> Floats:
        return floats(law(mode, float(x[0]), p, base) / s - 1)

    found = least_squares(
        errors, [0.01], bounds=([0.0], [1.0]), x_scale=[0.01], ftol=1e-15, xtol=1e-12, gtol=1e-15
    )
    serial, left = float(found.x[0]), errors(found.x)
    freedom = len(p) - 1
    slope = float(np.sum(np.square(np.asarray(found.jac, dtype=np.float64))))
    half = None
    if freedom > 0 and slope > 0:
        deviation = math.sqrt(float(np.sum(left**2)) / freedom / slope)
        half = student_quantile(0.975, freedom) * deviation
    return Fit(serial, half, float(np.max(np.abs(left))))


# --- a series -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """The metric's ``value`` for ``ranks`` ranks, over all ranks.

    ``aside`` is the reason for exclusion from the fit (more ranks than cores), otherwise empty.
    ``emulated``: it is of no board. ``model`` is the value that the model expects, ``neighbours``
    the most of a rank; None if unknown.
    """

    ranks: int
    value: float
    size: int | None = None
    aside: str = ""
    emulated: bool = False
    model: float | None = None
    neighbours: int | None = None


@dataclass(frozen=True)
class Curve:
    """One metric over ranks: points in ascending order, and p times one rank beside them.

    ``alone`` maps numbers of ranks to the metric of one rank with the part of one of them.
    ``is_time``: the metric is the time of one count, lower is better.
    """

    name: str
    metric: str
    unit: str
    mode: Mode
    points: tuple[Point, ...]
    alone: dict[int, float]
    is_time: bool = False

    @property
    def base(self) -> Point:
        """The reference of the series: the point with the fewest ranks."""
        return self.points[0]

    def speedup(self, value: float) -> float:
        """Speed-up of ``value``, normalised to the number of ranks at the base."""
        if self.is_time:
            rate = self.base.value / value
            return rate * self.base.ranks
        return self.base.ranks * value / self.base.value

    def speedup_by_model(self, point: Point) -> float | None:
        """The speed-up of a point if it took the model's time, over the measured base."""
        if point.model is None:
            return None
        return self.speedup_of(replace(point, value=point.model))

    def speedup_of(self, point: Point) -> float:
        """The speed-up of a measured point; in weak scaling p ranks in the same time give p."""
        found = self.speedup(point.value)
        grown = point.ranks / self.base.ranks if self.is_time and self.mode == "weak" else 1.0
        return found * grown

    def efficiency_of(self, point: Point) -> float:
        """Speed-up over ranks."""
        return self.speedup_of(point) / point.ranks

    def extrapolated(self, ranks: int) -> float | None:
        """Meyer's line, as a speed-up: ``ranks`` times one rank with a part of that size."""
        one = self.alone.get(ranks)
        if one is None:
            return None
        grown = ranks / self.base.ranks if not self.is_time or self.mode == "weak" else 1.0
        return grown * self.speedup(one)

    def fit(self) -> Fit | None:
        """The serial share by the points of the fit."""
        counted = [point for point in self.points if not point.aside]
        if not counted or counted[0] is not self.base:
            return None
        return fit_serial(
            self.mode, [one.ranks for one in counted], [self.speedup_of(one) for one in counted]
        )
