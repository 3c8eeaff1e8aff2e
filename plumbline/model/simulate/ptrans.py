"""PTRANS, C = B + A^T, over P x Q ranks: blocks of a matrix in a cyclic distribution.

Source: Meyer 2024, sections 4.1.2.1 and 4.1.2.2. Block (i, j) is on rank (i mod P, j mod Q), and
its transpose is needed on the rank of (j, i). With links between devices (``streams``) a block is
read, sent, received, added and written at once, and a rank has several links; that needs P = Q, one
partner for each. Through the hosts a rank first exchanges one message with each partner in turn,
and then transposes block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import simpy

from plumbline.model.simulate import Timeline

_Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Costs:
    """Seconds per block: of one link (``link_s``), of all memory, of one kernel.

    ``message_s`` gives the time of a message through the hosts; ``latency_s`` that of a link.
    """

    block_bytes: int
    memory_s: float
    kernel_s: float = 0.0
    kernels: int = 1
    link_s: float = 0.0
    links: int = 1
    latency_s: float = 0.0
    message_s: Callable[[float], float] = lambda _size: 0.0


@dataclass
class Simulation:
    """One run: ``blocks`` x ``blocks`` of them over ``rows`` x ``columns``. Call :meth:`run`."""

    blocks: int
    rows: int
    columns: int
    costs: Costs
    streams: bool
    timeline: Timeline = field(default_factory=Timeline)

    def run(self) -> float:
        """Seconds until the last block is written."""
        self.env = simpy.Environment()
        places = [(p, q) for p in range(self.rows) for q in range(self.columns)]
        self._receives = {place: simpy.Resource(self.env) for place in places}
        self._arrived = {place: self.env.event() for place in places}
        self._sends = {place: self._partners(*place) for place in places}
        self._missing = Counter(other for sent in self._sends.values() for other in sent)
        for place in places:
            self.env.process(self._streamed(place) if self.streams else self._staged(place))
        self.env.run()
        return float(self.env.now)

    def _number(self, p: int, q: int) -> int:
        """Blocks of the rank (p, q)."""
        return _share(self.blocks, self.rows, p) * _share(self.blocks, self.columns, q)

    def _partners(self, p: int, q: int) -> Counter[tuple[int, int]]:
        """The number of the rank's blocks for each other rank."""
        found: Counter[tuple[int, int]] = Counter()
        across = Counter(j % self.rows for j in range(q, self.blocks, self.columns))
        down = Counter(i % self.columns for i in range(p, self.blocks, self.rows))
        for p_to, times in across.items():
            for q_to, more in down.items():
                if (p_to, q_to) != (p, q):
                    found[p_to, q_to] = times * more
        return found

    def _streamed(self, place: tuple[int, int]) -> _Process:
        """Blocks over all links at once, each through memory as it goes."""
        env, costs = self.env, self.costs
        number, memory = self._number(*place), simpy.Resource(env)
        alone = place[0] == place[1]
        lanes = min(costs.links, number)
        done = [
            env.process(self._lane(place, lane, range(lane, number, lanes), memory, alone))
            for lane in range(lanes)
        ]
        yield env.all_of(done)
        if not alone:
            yield env.timeout(costs.latency_s)

    def _lane(
        self, place: tuple[int, int], lane: int, blocks: range, memory: simpy.Resource, alone: bool
    ) -> _Process:
        env, name = self.env, _name(place)
        for block in blocks:
            start = env.now
            with memory.request() as turn:
                yield turn
                begun = env.now
                yield env.timeout(self.costs.memory_s)
                self.timeline.add(name, "memory", f"block {block}", begun, env.now)
            if not alone:
                end = max(env.now, start + self.costs.link_s)
                self.timeline.add(name, f"link {lane}", f"block {block}", start, end)
                yield env.timeout(end - env.now)

    def _staged(self, place: tuple[int, int]) -> _Process:
        """Messages to other ranks, one by one; then their messages; then the blocks."""
        env, costs, name = self.env, self.costs, _name(place)
        later = sorted(self._sends[place], key=lambda other: (other <= place, other))
        for other in later:
            with self._receives[other].request() as turn:
                yield turn
                start = env.now
                yield env.timeout(costs.message_s(self._sends[place][other] * costs.block_bytes))
            self.timeline.add(name, "network", f"to {_name(other)}", start, env.now)
            self._missing[other] -= 1
            if not self._missing[other]:
                self._arrived[other].succeed()
        if later:
            yield self._arrived[place]
        start = env.now
        each = max(costs.kernel_s / costs.kernels, costs.memory_s)
        yield env.timeout(self._number(*place) * each)
        self.timeline.add(name, "kernels", "transpose", start, env.now)


def _name(place: tuple[int, int]) -> str:
    return f"{place[0]},{place[1]}"


def _share(blocks: int, ring: int, place: int) -> int:
    return (blocks - place + ring - 1) // ring
