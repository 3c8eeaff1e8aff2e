"""Comparison of two sides of launches: each case's ratio, its interval, and one word.

**Two sets** (A and B, launches of each in no order). A side's level is the pseudo-median (Hodges
and Lehmann 1963, the median of all pairs' means) of the logarithms of its launches' medians: the
median if there is one launch; nearly as precise as the mean, but robust against outliers. Its
variance is a hierarchical bootstrap's (Davison and Hinkley 1997, section 3.8): launches are drawn
with replacement, then repetitions within each, so it includes the variance between launches. Drawn
deviations are stretched by sqrt(n / (n - 1)) and by Student's quantile over the normal one, at
Welch's degrees of freedom, because a bootstrap of few launches is too narrow. A side of one launch
takes the other side's variance between launches; if neither has more than one, there is no
interval, and every verdict is ``ambiguous``.

**Pairs** (A and B in turn). The biweight of the pairs' log ratios (:mod:`plumbline.judge.biweight`)
with Student's interval and p-value: pairs of which one launch was disturbed, or met the machine in
another state, weigh nothing, if at least two thirds of the pairs agree. The cases of a family of
five or more tell each other's errors (:mod:`plumbline.judge.family`).

**One word.** ``slower`` (``faster``) if the ratio is beyond the threshold and its p-value, of no
difference, passes the procedure of Benjamini and Hochberg (1995) at 5 % over all cases compared;
``same`` if the 95 % interval lies within the threshold on both sides; else ``ambiguous``.
Exchanging A and B gives the reciprocal ratio, the mirrored interval and the opposite word.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from plumbline.base.distributions import normal_quantile, student_quantile, student_tail
from plumbline.judge.biweight import biweight, freedom_of
from plumbline.judge.family import Spread, moderated

Word = Literal["same", "faster", "slower", "ambiguous"]
Direction = Literal["time", "rate"]
Floats = NDArray[np.float64]
Key = TypeVar("Key")

DEFAULT_THRESHOLD = 0.03  # relative; smaller differences are ignored
LEVEL = 0.95  # of intervals
DISCOVERY_RATE = 0.05  # share of false ones among cases called slower or faster
FEWEST_LAUNCHES = 3  # of one side, for an interval
FEWEST_PAIRS = 6
_MOST_ERRORS = 6.0
_APART = math.log(1.05)
_DRAWS = 2000
_MEDIANS = 200  # drawn per launch from its repetitions
MOST_LAUNCHES = 1000  # launches or pairs; end of the search


@dataclass(frozen=True)
class Compared:
    """A compared case: ``ratio`` is B / A, ``interval`` its 95 % interval.

    ``word`` is the verdict on B relative to A, ``reason`` the reason for it, in a clause.
    ``launches`` are the numbers of A and of B (pairs: of each); ``p`` is two-sided; ``needed``:
    launches a side (or pairs) for an interval of the threshold's width; ``limit_ratio``: B / A of
    the ``limit`` within the case, of whose differences the share ``slope`` is taken from the times
    (:mod:`plumbline.judge.covariate`). None: unknown.
    """

    benchmark: str
    key: str
    unit: str
    a: float
    b: float
    ratio: float
    interval: tuple[float, float] | None
    p: float | None
    word: Word
    reason: str
    launches: tuple[int, int]
    needed: int | None
    limit: str = ""
    limit_ratio: float | None = None
    slope: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """log(B / A): 95 % ``interval``, two-sided ``p`` of no difference; None if not available.

    ``spread`` of pairs is what both are made of.
    """

    log_ratio: float
    interval: tuple[float, float] | None
    p: float | None
    needed: int | None
    why_none: str = ""
    spread: Spread | None = None


def pseudo_median(values: Sequence[float] | Floats) -> float:
    """The median of the means of all pairs of ``values``, including each with itself."""
    return float(np.median(_walsh(np.asarray(values, dtype=float))))


def compare_sets(
    a: Sequence[Sequence[float]],
    b: Sequence[Sequence[float]],
    threshold: float = DEFAULT_THRESHOLD,
    *,
    fitted: int = 0,
) -> Estimate:
    """Two sides: lists of launches, each a list of positive values (its repetitions).

    ``fitted``: parameters by which both sides' values were made alike before.
    """
    sides = [[np.log(np.asarray(launch, dtype=float)) for launch in side] for side in (a, b)]
    levels = [pseudo_median([float(np.median(launch)) for launch in side]) for side in sides]
    log_ratio = levels[1] - levels[0]
    most = max(len(side) for side in sides)
    if most < FEWEST_LAUNCHES:
        why = f"{_launches(most)} a side: {FEWEST_LAUNCHES} of one are needed"
        return Estimate(log_ratio, None, None, None, why)
    deviations = [_drawn(side) - level for side, level in zip(sides, levels, strict=True)]
    counts = [len(side) for side in sides]
    for one, other in ((0, 1), (1, 0)):
        if counts[one] < FEWEST_LAUNCHES:  # takes the other side's variance
            between = deviations[other] * math.sqrt(counts[other] / counts[one])
            deviations[one] = between
    freedom = [max(counts[i] if counts[i] >= FEWEST_LAUNCHES else most, 2) - 1 for i in (0, 1)]
    both = sum(freedom)
    fit = math.sqrt(both / (both - fitted))
    deviations = [
        d * fit * math.sqrt((f + 1) / f) for d, f in zip(deviations, freedom, strict=True)
    ]
    variances = [float(np.mean(np.square(d))) for d in deviations]
    error = math.sqrt(sum(variances))
    if error == 0:
        return Estimate(log_ratio, (log_ratio, log_ratio), 1.0 if log_ratio == 0 else 0.0, most)
    degrees = error**4 / sum(v * v / f for v, f in zip(variances, freedom, strict=True)) - fitted
    # Reversed, so that exchanged sides give mirrored draws, and equal sides different ones.
    draws = min(len(d) for d in deviations)
    drawn = deviations[1][:draws] - deviations[0][:draws][::-1]
    stretch = _quantile(degrees) / normal_quantile(0.5 + LEVEL / 2)
    tail = (1 - LEVEL) / 2
    low, high = (float(x) * stretch for x in np.quantile(drawn, [tail, 1 - tail]))
    p = 2 * student_tail(abs(log_ratio) / error, degrees)
    one_launch = error / math.sqrt(1 / counts[0] + 1 / counts[1])
    needed = launches_needed(one_launch, math.log1p(threshold))
    return Estimate(log_ratio, (log_ratio - high, log_ratio - low), p, needed)


def compare_pairs(
    log_ratios: Sequence[float],
    threshold: float = DEFAULT_THRESHOLD,
    cases: int = 1,
    *,
    fitted: int = 0,
) -> Estimate:
    """log(B / A) of pairs, one of a family of ``cases``.

    ``fitted``: parameters by which the pairs were made alike before.
    """
    count = len(log_ratios)
    if count < FEWEST_PAIRS:
        middle, why = float(np.median(log_ratios)), _too_few(count, cases)
        return Estimate(middle, None, None, pairs_needed(cases), why)
    found = biweight(log_ratios)
    if 3 * found.kept < 2 * count:
        why = f"only {found.kept} of {count} pairs agree"
        return Estimate(found.location, None, None, None, why)
    error = found.error * math.sqrt((count - 1) / (count - 1 - fitted))
    spread = Spread(error, freedom_of(found.kept - fitted))
    return _of_pairs(found.location, spread, count, threshold, cases)


def of_family(
    estimates: Mapping[Key, Estimate], pairs: int, threshold: float = DEFAULT_THRESHOLD
) -> dict[Key, Estimate]:
    """The cases of one family by their errors and the others' (:mod:`plumbline.judge.family`)."""
    known = {key: one.spread for key, one in estimates.items() if one.spread is not None}
    cases = len(estimates)
    moderate = dict(zip(known, moderated(list(known.values())), strict=True))
    return {
        key: _of_pairs(one.log_ratio, moderate[key], pairs, threshold, cases)
        if key in moderate
        else one
        for key, one in estimates.items()
    }


