"""Figures as SVG: small, without scripts, accessible to screen readers.

Colours are classes, ``c0`` to ``c7``, defined by the page's style sheet or :func:`standalone`.
Curves' marks differ in shape as well. Coordinates are in pixels of a view 420 wide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from statistics import quantiles

from plumbline.report.figures import fields
from plumbline.report.figures.shapes import (
    Axis,
    Bar,
    Chart,
    Curve,
    Distribution,
    Field,
    Figure,
    Heat,
    Ratios,
    Timeline,
)
from plumbline.report.figures.ticks import Scale, number, scale_of

WIDTH = 420
COLOURS = 8
_LIGHT = ("#0b6bcb", "#c2410c", "#047857", "#7e22ce", "#b91c67", "#0e7490", "#854d0e", "#475569")
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 8, 36
_HEIGHT = 210  # of the plot
_LETTER = 6.4  # pixels of a letter at the usual size; an upper estimate
_DOTS = 60  # per row of a distribution
_ROW = 20
_GAP = 1.0  # between bars of a timeline, in pixels; closer ones are drawn as one
_STYLE = (
    "text{font:11px system-ui,'DejaVu Sans',sans-serif;fill:#334155}.g{stroke:#e2e8f0}"
    ".a{stroke:#64748b}.l{fill:none;stroke-width:1.8}.m{stroke-dasharray:5 3}.b{fill-opacity:.18}"
    ".d{fill-opacity:.55}.o{fill:#fff;fill-opacity:0}"
)
_ids = itertools.count(1)


def svg(figure: Figure) -> str:
    """``figure`` as an element of a page, in the page's colours."""
    body, height, summary = _drawn(figure)
    name = f"f{next(_ids)}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="{name}t {name}d">'
        f'<title id="{name}t">{escape(figure.title)}</title>'
        f'<desc id="{name}d">{escape(summary)}</desc>{body}</svg>'
    )


def standalone(figure: Figure) -> str:
    """``figure`` as a separate file, with title and colours, on white."""
    body, height, summary = _drawn(figure)
    colours = "".join(
        f".c{i}.l,.c{i}.k{{stroke:{colour}}}.c{i}.f,.c{i}.b,.c{i}.d{{fill:{colour}}}"
        for i, colour in enumerate(_LIGHT)
    )
    lines = _wrapped(figure.title, 52)
    head = "".join(
        _text(8, 17 + 15 * i, line, more=' style="font-weight:600;font-size:12px"')
        for i, line in enumerate(lines)
    )
    top = 10 + 15 * len(lines)
    note = _wrapped(figure.note, 72) if figure.note else []
    below = "".join(
        f'<text x="8" y="{top + height + 12 + 13 * i:.0f}">{escape(line)}</text>'
        for i, line in enumerate(note)
    )
    whole = top + height + 13 * len(note) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {whole:.0f}" '
        f'width="{WIDTH}" height="{whole:.0f}"><title>{escape(figure.title)}</title>'
        f"<desc>{escape(summary)}</desc><style>{_STYLE}{colours}</style>"
        f'<rect width="{WIDTH}" height="{whole:.0f}" fill="#fff"/>{head}'
        f'<g transform="translate(0 {top})">{body}</g>{below}</svg>\n'
    )


def _drawn(figure: Figure) -> tuple[str, float, str]:
    """The elements, the height, and the text for screen readers."""
    if isinstance(figure, Chart):
        return _chart(figure)
    if isinstance(figure, Distribution):
        return _distribution(figure)
    if isinstance(figure, Heat):
        return _heat(figure)
    if isinstance(figure, Timeline):
        return _timeline(figure)
    if isinstance(figure, Field):
        return _field(figure)
    return _ratios(figure)


# --- parts of all figures -------------------------------------------------------------------------


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{anchored}{more}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def _figure(value: float) -> str:
    return number(float(f"{value:.4g}"))


