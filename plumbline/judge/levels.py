"""The level of a case or a part: the lower tenth of its repetitions' times.

What disturbs a run (other work, threads moved between cores) makes some repetitions longer by any
factor, of a case and of its parts at different times; the lower tenth of both is disturbed least,
and what slows every repetition moves it like any other. What slows fewer than nine repetitions in
ten is not seen in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from plumbline.record.record import Case

SHARE = 0.1


@dataclass(frozen=True)
class Level:
    """Seconds of one count: the lower tenth, and its 95 % interval."""

    middle: float
    low: float
    high: float


def level_of(samples: Sequence[float]) -> Level:
    """The level of ``samples``, of which there is at least one."""
    ordered = sorted(samples)
    first, last = ranks_of_quantile(len(ordered), SHARE)
    place = SHARE * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    middle = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    return Level(middle, ordered[first], ordered[last])


def level_of_case(case: Case) -> Level | None:
    """The level of a case, of each repetition's slowest rank; None where it was not measured."""
    if case.samples is None or not case.count:
        return None
    kept = [rank for rank in case.samples.by_rank if rank]
    slowest = [max(seconds) / case.count for seconds in zip(*kept, strict=False)]
    return level_of(slowest) if slowest and min(slowest) > 0 else None


@cache
def ranks_of_quantile(count: int, share: float) -> tuple[int, int]:
    """Places among ``count`` ordered samples between which the quantile lies in 95 % (from 0).

    By the binomial distribution of how many samples lie below it; the ends where there are few.
    """
    from scipy.stats import binom  # half a second to import

    first = int(binom.ppf(0.025, count, share)) - 1
    last = int(binom.ppf(0.975, count, share))
    return max(first, 0), min(last, count - 1)