def _of_pairs(middle: float, spread: Spread, count: int, threshold: float, cases: int) -> Estimate:
    """The estimate of ``count`` pairs by Student's t."""
    least, error = pairs_needed(cases), spread.error
    width = _quantile(spread.freedom) * error
    interval = (middle - width, middle + width)
    needed = max(least, _pairs_for(error * math.sqrt(count), math.log1p(threshold)))
    if count < least:
        return Estimate(middle, interval, None, needed, _too_few(count, cases), spread)
    if error == 0:
        return Estimate(middle, interval, 1.0 if middle == 0 else 0.0, needed, spread=spread)
    p = 2 * student_tail(abs(middle) / error, spread.freedom)
    return Estimate(middle, interval, p, needed, spread=spread)


def _too_few(count: int, cases: int) -> str:
    return f"{_pairs(count)}: {_cases(cases)} {_need(cases)} {pairs_needed(cases)}"


def pairs_needed(cases: int, rate: float = DISCOVERY_RATE) -> int:
    """The fewest pairs sufficient to call one of ``cases`` slower.

    With these a difference of six standard errors passes the strictest step of Benjamini and
    Hochberg's procedure, ``rate / cases``.
    """
    wanted = 1 - rate / (2 * max(1, cases))
    return next(
        count
        for count in range(FEWEST_PAIRS, MOST_LAUNCHES)
        if student_quantile(wanted, freedom_of(count)) <= _MOST_ERRORS
    )


