"""Discrete-event simulations of applications over a grid or graph of ranks.

Closed forms omit waiting between ranks that do not proceed in step, grids that are not square,
partitions of different sizes, and timelines. Kernels and transfers take the times of the same
equations (:mod:`plumbline.model.benchmarks`), so that a simulation with a barrier after each
iteration is the closed form, to the digit.

Events are simpy's: processes are generators that wait for events, which is how these programs are
written, and one wake-up costs about 2 us.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """An activity of a lane (a kernel, a network) of a rank, from ``start_s`` to ``end_s``."""

    rank: str
    lane: str
    name: str
    start_s: float
    end_s: float


@dataclass
class Timeline:
    """Busy time of each lane over all ranks, and the spans of the watched ranks."""

    watched: frozenset[str] = frozenset()
    busy_s: dict[str, float] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)

    def add(self, rank: str, lane: str, name: str, start_s: float, end_s: float) -> None:
        """Count a span, and keep it if its rank is watched. Empty ones are ignored."""
        if end_s <= start_s:
            return
        self.busy_s[lane] = self.busy_s.get(lane, 0.0) + end_s - start_s
        if rank in self.watched:
            self.spans.append(Span(rank, lane, name, start_s, end_s))


@dataclass(frozen=True)
class Outcome:
    """The result of a simulation: seconds, the metric, and the same by the closed form, if any.

    ``shares`` are of all ranks' time, by lane. ``notes`` list assumptions.
    """

    title: str
    seconds: float
    value: float
    metric: str
    unit: str
    closed_s: float | None
    shares: dict[str, float]
    timeline: Timeline
    notes: list[str] = field(default_factory=list)


def shares(timeline: Timeline, ranks: int, seconds: float) -> dict[str, float]:
    """The busy share of all ranks' time by lane, the busiest first."""
    found = {lane: busy / (ranks * seconds) for lane, busy in timeline.busy_s.items() if seconds}
    return dict(sorted(found.items(), key=lambda one: -one[1]))