def _short(text: str, most: int) -> str:
    """``text``, if need be without its middle: what tells labels apart is often at their end."""
    if len(text) <= most:
        return text
    kept = (most - 1) // 2
    return f"{text[: most - 1 - kept]}…{text[len(text) - kept :]}"


def _wrapped(text: str, most: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _x_axis(scale: Scale, left: float, width: float, top: float, bottom: float) -> Iterator[str]:
    last = -math.inf
    for value, text in scale.ticks:
        x = left + scale.at(value) * width
        if not left - 0.5 <= x <= left + width + 0.5:
            continue
        yield _line(x, top, x, bottom, "g")
        half = len(text) * _LETTER / 2
        middle = min(max(x, half + 2), WIDTH - half - 2)
        if middle - half > last + 6:
            yield _text(middle, bottom + 14, text, "middle")
            last = middle + half


def _legend(names: Sequence[tuple[str, str]], top: float) -> tuple[str, float]:
    """Swatches with names in rows below ``top``, and their height."""
    parts, x, y = [], 8.0, top + 12
    for name, swatch in names:
        shown = _short(name, 60)
        width = 26 + len(shown) * _LETTER + 12
        if x > 8 and x + width > WIDTH:
            x, y = 8.0, y + 16
        parts.append(f'<g transform="translate({x:.0f} {y - 4:.0f})">{swatch}</g>')
        parts.append(_text(x + 24, y, shown))
        x += width
    return "".join(parts), (y + 8 - top) if names else 0.0


# --- charts ---------------------------------------------------------------------------------------


def _chart(chart: Chart) -> tuple[str, float, str]:
    usable = [_usable(curve, chart) for curve in chart.curves]
    xs = [x for curve in usable for x, _ in curve] or [1.0]
    ys = [y for curve in usable for _, y in curve] or [1.0]
    horizontal, vertical = scale_of(chart.x, xs), scale_of(chart.y, ys, 6)
    width, bottom = WIDTH - _LEFT - _RIGHT, _TOP + _HEIGHT

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + horizontal.at(x) * width, bottom - vertical.at(y) * _HEIGHT

    parts = list(_x_axis(horizontal, _LEFT, width, _TOP, bottom))
    for value, text in vertical.ticks:
        y = at(xs[0], value)[1]
        parts += [_line(_LEFT, y, WIDTH - _RIGHT, y, "g"), _text(_LEFT - 5, y + 4, text, "end")]
    parts.append(_line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "a"))
    middle = _TOP + _HEIGHT / 2
    turned = f' transform="rotate(-90 11 {middle:.0f})"'
    parts.append(_text(11, middle, chart.y.label, "middle", turned))
    parts.append(_text(_LEFT + width / 2, bottom + 30, chart.x.label, "middle"))
    for x, word in chart.marks:
        place = at(x, ys[0])[0]
        parts.append(_line(place, _TOP, place, bottom, "a m"))
        parts.append(_text(min(place + 3, WIDTH - 70), _TOP + 10, _short(word, 24)))
    for curve, points in zip(chart.curves, usable, strict=True):
        parts.append(_curve(curve, [at(*point) for point in points]))
    legend, height = _legend(
        [(curve.name, _swatch(curve)) for curve in chart.curves if len(chart.curves) > 1],
        bottom + _BOTTOM,
    )
    return "".join([*parts, legend]), bottom + _BOTTOM + height, _summary(chart, usable)


def _usable(curve: Curve, chart: Chart) -> list[tuple[float, float]]:
    return [
        (x, y)
        for x, y in curve.points
        if not (chart.x.log and x <= 0) and not (chart.y.log and y <= 0)
    ]


def _curve(curve: Curve, places: Sequence[tuple[float, float]]) -> str:
    if not places:
        return ""
    colour = f"c{curve.colour % COLOURS}"
    parts = []
    if curve.joined or curve.model:
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<path class="l {colour}{" m" if curve.model else ""}" d="{path}"/>')
    if not curve.model:
        mark = _MARKS[curve.colour % len(_MARKS)]
        path = "".join(mark(x, y) for x, y in places)
        parts.append(f'<path class="f {colour}" d="{path}"/>')
        for (x, y), text in zip(places, curve.texts, strict=False):
            told = f"<title>{escape(text)}</title>"
            parts.append(f'<circle class="o" cx="{x:.1f}" cy="{y:.1f}" r="7">{told}</circle>')
    return "".join(parts)


