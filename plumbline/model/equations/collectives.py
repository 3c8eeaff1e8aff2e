"""Collectives by LogGP: what the usual algorithms take, in messages one after the other.

Source: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: incorporating long messages into the LogP
model", SPAA 1995: a message of k bytes takes o + (k - 1) G + L + o. Algorithms: Thakur,
Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
2005. Every function takes ranks and the time of one message of the length it names, and so works
with any model of a message; local arithmetic of reductions is not counted.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def message_s(k: ArrayLike, latency: ArrayLike, overhead: ArrayLike, gap: ArrayLike) -> Floats:
    """L + 2 o + (k - 1) G for k bytes; an empty message takes L + 2 o. ``gap`` is G, in s/B."""
    rest = np.maximum(floats(k) - 1, 0) * floats(gap)
    return floats(floats(latency) + 2 * floats(overhead) + rest)


def rounds(ranks: ArrayLike) -> Floats:
    """ceil(log2 p), 0 for one rank."""
    return floats(np.ceil(np.log2(np.maximum(floats(ranks), 1))))


def tree_s(ranks: ArrayLike, whole: ArrayLike) -> Floats:
    """Messages one after the other: ceil(log2 p), each of the whole length.

    A barrier by dissemination, a broadcast or reduction by a binomial tree, an all-reduce by
    recursive doubling.
    """
    return floats(rounds(ranks) * floats(whole))


def ring_s(ranks: ArrayLike, piece: ArrayLike) -> Floats:
    """Messages one after the other: p - 1, each of the part that belongs to one rank.

    An all-gather by a ring, a reduce-scatter or all-to-all by pairs.
    """
    return floats((floats(ranks) - 1) * floats(piece))


def two_rings_s(ranks: ArrayLike, piece: ArrayLike) -> Floats:
    """A long all-reduce: reduce-scatter and all-gather, each p - 1 messages of k / p bytes."""
    return floats(2 * ring_s(ranks, piece))


def doubling_s(ranks: ArrayLike, empty: ArrayLike, rest: ArrayLike) -> Floats:
    """Messages that double or halve: ceil(log2 p) of an ``empty`` one's time, and ``rest``.

    ``rest`` is what all that they carry adds. An all-gather by recursive doubling carries p - 1
    parts of a rank, a scatter by a tree (p - 1)/p of the whole.
    """
    return floats(rounds(ranks) * floats(empty) + floats(rest))


def scattered_s(ranks: ArrayLike, empty: ArrayLike, rest: ArrayLike, piece: ArrayLike) -> Floats:
    """A long broadcast: scattered by a tree, then gathered by a ring of pieces of k / p bytes."""
    return floats(doubling_s(ranks, empty, rest) + ring_s(ranks, piece))
