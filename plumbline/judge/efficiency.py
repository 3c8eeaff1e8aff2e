"""Efficiency: whether a case reaches the limits of its parts, measured in the same launch.

A case is slow if its level (:mod:`plumbline.judge.levels`) lies beyond the expectation's interval,
and its whole interval beyond the expectation times 1 + tolerance; the expectation is the model's
time from the parts (:mod:`plumbline.judge.beside`), times the usual ratio
(:mod:`plumbline.judge.usual`). With a yardstick there is no verdict before that ratio is known. It
is ambiguous, with the reason in a word, if its level lies beyond and its interval does not
(``spread``), if waiting for cores may be the cause (``waited``), if its parts are so uncertain that
it may lie beyond (``parts``), or if it was as slow in many earlier runs (``usual``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import exp, inf, log, log1p
from statistics import median
from typing import TypeVar

from plumbline.judge.beside import WIDE, Basis, Beside, Earlier
from plumbline.judge.levels import Level
from plumbline.judge.sequence import AS_USUAL, Excess
from plumbline.judge.usual import (
    FEWEST_LAUNCHES,
    PRIOR,
    PRIOR_OF_KERNELS,
    Usual,
    common_shift,
    usual_of,
    usual_of_peers,
)
from plumbline.record.expectations import Verdict

# Uncertainty of a sum of links, a factor, in addition to their parts' intervals, if the usual ratio
# is unknown. That of a bound, which kernels may miss, is `missed_by` the benchmark.
OF_LINKS = 1.05
MOST_WAITED = 0.5  # of a case's time beyond the usual: more may cause any delay
DISTURBED = 2.0  # a yardstick's parts take so many times as long beside a case as usual
FEWEST_OF_WAITS = 6  # launches from which a kernel's usual waiting for cores is known
_T = TypeVar("_T")


@dataclass(frozen=True)
class Expected:
    """An expectation, in seconds of one count.

    ``low_s`` and ``high_s`` are the ends of its interval, ``limit_s`` its middle with the
    tolerance; ``parts`` is the upper end of the parts' interval relative to their level, and
    ``waiting`` the allowance for waiting for cores, both relative.
    """

    low_s: float
    high_s: float
    limit_s: float
    parts: float
    waiting: float = 0.0


@dataclass(frozen=True)
class Efficiency:
    """The verdict on a case by its parts, a word on an ambiguous one, and its basis.

    ``excess``: over the usual ratio of earlier launches, if there are enough, and the transport was
    not always slow.
    """

    verdict: Verdict
    why: str | None
    expected: Expected
    usual: Usual | None
    excess: Excess | None = None


def efficiencies(
    beside: Mapping[str, Beside],
    earlier: Mapping[str, Earlier],
    *,
    by: Basis,
    tolerance: float,
    missed: float,
) -> dict[str, Efficiency]:
    """The efficiencies of one launch's cases, given those of earlier launches.

    By a yardstick, and where the model says why its time does not hold, only of cases whose usual
    ratio is known. ``missed``: the factor by which kernels may miss their bound without one.
    """
    above: Mapping[str, float] = {}
    if by == "bounds":
        beside, earlier, above = _in_this_state(beside, earlier)
    by_links = by == "links"
    uncertain = OF_LINKS if by_links else missed
    ratios = {key: earlier[key].ratios for key in beside if key in earlier}
    prior = PRIOR if by_links else PRIOR_OF_KERNELS
    # A transport slower than bare calls is not excused by having been so before.
    tolerable = log(uncertain) + log1p(tolerance) if by_links else inf
    usual = {
        key: usual_of(
            *(ratios, key, len(beside), prior),
            seen=[mean for mean in earlier[key].means if mean <= tolerable]
            if key in earlier
            else (),
        )
        for key in beside
    }
    excesses = {key: beside[key].ratio - known.middle for key, known in usual.items() if known}
    found: dict[str, Efficiency] = {}
    for key, one in beside.items():
        known, shift = usual[key], 0.0
        if known is None and by_links:
            peers = {name: it.ratio for name, it in beside.items() if it.teaches or name == key}
            known = usual_of_peers(peers, key)
        elif known is None and (by == "yardstick" or one.expected.reason):
            continue
        elif by_links:
            shift = common_shift(excesses, key)
        waited = max(0.0, one.waited - usual_wait(beside, earlier, key, known, by))
        expected = expected_of(
            one, known, shift, by_links=by_links, tolerance=tolerance, uncertain=uncertain
        )
        expected = replace(expected, waiting=1 / (1 - waited) - 1 if waited < MOST_WAITED else inf)
        verdict, why = efficiency_of(one, expected)
        if by == "yardstick" and known and one.ratio < known.middle - log(DISTURBED):
            verdict, why = "ambiguous", "parts"
        if verdict == "slow":
            verdict, why = _excused(one, known, above.get(key, inf))
        excess = None
        if known and known.of == "launches":
            usually = known.middle + shift
            if usually <= tolerable:
                more = min(one.ratio - usually, above.get(key, inf))
                excess = Excess(more, log1p(expected.waiting), known)
        found[key] = Efficiency(verdict, why, expected, known, excess)
    return found


def _in_this_state(
    beside: Mapping[str, Beside], earlier: Mapping[str, Earlier]
) -> tuple[dict[str, Beside], dict[str, Earlier], dict[str, float]]:
    """Cases and their alike launches, without parts' usual deviations; and above usual times.

    Parts within a case meet its moments, so their deviations are the machine's, and count; of
    several, the one that has followed the case best, if it is known. What is usual then is that
    of the launches whose limits took about as long; of these times the fastest counts, as the
    machine may be faster than it was.
    """
    moved = {key: one for key, one in beside.items() if one.limits}
    known = {key: one for key, one in earlier.items() if key in moved}
    beside, earlier = _without(beside, moved), _without(earlier, moved)
    alike = {
        key: one.alike(log(beside[key].expected.time_s)) if key in beside else one
        for key, one in earlier.items()
    }
    steady = {
        key: one.steadied(alike[key].parts) if key in alike else one for key, one in beside.items()
    }
    for key, of_case in known.items():
        if best := of_case.best_limit(moved[key].limits):
            moved[key] = replace(moved[key], limits={best: moved[key].limits[best]})
            known[key] = of_case.beside_limit(best)
        known[key] = known[key].nearest(moved[key].limits)
    above = above_usual_times(beside, alike)
    for key, of_case in known.items():
        if len(of_case.times) >= FEWEST_LAUNCHES:
            above[key] = log(moved[key].measured.middle) - min(of_case.times)
    steadied = {key: one.steadied() for key, one in alike.items()}
    return {**moved, **steady}, {**known, **steadied}, above


def _without(every: Mapping[str, _T], keys: Collection[str]) -> dict[str, _T]:
    return {key: one for key, one in every.items() if key not in keys}


def _excused(one: Beside, known: Usual | None, above: float) -> tuple[Verdict, str | None]:
    """A case that is slow by its parts, unless it often was, or is not ``above`` its usual time."""
    if above <= 0:
        return "ambiguous", "parts"
    if known and known.is_common(one.ratio - known.middle):
        return "ambiguous", AS_USUAL
    return "slow", None


def above_usual_times(
    beside: Mapping[str, Beside], earlier: Mapping[str, Earlier]
) -> dict[str, float]:
    """Logarithms of the cases' times over their usual ones, where there are enough launches.

    Limits of a device do not follow its kernels from launch to launch: a case as fast as usual is
    not slow because they were faster, and its excess is at most that over its usual time.
    """
    return {
        key: log(beside[key].measured.middle) - one.usual_time
        for key, one in earlier.items()
        if key in beside and len(one.ratios) >= FEWEST_LAUNCHES
    }


def usual_wait(
    beside: Mapping[str, Beside],
    earlier: Mapping[str, Earlier],
    key: str,
    known: Usual | None,
    by: Basis,
) -> float:
    """The share of waiting for cores included in a case's usual ratio; 0 without one.

    Kernels of few launches have none: how waiting adds to their times differs between launches.
    """
    if known is None or (by != "links" and known.count < FEWEST_OF_WAITS):
        return 0.0
    if known.of == "launches":
        return median(earlier[key].waited)
    return median(one.waited for name, one in beside.items() if name != key)


def expected_of(
    one: Beside,
    usual: Usual | None,
    shift: float,
    *,
    by_links: bool,
    tolerance: float,
    uncertain: float,
) -> Expected:
    """The expectation of a case from its parts and, if known, its usual ratio.

    Without a usual ratio, a transport takes as long as bare calls, within the factor ``uncertain``,
    and a kernel may miss its bound by that factor. A usual ratio never makes a limit of links wider
    than that with the tolerance, so a transport that was always slow is still found. A case as fast
    as its parts (nearly as fast, without a history of its own) is not slow. ``shift``: the
    neighbours' common excess.
    """
    known, tolerated = log(uncertain), log1p(tolerance)
    high, middle, low = known + one.above, 0.0 if by_links else known, -known
    if usual is not None:
        low = usual.middle - usual.reach()
        learnt = usual.middle + shift + max(usual.reach(), one.above)
        least = 0.0 if usual.of == "launches" else known
        high = min(high + tolerated, max(learnt, least)) if by_links else learnt
        middle = min(middle, usual.middle + shift) if by_links else usual.middle
    parts = one.parts if usual else Level(one.expected.time_s, one.fast_s, one.slow_s)
    base = parts.middle
    return Expected(
        parts.low * exp(min(low, high)),
        base * exp(high),
        base * exp(middle + tolerated),
        exp(one.above) - 1,
    )


def efficiency_of(one: Beside, expected: Expected) -> tuple[Verdict, str | None]:
    """The verdict on a case by its parts, and a word on an ambiguous one.

    Slow: the level lies beyond the expectation's interval, and the case's interval beyond the
    expectation with the tolerance, even without its excess of waiting for cores. Faster than the
    parts counts as ``ok``: then the parts were disturbed, not the case.
    """
    level = one.measured
    if level.middle > expected.high_s and level.low > expected.limit_s:
        if level.middle > expected.high_s * (1 + expected.waiting):
            return "slow", None
        return "ambiguous", "waited"
    if level.middle > max(expected.high_s, expected.limit_s):
        return "ambiguous", "spread"
    wide = expected.parts > WIDE
    if wide and level.middle > expected.limit_s / (1 + expected.parts):
        return "ambiguous", "parts"
    return "ok", None