def launches_needed(spread: float, limit: float) -> int:
    """Launches of each side for a 95 % interval of half width ``limit``; 1000 means 1000 or more.

    ``spread`` is the standard deviation between launches; both are of logarithms.
    """
    return _smallest(lambda n: _quantile(2 * n - 2) * spread * math.sqrt(2 / n) <= limit)


def discoveries(p_values: Sequence[float | None], rate: float = DISCOVERY_RATE) -> list[bool]:
    """Discoveries by Benjamini and Hochberg's procedure; cases without a p-value are none."""
    known = [p for p in p_values if p is not None]
    if not known:
        return [False] * len(p_values)
    from scipy.stats import false_discovery_control  # half a second to import

    adjusted = iter(false_discovery_control(known, method="bh"))
    return [p is not None and bool(next(adjusted) <= rate) for p in p_values]


def judge(
    estimates: Mapping[tuple[str, str], Estimate],
    found: Sequence[Compared],
    threshold: float,
) -> list[Compared]:
    """``found`` with words and reasons; the rate of false discoveries is bounded over all."""
    each = [estimates[one.benchmark, one.key] for one in found]
    differ = discoveries([estimate.p for estimate in each])
    judged = []
    for one, estimate, differs in zip(found, each, differ, strict=True):
        word, reason = word_of(estimate, differs, threshold, is_rate=is_rate(one.unit))
        judged.append(replace(one, word=word, reason=reason))
    return judged


def word_of(
    estimate: Estimate, differs: bool, threshold: float, *, is_rate: bool = False
) -> tuple[Word, str]:
    """The word for an estimate, given whether it is a discovery in its family."""
    limit = math.log1p(threshold)
    if estimate.interval is None or estimate.p is None:
        return "ambiguous", estimate.why_none
    low, high = estimate.interval
    if differs and abs(estimate.log_ratio) > limit:
        return ("slower" if (estimate.log_ratio > 0) != is_rate else "faster"), ""
    if low >= -limit and high <= limit:
        return "same", ""
    if differs:
        return "ambiguous", "differs by about the threshold"
    if low > 0 or high < 0:
        return "ambiguous", f"not certain among so many cases{_told_needed(estimate.needed)}"
    return "ambiguous", f"launches differ{_told_needed(estimate.needed)}"


