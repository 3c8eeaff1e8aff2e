"""Errors of a family of cases: each is estimated from all, if they are alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.judge.comparison import Estimate, compare_pairs, of_family
from plumbline.judge.family import FEWEST_CASES, Spread, moderated

CASES, PAIRS = 21, 10
spreads = st.lists(
    st.builds(Spread, st.floats(1e-6, 10), st.floats(2, 40)), min_size=FEWEST_CASES, max_size=30
)


def family(
    generator: np.random.Generator, errors: np.ndarray, slower: float = 0
) -> dict[int, Estimate]:
    """Cases of pairs with these standard deviations, the first of which is slower."""
    pairs = generator.normal(0, errors[:, None], (len(errors), PAIRS))
    pairs[0] += slower
    return {i: compare_pairs(list(one), cases=len(errors)) for i, one in enumerate(pairs)}


def shares(errors: np.ndarray, limit: float, slower: float = 0, draws: int = 150) -> np.ndarray:
    """Cases with p below ``limit``, of the family's first and of the others: own, and moderated."""
    generator = np.random.default_rng(3)
    found = np.zeros((2, 2))
    for _ in range(draws):
        own = family(generator, errors, slower)
        for which, estimates in enumerate((own, of_family(own, PAIRS))):
            below = [one.p is not None and one.p < limit for one in estimates.values()]
            found[which] += below[0], np.mean(below[1:])
    return found / draws


def test_alike_cases_find_smaller_differences() -> None:
    own, moderate = shares(np.full(CASES, 0.04), 0.05 / CASES, 0.06)
    assert own[0] < 0.75
    assert moderate[0] > own[0] + 0.12


@pytest.mark.parametrize("limit", [0.05, 0.05 / CASES])
@pytest.mark.parametrize("unlike", [0.0, 0.5])
def test_p_values_hold_without_a_difference(limit: float, unlike: float) -> None:
    """Also where the cases' errors differ, by a factor of 1.6 as a standard deviation."""
    errors = 0.04 * np.exp(np.random.default_rng(1).normal(0, unlike, CASES))
    _, moderate = shares(errors, limit, draws=200)
    assert moderate[1] < 1.3 * limit


def test_errors_that_are_not_alike_tell_little() -> None:
    """Only the least of them, of which the family believes nothing, becomes much larger."""
    own = [Spread(10.0**i, 6.0) for i in range(-6, 3)]
    found = list(zip(own, moderated(own), strict=True))
    assert all(after.freedom < before.freedom + 1 for before, after in found)
    assert all(after.error < 1.2 * before.error for before, after in found[2:])


def test_few_cases_tell_nothing_of_each_other() -> None:
    own = [Spread(0.01 * i, 6.0) for i in range(1, FEWEST_CASES)]
    assert moderated(own) == own


def test_errors_of_nothing_have_no_part_in_it() -> None:
    own = [Spread(0.0, 6.0), *(Spread(0.01, 6.0) for _ in range(FEWEST_CASES))]
    assert moderated(own)[0] == own[0]
    assert moderated(own)[1].error == pytest.approx(0.01, rel=0.1)


@given(spreads, st.floats(1e-3, 1e3))
def test_errors_are_in_any_unit(own: list[Spread], unit: float) -> None:
    scaled = moderated([Spread(unit * one.error, one.freedom) for one in own])
    for one, other in zip(moderated(own), scaled, strict=True):
        assert other.error == pytest.approx(unit * one.error, rel=1e-6)
        assert other.freedom == pytest.approx(one.freedom)


@given(spreads)
def test_no_error_becomes_smaller_and_no_weight_more_than_twice(own: list[Spread]) -> None:
    for before, after in zip(own, moderated(own), strict=True):
        assert before.freedom <= after.freedom <= 2 * before.freedom + 1e-9
        assert after.error >= before.error


def test_words_follow_the_family() -> None:
    """A case whose pairs agree by chance is not called among those that differ by more."""
    generator = np.random.default_rng(5)
    estimates = family(generator, np.full(CASES, 0.05))
    lucky = compare_pairs([0.02 + 0.002 * (i % 3) for i in range(PAIRS)], cases=CASES)
    estimates[0] = lucky
    assert lucky.p is not None
    assert lucky.p < 1e-4
    moderate = of_family(estimates, PAIRS)[0]
    assert moderate.p is not None
    assert moderate.p > 100 * lucky.p
    assert moderate.log_ratio == lucky.log_ratio
