"""Robust regression with intervals: latency, rate and efficiency from measured times.

Residuals are relative, because times span six decades and short ones have the same weight as long
ones; the loss is soft L1 (scipy), which is least squares for residuals below a few per cent and
linear beyond, so a disturbed case has little influence. Theil-Sen is robust as well, but weights
all pairs equally, most of which are of long messages, and allows negative latencies and rates.
Intervals (95 %) of a line are by its covariance, with the residuals' median absolute deviation as
their scale, at least the noise of the times; those of a median are bootstrapped with a fixed seed,
so that equal records give equal figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plumbline.base.distributions import student_quantile
from plumbline.base.units import rounded
from plumbline.system.segments import Segment

Floats = NDArray[np.float64]
_NOISE = 0.05  # larger relative residuals are weighted as outliers
_FLAT = 1e-3  # of the fixed part: below it there is no bandwidth
_REPLICATES = 400
_SEED = 20240101


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, all in one unit."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Estimate:
        """In another unit, of which ``factor`` equal one of this."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def inverse(self, factor: float = 1.0) -> Estimate:
        """``factor`` divided by it; infinite for 0."""
        low, value, high = (factor / one if one else np.inf for one in _all(self))
        return Estimate(value, high, low)


def _all(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.low, estimate.value, estimate.high


@dataclass(frozen=True)
class Line:
    """seconds = fixed + each * amount (bytes, flops, ticks ...); neither is negative."""

    fixed: Estimate
    each: Estimate

    def seconds(self, amounts: ArrayLike) -> Floats:
        """Seconds for amounts, of their shape."""
        return np.asarray(self.fixed.value + self.each.value * np.asarray(amounts, dtype=float))


def robust_line(amounts: ArrayLike, seconds: ArrayLike, noise: float = 0.005) -> Line:
    """The line through ``seconds`` (above 0) over ``amounts``, of equal length, at least one.

    ``noise`` is the relative error of the times. A single amount determines the fixed part only.
    """
    x, t = np.asarray(amounts, dtype=float), np.asarray(seconds, dtype=float)
    columns = np.column_stack([1 / t, x / t if len(set(x)) > 1 else np.zeros_like(t)])
    scale = np.abs(columns).max(axis=0)
    used = scale > 0
    matrix = columns[:, used] / scale[used]

    from scipy.optimize import least_squares  # half a second to import

    def residuals(unknown: Floats) -> Floats:
        residual: Floats = matrix @ unknown - 1
        return residual

    def slopes(_unknown: Floats) -> Floats:
        slope: Floats = matrix
        return slope

    solved = least_squares(
        residuals,
        np.full(int(used.sum()), 0.5),
        jac=slopes,
        bounds=(0, np.inf),
        loss="soft_l1",
        f_scale=_NOISE,
        x_scale="jac",
    )
    middle, half = np.zeros(2), np.zeros(2)
    middle[used] = solved.x / scale[used]
    half[used] = _half_widths(matrix, solved.x, noise) / scale[used]
    low = np.maximum(middle - half, 0)
    return Line(
        Estimate(float(middle[0]), float(low[0]), float(middle[0] + half[0])),
        Estimate(float(middle[1]), float(low[1]), float(middle[1] + half[1])),
    )


def _half_widths(matrix: Floats, solution: Floats, noise: float) -> Floats:
    """Half of the 95 % intervals: by s^2 (J^T W J)^-1, W the loss's weights."""
    residuals = matrix @ solution - 1
    freedom = max(len(residuals) - len(solution), 1)
    spread = float(np.median(np.abs(residuals))) * 1.4826
    spread = max(spread * np.sqrt(len(residuals) / freedom), noise)
    weights = 1 / np.sqrt(1 + (residuals / _NOISE) ** 2)
    covariance = np.linalg.pinv(matrix.T @ (weights[:, None] * matrix))
    quantile = student_quantile(0.975, freedom)
    return np.asarray(quantile * spread * np.sqrt(np.diag(covariance)), dtype=np.float64)


def location(values: Sequence[float]) -> Estimate:
    """The median of positive ``values`` (rates, ratios), in the logarithm, with interval."""
    logs = np.log(np.asarray(values, dtype=float))
    random = np.random.default_rng(_SEED)
    drawn = np.median(random.choice(logs, (_REPLICATES, len(logs))), axis=1)
    low, high = np.exp(np.percentile(drawn, [2.5, 97.5]))
    return Estimate(float(np.exp(np.median(logs))), float(low), float(high))


def fit_loggp(
    sizes: ArrayLike, latency_s: ArrayLike, gap_s: ArrayLike
) -> tuple[Estimate, Estimate, Estimate]:
    """L + 2 o, g and G of LogGP (Alexandrov et al., SPAA 1995), from times at the same sizes.

    ``latency_s`` is the completion time of one operation; ``gap_s`` the time per operation of many
    in sequence (size / bandwidth); sizes in bytes, all above 0. Latencies alone do not
    separate L from o. G, in seconds a byte, is fitted to the long gaps, from twice the shortest on;
    g to the others.
    :class:`plumbline.system.operations.Operation` computes times from these figures.
    """
    size = np.asarray(sizes, dtype=float)
    gap, latency = np.asarray(gap_s, dtype=float), np.asarray(latency_s, dtype=float)
    rest = np.maximum(size - 1, 0)
    long = (gap >= 2 * gap.min()) & (rest > 0)
    if not long.any():
        long = size == size.max()
    byte_s = location(list(gap[long] / np.maximum(rest[long], 1)))
    short = ~long if (~long).any() else size == size.min()
    transferred = np.minimum(rest * byte_s.value, 0.99 * latency)
    nearest = transferred <= latency / 2
    chosen = nearest if nearest.any() else size == size.min()
    empty_s = location(list((latency - transferred)[chosen]))
    return empty_s, location(list(gap[short])), byte_s


def refined(
    segments: Sequence[Segment],
    volumes: Sequence[float],
    sizes: Sequence[int],
    times: Sequence[float],
    noise: float = 0.005,
) -> list[tuple[Segment, Line]]:
    """Each of ``segments`` fitted again to the points within it, with intervals.

    A point is a message size (bytes), the bytes that a rank handles at once, and seconds.
    """
    found: list[tuple[Segment, Line]] = []
    below = -1
    for segment in segments:
        limit = segment.up_to_bytes or max(sizes)
        inside = [index for index, size in enumerate(sizes) if below < size <= limit]
        below = limit
        if not inside:
            continue
        line = robust_line([volumes[i] for i in inside], [times[i] for i in inside], noise)
        fitted = line.seconds([volumes[i] for i in inside])
        worst = max(abs(times[i] / seconds - 1) for i, seconds in zip(inside, fitted, strict=True))
        flat = line.each.value * max(volumes[i] for i in inside) <= _FLAT * line.fixed.value
        largest = max(sizes[i] for i in inside) if segment.up_to_bytes is None else None
        bandwidth = None if flat else 1e-9 / line.each.value
        changes = {
            "latency_us": rounded(line.fixed.value * 1e6),
            "bandwidth_gb_s": rounded(bandwidth) if bandwidth else None,
            "source": "fitted",
            "worst_error": rounded(float(worst)),
            "largest_bytes": largest,
        }
        found.append((segment.model_copy(update=changes), line))
    return found
