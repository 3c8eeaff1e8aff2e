"""What a figure shows, whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

AxisKind = Literal["number", "bytes", "date"]


@dataclass(frozen=True)
class Axis:
    """An axis: ``bytes`` has ticks at powers of two, ``date`` is seconds since 1970, UTC."""

    label: str
    log: bool = False
    kind: AxisKind = "number"


@dataclass(frozen=True)
class Curve:
    """Points in the order of x; ``model`` is drawn dashed and without marks.

    ``colour`` numbers the palette's, ``texts`` say what each point is.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    model: bool = False
    joined: bool = True
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """Curves over two axes; ``marks`` are upright lines with a word each."""

    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve]
    note: str = ""
    marks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Values:
    """A row of a distribution: all values, and those that stand for it as dots."""

    label: str
    values: Sequence[float]
    colour: int = 0


@dataclass(frozen=True)
class Distribution:
    """Rows of values over one axis: dots, the box of the quartiles, the median."""

    title: str
    x: Axis
    rows: Sequence[Values]
    note: str = ""


@dataclass(frozen=True)
class Heat:
    """A matrix: ``cells[row][column]``, None where nothing was measured; ``unit`` of the values."""

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
    """What each row did over time."""

    title: str
    rows: Sequence[str]
    bars: Sequence[Bar]
    note: str = ""


@dataclass(frozen=True)
class Ratio:
    """A row of a comparison: B / A, its 95 % interval, and the word for it."""

    label: str
    ratio: float
    interval: tuple[float, float] | None
    word: str


@dataclass(frozen=True)
class Ratios:
    """Ratios beside a line at 1; within ``threshold`` is no difference."""

    title: str
    rows: Sequence[Ratio] = field(default=())
    threshold: float = 0.03
    note: str = ""


Figure = Chart | Distribution | Heat | Timeline | Ratios
