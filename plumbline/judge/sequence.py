"""One run of several launches: a case that one launch leaves in doubt is launched again.

A kernel's time differs between launches (placement of threads and pages), by 5 to 15 % on shared
machines. More repetitions in one launch do not tell such a difference from a slow-down; more
launches do. After k launches of a run the mean of a case's excesses over its usual ratio has the
standard deviation s sqrt(1/k + 1/n), with s the usual spread between launches and n the number of
earlier ones: a group-sequential test. The case is slow if the mean exceeds its usual reach and the
tolerance, and half of the launches, at least two, exceed the tolerance: some moments of a machine
last as long as a launch. It is ok if the mean lies more than :data:`SURE` deviations below a
slow-down of :data:`FOUND`; else it is in doubt. Where many earlier runs had that mean
(:meth:`Usual.is_common`), it is not slow, nor in doubt.

Without a usual ratio of launches each of the run's is judged alone, and a case is slow if most of
them, at least two, find it so: one launch meets the machine in one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log1p, sqrt
from statistics import fmean

from plumbline.judge.usual import Usual
from plumbline.record.expectations import Verdict

FOUND = 0.25  # the slow-down of which a run is to be sure
SURE = 2.0  # standard deviations
MOST_LAUNCHES = 8
IN_DOUBT = "launches"  # the word on a case that more launches would decide
AS_USUAL = "usual"  # the word on a slow case that was as slow in many earlier runs


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
    usual, launches = _usual_of_all(excesses), len(excesses)
    mean = fmean(one.above for one in excesses)
    own = fmean(one.above - one.waiting for one in excesses)
    limit = max(usual.reach(launches), log1p(tolerance))
    common = usual.is_common(mean)
    if own > limit:
        if common:
            return "ambiguous", AS_USUAL
        exceed = sum(one.above - one.waiting > log1p(tolerance) for one in excesses)
        return ("slow", None) if exceed >= max(2, launches / 2) else ("ambiguous", IN_DOUBT)
    sought = log1p(max(FOUND, tolerance))
    if mean <= limit and (common or mean < sought - SURE * usual.deviation(launches)):
        return "ok", None
    return "ambiguous", "waited" if mean > limit else IN_DOUBT


def _usual_of_all(excesses: Sequence[Excess]) -> Usual:
    """What is usual for the last launch, with the spread of all: they met different moments."""
    spread = sqrt(fmean(one.usual.spread**2 for one in excesses))
    return replace(excesses[-1].usual, spread=spread)


def verdict_of_most(
    alone: Sequence[tuple[Verdict, str | None]],
) -> tuple[Verdict, str | None]:
    """The verdict on a case by its launches' own, in their order, each with a word on it."""
    slow = sum(verdict == "slow" for verdict, _ in alone)
    if slow > max(1, len(alone) / 2):
        return "slow", None
    if 2 * slow == len(alone) or slow == len(alone) == 1:
        return "ambiguous", IN_DOUBT
    return next(one for one in reversed(alone) if one[0] != "slow")
