"""Parts beside benchmarks whose time is no sum or maximum of limits that can be measured alone.

Searches, solvers and tables of library calls have a model with rates of their own loops, or none. A
yardstick names the limits on which such a benchmark depends; these are measured in the same launch.
The expectation of a case is the geometric mean of the parts' times, times the usual ratio of
earlier launches, so it exists only with a history. A shared change (clock, other work, placement)
cancels; a change of the benchmark's own code remains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plumbline.model.prediction import Bound

PARTS = Bound(
    "its parts",
    advice="The phases in the record show where its time goes.",
    in_caches=True,
)


@dataclass(frozen=True)
class Yardstick:
    """The parts: type of arithmetic, array and table (log2 B), messages between hosts (B)."""

    flops: str = ""
    memory: int = 0
    updates: int = 0
    messages: tuple[int, ...] = ()


_FLOW = Yardstick(flops="double", memory=16, messages=(4096,))
YARDSTICKS: Mapping[str, Yardstick] = {
    "graph500": Yardstick(updates=18, messages=(1024,)),
    "gups": Yardstick(updates=20),
    "hpl": Yardstick(flops="double", messages=(65536,)),
    "mpi_fft": Yardstick(memory=20, messages=(262144,)),
    "npb_bt": _FLOW,
    "npb_ep": Yardstick(flops="double"),
    "npb_is": Yardstick(memory=18, messages=(65536,)),
    "npb_lu": _FLOW,
    "npb_mg": _FLOW,
    "npb_sp": _FLOW,
    "osu": Yardstick(messages=(8, 8192)),
    "osu_shmem": Yardstick(memory=14),
    "shallow_water": Yardstick(flops="float", messages=(1024,)),
    "shoms": Yardstick(memory=14),
    "ssca1": Yardstick(memory=14, messages=(1024,)),
}
# They measure the limits by which others are judged, so there is nothing to judge them by.
LIMITS_THEMSELVES = frozenset({"ceilings", "links", "noise"})
# Over these transports b_eff and ptrans consist of bare calls, which are measured themselves; so
# does b_eff where is_copied().
BARE = frozenset({"none", "local", "mpi", "staged", "pipelined"})
_OVER_OTHERS: Mapping[str, Yardstick] = {
    "b_eff": Yardstick(messages=(8, 4096, 262144)),
    "ptrans": Yardstick(memory=20, messages=(262144,)),
}


def is_copied(transport: str, approach: str | None, form: object = "exchange") -> bool:
    """Whether messages are copies by a device into a neighbour's memory, as those of ``links``."""
    return (transport, approach, form) == ("peer", "host-buffered", "exchange")


def yardstick_of(
    benchmark: str, transport: str, approach: str | None = None, form: object = "exchange"
) -> Yardstick | None:
    """The yardstick of ``benchmark``, or None; tests of OSU under their own names have its own."""
    if benchmark == "b_eff" and is_copied(transport, approach, form):
        return None
    if transport not in BARE and benchmark in _OVER_OTHERS:
        return _OVER_OTHERS[benchmark]
    if benchmark.startswith("osu_") and benchmark != "osu_shmem":
        benchmark = "osu_shmem" if benchmark.startswith("osu_oshm") else "osu"
    return YARDSTICKS.get(benchmark)
