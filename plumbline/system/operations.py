"""One-sided operations of a world: the cost of each for its origin.

The figures are those of LogGP (Alexandrov et al., "LogGP", SPAA 1995). ``spread_bytes`` is set if
the words are scattered over more memory than the caches hold; the times include cache misses.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Annotated, Literal

from pydantic import Field

from plumbline.base.toml import Table
from plumbline.base.units import quantity
from plumbline.system.device import Bytes, Micros, Whole

Nanos = Annotated[float, *quantity("ns"), Field(ge=0)]
WorldKind = Literal["shmem", "mpi"]

# Operations used by models, by the names of their tests in shoms.
GET, PUT, BULK = "long_g", "long_p", "putmem"
XOR, XOR_IN_CONTEXT, NOTICE = "ulong_atomic_xor", "ctx_ulong_atomic_xor", "ulong_atomic_set"
SEND, START = "osu_bw", "osu_bw_persistent"  # messages in a row: their gap; by persistent requests
ONE_WAY, BOTH_WAYS = "osu_latency", "osu_sendrecv"  # a message on its own; one in each direction
COLLECT = "gups_bucketed"  # operations of an update by buckets, in a table within the caches


class Operation(Table):
    """One operation, named as ``shoms`` names its test (``long_g``, ``ulong_atomic_xor``).

    ``empty_us`` is L + 2 o: the shortest one from call to completion. ``gap_us`` is g, between the
    starts of two in sequence, ``gap_per_byte_ns`` is G, in ns per byte; absent: unknown, or one
    word only. ``spread_bytes``: size of the target memory over which its places are scattered
    (absent: always the same few). ``worst_error`` is the largest relative error of the fit.
    """

    name: str
    world: WorldKind
    library: str
    ranks: Whole
    spread_bytes: Bytes | None = None
    empty_us: Micros
    gap_us: Micros | None = None
    gap_per_byte_ns: Nanos | None = None
    worst_error: Annotated[float, Field(ge=0)] | None = None
    source: str

    def is_replaced_by(self, new: Operation) -> bool:
        """Whether ``new`` has the figures of the same operation."""
        return self._place == new._place

    @property
    def _place(self) -> tuple[str, str, str, int, int | None]:
        return self.name, self.world, self.library, self.ranks, self.spread_bytes

    @property
    def empty_s(self) -> float:
        """Completion time of the shortest one, in seconds."""
        return self.empty_us * 1e-6

    def latency_s(self, size: float) -> float:
        """Completion time of one of ``size`` bytes, in seconds: L + 2 o + (k - 1) G."""
        return self.empty_s + max(size - 1, 0) * (self.gap_per_byte_ns or 0.0) * 1e-9

    def stream_s(self, size: float) -> float:
        """Seconds of each of many of ``size`` bytes: the larger of g and (k - 1) G.

        Without a known gap each waits for the previous one.
        """
        if self.gap_us is None:
            return self.latency_s(size)
        each_byte = max(size - 1, 0) * (self.gap_per_byte_ns or 0.0) * 1e-9
        return max(self.gap_us * 1e-6, each_byte)


def scattered_s(rows: Sequence[Operation], name: str, size: float) -> float | None:
    """Additional seconds of ``name`` for words in ``size`` bytes changed by another rank.

    Interpolated between measured lengths over their logarithm; constant outside. Times above that
    of a longer one were disturbed, and are replaced by it. None if none was measured.
    """
    own = [row for row in rows if row.name == name]
    near = next((row for row in own if row.spread_bytes is None), None)
    far = sorted((row.spread_bytes, row.empty_s) for row in own if row.spread_bytes is not None)
    if near is None or not far:
        return None
    more: list[tuple[float, float]] = []
    least = far[-1][1]
    for length, seconds in reversed(far):
        least = min(least, seconds)
        more.insert(0, (log(length), max(least - near.empty_s, 0.0)))
    at = log(max(size, 1))
    if at <= more[0][0]:
        return more[0][1]
    for (left, low), (right, high) in pairwise(more):
        if at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return more[-1][1]
