"""The common base of a system file's tables, and their output as TOML."""

from __future__ import annotations

from collections.abc import Iterator

import tomli_w
from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a system file: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def toml_text(table: Table) -> str:
    """``table`` as TOML."""
    return tomli_w.dumps(_document(table))


def _document(table: Table) -> dict[str, object]:
    return {key: _plain(value) for key, value in _values(table)}


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return _document(value) if isinstance(value, Table) else value


def _values(table: Table) -> Iterator[tuple[str, object]]:
    """Keys and values, without defaults that mean "none"."""
    for key, about in type(table).model_fields.items():
        value = getattr(table, key)
        if about.is_required() or value not in (None, [], {}):
            yield key, value
