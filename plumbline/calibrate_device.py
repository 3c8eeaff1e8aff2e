"""Learns a device's limits from the benchmark ``ceilings``, which is none of those that are judged.

A first launch tells the device and what launches of kernels cost; the arrays' lengths follow from
its caches and its memory. Two more launches (launches differ) measure the rest with all ranks at
work; the middle of the medians counts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2

from plumbline.device_table import (
    DeviceTable,
    Launch,
    Link,
    Memory,
    Peak,
    RandomUpdates,
)
from plumbline.record import Case, Device, Record
from plumbline.roofline import CACHES
from plumbline.segments import Segment

BENCHMARK = "ceilings"
DECIDING = ("runtime", "device", "device-map", "memory")
_LAUNCHES = 2
_FIXED = ("--time-limit", "0.1")
_SOURCE = "measured"
_LARGEST_TABLE_LOG = 33
# Arrays where nobody knows a cache, and on GPUs, whose launches are short beside them.
_ARRAY_LOG = {"gpu": 30}
_DEFAULT_ARRAY_LOG = 27
_DISTURBED_WIDTH = 0.1
_DISTURBED_SHARE = 0.25


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records that limits are read from; ``start`` runs a benchmark with options."""
    first = start(BENCHMARK, ("--only", "launch", *_FIXED))
    words = ("--only", "flops,memory,random,link", *sizes(first), *_FIXED)
    return [first, *(start(BENCHMARK, words) for _ in range(_LAUNCHES))]


def sizes(record: Record) -> list[str]:
    """The options of ``ceilings`` that fit the device of ``record``.

    Arrays are four times the last caches or longer, tables of random updates also eight times as
    long where a quarter of the memory holds them.
    """
    device = record.ranks[0].device
    if device is None:
        return []
    room = log2(max(_memory_of_a_rank(record, device), 1)) - 2
    array = max(_array_log(device), ceil(log2(max(CACHES * device.cache_bytes, 1))))
    array = int(min(array, room))
    tables = 2 if array + 3 <= min(room, _LARGEST_TABLE_LOG) else 1
    gpu = device.type == "gpu"
    numbers = device.compute_units * (2048 * 8 if gpu else 1024)
    return [
        *("--size", str(array)),
        *("--tables", str(tables)),
        *("--updates", "24" if gpu else "20"),
        *("--accumulators", str(max(4, ceil(numbers / 4096)) * 4096)),
    ]


def device_table(records: Sequence[Record]) -> DeviceTable:
    """The limits that ``records`` tell of one rank while all are at work."""
    device = records[0].ranks[0].device
    medians = _medians(records)
    launch = _launch(medians)
    return DeviceTable(
        name=device.name if device else None,
        cache_bytes=device.cache_bytes if device else None,
        memory=list(_memory(medians)),
        peaks=list(_peaks(medians)),
        random=list(_random(medians)),
        launch=launch,
        link=Link(read=_link(medians, "read"), write=_link(medians, "write")),
    )


def is_disturbed(records: Sequence[Record]) -> bool:
    """Whether the intervals of many cases are so wide that something else was at work."""
    widths = [
        (interval[1] - interval[0]) / 2 / median
        for record in records
        for case in record.cases
        if (interval := case.interval_s()) and (median := case.median_s())
    ]
    wide = sum(width > _DISTURBED_WIDTH for width in widths)
    return wide > _DISTURBED_SHARE * len(widths)


Medians = dict[str, tuple[Case, float]]


def _medians(records: Sequence[Record]) -> Medians:
    """Each case that was measured, and the middle of its medians.

    A median more than twice the lowest was disturbed by something else, and does not count.
    """
    found: dict[str, tuple[Case, list[float]]] = {}
    for record in records:
        for case in record.cases:
            if (median := case.median_s()) is not None and case.outcome.status == "passed":
                found.setdefault(case.key, (case, []))[1].append(median)
    return {
        key: (case, statistics.geometric_mean([s for s in seconds if s <= 2 * min(seconds)]))
        for key, (case, seconds) in found.items()
    }


def _of(medians: Medians, limit: str) -> Iterator[tuple[Case, float]]:
    return ((case, seconds) for case, seconds in medians.values() if case.label("limit") == limit)


def _memory(medians: Medians) -> Iterator[Memory]:
    for case, seconds in _of(medians, "memory"):
        rate = (case.work.bytes_read + case.work.bytes_written) / seconds
        yield Memory.model_validate(
            {"access": case.label("operation"), "gb_s": _rounded(rate * 1e-9), "source": _SOURCE}
        )


def _peaks(medians: Medians) -> Iterator[Peak]:
    for case, seconds in _of(medians, "flops"):
        yield Peak.model_validate(
            {
                "type": case.label("type"),
                "units": case.label("units") or "vector",
                "gflop_s": _rounded(case.work.flops / seconds * 1e-9),
                "source": _SOURCE,
            }
        )


def _random(medians: Medians) -> Iterator[RandomUpdates]:
    for case, seconds in _of(medians, "random"):
        yield RandomUpdates(
            table_bytes=int(case.label("bytes")),
            atomic=case.label("operation") == "atomic",
            gup_s=_rounded(case.work.updates / seconds * 1e-9),
            source=_SOURCE,
        )


def _launch(medians: Medians) -> Launch | None:
    times = {case.label("operation"): seconds for case, seconds in _of(medians, "launch")}
    if not {"wait", "row"} <= times.keys():
        return None
    return Launch(
        wait_us=_rounded(times["wait"] * 1e6), row_us=_rounded(times["row"] * 1e6), source=_SOURCE
    )


def _link(medians: Medians, direction: str) -> list[Segment]:
    """The line through the shortest and the longest copy."""
    points = sorted(
        (int(case.label("bytes")), seconds)
        for case, seconds in _of(medians, "link")
        if case.label("operation") == direction
    )
    if len(points) < 2:
        return []
    (_, short_s), (long, long_s) = points[0], points[-1]
    latency = min(short_s, long_s)
    bandwidth = long / (long_s - latency) if long_s > latency else None
    return [
        Segment(
            latency_us=_rounded(latency * 1e6),
            bandwidth_gb_s=_rounded(bandwidth * 1e-9) if bandwidth else None,
            source=_SOURCE,
        )
    ]


def _array_log(device: Device) -> int:
    return _ARRAY_LOG.get(device.type, _DEFAULT_ARRAY_LOG)


def _memory_of_a_rank(record: Record, device: Device) -> float:
    """Bytes of memory for one of the ranks that share a host, and so its memory or its devices."""
    on_host = max(
        sum(rank.host == host for rank in record.ranks) for host in range(len(record.hosts))
    )
    return device.memory_bytes / on_host


def _rounded(number: float) -> float:
    return float(f"{number:.5g}")
