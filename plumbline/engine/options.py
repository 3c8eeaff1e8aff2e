"""Command-line words against declared options: names, types, ranges, each once.

The options of ``plumb run`` are three groups: ``plumb``'s own, the engine's, and the benchmark's.
All are :class:`~plumbline.engine.program.OptionSpec`: one parser, one help, one completion.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.engine.program import OptionSpec

_INTEGER = re.compile(r"-?\d{1,100}")
_SIZE = re.compile(r"2\^(?P<exponent>\d{1,2})|(?P<count>\d{1,18})(?P<prefix>[KMGT])i(?P<bytes>B?)")
_BYTES = {"B": 1, "log2 B": 1, "KiB": 2**10, "MiB": 2**20}
_NEGATIVE = re.compile(r"-\.?\d")


@dataclass(frozen=True)
class OptionGroup:
    """Options under a heading of the help."""

    title: str
    options: Sequence[OptionSpec]


@dataclass
class Given:
    """What the command line gave: options by name (a flag is ``"true"``), and other words."""

    values: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def count(self, name: str, default: int) -> int:
        """The value of the integer option ``name``, which has no unit."""
        text = self.values.get(name)
        found = whole_number(OptionSpec(name=name, type="integer"), text) if text else None
        return default if found is None else found

    def flag(self, name: str) -> bool:
        """Whether the flag ``name`` was given."""
        return name in self.values

    def take(self, names: Iterable[str]) -> dict[str, str]:
        """Those of ``names`` that were given, with their values, in the order given."""
        wanted = set(names)
        return {name: value for name, value in self.values.items() if name in wanted}


def parse(tokens: Sequence[str], groups: Sequence[OptionGroup], command: str) -> Given:
    """Sort ``tokens`` into options and words, and check each option by itself.

    Raises :class:`UsageError` with one sentence for an unknown option, one given twice, a missing
    or unwanted value, a wrong type, or a value out of range. ``command`` is named in the sentence.
    """
    table = _by_flag(groups)
    given = Given()
    rest = iter(tokens)
    for token in rest:
        if not _is_option(token):
            given.words.append(token)
            continue
        flag, value = _split(token, table)
        option = table.get(flag)
        if option is None:
            raise UsageError(_unknown(flag, table, command))
        if option.name in given.values:
            raise UsageError(f"{flag} is given twice")
        given.values[option.name] = _value(flag, option, value, rest)
    _check_pairs(given, groups)
    return given


def check(option: OptionSpec, text: str, flag: str | None = None) -> None:
    """Raise :class:`UsageError` where ``text`` has another type than ``option``, or is outside."""
    flag = flag or f"--{option.name}"
    if option.type == "integer":
        number = whole_number(option, text)
        if number is None:
            raise UsageError(f"{flag} must be an integer{_unit(option)}, not '{text}'")
        _check_range(option, number, flag, text)
    elif option.type == "number":
        real = _number(text)
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


def whole_number(option: OptionSpec, text: str) -> int | None:
    """What ``text`` means for an integer option, as in the engine (``core/parameter.hpp``).

    Sizes may be written 2048, 2^11, 2Ki, and 2KiB where the unit counts bytes. For a logarithm a
    plain number within the option's range is the exponent; any other form is the size itself.
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
    """Every way to write ``option``: its aliases, then its name, with dashes."""
    return [*option.aliases, f"--{option.name}"]


def range_text(option: OptionSpec) -> str:
    """The values that ``option`` takes, in words, or an empty text for any."""
    if option.choices is not None:
        return "|".join(option.choices)
    low, high = option.minimum, option.maximum
    if low is not None and high is not None:
        return f"{_show(low)}..{_show(high)}"
    if low is not None:
        return f"at least {_show(low)}"
    return f"at most {_show(high)}" if high is not None else ""


def help_lines(groups: Sequence[OptionGroup]) -> Iterator[str]:
    """The help of all options, in groups, with default, unit and range."""
    for group in groups:
        if not group.options:
            continue
        yield ""
        yield f"{group.title}:"
        for option in group.options:
            yield from _option_lines(option)


def _option_lines(option: OptionSpec) -> Iterator[str]:
    what = {"integer": "N", "number": "X", "text": "TEXT", "choice": "", "flag": ""}[option.type]
    choices = "|".join(option.choices or []) if option.type == "choice" else ""
    head = f"  {', '.join(flags_of(option))} {choices or what}".rstrip()
    facts = [option.unit] if option.unit else []
    if option.type != "choice" and range_text(option):
        facts.append(range_text(option))
    facts += _default_text(option)
    text = f"{option.help} [{', '.join(facts)}]" if facts else option.help
    if len(head) < 30:
        yield f"{head:<30}{text}"
    else:
        yield head
        yield f"{'':<30}{text}"


def _default_text(option: OptionSpec) -> list[str]:
    """The default, unless it is no value that one could give (a flag's, or a mark for none)."""
    default = option.default
    if default is None or option.type == "flag":
        return []
    low = -math.inf if option.minimum is None else option.minimum
    if isinstance(default, int | float) and default < low:
        return []
    return [f"default {default}"]


def _by_flag(groups: Sequence[OptionGroup]) -> dict[str, OptionSpec]:
    table: dict[str, OptionSpec] = {}
    for group in groups:
        for option in group.options:
            for flag in flags_of(option):
                table.setdefault(flag, option)
    return table


def _is_option(token: str) -> bool:
    return token.startswith("-") and token != "-" and not _NEGATIVE.match(token)


def _split(token: str, table: dict[str, OptionSpec]) -> tuple[str, str | None]:
    """``--name=value``, ``-n2`` and ``-n=2`` into flag and value."""
    if "=" in token:
        flag, value = token.split("=", 1)
        return flag, value
    if not token.startswith("--") and token not in table and token[:2] in table:
        return token[:2], token[2:]
    return token, None


def _unknown(flag: str, table: dict[str, OptionSpec], command: str) -> str:
    near = did_you_mean(flag, table)
    return f"unknown option {flag} of {command}{near} ({command} --help lists all)"


def _value(flag: str, option: OptionSpec, value: str | None, rest: Iterator[str]) -> str:
    if option.type == "flag":
        if value not in (None, "true"):
            raise UsageError(f"{flag} is a flag and takes no value, not '{value}'")
        return "true"
    if value is None:
        value = next(rest, None)
        if value is None or (_is_option(value) and option.type != "text"):
            raise UsageError(f"{flag} needs a value{_expected(option)}")
    check(option, value, flag)
    return value


def _expected(option: OptionSpec) -> str:
    return f": {range_text(option)}{_unit(option)}" if range_text(option) else ""


def _unit(option: OptionSpec) -> str:
    return f" ({option.unit})" if option.unit else ""


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


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


def _check_pairs(given: Given, groups: Sequence[OptionGroup]) -> None:
    """Options ``min-x`` and ``max-x`` must not be reversed where both are given."""
    options = {option.name: option for group in groups for option in group.options}

    def value(name: str) -> float | None:
        if name not in options or name not in given.values:
            return None
        text = given.values[name]
        whole = whole_number(options[name], text) if options[name].type == "integer" else None
        return _number(text) if whole is None else whole

    for name in sorted(name for name in options if name.startswith("min-")):
        other = name.replace("min-", "max-", 1)
        low, high = value(name), value(other)
        if low is not None and high is not None and low > high:
            raise UsageError(
                f"--{name} must not exceed --{other}, but {_show(low)} > {_show(high)}"
            )


def _show(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
