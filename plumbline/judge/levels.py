"""The level of a case or a part: one time that stands for those of its repetitions.

Disturbances (other work, threads moved between cores) make some repetitions longer by any factor,
of a case and of its parts at different times. A low quantile of both, by default the tenth, is
disturbed least, but includes any slow-down of all repetitions. Slow-downs of fewer than nine in ten
are not detected. Kernels, which are measured for longer, have the lower quarter: it varies less
between launches.

Transfers between devices that share cores with their ranks take, each, one of two times or so
(threads on one core or on two), so that every repetition is a mixture and few of them have no low
quantile worth the name. They have the harmonic mean, the time by the mean rate
(:func:`mean_level`): all repetitions count, and a disturbed one never by more than its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean, stdev

from plumbline.base.distributions import binomial_quantile, student_quantile
from plumbline.record.record import Case

TENTH, QUARTER = 0.1, 0.25


@dataclass(frozen=True)
class Level:
    """Seconds of one count: the quantile or mean, and its 95 % interval."""

    middle: float
    low: float
    high: float


def level_of(samples: Sequence[float], share: float = TENTH) -> Level:
    """The level of ``samples`` (at least one): the quantile of ``share``."""
    ordered = sorted(samples)
    first, last = ranks_of_quantile(len(ordered), share)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    middle = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    return Level(middle, ordered[first], ordered[last])


def mean_level(samples: Sequence[float]) -> Level:
    """The level of ``samples`` (at least one, above zero): their harmonic mean.

    Its interval is that of the mean rate, by Student's t, within the samples' range.
    """
    rates = [1 / sample for sample in samples]
    rate, reach = fmean(rates), 0.0
    if len(rates) > 1:
        reach = student_quantile(0.975, len(rates) - 1) * stdev(rates) / sqrt(len(rates))
    fastest, slowest = min(rate + reach, max(rates)), max(rate - reach, min(rates))
    return Level(1 / rate, 1 / fastest, 1 / slowest)


def times_of_case(case: Case) -> list[float]:
    """Seconds of one count of each repetition's slowest rank; none if not measured."""
    if case.samples is None or not case.count:
        return []
    kept = [rank for rank in case.samples.by_rank if rank]
    slowest = [max(seconds) / case.count for seconds in zip(*kept, strict=False)]
    return slowest if slowest and min(slowest) > 0 else []


@cache
def ranks_of_quantile(count: int, share: float) -> tuple[int, int]:
    """Indices of ``count`` ordered samples that enclose the quantile in 95 %.

    By the binomial distribution of the number of samples below it; the ends if there are few.
    """
    first = binomial_quantile(0.025, count, share) - 1
    last = binomial_quantile(0.975, count, share)
    return max(first, 0), min(last, count - 1)
