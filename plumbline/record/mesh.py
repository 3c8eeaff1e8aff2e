"""Meshes of triangles with the kinds of their outer edges: ADCIRC's fort.14, and Gmsh's .msh.

The benchmark ``shallow_water`` reads fort.14, and writes it beside its record. Here they are read
to be described, converted and drawn, by the same rules: land is boundary type 0, 10 or 20, islands
are 1, 11 or 21, open boundaries are sea; coordinates are metres, or degrees that are projected.
Gmsh's files are read and written by meshio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from plumbline.base.errors import RunError, UsageError, reason_of

SEA, LAND = "sea", "land"
EARTH_RADIUS = 6378206.4  # m, ADCIRC's
_LAND_TYPES, _ISLAND_TYPES = (0, 10, 20), (1, 11, 21)
# Names of Gmsh's physical groups of lines.
_GROUPS = {"sea": SEA, "open": SEA, "ocean": SEA, "land": LAND, "island": LAND, "coast": LAND}

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Mesh:
    """Vertices (m) with depths h_b (m), counterclockwise triangles, outer edges by kind.

    ``corners`` and the pairs of ``outer`` are indices of vertices. An outer edge runs as in its
    triangle, with the water on its left.
    """

    points: Floats
    depths: Floats
    corners: Integers
    outer: Mapping[str, Integers]

    def sides(self) -> Integers:
        """The edges of all triangles, three a triangle."""
        return np.concatenate([self.corners[:, [k, (k + 1) % 3]] for k in range(3)])


@dataclass(frozen=True)
class MeshInfo:
    """What ``plumb mesh info`` prints. Lengths in m, ``area`` in m2, ``angle`` in degrees."""

    elements: int
    vertices: int
    inner_edges: int
    sea_edges: int
    land_edges: int
    islands: int
    area: float
    depths: tuple[float, float]
    lengths: tuple[float, float]
    angle: float


class _MeshError(Exception):
    """A sentence, and the element or vertex (from 0) or the file's line that it is about."""

    def __init__(
        self, sentence: str, element: int | None = None, point: int | None = None, line: int = 0
    ) -> None:
        super().__init__(sentence)
        self.element, self.point, self.line = element, point, line


class _Boundary(NamedTuple):
    """Outer edges of one kind: pairs of vertices, and the file's line of each."""

    kind: str
    pairs: Sequence[Sequence[int]] | Integers
    lines: Sequence[int] = ()


def read_mesh(path: Path, *, degrees: bool = False, depth: float | None = None) -> Mesh:
    """The mesh of a file: .msh is Gmsh's, any other fort.14.

    ``degrees``: coordinates are longitude and latitude. ``depth``: of all vertices, in place of the
    file's. Raises :class:`UsageError` with file and, for fort.14, line.
    """
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    if path.suffix == ".msh":
        return _read_msh(path, degrees, depth)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {reason_of(error)}") from None
    return _Fort14(path, text).read(degrees, depth)


def write_mesh(mesh: Mesh, path: Path, title: str) -> None:
    """Write ``mesh`` as .msh or fort.14, by the name's end."""
    try:
        if path.suffix == ".msh":
            _write_msh(mesh, path)
        else:
            path.write_text("\n".join(_fort14_lines(mesh, title)) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}") from None


def info_of(mesh: Mesh) -> MeshInfo:
    """Numbers, extents and shapes of ``mesh``."""
    outer = {kind: len(edges) for kind, edges in mesh.outer.items()}
    ends = np.sort(np.concatenate(list(mesh.outer.values())), axis=1)
    loops = _parts(ends, len(mesh.points))[np.unique(ends)]
    places = mesh.points[mesh.corners]
    lengths = np.linalg.norm(places - np.roll(places, -1, axis=1), axis=2)
    a, b, c = lengths.T
    cosines = [(b**2 + c**2 - a**2) / (2 * b * c), (a**2 + c**2 - b**2) / (2 * a * c)]
    cosines.append((a**2 + b**2 - c**2) / (2 * a * b))
    return MeshInfo(
        elements=len(mesh.corners),
        vertices=len(mesh.points),
        inner_edges=(3 * len(mesh.corners) - sum(outer.values())) // 2,
        sea_edges=outer.get(SEA, 0),
        land_edges=outer.get(LAND, 0),
        islands=len(np.unique(loops)) - 1,
        area=float(_areas(mesh.points, mesh.corners).sum()),
        depths=(float(mesh.depths.min()), float(mesh.depths.max())),
        lengths=(float(lengths.min()), float(lengths.max())),
        angle=float(np.degrees(np.arccos(np.clip(np.max(cosines), -1, 1)))),
    )


