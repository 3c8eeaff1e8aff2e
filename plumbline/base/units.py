"""Physical quantities: parsing from system files, and formatting.

In a file a quantity is a number in the unit of its field, or a text with a unit:

``bandwidth_gb_s = 19.2`` and ``bandwidth_gb_s = "19.2 GB/s"`` are equal. Rates take SI prefixes
(1 GB/s = 1e9 B/s), sizes SI or IEC ones (1 KiB = 1024 B), and bits are ``b`` or ``bit``.
"""

from __future__ import annotations

import math
import re
from typing import Any

from pydantic import BeforeValidator, WithJsonSchema

from plumbline.base.errors import did_you_mean

_SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_IEC = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


def _scaled(unit: str, dimension: str, prefixes: dict[str, float], of: float = 1.0) -> Any:
    return {prefix + unit: (dimension, scale * of) for prefix, scale in prefixes.items()}


# Each unit: its dimension, and its size in the dimension's base unit.
_UNITS: dict[str, tuple[str, float]] = {
    **{
        name: ("time", scale)
        for name, scale in (
            ("s", 1.0),
            ("ms", 1e-3),
            ("us", 1e-6),
            ("µs", 1e-6),
            ("μs", 1e-6),
            ("ns", 1e-9),
        )
    },
    **_scaled("Hz", "frequency", _SI),
    **_scaled("B", "size", {**_SI, **_IEC}),
    **_scaled("B/s", "rate of bytes", {**_SI, **_IEC}),
    **_scaled("b/s", "rate of bytes", _SI, 1 / 8),
    **_scaled("bit/s", "rate of bytes", _SI, 1 / 8),
    **_scaled("FLOP/s", "rate of flops", _SI),
    **_scaled("UP/s", "rate of updates", _SI),
    **_scaled("W", "power", _SI),
}
_PATTERN = r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*\S+\s*$"  # for schemas
_TEXT = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*")


def parse_quantity(text: str, unit: str) -> float:
    """The value of ``text`` ("520 ns") in ``unit`` ("us"): 0.52.

    Raises :class:`ValueError` for a text that is not a number with a unit, and for a unit that is
    unknown or of another dimension.
    """
    dimension, base = _UNITS[unit]
    matched = _TEXT.fullmatch(text)
    number = finite(matched[1]) if matched else None
    if matched is None or number is None:
        raise ValueError(f"must be a number with a unit, such as '2 {unit}', not {text!r}")
    given = matched[2]
    if not given:
        raise ValueError(f"must have a unit, such as '{text.strip()} {unit}', not {text!r}")
    if given not in _UNITS:
        raise ValueError(f"unknown unit {given} in {text!r}{_nearest(given, dimension)}")
    if _UNITS[given][0] != dimension:
        raise ValueError(
            f"must be a {dimension} (such as {unit}), not a {_UNITS[given][0]}: {text!r}"
        )
    # Rounded to 15 digits, so that '520 ns' is exactly 0.52 us.
    return float(f"{number * (_UNITS[given][1] / base):.15g}")


def quantity(unit: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Annotations of a field in ``unit`` that also takes a text with a unit."""

    def read(value: object) -> object:
        return parse_quantity(value, unit) if isinstance(value, str) else value

    schema = {
        "anyOf": [
            {"type": "number", "description": f"in {unit}"},
            {"type": "string", "pattern": _PATTERN},
        ]
    }
    return BeforeValidator(read), WithJsonSchema(schema)


def count_of_bytes() -> tuple[BeforeValidator, WithJsonSchema]:
    """Annotations of an integer field in bytes that also takes a text with a unit ("4 KiB")."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        number = parse_quantity(value, "B")
        if number != int(number):
            raise ValueError(f"must be an integer number of bytes, not {value!r}")
        return int(number)

    schema = {
        "anyOf": [
            {"type": "integer", "description": "in B"},
            {"type": "string", "pattern": _PATTERN},
        ]
    }
    return BeforeValidator(read), WithJsonSchema(schema)


def finite(text: str) -> float | None:
    """``text`` as a finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _nearest(given: str, dimension: str) -> str:
    fitting = [name for name, (of, _) in _UNITS.items() if of == dimension]
    same = [name for name in fitting if name.lower() == given.lower()]
    return f"; did you mean {same[0]}?" if same else did_you_mean(given, fitting)


# --- formatting -----------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """A time in a suitable unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


_COUNTED = re.compile(r"(?P<prefix>[kMGT]?)(?P<base>TEPS|CUPS|op/s|messages/s|/s)|1/s")


def prefix(value: float, unit: str) -> tuple[float, str]:
    """A factor and a unit for figures of ``value``'s size: 4.4e7 TEPS are 44 MTEPS.

    Units of bytes, flops and updates have their prefix; only those of counts are changed.
    """
    found = _COUNTED.fullmatch(unit)
    if found is None or not 1e4 <= abs(value) < 1e16:
        return 1.0, unit
    base, own = found["base"] or "/s", _SI[found["prefix"] or ""]
    letter = next(one for one in ("T", "G", "M", "k") if abs(value) * own >= _SI[one])
    space = " " if base == "messages/s" else ""
    return own / _SI[letter], f"{letter}{space}{base}"


def figure_text(value: float, unit: str) -> str:
    """A figure with four digits: 2.5 GB/s, 43.54 MTEPS."""
    scale, shown = prefix(value, unit)
    return f"{value * scale:.4g} {shown}".rstrip()


def rate_text(bytes_a_second: float) -> str:
    """A rate in GB/s (1e9 B/s)."""
    return f"{bytes_a_second * 1e-9:.4g} GB/s"


def size_text(size: int) -> str:
    """A size with the largest IEC prefix that divides it: 1536 B, 4 KiB, 1 MiB."""
    for shift, prefix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {prefix}"
    return f"{size} B"


def rounded(number: float) -> float:
    """With five significant digits, as in files."""
    return float(f"{number:.5g}")


def ratio_text(ratio: float) -> str:
    """A ratio with three digits, or as an integer."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"
