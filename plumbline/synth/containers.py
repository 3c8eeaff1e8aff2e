"""Bitstreams' files: aoc's (ELF with sections ``.acl.*``) and Xilinx's (``xclbin.h``).

ELF is read by pyelftools. Of ``axlf`` the header, the sections' table, the kernels' instances and
the clocks are read; offsets are those of XRT's ``xclbin.h``.
"""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from plumbline.base.errors import UsageError

_MAGIC = b"xclbin2\0"
_HEADER = 304  # of axlf_header: length, three times, version, mode, platform, number of sections
_PLATFORM = slice(_HEADER + 48, _HEADER + 112)
_COUNT = _HEADER + 144
_SECTIONS = _HEADER + 152
_SECTION = struct.Struct("<I16s4xQQ")  # kind, name, offset, bytes
_IP_LAYOUT, _CLOCKS, _MEMORY = 8, 11, 6
_IP = struct.Struct("<IIQ64s")
_CLOCK = struct.Struct("<HB5x128s")
_MEM = struct.Struct("<BB6xQQ16s")


@dataclass
class Container:
    """What a bitstream tells of itself.

    ``kernels`` are compiled kernels, ``copies`` their instances (``calc:calc_0``); ``sections`` the
    names of all sections.
    """

    kind: str
    board: str | None = None
    kernels: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    clocks_mhz: dict[str, int] = field(default_factory=dict)
    sections: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


def read_container(path: Path) -> Container:
    """Read a bitstream. Raises :class:`UsageError` if it is none, or truncated."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if content.startswith(_MAGIC):
        return _read_xclbin(path, content)
    if content.startswith(b"\x7fELF"):
        return _read_aocx(path, len(content))
    raise UsageError(f"{path} is no bitstream: neither ELF (.aocx) nor xclbin2 (.xclbin)")


def _read_aocx(path: Path, size: int) -> Container:
    found = Container("aocx")
    try:
        with path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if not section.name.startswith(".acl."):
                    continue
                if section["sh_offset"] + section["sh_size"] > size:
                    raise UsageError(f"{path} is truncated: its section {section.name} is cut")
                found.sections.append(section.name)
                if section["sh_size"] <= 1 << 20:
                    text = section.data().rstrip(b"\0").decode("utf-8", "replace")
                    found.texts[section.name] = text
    except (ELFError, ValueError, struct.error) as error:
        raise UsageError(f"{path} is truncated or no ELF: {error}") from None
    if not found.sections:
        raise UsageError(f"{path} is ELF without sections .acl.*: no bitstream of aoc")
    found.board = found.texts.get(".acl.board")
    found.kernels = _kernels_of(path, found.texts.get(".acl.kernel_arg_info.xml", ""))
    return found


def _kernels_of(path: Path, text: str) -> list[str]:
    if not text:
        return []
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise UsageError(f"{path}: .acl.kernel_arg_info.xml is no XML: {error}") from None
    return [name for kernel in root.iter("kernel") if (name := kernel.get("name"))]


def _read_xclbin(path: Path, content: bytes) -> Container:
    try:
        (length,) = struct.unpack_from("<Q", content, _HEADER)
        (count,) = struct.unpack_from("<I", content, _COUNT)
        if length > len(content):
            raise UsageError(f"{path} is truncated: it has {len(content)} of {length} bytes")
        found = Container("xclbin", board=_text(content[_PLATFORM]) or None)
        for number in range(count):
            kind, name, offset, size = _SECTION.unpack_from(
                content, _SECTIONS + number * _SECTION.size
            )
            if offset + size > len(content):
                raise UsageError(f"{path} is truncated: its section {_text(name)} is cut")
            found.sections.append(_text(name) or str(kind))
            _read_section(found, kind, content[offset : offset + size])
    except struct.error as error:
        raise UsageError(f"{path} is truncated: {error}") from None
    found.kernels = list(dict.fromkeys(copy.partition(":")[0] for copy in found.copies))
    return found


def _read_section(found: Container, kind: int, content: bytes) -> None:
    if kind == _IP_LAYOUT:
        for entry in _entries(_IP, content, "<i", 8):
            if entry[0] == 1:  # a kernel
                found.copies.append(_text(entry[3]))
    elif kind == _CLOCKS:
        for mhz, _, name in _entries(_CLOCK, content, "<h", 2):
            found.clocks_mhz[_text(name)] = mhz
    elif kind == _MEMORY:
        for entry in _entries(_MEM, content, "<i", 8):
            if entry[1]:  # used
                found.memories.append(_text(entry[4]))


def _entries(shape: struct.Struct, content: bytes, count: str, first: int) -> list[tuple[Any, ...]]:
    (number,) = struct.unpack_from(count, content)
    return [shape.unpack_from(content, first + i * shape.size) for i in range(number)]


def _text(content: bytes) -> str:
    return content.partition(b"\0")[0].decode("utf-8", "replace")
