"""Derives costs of the one-sided operations of ``gups`` from short runs of ``shoms``.

Each is measured individually completed and many in a row; ``long_g`` and ``long_p`` also over
scattered words of increasing memory, for the cost of caches and page tables. No such test measures
collecting updates in buckets and applying them: this cost is derived from ``gups`` itself, on a
table of a separate size within the caches, and the cost of random words beyond the caches from
``ceilings``. Launches differ, so there are two, and the best repetition of each test counts, which
excludes other work of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plumbline.calibrate import device
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
)

BENCHMARK = "shoms"
DECIDING: tuple[str, ...] = ()
TABLE = "gups"
_SOURCE = "measured"
_TIMES = ("--time-limit", "0.03", "--min-repetitions", "6")
_SIZES = ("--minsize", "8", "--maxsize", "4096", "--size-factor", "8")
_WORD = ("--minsize", "8", "--maxsize", "8")
_SPREADS = (16, 22, 24, 26)  # log2 B
_IN_CACHES = ("--variant", "bucketed", "--size", "14", "--time-limit", "0.05")
_TABLES = (
    "--runtime",
    "native",
    "--only",
    "random/update",
    "--size",
    "19",
    "--tables",
    "4",
    "--updates",
    "20",
)
_DISTURBED = 1.25  # the second launch over the first, of most tests


def measure(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records for fits of the rows; ``start`` runs a benchmark with options."""
    single = ("--only", ",".join((GET, PUT, BULK, XOR, XOR_IN_CONTEXT, NOTICE)), *_SIZES, *_TIMES)
    words = ("--only", f"{GET},{PUT}", *_WORD, *_TIMES)
    in_a_row = ("--only", ",".join((BULK, XOR, XOR_IN_CONTEXT)), "--window", "1024")
    records = []
    for _ in range(2):
        records.append(start(BENCHMARK, single))
        records.append(start(BENCHMARK, (*in_a_row, *_SIZES, *_TIMES)))
        records += [start(BENCHMARK, (*words, "--spread", str(log2))) for log2 in _SPREADS]
        records.append(start(TABLE, _IN_CACHES))
    records.append(start(device.BENCHMARK, (*_TABLES, *_TIMES)))
    return records


def measure_messages(start: Callable[[str, Sequence[str]], Record]) -> list[Record]:
    """The records of the operations that messages of applications consist of."""
    only = ("--only", ",".join((GET, PUT, BULK, NOTICE)))
    in_a_row = ("--only", BULK, "--window", "1024")
    return [start(BENCHMARK, (*words, *_SIZES, *_TIMES)) for words in (only, in_a_row)]


def rows(records: Sequence[Record]) -> list[Operation]:
    """The operations derived from ``records``."""
    from plumbline.fit.operations import fit_operations  # SciPy takes half a second to import

    ours = [record for record in records if record.benchmark.name == BENCHMARK]
    found = fit_operations(ours, seconds_of=_best_s)[0]
    found += _collecting([record for record in records if record.benchmark.name == TABLE])
    return [row.model_copy(update={"source": _SOURCE}) for row in found]


def _collecting(records: Sequence[Record]) -> Iterator[Operation]:
    """The fastest update of the runs of ``gups``."""
    times = [
        seconds / case.work.updates
        for record in records
        for case in record.cases
        if case.label("variant") == "bucketed" and (seconds := _best_s(case))
    ]
    if times:
        world = records[0].world
        yield Operation(
            name=COLLECT,
            world="shmem" if world.kind == "shmem" else "mpi",
            library=world.library or world.kind,
            ranks=world.ranks,
            empty_us=float(f"{min(times) * 1e6:.5g}"),
            source=_SOURCE,
        )


def _best_s(case: Case) -> float | None:
    """Seconds of one count of a passed case, best repetition."""
    if case.summary is None or case.outcome.status != "passed":
        return None
    return case.summary.min_s / case.count


def updates(records: Sequence[Record]) -> DeviceTable:
    """Rate of a rank's updates of its own words, by the length of their table."""
    ours = [one for one in records if one.benchmark.name == device.BENCHMARK]
    return device.device_table(ours) if ours else DeviceTable()


def is_disturbed(records: Sequence[Record]) -> bool:
    """Whether most tests differ between the two launches."""
    times: dict[tuple[object, ...], list[float]] = {}
    for record in records:
        where = (record.parameters.get("spread"), record.parameters.get("window"))
        for case in record.cases:
            if seconds := case.median_s():
                times.setdefault((case.key, *where), []).append(seconds)
    pairs = [max(one) / min(one) for one in times.values() if len(one) > 1]
    return sum(ratio > _DISTURBED for ratio in pairs) > len(pairs) / 2
