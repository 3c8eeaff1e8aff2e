"""Comparison of sets on a machine with two states: the limits within a case tell the state from the case."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, Plumb

from plumbline.judge.comparison import compare_sets
from plumbline.judge.covariate import Adjusted, compare_beside, compare_pairs_beside, slope_within

SLOW = math.log(1.8)
KEY = "natural/transfer/1"


def side(
    generator: np.random.Generator, count: int, *, slower: float = 0, follows: float = 1
) -> tuple[list[list[float]], list[float]]:
    """Launches in one of two states: their repetitions, and the logarithms of their limits."""
    states = SLOW * (generator.random(count) < 0.5)
    times = states * follows + slower + generator.normal(0, 0.02, count)
    repetitions = np.exp(times[:, None] + generator.normal(0, 0.02, (count, 9)))
    return repetitions.tolist(), list(states + generator.normal(0, 0.02, count))


def compared(generator: np.random.Generator, **of_b: float) -> Adjusted:
    (a, of_a), (b, limits) = side(generator, 10), side(generator, 10, **of_b)
    return compare_beside(a, b, {"copy": (of_a, limits)})


def share_called(slower: float, draws: int = 60) -> float:
    generator = np.random.default_rng(4)
    found = [compared(generator, slower=slower) for _ in range(draws)]
    return sum(one.estimate.p is not None and one.estimate.p < 0.005 for one in found) / draws


def test_a_difference_is_found_whatever_the_states() -> None:
    assert share_called(math.log(1.1)) >= 0.95
    assert share_called(0.0) <= 0.05


def test_times_alone_would_not_tell() -> None:
    generator = np.random.default_rng(4)
    (a, _), (b, _) = side(generator, 10), side(generator, 10, slower=math.log(1.1))
    alone = compare_sets(a, b)
    assert alone.p is not None
    assert alone.p > 0.05


def test_the_slope_is_that_by_which_a_case_follows() -> None:
    generator = np.random.default_rng(6)
    for follows in (0.0, 0.4, 1.0):
        times, limits = side(generator, 12, follows=follows)
        levels = [float(np.median(np.log(one))) for one in times]
        assert slope_within([levels], [limits]) == pytest.approx(follows, abs=0.06)
    assert slope_within([[0.0, 1.0]], [[0.0, 0.0]]) == 0
    assert slope_within([[0.0, 5.0]], [[0.0, 1.0]]) == 1  # no more than the limits
    assert slope_within([[5.0, 0.0]], [[0.0, 1.0]]) == 0


def test_the_limit_counts_that_tells_most() -> None:
    generator = np.random.default_rng(7)
    (a, of_a), (b, of_b) = side(generator, 10), side(generator, 10, slower=math.log(1.1))
    others = list(generator.normal(0, 0.3, 10)), list(generator.normal(0, 0.3, 10))
    found = compare_beside(a, b, {"flops": others, "copy": (of_a, of_b)})
    assert found.limit == "copy"
    assert found.estimate.log_ratio == pytest.approx(math.log(1.1), abs=0.04)


def test_exchanged_sides_give_the_mirrored_result() -> None:
    generator = np.random.default_rng(8)
    (a, of_a), (b, of_b) = side(generator, 8), side(generator, 9, slower=0.05)
    there = compare_beside(a, b, {"copy": (of_a, of_b)})
    back = compare_beside(b, a, {"copy": (of_b, of_a)})
    assert there.slope == pytest.approx(back.slope)
    assert there.slope > 0.9
    assert there.estimate.log_ratio == pytest.approx(-back.estimate.log_ratio)
    assert there.limit_ratio is not None
    assert back.limit_ratio == pytest.approx(1 / there.limit_ratio)


def test_other_limits_are_no_state() -> None:
    """A machine whose memory became slower for good: its cases did as well."""
    generator = np.random.default_rng(9)
    a, b = ([[1.0 * t, 1.01 * t] for t in generator.normal(m, 0.01, 8)] for m in (1, 1.2))
    limits = [list(generator.normal(m, 0.01, 8)) for m in (0, math.log(1.2))]
    found = compare_beside(a, b, {"copy": (limits[0], limits[1])})
    assert found.slope == 0
    assert found.limit_ratio == pytest.approx(1.2, abs=0.02)
    assert found.estimate.log_ratio == pytest.approx(math.log(1.2), abs=0.02)


def test_few_launches_are_compared_by_their_times() -> None:
    generator = np.random.default_rng(10)
    (a, of_a), (b, of_b) = side(generator, 5), side(generator, 8)
    assert compare_beside(a, b, {"copy": (of_a, of_b)}).slope == 0
    assert compare_beside(a, b, {}).limit_ratio is None


# --- pairs ---------------------------------------------------------------------------------------


def pairs_compared(
    generator: np.random.Generator, slower: float = 0, *, alike: float = 0
) -> tuple[Adjusted, Adjusted]:
    """Ten pairs, each launch in one of two states: beside their limits, and by their times alone."""
    (a, of_a), (b, of_b) = side(generator, 10), side(generator, 10, slower=slower)
    limits = {"copy": (of_a, [one + alike for one in of_b])}
    plain = [math.log(np.median(y) / np.median(x)) for x, y in zip(a, b, strict=True)]
    found = [compare_pairs_beside(a, b, one, cases=7, plain=plain) for one in (limits, {})]
    return found[0], found[1]


def share_of_pairs_called(slower: float, draws: int = 200) -> tuple[float, float]:
    generator = np.random.default_rng(4)
    found = np.array(
        [
            [one.estimate.p is not None and one.estimate.p < 0.05 / 7 for one in both]
            for both in (pairs_compared(generator, slower) for _ in range(draws))
        ]
    )
    beside, alone = found.mean(axis=0)
    return float(beside), float(alone)


def test_pairs_of_other_states_are_compared_beside_their_limits() -> None:
    beside, alone = share_of_pairs_called(math.log(1.1))
    assert beside >= 0.95
    assert alone <= 0.5
    assert max(share_of_pairs_called(0.0)) <= 0.03


def test_exchanged_pairs_give_the_mirrored_result() -> None:
    generator = np.random.default_rng(5)
    (a, of_a), (b, of_b) = side(generator, 10), side(generator, 10, slower=0.1)
    plain = [math.log(np.median(y) / np.median(x)) for x, y in zip(a, b, strict=True)]
    there = compare_pairs_beside(a, b, {"copy": (of_a, of_b)}, plain=plain)
    back = compare_pairs_beside(b, a, {"copy": (of_b, of_a)}, plain=[-one for one in plain])
    assert there.slope == pytest.approx(back.slope)
    assert there.slope > 0.9
    assert there.estimate.log_ratio == pytest.approx(-back.estimate.log_ratio)
    assert there.estimate.p == pytest.approx(back.estimate.p)


def test_pairs_stay_as_they_are_where_a_limit_differs_for_certain() -> None:
    beside, alone = pairs_compared(np.random.default_rng(6), alike=5.0)
    assert beside.slope == 0
    assert beside.estimate == alone.estimate
    assert beside.limit_ratio == pytest.approx(math.exp(5), rel=0.6)


# --- records --------------------------------------------------------------------------------------


def write_records(
    folder: Path, *, slower: float = 0, slow: list[bool], within: bool = True
) -> Path:
    """Launches with a part within one case, or beside it, each in its state."""
    folder.mkdir()
    generator = np.random.default_rng(len(folder.name))
    for number, is_slow in enumerate(slow):
        document = json.loads((DATA / "record.json").read_text())
        case = next(one for one in document["cases"] if one["key"] == KEY)
        state = math.exp(SLOW * is_slow + generator.normal(0, 0.005))
        by_rank = case["samples"]["by_rank"]
        times = state * math.exp(slower)
        case["samples"]["by_rank"] = [[value * times for value in rank] for rank in by_rank]
        visit = {"at_s": 0.1, "after_cases": 1, "count": 1, "cost_s": 0.1}
        visit["within"] = KEY if within else None
        visit |= {"seconds": [1e-3 * state] * 3, "after_repetitions": [0, 1, 2], "shares": {}}
        part = {"benchmark": "ceilings", "parameters": {}, "key": "memory/copy", "labels": {}}
        part |= {"work": {}, "validation": None, "visits": [visit]}
        part |= {"outcome": {"status": "passed", "reason": None}}
        document["parts"] = {"spent_s": 0.1, "run_s": 1.0, "cases": [part]}
        (folder / f"{number}.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize("within", [True, False])
def test_records_are_compared_without_their_states(
    plumb: Plumb, tmp_path: Path, within: bool
) -> None:
    half = [False, True] * 4
    a = write_records(tmp_path / "a", slow=half, within=within)
    b = write_records(tmp_path / "bb", slow=half, slower=math.log(1.15), within=within)
    status, out, _ = plumb("compare", str(a), str(b), "--format", "json")
    (case,) = (one for one in json.loads(out)["cases"] if one["key"] == KEY)
    assert status == 4
    assert case["word"] == "slower"
    assert case["limit"] == "memory/copy"
    assert case["slope"] > 0.95
    assert case["limit_ratio"] == pytest.approx(1, abs=0.02)


def test_times_that_only_follow_other_limits_are_not_called_the_same(
    plumb: Plumb, tmp_path: Path
) -> None:
    a = write_records(tmp_path / "a", slow=[False] * 6 + [True] * 2)
    b = write_records(tmp_path / "bb", slow=[False] * 3 + [True] * 5)
    out = plumb("compare", str(a), str(b))[1]
    (line,) = (one for one in out.splitlines() if one.startswith(f"{KEY} "))
    assert "ambiguous: as its limit: memory/copy takes 1." in line