def apart_in_some(a: Sequence[float], b: Sequence[float]) -> str:
    """A clause on a group of slow launches of one side; empty if there is none.

    ``a`` and ``b`` are logarithms of launches' levels. A side's median does not reflect fewer than
    half of its launches. A group is a fifth to a half of a side of six or more, at least two, and
    beyond every other launch of both sides by more than 5 % and twice the others' spread.
    """
    found = ""
    widest = 0.0
    for name, side, other in (("A", a, b), ("B", b, a)):
        order, count = sorted(side), len(side)
        for slow in range(max(2, math.ceil(count / 5)), count // 2 + 1):
            if count < FEWEST_PAIRS or len(other) < FEWEST_PAIRS:
                break
            rest = [*order[: count - slow], *other]
            gap = order[count - slow] - max(rest)
            if gap > max(widest, _APART, 2 * float(np.std(rest))):
                widest = gap
                times = math.exp(float(np.median(order[count - slow :]) - np.median(rest)))
                found = f"{slow} of {count} launches of {name} take {times:.2f} times the others'"
    return found


def ratio_of(estimate: Estimate) -> tuple[float, tuple[float, float] | None]:
    """B / A and its interval."""
    interval = estimate.interval
    return math.exp(estimate.log_ratio), (
        (math.exp(interval[0]), math.exp(interval[1])) if interval else None
    )


def is_rate(unit: str) -> bool:
    """Whether higher is better in ``unit``: GB/s, GFLOP/s, GUP/s, TEPS; not us, s."""
    return unit.endswith(("/s", "TEPS"))


def has_direction(unit: str) -> bool:
    """Whether ``unit`` has a better direction: times and rates have."""
    return is_rate(unit) or unit in ("s", "ms", "us", "ns")


# --- the parts ------------------------------------------------------------------------------------


def _drawn(side: Sequence[Floats]) -> Floats:
    """Levels of a side's launches drawn with replacement, and of repetitions drawn in each."""
    generator = np.random.default_rng(zlib.crc32(b"".join(launch.tobytes() for launch in side)))
    medians = np.stack([_drawn_medians(launch, generator) for launch in side])
    count = len(side)
    draws = _DRAWS if count <= 16 else _DRAWS // 4  # pairs grow quadratically
    which = generator.integers(count, size=(draws, count))
    picked = medians[which, generator.integers(medians.shape[1], size=(draws, count))]
    if count == 1:
        return picked[:, 0]
    first, second = _pairs_of(count)
    return np.median((picked[:, first] + picked[:, second]) / 2, axis=1)


def _drawn_medians(launch: Floats, generator: np.random.Generator) -> Floats:
    if len(launch) == 1:
        return np.repeat(launch, _MEDIANS)
    if len(launch) > 1000:  # the sample median's spread, by order statistics
        ranks = generator.binomial(len(launch), 0.5, size=_MEDIANS).clip(0, len(launch) - 1)
        return np.asarray(np.sort(launch)[ranks])
    picks = generator.integers(len(launch), size=(_MEDIANS, len(launch)))
    return np.asarray(np.median(launch[picks], axis=1))


@cache
def _pairs_of(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(count)


def _walsh(values: Floats) -> Floats:
    first, second = _pairs_of(len(values))
    return np.asarray((values[first] + values[second]) / 2)


def _quantile(degrees: float) -> float:
    return student_quantile(0.5 + LEVEL / 2, degrees)


def _pairs_for(spread: float, limit: float) -> int:
    return _smallest(lambda n: _quantile(freedom_of(n)) * spread / math.sqrt(n) <= limit)


def _smallest(suffices: Callable[[int], bool]) -> int:
    """The smallest sufficient number of launches or pairs, by bisection."""
    low, high = 2, FEWEST_LAUNCHES
    while high < MOST_LAUNCHES and not suffices(high):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle + 1, high)
    return min(max(high, FEWEST_LAUNCHES), MOST_LAUNCHES)


def _told_needed(needed: int | None) -> str:
    if needed is None:
        return ""
    return f": {needed} would tell" if needed < MOST_LAUNCHES else ": too much to tell"


def _launches(count: int) -> str:
    return "one launch" if count == 1 else f"{count} launches"


def _pairs(count: int) -> str:
    return "one pair" if count == 1 else f"{count} pairs"


def _cases(count: int) -> str:
    return "a case" if count == 1 else f"{count} cases"


def _need(count: int) -> str:
    return "needs" if count == 1 else "need"
