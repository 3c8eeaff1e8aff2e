"""The cost of messages between two ranks, for the models of applications.

A cost gives the seconds until ``messages`` messages of ``size`` bytes, sent by one rank at once,
are where they are needed.

two-sided    the transport's transfer as measured, or its legs in turn (:mod:`plumbline.model.legs`)
signal       a put of each, complete, and a notice behind the last
barrier      ceil(log2 p) rounds of notices, then a get of each

Puts, gets and notices are LogGP's (:mod:`plumbline.system.operations`): a get is the round trip of
a word, and the gap of each further byte as of a put. Over MPI's windows, whose operations nothing
measures, each is assumed to cost as much as a two-sided message between host memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2

from plumbline.base.errors import UsageError
from plumbline.model.legs import LEGS_OF
from plumbline.model.transfer import HOST, Transfer
from plumbline.record.record import Record
from plumbline.system.operations import BULK, GET, NOTICE, PUT, Operation
from plumbline.system.segments import time_of
from plumbline.system.system import Figures

_WORD = 8
Cost = Callable[[float, float], float]  # messages, size: seconds


@dataclass(frozen=True)
class OneSided:
    """Seconds of a put and a get, complete, by their size; of a notice; of a word put in a row."""

    put: Callable[[float], float]
    get: Callable[[float], float]
    notice_s: float
    word_s: float


def by_transport(record: Record, figures: Figures) -> Cost:
    """Messages of a run by its transport. Raises :class:`UsageError` for a missing figure.

    Without a transport they are the world's own: a reduction's.
    """
    name, approach = record.transport_name, record.approach
    if name == "none":
        name, approach = record.world.kind, HOST
    if name == "shmem" and figures.transfer(name, approach) is None:
        return by_signals(one_sided(record, figures))  # a put and a notice, as this transport sends
    return by_name(figures, name, approach)


def by_name(figures: Figures, name: str, approach: str | None) -> Cost:
    """Messages by the transport of that name. Raises :class:`UsageError` for a missing figure."""
    whole = figures.transfer(name, approach)
    if whole is not None:
        return lambda messages, size: time_of(whole.segments, messages, size) or 0.0
    legs = figures.legs
    lists = [legs.segments(leg) for leg in LEGS_OF.get(name, ())] if legs else []
    if not lists or not all(lists):
        raise UsageError(f"the system has no figures of the transport {name}")
    return lambda messages, size: sum(time_of(one, messages, size) or 0.0 for one in lists)


def by_transfer(transfer: Transfer) -> Cost:
    """Messages of a forecast: the first one's latency, and the bandwidth's share of all."""
    return lambda messages, size: float(transfer.seconds(messages * size))


def free(_messages: float, _size: float) -> float:
    """Messages of a single rank, which sends none."""
    return 0.0


def one_sided(record: Record, figures: Figures) -> OneSided:
    """The operations of a run's world. Raises :class:`UsageError` for a missing figure."""
    world = record.world.kind
    puts = any((row.world, row.name) == (world, BULK) for row in figures.operations)
    if world == "mpi" and not puts:
        message = by_name(figures, "mpi", HOST)
        word = message(1, _WORD)
        return OneSided(lambda size: message(1, size), lambda size: message(1, size), word, word)
    put, get, notice = (operation_of(figures.operations, world, one) for one in (BULK, GET, NOTICE))
    return OneSided(
        put.latency_s,
        lambda size: get.empty_s + put.latency_s(size) - put.empty_s,
        notice.empty_s,
        operation_of(figures.operations, world, PUT, BULK).stream_s(_WORD),
    )


def by_signals(by: OneSided) -> Cost:
    """Puts with a notice."""
    return lambda messages, size: messages * by.put(size) + by.notice_s


def by_barriers(by: OneSided, ranks: int) -> Cost:
    """A barrier, then gets."""
    barrier = ceil(log2(max(ranks, 1))) * by.notice_s
    return lambda messages, size: barrier + messages * by.get(size)


def by_form(record: Record, figures: Figures, form: str) -> Cost:
    """Messages of a run in one of the forms above. Raises :class:`UsageError`."""
    if form == "signal":
        return by_signals(one_sided(record, figures))
    if form == "barrier":
        return by_barriers(one_sided(record, figures), record.world.ranks)
    return by_transport(record, figures)


def operation_of(operations: Sequence[Operation], world: str, *names: str) -> Operation:
    """The first known one of ``names`` for words in caches. Raises :class:`UsageError`."""
    own = [row for row in operations if row.world == world and row.spread_bytes is None]
    for name in names:
        for row in own:
            if row.name == name:
                return row
    if own:
        raise UsageError(f"the system has no operation {names[0]}")
    raise UsageError(f"the system has no one-sided operations over {world}")


def exposed_s(message_s: float, overlapped_s: float) -> float:
    """The part of a message's time that no work covers: max(0, message - overlapped)."""
    return max(0.0, message_s - overlapped_s)
