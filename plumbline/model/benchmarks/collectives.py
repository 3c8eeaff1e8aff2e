"""Collectives by LogGP: times of the usual algorithms, as sequences of messages.

Source: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: incorporating long messages into the LogP
model", SPAA 1995: a message of k bytes takes o + (k - 1) G + L + o. Algorithms: Thakur,
Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
2005. Every function takes the number of ranks and the time of one message of a given length, and so
applies to any model of a message; a forecast does not count the arithmetic of reductions.

*A forecast.* Collectives between host or device memories: the faster of the usual algorithms.

``size`` is a rank's input: the broadcast message, the reduced vector, its part of a gather, its
whole row of an all-to-all. The time of a message is that of the system's transport.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import Forecast, Scenario, message_of, size_of, too_many
from plumbline.model.prediction import Prediction
from plumbline.system.system import System

# --- equations ------------------------------------------------------------------------------------

Message = Callable[[float], float]


def rounds(ranks: ArrayLike) -> Floats:
    """ceil(log2 p), 0 for one rank."""
    return floats(np.ceil(np.log2(np.maximum(floats(ranks), 1))))


def tree_s(ranks: ArrayLike, whole: ArrayLike) -> Floats:
    """A sequence of ceil(log2 p) messages, each of the whole length.

    A barrier by dissemination, a broadcast or reduction by a binomial tree, an all-reduce by
    recursive doubling.
    """
    return floats(rounds(ranks) * floats(whole))


def ring_s(ranks: ArrayLike, piece: ArrayLike) -> Floats:
    """A sequence of p - 1 messages, each of the part of one rank.

    An all-gather by a ring, a reduce-scatter or all-to-all by pairs.
    """
    return floats((floats(ranks) - 1) * floats(piece))


def two_rings_s(ranks: ArrayLike, piece: ArrayLike) -> Floats:
    """A long all-reduce: reduce-scatter and all-gather, each p - 1 messages of k / p bytes."""
    return floats(2 * ring_s(ranks, piece))


def doubling_s(ranks: ArrayLike, empty: ArrayLike, rest: ArrayLike) -> Floats:
    """Messages that double or halve: ceil(log2 p) of an ``empty`` one's time, and ``rest``.

    ``rest`` is the time of all their contents. An all-gather by recursive doubling carries p - 1
    parts of a rank, a scatter by a tree (p - 1)/p of the whole.
    """
    return floats(rounds(ranks) * floats(empty) + floats(rest))


def scattered_s(ranks: ArrayLike, empty: ArrayLike, rest: ArrayLike, piece: ArrayLike) -> Floats:
    """A long broadcast: scattered by a tree, then gathered by a ring of pieces of k / p bytes."""
    return floats(doubling_s(ranks, empty, rest) + ring_s(ranks, piece))


def algorithms(
    operation: str, p: int, size: float, message: Message, combine: Message = lambda _size: 0.0
) -> dict[str, float]:
    """Seconds of each usual algorithm of an operation, by its name.

    ``size`` is a rank's input (of a gather or scatter all ranks' together), ``message`` gives the
    seconds of one of a length, ``combine`` those of combining two vectors of a length.
    """
    whole, piece, empty = message(size), message(size / p), message(0)
    part = (p - 1) / p
    halves = float(doubling_s(p, empty, message(size * part) - empty))  # by a tree of halves
    tree = float(tree_s(p, whole))
    if operation == "barrier":
        return {"tree": tree}
    if operation == "bcast":
        return {"tree": tree, "ring": halves + float(ring_s(p, piece))}
    if operation in ("gather", "scatter"):
        return {"tree": halves}
    if operation == "reduce":
        rest = combine(size * part)
        combined = float(tree_s(p, whole + combine(size)))
        return {"tree": combined, "halving": 2 * halves + rest}
    if operation == "reduce_scatter":
        return {
            "halving": halves + combine(size * part),
            "pairs": float(ring_s(p, piece + combine(size / p))),
        }
    if operation == "allreduce":
        ring = float(two_rings_s(p, piece)) + combine(size * part)
        return {"tree": float(tree_s(p, whole + combine(size))), "ring": ring}
    if operation == "allgather":
        rest = message(size * (p - 1)) - empty
        return {"doubling": float(doubling_s(p, empty, rest)), "ring": float(ring_s(p, whole))}
    return {"Bruck": float(tree_s(p, message(size / 2))), "pairs": float(ring_s(p, piece))}


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "latency", "us"
EQUATION = "messages one after the other, the least of the algorithms' (LogGP; docs/models.md)"
SIZE = "bytes of a rank's input"
GROWS = ""
RANKS = (2, 4, 8, 16)
OPERATIONS = ("barrier", "bcast", "allreduce", "allgather", "alltoall")
MORE: tuple[str, ...] = ()
SENDS = True


def sizes(_system: System) -> list[float]:
    """8 B, 8 KiB and 1 MiB."""
    return [8.0, 8192.0, 2.0**20]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One collective by all ranks."""
    transfer, p = message_of(system, scenario), scenario.ranks
    size = 0.0 if scenario.operation == "barrier" else size_of(scenario, "size")
    found = algorithms(scenario.operation, p, size, lambda length: float(transfer.seconds(length)))
    bound = min(found, key=found.__getitem__)
    beyond = too_many(system, scenario)
    if transfer.is_extrapolated(size).any():
        beyond = f"the figures of {transfer.name} end at {transfer.largest_bytes} B"
    return Forecast(Prediction(found[bound], bound, found), found[bound] * 1e6, None, beyond)
