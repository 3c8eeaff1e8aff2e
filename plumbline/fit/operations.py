"""One-sided operations from records of ``shoms``: LogGP's figures, with intervals.

A count of a test is one operation on each other PE in turn; operations that need a completion are
completed one by one (``--window 1``), or many together, whose times are then gaps. The tests ``p``
and ``g`` move single elements, so their longer messages are sequences of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median_low

from plumbline.base.units import rounded
from plumbline.fit.figures import SOURCE, Figure, Fitted, measured, noise_of
from plumbline.fit.regression import Estimate, fit_loggp, robust_line
from plumbline.record.record import Case, Record
from plumbline.system.operations import Operation

BENCHMARK = "shoms"
_OF_ELEMENTS = ("p", "g")
_TRANSFERS = ("p", "g", "put", "get", "iput", "iget", "put_nbi", "get_nbi")
_ATOMICS = ("add", "inc", "set", "and", "or", "xor")
_FETCHING = ("swap", "cswap", "fadd", "finc", "fetch", "fetch_and", "fetch_or", "fetch_xor")
# Calls that return a fetched value are complete on return.
_COMPLETE = ("g", "get", "iget", *_FETCHING)
_IN_A_ROW = 64  # operations between two completions, whose times are gaps

_Times = dict[int, list[float]]  # seconds of one operation by the message's bytes


@dataclass
class _Found:
    """All times of one operation: completed one by one, in sequence, and without waiting."""

    kind: str
    record: Record
    cases: list[Case] = field(default_factory=list)
    single: _Times = field(default_factory=dict)
    in_a_row: _Times = field(default_factory=dict)
    begun: _Times = field(default_factory=dict)

    @property
    def gaps(self) -> dict[int, float]:
        """Seconds from one start to the next, by size; the full time if complete on return."""
        if self.kind in _COMPLETE:
            return _middle(self.single)
        return _middle(self.in_a_row or self.begun)


def fit_operations(
    records: Sequence[Record],
    known: Sequence[Operation] = (),
    seconds_of: Callable[[Case], float | None] = measured,
) -> tuple[list[Operation], list[Fitted]]:
    """Rows for every one-sided test of ``records``, after the kept ones of ``known``.

    ``seconds_of`` gives a case's time of one count, or None.
    """
    rows: list[Operation] = []
    parts: list[Fitted] = []
    for (name, spread), found in _collected(records, seconds_of).items():
        if found.single:
            row, part = _fitted(name, spread, found)
            rows.append(row)
            parts.append(part)
    kept = [old for old in known if not any(old.is_replaced_by(new) for new in rows)]
    return [*kept, *rows], parts


def _collected(
    records: Sequence[Record], seconds_of: Callable[[Case], float | None]
) -> dict[tuple[str, int | None], _Found]:
    found: dict[tuple[str, int | None], _Found] = {}
    for record in records:
        if not _is_usual(record):
            continue
        window = _whole(record, "window") or 1
        spread = 2 ** _whole(record, "spread") if _whole(record, "spread") else None
        for case in record.cases:
            kind, seconds = case.label("kind"), seconds_of(case)
            if kind not in (*_TRANSFERS, *_ATOMICS, *_FETCHING) or not seconds:
                continue
            own = found.setdefault((case.label("test"), spread), _Found(kind, record))
            own.cases.append(case)
            one = seconds / (record.world.ranks - 1)
            if window == 1 or kind in _COMPLETE or kind == "set":
                own.single.setdefault(_bytes(case), []).append(one)
            elif window >= _IN_A_ROW:
                own.in_a_row.setdefault(_bytes(case), []).append(one)
            if begun := _begun_s(case):
                own.begun.setdefault(_bytes(case), []).append(begun)
    return found


def _is_usual(record: Record) -> bool:
    """Whether one thread per PE ran, with few or scattered places and no chosen core."""
    given = record.parameters
    odd = given.get("off-cache") or given.get("affinity") or given.get("threads", 1) != 1
    return record.benchmark.name == BENCHMARK and record.world.ranks > 1 and not odd


def _whole(record: Record, name: str) -> int:
    value = record.parameters.get(name, 0)
    return value if isinstance(value, int) else 0


def _bytes(case: Case) -> int:
    size = case.labels.get("bytes")
    return size if isinstance(size, int) else 8


def _begun_s(case: Case) -> float | None:
    """Seconds of a put call without completion: mean of a repetition's first calls."""
    seconds, calls = case.tallies.get("injection_s"), case.tallies.get("injections")
    if isinstance(seconds, int | float) and isinstance(calls, int | float) and calls:
        return float(seconds) / float(calls)
    return None


