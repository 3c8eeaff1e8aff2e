"""A breadth-first search by levels: every rank works, sends or gathers, and all agree.

Each level's times on an even rank are those of the closed form
(:func:`plumbline.model.benchmarks.graph500.level_parts`). A rank with a larger share of the
vertices works and sends longer; the others wait for it in the level's reduction. Even ranks
reproduce the closed form exactly.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import simpy

from plumbline.model.simulate import Timeline

_Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class LevelTimes:
    """Seconds of one level on an even rank: by lane before the reduction, and of the reduction."""

    lanes: dict[str, float]
    agreed_s: float


@dataclass
class Simulation:
    """One search over ranks with these ``shares`` of an even rank's work. Call :meth:`run`."""

    levels: Sequence[LevelTimes]
    shares: Sequence[float]
    timeline: Timeline = field(default_factory=Timeline)

    def run(self) -> float:
        """Seconds until all ranks know that the last level is empty."""
        self.env = simpy.Environment()
        self._gates = [self.env.event() for _ in self.levels]
        self._missing = [len(self.shares)] * len(self.levels)
        for rank in range(len(self.shares)):
            self.env.process(self._search(rank))
        self.env.run()
        return float(self.env.now)

    def _search(self, rank: int) -> _Process:
        env, name = self.env, str(rank)
        for number, level in enumerate(self.levels):
            for lane, seconds in level.lanes.items():
                start = env.now
                yield env.timeout(seconds * self.shares[rank])
                self.timeline.add(name, lane, f"level {number}", start, env.now)
            self._missing[number] -= 1
            start = env.now
            if not self._missing[number]:
                env.process(self._agree(number))
            yield self._gates[number]
            self.timeline.add(name, "reductions", f"level {number}", start, env.now)

    def _agree(self, number: int) -> _Process:
        yield self.env.timeout(self.levels[number].agreed_s)
        self._gates[number].succeed()
