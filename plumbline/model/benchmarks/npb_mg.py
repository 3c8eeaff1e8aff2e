"""NPB MG: V-cycles of multigrid on a periodic cube.

Ranks are cut into gx x gy x gz parts with the least surface, gz the most
(benchmarks/shmem/npb/mg_grid.cpp). Levels whose parts would be below three points, or of at most
eight points an axis, are gathered and computed by all ranks. An iteration:

    points    of the rank's part at each level, all of them at the gathered ones, and for each level
              as much time as 800 more take: its loops' rows begin and end, halos are filled; once a
              run the first residual, 24 of the 98 B that an iteration moves for a finest point
    messages  three halos of each level that is not gathered, and once a run one of the finest; two
              faces for each cut axis; those across z travel while the next of four operations
              computes the inner planes
    gathered  the rank's part of the finest gathered level, to p - 1 ranks

Without a measured rate: 110 B of memory for each finest point, a third of them written.
"""

from __future__ import annotations

from math import ceil

from plumbline.base.errors import UsageError
from plumbline.model.npb import TWO_SIDED, Iteration, NpbModel, Problem, Sent, grid_shared
from plumbline.system.device import DeviceTable

# --- equations ------------------------------------------------------------------------------------

SMALL = 8  # points of an axis: gathered from here down
HALOS = 3  # of a level and iteration
LEVEL = 800  # points: grids of 8, 16, 32 and 64 points an axis then have one rate within 5 %
OPERATIONS = 4  # of a level: restriction, interpolation, residual, smoothing
RESIDUAL = 24 / 98  # of an iteration's bytes at the finest level
POINT_BYTES = 110  # with the coarse levels
GRIDS = 3  # u, r, v

Three = tuple[int, int, int]


def grid_of(ranks: int, points: int) -> Three:
    """Parts of the axes (x, y, z) with the least surface between them."""
    found: list[tuple[float, Three]] = []
    for x in range(1, ranks + 1):
        for y in range(x, ranks // x + 1):
            z = ranks // x // y
            if x * y * z == ranks and z >= y:
                sides = ((x, y * z), (y, x * z), (z, x * y))
                surface = sum(points * points / other for cut, other in sides if cut > 1)
                found.append((surface, (x, y, z)))
    return min(found)[1]


def part_of(points: int, grid: Three) -> Three:
    """Points of the largest part along each axis."""
    x, y, z = (ceil(points / cut) for cut in grid)
    return x, y, z


def gathered(points: int, ranks: int) -> int:
    """The finest level (of 2^level points an axis) that all ranks compute as a whole."""
    finest = points.bit_length() - 1
    if ranks == 1:
        return finest
    level = finest - 1
    while level > 1 and 2**level > SMALL and 2**level // max(grid_of(ranks, points)) >= 3:
        level -= 1
    return level


def level_points(points: int, ranks: int) -> dict[int, float]:
    """Points that a rank computes at each level, the finest first."""
    grid, whole = grid_of(ranks, points), gathered(points, ranks)
    found: dict[int, float] = {}
    for level in range(points.bit_length() - 1, 0, -1):
        x, y, z = part_of(2**level, grid) if level > whole else (2**level,) * 3
        found[level] = float(x * y * z)
    return found


def operations(problem: Problem) -> float:
    """The official count, of all iterations."""
    return 58.0 * problem.size**3 * problem.iterations


# --- model ----------------------------------------------------------------------------------------


def _iteration(problem: Problem, ranks: int) -> Iteration:
    points, finest = level_points(problem.size, ranks), problem.size.bit_length() - 1
    first_residual = RESIDUAL * points[finest] / problem.iterations
    items = sum(points.values()) + LEVEL * len(points) + first_residual
    sent = tuple(_sent(problem, ranks, items)) if ranks > 1 else ()
    return Iteration({"": items}, GRIDS * 8 * points[finest], sent)


def _sent(problem: Problem, ranks: int, items: float) -> list[Sent]:
    size, finest = problem.size, problem.size.bit_length() - 1
    grid, whole = grid_of(ranks, size), gathered(size, ranks)
    found: list[Sent] = []
    for level in range(whole + 1, finest + 1):
        halos = HALOS + (1 / problem.iterations if level == finest else 0)
        x, y, z = part_of(2**level, grid)
        inner = x * y * max(z - 2, 0) / OPERATIONS / items
        faces = ((y * z, 0.0), ((x + 2) * z, 0.0), ((x + 2) * (y + 2), inner))
        found += [
            Sent(halos, 2, 8.0 * face, covered)
            for cut, (face, covered) in zip(grid, faces, strict=True)
            if cut > 1
        ]
    x, y, z = part_of(2**whole, grid)
    return [*found, Sent(1, ranks - 1, 8.0 * x * y * z)]


def _check(problem: Problem, ranks: int) -> None:
    if problem.size // max(grid_of(ranks, problem.size)) < 2:
        raise UsageError(
            f"{problem.size} points an axis are too few for {ranks} ranks of npb_mg, "
            "each with 2 points at least"
        )


def _by_limits(device: DeviceTable, problem: Problem, ranks: int) -> float | None:
    moved = POINT_BYTES * float(problem.size) ** 3 / ranks
    return device.memory_s(moved * 2 / 3, moved / 3)


MODEL = NpbModel(
    "npb_mg",
    operations,
    _iteration,
    _check,
    EQUATION="58 n^3 / (points of all levels at their rate + halos not covered + gathered level)",
    SHARED=grid_shared("npb_mg", "grid", 1 / 3),
    runs=(
        (*TWO_SIDED, "--grid", "16"),
        (*TWO_SIDED, "--grid", "64"),
        (*TWO_SIDED, "--grid", "128", "--iterations", "2"),
        (*TWO_SIDED, "--grid", "256", "--iterations", "1"),  # 403 MB: beyond the caches
    ),
    by_limits=_by_limits,
)
