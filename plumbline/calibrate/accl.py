"""Derives ACCL's figures l_k, l_m and l_c from ``b_eff --part command``, ``copy`` and its messages.

On boards they are of boards; over the software engine they are its own, said to be emulated, and
``plumb advise`` leaves them out. Messages are ping-pong: half of a round trip is 2 l_k + l_m + l_c
(buffered, eq. 5.1) or l_k + l_c (streaming, Meyer 2024, section 5.1.4); l_c is what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plumbline.model.messages import EAGER, STREAMED
from plumbline.record.record import Case, Record
from plumbline.system.segments import Segment
from plumbline.system.system import Accl, Commands, Copies, Point, Stack

BENCHMARK = "b_eff"
PREFIX = "accl-"  # of the transports that have these figures
DECIDING = ("runtime", "device", "device-map", "memory", "transport", "approach")
_FIXED = ("--replications", "1", "--time-limit", "0.01")
_SIZES = ("--min-size", "0", "--max-size", "20")
_COPIES = 2  # at once: to both neighbours
_LEAST_US = 1e-6


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records of commands, copies and messages; ``start`` runs a benchmark with options."""
    return [
        start(BENCHMARK, ("--part", "command", *_FIXED)),
        start(BENCHMARK, ("--part", "copy", *_SIZES, *_FIXED)),
        start(BENCHMARK, ("--form", "ping-pong", *_SIZES, *_FIXED)),
    ]


def table(records: Sequence[Record]) -> Accl:
    """ACCL's figures from :func:`measure`'s records."""
    record = records[0]
    source = f"plumb calibrate over {record.transport_name}"
    command_s = min(s for _, s in _times(records, "command"))
    copies = _line([Point(_COPIES, size, s) for size, s in _times(records, "copy")])
    link = _line(list(_links(records, command_s, copies)))
    by_host = bool(record.transport and record.transport.scheduled_by == "host")
    command_us = command_s * 1e6
    return Accl(
        commands=Commands(
            host_us=command_us if by_host else None,
            device_us=None if by_host else command_us,
            source=source,
        ),
        copies=Copies(
            latency_us=copies.latency_us / _COPIES, gb_s=copies.bandwidth_gb_s, source=source
        ),
        stacks=[
            Stack.model_validate(
                {
                    "name": record.transport_name.removeprefix(PREFIX),
                    "latency_us": link.latency_us,
                    "gb_s": link.bandwidth_gb_s,
                    "relative_error": link.worst_error or 0.0,
                    "source": source,
                }
            )
        ],
        eager_limit_bytes=_eager_limit(record),
        emulated=record.emulated,
    )


def _times(records: Sequence[Record], part: str) -> list[tuple[int, float]]:
    """Bytes and seconds of the cases of a part."""
    cases: list[Case] = [case for record in records for case in record.cases]
    found = [(case.message_bytes() or 0, case.median_s()) for case in cases if _is(case, part)]
    return [(size, seconds) for size, seconds in found if seconds]


def _is(case: Case, part: str) -> bool:
    return (case.label("part") or "transfer") == part


def _links(records: Sequence[Record], command_s: float, copies: Segment) -> Iterator[Point]:
    """Of each message what commands and copies leave, at least a tenth of it."""
    record = records[0]
    streams = bool(record.transport and record.transport.landing == "streaming")
    (commands, copied), limit = STREAMED if streams else EAGER, _eager_limit(record)
    for size, round_trip in _times(records, "transfer"):
        if not streams and limit is not None and size > limit:
            continue
        whole = round_trip / 2
        copy_s = copies.time_s(_COPIES, size) / _COPIES * copied
        yield Point(1, size, max(whole - commands * command_s - copy_s, whole / 10))


def _eager_limit(record: Record) -> int | None:
    facts = record.transport.facts if record.transport else {}
    limit = facts.get("eager_limit_bytes")
    return limit if isinstance(limit, int) else None


def _line(points: Sequence[Point]) -> Segment:
    from plumbline.fit.segments import fit_segments, undisturbed  # SciPy takes half a second

    (segment,) = fit_segments(undisturbed(points), most=1)
    return segment.model_copy(
        update={
            "latency_us": max(segment.latency_us, _LEAST_US),
            "bandwidth_gb_s": segment.bandwidth_gb_s or 1e3,  # no cost of a byte was seen
        }
    )
