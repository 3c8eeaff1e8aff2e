"""Partitions of a mesh and their borders, from a graph file in METIS' format.

A header names vertices, edges and the format; then comes a line for each vertex: its weight, and
pairs of a neighbour (from 1) and the edge's weight. Here a vertex is a partition and its weight
its elements; an edge's weight is the number of elements exchanged in each direction per step
(METIS manual, section 4.1.1; format 011: weights of vertices and of edges). Lines beginning with %
are comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import UsageError, reason_of

_FORMAT = "011"


@dataclass(frozen=True)
class PartitionOf:
    """One partition: its elements, and those shared with each neighbour (from 0)."""

    elements: int
    borders: dict[int, int]


def read_graph(path: Path) -> list[PartitionOf]:
    """The partitions of ``path``, in order. Raises :class:`UsageError` with the invalid line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {reason_of(error)}") from None
    return parse_graph(path, text)


def parse_graph(path: Path, text: str) -> list[PartitionOf]:
    """The partitions of a graph in ``text``, which is of ``path``. Raises as :func:`read_graph`."""
    lines = (
        (number, line.split())
        for number, line in enumerate(text.splitlines(), 1)
        if not line.startswith("%")
    )
    vertices, edges = _header(path, lines)
    parts = [_partition(path, number, words, vertices) for number, words in list(lines)[:vertices]]
    if len(parts) < vertices:
        raise UsageError(f"{path}: the header has {vertices} vertices, the file {len(parts)}")
    _check_edges(path, parts, edges)
    return parts


def _header(path: Path, lines: Iterator[tuple[int, list[str]]]) -> tuple[int, int]:
    number, words = next(lines, (1, []))
    if len(words) != 3 or words[2].zfill(3) != _FORMAT:
        raise UsageError(
            f"{path}:{number}: must be the numbers of vertices and edges and the format "
            f"{_FORMAT} (weights of both), as METIS writes it"
        )
    vertices, edges = (_whole(path, number, word) for word in words[:2])
    if vertices < 1:
        raise UsageError(f"{path}:{number}: must have at least one vertex")
    return vertices, edges


def _partition(path: Path, number: int, words: list[str], vertices: int) -> PartitionOf:
    figures = [_whole(path, number, word) for word in words]
    if len(figures) % 2 == 0:
        raise UsageError(
            f"{path}:{number}: must be a weight, and pairs of a neighbour and a weight"
        )
    elements, pairs = figures[0], list(zip(figures[1::2], figures[2::2], strict=True))
    for other, _ in pairs:
        if not 1 <= other <= vertices:
            raise UsageError(f"{path}:{number}: a neighbour must be 1 to {vertices}, not {other}")
    borders = {other - 1: weight for other, weight in pairs}
    if len(borders) < len(pairs):
        raise UsageError(f"{path}:{number}: has a neighbour twice")
    if sum(borders.values()) and max(borders.values()) > elements:
        raise UsageError(f"{path}:{number}: a border exceeds the elements of its vertex")
    return PartitionOf(elements, borders)


def _check_edges(path: Path, parts: list[PartitionOf], edges: int) -> None:
    for number, part in enumerate(parts):
        for other, weight in part.borders.items():
            if other == number or parts[other].borders.get(number) != weight:
                raise UsageError(
                    f"{path}: the edge from vertex {number + 1} to {other + 1} has "
                    "another weight in the other direction"
                )
    found = sum(len(part.borders) for part in parts) // 2
    if found != edges:
        raise UsageError(f"{path}: the header has {edges} edges, the file {found}")


def _whole(path: Path, number: int, word: str) -> int:
    if not word.isdecimal():
        raise UsageError(f"{path}:{number}: must be integers, not {word}")
    return int(word)
