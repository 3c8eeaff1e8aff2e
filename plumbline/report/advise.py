"""``plumb advise``: the fastest transport and approach at each size, and the sizes of changes.

A time has the relative error of its figures (:class:`~plumbline.model.transfer.Transfer`), or an
assumed one if the source gives none. Two transports differ if their intervals do not overlap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from plumbline.base.columns import aligned, csv_text
from plumbline.base.errors import UsageError
from plumbline.base.units import duration, ratio_text, size_text
from plumbline.model.arrays import Floats
from plumbline.model.transfer import Transfer, transfer_of, transfers_of
from plumbline.system.system import System

HOST_MEMORY = "mpi"  # leaves the bytes in host memories
_BUFFERS = re.compile(r"osu-([HDBP])-([HDBP])")  # from one kind of memory to another
_POINTS_A_DOUBLING = 64
_NAMED = 2


@dataclass(frozen=True)
class Choice:
    """The transports at one size, the fastest first; times in seconds with their intervals.

    ``alike`` are the names of transports indistinguishable from the fastest.
    """

    size: int
    ways: list[str]
    seconds: list[float]
    low: list[float]
    high: list[float]
    alike: list[str]
    extrapolated: list[str]


@dataclass(frozen=True)
class Stretch:
    """From ``first_bytes`` on ``name`` is the fastest, until the next stretch.

    Between ``low_bytes`` and ``high_bytes`` the two transports of the change are indistinguishable.
    """

    name: str
    first_bytes: int
    low_bytes: int
    high_bytes: int


@dataclass(frozen=True)
class Advice:
    """The advice of ``plumb advise``; ``notes`` are sentences on omissions and assumptions.

    ``between_devices``: without the pairs of buffers that have an end in host memory.
    """

    system: str
    ranks: int
    choices: list[Choice]
    stretches: list[Stretch]
    between_devices: list[Stretch]
    sources: dict[str, str]
    notes: list[str]


def advise(
    system: System, sizes: Sequence[int], ranks: int, names: Sequence[str], assumed: float
) -> Advice:
    """The transports of ``system`` (only ``names``, if given) for messages of ``sizes`` bytes.

    Raises :class:`UsageError` if there are none, or if a named one lacks a figure.
    """
    ways = _ways(system, names)
    errors = {way.name: way.relative_error or assumed for way in ways}
    notes = list(_notes(system, ranks, ways, names, assumed))
    choices = [_choice(ways, errors, size) for size in sorted(set(sizes))]
    stretches = _stretches(ways, errors, min(sizes), max(sizes))
    inner = [way for way in ways if not _ends_on_a_host(way.transport)]
    between = (
        _stretches(inner, errors, min(sizes), max(sizes)) if 0 < len(inner) < len(ways) else []
    )
    sources = {way.name: way.source for way in ways}
    return Advice(system.system.name, ranks, choices, stretches, between, sources, notes)


def write(advice: Advice, form: str) -> str:
    """The advice as ``text``, ``csv`` or ``json``."""
    if form == "json":
        return json.dumps(_document(advice), indent=2)
    if form == "csv":
        return csv_text(_CSV_HEAD, _csv(advice))
    return "\n".join(_lines(advice))


def _ways(system: System, names: Sequence[str]) -> list[Transfer]:
    known = transfers_of(system)
    emulated = {way.transport: way.emulated for way in known if way.emulated is not None}
    every = [way for way in known if way.emulated is None]
    if names:
        for name in names:
            if name in emulated:
                raise UsageError(
                    f"no advice on {name}, whose times are of no board: {emulated[name]}"
                )
            transfer_of(system, name)  # raises for a missing model or figure
        return [way for way in every if way.transport in names]
    ways = [way for way in every if way.transport != HOST_MEMORY] or every
    if not ways:
        raise UsageError(
            f"the system {system.system.name} has no figures of a transport between devices: none "
            "of [legs], [channel], [accl], [[transfers]] (plumb fit, plumb calibrate)"
        )
    return ways


def _ends_on_a_host(transport: str) -> bool:
    found = _BUFFERS.fullmatch(transport)
    return found is not None and "H" in found.groups()


def _notes(
    system: System, ranks: int, ways: Sequence[Transfer], names: Sequence[str], assumed: float
) -> Iterator[str]:
    if system.machine is not None and ranks > system.machine.devices:
        yield (
            f"{ranks} ranks are more than the {system.machine.devices} devices of "
            f"{system.system.name}: extrapolated"
        )
    if any(way.transport == "channel" for way in ways) and ranks > 2 and system.channel:
        most = system.channel.count // 2
        yield (
            f"channel goes to direct neighbours only, two channels each: {most} of them on a board"
        )
    if any(_BUFFERS.fullmatch(way.transport) for way in ways):
        yield (
            "osu-D-H: from a device's buffer to the host's and back, half of a round trip; "
            "H host, D device, B its HBM, P on its chip"
        )
    if not names and any(transfer.transport == HOST_MEMORY for transfer in transfers_of(system)):
        yield "mpi leaves the bytes in host memory: it is compared where --transports names it"
    if any(not way.relative_error for way in ways):
        yield f"figures without an error of their own are taken as known to {assumed:.0%} (--error)"


def _choice(ways: Sequence[Transfer], errors: dict[str, float], size: int) -> Choice:
    timed = sorted(((float(way.seconds(size)), way) for way in ways), key=lambda one: one[0])
    names = [way.name for _, way in timed]
    low = [seconds / (1 + errors[way.name]) for seconds, way in timed]
    high = [seconds * (1 + errors[way.name]) for seconds, way in timed]
    return Choice(
        size=size,
        ways=names,
        seconds=[seconds for seconds, _ in timed],
        low=low,
        high=high,
        alike=[name for name, least in zip(names[1:], low[1:], strict=True) if least <= high[0]],
        extrapolated=[way.name for _, way in timed if bool(way.is_extrapolated(size))],
    )


def _stretches(
    ways: Sequence[Transfer], errors: dict[str, float], first: int, last: int
) -> list[Stretch]:
    """The fastest transfer by size; changes are found on a fine grid and bisected to the byte."""
    number = int(_POINTS_A_DOUBLING * log2(last / first)) + 2 if last > first else 1
    sizes = np.unique(np.geomspace(first, last, number).round())
    times = np.array([way.seconds(sizes) for way in ways])
    best = times.argmin(axis=0)
    found = [Stretch(ways[best[0]].name, first, first, first)]
    for index in np.flatnonzero(np.diff(best)):
        before, after = ways[best[index]], ways[best[index + 1]]
        size = _crossing(before, after, int(sizes[index]), int(sizes[index + 1]))
        alike = _alike(before, after, errors, sizes)
        low, high = _around(alike, sizes, int(index))
        found.append(Stretch(after.name, size, min(low, size), max(high, size)))
    return found


def _crossing(before: Transfer, after: Transfer, low: int, high: int) -> int:
    """The smallest size in (low, high] at which ``after`` is faster."""
    while high - low > 1:
        middle = (low + high) // 2
        if float(after.seconds(middle)) < float(before.seconds(middle)):
            high = middle
        else:
            low = middle
    return high


def _alike(one: Transfer, other: Transfer, errors: dict[str, float], sizes: Floats) -> np.ndarray:
    ratio = np.abs(np.log(one.seconds(sizes) / other.seconds(sizes)))
    return np.asarray(ratio <= np.log1p(errors[one.name]) + np.log1p(errors[other.name]))


def _around(alike: np.ndarray, sizes: Floats, index: int) -> tuple[int, int]:
    """The contiguous sizes around ``index`` for which ``alike`` holds."""
    low = high = index
    while low > 0 and alike[low - 1]:
        low -= 1
    while high + 1 < len(sizes) and alike[high + 1]:
        high += 1
    return int(sizes[low]), int(sizes[high])


def _lines(advice: Advice) -> Iterator[str]:
    ends = "two buffers" if any(_BUFFERS.match(one) for one in advice.sources) else "two devices"
    yield f"one message between {ends} of {advice.system}, {advice.ranks} ranks"
    yield ""
    rows = [["size", "fastest", "time", "interval", "next", "times slower", ""]]
    rows += [_row(choice) for choice in advice.choices]
    yield from aligned(rows)
    yield ""
    yield from _changes(advice.stretches)
    if advice.between_devices:
        yield from (f"between devices: {line}" for line in _changes(advice.between_devices))
    yield ""
    best = [*advice.stretches, *advice.between_devices]
    for name in dict.fromkeys(stretch.name for stretch in best):
        yield f"{name}: {advice.sources[name]}"
    yield from advice.notes


def _row(choice: Choice) -> list[str]:
    row = [
        size_text(choice.size),
        choice.ways[0],
        duration(choice.seconds[0]),
        f"{duration(choice.low[0])} to {duration(choice.high[0])}",
    ]
    if len(choice.ways) == 1:
        row += ["-", "-"]
    else:
        row += [choice.ways[1], ratio_text(choice.seconds[1] / choice.seconds[0])]
    remarks = []
    if choice.alike:
        named = ", ".join(choice.alike[:_NAMED])
        more = f" and {len(choice.alike) - _NAMED} more" if len(choice.alike) > _NAMED else ""
        remarks.append(f"indistinguishable from {named}{more}")
    if choice.ways[0] in choice.extrapolated:
        remarks.append("extrapolated")
    return [*row, "; ".join(remarks)]


def _changes(stretches: Sequence[Stretch]) -> Iterator[str]:
    first, *others = stretches
    if not others:
        yield f"{first.name} is the fastest at all these sizes"
    else:
        yield f"{first.name} up to {size_text(others[0].first_bytes - 1)}"
    for stretch in others:
        yield (
            f"{stretch.name} from {size_text(stretch.first_bytes)} on (somewhere from "
            f"{size_text(stretch.low_bytes)} to {size_text(stretch.high_bytes)})"
        )


_CSV_HEAD = [
    "bytes",
    "rank",
    "way",
    "seconds",
    "low_s",
    "high_s",
    "indistinguishable",
    "extrapolated",
]


def _csv(advice: Advice) -> Iterator[list[object]]:
    for choice in advice.choices:
        for place, name in enumerate(choice.ways):
            times = (choice.seconds[place], choice.low[place], choice.high[place])
            told = int(name in choice.alike), int(name in choice.extrapolated)
            yield [choice.size, place + 1, name, *(f"{one:.6g}" for one in times), *told]


def _document(advice: Advice) -> dict[str, object]:
    return {
        "system": advice.system,
        "ranks": advice.ranks,
        "sizes": [vars(choice) for choice in advice.choices],
        "fastest": [vars(stretch) for stretch in advice.stretches],
        "between_devices": [vars(stretch) for stretch in advice.between_devices],
        "sources": advice.sources,
        "notes": advice.notes,
    }
