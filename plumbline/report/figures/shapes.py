"""Contents of figures, independent of their drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plumbline.record.mesh import Mesh

AxisKind = Literal["number", "bytes", "date", "count"]


@dataclass(frozen=True)
class Axis:
    """An axis: ``bytes`` has ticks at powers of two, ``count`` at integers.

    ``date`` is seconds since 1970, UTC.
    """

    label: str
    log: bool = False
    kind: AxisKind = "number"


@dataclass(frozen=True)
class Curve:
    """Points in order of x; ``model`` curves are dashed, without marks.

    ``colour`` is an index into the palette, ``texts`` are the points' descriptions.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    model: bool = False
    joined: bool = True
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """Curves over two axes; ``marks`` are vertical lines with labels."""

    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve]
    note: str = ""
    marks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Values:
    """A row of a distribution: all values, and those drawn as dots."""

    label: str
    values: Sequence[float]
    colour: int = 0


@dataclass(frozen=True)
class Distribution:
    """Rows of values over one axis: dots, box of the quartiles, median."""

    title: str
    x: Axis
    rows: Sequence[Values]
    note: str = ""


@dataclass(frozen=True)
class Heat:
    """A matrix: ``cells[row][column]``, None if not measured; ``unit`` of the values."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[float | None]]
    unit: str
    row_label: str = ""
    column_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A bar of a timeline: from ``start`` to ``end`` in seconds, in row ``row``."""

    row: int
    start: float
    end: float
    name: str
    colour: int


@dataclass(frozen=True)
class Timeline:
    """Activities of each row over time."""

    title: str
    rows: Sequence[str]
    bars: Sequence[Bar]
    note: str = ""


@dataclass(frozen=True)
class Ratio:
    """A row of a comparison: B / A, its 95 % interval, and its word."""

    label: str
    ratio: float
    interval: tuple[float, float] | None
    word: str


@dataclass(frozen=True)
class Ratios:
    """Ratios with a line at 1; those within ``threshold`` are no difference."""

    title: str
    rows: Sequence[Ratio] = field(default=())
    threshold: float = 0.03
    note: str = ""


@dataclass(frozen=True)
class Field:
    """Values of a mesh's triangles over their places, and its outer edges by kind.

    ``classes``: the values are ranks, not numbers of a scale. ``limits`` of the scale; by default
    the values' own.
    """

    title: str
    mesh: Mesh
    values: Sequence[float] | NDArray[Any]
    label: str = ""
    classes: bool = False
    limits: tuple[float, float] | None = None
    note: str = ""


Figure = Chart | Distribution | Heat | Timeline | Ratios | Field