def _swatch(curve: Curve) -> str:
    colour = f"c{curve.colour % COLOURS}"
    line = f'<path class="l {colour}{" m" if curve.model else ""}" d="M0 0H20"/>'
    if curve.model:
        return line
    mark = f'<path class="f {colour}" d="{_MARKS[curve.colour % len(_MARKS)](10, 0)}"/>'
    return f"{line if curve.joined else ''}{mark}"


def _circle(x: float, y: float) -> str:
    return f"M{x - 2.8:.1f} {y:.1f}a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0-5.6 0"


def _square(x: float, y: float) -> str:
    return f"M{x - 2.6:.1f} {y - 2.6:.1f}h5.2v5.2h-5.2z"


def _triangle(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 3.4:.1f}l3.2 5.8h-6.4z"


def _diamond(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 3.6:.1f}l3.6 3.6l-3.6 3.6l-3.6-3.6z"


_MARKS: tuple[Callable[[float, float], str], ...] = (_circle, _square, _triangle, _diamond)


def _summary(chart: Chart, usable: Sequence[Sequence[tuple[float, float]]]) -> str:
    told = []
    for curve, points in zip(chart.curves, usable, strict=True):
        if points:
            ys = [y for _, y in points]
            told.append(f"{curve.name}: {number(min(ys))} to {number(max(ys))}")
    return f"{chart.y.label} over {chart.x.label}. {'; '.join(told)}."


# --- distributions --------------------------------------------------------------------------------


def _distribution(figure: Distribution) -> tuple[str, float, str]:
    label = min(max((len(row.label) for row in figure.rows), default=0), 28)
    left = 10 + label * _LETTER
    width, bottom = WIDTH - left - _RIGHT, _TOP + _ROW * len(figure.rows)
    every = [v for row in figure.rows for v in row.values if v > 0 or not figure.x.log]
    scale = scale_of(figure.x, every or [1.0], 6)
    parts = list(_x_axis(scale, left, width, _TOP, bottom))
    for i, row in enumerate(figure.rows):
        middle = _TOP + _ROW * (i + 0.5)
        parts.append(_text(left - 6, middle + 4, _short(row.label, 28), "end"))
        parts.append(_row_of_values(row.values, row.colour, scale, left, width, middle))
    parts.append(_line(left, bottom, WIDTH - _RIGHT, bottom, "a"))
    parts.append(_text(left + width / 2, bottom + 30, figure.x.label, "middle"))
    told = "; ".join(
        f"{row.label}: median {number(_quartiles(row.values)[1])}, {len(row.values)} values"
        for row in figure.rows
        if row.values
    )
    return "".join(parts), bottom + _BOTTOM, f"{figure.x.label}. {told}."


def _quartiles(values: Sequence[float]) -> list[float]:
    return quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def _row_of_values(
    values: Sequence[float], colour: int, scale: Scale, left: float, width: float, middle: float
) -> str:
    if not values:
        return ""
    ordered = sorted(values)
    count = min(_DOTS, len(ordered))
    picked = [ordered[round(i * (len(ordered) - 1) / max(count - 1, 1))] for i in range(count)]
    places = [left + scale.at(value) * width for value in picked]
    dots = "".join(
        f"M{x - 1.5:.1f} {middle + (i * 7 % 11 - 5) * 0.9:.1f}h3" for i, x in enumerate(places)
    )
    low, half, high = (left + scale.at(value) * width for value in _quartiles(ordered))
    name = f"c{colour % COLOURS}"
    box = f"M{low:.1f} {middle - 6:.1f}H{max(high, low + 0.5):.1f}v12H{low:.1f}z"
    return (
        f'<path class="b {name}" d="{box}"/>'
        f'<path class="l k {name}" style="stroke-width:2.2;stroke-opacity:.6" d="{dots}"/>'
        f'<path class="l {name}" d="M{half:.1f} {middle - 7:.1f}v14"/>'
    )


