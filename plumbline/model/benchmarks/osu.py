"""OSU's tests over MPI: messages between two ranks, and collectives.

*Hockney*: a message of k bytes takes alpha + k/B, by segments of the size (R. Hockney, "The
communication challenge for MPP", Parallel Computing 20(3), 1994). *LogGP*: of a window each message
starts max(g, k G) after the one before, G = 1/B, and an empty message confirms them (Alexandrov et
al., SPAA 1995). *Collectives* take the least of the usual algorithms' times
(:mod:`plumbline.model.benchmarks.collectives`), reductions with the time of combining two vectors
through memory, if that is known. Their messages are exchanges, one each way at once; those of
collectives with a root go one way, and without barriers the root does not wait for the others: then
the latency of an empty message is hidden, down to the gap. A persistent request adds its start, the
difference of the gaps: once to a collective, on both sides to a message.

*A case of a record*: one operation; of a latency test a round trip, of a bandwidth test a window.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from plumbline.base.errors import UsageError
from plumbline.model.benchmarks.collectives import algorithms
from plumbline.model.message_cost import Cost, by_name, operation_of
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.transfer import HOST
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.operations import BOTH_WAYS, ONE_WAY, SEND, START
from plumbline.system.system import Figures, Need

# --- equations ------------------------------------------------------------------------------------


def round_trip_s(message_s: float) -> float:
    """A message there and one back."""
    return 2 * message_s


def window_s(messages: float, one_s: float, byte_s: float, gap_s: float, empty_s: float) -> float:
    """A window: the first message, a gap or its bytes for each other one, and the confirmation."""
    return one_s + (messages - 1) * max(gap_s, byte_s) + empty_s


def streamed_s(whole_s: float, empty_s: float, gap_s: float) -> float:
    """A message among many one way that nobody answers: without the latency of an empty one."""
    return max(gap_s, whole_s - empty_s)


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "osu"
NEEDS: Need = "work"
TRANSPORTS = frozenset({"none"})
LATENCY = Bound("messages", advice="The library, or cores that share a cache, make it shorter.")
WINDOW = Bound("window of messages", advice="A larger --window-size confirms less often.")
ROOTED = frozenset({"bcast", "reduce", "gather", "scatter"})  # data goes one way, along a tree
_ONE_WAY = re.compile(r"osu_(latency|multi_lat|latency_persistent)")
_WINDOWS = re.compile(r"osu_(bw|mbw_mr|bw_persistent)")
_COLLECTIVE = re.compile(
    r"osu_(barrier|bcast|reduce|allreduce|allgather|alltoall|gather|scatter|reduce_scatter)"
    r"(?:_block)?v?(?:_persistent)?"
)


def describe(_record: Record, _figures: Figures) -> str:
    """The models."""
    return "Hockney (latency), LogGP (windows), least of the usual algorithms (collectives)"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of an operation of each test that has a model."""
    return {case.key: _expected(record, case, figures) for case in record.cases}


def _expected(record: Record, case: Case, figures: Figures) -> Prediction:
    test, size = case.label("test"), case.labels.get("bytes", 0)
    pair = {case.labels.get("from", "H"), case.labels.get("to", "H")}
    if "device" in case.facts or "library" in case.facts or pair != {"H"}:
        return Prediction.unknown("no model for buffers on devices")
    try:
        return _of_test(test, float(str(size)), record, case, figures)
    except UsageError as error:
        return Prediction.unknown(str(error))


def _of_test(test: str, size: float, record: Record, case: Case, figures: Figures) -> Prediction:
    one_way, exchange = _messages(figures, ONE_WAY), _messages(figures, BOTH_WAYS)
    start = _start_s(test, record, figures)
    if _ONE_WAY.fullmatch(test):
        return Prediction.in_turn({LATENCY: round_trip_s(one_way(1, size) + 2 * start)})
    if _WINDOWS.fullmatch(test):
        one, two = one_way(1, size), one_way(2, size)
        each = _gap_s(record, figures, SEND) + start
        whole = window_s(max(case.work.messages, 1), one, two - one, each, one_way(1, 4))
        return Prediction.in_turn({WINDOW: whole})
    collective = _COLLECTIVE.fullmatch(test)
    if collective is None:
        raise UsageError(f"no model for {test}")
    operation, ranks = collective[1], record.world.ranks
    if operation in ("alltoall", "gather", "scatter"):
        size *= ranks
    streams = operation in ROOTED and record.measuring.sync != "barrier"
    gap = _gap_s(record, figures, SEND) if streams and _has(figures, SEND) else None

    def message(length: float) -> float:
        if operation not in ROOTED:
            return exchange(1, length)
        whole = one_way(1, length)
        return whole if gap is None else streamed_s(whole, one_way(1, 0), gap)

    times = algorithms(operation, ranks, size, message, _combine(figures.device))
    times = {name: seconds + start for name, seconds in times.items()}
    bound = min(times, key=times.__getitem__)
    return Prediction(times[bound], bound, times)


def _messages(figures: Figures, test: str) -> Cost:
    """Single messages as that test measures them; otherwise b_eff's, two at once each way."""
    return by_name(figures, test if figures.transfer(test, None) else "mpi", HOST)


def _has(figures: Figures, name: str) -> bool:
    return any(row.name == name for row in figures.operations)


def _gap_s(record: Record, figures: Figures, name: str) -> float:
    return operation_of(figures.operations, record.world.kind, name).stream_s(0)


def _start_s(test: str, record: Record, figures: Figures) -> float:
    """The time that a persistent request adds to its message or collective; 0 without one."""
    if not test.endswith("_persistent"):
        return 0.0
    return max(_gap_s(record, figures, START) - _gap_s(record, figures, SEND), 0.0)


def _combine(device: DeviceTable | None) -> Callable[[float], float]:
    """Two vectors read and one written through memory; nothing if memory is unknown."""

    def seconds(size: float) -> float:
        return (device.memory_s(2 * size, size) if device else None) or 0.0

    return seconds
