"""FFT: the pipeline of a board (eq. 3.1), and what a transform needs of any device.

Source: Meyer 2024, section 3.2.3.

*Arithmetic.* A peak counts multiply-adds, an FFT mostly adds. In radix 8 a butterfly of 8 points
over three levels is 52 additions and 4 multiplications (Johnson and Frigo, "A modified split-radix
FFT with fewer arithmetic operations", IEEE Trans. Signal Processing 55(1), 2007, table of N = 8: 56
flops), and multiplies 7 points by roots, each 2 multiplications and 2 multiply-adds: 84
instructions, 3.5 a point and level; 56 in the first step, which has no roots. That is
3.5 n (log2 n - 1) instructions, each in the place of a multiply-add's two flops.

*Passes.* With a fast memory of S points n log2 n / log2 S points go through slow memory at least
(Hong and Kung, "I/O complexity: the red-blue pebble game", STOC 1981), so the batch goes through it
log2 n / log2 S times, rounded up.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats

POINTS_A_CYCLE = 8
INSTRUCTIONS_A_LEVEL = 84 / 8 / 3
NAMED_FLOPS_A_LEVEL = 5


def printed_flops(levels: ArrayLike, clock: ArrayLike, replications: ArrayLike) -> Floats:
    """Eq. 3.1: p = 5 s f r 8 flops a second, s = log2 of the size, f the slower clock."""
    return floats(5 * floats(levels) * floats(clock) * floats(replications) * POINTS_A_CYCLE)


def usable_clock(
    clock: ArrayLike, interface_clock: ArrayLike, interface_bytes: ArrayLike, point_bytes: ArrayLike
) -> Floats:
    """The f of eq. 3.1 where a bank's interface is narrower than the eight points of a cycle.

    The interface's clock then counts in that proportion. In hertz.
    """
    share = np.minimum(1.0, floats(interface_bytes) / (POINTS_A_CYCLE * floats(point_bytes)))
    return floats(np.minimum(floats(clock), floats(interface_clock) * share))


def linked_flops(levels: ArrayLike, rate: ArrayLike, point_bytes: ArrayLike) -> Floats:
    """Flops a second where points come and go over a link with ``rate`` bytes/s each way."""
    return floats(5 * floats(levels) * floats(rate) / floats(point_bytes))


def moved_rate(flops: ArrayLike, levels: ArrayLike, point_bytes: ArrayLike) -> Floats:
    """Bytes a second, read and written, at so many flops a second (table 3.6's row in GB/s)."""
    return floats(floats(flops) * 2 * floats(point_bytes) / (5 * floats(levels)))


def flops_of_peak(named: ArrayLike, levels: ArrayLike) -> Floats:
    """What of a peak in multiply-adds ``named`` flops of transforms of 2^levels points take."""
    share = 2 * INSTRUCTIONS_A_LEVEL * (1 - 1 / floats(levels)) / NAMED_FLOPS_A_LEVEL
    return floats(floats(named) * share)


def passes(levels: ArrayLike, fast_points: ArrayLike) -> Floats:
    """How often a transform of 2^levels points goes through slow memory at least."""
    fast = floats(fast_points)
    held = np.log2(np.where(fast >= 2, fast, 2.0))
    return floats(np.where(fast >= 2, np.maximum(1, np.ceil(floats(levels) / held)), 1))
