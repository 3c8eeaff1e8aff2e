"""Quantiles and tails of distributions, by ``scipy.special``.

``scipy.stats`` has them too, but takes three times as long to load as all of ``plumb``. What is
here is loaded at its first call only.
"""

from __future__ import annotations

from math import ceil


def student_quantile(share: float, freedom: float) -> float:
    """The value below which a ``share`` of Student's t of ``freedom`` degrees lies."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


def student_tail(value: float, freedom: float) -> float:
    """The share of Student's t of ``freedom`` degrees above ``value``."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))


def normal_quantile(share: float) -> float:
    """The value below which a ``share`` of the standard normal distribution lies."""
    from scipy.special import ndtri

    return float(ndtri(share))


def binomial_quantile(share: float, trials: int, chance: float) -> int:
    """The least number of successes in ``trials`` that at least a ``share`` does not exceed."""
    from scipy.special import bdtr, bdtrik

    found = ceil(bdtrik(share, trials, chance))
    return found - 1 if found > 0 and bdtr(found - 1, trials, chance) >= share else found
