"""Where a figure changed its level: properties of the search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.judge.changes import FEWEST, changes

SEEDS = st.integers(0, 2**32 - 1)
THE_SAME = settings(derandomize=True)  # noise may look like anything, once in a while


def noisy(seed: int, count: int, noise: float = 0.01) -> list[float]:
    return list(np.exp(np.random.default_rng(seed).normal(0, noise, count)))


@THE_SAME
@given(SEEDS, st.integers(8, 40), st.integers(4, 40), st.sampled_from([0.5, 0.8, 0.9, 1.15, 3.0]))
def test_a_step_is_found_where_it_is(seed: int, before: int, after: int, factor: float) -> None:
    values = noisy(seed, before) + [factor * one for one in noisy(seed + 1, after)]
    (found,) = [one for one in changes(values) if abs(one.ratio / factor - 1) < 0.03]
    assert abs(found.index - before) <= 1


@THE_SAME
@given(SEEDS, st.integers(2, 200))
def test_noise_has_no_change(seed: int, count: int) -> None:
    assert changes(noisy(seed, count)) == []


@THE_SAME
@given(SEEDS, st.integers(12, 60), st.data())
def test_one_or_two_outliers_are_no_change(seed: int, count: int, data: st.DataObject) -> None:
    values = noisy(seed, count)
    for place in data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=2)):
        values[place] *= data.draw(st.sampled_from([0.01, 0.5, 2.0, 100.0]))
    assert changes(values) == []


@THE_SAME
@given(SEEDS, st.sampled_from([1e-9, 0.1, 1e6]))
def test_the_unit_does_not_matter(seed: int, unit: float) -> None:
    values = noisy(seed, 30) + [0.8 * one for one in noisy(seed + 1, 20)]
    assert [one.index for one in changes(values)] == [
        one.index for one in changes([unit * one for one in values])
    ]


@THE_SAME
@given(SEEDS)
def test_a_time_changes_where_its_rate_does(seed: int) -> None:
    values = noisy(seed, 20) + [0.8 * one for one in noisy(seed + 1, 20)]
    rates, times = changes(values), changes([1 / one for one in values])
    assert [one.index for one in rates] == [one.index for one in times]
    assert [one.ratio * other.ratio for one, other in zip(rates, times, strict=True)] == (
        pytest.approx([1.0] * len(rates))
    )


def test_there_and_back() -> None:
    values = [10.0] * 10 + [8.0] * 6 + [10.0] * 10
    down, up = changes(values)
    assert (down.index, up.index) == (10, 16)
    assert (down.before, down.after, up.ratio) == pytest.approx((10, 8, 1.25))


def test_what_is_small_or_short_is_none() -> None:
    assert changes([1.0] * 20 + [1.02] * 20) == []
    assert changes([1.0] * 20 + [1.02] * 20, least=0.01) != []
    assert changes([1.0, 2.0] * 2 + [5.0] * (FEWEST - 5)) == []
    assert changes([3.0] * 50) == []
