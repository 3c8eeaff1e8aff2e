"""Ticks of axes, with their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from plumbline.base.units import size_text
from plumbline.report.figures.shapes import Axis

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DAY = 86400.0


@dataclass(frozen=True)
class Scale:
    """Maps values between ``low`` and ``high`` to 0..1; ``ticks`` are values with labels."""

    low: float
    high: float
    log: bool
    ticks: Sequence[tuple[float, str]]

    def at(self, value: float) -> float:
        """The position of ``value``; 0 is the low end."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return (value - low) / (high - low)


def scale_of(axis: Axis, values: Sequence[float], most: int = 7) -> Scale:
    """A scale over ``values`` (positive on a logarithmic axis), with a limit on its ticks."""
    low, high = min(values), max(values)
    if axis.kind == "count":
        return _of_integers(scale_of(replace(axis, kind="number"), values, most))
    if axis.log:
        return _log_scale(axis, low, high, most)
    if axis.kind == "date":
        return _date_scale(low, high, most)
    low = 0.0 if 0 <= low <= 0.6 * high else low
    if low == high:
        low, high = low - (abs(low) or 1) * 0.1, high + (abs(high) or 1) * 0.1
    step = _nice((high - low) / (most - 1))
    low, high = math.floor(low / step) * step, math.ceil(high / step - 1e-9) * step
    count = round((high - low) / step)
    return Scale(low, high, log=False, ticks=[(t, number(t)) for t in _steps(low, step, count)])


def _of_integers(scale: Scale) -> Scale:
    return replace(scale, ticks=[one for one in scale.ticks if one[0] == round(one[0])])


def _steps(low: float, step: float, count: int) -> list[float]:
    return [float(f"{low + i * step:.12g}") for i in range(count + 1)]


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= step * 0.999)


def _log_scale(axis: Axis, low: float, high: float, most: int) -> Scale:
    base = 2.0 if axis.kind == "bytes" else 10.0
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    if base == 10.0 and high / low < 8:
        return _short_log_scale(low, high)
    if first == last:
        first, last = first - 1, last + 1
    every = max(1, math.ceil((last - first) / (most - 1)))
    every = 5 if base == 2.0 and 2 < every <= 5 else every
    exponents = range(first, last + 1, every)
    texts = [
        (base**e, size_text(round(base**e)) if base == 2.0 else number(base**e)) for e in exponents
    ]
    return Scale(base**first, base**last, log=True, ticks=texts)


def _short_log_scale(low: float, high: float) -> Scale:
    """A scale of less than a decade, with the ticks of a linear axis."""
    if high / low < 1.02:
        low, high = low * 0.98, high * 1.02
    step = _nice((high - low) / 5)
    first = math.ceil(low / step - 1e-9) * step
    count = int((high - first) / step + 1e-9)
    ticks = [(t, number(t)) for t in _steps(first, step, count) if t > 0]
    room = (high / low) ** 0.03
    return Scale(low / room, high * room, log=True, ticks=ticks)


def _date_scale(low: float, high: float, most: int) -> Scale:
    if high - low < 60:
        low, high = low - 1800, high + 1800
    hours = high - low < 2 * _DAY
    unit = 3600.0 if hours else _DAY
    step = max(1, math.ceil((high - low) / unit / (most - 1))) * unit
    first = math.ceil(low / step) * step
    count = int((high - first) / step) + 1
    form = "%d %b %H:%M" if hours else "%d %b %Y" if high - low > 300 * _DAY else "%d %b"
    ticks = [first + i * step for i in range(max(count, 0))]
    texts = [(t, datetime.fromtimestamp(t, UTC).strftime(form)) for t in ticks]
    return Scale(low, high, log=False, ticks=texts)


def number(value: float) -> str:
    """A number of an axis: plain between 0.001 and 9999, else as a power of ten."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.6g}"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    factor = value / 10.0**exponent
    power = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return power if abs(factor - 1) < 1e-6 else f"{factor:.3g}·{power}"