# --- heat maps, timelines, ratios -----------------------------------------------------------------


def _heat(figure: Heat) -> tuple[str, float, str]:
    label = min(max(len(row) for row in figure.rows), 20)
    left, top = 14 + label * _LETTER + (12 if figure.row_label else 0), 24.0
    side = min(30.0, (WIDTH - left - _RIGHT) / len(figure.columns))
    high = min(max(side, 14.0), 22.0)
    values = [cell for row in figure.cells for cell in row if cell is not None]
    low, most = (min(values), max(values)) if values else (0.0, 1.0)
    parts = []
    every = max(1, math.ceil(max(len(c) for c in figure.columns) * _LETTER / side))
    for j, column in enumerate(figure.columns):
        if j % every == 0:
            parts.append(_text(left + (j + 0.5) * side, top - 5, column, "middle"))
    for i, (name, row) in enumerate(zip(figure.rows, figure.cells, strict=True)):
        y = top + i * high
        parts.append(_text(left - 6, y + high / 2 + 4, _short(name, 20), "end"))
        for j, cell in enumerate(row):
            if cell is None:
                continue
            share = (cell - low) / (most - low) if most > low else 0.5
            told = f"{name}, {figure.columns[j]}: {_figure(cell)} {figure.unit}"
            parts.append(
                f'<rect class="f c0" x="{left + j * side:.1f}" y="{y:.1f}" '
                f'width="{side - 1:.1f}" height="{high - 1:.1f}" '
                f'fill-opacity="{0.08 + 0.92 * share:.2f}"><title>{escape(told)}</title></rect>'
            )
    bottom = top + len(figure.rows) * high
    scale = f"{_figure(low)} to {_figure(most)} {figure.unit}, the darker the more"
    axes = f"{figure.row_label} down, {figure.column_label} across" if figure.row_label else ""
    parts.append(_text(8, bottom + 16, f"{axes + ': ' if axes else ''}{scale}"))
    return "".join(parts), bottom + 24, f"{axes}: {scale}"


def _timeline(figure: Timeline) -> tuple[str, float, str]:
    label = min(max((len(row) for row in figure.rows), default=0), 22)
    left = 10 + label * _LETTER
    width, bottom = WIDTH - left - _RIGHT, _TOP + _ROW * len(figure.rows)
    ends = [1e3 * bar.end for bar in figure.bars] or [1.0]
    scale = scale_of(Axis("time, ms"), [0.0, *ends], 6)
    parts = list(_x_axis(scale, left, width, _TOP, bottom))
    for i, row in enumerate(figure.rows):
        parts.append(_text(left - 6, _TOP + _ROW * (i + 0.5) + 4, _short(row, 22), "end"))
    for row, bars in itertools.groupby(figure.bars, key=lambda bar: bar.row):
        own = list(bars)
        told = f"{figure.rows[row]}: {_told(own)}"
        spans = _merged(
            [[left + scale.at(1e3 * m) * width for m in (bar.start, bar.end)] for bar in own]
        )
        y, high = _TOP + _ROW * row + 3, _ROW - 6
        path = "".join(f"M{x:.1f} {y}h{end - x:.1f}v{high}H{x:.1f}z" for x, end in spans)
        parts.append(
            f'<path class="f c{own[0].colour % COLOURS}" d="{path}">'
            f"<title>{escape(told)}</title></path>"
        )
    parts.append(_line(left, bottom, WIDTH - _RIGHT, bottom, "a"))
    parts.append(_text(left + width / 2, bottom + 30, "time, ms", "middle"))
    names = list(dict.fromkeys((bar.name, bar.colour) for bar in figure.bars))
    swatches = [
        (name, f'<path class="f c{colour % COLOURS}" d="M2 -5h16v10h-16z"/>')
        for name, colour in names
    ]
    legend, height = _legend(swatches, bottom + _BOTTOM)
    told = ", ".join(name for name, _ in names)
    return (
        "".join([*parts, legend]),
        bottom + _BOTTOM + height,
        f"{len(figure.rows)} rows over {number(max(ends))} ms: {told}",
    )


