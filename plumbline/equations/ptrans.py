"""PTRANS, C = B + A^T over a grid of devices (P = Q): what a block takes, and who bounds.

Source: Meyer 2024, sections 4.1.2.1 and 4.1.2.2, eq. 4.5 and 4.6. b is a block's rows, c_w the
width of the channel in numbers (eq. 4.5) or bytes (eq. 4.6), c_f its clock in hertz.
"""

from __future__ import annotations

import numpy as np

from plumbline.equations import ArrayLike, Floats, floats

ARRAYS = 3  # A and B are read, C is written


def printed_block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5 as printed: t_MPI + 3 b^2/c_w c_f; cycles *times* a clock are no seconds."""
    return floats(floats(mpi_s) + ARRAYS * floats(b) ** 2 / floats(width) * floats(clock))


def block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5 as it must be read: t_MPI + 3 b^2 / (c_w c_f)."""
    return floats(floats(mpi_s) + ARRAYS * floats(b) ** 2 / (floats(width) * floats(clock)))


def needed_memory_rate(channels: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.6: b_global = 3 r c_w c_f bytes a second, for the channels to bound."""
    return floats(ARRAYS * floats(channels) * floats(width) * floats(clock))


def printed_peak(
    devices: ArrayLike, channels: ArrayLike, width: ArrayLike, clock: ArrayLike
) -> Floats:
    """Section 4.1.2.2: p = i r c_w c_f. Called FLOP/s there; its unit is bytes a second."""
    return floats(floats(devices) * floats(channels) * floats(width) * floats(clock))


def exchanged_bytes(n: ArrayLike, devices: ArrayLike, number_bytes: ArrayLike) -> Floats:
    """What one device sends of A: its n^2/p numbers; none where p = 1 (it is its own partner)."""
    count = floats(devices)
    return floats(np.where(count > 1, floats(n) ** 2 / count * floats(number_bytes), 0.0))


def transposed_s(
    n: ArrayLike, devices: ArrayLike, number_bytes: ArrayLike, memory_rate: ArrayLike
) -> Floats:
    """One device's three arrays through its memory, at ``memory_rate``."""
    share = floats(n) ** 2 / floats(devices) * floats(number_bytes)
    return floats(ARRAYS * share / floats(memory_rate))


def sent_rate(n: ArrayLike, number_bytes: ArrayLike, seconds: ArrayLike) -> Floats:
    """Table 4.8's figure: n^2 numbers of A in bytes, over the time, of the whole machine."""
    return floats(floats(n) ** 2 * floats(number_bytes) / floats(seconds))


def overlapped_s(exchange_s: ArrayLike, kernel_s: ArrayLike, stages: ArrayLike) -> Floats:
    """Both cut into ``stages``, each stage's kernels after its exchange: two lines in step.

    The longer is never idle but while the first stage is exchanged, or the last computed.
    """
    exchange, kernel = floats(exchange_s), floats(kernel_s)
    return floats(np.maximum(exchange, kernel) + np.minimum(exchange, kernel) / floats(stages))
