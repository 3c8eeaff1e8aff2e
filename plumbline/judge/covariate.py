"""Launches' times without the state that the machine was in: an analysis of covariance.

Limits within a case, or the bare calls beside it (:mod:`plumbline.judge.parts`), are the same on
both sides of a comparison. By what they differ between launches of a side, the machine was in
another state: cores that a hypervisor moves, a clock. A case follows them by a slope from 0 to 1,
the median of the slopes between any two launches of a side, each weighing as much as their limits
differ (Jaeckel 1972; Sievers 1978). Along it the times are taken to the mean of all launches'
limits. What the limits of the sides differ by for certain is no state: then times stay as they are.

Launches in turn: the same slope is taken from each launch, and the pairs' ratios are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log
from statistics import fmean, median

import numpy as np

from plumbline.judge.comparison import (
    DEFAULT_THRESHOLD,
    FEWEST_PAIRS,
    Estimate,
    compare_pairs,
    compare_sets,
    pseudo_median,
)
from plumbline.judge.levels import mean_level

Values = Sequence[Sequence[float]]  # by launch, by repetition
Limits = Mapping[str, tuple[Sequence[float], Sequence[float]]]  # by name; A, B
_CERTAIN = 0.01  # p-value of a difference between the sides' limits


@dataclass(frozen=True)
class Adjusted:
    """``estimate`` of B / A; ``limit`` within the case, B / A of which is ``limit_ratio``.

    ``slope``: the share of its differences that was taken from the times.
    """

    estimate: Estimate
    limit: str = ""
    limit_ratio: float | None = None
    slope: float = 0.0


def compare_beside(
    a: Values, b: Values, limits: Limits, threshold: float = DEFAULT_THRESHOLD
) -> Adjusted:
    """Compare two sides by :func:`compare_sets`, without the machine's state if that is narrower.

    ``limits``: by name, of each launch the logarithm of its time. The one counts that leaves the
    narrowest interval; of launches beside it their mean rates, as in ``plumb run``.
    """
    plain = compare_sets(a, b, threshold)
    if not limits or plain.interval is None or min(len(a), len(b)) < FEWEST_PAIRS:
        return Adjusted(plain)
    found = [_adjusted(a, b, name, limits[name], threshold) for name in limits]
    narrowest = min(found, key=lambda one: _width(one.estimate))
    if _width(narrowest.estimate) < _width(plain):
        return narrowest
    return replace(narrowest, estimate=plain, slope=0.0)


def _adjusted(
    a: Values,
    b: Values,
    name: str,
    limits: tuple[Sequence[float], Sequence[float]],
    threshold: float,
) -> Adjusted:
    """Beside one limit; without an estimate if the case does not follow it, or it is not alike."""
    ratio = exp(pseudo_median(limits[1]) - pseudo_median(limits[0]))
    levels = [[log(mean_level(launch).middle) for launch in side] for side in (a, b)]
    slope = slope_within(levels, limits)
    of_a, of_b = ([[exp(one)] for one in side] for side in limits)
    apart = compare_sets(of_a, of_b)
    if slope == 0 or (apart.p is not None and apart.p < _CERTAIN):
        return Adjusted(Estimate(0.0, None, None, None), name, ratio)
    mean = fmean([*limits[0], *limits[1]])
    steady_a, steady_b = (
        [[exp(one + slope * (mean - limit))] for one, limit in zip(side, of_side, strict=True)]
        for side, of_side in zip(levels, limits, strict=True)
    )
    return Adjusted(compare_sets(steady_a, steady_b, threshold, fitted=1), name, ratio, slope)


def compare_pairs_beside(
    a: Values,
    b: Values,
    limits: Limits,
    threshold: float = DEFAULT_THRESHOLD,
    *,
    cases: int = 1,
    plain: Sequence[float] = (),
) -> Adjusted:
    """Compare launches in turn by :func:`compare_pairs`, one of a family of ``cases``.

    ``plain``: the pairs' log ratios by their times alone, which count unless those of the mean
    rates beside a limit have a narrower interval. That limit is the one that a side's launches
    follow most closely, whatever the sides differ by.
    """
    alone = compare_pairs(plain, threshold, cases)
    if not limits or len(plain) < FEWEST_PAIRS:
        return Adjusted(alone)
    levels = [[log(mean_level(launch).middle) for launch in side] for side in (a, b)]
    steady = {name: _steady(levels, of_sides) for name, of_sides in limits.items()}
    name = min(steady, key=lambda name: steady[name].spread)
    states = compare_pairs(_in_pairs(limits[name]))
    ratio, slope = exp(states.log_ratio), steady[name].slope
    if slope > 0 and (states.p is None or states.p >= _CERTAIN):
        beside = compare_pairs(_in_pairs(steady[name].sides), threshold, cases, fitted=1)
        if _width(beside) < _width(alone):
            return Adjusted(beside, name, ratio, slope)
    return Adjusted(alone, name, ratio)


@dataclass(frozen=True)
class _Steady:
    """Both sides' levels without ``slope`` times their limits; ``spread`` within the sides."""

    sides: Sequence[Sequence[float]]
    slope: float
    spread: float


def _steady(levels: Sequence[Sequence[float]], limits: Sequence[Sequence[float]]) -> _Steady:
    slope = slope_within(levels, limits)
    sides = [
        [one - slope * limit for one, limit in zip(side, of_side, strict=True)]
        for side, of_side in zip(levels, limits, strict=True)
    ]
    return _Steady(sides, slope, fmean(map(_median_distance, sides)))


def _median_distance(values: Sequence[float]) -> float:
    middle = median(values)
    return median(abs(one - middle) for one in values)


def _in_pairs(sides: Sequence[Sequence[float]]) -> list[float]:
    return [other - one for one, other in zip(*sides, strict=True)]


def slope_within(levels: Sequence[Sequence[float]], limits: Sequence[Sequence[float]]) -> float:
    """By how much of their limits' differences the launches of one side differ, from 0 to 1."""
    slopes, weights = [], []
    for side, of_side in zip(levels, limits, strict=True):
        first, second = np.triu_indices(len(side), 1)
        times, states = np.asarray(side), np.asarray(of_side)
        apart = states[first] - states[second]
        known = apart != 0
        slopes.append((times[first] - times[second])[known] / apart[known])
        weights.append(np.abs(apart[known]))
    slope, weight = np.concatenate(slopes), np.concatenate(weights)
    if slope.size == 0:
        return 0.0
    order = np.argsort(slope)
    heavier = np.cumsum(weight[order])
    middle = slope[order][np.searchsorted(heavier, heavier[-1] / 2)]
    return float(np.clip(middle, 0, 1))


def _width(estimate: Estimate) -> float:
    return estimate.interval[1] - estimate.interval[0] if estimate.interval else inf
