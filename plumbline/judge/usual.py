"""The ratio of a case to its parts that is usual: learnt from earlier launches, or from its peers.

Bare calls take as long as a transport but for some per cent, the same ones in each launch; a kernel
reaches some share of its bound, the same one in each launch. So a case is best judged by its own
earlier ratios: their median, and their spread, by the mean absolute deviation, of which a launch in
which something was slow moves the one not and the other little. Of few launches the spread is known
badly, so it is pooled with the neighbouring cases' and with :data:`PRIOR`, which weighs as much as
:data:`PRIOR_FREEDOM` launches. A new ratio lies below the upper end in 99.75 % (Student's t); the
engine measures a case again that stands out, so that fewer do.

What moves the ratios of all neighbouring sizes of a transport together is the machine's: threads
that were moved, other work. It is taken from each by its neighbours' median (:func:`common_shift`),
up to :data:`MOST_SHIFT`: a transport that is slow at all sizes is found.

Where there are no earlier launches, cases of the same transport and of neighbouring sizes stand for
them, of the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean, median
from typing import Literal

PRIOR = 0.03  # of a ratio's spread between launches, of the logarithm
PRIOR_FREEDOM = 6
FEWEST_LAUNCHES = 2
FEWEST_PEERS = 4
MOST_SHIFT = 0.05  # what neighbours have in common beyond it is the transport's
_NEAR = 3  # neighbours on each side
_CONFIDENCE = 0.9975
_OF_NORMAL = 1.2533  # a normal distribution's deviation over its mean absolute deviation


@dataclass(frozen=True)
class Usual:
    """Logarithms of measured over expected: the middle, and their spread from launch to launch.

    ``spread`` is a standard deviation, known with ``freedom`` degrees of it from ``count`` ratios.
    """

    middle: float
    spread: float
    freedom: int
    of: Literal["launches", "peers"]
    count: int

    def reach(self) -> float:
        """How far above the middle a new ratio is still usual."""
        return _quantile(self.freedom) * self.spread * sqrt(1 + 1 / self.count)


def usual_of(earlier: Mapping[str, Sequence[float]], key: str) -> Usual | None:
    """By the logarithms of earlier ratios, by case in order; None where its own are too few."""
    own = earlier.get(key, ())
    if len(own) < FEWEST_LAUNCHES:
        return None
    pooled = [_squares(earlier[one]) for one in (*_neighbours(list(earlier), key), key)]
    return _usual(median(own), pooled, "launches", len(own))


def usual_of_peers(ratios: Mapping[str, float], key: str) -> Usual | None:
    """By the logarithms of the run's other cases near ``key``, in the order of the cases."""
    near = [ratios[one] for one in _neighbours(list(ratios), key)]
    if len(near) < FEWEST_PEERS:
        return None
    return _usual(median(near), [_squares(near)], "peers", len(near))


def common_shift(excesses: Mapping[str, float], key: str) -> float:
    """How much the neighbours of ``key`` lie above what is usual of each, from 0 to MOST_SHIFT."""
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


def _usual(
    middle: float,
    pooled: Sequence[tuple[float, int]],
    of: Literal["launches", "peers"],
    count: int,
) -> Usual:
    freedom = PRIOR_FREEDOM + sum(of_one for _, of_one in pooled)
    squares = PRIOR_FREEDOM * PRIOR**2 + sum(of_one for of_one, _ in pooled)
    return Usual(middle, sqrt(squares / freedom), freedom, of, count)


@cache
def _quantile(freedom: int) -> float:
    from scipy.stats import t  # half a second to import

    return float(t.ppf(_CONFIDENCE, freedom))
