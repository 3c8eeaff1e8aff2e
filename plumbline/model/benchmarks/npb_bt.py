"""NPB BT, and what SP shares with it: lines solved over tiles of all ranks.

p = a c ranks, c the largest number whose multiple a is; a x a x c tiles, tile (i, j, k) on rank
((i + j) mod a) + a ((j + k) mod c): each rank has equally many tiles of each slab, and one
neighbour in each direction (benchmarks/shmem/npb/flow.md). A step of a rank:

    faces   two planes of five numbers a point, 160 S B in at most six messages at once,
            S = 2 (a - 1) n^2/(a c) + (a - a/c) n^2/a^2
    sweeps  2 (a - 1) + (c - 1) messages forward and as many back, of s numbers a line together:
            30 and 5 (BT), 22 and 10 (SP)

Own work is counted in points of whole vectors, as lines are solved side by side in their numbers.

While numbers travel forward the next tile's groups of lines are begun: twelve of 3,479 operations a
point and step (BT), 15 of 881 (SP), in each direction.
"""

from __future__ import annotations

from itertools import pairwise

from plumbline.base.errors import UsageError
from plumbline.model.npb import TWO_SIDED, Iteration, NpbModel, Problem, Sent, grid_shared

# --- equations ------------------------------------------------------------------------------------

FACE_BYTES = 2 * 5 * 8  # a point of a face: two planes
FIELD_BYTES = 15 * 8  # a point: three fields of five numbers


def tiles_of(ranks: int) -> tuple[int, int, int]:
    """Tiles along each axis: a, a, c."""
    c = max(c for c in range(1, ranks + 1) if ranks % c == 0 and (ranks // c) % c == 0)
    return ranks // c, ranks // c, c


def planes_crossed(n: float, ranks: int) -> float:
    """S: points of all planes between slabs that a rank's lines cross, one way."""
    a, _, c = tiles_of(ranks)
    return 2 * (a - 1) * n**2 / (a * c) + (a - a / c) * n**2 / a**2


def slab_messages(ranks: int) -> int:
    """Messages of a rank's sweeps forward: one for each plane between slabs, in each direction."""
    return sum(slabs - 1 for slabs in tiles_of(ranks))


def whole_vectors(points: int, lanes: int) -> int:
    """Points of a row as vectors of so many numbers, the last one in part empty."""
    return -(-points // lanes) * lanes


def own_points(n: int, ranks: int, lanes: int) -> int:
    """Inner points of the rank with most, its rows in whole vectors."""
    a, _, c = tiles_of(ranks)
    wide, deep = inner_points(n, a), inner_points(n, c)
    sums: dict[int, int] = {}
    for k, planes in enumerate(deep):
        for j, rows in enumerate(wide):
            for i, columns in enumerate(wide):
                owner = (i + j) % a + a * ((j + k) % c)
                points = whole_vectors(columns, lanes) * rows * planes
                sums[owner] = sums.get(owner, 0) + points
    return max(sums.values())


def inner_points(n: int, cuts: int) -> list[int]:
    """Points of each slab along an axis, without the cube's boundary."""
    edges = [number * n // cuts for number in range(cuts + 1)]
    inner = [min(max(edge, 1), n - 1) for edge in edges]
    return [high - low for low, high in pairwise(inner)]


def official(counts: tuple[float, float, float, float], problem: Problem) -> float:
    """The official operations: a polynomial of n, the highest power first, for each step."""
    n = problem.size
    return problem.iterations * (((counts[0] * n + counts[1]) * n + counts[2]) * n + counts[3])


# --- model ----------------------------------------------------------------------------------------


def iteration(problem: Problem, ranks: int, forward: int, back: int, covered: float) -> Iteration:
    """A step with so many numbers a line; ``covered``: operations begun early, of all."""
    n, slabs = problem.size, tiles_of(ranks)
    points = own_points(n, ranks, problem.lanes)
    faces = 2 * sum(cut > 1 for cut in slabs)
    times, lines = slab_messages(ranks), planes_crossed(n - 2, ranks)
    sent = (
        (
            Sent(1, faces, 2 * FACE_BYTES * planes_crossed(n, ranks) / faces),
            Sent(times, 1, 8 * forward * lines / times, covered / max(slabs)),
            Sent(times, 1, 8 * back * lines / times),
        )
        if ranks > 1
        else ()
    )
    return Iteration({"": points}, FIELD_BYTES * n**3 / ranks, sent)


def check(problem: Problem, ranks: int) -> None:
    """Raises :class:`UsageError` where a tile has fewer than two points an axis."""
    if problem.size // max(tiles_of(ranks)) < 2:
        raise UsageError(
            f"{ranks} ranks cut a grid of {problem.size} points an axis into tiles of fewer than 2"
        )


def _iteration(problem: Problem, ranks: int) -> Iteration:
    return iteration(problem, ranks, forward=30, back=5, covered=12 / 3479)


def operations(problem: Problem) -> float:
    """The official count, of all steps."""
    return official((3478.8, -17655.7, 28023.7, 0), problem)


FLOW_RUNS = tuple(
    (*TWO_SIDED, "--grid", grid, "--iterations", "4", "--dt", "0.0008")
    for grid in ("18", "32", "56")
)

MODEL = NpbModel(
    "npb_bt",
    operations,
    _iteration,
    check,
    EQUATION="operations / (points of a rank at their rate + faces + sweeps' messages not covered)",
    SHARED=grid_shared("npb_bt", "grid", 1 / 3),
    runs=FLOW_RUNS,
)
