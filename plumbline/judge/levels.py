"""The level of a case or a part: a low quantile of its repetitions' times, by default the tenth.

Disturbances (other work, threads moved between cores) make some repetitions longer by any factor,
of a case and of its parts at different times; the lower tenth of both is disturbed least, but
includes any slow-down of all repetitions. Slow-downs of fewer than nine in ten are not detected.
Kernels, which are measured for longer, have the lower quarter: it varies less between launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from plumbline.base.distributions import binomial_quantile
from plumbline.record.record import Case

TENTH, QUARTER = 0.1, 0.25


@dataclass(frozen=True)
class Level:
    """Seconds of one count: the quantile, and its 95 % interval."""

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


def level_of_case(case: Case, share: float = TENTH) -> Level | None:
    """The level of a case, by each repetition's slowest rank; None if not measured."""
    if case.samples is None or not case.count:
        return None
    kept = [rank for rank in case.samples.by_rank if rank]
    slowest = [max(seconds) / case.count for seconds in zip(*kept, strict=False)]
    return level_of(slowest, share) if slowest and min(slowest) > 0 else None


@cache
def ranks_of_quantile(count: int, share: float) -> tuple[int, int]:
    """Indices of ``count`` ordered samples that enclose the quantile in 95 %.

    By the binomial distribution of the number of samples below it; the ends if there are few.
    """
    first = binomial_quantile(0.025, count, share) - 1
    last = binomial_quantile(0.975, count, share)
    return max(first, 0), min(last, count - 1)
