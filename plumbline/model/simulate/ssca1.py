"""Kernel 1 of SSCA1, blocked: tiles of columns pass from rank to rank.

A rank begins a tile once it has its own one before and the row above from the rank before; after
its first tile the last of its lanes must catch up (lanes - 1 steps). Then it puts the tile's row to
the next rank. With even ranks the time is that of the closed form
(:func:`plumbline.model.benchmarks.ssca1.blocked_parts`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import simpy

from plumbline.model.simulate import Timeline

_Process = Generator[simpy.Event, Any, None]


@dataclass
class Simulation:
    """One run. Call :meth:`run`.

    ``tiles``: steps of each; ``lead`` steps more for the first; ``step_s`` by rank; a message.
    """

    tiles: Sequence[float]
    lead: float
    step_s: Sequence[float]
    message_s: float
    timeline: Timeline = field(default_factory=Timeline)

    def run(self) -> float:
        """Seconds until the last rank has its last tile."""
        self.env = simpy.Environment()
        self._count = [0] * len(self.step_s)  # tiles that a rank has put
        self._next: list[simpy.Event | None] = [None] * len(self.step_s)
        for rank in range(len(self.step_s)):
            self.env.process(self._score(rank))
        self.env.run()
        return float(self.env.now)

    def _score(self, rank: int) -> _Process:
        env, name = self.env, str(rank)
        last = rank + 1 == len(self.step_s)
        for number, steps in enumerate(self.tiles):
            start = env.now
            while rank and self._count[rank - 1] <= number:
                arrival = env.event()
                self._next[rank] = arrival
                yield arrival
            begun = env.now
            self.timeline.add(name, "waits", f"tile {number}", start, begun)
            yield env.timeout((steps + (0 if number else self.lead)) * self.step_s[rank])
            self.timeline.add(name, "cells", f"tile {number}", begun, env.now)
            if last:
                continue
            start = env.now
            yield env.timeout(self.message_s)
            self.timeline.add(name, "tiles", f"tile {number}", start, env.now)
            self._count[rank] += 1
            waiting, self._next[rank + 1] = self._next[rank + 1], None
            if waiting is not None:
                waiting.succeed()
