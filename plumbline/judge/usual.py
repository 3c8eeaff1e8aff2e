"""The usual ratio of a case to its parts, from earlier launches or from neighbouring cases.

A transport exceeds bare calls by some per cent, constant over launches; a kernel reaches some share
of its bound, constant over launches. So a case is best judged by its own earlier ratios: by their
median, and their spread by the mean absolute deviation; a single slow launch does not move the
median, and the deviation only little. The spread of few launches is uncertain, so it is pooled with
the neighbouring cases' and with :data:`PRIOR` (kernels: :data:`PRIOR_OF_KERNELS`), which weighs as
much as :data:`PRIOR_FREEDOM` launches. A new ratio lies below the upper end in 99.75 % (Student's
t), with more than :data:`FAMILY` cases in accordingly more, so that one of a launch's cases exceeds
it in 5 % of launches; the engine repeats the measurement of outlying cases, so fewer do.

A common shift of the ratios of all neighbouring sizes is attributed to the machine (moved threads,
other work) and subtracted, by the neighbours' median (:func:`common_shift`), up to
:data:`MOST_SHIFT`: a transport that is slow at all sizes is still found.

Without earlier launches, the run's cases of the same transport and neighbouring sizes replace them.

Bare calls beside a transport meet the same moments of the machine, so their ratio is steadier than
either. A kernel's limits do not: deviations of both within a launch are independent (measured:
docs/verdicts.md), and the ratio has both. So deviations of limits within what is usual for them
count as none (:func:`steadied`). Where shared memory and caches have states, in which both differ
by factors, launches with alike limits count alone (``Earlier.alike`` of the judgement).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean, median
from typing import Literal

from plumbline.base.distributions import student_quantile

PRIOR = 0.03  # spread of a ratio between launches, of the logarithm
PRIOR_OF_KERNELS = 0.05  # placement of threads and pages differs between launches
PRIOR_FREEDOM = 6
FEWEST_LAUNCHES = 2
FEWEST_PEERS = 4
MOST_SHIFT = 0.05  # larger common shifts are attributed to the transport
FEWEST_STEADY = 6  # launches from which the usual deviation of parts is known
USUAL_DEVIATIONS = 3.0  # standard deviations
_NEAR = 3  # neighbours on each side
COMMON = 5  # earlier runs, of which one is as slow: what is common is not slow
FAMILY = 20  # cases of a launch, of which one exceeds its upper end in ALARMS
ALARMS = 0.05
_OF_NORMAL = 1.2533  # standard over mean absolute deviation, normal distribution


def steadied(value: float, usual: Sequence[float]) -> float:
    """A logarithm of parts' times without its usual deviation.

    It is the median of the ``usual`` ones within :data:`USUAL_DEVIATIONS` standard deviations of
    it. Slower parts count as they are: the machine is slower than it was. Faster ones count from
    these deviations on, as the case need not be faster by as much. With few ``usual`` values
    (:data:`FEWEST_STEADY`) it is the value itself.
    """
    if len(usual) < FEWEST_STEADY:
        return value
    middle = median(usual)
    squares, freedom = _squares(usual)
    reach = USUAL_DEVIATIONS * sqrt(squares / (freedom + 1))
    return value if value > middle + reach else min(middle, value + reach)


@dataclass(frozen=True)
class Usual:
    """Logarithms of measured over expected: their median, and their spread between launches.

    ``spread`` is a standard deviation with ``freedom`` degrees of freedom, from ``count`` ratios;
    ``family`` is the number of the launch's cases; ``seen`` are the means of earlier runs, of which
    common ones are not slow.
    """

    middle: float
    spread: float
    freedom: int
    of: Literal["launches", "peers"]
    count: int
    family: int = 1
    seen: tuple[float, ...] = ()

    def is_common(self, above: float) -> bool:
        """Whether a mean ratio so far above the middle is one that earlier runs had, too.

        One in :data:`COMMON`, within :data:`PRIOR_OF_KERNELS`. Machines have states that last for
        minutes, so the launches of a run meet one, and their mean deviates by more than their
        spread says.
        """
        as_slow = sum(ratio - self.middle >= above - PRIOR_OF_KERNELS for ratio in self.seen)
        return as_slow >= max(1, len(self.seen) / COMMON)

    def deviation(self, launches: int = 1) -> float:
        """Standard deviation of the mean of new ratios, one a launch, from the middle."""
        return self.spread * sqrt(1 / launches + 1 / self.count)

    def reach(self, launches: int = 1) -> float:
        """Largest usual deviation of the mean of new ratios above the middle."""
        return _quantile(self.freedom, max(self.family, FAMILY)) * self.deviation(launches)


def usual_of(
    earlier: Mapping[str, Sequence[float]],
    key: str,
    family: int = 1,
    prior: float = PRIOR,
    seen: Sequence[float] = (),
) -> Usual | None:
    """By logarithms of earlier ratios, by case in order; None if ``key`` has too few.

    ``family`` is the number of the launch's cases, ``prior`` the spread before any is known,
    ``seen`` as in :class:`Usual`.
    """
    own = earlier.get(key, ())
    if len(own) < FEWEST_LAUNCHES:
        return None
    near = [_squares(earlier[one]) for one in _neighbours(list(earlier), key)]
    before = _spread(near, prior)
    spread, freedom = _spread([_squares(own)], before), PRIOR_FREEDOM + len(own) - 1
    return Usual(median(own), spread, freedom, "launches", len(own), family, tuple(seen))


def usual_of_peers(ratios: Mapping[str, float], key: str) -> Usual | None:
    """By logarithms of the ratios of the run's cases next to ``key``, in the order of cases."""
    near = [ratios[one] for one in _neighbours(list(ratios), key)]
    if len(near) < FEWEST_PEERS:
        return None
    spread, freedom = _spread([_squares(near)], PRIOR), PRIOR_FREEDOM + len(near) - 1
    return Usual(median(near), spread, freedom, "peers", len(near))


def common_shift(excesses: Mapping[str, float], key: str) -> float:
    """The median excess of ``key``'s neighbours over their usual ratios, 0 to MOST_SHIFT."""
    near = [excesses[one] for one in _neighbours(list(excesses), key)]
    return min(max(median(near), 0.0), MOST_SHIFT) if len(near) >= FEWEST_PEERS else 0.0


def _neighbours(keys: Sequence[str], key: str) -> list[str]:
    place = keys.index(key)
    return [*keys[max(0, place - _NEAR) : place], *keys[place + 1 : place + 1 + _NEAR]]


def _squares(ratios: Sequence[float]) -> tuple[float, int]:
    """The sum of squared deviations, and its degrees of freedom."""
    middle, freedom = median(ratios), len(ratios) - 1
    if freedom < 1:
        return 0.0, 0
    spread = _OF_NORMAL * fmean(abs(ratio - middle) for ratio in ratios)
    return spread**2 * (freedom + 1), freedom


def _spread(squares: Sequence[tuple[float, int]], prior: float) -> float:
    """The spread by sums of squares with their freedom, and by ``prior`` before any is known."""
    freedom = PRIOR_FREEDOM + sum(of_one for _, of_one in squares)
    return sqrt((PRIOR_FREEDOM * prior**2 + sum(of_one for of_one, _ in squares)) / freedom)


@cache
def _quantile(freedom: int, family: int) -> float:
    return student_quantile(1 - ALARMS / family, freedom)
