"""What the tables of a system file have in common, and how they are written as TOML."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a system file: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def toml_lines(table: Table, path: str = "") -> Iterator[str]:
    """``table`` as TOML: its values, then its tables, each under its path."""
    for key, value in _values(table):
        if isinstance(value, str | int | float) or _is_texts(value):
            yield f"{key} = {_literal(value)}"
    for key, value in _values(table):
        name = f"{path}.{key}" if path else key
        if isinstance(value, Table):
            yield from ("", f"[{name}]")
            yield from toml_lines(value, name)
        elif isinstance(value, list) and not _is_texts(value):
            for element in value:
                yield from ("", f"[[{name}]]")
                yield from toml_lines(element, name)


def _values(table: Table) -> Iterator[tuple[str, object]]:
    """Keys and values, but for what is left at a default that says "none"."""
    for key, about in type(table).model_fields.items():
        value = getattr(table, key)
        if about.is_required() or value not in (None, []):
            yield key, value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(_escaped(letter) for letter in value)}"'
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
