"""Causes that a record has evidence of: what the host did beside the run, and parts that moved."""

from __future__ import annotations

from collections.abc import Iterator

from plumbline.judge.state import StateOfMachine
from plumbline.record.record import Record

_STOLEN = 0.01  # of the cores' time
_CLOCK = 0.9  # of the clock at the begin
_SHOWN = 3


def causes(record: Record, state: StateOfMachine) -> Iterator[str]:
    """Sentences, each only where the record gives grounds for it."""
    for one in state.moved[:_SHOWN]:
        how, times = ("slower", one.times) if one.times > 1 else ("faster", 1 / one.times)
        yield f"{one.name} moved: {times:.2g} times {how} than in {one.beyond} of {one.launches}."
    load = record.load
    if load is None:
        return
    cores = record.hosts[0].cores
    if load.stolen_share is not None and load.stolen_share > _STOLEN:
        yield (
            f"The hypervisor took {load.stolen_share:.1%} of the cores' time: other virtual "
            "machines share this host."
        )
    if load.average_begin > cores:
        yield (
            f"{load.average_begin:.3g} threads wanted to run when the run began, on {cores} "
            f"core{'s' * (cores != 1)}: other work on the node."
        )
    begin, end = load.clock_begin_mhz, load.clock_end_mhz
    if begin and end and end < _CLOCK * begin:
        yield f"The clock fell from {begin:.0f} to {end:.0f} MHz during the run."
