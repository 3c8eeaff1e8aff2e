"""Steps of the shallow water code over a graph of partitions that exchange their borders.

Source: Meyer 2024, sections 5.2.1 and 5.2.2, figure 5.9, eq. 5.2 and 5.3. In each step a rank
streams out the elements of its border, with a command for each neighbour, and works on its core
meanwhile; when core and messages are complete, it works on the received elements. A received
message costs a command and a copy. A rank waits for its neighbours only, so a slow partition first
delays its neighbours.

Equal partitions, each with the neighbours and border of the slowest, reproduce eq. 5.2 exactly.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import simpy

from plumbline.model.simulate import Timeline

_Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Part:
    """One partition: cycles of its core, elements that leave and enter, and its neighbours.

    ``messages`` are those of a step, one for each neighbour of the mesh.
    """

    core: float
    sent: float
    received: float
    neighbours: tuple[int, ...]
    messages: int


@dataclass(frozen=True)
class Costs:
    """The pipeline's clock (Hz) and depth (cycles); seconds of a command, a copy, a message."""

    clock: float
    pipeline: float
    command_s: float
    copy_s: float
    message_s: float


@dataclass
class Simulation:
    """One run of ``steps`` steps over ``parts``. Call :meth:`run`."""

    parts: Sequence[Part]
    costs: Costs
    steps: int
    timeline: Timeline = field(default_factory=Timeline)

    def run(self) -> float:
        """Seconds until the last rank has done its last step."""
        self.env = simpy.Environment()
        self._sent = [[self.env.event() for _ in range(self.steps)] for _ in range(len(self.parts))]
        for rank in range(len(self.parts)):
            self.env.process(self._work(rank))
        self.env.run()
        return float(self.env.now)

    def _work(self, rank: int) -> _Process:
        env, part, costs = self.env, self.parts[rank], self.costs
        name, near, clock = str(rank), part.messages, costs.clock
        for step in range(self.steps):
            start = env.now
            core = start + part.core / clock
            self.timeline.add(name, "core", f"step {step}", start, core)
            left = start + part.sent / clock + near * costs.command_s
            self.timeline.add(name, "sends", f"step {step}", start, left)
            self._sent[rank][step].succeed(left + costs.message_s)
            arrived = start
            for other in part.neighbours:
                yield self._sent[other][step]
                arrived = max(arrived, cast(float, self._sent[other][step].value))
            entered = start
            if part.neighbours:
                entered = arrived + near * (costs.command_s + costs.copy_s) + part.received / clock
                self.timeline.add(name, "receives", f"step {step}", arrived, entered)
            begun = max(core, entered)
            self.timeline.add(name, "stalled", f"step {step}", core, begun)
            end = begun + (part.sent + part.received + costs.pipeline) / clock
            self.timeline.add(name, "border", f"step {step}", begun, end)
            yield env.timeout(end - env.now)


def grid(rows: int, columns: int, most: int) -> list[tuple[int, ...]]:
    """Neighbours in a periodic grid: up to ``most`` (an even number, or one more).

    The nearest first; eight include the corners. Pairs are always mutual.
    """
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)]
    found: list[tuple[int, ...]] = []
    for rank in range(rows * columns):
        p, q = divmod(rank, columns)
        near: list[int] = []
        for down, right in steps[: (most + 1) // 2]:
            for sign in (1, -1):
                other = (p + sign * down) % rows * columns + (q + sign * right) % columns
                if other != rank and other not in near:
                    near.append(other)
        found.append(tuple(near))
    return found
