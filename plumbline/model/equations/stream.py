"""STREAM on a board: banks of memory, and the clock of the kernels that ask them.

Source: Meyer 2024, section 3.2.2 (peak of the banks in use; PAC: one direction of PCIe each for
reading and writing) and section 3.3.1 (kernels slower than the banks' interface). Rates in bytes a
second.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def printed_rate(banks: ArrayLike, bank_rate: ArrayLike) -> Floats:
    """Section 3.2.2: the theoretical peak of the board, all banks."""
    return floats(floats(banks) * floats(bank_rate))


def bank_rate(banks: ArrayLike, rate: ArrayLike, replications: ArrayLike) -> Floats:
    """The peak of the banks that so many replications use, one bank each."""
    return floats(np.minimum(floats(replications), floats(banks)) * floats(rate))


def kernel_rate(replications: ArrayLike, cycle_bytes: ArrayLike, clock: ArrayLike) -> Floats:
    """What the kernels ask for at most: the bytes of one cycle of each, times their clock."""
    return floats(floats(replications) * floats(cycle_bytes) * floats(clock))


def duplex_rate(reads: ArrayLike, writes: ArrayLike, rate: ArrayLike) -> Floats:
    """Over a link with ``rate`` in each direction: so many arrays read, so many written at once.

    The direction with more arrays bounds: (reads + writes) / max(reads, writes) of the rate.
    """
    read, written = floats(reads), floats(writes)
    return floats((read + written) / np.maximum(read, written) * floats(rate))