def read_owners(path: Path, elements: int) -> Integers:
    """The rank of each element from a METIS .part file, one a line."""
    try:
        owners = np.array([int(word) for word in path.read_text(encoding="utf-8").split()])
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(
            f"{path}: must have the rank of an element on each line: {error}"
        ) from None
    if len(owners) != elements or owners.min(initial=0) < 0:
        raise UsageError(
            f"{path}: must have the ranks of the mesh's {elements} elements, from 0, not "
            f"{len(owners)} numbers"
        )
    return owners


# --- what every mesh must be ----------------------------------------------------------------------


def _areas(points: Floats, corners: Integers) -> Floats:
    a, b, c = (points[corners[:, k]] for k in range(3))
    found: Floats = 0.5 * (
        (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    )
    return found


def _parts(edges: Integers, vertices: int) -> Integers:
    """The number of the part that each vertex is in, of those that ``edges`` join."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(edges), dtype=np.int8)
    graph = coo_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(vertices, vertices))
    found: Integers = np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
    return found


def _linked(
    points: Floats,
    depths: Floats,
    corners: Integers,
    boundaries: Iterable[_Boundary],
    labels: Integers,
) -> Mesh:
    """The mesh, if it is sound. ``labels`` name the vertices in sentences. Raises _MeshError."""
    if not len(corners):
        raise _MeshError("the mesh has no elements")
    areas = _areas(points, corners)
    corners = np.where((areas < 0)[:, None], corners[:, [0, 2, 1]], corners)
    sides = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2)  # [element][edge][end]
    longest = np.linalg.norm(points[sides[:, :, 0]] - points[sides[:, :, 1]], axis=2).max(axis=1)
    if (bad := np.flatnonzero(~(np.abs(areas) > 1e-12 * longest**2))).size:
        raise _MeshError(f"element {bad[0] + 1} has no area", element=int(bad[0]))
    unused = np.setdiff1d(np.arange(len(points)), corners)
    if unused.size:
        raise _MeshError(f"vertex {labels[unused[0]]} is in no element", point=int(unused[0]))
    if (bad := np.flatnonzero(~(depths > 0))).size:
        raise _MeshError(
            f"the depth of vertex {labels[bad[0]]} is {depths[bad[0]]:g}, but must be positive",
            point=int(bad[0]),
        )
    flat = sides.reshape(-1, 2)
    ends = np.sort(flat, axis=1)
    edges, first, which, count = np.unique(
        ends, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    which = which.reshape(-1)
    if (count > 2).any():
        place = int(np.flatnonzero(count[which] > 2)[0])
        low, high = labels[ends[place]]
        raise _MeshError(
            f"the edge between vertices {low} and {high} is in three elements",
            element=place // 3,
        )
    outer = _outer_edges(edges, count == 1, boundaries, labels)
    if (bare := np.flatnonzero((count == 1) & (outer == ""))).size:
        low, high = labels[edges[bare[0]]]
        raise _MeshError(
            f"the outer edge between vertices {low} and {high} has no kind: it is in no boundary",
            element=int(first[bare[0]]) // 3,
        )
    parts = _parts(edges, len(points))[corners[:, 0]]
    if (other := np.flatnonzero(parts != parts[0])).size:
        raise _MeshError(
            f"the mesh is in several parts: element {other[0] + 1} is not connected with element 1",
            element=int(other[0]),
        )
    found = {kind: flat[first[outer == kind]] for kind in (SEA, LAND)}
    return Mesh(points, depths, corners, found)


def _outer_edges(
    edges: Integers, is_outer: NDArray[np.bool_], boundaries: Iterable[_Boundary], labels: Integers
) -> NDArray[np.str_]:
    """The kind of each edge; empty where it has none."""
    found = np.full(len(edges), "", dtype="U4")
    number = {(int(low), int(high)): i for i, (low, high) in enumerate(edges) if is_outer[i]}
    for kind, pairs, lines in boundaries:
        for i, (a, b) in enumerate(pairs):
            place = number.get((min(a, b), max(a, b)))
            problem = ""
            if place is None:
                problem = "not the ends of an outer edge"
            elif found[place] not in ("", kind):
                problem = "the ends of an edge that is both sea and land"
            if problem:
                raise _MeshError(
                    f"vertices {labels[a]} and {labels[b]} are {problem}",
                    line=lines[i] if lines else 0,
                )
            found[place] = kind
    return found


def _projected(points: Floats) -> Floats:
    """Longitude and latitude to metres, about the mean of all (Carte parallelogrammatique)."""
    middle = points.mean(axis=0)
    scale = EARTH_RADIUS * np.radians(1) * np.array([np.cos(np.radians(middle[1])), 1])
    found: Floats = (points - middle) * scale
    return found


# --- fort.14 --------------------------------------------------------------------------------------


class _Fort14:
    def __init__(self, path: Path, text: str) -> None:
        self._path, self._lines, self._at = path, text.splitlines(), 0

    def read(self, degrees: bool, depth: float | None) -> Mesh:
        self._numbers(0, "the title")
        elements, vertices = self._whole(2, "the line of the numbers of elements and vertices")
        first_point = self._at + 1
        table = self._table(vertices, 4, "a vertex")
        labels = table[:, 0].astype(np.int64)
        self._index = {int(label): i for i, label in enumerate(labels)}
        if len(self._index) < vertices:
            raise self._wrong(first_point, "a vertex occurs twice")
        points = _projected(table[:, 1:3]) if degrees else table[:, 1:3]
        depths = table[:, 3] if depth is None else np.full(vertices, depth)
        first_element = self._at + 1
        corners = self._corners(elements, labels)
        boundaries = [*self._boundaries(SEA), *self._boundaries(LAND)]
        try:
            return _linked(points, depths, corners, boundaries, labels)
        except _MeshError as problem:
            at = problem.line or first_element + (problem.element or 0)
            if problem.point is not None:
                at = first_point + problem.point
            raise self._wrong(at, str(problem)) from None

    def _wrong(self, line: int, sentence: str) -> UsageError:
        return UsageError(f"{self._path}, line {line}: {sentence}")

    def _numbers(self, wanted: int, what: str) -> list[float]:
        """The next line's first numbers."""
        self._at += 1
        if self._at > len(self._lines):
            raise self._wrong(self._at, f"the file ends before {what}")
        words = self._lines[self._at - 1].split()[:wanted]
        if len(words) < wanted:
            raise self._wrong(self._at, f"{what} needs {wanted} numbers, not {len(words)}")
        return [self._number(word, what) for word in words]

    def _number(self, word: str, what: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise self._wrong(self._at, f'"{word}" is not a number ({what})')
        return value

    def _whole(self, wanted: int, what: str) -> list[int]:
        numbers = self._numbers(wanted, what)
        if any(one != int(one) or one < 0 for one in numbers):
            raise self._wrong(self._at, f"{what} must be whole numbers from 0")
        return [int(one) for one in numbers]

    def _table(self, rows: int, columns: int, what: str) -> Floats:
        """The first columns of the next lines; one by one where something is wrong."""
        lines = self._lines[self._at : self._at + rows]
        try:
            table = np.loadtxt(lines, usecols=range(columns), ndmin=2, comments=None)
        except ValueError:
            table = np.empty((0, columns))
        if table.shape == (rows, columns) and np.isfinite(table).all():
            self._at += rows
            return table
        return np.array([self._numbers(columns, what) for _ in range(rows)]).reshape(-1, columns)

    def _corners(self, elements: int, labels: Integers) -> Integers:
        first = self._at + 1
        table = self._table(elements, 5, "an element").astype(np.int64)
        if (bad := np.flatnonzero(table[:, 1] != 3)).size:
            line, count = first + int(bad[0]), table[bad[0], 1]
            raise self._wrong(line, f"an element has {count} vertices, not 3")
        order = np.argsort(labels)
        place = np.searchsorted(labels[order], table[:, 2:5]).clip(max=len(labels) - 1)
        corners: Integers = order[place]
        if (missing := np.argwhere(labels[corners] != table[:, 2:5])).size:
            row, column = missing[0]
            label = table[row, 2 + column]
            raise self._wrong(first + int(row), f"vertex {label} is missing")
        return corners

    def _boundaries(self, kind: str) -> Iterator[_Boundary]:
        named = "land" if kind == LAND else "open"
        (count,) = self._whole(1, f"the number of {named} boundaries")
        self._numbers(1, f"the number of vertices of all {named} boundaries")
        for _ in range(count):
            head = self._whole(2 if kind == LAND else 1, f"the head of a {named} boundary")
            of_type = head[1] if kind == LAND else 0
            if of_type not in _LAND_TYPES + _ISLAND_TYPES:
                raise self._wrong(
                    self._at,
                    f"boundary type {of_type} is unknown: land is 0, 10 or 20, an island 1, 11 or "
                    "21",
                )
            first = self._at + 2
            chain = [self._vertex() for _ in range(head[0])]
            lines = list(range(first, self._at + 1))
            if of_type in _ISLAND_TYPES and len(chain) > 2 and chain[0] != chain[-1]:
                chain.append(chain[0])
                lines.append(self._at)
            yield _Boundary(kind, list(pairwise(chain)), lines)

    def _vertex(self) -> int:
        (label,) = self._whole(1, "a vertex of a boundary")
        if label not in self._index:
            raise self._wrong(self._at, f"vertex {label} is missing")
        return self._index[label]


def _fort14_lines(mesh: Mesh, title: str) -> Iterator[str]:
    yield title
    yield f"{len(mesh.corners)} {len(mesh.points)}"
    for i, ((x, y), depth) in enumerate(zip(mesh.points, mesh.depths, strict=True), 1):
        yield f"{i} {float(x)!r} {float(y)!r} {float(depth)!r}"
    for i, (a, b, c) in enumerate(mesh.corners + 1, 1):
        yield f"{i} 3 {a} {b} {c}"
    for kind, named in ((SEA, "open"), (LAND, "land")):
        chains = list(_chains(mesh.outer[kind]))
        yield f"{len(chains)} = number of {named} boundaries"
        yield f"{sum(len(chain) for chain in chains)} = vertices of them"
        for chain in chains:
            island = f" {int(chain[0] == chain[-1])}" if kind == LAND else ""
            yield f"{len(chain)}{island}"
            yield from (str(vertex + 1) for vertex in chain)


def _chains(edges: Integers) -> Iterator[list[int]]:
    """Edges joined into lines of vertices: open ones, then rings."""
    following = {int(a): int(b) for a, b in edges}
    entered = set(following.values())
    starts = [*(a for a in following if a not in entered), *following]
    for start in starts:
        chain = [start]
        while chain[-1] in following:
            chain.append(following.pop(chain[-1]))
        if len(chain) > 1:
            yield chain


# --- Gmsh -----------------------------------------------------------------------------------------


def _meshio() -> Any:
    try:
        import meshio
    except ImportError:
        raise UsageError(".msh needs meshio: pip install meshio") from None
    return meshio


def _read_msh(path: Path, degrees: bool, depth: float | None) -> Mesh:
    meshio = _meshio()

    def refuse(sentence: str) -> NoReturn:
        raise UsageError(f"{path}: {sentence}")

    try:
        found = meshio.gmsh.read(path)
    except Exception as error:  # meshio lets any error of a malformed file through
        refuse(f"meshio cannot read it: {error or type(error).__name__}")
    others = {block.type for block in found.cells} - {"triangle", "line", "vertex"}
    if others:
        refuse(f"elements must be triangles, not {', '.join(sorted(others))}")
    corners = found.cells_dict.get("triangle", np.empty((0, 3))).astype(np.int64)
    points = found.points[:, :2].astype(np.float64)
    depths = found.point_data.get("depth", found.points[:, 2]).astype(np.float64).reshape(-1)
    used, renumbered = np.unique(corners, return_inverse=True)
    place = np.full(len(points), -1)
    place[used] = np.arange(len(used))
    boundaries = [_Boundary(kind, place[pairs]) for kind, pairs in _msh_kinds(found, refuse)]
    points = points[used]
    try:
        return _linked(
            _projected(points) if degrees else points,
            depths[used] if depth is None else np.full(len(used), depth),
            renumbered.reshape(-1, 3),
            boundaries,
            used + 1,
        )
    except _MeshError as problem:
        refuse(str(problem))


def _msh_kinds(found: Any, refuse: Callable[[str], NoReturn]) -> Iterator[tuple[str, Integers]]:
    """Lines of each physical group; its name gives the kind."""
    lines = found.cells_dict.get("line")
    if lines is None:
        return
    tags = found.cell_data_dict.get("gmsh:physical", {}).get("line")
    if tags is None:
        refuse("its lines are in no physical group: name the groups sea and land")
    names = {
        int(tag): name for name, (tag, dimension) in found.field_data.items() if dimension == 1
    }
    for tag in np.unique(tags):
        name = names.get(int(tag), str(tag))
        kind = _GROUPS.get(name.lower())
        if kind is None:
            known: Sequence[str] = list(_GROUPS)
            refuse(f'the physical group "{name}" of lines must be one of {", ".join(known)}')
        yield kind, lines[tags == tag]


def _write_msh(mesh: Mesh, path: Path) -> None:
    meshio = _meshio()
    tags = {SEA: 1, LAND: 2, "water": 3}
    cells = [("line", mesh.outer[kind]) for kind in (SEA, LAND) if len(mesh.outer[kind])]
    which = [tags[kind] for kind in (SEA, LAND) if len(mesh.outer[kind])]
    cells.append(("triangle", mesh.corners))
    which.append(tags["water"])
    groups = [np.full(len(one), tag) for (_, one), tag in zip(cells, which, strict=True)]
    meshio.gmsh.write(
        path,
        meshio.Mesh(
            np.column_stack([mesh.points, np.zeros(len(mesh.points))]),
            cells,
            point_data={"depth": mesh.depths},
            cell_data={"gmsh:physical": groups, "gmsh:geometrical": groups},
            field_data={
                name: np.array([tag, 2 if name == "water" else 1]) for name, tag in tags.items()
            },
        ),
        fmt_version="2.2",
        binary=True,  # meshio 5.3.5 writes data of points as text that nothing reads, with NumPy 2
    )
