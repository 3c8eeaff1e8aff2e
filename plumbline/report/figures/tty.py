"""Figures as text for terminals: curves in Braille dots, the rest in block characters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from statistics import quantiles

from plumbline.base.columns import aligned
from plumbline.report.figures.shapes import (
    Chart,
    Distribution,
    Field,
    Figure,
    Heat,
    Ratios,
    Timeline,
)
from plumbline.report.figures.ticks import Scale, number, scale_of

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a Braille character
_SHADES = " ░▒▓█"
_MARKS = "●■▲◆○□△◇"


def lines(figure: Figure, width: int = 80, height: int = 20) -> Iterator[str]:
    """``figure`` in ``width`` columns; charts have ``height`` lines."""
    yield figure.title
    if isinstance(figure, Chart):
        yield from _chart(figure, width, height)
    elif isinstance(figure, Distribution):
        yield from _distribution(figure, width)
    elif isinstance(figure, Heat):
        yield from _heat(figure)
    elif isinstance(figure, Timeline):
        yield from _timeline(figure, width)
    elif isinstance(figure, Field):
        yield "(a picture of a mesh needs --output FILE.svg, .png or .pdf)"
    else:
        yield from _ratios(figure)
    if figure.note:
        yield figure.note


def _chart(chart: Chart, width: int, height: int) -> Iterator[str]:
    kept = [
        [(x, y) for x, y in one.points if (x > 0 or not chart.x.log) and (y > 0 or not chart.y.log)]
        for one in chart.curves
    ]
    every = [point for points in kept for point in points]
    if not every:
        return
    across = scale_of(chart.x, [x for x, _ in every], 6)
    up = scale_of(chart.y, [y for _, y in every], 6)
    left = max(len(text) for _, text in up.ticks) + 1
    columns = max(20, width - left - 1)
    canvas = _Canvas(columns, height)
    for number_, points in enumerate(kept):
        places = [(across.at(x), up.at(y)) for x, y in points]
        if chart.curves[number_].joined:
            canvas.draw(places)
        if not chart.curves[number_].model:
            canvas.mark(places, _MARKS[chart.curves[number_].colour % len(_MARKS)])
    ticks = {round((1 - up.at(value)) * (height - 1)): text for value, text in up.ticks}
    for row, text in enumerate(canvas.rows()):
        yield f"{ticks.get(row, ''):>{left - 1}} │{text}".rstrip()
    yield f"{'':>{left}}└{'─' * columns}"
    yield f"{'':>{left + 1}}{_tick_line(across, columns)}".rstrip()
    yield f"{'':>{left + 1}}{chart.x.label}; upwards {chart.y.label}"
    for curve in chart.curves:
        swatch = "┄┄" if curve.model else f"{_MARKS[curve.colour % len(_MARKS)]} "
        yield f"  {swatch} {curve.name}"
    for x, word in chart.marks:
        yield f"  {word} at {_where(chart, x)}"


def _where(chart: Chart, x: float) -> str:
    if chart.x.kind != "date":
        return number(x)
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(x, UTC):%Y-%m-%d %H:%M}"


def _tick_line(scale: Scale, columns: int) -> str:
    line = ""
    for value, text in scale.ticks:
        start = min(round(scale.at(value) * (columns - 1)), columns - len(text))
        if 0 <= scale.at(value) <= 1 and start >= len(line) + (1 if line else 0):
            line = f"{line:<{start}}{text}"
    return line


class _Canvas:
    """Braille characters, two dots wide and four high; positions are 0..1 from lower left."""

    def __init__(self, columns: int, rows: int) -> None:
        self._cells = [[0] * columns for _ in range(rows)]
        self._marks: dict[tuple[int, int], str] = {}
        self._across, self._up = 2 * columns - 1, 4 * rows - 1

    def draw(self, places: Sequence[tuple[float, float]]) -> None:
        """Draws a line through ``places``."""
        for (x, y), (to_x, to_y) in itertools.pairwise(places):
            steps = max(1, round(abs(to_x - x) * self._across), round(abs(to_y - y) * self._up))
            for i in range(steps + 1):
                share = i / steps
                self._dot(x + (to_x - x) * share, y + (to_y - y) * share)

    def mark(self, places: Sequence[tuple[float, float]], letter: str) -> None:
        """Puts a character at each position."""
        for x, y in places:
            column, row = self._cell(x, y)
            self._marks[row // 4, column // 2] = letter

    def rows(self) -> Iterator[str]:
        """The lines, from the top."""
        for i, row in enumerate(self._cells):
            yield "".join(
                self._marks.get((i, j)) or (chr(0x2800 + cell) if cell else " ")
                for j, cell in enumerate(row)
            )

    def _cell(self, x: float, y: float) -> tuple[int, int]:
        x, y = min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)
        return round(x * self._across), round((1 - y) * self._up)

    def _dot(self, x: float, y: float) -> None:
        column, row = self._cell(x, y)
        self._cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]


def _distribution(figure: Distribution, width: int) -> Iterator[str]:
    every = [v for row in figure.rows for v in row.values if v > 0 or not figure.x.log]
    scale = scale_of(figure.x, every, 6)
    left = max(len(row.label) for row in figure.rows)
    columns = max(20, width - left - 2)
    for row in figure.rows:
        cells = [" "] * columns
        places = sorted(round(scale.at(value) * (columns - 1)) for value in row.values)
        for place in places:
            cells[place] = "·"
        if len(places) > 1:
            low, half, high = (round(q) for q in quantiles(places, n=4, method="inclusive"))
            cells[low : high + 1] = "━" * (high + 1 - low)
            cells[half] = "┃"
        yield f"{row.label:>{left}}  {''.join(cells)}".rstrip()
    yield f"{'':>{left}}  {_tick_line(scale, columns)}"
    yield f"{'':>{left}}  {figure.x.label}"


def _heat(figure: Heat) -> Iterator[str]:
    values = [cell for row in figure.cells for cell in row if cell is not None]
    low, high = min(values), max(values)
    left = max(len(row) for row in figure.rows)
    for name, row in zip(figure.rows, figure.cells, strict=True):
        shades = [
            " "
            if cell is None
            else _SHADES[1 + round((cell - low) / (high - low) * 3) if high > low else 2]
            for cell in row
        ]
        yield f"{name:>{left}}  {''.join(shade * 2 for shade in shades)}"
    scale = f"░ {number(float(f'{low:.3g}'))} to █ {number(float(f'{high:.3g}'))} {figure.unit}"
    axes = " by ".join(filter(None, [figure.row_label, figure.column_label]))
    yield f"{axes}; {scale}"


def _timeline(figure: Timeline, width: int) -> Iterator[str]:
    end = max((bar.end for bar in figure.bars), default=1.0)
    left = max((len(row) for row in figure.rows), default=0)
    columns = max(20, width - left - 2)
    for i, name in enumerate(figure.rows):
        cells = [" "] * columns
        for bar in (one for one in figure.bars if one.row == i):
            begin = round(bar.start / end * (columns - 1))
            until = max(round(bar.end / end * (columns - 1)), begin + 1)
            cells[begin:until] = "█" * (until - begin)
        yield f"{name:>{left}}  {''.join(cells)}".rstrip()
    yield f"{'':>{left}}  0 to {end * 1e3:.4g} ms"


def _ratios(figure: Ratios) -> Iterator[str]:
    rows = [
        [
            *(one.label, f"{one.ratio:.3f}"),
            "{:.3f} to {:.3f}".format(*one.interval) if one.interval else "-",
            one.word,
        ]
        for one in figure.rows
    ]
    yield from aligned([["case", "B/A", "95 % interval", ""], *rows])
