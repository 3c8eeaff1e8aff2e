"""Times by size: a list of segments, each a straight line.

time of n concurrent messages of L bytes of one rank = latency + n * L / bandwidth
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, overload

from pydantic import Field

from plumbline.base.toml import Table
from plumbline.base.units import count_of_bytes, quantity

if TYPE_CHECKING:  # NumPy would slow the start of every command
    import numpy as np
    from numpy.typing import NDArray


class Segment(Table):
    """The time for messages of at most ``up_to_bytes`` (the last segment: of any size).

    ``latency_us`` is in microseconds, ``bandwidth_gb_s`` in GB/s (1e9 B/s; absent: the time does
    not depend on the size). ``source`` names the source of the figures, ``measured`` a fit, whose
    largest relative error at a measured size is ``worst_error`` and whose largest measured size is
    ``largest_bytes`` (of the last segment; absent: the figures hold for any size).
    """

    up_to_bytes: Annotated[int, *count_of_bytes(), Field(ge=1)] | None = None
    latency_us: Annotated[float, *quantity("us"), Field(ge=0)]
    bandwidth_gb_s: Annotated[float, *quantity("GB/s"), Field(gt=0)] | None = None
    source: str
    worst_error: Annotated[float, Field(ge=0)] | None = None
    largest_bytes: Annotated[int, *count_of_bytes(), Field(ge=0)] | None = None

    @overload
    def time_s(self, messages: float, message_bytes: float) -> float: ...
    @overload
    def time_s(
        self, messages: float, message_bytes: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

    def time_s(
        self, messages: float, message_bytes: float | NDArray[np.float64]
    ) -> float | NDArray[np.float64]:
        """Seconds for ``messages`` messages of ``message_bytes`` bytes each; accepts arrays."""
        if self.bandwidth_gb_s is None:
            return self.latency_us * 1e-6
        return self.latency_us * 1e-6 + messages * message_bytes / (self.bandwidth_gb_s * 1e9)


def check_segments(name: str, segments: Sequence[Segment]) -> None:
    """Raise :class:`ValueError` unless sizes increase and the last segment is open."""
    limits = [segment.up_to_bytes for segment in segments]
    inner = [limit for limit in limits[:-1] if limit is not None]
    if len(inner) != len(limits[:-1]) or inner != sorted(set(inner)):
        raise ValueError(f"up_to_bytes of the segments of {name} must rise")
    if limits and limits[-1] is not None:
        raise ValueError(f"the last segment of {name} must not have up_to_bytes")


def time_of(segments: Sequence[Segment], messages: float, message_bytes: float) -> float | None:
    """Seconds by the segment of the size; None without segments."""
    for segment in segments:
        if segment.up_to_bytes is None or message_bytes <= segment.up_to_bytes:
            return segment.time_s(messages, message_bytes)
    return None
