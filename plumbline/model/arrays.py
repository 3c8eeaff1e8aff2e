"""Equations: pure functions over numpy arrays, one module per benchmark, of the same name.

They take numbers only, in SI units (seconds, bytes, hertz): no system file, no record. Each names
its source, an equation or section of M. Meyer, "An OpenCL- and HLS-based Benchmark Suite for
Reconfigurable Hardware in HPC" (dissertation, Paderborn University, 2024), where no other is named.
A function called ``printed_...`` evaluates the equation exactly as printed; the corrected one is
beside it if the two differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def floats(values: ArrayLike) -> Floats:
    """``values`` as an array of doubles; a single number becomes one of no dimensions."""
    return np.asarray(values, dtype=np.float64)


__all__ = ["ArrayLike", "Floats", "floats"]
