"""Derives rates of applications' own loops from short runs of them, and the cost of messages.

Each application's model names its runs, none of a class that it will predict, and derives the
rates from their records. Messages between host memories are measured by ``b_eff``, over OpenSHMEM
by the operations that they consist of (``shoms``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, cast

from plumbline.base.units import rounded
from plumbline.calibrate import legs, operations
from plumbline.model.benchmarks import BENCHMARKS, model_of
from plumbline.model.message_cost import Cost, by_name, by_signals, free, one_sided
from plumbline.model.own_work import undisturbed_s
from plumbline.model.transfer import HOST
from plumbline.record.record import Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.operations import BOTH_WAYS, ONE_WAY, SEND, START, Operation
from plumbline.system.system import Figures, MeasuredTransfer, Point

BENCHMARK = "npb_ep"  # the first run, without transfers: its conditions are the calibration's
DECIDING: tuple[str, ...] = ()
MESSAGES, SINGLE = "b_eff", "osu"
_SOURCE = "measured"
_TIMES = ("--time-limit", "0.2", "--min-repetitions", "6")
_MESSAGE_RUN = (
    *("--runtime", "native", "--transport", "mpi", "--ring", "natural", "--min-size", "0"),
    *("--max-size", "22", "--time-limit", "0.01"),
)
_GAP_RUN = ("--only", f"{SEND},{START}", "--message-size", "8:8", *_TIMES)
_SINGLE_RUN = (
    *("--only", f"{ONE_WAY},{BOTH_WAYS}", "--size-factor", "4", "--maxsize", "4194304"),
    *("--time-limit", "0.02", "--min-repetitions", "6"),
)


Start = Callable[[str, Sequence[str]], Record]  # runs a benchmark with options


class Application(Protocol):
    """The part of a model that a calibration of its own loops uses."""

    runs: Sequence[Sequence[str]]  # options of each run

    def learn(self, records: Sequence[Record], cost: Cost, source: str) -> list[OwnWork]:
        """The rates in the records of the runs."""


def applications() -> dict[str, Application]:
    """Models with rates of their own loops, :data:`BENCHMARK`'s first."""
    found = {name: model_of(name) for name in BENCHMARKS}
    names = [name for name, model in found.items() if hasattr(model, "learn")]
    names.sort(key=lambda name: name != BENCHMARK)
    return {name: cast(Application, found[name]) for name in names}


def measure(start: Start) -> list[Record]:
    """The records for the rates and messages; ``start`` runs a benchmark with options."""
    records = measure_loops(start, applications())
    world = records[0].world
    return [*records, *measure_messages(start, world.kind, world.ranks)]


def measure_loops(start: Start, names: Iterable[str]) -> list[Record]:
    """The records for the rates of the loops of the applications ``names``."""
    known = applications()
    return [start(name, (*words, *_TIMES)) for name in names for words in known[name].runs]


def measure_messages(start: Start, world: str, ranks: int) -> list[Record]:
    """The records for the messages of a world of that kind and so many ranks."""
    if world == "shmem":
        return operations.measure_messages(start)
    if ranks == 1:
        return []
    records = [start(MESSAGES, _MESSAGE_RUN) for _ in range(2)]
    if ranks == 2:
        records.append(start(SINGLE, _GAP_RUN))
        records += [start(SINGLE, _SINGLE_RUN) for _ in range(2)]
    return records


def device_table(records: Sequence[Record]) -> DeviceTable:
    """The rates of one rank, with all at work."""
    return DeviceTable(work=list(_rates(records)))


def _rates(records: Sequence[Record]) -> Iterator[OwnWork]:
    known, cost = applications(), _cost(records)
    for name, application in known.items():
        found = [record for record in records if record.benchmark.name == name]
        if found:
            yield from application.learn(found, cost, _SOURCE)


def _cost(records: Sequence[Record]) -> Cost:
    """Of the runs' messages."""
    first = records[0]
    if first.world.ranks == 1:
        return free
    if first.world.kind == "shmem":
        rows = operations.rows(records)
        return by_signals(one_sided(first, Figures(None, None, operations=rows)))
    return by_name(Figures(None, None, transfers=transfers(records)), "mpi", HOST)


def rows(records: Sequence[Record]) -> list[Operation]:
    """The operations of one-sided forms; the gap of two-sided messages in a row."""
    return [*operations.rows(records), *_gaps(records)]


def _gaps(records: Sequence[Record]) -> Iterator[Operation]:
    for record in (one for one in records if one.benchmark.name == SINGLE):
        for case in record.cases:
            name = case.label("test")
            if name in (SEND, START) and case.summary is not None and case.work.messages:
                gap_us = rounded(undisturbed_s(case) / case.work.messages * 1e6)
                yield Operation(
                    name=name,
                    world="mpi",
                    library=record.world.library or "mpi",
                    ranks=record.world.ranks,
                    empty_us=gap_us,
                    gap_us=gap_us,
                    source=_SOURCE,
                )


def transfers(records: Sequence[Record]) -> list[MeasuredTransfer]:
    """The exchange between host memories, as a transfer; single messages, one way and both ways."""
    sent = [record for record in records if record.benchmark.name == MESSAGES]
    if not sent:
        return []
    one = sent[0]
    segments = legs.fit_legs(sent).exchange
    return [
        MeasuredTransfer(transport=one.transport_name, approach=one.approach, segments=segments),
        *_single(records, ONE_WAY, 0.5),
        *_single(records, BOTH_WAYS, 1.0),
    ]


def _single(records: Sequence[Record], test: str, share: float) -> Iterator[MeasuredTransfer]:
    """A message on its own: ``share`` of an operation of one of OSU's tests."""
    from plumbline.fit.segments import fit_segments, undisturbed

    best: dict[int, float] = {}
    for case in (case for record in records for case in record.cases):
        if case.labels.get("test") == test and case.summary is not None:
            size, seconds = int(str(case.labels["bytes"])), undisturbed_s(case) * share
            best[size] = min(best.get(size, seconds), seconds)
    points = undisturbed([Point(1, size, seconds) for size, seconds in best.items()])
    if points:
        yield MeasuredTransfer(transport=test, approach=None, segments=fit_segments(points))