def _middle(times: _Times) -> dict[int, float]:
    """The lower median of each size's times, by ascending size."""
    return {size: median_low(values) for size, values in sorted(times.items())}


def _fitted(name: str, spread: int | None, found: _Found) -> tuple[Operation, Fitted]:
    world = found.record.world
    where = f", over {spread} B" if spread else ""
    single = _middle(found.single)
    if found.kind in _OF_ELEMENTS:
        empty, gap = _of_elements(found, single)
        byte_s = None
    else:
        empty, gap, byte_s = _of_messages(found, single)
    row = Operation(
        name=name,
        world="shmem" if world.kind == "shmem" else "mpi",
        library=world.library or world.kind,
        ranks=world.ranks,
        spread_bytes=spread,
        empty_us=rounded(empty.value * 1e6),
        gap_us=rounded(gap.value * 1e6) if gap else None,
        gap_per_byte_ns=rounded(byte_s.value * 1e9) if byte_s else None,
        source=SOURCE,
    )
    ratios = list(_ratios(row, found, single))
    worst = rounded(max((abs(ratio - 1) for _, ratio in ratios), default=0.0))
    figures = [Figure("empty", empty.scaled(1e9), "ns")]
    figures += [Figure("gap", gap.scaled(1e9), "ns")] if gap else []
    figures += [Figure("a byte", byte_s.scaled(1e9), "ns")] if byte_s else []
    part = Fitted(f"operation {name}{where}", figures, ratios)
    return row.model_copy(update={"worst_error": worst}), part


def _of_elements(found: _Found, single: dict[int, float]) -> tuple[Estimate, Estimate | None]:
    """Completion time of one word, and the gap of each further one."""
    noise, least = noise_of(found.cases), min(single)
    if len(single) > 1:
        further = [size / least - 1 for size in single]
        line = robust_line(further, list(single.values()), noise)
        return line.fixed, line.each
    gap = found.gaps.get(least)
    return _known(single[least], noise), _known(gap, noise) if gap else None


def _of_messages(
    found: _Found, single: dict[int, float]
) -> tuple[Estimate, Estimate | None, Estimate | None]:
    gaps, noise = found.gaps, noise_of(found.cases)
    both = [size for size in single if size in gaps]
    if len(both) > 1:
        return fit_loggp(both, [single[size] for size in both], [gaps[size] for size in both])
    empty = _known(single[min(single)], noise)
    return empty, _known(gaps[both[0]], noise) if both else None, None


def _known(seconds: float, noise: float) -> Estimate:
    """One time, with the uncertainty of its median."""
    return Estimate(seconds, seconds * (1 - 2 * noise), seconds * (1 + 2 * noise))


def _ratios(row: Operation, found: _Found, single: dict[int, float]) -> Iterator[tuple[str, float]]:
    """Measured / fitted of each size, one by one and in sequence."""
    if found.kind in _OF_ELEMENTS:
        least = min(single)
        for size, seconds in single.items():
            fitted = row.empty_s + (size / least - 1) * (row.gap_us or 0.0) * 1e-6
            yield f"{size} B", seconds / fitted
        return
    for size, seconds in single.items():
        yield f"{size} B", seconds / row.latency_s(size)
    if found.kind in _COMPLETE:
        return
    for size, seconds in found.gaps.items():
        if row.gap_us is not None:
            yield f"{size} B in a row", seconds / row.stream_s(size)
