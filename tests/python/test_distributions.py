"""The distributions of statistics, beside scipy.stats; and that nothing slow is loaded at the start."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from plumbline.base.distributions import (
    binomial_quantile,
    normal_quantile,
    student_quantile,
    student_tail,
)

SHARES = st.floats(0.001, 0.999)
FREEDOMS = st.floats(1, 500)


@given(SHARES, FREEDOMS)
def test_quantiles(share: float, freedom: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(
        stats.t.ppf(share, freedom), rel=1e-9, abs=1e-9
    )
    assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), abs=1e-12)


@given(st.floats(0, 30), FREEDOMS)
def test_tails(value: float, freedom: float) -> None:
    assert student_tail(value, freedom) == pytest.approx(stats.t.sf(value, freedom), rel=1e-9)


@given(SHARES, st.integers(1, 5000), SHARES)
def test_binomial_quantiles(share: float, trials: int, chance: float) -> None:
    found = binomial_quantile(share, trials, chance)
    assert stats.binom.cdf(found, trials, chance) >= share * (1 - 1e-9)
    assert found == 0 or stats.binom.cdf(found - 1, trials, chance) < share * (1 + 1e-9)


def test_the_command_starts_without_what_is_slow_to_load() -> None:
    slow = "{'scipy', 'matplotlib', 'plotly', 'jinja2'}"
    code = (
        f"import sys, plumbline.cli.app; print({slow} & {{m.split('.')[0] for m in sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
