"""Errors of a family of cases, measured by the same launches: each is estimated from all of them.

An error of ten pairs is itself known within a third, and among many cases one is too small by
chance: that case is called although nothing changed, and all others need a large difference, since
Student's t of few degrees of freedom has long tails. Cases of one benchmark have alike errors, so
each case's variance becomes the mean of its own and the family's, weighed by degrees of freedom:
the moderated t statistic of Smyth (2004), *Linear models and empirical Bayes methods*, sections 3
and 6.2. How alike they are, the spread of their variances tells; the family's weight is at most
that of the case's own, and a case keeps its own error if that is larger: some cases (long messages)
do differ by more than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

FEWEST_CASES = 5  # of a family; the spread of fewer variances tells nothing


@dataclass(frozen=True)
class Spread:
    """A standard error and its degrees of freedom."""

    error: float
    freedom: float


def moderated(own: Sequence[Spread]) -> list[Spread]:
    """Each case's error with what the family's tell; unchanged in a family of few."""
    known = [one for one in own if one.error > 0 and one.freedom > 0]
    if len(known) < FEWEST_CASES:
        return list(own)
    family = _family_of(known)
    return [_mean(one, family) if one.error > 0 and one.freedom > 0 else one for one in own]


def _family_of(known: Sequence[Spread]) -> Spread:
    """The error that the cases share; its degrees of freedom are few if they are not alike."""
    from scipy.special import digamma, polygamma  # a tenth of a second to import

    half = np.array([one.freedom for one in known]) / 2
    level = 2 * np.log([one.error for one in known]) - digamma(half) + np.log(half)
    excess = float(np.var(level, ddof=1) - np.mean(polygamma(1, half)))
    most = max(one.freedom for one in known)
    freedom = min(_freedom_of(excess), most) if excess > 0 else most
    square = exp(float(np.mean(level)) + float(digamma(freedom / 2)) - log(freedom / 2))
    return Spread(sqrt(square), freedom)


def _freedom_of(excess: float) -> float:
    """Twice the x of which trigamma is ``excess``, by bisection."""
    from scipy.special import polygamma

    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = sqrt(low * high)
        low, high = (middle, high) if polygamma(1, middle) > excess else (low, middle)
    return 2 * low


def _mean(one: Spread, family: Spread) -> Spread:
    weight = min(family.freedom, one.freedom)
    freedom = one.freedom + weight
    square = (one.freedom * one.error**2 + weight * family.error**2) / freedom
    return Spread(max(one.error, sqrt(square)), freedom)
