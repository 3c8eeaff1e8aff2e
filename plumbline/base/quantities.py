"""Sizes, times and rates as people read them, each with its unit."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def rate_text(bytes_a_second: float) -> str:
    """A rate in GB/s (1e9 B/s)."""
    return f"{bytes_a_second * 1e-9:.4g} GB/s"


def size_text(size: int) -> str:
    """A size with an IEC prefix where it is a whole number of them: 1536 B, 4 KiB, 1 MiB."""
    for shift, prefix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {prefix}"
    return f"{size} B"


def ratio_text(ratio: float) -> str:
    """A ratio with three digits, or whole."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"
