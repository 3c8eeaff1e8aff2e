"""Shortest paths by delta-stepping, Graph500's kernel 3: amounts and times on one of even ranks.

A search relaxes each end of the component's edges once, and some again: the light ones of vertices
whose distance falls after their first round. A rank sends a relaxation if it is shorter than all
that it has sent for that vertex: of k in random order H_k are; the shorter ones come first, which
leaves a measured share of them. Each round ends with a message to every other rank and a reduction.
On devices each choice of vertices is a round as well: its bits and the distances of all vertices
go to all devices, and at the end one pass over all edges finds the parents.

Times in seconds. Source of the algorithm: benchmarks/shmem/graph500/README.md; Meyer, Sanders,
"Delta-stepping: a parallelizable shortest path algorithm", 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from plumbline.model.benchmarks.collectives import ring_s, tree_s
from plumbline.model.message_cost import Cost
from plumbline.model.prediction import Bound
from plumbline.system.device import DeviceTable
from plumbline.system.system import known

AGAIN = 1.1  # relaxations of an end: measured, scales 13 to 18, delta 0.1
SHORTER = 0.57  # of H_k: the same searches on two and four ranks
EULER = 0.5772156649
WORD_BYTES, DISTANCE_BYTES = 8, 4
PART = "paths"

RELAXED = Bound("ends relaxed", advice="Another --delta may relax fewer again.")
SENT = Bound("relaxations", advice="Fewer ranks send fewer relaxations.")
GATHERED = Bound("distances gathered", advice="A larger --delta has fewer rounds.")
AGREED = Bound("reductions", advice="A larger --delta has fewer rounds.")
LAUNCHED = Bound("launch", "launch")


@dataclass(frozen=True)
class Paths:
    """A search: N vertices, R reached with ``ends`` of edges; its rounds and buckets.

    ``relaxed`` ends and ``sent`` relaxations of a rank, where they are known.
    """

    vertices: float
    reached: float
    ends: float
    rounds: float
    buckets: float
    ranks: int
    variant: str
    cost: Cost
    relaxed: float | None = None
    sent: float | None = None

    @property
    def held(self) -> float:
        """Bytes of a rank's rows, weights, distances and parents."""
        return (2 * 4 * self.ends + 32 * self.vertices) / self.ranks


def records_of(k: float) -> float:
    """Values below all before them, of ``k`` in random order: the harmonic number H_k."""
    return log(k) + EULER + 1 / (2 * k) if k >= 1 else max(k, 0.0)


def relaxed_of(asked: Paths) -> float:
    """Ends relaxed by a rank; a device looks at each once more, for its parents."""
    if asked.variant == "device":
        return (AGAIN + 1) * asked.ends / asked.ranks
    return asked.relaxed if asked.relaxed is not None else AGAIN * asked.ends / asked.ranks


def sent_of(asked: Paths) -> float:
    """Relaxations sent by a rank: (1 - 1/p) R vertices of others, each with d/p of its ends."""
    if asked.sent is not None:
        return asked.sent
    if asked.reached <= 0:
        return 0.0
    each = asked.ends / asked.reached / asked.ranks
    return SHORTER * (1 - 1 / asked.ranks) * asked.reached * records_of(each)


def paths_parts(
    asked: Paths, device: DeviceTable, benchmark: str, message_words: int
) -> dict[str, float]:
    """The terms of a search's time. Raises :class:`UsageError` for a missing figure."""
    parts: dict[str, float] = {RELAXED: _relaxed_s(asked, device, benchmark)}
    parts |= _by_device(asked, device) if asked.variant == "device" else _sent(asked, message_words)
    return {name: seconds for name, seconds in parts.items() if seconds > 0}


def _relaxed_s(asked: Paths, device: DeviceTable, benchmark: str) -> float:
    """Ends at their measured rate, otherwise a random word of the distances each."""
    ends = relaxed_of(asked)
    measured = device.work_s(benchmark, ends, asked.held, PART)
    if measured is not None:
        return measured
    table = round(DISTANCE_BYTES * asked.vertices / asked.ranks)
    random = device.updates_s(ends, table, atomic=False)
    if random is None:
        random = device.updates_s(ends, table, atomic=True)
    return known(random, "gup_s", "device.random")


def _sent(asked: Paths, message_words: int) -> dict[str, float]:
    p, cost = asked.ranks, asked.cost
    full = 2 * sent_of(asked) / message_words
    last = asked.rounds * (p - 1) * cost(1, WORD_BYTES)
    return {
        SENT: full * cost(1, message_words * WORD_BYTES) + last,
        AGREED: (asked.rounds + 1) * float(tree_s(p, cost(1, WORD_BYTES))),
    }


def _by_device(asked: Paths, device: DeviceTable) -> dict[str, float]:
    """Choices: one a round, one that finds a bucket empty; the last one, one for parents."""
    p, cost = asked.ranks, asked.cost
    choices = asked.rounds + asked.buckets + 2
    bits, distances = asked.vertices / 8 / p, DISTANCE_BYTES * asked.vertices / p
    parts: dict[str, float] = {
        GATHERED: choices * float(ring_s(p, cost(1, bits)) + ring_s(p, cost(1, distances))),
        AGREED: 2 * choices * float(tree_s(p, cost(1, WORD_BYTES))),
    }
    if device.launch is not None:
        row_us = device.launch.row_us or device.launch.wait_us
        launches_us = choices * (device.launch.wait_us + row_us) + 2 * (asked.rounds + 1) * row_us
        parts[LAUNCHED] = launches_us * 1e-6
    return parts
