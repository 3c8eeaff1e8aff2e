"""HPL: a blocked, right-looking LU over a t x t torus of devices; updates hide communication.

Source: Meyer 2024, section 4.1.3 and figures 4.4 to 4.8 (what depends on what), section 4.2.3 (the
extrapolation from one device), eq. 3.2 with n = b (section 4.2.3: multiplications "work on
smaller matrix sizes of just a single block"). The source prints no equation for one device; this
one is ours, from what it says of the kernels. N is the matrix's width, b a block's, m the blocks
left in a row of one device. Times in seconds.

In iteration m the critical path is the LU of a block, then m blocks to the right and, at the same
time, m below, each after the other, and the first row and column of the update, without which the
next iteration cannot start; the rest of the m^2 products overlaps. So

    T(m) = max(m^2 / r block, lu + exchange + m (panel + 2 block / r + exchange of a block))
    time = T(0) + t sum of T(m) for m = 1 ... N/(b t) - 1, and (t - 1) T(N/(b t))

because ceil(k / t) of the k global blocks left are one device's.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def flops(n: ArrayLike) -> Floats:
    """Section 4.1.3: 2 N^3 / 3 for the decomposition."""
    return floats(2 * floats(n) ** 3 / 3)


def lu_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """A block's decomposition: b^3/3 multiply-adds, g^2 a cycle (unrolled in two dimensions)."""
    return floats(floats(b) ** 3 / 3 / (floats(g) ** 2 * floats(clock)))


def panel_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """A block of the row or column, solved with L or U: b^3/2 multiply-adds, g^2 a cycle."""
    return floats(floats(b) ** 3 / 2 / (floats(g) ** 2 * floats(clock)))


def seconds(
    n: ArrayLike,
    torus: ArrayLike,
    b: ArrayLike,
    r: ArrayLike,
    block: ArrayLike,
    lu: ArrayLike,
    panel: ArrayLike,
    exchange: ArrayLike = 0.0,
    block_exchange: ArrayLike = 0.0,
) -> Floats:
    """The sum above, in closed form: linear up to the crossing, quadratic beyond it.

    ``block`` is one product of blocks in one of r replications; ``exchange`` what an iteration
    exchanges whatever m, ``block_exchange`` what each of m blocks adds.
    """
    t, last = floats(torus), floats(n) / (floats(b) * floats(torus))
    square = floats(block) / floats(r)
    fixed = floats(lu) + floats(exchange)
    linear = floats(panel) + 2 * square + floats(block_exchange)
    crossing = (linear + np.sqrt(linear**2 + 4 * square * fixed)) / (2 * square)

    def longest(m: Floats) -> Floats:
        return floats(np.maximum(square * m**2, fixed + linear * m))

    end = np.maximum(last - 1, 0)
    split = np.minimum(np.floor(crossing), end)
    paths = fixed * split + linear * split * (split + 1) / 2
    updates = square * (_squares(end) - _squares(split))
    return floats(fixed + t * (paths + updates) + (t - 1) * longest(last))


def weak(single: ArrayLike, torus: ArrayLike) -> Floats:
    """Section 4.2.3, figure 4.14: t^2 times one device's rate at the same local size."""
    return floats(floats(single) * floats(torus) ** 2)


def of_clock(rate: ArrayLike, measured_clock: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 4.2.3, figure 4.13: rates are normalised to a clock, and grow with it."""
    return floats(floats(rate) * floats(clock) / floats(measured_clock))


def _squares(m: Floats) -> Floats:
    """1 + 4 + ... + m^2."""
    return floats(m * (m + 1) * (2 * m + 1) / 6)
