"""One run of several launches: a case that one launch leaves in doubt is launched again.

A kernel's time differs between launches (placement of threads and pages), by 5 to 15 % on shared
machines. More repetitions in one launch do not tell such a difference from a slow-down; more
launches do. After k launches of a run the mean of a case's excesses over its usual ratio has the
standard deviation s sqrt(1/k + 1/n), with s the usual spread between launches and n the number of
earlier ones: a group-sequential test. The case is slow if the mean exceeds its usual reach and the
tolerance; it is ok if the mean lies more than :data:`SURE` deviations below a slow-down of
:data:`FOUND`; else it is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import fmean

from plumbline.judge.usual import Usual
from plumbline.record.expectations import Verdict

FOUND = 0.25  # the slow-down of which a run is to be sure
SURE = 2.0  # standard deviations
MOST_LAUNCHES = 8
IN_DOUBT = "launches"  # the word on a case that more launches would decide


@dataclass(frozen=True)
class Excess:
    """A case in one launch of a run, in logarithms.

    ``above`` is its ratio over the usual one, ``waiting`` the allowance for waiting for cores.
    """

    above: float
    waiting: float
    usual: Usual


def verdict_of_launches(excesses: Sequence[Excess], tolerance: float) -> tuple[Verdict, str | None]:
    """The verdict on a case by one run's launches, and a word on an ambiguous one."""
    usual, launches = excesses[-1].usual, len(excesses)
    mean = fmean(one.above for one in excesses)
    own = fmean(one.above - one.waiting for one in excesses)
    limit = max(usual.reach(launches), log1p(tolerance))
    if own > limit:
        return "slow", None
    sought = log1p(max(FOUND, tolerance))
    if mean <= limit and mean < sought - SURE * usual.deviation(launches):
        return "ok", None
    return "ambiguous", "waited" if mean > limit else IN_DOUBT


def excesses_of(launches: Sequence[Mapping[str, Excess]], key: str, last: Excess) -> list[Excess]:
    """A case's excesses in earlier launches of the run and in the last one."""
    return [*(one[key] for one in launches if key in one), last]
