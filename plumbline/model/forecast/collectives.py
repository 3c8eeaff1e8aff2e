"""Collectives between host or device memories: the faster of the usual algorithms.

``size`` is what a rank puts in: the broadcast message, the reduced vector, its part of a gather,
its whole row of an all-to-all. A message takes what the system's transport takes.
"""

from __future__ import annotations

from plumbline.model.equations import collectives
from plumbline.model.forecast import Case, Point, least, message_of, size_of, too_many
from plumbline.system.system import System

METRIC, UNIT = "latency", "us"
EQUATION = "messages one after the other, the least of the algorithms' (LogGP; docs/models.md)"
SIZE = "bytes that a rank puts in"
OPERATIONS = ("barrier", "bcast", "allreduce", "allgather", "alltoall")
MORE: tuple[str, ...] = ()
SENDS = True


def sizes(_system: System) -> list[float]:
    """8 B, 8 KiB and 1 MiB."""
    return [8.0, 8192.0, 2.0**20]


def point(system: System, case: Case) -> Point:
    """One collective by all ranks."""
    way, p = message_of(system, case), case.ranks
    size = 0.0 if case.operation == "barrier" else size_of(case, "size")

    def message(length: float) -> float:
        return float(way.seconds(length))

    whole, piece, empty = message(size), message(size / p), message(0)
    tree = float(collectives.tree_s(p, whole))
    if case.operation == "barrier":
        ways = {"tree": tree}
    elif case.operation == "bcast":
        rest = message(size * (p - 1) / p) - empty
        ways = {"tree": tree, "ring": float(collectives.scattered_s(p, empty, rest, piece))}
    elif case.operation == "allreduce":
        ways = {"tree": tree, "ring": float(collectives.two_rings_s(p, piece))}
    elif case.operation == "allgather":
        rest = message(size * (p - 1)) - empty
        ways = {
            "doubling": float(collectives.doubling_s(p, empty, rest)),
            "ring": float(collectives.ring_s(p, whole)),
        }
    else:
        ways = {
            "Bruck": float(collectives.tree_s(p, message(size / 2))),
            "pairs": float(collectives.ring_s(p, piece)),
        }
    bound = least(ways)
    beyond = too_many(system, case)
    if way.is_extrapolated(size).any():
        beyond = f"the figures of {way.name} end at {way.largest_bytes} B"
    return Point(ways[bound], ways[bound] * 1e6, bound, ways, None, beyond)
