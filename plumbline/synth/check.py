"""Checks of generated files, which read them as the tools do and know nothing of the templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plumbline.base.errors import UsageError
from plumbline.synth.build import Build
from plumbline.synth.generate import Files

_NK = re.compile(r"(?P<kernel>\w+):(?P<count>\d+)(?::(?P<names>[\w.,]+))?")
_SLR = re.compile(r"(?P<copy>\w+):SLR(?P<slr>\d+)")
_SP = re.compile(
    r"(?P<copy>\w+)\.(?P<argument>\w+):(?P<bank>\w+\[(?P<first>\d+)(?::(?P<last>\d+))?\])"
)
_STREAM = re.compile(r"(?P<from>\w+\.\w+):(?P<to>\w+\.\w+)(?::(?P<depth>\d+))?")


@dataclass
class Link:
    """A linker's configuration: copies by kernel, and of each copy its die and banks."""

    copies: dict[str, list[str]] = field(default_factory=dict)
    slrs: dict[str, int] = field(default_factory=dict)
    banks: dict[tuple[str, str], range] = field(default_factory=dict)
    streams: list[tuple[str, str, int]] = field(default_factory=list)  # from, to, depth or 0


def read_link(text: str) -> Link:
    """The configuration in ``text``. Raises :class:`UsageError` for a line that v++ refuses."""
    link, section = Link(), ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif line and section == "connectivity":
            _read_line(link, line, number)
    return link


def _read_line(link: Link, line: str, number: int) -> None:
    key, _, value = line.partition("=")
    shapes = {"nk": _NK, "slr": _SLR, "sp": _SP, "stream_connect": _STREAM}
    found = shapes[key].fullmatch(value) if key in shapes else None
    if found is None:
        raise UsageError(f"line {number} of the link file is invalid: {line}")
    if key == "nk":
        kernel, count = found["kernel"], int(found["count"])
        names = re.split(r"[.,]", found["names"]) if found["names"] else []
        names = names or [f"{kernel}_{i + 1}" for i in range(count)]
        if len(names) != count:
            raise UsageError(f"nk of {kernel} counts {count} copies, but names {len(names)}")
        link.copies[kernel] = names
    elif key == "slr":
        link.slrs[found["copy"]] = int(found["slr"])
    elif key == "sp":
        first = int(found["first"])
        link.banks[found["copy"], found["argument"]] = range(first, int(found["last"] or first) + 1)
    else:
        link.streams.append((found["from"], found["to"], int(found["depth"] or 0)))


def check_files(build: Build, files: Files) -> None:
    """Raise :class:`UsageError` unless the files hold exactly the kernels of ``build``."""
    if files.link is None:
        check_text(build, files.texts[files.main])
    else:
        check_link(build, read_link(files.texts[files.link]))


def check_link(build: Build, link: Link) -> None:
    """Compare a link file with the declaration."""
    expected = {build.kernel_name(kernel.name): kernel for kernel in build.kernels.kernels}
    if set(link.copies) != set(expected):
        raise UsageError(_differ("kernels", expected, link.copies))
    used: list[tuple[int, int]] = []
    for name, kernel in expected.items():
        copies = [build.kernel_name(kernel.numbered, n) for n in range(build.replications)]
        if link.copies[name] != copies:
            raise UsageError(_differ(f"copies of {name}", copies, link.copies[name]))
        for number, copy in enumerate(copies):
            used += _check_copy(build, link, copy, number, [a.name for a in kernel.arguments])
    _check_own(build, used)
    streams = [
        (build.kernel_name(stream.from_, n), build.kernel_name(stream.to, n), stream.depth)
        for stream in build.kernels.streams
        for n in range(build.replications)
    ]
    if sorted(link.streams) != sorted(streams):
        raise UsageError(_differ("streams", map(_joined, streams), map(_joined, link.streams)))


def _check_copy(
    build: Build, link: Link, copy: str, replication: int, arguments: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Check a copy's die and banks; yields the banks with their replication."""
    slrs = build.synthesis.slrs
    if slrs and not 0 <= link.slrs.get(copy, -1) < slrs:
        raise UsageError(f"{copy} has no SLR of the board's {slrs}")
    if build.synthesis.bank is None:
        return
    for argument in arguments:
        banks = link.banks.get((copy, argument))
        if banks is None:
            raise UsageError(f"{copy}.{argument} has no memory bank")
        if banks.stop > (build.synthesis.banks or 0):
            raise UsageError(
                f"{copy}.{argument} is in bank {banks.stop - 1}, but {build.board_name} has "
                f"{build.synthesis.banks}"
            )
        yield from ((bank, replication) for bank in banks)


def check_text(build: Build, text: str) -> None:
    """Compare aoc's text with the declaration: one inclusion for each replication, own banks."""
    numbers: list[int] = []
    used: list[tuple[int, int]] = []
    defined: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split(maxsplit=2)
        if words[:1] == ["#undef"]:
            defined.pop(words[1], None)
        elif words[:1] == ["#define"]:
            defined[words[1]] = words[2] if len(words) > 2 else ""
        elif words[:1] == ["#include"]:
            numbers.append(int(defined.get("REPLICATION", "-1")))
            used += _banks_of_text(build, defined, len(numbers) - 1)
    if numbers != list(range(build.replications)):
        raise UsageError(_differ("replications", range(build.replications), numbers))
    _check_own(build, used)
    _check_channels(build, text)


def _check_channels(build: Build, text: str) -> None:
    """Each io channel is the board's, in its direction, and of one replication."""
    used: set[str] = set()
    for direction, channel in re.findall(r'#define CHANNEL_(OUT|IN)_\d+ "(\S*)"', text):
        if channel not in build.synthesis.channels[direction == "OUT" :: 2]:
            raise UsageError(f"unknown io channel {channel}: {build.board_name} has none of it")
        if channel in used:
            raise UsageError(f"the io channel {channel} is used twice")
        used.add(channel)
    if len(used) != 2 * build.replications * build.kernels.channels:
        raise UsageError(f"{len(used)} io channels are named, which is not each replication's")


def _banks_of_text(
    build: Build, defined: Mapping[str, str], replication: int
) -> Iterator[tuple[int, int]]:
    pattern = build.synthesis.bank
    if pattern is None:
        return
    named = re.escape(f'"{pattern}"').replace(re.escape("{bank}"), r"(\d+)")
    if "{bank}" not in pattern:
        named += "()"
    for kernel in build.kernels.kernels:
        for argument in kernel.arguments:
            found = re.search(named, defined.get(f"BANK_{argument.name}", ""))
            if found is None:
                raise UsageError(f"replication {replication} has no bank of {argument.name}")
            if int(found[1] or 0) >= (build.synthesis.banks or 0):
                raise UsageError(f"unknown bank {found[1]}: there are {build.synthesis.banks}")
            yield int(found[1] or 0), replication


def _check_own(build: Build, used: Sequence[tuple[int, int]]) -> None:
    """Raise if two replications share a bank that each needs for itself."""
    owners: dict[int, int] = {}
    for bank, replication in used if build.kernels.own_banks else ():
        if owners.setdefault(bank, replication) != replication:
            raise UsageError(
                f"bank {bank} is used by replications {owners[bank]} and {replication}"
            )


def _joined(stream: tuple[str, str, int]) -> str:
    return ":".join(map(str, stream if stream[2] else stream[:2]))


def _differ(what: str, expected: Iterable[object], found: Iterable[object]) -> str:
    wanted, there = (", ".join(map(str, one)) for one in (expected, found))
    return f"the generated {what} are {there or 'none'}, not {wanted or 'none'}"
