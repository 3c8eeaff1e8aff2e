"""A robust two-way fit that separates bad nodes from bad links.

Pairs: the time of an exchange between nodes i and j is modelled as

    log t_ij = m + a_i + a_j + l_ij

with a node's share a_i and a link's l_ij, most of them near 0. m and a are fitted by Tukey's
biweight (iteratively reweighted least squares, from Huber's estimate), with a_i = 0 as one more
observation of each node: else four nodes cannot tell link 1-2 from link 3-4. l is what is left.
A node is bad if its own figure or its share in most of its pairs stands out, a link if only this
pair does. Single figures of a node (memory, arithmetic) are log t_i = m + a_i, with m the median.

Slow is a share of time above 0: a ratio of exp(a). One stands out if its interval, of all items
of the same kind together at 95 % (Bonferroni), lies above ``LEAST``. The interval is that of the
residuals' median absolute deviation, or of the samples' own spread where that is wider: a busy
machine delays some pairs more than others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plumbline.base.distributions import student_quantile

LEAST = math.log(1.03)
"""Smallest excess of time that is called bad: 3 %."""

FEWEST_NODES = 4
"""From which on pairs tell a node from its links."""

_CONFIDENCE = 0.95
_HUBER = 1.345
_BIWEIGHT = 4.685
_ROUNDS = 30
_MAD = 1.4826
_LEAST_SPREAD = 0.002

Pair = tuple[str, str]


@dataclass(frozen=True)
class Bad:
    """A node or link: ``ratio`` of its time to a usual one, with its interval."""

    what: str
    nodes: tuple[str, ...]
    ratio: float
    low: float
    high: float

    @property
    def name(self) -> str:
        """``node n03`` or ``link n03-n05``."""
        return f"{'link' if len(self.nodes) == 2 else 'node'} {'-'.join(self.nodes)}"


@dataclass(frozen=True)
class PairFit:
    """Shares of nodes and links in the time of pairs, as logarithms, and their spread."""

    nodes: dict[str, float]
    links: dict[Pair, float]
    spread: float


def fit_pairs(seconds: Mapping[Pair, Sequence[float]]) -> PairFit:
    """Fit the medians of all pairs."""
    names = sorted({name for pair in seconds for name in pair})
    place = {name: number for number, name in enumerate(names)}
    pairs = list(seconds)
    logs = np.array([np.median(np.log(seconds[pair])) for pair in pairs])
    middle = float(np.median(logs))
    design = np.zeros((len(pairs) + len(names), len(names) + 1))
    design[: len(pairs), 0] = 1
    for row, (one, other) in enumerate(pairs):
        design[row, 1 + place[one]] = design[row, 1 + place[other]] = 1
    design[len(pairs) :, 1:] = np.eye(len(names))
    shares, left = _robust(design, np.concatenate([logs - middle, np.zeros(len(names))]))
    left = left[: len(pairs)]
    return PairFit(
        dict(zip(names, shares[1:].tolist(), strict=True)),
        dict(zip(pairs, left.tolist(), strict=True)),
        max(_spread(left), _LEAST_SPREAD),
    )


def bad_in_pairs(what: str, seconds: Mapping[Pair, Sequence[float]], figures: int = 1) -> list[Bad]:
    """Bad nodes and links, the worst first. None with fewer than ``FEWEST_NODES`` nodes.

    ``figures``: number of figures that are judged together.
    """
    names = {name for pair in seconds for name in pair}
    if len(names) < FEWEST_NODES:
        return []
    fit = fit_pairs(seconds)
    free = max(1, len(seconds) - len(names))
    samples = max(1, min(map(len, seconds.values())) - 1)
    own = {pair: _own_error(of_pair) for pair, of_pair in seconds.items()}

    def half(error: float, items: int) -> float:
        """Half the interval of a pair whose samples have this error."""
        return max(_times(free, items) * fit.spread, _times(samples, items) * error)

    bad = []
    for name, share in fit.nodes.items():
        errors = [error for pair, error in own.items() if name in pair]
        root = math.sqrt(len(errors))
        width = half(math.hypot(*errors) / root, figures * len(names)) / root
        if share - width > LEAST:
            bad.append(_bad(what, (name,), share, width))
    for pair, share in fit.links.items():
        width = half(own[pair], figures * len(seconds))
        if share - width > LEAST:
            bad.append(_bad(what, pair, share, width))
    return sorted(bad, key=lambda one: -one.low)


def bad_alone(what: str, samples: Mapping[str, Sequence[float]], figures: int = 1) -> list[Bad]:
    """Nodes slower than the median node in a figure of their own; none with fewer than three."""
    if len(samples) < 3:
        return []
    names = list(samples)
    middles = np.array([np.median(np.log(samples[name])) for name in names])
    shares = middles - np.median(middles)
    spread = _spread(shares)
    bad = []
    for name, share in zip(names, shares.tolist(), strict=True):
        own = _own_error(samples[name])
        half = _times(max(1, len(names) - 1), figures * len(names)) * max(
            spread, own, _LEAST_SPREAD
        )
        if share - half > LEAST:
            bad.append(_bad(what, (name,), share, half))
    return sorted(bad, key=lambda one: -one.low)


def rounds(nodes: int) -> list[list[tuple[int, int]]]:
    """All pairs of ``nodes``, n/2 disjoint ones at a time: n - 1 rounds, n for an odd number."""
    players = list(range(nodes + nodes % 2))
    schedule = []
    for _ in range(len(players) - 1):
        half = len(players) // 2
        ends = zip(players[:half], reversed(players[half:]), strict=True)
        schedule.append([(min(p), max(p)) for p in ends if max(p) < nodes])
        players = [players[0], players[-1], *players[1:-1]]
    return schedule


def _bad(what: str, nodes: tuple[str, ...], share: float, half: float) -> Bad:
    return Bad(what, nodes, math.exp(share), math.exp(share - half), math.exp(share + half))


def _own_error(samples: Sequence[float]) -> float:
    """Standard error of the median logarithm."""
    logs = np.log(np.array(samples))
    return _spread(logs) * math.sqrt(math.pi / 2 / len(logs))


def _times(free: int, items: int) -> float:
    """Quantile for ``items`` one-sided tests together."""
    return student_quantile(1 - (1 - _CONFIDENCE) / items, free)


def _spread(values: NDArray[np.float64]) -> float:
    return float(_MAD * np.median(np.abs(values - np.median(values))))


def _robust(
    design: NDArray[np.float64], logs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients and residuals: Huber's weights first, then Tukey's, which drop outliers."""
    left: NDArray[np.float64] = logs  # of the start: no node stands out
    shares: NDArray[np.float64] = np.zeros(design.shape[1])
    for turn in range(_ROUNDS):
        scaled = np.abs(left) / max(_spread(left), _LEAST_SPREAD)
        if turn < _ROUNDS // 2:
            weights = np.minimum(1, _HUBER / np.maximum(scaled, _HUBER))
        else:
            weights = np.maximum(0, 1 - (scaled / _BIWEIGHT) ** 2) ** 2 + 1e-9
        weighted = design * weights[:, None]
        normal = weighted.T @ design + 1e-9 * np.eye(design.shape[1])
        before = shares
        shares = np.asarray(np.linalg.solve(normal, weighted.T @ logs), dtype=np.float64)
        left = np.asarray(logs - design @ shares, dtype=np.float64)
        if turn > _ROUNDS // 2 and np.max(np.abs(shares - before)) < _LEAST_SPREAD / 100:
            break
    return shares, left
