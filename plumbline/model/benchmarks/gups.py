"""GUPS: updates of random words of a table distributed over all ranks.

Of a rank's updates 1/p are to its own words; the rest are messages of one word to others, of which
``window`` are in progress at once. Rates in updates a second, times in seconds.

*A case of a record.* An update's operations by LogGP, and the additional time of scattered words. A
call for the rank's own part goes through the library, too; it is assumed to cost as much as one for
another rank's part.

*A forecast.* Updates of random words of a table of ``size`` bytes over all ranks, a message each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.benchmarks import random_access
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    beyond,
    bitstream_of,
    device_of,
    message_of,
    own_update_s,
    size_of,
)
from plumbline.model.message_cost import operation_of
from plumbline.model.prediction import Bound, Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.operations import (
    BULK,
    COLLECT,
    GET,
    NOTICE,
    PUT,
    XOR,
    XOR_IN_CONTEXT,
    Operation,
    scattered_s,
)
from plumbline.system.system import Figures, Need, System

# --- equations ------------------------------------------------------------------------------------


def update_s(
    ranks: ArrayLike, local_s: ArrayLike, remote_s: ArrayLike, window: ArrayLike = 1
) -> Floats:
    """One update of one rank, on average: local/p + (1 - 1/p) remote/window."""
    own = 1 / floats(ranks)
    return floats(own * floats(local_s) + (1 - own) * floats(remote_s) / floats(window))


def machine_rate(
    ranks: ArrayLike, local_s: ArrayLike, remote_s: ArrayLike, window: ArrayLike = 1
) -> Floats:
    """Updates a second of all ranks; never above p updates at a time of a rank's own memory."""
    slowest = np.maximum(update_s(ranks, local_s, remote_s, window), floats(local_s))
    return floats(floats(ranks) / slowest)


# --- a table in the memory of all ranks, each of which updates all of it --------------------------
#
# Each operation is complete, or atomic, before the next, so a rank waits for each word's cache
# line. Every rank works at once. All times are seconds an update of one rank.

LOOK_AHEAD = 1024  # updates of a rank not yet applied (HPC Challenge's rule)
POOL = LOOK_AHEAD // 4  # of them wait in buckets
WORD_BYTES = 8


def held_share(table: ArrayLike, caches: ArrayLike) -> Floats:
    """The share of the table's lines in caches of ``caches`` bytes: min(1, caches/table)."""
    return floats(np.minimum(1, floats(caches) / floats(table)))


def in_a_row_s(latency_s: ArrayLike, gap_s: ArrayLike) -> Floats:
    """Atomics in sequence, completed once per look-ahead: a gap each, a latency per 1,024."""
    rest = np.maximum(floats(latency_s) - floats(gap_s), 0)
    return floats(floats(gap_s) + rest / LOOK_AHEAD)


def bucket_updates(ranks: ArrayLike) -> Floats:
    """Updates in a sent bucket: 2 pool / (p + 1).

    The fullest of p buckets is sent when together they hold the pool. They fill at the same rate,
    so they hold 1/p, 2/p ... p/p of the fullest one: (p + 1)/2 of it in total.
    """
    return floats(2 * POOL / (floats(ranks) + 1))


def bucket_share_s(ranks: ArrayLike, message_s: ArrayLike) -> Floats:
    """An update's share of its bucket's messages, needed for 1 - 1/p of all buckets."""
    return floats((1 - 1 / floats(ranks)) * floats(message_s) / bucket_updates(ranks))


def look_ahead_s(ranks: ArrayLike, round_trip_s: ArrayLike) -> Floats:
    """Minimum time per update with at most the look-ahead minus the pool in transit.

    ``round_trip_s`` is the time from sending a bucket to its acknowledgement.
    """
    return floats((1 - 1 / floats(ranks)) * floats(round_trip_s) / (LOOK_AHEAD - POOL))


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "gups"
NEEDS: Need = "operations"
TRANSPORTS = frozenset({"none"})
_LATENCY = Bound("latency of messages", "message latency")
_GAP = Bound("gap of messages", "message gap")
_SCATTERED = Bound("scattered words", "scattered words")
_OWN = Bound("own updates", "own updates")
_BUCKETS = Bound("buckets", "buckets")
_AHEAD = Bound("look-ahead", "look-ahead")


@dataclass(frozen=True)
class _Known:
    """The system's figures of the run's world, and the table of a case."""

    record: Record
    operations: Sequence[Operation]
    device: DeviceTable
    table_bytes: int

    def operation(self, *names: str) -> Operation:
        """The first known one of ``names``, for words in caches."""
        return operation_of(self.operations, self.record.world.kind, *names)

    def fetching_s(self) -> float:
        """Additional seconds of a word that must be fetched from another cache or memory."""
        return self._scattered_s(GET, self.table_bytes)

    def taking_s(self) -> float:
        """Additional seconds of a write to a word shared with other caches."""
        own = self.record.ranks[0].device
        held = held_share(self.table_bytes, own.cache_bytes if own else 0)
        return float(held) * self._scattered_s(PUT, 1)

    def _scattered_s(self, name: str, size: int) -> float:
        seconds = scattered_s(self.operations, name, size)
        if seconds is None:
            raise UsageError(f"the system has no operation {name} over scattered words")
        return seconds

    def farther_s(self) -> float:
        """Additional seconds of an own word in this part of the table, over a short one."""
        part = self.table_bytes // self.ranks
        here = self.device.updates_s(1, part, atomic=False)
        short = self.device.updates_s(1, 1, atomic=False)
        if here is None or short is None:
            raise UsageError("the system has no rate of random updates")
        return max(here - short, 0.0)

    @property
    def ranks(self) -> int:
        """All ranks."""
        return self.record.world.ranks