def _told(bars: Sequence[Bar]) -> str:
    """Of one row: from when to when, and if it has several bars their number and sum."""
    whole = f"{_figure(1e3 * bars[0].start)} to {_figure(1e3 * max(b.end for b in bars))} ms"
    if len(bars) == 1:
        return whole
    busy = sum(bar.end - bar.start for bar in bars)
    return f"{len(bars)} times from {whole}, {_figure(1e3 * busy)} ms in all"


def _merged(spans: Sequence[Sequence[float]]) -> list[list[float]]:
    """Intervals in pixels, each wide enough to be seen; those without a gap to see are one."""
    found: list[list[float]] = []
    for begin, end in sorted(map(list, spans)):
        if found and begin < found[-1][1] + _GAP:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, max(end, begin + 0.6)])
    return found


_WORD_COLOURS = {"same": 7, "faster": 2, "slower": 1, "ambiguous": 3}


def _ratios(figure: Ratios) -> tuple[str, float, str]:
    label = min(max((len(row.label) for row in figure.rows), default=0), 26)
    left = 10 + label * _LETTER
    width, bottom = WIDTH - left - _RIGHT, _TOP + _ROW * len(figure.rows)
    every = [1.0, 1 + figure.threshold, 1 / (1 + figure.threshold)]
    every += [value for row in figure.rows for value in (row.ratio, *(row.interval or ()))]
    scale = scale_of(Axis("B / A", log=True), every, 6)

    def at(value: float) -> float:
        return left + scale.at(value) * width

    low, high = at(1 / (1 + figure.threshold)), at(1 + figure.threshold)
    parts = [
        f'<path class="b c7" d="M{low:.1f} {_TOP}H{high:.1f}V{bottom}H{low:.1f}z"/>',
        *_x_axis(scale, left, width, _TOP, bottom),
        _line(at(1), _TOP, at(1), bottom, "a"),
    ]
    for i, row in enumerate(figure.rows):
        middle = _TOP + _ROW * (i + 0.5)
        colour = _WORD_COLOURS.get(row.word, 0)
        parts.append(_text(left - 6, middle + 4, _short(row.label, 26), "end"))
        if row.interval:
            parts.append(
                f'<path class="l c{colour}" d="M{at(row.interval[0]):.1f} {middle:.1f}'
                f'H{at(row.interval[1]):.1f}"/>'
            )
        mark = _MARKS[colour % len(_MARKS)](at(row.ratio), middle)
        told = f"{row.label}: {row.ratio:.3f}, {row.word}"
        parts.append(f'<path class="f c{colour}" d="{mark}"><title>{escape(told)}</title></path>')
    parts.append(_text(left + width / 2, bottom + 30, "B / A", "middle"))
    names = list(dict.fromkeys(row.word for row in figure.rows))
    swatches = [
        (name, f'<path class="f c{c}" d="{_MARKS[c % len(_MARKS)](10, 0)}"/>')
        for name in names
        for c in [_WORD_COLOURS.get(name, 0)]
    ]
    legend, height = _legend(swatches, bottom + _BOTTOM)
    told = "; ".join(f"{row.label}: {row.ratio:.3f}, {row.word}" for row in figure.rows)
    return "".join([*parts, legend]), bottom + _BOTTOM + height, f"B / A by case. {told}."


def _field(figure: Field) -> tuple[str, float, str]:
    address, share = fields.picture(figure)
    height = share * WIDTH
    image = f'<image width="{WIDTH}" height="{height:.0f}" href="{address}"/>'
    return image, height, f"{len(figure.values)} triangles by {figure.label or 'their ranks'}."
