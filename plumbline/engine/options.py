"""Validation of option values: types, units and ranges, as in the engine.

The options of ``plumb run`` are three groups: ``plumb``'s own, the engine's, and the benchmark's.
All are :class:`~plumbline.engine.program.OptionSpec`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.units import finite
from plumbline.engine.program import OptionSpec

_INTEGER = re.compile(r"-?\d{1,100}")
_SIZE = re.compile(r"2\^(?P<exponent>\d{1,2})|(?P<count>\d{1,18})(?P<prefix>[KMGT])i(?P<bytes>B?)")
_BYTES = {"B": 1, "log2 B": 1, "KiB": 2**10, "MiB": 2**20}


@dataclass(frozen=True)
class OptionGroup:
    """Options under a heading of the help."""

    title: str
    options: Sequence[OptionSpec]


@dataclass
class Given:
    """The given options by name (a flag is ``"true"``)."""

    values: dict[str, str]

    def count(self, name: str, default: int) -> int:
        """The value of the integer option ``name``, which has no unit."""
        text = self.values.get(name)
        found = whole_number(OptionSpec(name=name, type="integer"), text) if text else None
        return default if found is None else found

    def flag(self, name: str) -> bool:
        """Whether the flag ``name`` was given."""
        return name in self.values


def check(option: OptionSpec, text: str) -> str:
    """``text`` if it has the type and range of ``option``. Raises :class:`UsageError`."""
    flag = f"--{option.name}"
    if option.type == "integer":
        number = whole_number(option, text)
        if number is None:
            raise UsageError(f"{flag} must be an integer{_unit(option)}, not '{text}'")
        _check_range(option, number, flag, text)
    elif option.type == "number":
        real = finite(text)
        if real is None:
            raise UsageError(f"{flag} must be a number{_unit(option)}, not '{text}'")
        _check_range(option, real, flag, text)
    elif option.choices is not None and text not in option.choices:
        raise UsageError(
            f"invalid value '{text}' for {flag} (choose from {', '.join(option.choices)})"
            f"{did_you_mean(text, option.choices)}"
        )
    elif not text:
        raise UsageError(f"{flag} must not be empty")
    return text


def whole_number(option: OptionSpec, text: str) -> int | None:
    """The number of ``text`` for an integer option, as in the engine (``core/parameter.hpp``).

    Sizes may be written 2048, 2^11, 2Ki, and 2KiB for units of bytes. For a logarithm a plain
    number within the option's range is the exponent; any other form is the size itself.
    """
    plain = int(text) if _INTEGER.fullmatch(text) else None
    written = _SIZE.fullmatch(text)
    if plain is None and written is None:
        return None
    value = plain if plain is not None else _size(written)
    if written is not None and written["bytes"]:
        value, rest = divmod(value, _BYTES.get(option.unit, value + 1))
        if rest:
            return None
    if not option.unit.startswith("log2") or (plain is not None and _in_range(option, plain)):
        return value
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else plain


def _size(written: re.Match[str] | None) -> int:
    assert written is not None
    if written["exponent"]:
        return 1 << int(written["exponent"])
    return int(written["count"]) << (10 * ("KMGT".index(written["prefix"]) + 1))


def _in_range(option: OptionSpec, number: float) -> bool:
    low = option.minimum if option.minimum is not None else -math.inf
    high = option.maximum if option.maximum is not None else math.inf
    return low <= number <= high


def flags_of(option: OptionSpec) -> list[str]:
    """All spellings of ``option``: its aliases, then its name, with dashes."""
    return [*option.aliases, f"--{option.name}"]


def range_text(option: OptionSpec) -> str:
    """Description of the values of ``option``, or an empty text for any."""
    if option.choices is not None:
        return "|".join(option.choices)
    low, high = option.minimum, option.maximum
    if low is not None and high is not None:
        return f"{_show(low)}..{_show(high)}"
    if low is not None:
        return f"at least {_show(low)}"
    return f"at most {_show(high)}" if high is not None else ""


def value_text(option: OptionSpec) -> str:
    """The help of ``option``, with unit, range and default."""
    facts = [option.unit] if option.unit else []
    if option.type != "choice" and range_text(option):
        facts.append(range_text(option))
    facts += _default_text(option)
    return f"{option.help} [{', '.join(facts)}]" if facts else option.help


def _default_text(option: OptionSpec) -> list[str]:
    """The default, unless it is not a valid value (of a flag, or a placeholder for none)."""
    default = option.default
    if default is None or option.type == "flag":
        return []
    low = -math.inf if option.minimum is None else option.minimum
    if isinstance(default, int | float) and default < low:
        return []
    return [f"default {default}"]


def _unit(option: OptionSpec) -> str:
    return f" ({option.unit})" if option.unit else ""


def _check_range(option: OptionSpec, number: float, flag: str, text: str) -> None:
    low = option.minimum if option.minimum is not None else -math.inf
    high = option.maximum if option.maximum is not None else math.inf
    if _in_range(option, number):
        return
    if math.isfinite(low) and math.isfinite(high):
        limits = f"lie between {_show(low)} and {_show(high)}"
    else:
        limits = f"be {range_text(option)}"
    raise UsageError(f"{flag} must {limits}{_unit(option)}, not {text}")


def check_pairs(given: Mapping[str, str], groups: Sequence[OptionGroup]) -> None:
    """Raise :class:`UsageError` if ``min-x`` exceeds ``max-x`` among the given values."""
    options = {option.name: option for group in groups for option in group.options}

    def value(name: str) -> float | None:
        if name not in options or name not in given:
            return None
        text = given[name]
        whole = whole_number(options[name], text) if options[name].type == "integer" else None
        return finite(text) if whole is None else whole

    for name in sorted(name for name in options if name.startswith("min-")):
        other = name.replace("min-", "max-", 1)
        low, high = value(name), value(other)
        if low is not None and high is not None and low > high:
            raise UsageError(
                f"--{name} must not exceed --{other}, but {_show(low)} > {_show(high)}"
            )


def _show(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