def describe(_record: Record, _figures: Figures) -> str:
    """The terms of the sum."""
    return "operations by LogGP (SHOMS) + scattered words"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count (all updates within the time limit) of each variant."""
    kind = record.world.kind
    rows = [row for row in figures.operations if row.world == kind]
    return {case.key: _expectation(record, case, rows, figures) for case in record.cases}


def _expectation(
    record: Record, case: Case, rows: Sequence[Operation], figures: Figures
) -> Prediction:
    variant, size = case.label("variant"), case.labels.get("table_bytes")
    parts_of = _VARIANTS.get(variant)
    if parts_of is None or not isinstance(size, int):
        return Prediction.unknown(f"no model for the variant {variant}")
    if not rows:
        return Prediction.unknown(
            f"the system has no one-sided operations over {record.world.kind}"
        )
    if record.world.ranks < 2:
        return Prediction.unknown("a single rank sends nothing")
    try:
        parts = parts_of(_Known(record, rows, figures.device or DeviceTable(), size), case)
    except UsageError as error:
        return Prediction.unknown(str(error))
    done = case.facts.get("updates_done", 1.0)
    updates = case.work.updates * (done if isinstance(done, int | float) else 1.0)
    parts = {name: seconds * updates for name, seconds in parts.items()}
    return Prediction.in_turn(parts)


def _get_put(known: _Known, _case: Case) -> dict[str, float]:
    get, put = known.operation(GET), known.operation(PUT)
    return {
        _LATENCY: get.empty_s + put.empty_s,
        _SCATTERED: known.fetching_s() + known.taking_s(),
    }


def _atomic(known: _Known, _case: Case) -> dict[str, float]:
    return _in_a_row(known, known.operation(XOR), 1)


def _threaded(known: _Known, case: Case) -> dict[str, float]:
    """Threads beyond a rank's cores take turns."""
    asked = case.labels.get("threads")
    threads = asked if isinstance(asked, int) else 1
    cores = min((len(rank.cores) for rank in known.record.ranks if rank.cores), default=threads)
    return _in_a_row(known, known.operation(XOR_IN_CONTEXT, XOR), min(threads, cores))


def _in_a_row(known: _Known, xor: Operation, at_once: int) -> dict[str, float]:
    each = in_a_row_s(xor.empty_s, xor.stream_s(WORD_BYTES))
    return {
        _GAP: float(each) / at_once,
        _SCATTERED: known.fetching_s() / at_once,
    }


def _bucketed(known: _Known, _case: Case) -> dict[str, float]:
    """If the look-ahead bounds, its waiting time is a separate part."""
    put, notice, collect = (known.operation(name) for name in (BULK, NOTICE, COLLECT))
    updates = float(bucket_updates(known.ranks))
    size = WORD_BYTES * (1 + updates)
    # The sender puts and notifies; the receiver notifies once the bucket is taken.
    message = put.stream_s(size) + 2 * notice.empty_s
    buckets = float(bucket_share_s(known.ranks, message))
    own = max(collect.empty_s - buckets, 0.0) + known.farther_s()
    round_trip = put.latency_s(size) + 2 * notice.empty_s + updates * own
    waiting = float(look_ahead_s(known.ranks, round_trip))
    parts = {_OWN: own, _BUCKETS: buckets, _AHEAD: waiting - own - buckets}
    return {name: seconds for name, seconds in parts.items() if seconds > 0}


_VARIANTS: dict[str, Callable[[_Known, Case], dict[str, float]]] = {
    "get-put": _get_put,
    "atomic": _atomic,
    "threaded": _threaded,
    "bucketed": _bucketed,
}


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "updates", "GUP/s"
EQUATION = "p / (local/p + (1 - 1/p) message/window); docs/models.md"
SIZE = "bytes of the table"
GROWS = "ranks"
RANKS = (2, 4, 8, 16)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True
_WORD = 8


def sizes(_system: System) -> list[float]:
    """4 GiB."""
    return [2.0**32]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """As many updates as the table has words."""
    device, table = device_of(system), size_of(scenario, "size")
    kernel = bitstream_of(system, "random_access", Scenario(type=scenario.type))
    if kernel is not None:
        local_s = 1 / min(random_access.board_rates(device, kernel).values())
    else:
        own = int(table / scenario.ranks)
        local_s = own_update_s(device, own)
    remote_s = float(message_of(system, scenario).seconds(_WORD)) if scenario.ranks > 1 else 0.0
    rate = float(machine_rate(scenario.ranks, local_s, remote_s, scenario.window))
    share = 1 / scenario.ranks
    parts = {
        "memory": share * local_s,
        "messages": (1 - share) * remote_s / scenario.window,
    }
    bound = "messages" if parts["messages"] > parts["memory"] else "memory"
    return Forecast(
        Prediction(table / _WORD / rate, bound, parts),
        rate * 1e-9,
        None,
        beyond(system, scenario, table / scenario.ranks),
    )
