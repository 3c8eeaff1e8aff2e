"""Statistics of comparisons: intervals cover, false discoveries are bounded, sides can be exchanged."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.judge.comparison import (
    Estimate,
    apart_in_some,
    compare_pairs,
    compare_sets,
    discoveries,
    has_direction,
    is_rate,
    pairs_needed,
    pseudo_median,
    word_of,
)
from plumbline.run.in_turn import order_of

Side = list[list[float]]
MIRRORED = {"slower": "faster", "faster": "slower", "same": "same", "ambiguous": "ambiguous"}


def launches(
    generator: np.random.Generator, count: int, *, between: float, within: float, level: float = 0
) -> Side:
    """Launches of 20 repetitions whose logarithms are normal on both levels."""
    return [
        list(np.exp(level + generator.normal(0, between) + generator.normal(0, within, 20)))
        for _ in range(count)
    ]


sides = st.lists(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=8), min_size=1, max_size=6)


@settings(max_examples=25)
@given(sides, sides)
def test_exchanged_sides_give_the_mirrored_result(a: Side, b: Side) -> None:
    there, back = compare_sets(a, b), compare_sets(b, a)
    assert back.log_ratio == pytest.approx(-there.log_ratio, abs=1e-12)
    assert (there.interval is None) == (back.interval is None)
    if there.interval and back.interval:
        assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]), abs=1e-9)
        assert back.p == pytest.approx(there.p)
        assert there.p is not None
        word = word_of(there, there.p < 0.05, 0.03)[0]
        assert word_of(back, there.p < 0.05, 0.03)[0] == MIRRORED[word]


@settings(max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_exchanged_pairs_give_the_mirrored_result(ratios: list[float]) -> None:
    there, back = compare_pairs(ratios), compare_pairs([-value for value in ratios])
    assert back.log_ratio == pytest.approx(-there.log_ratio, abs=1e-12)
    assert back.p is there.p is None or back.p == pytest.approx(there.p)
    if there.interval and back.interval:
        assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]))


@pytest.mark.parametrize(
    ("count", "between", "within"), [(3, 0.05, 0.02), (5, 0.05, 0.05), (10, 0.02, 0.1)]
)
def test_intervals_of_sets_cover_the_ratio(count: int, between: float, within: float) -> None:
    generator = np.random.default_rng(count)
    covered = 0
    for _ in range(100):
        a = launches(generator, count, between=between, within=within)
        b = launches(generator, count, between=between, within=within, level=0.1)
        low, high = compare_sets(a, b).interval or (math.nan, math.nan)
        covered += low <= 0.1 <= high
    assert covered >= 0.88 * 100  # 95 %, less three standard errors of 100


def test_intervals_without_variance_between_launches_are_too_narrow() -> None:
    """What the hierarchy is for: repetitions pooled into one launch would cover half as often."""
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(60):
        a = launches(generator, 3, between=0.1, within=0.01)
        b = launches(generator, 3, between=0.1, within=0.01)
        flat = [[[value] for launch in side for value in launch[:3]] for side in (a, b)]
        low, high = compare_sets(*flat).interval or (math.nan, math.nan)
        covered += low <= 0 <= high
    assert covered < 48


@pytest.mark.parametrize("tails", [2, 5, 100])
def test_intervals_of_pairs_cover_whatever_the_tails(tails: int) -> None:
    generator = np.random.default_rng(tails)
    covered = 0
    for _ in range(300):
        interval = compare_pairs(0.1 + 0.05 * generator.standard_t(tails, 10)).interval
        assert interval is not None
        covered += interval[0] <= 0.1 <= interval[1]
    assert covered >= 0.90 * 300  # the interval is a little narrow for normal ones


def test_one_disturbed_pair_in_ten_moves_nothing() -> None:
    calm = [0.1 + 0.002 * i for i in range(10)]
    for wild in (5.0, -5.0):
        estimate = compare_pairs([*calm[:9], wild], cases=21)
        assert estimate.log_ratio == pytest.approx(0.109, abs=0.004)
        assert discoveries([estimate.p, *[1.0] * 20])[0]


def test_the_interval_is_that_of_the_definition() -> None:
    """Of 1..10: location 5.5, median distance 2.5, so u = (x - 5.5) / 22.239; t of 6.3 degrees."""
    u = [(value - 5.5) / (6 * 1.4826 * 2.5) for value in range(1, 11)]
    pull = sum((22.239 * x * (1 - x * x) ** 2) ** 2 for x in u)
    error = math.sqrt(pull * 10 / 9) / sum((1 - x * x) * (1 - 5 * x * x) for x in u)
    estimate = compare_pairs([float(value) for value in range(1, 11)])
    assert estimate.log_ratio == pytest.approx(5.5)
    assert estimate.interval == pytest.approx(
        (5.5 - 2.4190 * error, 5.5 + 2.4190 * error), rel=1e-4
    )


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_launches_in_another_state_neither_hide_nor_make_a_difference(share: float) -> None:
    """Of a machine with two states, in which the times are 1 and 1.8, and launches agree to 2 %."""
    generator = np.random.default_rng(11)
    draws = 200
    called = dict.fromkeys((0.0, 0.095), 0)
    for difference in called:
        for _ in range(draws):
            states = generator.random((2, 10)) < share / 2
            pairs = (
                generator.normal(difference, 0.02, 10)
                + 0.6 * np.diff(states.astype(float), axis=0)[0]
            )
            p = compare_pairs(pairs.tolist(), cases=7).p
            called[difference] += discoveries([p, *[1.0] * 6])[0]
    assert called[0.0] <= 0.03 * draws
    assert called[0.095] >= (0.97 if share < 0.2 else 0.9) * draws


def test_pairs_in_groups_have_no_verdict() -> None:
    near = [0.01, 0.02, 0.0, -0.01, 0.03, 0.01]
    estimate = compare_pairs([*near, 0.6, 0.61, -0.6, -0.59])
    assert word_of(estimate, False, 0.03) == ("ambiguous", "only 6 of 10 pairs agree")
    assert compare_pairs([0.1] * 7 + [0.5] * 3).interval == (0.1, 0.1)


def test_false_discoveries_are_bounded_over_the_family() -> None:
    """Null comparisons of 21 cases: some case is called in at most 5 % of them, and rarely more."""
    generator = np.random.default_rng(7)
    called = 0
    for _ in range(100):
        p = [compare_pairs(generator.normal(0, 0.1, 12), cases=21).p for _ in range(21)]
        called += any(discoveries(p))
    assert called <= 0.12 * 100  # 5 %, and three standard errors


def test_discoveries_leave_out_those_without_a_value() -> None:
    assert discoveries([0.0001, None, 0.9]) == [True, False, False]
    assert discoveries([None]) == [False]
    assert discoveries([]) == []


def test_a_slower_case_is_called_and_a_faster_rate_is_too() -> None:
    generator = np.random.default_rng(3)
    a = launches(generator, 8, between=0.01, within=0.02)
    b = launches(generator, 8, between=0.01, within=0.02, level=math.log(1.1))
    estimate = compare_sets(a, b)
    assert word_of(estimate, True, 0.03) == ("slower", "")
    assert word_of(estimate, True, 0.03, is_rate=True) == ("faster", "")
    assert word_of(estimate, False, 0.03)[1].startswith("not certain among so many cases")
    assert word_of(estimate, True, 0.5) == ("same", "")
    assert word_of(compare_sets(b, a), True, 0.03) == ("faster", "")


def test_one_launch_a_side_says_how_many_are_needed() -> None:
    estimate = compare_sets([[1.0, 1.1]], [[2.0, 2.1]])
    assert estimate.interval is None
    assert word_of(estimate, False, 0.03) == (
        "ambiguous",
        "one launch a side: 3 of one are needed",
    )


def test_one_launch_takes_the_other_sides_variance() -> None:
    generator = np.random.default_rng(5)
    many = launches(generator, 12, between=0.05, within=0.01)
    estimate = compare_sets(many, launches(generator, 1, between=0.0, within=0.01))
    low, high = estimate.interval or (math.nan, math.nan)
    assert 0.1 < high - low < 0.5  # 2 x 2.2 x 0.05 x sqrt(1 + 1/12) = 0.23


def test_too_few_pairs_say_how_many_are_needed() -> None:
    assert [pairs_needed(cases) for cases in (1, 2, 21, 64)] == [6, 6, 8, 11]
    estimate = compare_pairs([0.5] * 4, cases=21)
    assert word_of(estimate, False, 0.03) == ("ambiguous", "4 pairs: 21 cases need 8")
    assert compare_pairs([0.5, 0.6], cases=1).why_none == "2 pairs: a case needs 6"
    ten = compare_pairs([0.1 + 0.001 * i for i in range(10)], cases=21)
    assert discoveries([ten.p, *[1.0] * 20])[0]


def test_wide_intervals_say_how_many_launches_would_tell() -> None:
    wide = Estimate(0.01, (-0.2, 0.2), 0.5, 40)
    assert word_of(wide, False, 0.03) == ("ambiguous", "launches differ: 40 would tell")
    assert word_of(Estimate(0.01, (-9, 9), 0.5, 1000), False, 0.03)[1].endswith("too much to tell")
    assert word_of(Estimate(0.02, (0.01, 0.05), 0.001, 40), True, 0.03)[0] == "ambiguous"


def test_equal_sides_are_the_same() -> None:
    assert word_of(compare_sets([[1.0]] * 3, [[1.0]] * 3), False, 0.03) == ("same", "")
    assert word_of(compare_pairs([0.0] * 10), False, 0.03) == ("same", "")


def test_units_tell_what_is_better() -> None:
    assert [is_rate(unit) for unit in ("GB/s", "GFLOP/s", "TEPS", "us", "s")] == [True] * 3 + [
        False
    ] * 2
    assert not has_direction("%")
    assert pseudo_median([1.0, 2.0, 3.0]) == 2.0


def test_launches_that_stand_apart_are_said() -> None:
    even = [0.01 * number for number in range(-5, 5)]
    some = [*even[:7], *(value + 0.25 for value in even[7:])]
    assert apart_in_some(even, even) == ""
    said = apart_in_some(even, some)
    assert said.startswith("3 of 10 launches of B take 1.3")
    assert apart_in_some(some, even) == said.replace("of B", "of A")
    assert apart_in_some(even, [*even[:9], 3.0]) == ""  # one launch was disturbed
    assert apart_in_some(some, some) == ""
    assert apart_in_some(even[:5], some[5:]) == ""  # too few


def test_launches_that_differ_seldom_stand_apart() -> None:
    draw = np.random.default_rng(5)
    sides = draw.normal(0, 0.05, size=(400, 2, 10))
    assert sum(bool(apart_in_some(list(a), list(b))) for a, b in sides) <= 8


@given(st.integers(1, 200), st.integers())
def test_either_command_is_first_in_half_of_the_pairs(pairs: int, seed: int) -> None:
    order = order_of(pairs, seed)
    assert order == order_of(pairs, seed)
    assert len(order) == pairs
    assert abs(2 * sum(order) - pairs) <= pairs % 2


def test_the_order_of_pairs_is_random() -> None:
    assert len({tuple(order_of(10, seed)) for seed in range(40)}) > 30
    assert {sum(order_of(1, seed)) for seed in range(40)} == {0, 1}
