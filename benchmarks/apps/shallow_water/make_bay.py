"""Makes the base meshes of the bay: ``python make_bay.py TRIANGLES > bay-TRIANGLES.14``.

A bay of about 90 by 60 km with one open side and two islands, 2 to 12 m deep. The number of
triangles follows from those of points inside and on the border, 2 inside + border - 2 + 2 islands,
so both are chosen and only the places of those inside are sought (Delaunay, then smoothing).
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy
from scipy.spatial import Delaunay

Array = numpy.ndarray
ISLANDS = (((30.0, 24.0), 6.0, 0.5), ((58.0, 36.0), 5.0, 2.0))  # centre and radius in km, phase


def outline(angle: Array) -> Array:
    """The coast, km."""
    bulge = 1 + 0.09 * numpy.sin(3 * angle + 0.4) + 0.05 * numpy.cos(5 * angle - 1.0)
    return numpy.stack([45 + 45 * bulge * numpy.cos(angle), 30 + 29 * bulge * numpy.sin(angle)], 1)


def shore(island: int, angle: Array) -> Array:
    """An island's shore, km."""
    (x, y), radius, phase = ISLANDS[island]
    bulge = radius * (1 + 0.2 * numpy.cos(2 * angle + phase))
    return numpy.stack([x + 1.4 * bulge * numpy.cos(angle), y + bulge * numpy.sin(angle)], 1)


def evenly(curve: Array, points: int) -> Array:
    """``points`` points at equal distances on a closed curve."""
    closed = numpy.vstack([curve, curve[:1]])
    steps = numpy.hypot(*numpy.diff(closed, axis=0).T)
    along = numpy.concatenate([[0], numpy.cumsum(steps)])
    wanted = numpy.linspace(0, along[-1], points, endpoint=False)
    return numpy.stack([numpy.interp(wanted, along, closed[:, i]) for i in (0, 1)], 1)


def inside(points: Array, ring: Array) -> Array:
    """Whether each point is within a closed polygon (even and odd crossings)."""
    found = numpy.zeros(len(points), bool)
    for a, b in pairwise([*ring, ring[0]]):
        crosses = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
        with numpy.errstate(divide="ignore", invalid="ignore"):
            x = (b[0] - a[0]) * (points[:, 1] - a[1]) / (b[1] - a[1]) + a[0]
        found ^= crosses & (points[:, 0] < x)
    return found


def in_water(points: Array, rings: list[Array]) -> Array:
    """Whether each point is within the coast and on no island."""
    wet = inside(points, rings[0])
    for ring in rings[1:]:
        wet &= ~inside(points, ring)
    return wet


def smoothed(points: Array, fixed: int, rings: list[Array]) -> tuple[Array, Array]:
    """Points, of which the first ``fixed`` stay, and the triangles between them."""
    for _ in range(120):
        corners = Delaunay(points).simplices
        corners = corners[in_water(points[corners].mean(1), rings)]
        one, other = (points[corners[:, k]] - points[corners[:, 0]] for k in (1, 2))
        area = numpy.abs(cross(one, other))
        sums = numpy.zeros_like(points)
        weights = numpy.zeros(len(points))
        for k in range(3):
            numpy.add.at(sums, corners[:, k], area[:, None] * points[corners].mean(1))
            numpy.add.at(weights, corners[:, k], area)
        points[fixed:] = (sums / numpy.maximum(weights, 1e-12)[:, None])[fixed:]
    corners = Delaunay(points).simplices
    return points, corners[in_water(points[corners].mean(1), rings)]


def cross(a: Array, b: Array) -> Array:
    """Cross products of vectors in the plane."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def depth(points: Array) -> Array:
    """Metres: deeper to the open side, with banks."""
    x, y = points.T / 90
    return (
        5.5
        + 4 * x
        + 1.3 * numpy.sin(9 * x + 2) * numpy.cos(7 * y)
        + 0.6 * numpy.cos(17 * x - 11 * y)
    )


def bay(triangles: int, seed: int = 4) -> tuple[Array, Array, list[Array]]:
    """Points in km, triangles, and the points of the coast and of each island in order."""
    turn = numpy.linspace(0, 2 * numpy.pi, 4000, endpoint=False)
    curves = [outline(turn), shore(0, turn), shore(1, turn)]
    lengths = [numpy.hypot(*(numpy.roll(c, -1, 0) - c).T).sum() for c in curves]
    areas = [0.5 * abs(cross(c, numpy.roll(c, -1, 0)).sum()) for c in curves]
    area = areas[0] - sum(areas[1:])
    side = (4 / 3**0.5 * area / triangles) ** 0.5
    counts = [round(length / side) for length in lengths]
    counts[0] += sum(counts) % 2
    rings = [evenly(c, n) for c, n in zip(curves, counts, strict=True)]
    border = numpy.vstack(rings)
    wanted = (triangles - 2 - len(border)) // 2
    random = numpy.random.default_rng(seed)
    free = random.uniform((-5, -5), (100, 70), (40 * wanted, 2))
    free = free[in_water(free, rings)]
    near = numpy.hypot(*(free[:, None] - border[None]).transpose(2, 0, 1)).min(1)
    free = free[near > 0.6 * side][:wanted]
    points, corners = smoothed(numpy.vstack([border, free]), len(border), rings)
    starts = numpy.cumsum([0, *counts])
    return points, corners, [numpy.arange(a, b) for a, b in pairwise(starts)]


def main() -> None:
    """Print the mesh as fort.14."""
    triangles = int(sys.argv[1])
    points, corners, rings = bay(triangles)
    assert len(corners) == triangles, f"{len(corners)} triangles"
    near_sea = numpy.abs(numpy.arctan2(*(points[rings[0]] - (45, 30)).T[::-1]) + 0.15) < 0.75
    ring = numpy.roll(rings[0], -int(numpy.flatnonzero(near_sea & ~numpy.roll(near_sea, 1))[0]))
    opening = ring[: near_sea.sum()]
    coast = [*ring[near_sea.sum() - 1 :], ring[0]]
    print("bay: one open side, two islands; made by make_bay.py")
    print(len(corners), len(points))
    for i, ((x, y), h) in enumerate(zip(1000 * points, depth(points), strict=True)):
        print(i + 1, f"{x:.2f} {y:.2f} {h:.3f}")
    for i, (a, b, c) in enumerate(corners):
        print(i + 1, 3, a + 1, b + 1, c + 1)
    print(f"1 = open boundaries\n{len(opening)} = vertices of them\n{len(opening)}")
    print("\n".join(str(point + 1) for point in opening))
    land = [(coast, 0), *((list(one), 1) for one in rings[1:])]
    print(f"3 = land boundaries\n{sum(len(one) for one, _ in land)} = vertices of them")
    for one, kind in land:
        print(len(one), kind)
        print("\n".join(str(point + 1) for point in one))


if __name__ == "__main__":
    main()
