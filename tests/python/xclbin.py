"""Bitstreams (.xclbin) without hardware in them: what AMD's XRT reads of a file to load it and to start its kernels."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

_METADATA, _TOPOLOGY, _CONNECTIVITY, _IP_LAYOUT = 2, 6, 7, 8  # sections' kinds
_IP_KERNEL = 1
_MEMORY_TYPES = {"DDR": 1, "HBM": 6, "PLRAM": 8}
_HEAD, _SECTION = 456, 40  # bytes


@dataclass(frozen=True)
class Kernel:
    """``arguments``: name and type; ``banks``: of each pointer among them, the tags that it is connected to."""

    name: str
    arguments: Sequence[tuple[str, str]]
    banks: Sequence[Sequence[str]]
    units: int = 1


def write(path: Path, banks: Sequence[str], kernels: Sequence[Kernel]) -> Path:
    """A bitstream with these memory banks ("DDR[0]", "HBM[3]", "PLRAM[1]"), of 1 GiB each."""
    units = [(kernel, i + 1) for kernel in kernels for i in range(kernel.units)]
    used = {tag for kernel in kernels for tags in kernel.banks for tag in tags}
    sections = {
        _METADATA: _metadata(kernels),
        _TOPOLOGY: _counted(_bank(i, tag, tag in used) for i, tag in enumerate(banks)),
        _CONNECTIVITY: _counted(_connections(banks, units), count_bytes=4),
        _IP_LAYOUT: _counted(_unit(i, *unit) for i, unit in enumerate(units)),
    }
    place, table, body = _HEAD + _SECTION * len(sections), b"", b""
    place += -place % 8
    body_at = place
    for kind, content in sections.items():
        table += struct.pack("<I16s4xQQ", kind, b"", place, len(content))
        content += b"\0" * (-len(content) % 8)
        body += content
        place += len(content)
    head = struct.pack("<8si28s256sQ", b"xclbin2", -1, b"\xff" * 28, b"", 1)
    platform = b"test_board"
    head += struct.pack(
        "<QQQHBBHH16s64s16s16sI4x",
        place,
        1,
        1,
        0,
        2,
        13,
        1,
        0,
        b"",
        platform,
        b"\x5a" * 16,
        b"",
        len(sections),
    )
    assert len(head) == _HEAD
    path.write_bytes((head + table).ljust(body_at, b"\0") + body)
    return path


def _counted(entries, count_bytes: int = 8) -> bytes:
    entries = list(entries)
    return struct.pack("<i", len(entries)).ljust(count_bytes, b"\0") + b"".join(entries)


def _bank(index: int, tag: str, used: bool) -> bytes:
    kind = _MEMORY_TYPES[tag.split("[", maxsplit=1)[0]]
    kib = 16 << 10 if tag.startswith("PLRAM") else 1 << 20
    return struct.pack("<BB6xQQ16s", kind, used, kib, index << 30, tag.encode())


def _unit(index: int, kernel: Kernel, number: int) -> bytes:
    name = f"{kernel.name}:{kernel.name}_{number}"
    return struct.pack("<IIQ64s", _IP_KERNEL, 0, 0x1800000 + (index << 16), name.encode())


def _connections(banks: Sequence[str], units: Sequence[tuple[Kernel, int]]) -> list[bytes]:
    return [
        struct.pack("<iii", argument, unit, banks.index(tag))
        for unit, (kernel, _) in enumerate(units)
        for argument, tags in zip(_pointers(kernel), kernel.banks, strict=True)
        for tag in tags
    ]


def _pointers(kernel: Kernel) -> list[int]:
    return [i for i, (_, kind) in enumerate(kernel.arguments) if kind.endswith("*")]


def _metadata(kernels: Sequence[Kernel]) -> bytes:
    return (
        '<?xml version="1.0"?><project name="test"><platform vendor="test" boardid="b" name="b" '
        'featureRomTime="1"><version major="1" minor="0"/><device name="d" fpgaDevice="f"><core '
        f'name="OCL_REGION_0" target="hw" type="clc_region">{"".join(map(_kernel, kernels))}'
        "</core></device></platform></project>"
    ).encode()


def _kernel(kernel: Kernel) -> str:
    arguments, offset = "", 0x10
    for i, (name, kind) in enumerate(kernel.arguments):
        is_pointer = kind.endswith("*")
        size = 8 if is_pointer or kind in ("ulong", "double", "long") else 4
        arguments += (
            f'<arg name={quoteattr(name)} addressQualifier="{int(is_pointer)}" id="{i}" '
            f'port="{"M_AXI_GMEM" if is_pointer else "S_AXI_CONTROL"}" size="{size:#x}" '
            f'offset="{offset:#x}" hostOffset="0x0" hostSize="{size:#x}" type={quoteattr(kind)}/>'
        )
        offset += 12
    instances = "".join(
        f'<instance name="{kernel.name}_{i + 1}"><addrRemap base="{0x1800000:#x}" range="0x10000" '
        'port="S_AXI_CONTROL"/></instance>'
        for i in range(kernel.units)
    )
    return (
        f'<kernel name={quoteattr(kernel.name)} language="c" attributes="" hash="" '
        'preferredWorkGroupSizeMultiple="0" workGroupSize="1" interrupt="true">'
        '<port name="M_AXI_GMEM" mode="master" range="0xFFFFFFFFFFFFFFFF" dataWidth="512" '
        'portType="addressable" base="0x0"/><port name="S_AXI_CONTROL" mode="slave" range="0x1000" '
        f'dataWidth="32" portType="addressable" base="0x0"/>{arguments}{instances}</kernel>'
    )
