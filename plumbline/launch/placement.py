"""Where ranks and devices lie: the requested placement, and what a record shows of it.

Ranks fill one node after the other (``block``) or take the nodes in turn (``cyclic``). A map of
devices names a device by rank (``2:0:3``), by the rank's place on its node (``node=0:1``), by a
file of nodes (``n01 0:1``, ``* 0``), or leaves the choice to the engine (``near``, ``far``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import UsageError, reason_of
from plumbline.record.record import Record

DISTRIBUTIONS = ("block", "cyclic")
BY_PLACE = ("near", "far")
_NUMBERS = re.compile(r"\d+(:\d+)*")
_NODE = "node="


@dataclass(frozen=True)
class Placement:
    """``nodes`` with ``per_node`` ranks each."""

    nodes: int
    per_node: int
    distribution: str = DISTRIBUTIONS[0]

    @property
    def ranks(self) -> int:
        """All ranks."""
        return self.nodes * self.per_node

    def node_of(self, rank: int) -> int:
        """The number of a rank's node, from 0."""
        return rank % self.nodes if self.distribution == "cyclic" else rank // self.per_node

    def place_of(self, rank: int) -> int:
        """The rank's place among those of its node, from 0."""
        return rank // self.nodes if self.distribution == "cyclic" else rank % self.per_node

    def why_not(self, record: Record) -> str | None:
        """How the ranks of ``record`` lie otherwise, or None.

        A record numbers its hosts in the order of their first ranks.
        """
        if len(record.ranks) != self.ranks:
            return f"{self.ranks} ranks were to start, but {len(record.ranks)} did"
        for rank in record.ranks:
            wanted = self.node_of(rank.rank)
            if rank.host != wanted:
                there = record.hosts[rank.host].name
                return (
                    f"rank {rank.rank} is on node {rank.host} ({there}), but --rank-order "
                    f"{self.distribution} places it on node {wanted} of {self.nodes}: "
                    "the launcher placed the ranks in its own way"
                )
        return None


def placement_of(
    ranks: int | None, nodes: int | None, per_node: int | None, distribution: str | None
) -> Placement | None:
    """The placement of these options, or None without any. Raises :class:`UsageError`."""
    if nodes is None and per_node is None:
        if distribution is not None:
            raise UsageError(f"--rank-order {distribution} needs --nodes or --ranks-per-node")
        return None
    kind = distribution or DISTRIBUTIONS[0]
    if nodes is not None and per_node is not None:
        if ranks is not None and ranks != nodes * per_node:
            raise UsageError(
                f"--ranks {ranks} must be --nodes {nodes} times --ranks-per-node {per_node}, "
                f"{nodes * per_node}"
            )
        return Placement(nodes, per_node, kind)
    known = nodes or per_node or 1
    ranks = known if ranks is None else ranks
    if ranks % known:
        option = "--nodes" if nodes else "--ranks-per-node"
        raise UsageError(f"{option} must divide the {ranks} ranks, not {known}")
    return Placement(nodes or ranks // known, per_node or ranks // known, kind)


@dataclass(frozen=True)
class DeviceMap:
    """A map of devices: ``by_rank``, or ``by_node`` (``*``: every other), or the engine's choice.

    ``text`` is the option's value.
    """

    text: str
    by_rank: tuple[int, ...] = ()
    by_node: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def numbers(self) -> list[int]:
        """All devices that it names."""
        return [*self.by_rank, *(number for _, list_ in self.by_node for number in list_)]

    def check_ranks(self, ranks: int) -> None:
        """Raise :class:`UsageError` if it has too few devices for ``ranks`` ranks."""
        if self.by_rank and len(self.by_rank) < ranks:
            raise UsageError(
                f"--device-map must name {ranks} devices for {ranks} ranks, not "
                f"{len(self.by_rank)}: {self.text}"
            )

    def why_not(self, record: Record) -> str | None:
        """Which rank of ``record`` has another device than the map's, or None.

        A rank's place on its node is counted here, from the ranks' hosts.
        """
        before: Counter[int] = Counter()
        for rank in record.ranks:
            wanted = self.device(rank.rank, record.hosts[rank.host].name, before[rank.host])
            before[rank.host] += 1
            if wanted is not None and rank.device is not None and rank.device.index != wanted:
                return (
                    f"rank {rank.rank} on {record.hosts[rank.host].name} used device "
                    f"{rank.device.index}, but --device-map {self.text} names {wanted}"
                )
        return None

    def device(self, rank: int, node: str, place: int) -> int | None:
        """The device of a rank, by its node's name and its place there; None: not named."""
        if self.by_rank:
            return self.by_rank[rank] if rank < len(self.by_rank) else None
        named = dict(self.by_node)
        devices = named.get(node) or named.get(node.partition(".")[0]) or named.get("*")
        return devices[place % len(devices)] if devices else None


def device_map(text: str) -> DeviceMap:
    """The map of ``--device-map``. Raises :class:`UsageError`."""
    if text in BY_PLACE:
        return DeviceMap(text)
    if _NUMBERS.fullmatch(text):
        return DeviceMap(text, by_rank=_devices(text))
    if text.startswith(_NODE):
        numbers = text.removeprefix(_NODE)
        if not _NUMBERS.fullmatch(numbers):
            raise UsageError(f"--device-map must be devices of a node (node=0:1), not '{text}'")
        return DeviceMap(text, by_node=(("*", _devices(numbers)),))
    path = Path(text)
    if not path.is_file():
        raise UsageError(
            "--device-map must be device numbers by rank (2:0:3), by place on a node (node=0:1), "
            f"near, far, or a file of nodes, not '{text}'"
        )
    return DeviceMap(text, by_node=_nodes_of(path))


def _nodes_of(path: Path) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Lines ``NODE DEVICES``; text after # is left out."""
    found: dict[str, tuple[int, ...]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--device-map {path} cannot be read: {reason_of(error)}") from None
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not _NUMBERS.fullmatch(words[1]) or words[0] in found:
            raise UsageError(
                f"{path}, line {number}: a line must be a node, once, and its devices, as in "
                f"'n01 0:1', not '{line.strip()}'"
            )
        found[words[0]] = _devices(words[1])
    if not found:
        raise UsageError(f"--device-map {path} names no node")
    return tuple(found.items())


def _devices(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(":")))


def why_misplaced(
    record: Record, placement: Placement | None, devices: DeviceMap | None
) -> str | None:
    """How ranks or devices of ``record`` lie otherwise than requested, or None."""
    checks: Sequence[Placement | DeviceMap] = [one for one in (placement, devices) if one]
    return next((found for one in checks if (found := one.why_not(record))), None)
