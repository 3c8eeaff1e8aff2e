"""NPB LU: two sweeps from corner to corner over px x py pencils, plane by plane.

A plane of a sweep needs the last rows of the pencils before it, so a sweep over n - 2 planes takes
n - 2 + px + py - 2 stages: the pipeline's fill. In each stage a rank receives 40 B for each point
of its two edges, while it adds the part of the plane before, half of the plane's work. Faces: two
planes of five numbers a point. (benchmarks/shmem/npb/flow.md.)
"""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.model.benchmarks.npb_bt import (
    FACE_BYTES,
    FIELD_BYTES,
    FLOW_RUNS,
    inner_points,
    official,
    whole_vectors,
)
from plumbline.model.npb import Iteration, NpbModel, Problem, Sent, grid_shared

# --- equations ------------------------------------------------------------------------------------

EDGE_BYTES = 5 * 8  # a point of a plane's edge
SWEEPS = 2
AHEAD = 0.5  # of a plane's work, done before its messages are looked for


def pencils(ranks: int) -> tuple[int, int]:
    """Pencils along x and y: the nearest to a square, more along x."""
    c = max(c for c in range(1, ranks + 1) if c * c <= ranks and ranks % c == 0)
    return ranks // c, c


def fill_share(n: int, px: int, py: int) -> float:
    """Stages before the last pencil begins, over the stages of its own planes."""
    return (px + py - 2) / (n - 2)


def sweep_points(rows: int, columns: int, lanes: int) -> float:
    """Points of a plane in a sweep, as vectors.

    Half of the work takes whole vectors of a row, the other half as many rows at a time as a vector
    has numbers, each a column behind the one before it.
    """
    skewed = whole_vectors(columns, lanes) * (rows + lanes)
    return (whole_vectors(rows, lanes) * columns + skewed) / 2


def operations(problem: Problem) -> float:
    """The official count, of all steps."""
    return official((1984.77, -10923.3, 27770.9, -144010), problem)


# --- model ----------------------------------------------------------------------------------------


def _iteration(problem: Problem, ranks: int) -> Iteration:
    n, lanes = problem.size, problem.lanes
    px, py = pencils(ranks)
    rows, columns = max(inner_points(n, px)), max(inner_points(n, py))
    points = float(whole_vectors(rows, lanes) * columns * (n - 2))
    swept = sweep_points(rows, columns, lanes) * (n - 2)
    stages = SWEEPS * (n - 2 + px + py - 2)
    edges = [edge for cuts, edge in ((px, columns), (py, rows)) if cuts > 1]
    sides = [min(cuts - 1, 2) for cuts in (px, py) if cuts > 1]
    sent = [
        Sent(stages, 1, EDGE_BYTES * edge, AHEAD / (SWEEPS * (n - 2)), "sweeps") for edge in edges
    ]
    faces = [Sent(1, side, FACE_BYTES * edge * n) for side, edge in zip(sides, edges, strict=True)]
    return Iteration(
        {"": points, "sweeps": swept},
        FIELD_BYTES * n**3 / ranks,
        (*faces, *sent),
        fill={"sweeps": fill_share(n, px, py)},
    )


def _check(problem: Problem, ranks: int) -> None:
    if problem.size // max(pencils(ranks)) < 2:
        raise UsageError(
            f"{ranks} ranks cut a grid of {problem.size} points an axis into pencils of "
            "fewer than 2"
        )


MODEL = NpbModel(
    "npb_lu",
    operations,
    _iteration,
    _check,
    EQUATION="operations / (points at their rate (1 + fill) + 2 (n - 2 + px + py - 2) messages)",
    SHARED=grid_shared("npb_lu", "grid", 1 / 3),
    runs=FLOW_RUNS,
    phases={"sweeps": ("blts", "buts")},
)
