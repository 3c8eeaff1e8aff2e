"""PTRANS: what a rank exchanges by its legs, and three arrays through its memory.

The equations are those of :mod:`plumbline.equations.ptrans`: eq. 4.5 with its exchange and its
pipelines on a board whose bitstream the system has, memory bandwidth elsewhere. The slowest rank
counts. Where exchange and kernels overlap by stages, the longer of the two covers the other but
for a stage; on the host both take turns on the same cores and nothing is covered.
"""

from __future__ import annotations

from plumbline import roofline
from plumbline.device_table import Bitstream
from plumbline.equations import ptrans as equations
from plumbline.models import Expectation
from plumbline.record import Case, Record, Work
from plumbline.segments import time_of
from plumbline.systems import Figures, Leg, Legs, Need

BENCHMARK = "ptrans"
NEEDS: Need = "legs"
TRANSPORTS = frozenset({"local", "mpi", "staged"})

_LEGS: dict[str, tuple[Leg, ...]] = {
    "mpi": ("exchange",),
    "staged": ("read", "exchange", "write"),
}


class _UnknownError(Exception):
    """A figure that the system lacks; the text names it."""


def describe(record: Record, figures: Figures) -> str:
    """Exchange, and pipelines or memory."""
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    device = (
        "3 b^2/(c_w f) a block (Meyer 2024, eq. 4.5)" if kernel else "3 n^2/p numbers of memory"
    )
    return f"exchange of A + {device}; overlapped: the longer, and a stage of the other"


def expect(record: Record, figures: Figures) -> dict[str, Expectation]:
    """The time of one transposition, of the slowest rank."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Expectation:
    try:
        of_ranks = [
            _parts(record, case, figures, work) for work in case.work_by_rank or [case.work]
        ]
    except _UnknownError as error:
        return Expectation(None, reason=f"the system knows no {error}")
    parts = max(of_ranks, key=lambda parts: sum(parts.values()))
    kernel = {name: seconds for name, seconds in parts.items() if name in ("memory", "kernels")}
    computing, moving = sum(kernel.values()), sum(parts.values()) - sum(kernel.values())
    stages = case.facts.get("stages")
    covered = case.facts.get("overlaps") is True and not roofline.is_on_host(record)
    seconds = (
        float(equations.overlapped_s(moving, computing, stages))
        if covered and isinstance(stages, int)
        else moving + computing
    )
    touched = case.work.bytes_read + case.work.bytes_written
    reason = roofline.in_cache(record, figures, touched) if "memory" in parts else ""
    bound = max(parts, key=parts.__getitem__)
    return Expectation(seconds, bound=bound, parts=parts, reason=reason or None)


def _parts(record: Record, case: Case, figures: Figures, work: Work) -> dict[str, float]:
    """Seconds of what a rank does, one after the other."""
    parts = _moving(record, figures, work) if work.messages else {}
    return {**parts, **_computing(record, case, figures, work)}


def _moving(record: Record, figures: Figures, work: Work) -> dict[str, float]:
    message = work.bytes_sent / work.messages
    way = figures.way(record.transport_name, record.approach)
    if way is not None:
        return {"transfer": time_of(way.segments, work.messages, message) or 0.0}
    parts: dict[str, float] = {}
    for leg in _LEGS.get(record.transport_name, ()):
        seconds = (figures.legs or Legs()).time_s(leg, work.messages, message)
        if seconds is None:
            raise _UnknownError(f"leg {leg}")
        parts[leg] = seconds
    return parts


def _computing(record: Record, case: Case, figures: Figures, work: Work) -> dict[str, float]:
    share = 1 if figures.by_all_ranks else roofline.sharers(record)
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is not None:
        return {"kernels": share * _pipelines_s(kernel, case, work)}
    device = figures.device
    seconds = device.memory_s(work.bytes_read, work.bytes_written) if device else None
    if seconds is None:
        raise _UnknownError("memory bandwidth: plumb run stream on as many ranks learns it")
    return {"memory": share * seconds}


def _pipelines_s(kernel: Bitstream, case: Case, work: Work) -> float:
    """Eq. 4.5 without its exchange, block after block of each replication."""
    size = case.labels.get("block")
    if kernel.channel_width is None or kernel.frequency_mhz is None or not isinstance(size, int):
        raise _UnknownError("channel_width and frequency_mhz of the bitstream")
    blocks = work.flops / size**2 / kernel.replications
    clock = kernel.frequency_mhz * 1e6
    return blocks * float(equations.block_s(0, size, kernel.channel_width, clock))
