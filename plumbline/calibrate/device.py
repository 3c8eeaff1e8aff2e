"""Derives a device's limits from the benchmark ``ceilings``, which itself is never judged.

A first launch gives the device and the cost of kernel launches; the arrays' lengths follow from its
caches and its memory. The next launches measure, with all ranks at work, either the limits of most
models, or random updates, whose tables take longer to set up and to check than all the rest.
Launches differ (in their pages, in other work of the machine), so limits are measured until the
best two agree, and the better counts.

No limit gives the share of peak arithmetic for kernels that also move data between registers,
caches and memory. So products of a separate size (``gemm``) are measured with the limits, in each
type, and their share of the peak is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2
from typing import Any

from plumbline.base.units import rounded
from plumbline.model.limits import LIMITS, SOURCE
from plumbline.model.roofline import CACHES
from plumbline.record.record import Case, Device, Record
from plumbline.system.device import DeviceTable, Kernel
from plumbline.system.system import Need

BENCHMARK = "ceilings"
DECIDING = ("runtime", "device", "device-map", "memory")
_FIXED = ("--time-limit", "0.1", "--min-repetitions", "6")
_LARGEST_TABLE_LOG = 33
# Arrays if the caches are unknown, and on GPUs, where they are long compared with a launch.
_ARRAY_LOG = {"gpu": 30}
_DEFAULT_ARRAY_LOG = 27
_MOST_LAUNCHES = 4
_AGREED = 1.1  # the second best time of every case over the best
PRODUCTS = "gemm"
# Rows of the matrices: enough to occupy every unit, few enough for a short check.
_ROWS = {"gpu": 2048}
_DEFAULT_ROWS = 512
_TYPES = {"gpu": ("float", "double", "half", "tf32")}
_DEFAULT_TYPES = ("float", "double")
_DISTURBED_WIDTH = 0.1
_DISTURBED_SHARE = 0.25


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records for limits; ``start`` runs a benchmark with options.

    Products are measured between the launches for limits, so that a disturbance of some seconds
    does not affect both.
    """
    first, words = _first(start, "device")
    limits = [start(BENCHMARK, words)]
    device = first.ranks[0].device
    kind = device.type if device else ""
    rows = str(_ROWS.get(kind, _DEFAULT_ROWS))
    products = [
        start(PRODUCTS, ("--type", number, "--size", rows, *_FIXED))
        for number in _TYPES.get(kind, _DEFAULT_TYPES)
    ]
    limits.append(start(BENCHMARK, words))
    while len(limits) < _MOST_LAUNCHES and not _agree(limits):
        limits.append(start(BENCHMARK, words))
    return [first, *limits, *products]


def measure_updates(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records for rates of random updates."""
    first, words = _first(start, "updates")
    return [first, start(BENCHMARK, words)]


def _first(
    start: Callable[[str, Sequence[str]], Record], need: Need
) -> tuple[Record, tuple[str, ...]]:
    """The launch that gives the device, and the options for measuring its limits."""
    cases = dict.fromkeys(limit.cases for limit in LIMITS if limit.need == need)
    limits = ",".join(name for name in cases if name != "launch")
    record = start(BENCHMARK, ("--only", "launch", *_FIXED))
    return record, ("--only", limits, *sizes(record), *_FIXED)


def _agree(records: Sequence[Record]) -> bool:
    """Whether the second best time of every case is near the best."""
    by_key: dict[str, list[float]] = {}
    for case in (one for record in records for one in record.cases):
        if case.summary and case.outcome.status == "passed":
            by_key.setdefault(case.key, []).append(case.summary.min_s / case.count)
    pairs = [sorted(times)[:2] for times in by_key.values() if len(times) > 1]
    return all(second <= _AGREED * first for first, second in pairs)


def sizes(record: Record) -> list[str]:
    """The options of ``ceilings`` that fit the device of ``record``.

    Arrays are four times the last caches or longer; tables of random updates have that length, and
    also eight times that if they fit a quarter of the memory.
    """
    device = record.ranks[0].device
    if device is None:
        return []
    gpu = device.type == "gpu"
    room = log2(max(_memory_of_a_rank(record, device), 1)) - 2
    array = max(_array_log(device), ceil(log2(max(CACHES * device.cache_bytes, 1))))
    # Two arrays, and on a CPU in the same memory as three more for their check.
    array = int(min(array, room if gpu else room - 1))
    tables = 2 if array + 3 <= min(room, _LARGEST_TABLE_LOG) else 1
    numbers = device.compute_units * (2048 * 8 if gpu else 1024)
    return [
        *("--size", str(array)),
        *("--tables", str(tables)),
        *("--updates", "24" if gpu else "20"),
        *("--accumulators", str(max(4, ceil(numbers / 4096)) * 4096)),
    ]


def device_table(records: Sequence[Record]) -> DeviceTable:
    """The limits of one rank, with all at work, from ``records``."""
    device = records[0].ranks[0].device
    times = _best_times([one for one in records if one.benchmark.name != PRODUCTS])
    products = _best_times([one for one in records if one.benchmark.name == PRODUCTS])
    found: dict[str, Any] = {}
    for limit in LIMITS:
        value = limit.learn([one for one in times if one[0].label("limit") == limit.cases])
        if isinstance(value, list):
            value = [*found.get(limit.field, []), *value]
        found[limit.field] = value
    table = DeviceTable(
        name=device.name if device else None,
        cache_bytes=device.cache_bytes if device else None,
        **found,
    )
    return table.model_copy(update={"kernels": list(_kernels(products, table))})


def is_disturbed(records: Sequence[Record]) -> bool:
    """Whether the intervals of many cases are wide enough to indicate other work."""
    widths = [
        (interval[1] - interval[0]) / 2 / median
        for record in records
        for case in record.cases
        if (interval := case.interval_s()) and (median := case.median_s())
    ]
    wide = sum(width > _DISTURBED_WIDTH for width in widths)
    return wide > _DISTURBED_SHARE * len(widths)


def _best_times(records: Sequence[Record]) -> list[tuple[Case, float]]:
    """Seconds of one count of each passed case, best repetition, as these are limits."""
    best: dict[str, tuple[Case, float]] = {}
    for case in (one for record in records for one in record.cases):
        if case.summary and case.outcome.status == "passed":
            seconds = case.summary.min_s / case.count
            if case.key not in best or seconds < best[case.key][1]:
                best[case.key] = (case, seconds)
    return list(best.values())


def _kernels(products: Sequence[tuple[Case, float]], table: DeviceTable) -> Iterator[Kernel]:
    """Each product's share of the peak of its units."""
    for case, seconds in products:
        type_ = case.label("type")
        matrix = str(case.facts.get("matrix_units", "")) not in ("", "none")
        peak_s = table.peak_s(case.work.flops, type_, matrix=matrix)
        if peak_s is None or (matrix and not table.knows_matrix_units(type_)):
            continue
        yield Kernel.model_validate(
            {
                "benchmark": PRODUCTS,
                "type": type_,
                "variant": str(case.facts.get("variant", "")),
                "units": "matrix" if matrix else "vector",
                "share_of_peak": rounded(peak_s / seconds),
                "source": SOURCE,
            }
        )


def _array_log(device: Device) -> int:
    return _ARRAY_LOG.get(device.type, _DEFAULT_ARRAY_LOG)


def _memory_of_a_rank(record: Record, device: Device) -> float:
    """Bytes of memory per rank, as ranks of a host share its memory or its devices."""
    on_host = max(
        sum(rank.host == host for rank in record.ranks) for host in range(len(record.hosts))
    )
    return device.memory_bytes / on_host
