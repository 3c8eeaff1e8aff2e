"""Wiring of boards behind an optical switch: links of a ring or a torus, for ``changeFPGAlinks``.

A board's channels are listed in two halves: those towards the rank before it, and those towards the
rank after it. In a torus of rows x columns each half is one channel along the row and one along the
column. A board is named by its node's place in the job and its number there, ``n00:acl0``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plumbline.base.errors import UsageError
from plumbline.launch.placement import DeviceMap, Placement

_CHANNELS = re.compile(r"\d{1,3}(:\d{1,3})*")
_TORUS = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})")

Link = tuple[int, int, int, int]
"""A rank and its channel, and the rank and the channel at the other end."""


def links_of(shape: str, ranks: int, channels: str) -> list[Link]:
    """Links of ``shape``: ring, or a torus as 2x3. Raises :class:`UsageError`."""
    if not _CHANNELS.fullmatch(channels):
        raise UsageError(f"--channels must be numbers, such as 0:1:2:3, not '{channels}'")
    numbers = [int(number) for number in channels.split(":")]
    if shape == "ring":
        return ring(ranks, numbers)
    found = _TORUS.fullmatch(shape)
    if found is None:
        raise UsageError(f"the wiring must be ring, or a torus such as 2x3, not '{shape}'")
    rows, columns = int(found[1]), int(found[2])
    if rows * columns != ranks:
        raise UsageError(
            f"a torus of {shape} needs {rows * columns} ranks, but --nodes times --ranks-per-node "
            f"is {ranks}"
        )
    return torus(rows, columns, numbers)


def ring(ranks: int, channels: Sequence[int]) -> list[Link]:
    """Links of each rank to the next one, by half of the channels at either end."""
    before, after = _halves(channels)
    return [
        (rank, mine, (rank + 1) % ranks, theirs)
        for rank in range(ranks)
        for mine, theirs in zip(after, before, strict=True)
    ]


def torus(rows: int, columns: int, channels: Sequence[int]) -> list[Link]:
    """Links of each rank to its right and its lower neighbour; rank r is in row r / columns.

    ``channels``: left, up, right, down.
    """
    if len(channels) != 4:
        raise UsageError(
            f"--channels of a torus must be four (left, up, right, down), not {len(channels)}"
        )
    (left, up), (right, down) = _halves(channels)
    links = []
    for rank in range(rows * columns):
        row, column = divmod(rank, columns)
        links += [
            (rank, right, row * columns + (column + 1) % columns, left),
            (rank, down, (row + 1) % rows * columns + column, up),
        ]
    return links


def fpga_links(
    links: Sequence[Link], placement: Placement, devices: DeviceMap | None = None
) -> list[str]:
    """Each link as ``n00:acl0:ch2-n01:acl0:ch0``; without a map a board is its rank's place."""
    if devices and not devices.numbers:
        raise UsageError(f"--device-map {devices.text} chooses boards when a run starts: name them")
    if devices:
        devices.check_ranks(placement.ranks)

    def board(rank: int) -> str:
        node, place = placement.node_of(rank), placement.place_of(rank)
        name = f"n{node:02}"
        device = devices.device(rank, name, place) if devices else place
        return f"{name}:acl{place if device is None else device}"

    boards = [board(rank) for rank in range(placement.ranks)]
    if len(set(boards)) < len(boards):
        twice = next(one for one in boards if boards.count(one) > 1)
        raise UsageError(f"two ranks would have the board {twice}: its links belong to one of them")
    return [
        f"{boards[one]}:ch{mine}-{boards[other]}:ch{theirs}" for one, mine, other, theirs in links
    ]


def _halves(channels: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    if not channels or len(channels) % 2 or len(set(channels)) < len(channels):
        raise UsageError(
            "--channels must be an even number of different channels, those towards the rank "
            f"before first, not {':'.join(map(str, channels))}"
        )
    half = len(channels) // 2
    return channels[:half], channels[half:]
