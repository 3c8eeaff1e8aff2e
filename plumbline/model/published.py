"""Published measurements, one TOML file per published table, in the folder ``published``.

A file's columns name a system and its run; a row names a figure, the benchmark's case that
forecasts it, and its measured values by column. Units are the row's; ``scale`` converts the
forecast's unit to them. ``per_device``: the value is an average of one device. ``inputs`` are
columns whose system's figure was derived from this value. ``notes`` explain large deviations of a
column's forecast.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.paths import shipped_folders
from plumbline.base.toml import Table
from plumbline.base.validation import first_problem
from plumbline.system.device import NumberType

Mesh = tuple[int, int, int, int, int, int, int]


class Column(Table):
    """The system and configuration of a column's measurements."""

    name: str
    system: str | None = None
    ranks: int = 1
    type: NumberType = "float"
    transport: str | None = None
    approach: str | None = None
    kernel: str | None = None
    size: float | None = None


class Row(Table):
    """A figure, measured in some columns; without a ``benchmark`` it has no forecast."""

    figure: str
    unit: str
    benchmark: str | None = None
    operation: str = ""
    size: float | None = None
    sizes: dict[str, float] = Field(default_factory=dict)
    kernels: dict[str, str] = Field(default_factory=dict)
    singles: dict[str, list[float]] = Field(default_factory=dict)
    no_model: list[str] = Field(default_factory=list)
    inputs: list[str] = Field(default_factory=list)
    scale: float = 1.0
    per_device: bool = False
    values: dict[str, float]
    notes: dict[str, str] = Field(default_factory=dict)


class PublishedTable(Table):
    """One table of a source."""

    name: str
    title: str
    source: str
    columns: list[Column] = Field(default_factory=list)
    rows: list[Row] = Field(default_factory=list)
    meshes: list[list[int]] = Field(default_factory=list)

    def column(self, name: str) -> Column:
        """The column ``name``. Raises :class:`UsageError` if there is none."""
        found = next((one for one in self.columns if one.name == name), None)
        if found is None:
            raise UsageError(f"the published table {self.name} has no column {name}")
        return found


@cache
def tables() -> tuple[PublishedTable, ...]:
    """All published tables in natural order of their files' names."""
    files: dict[str, Path] = {}
    for folder in reversed(shipped_folders("published")):
        files.update({file.stem: file for file in sorted(folder.glob("*.toml"))})
    return tuple(load_table(files[name]) for name in sorted(files, key=_by_numbers))


def _by_numbers(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def table_of(name: str) -> PublishedTable:
    """The table ``name``. Raises :class:`UsageError` with the closest name."""
    names = [table.name for table in tables()]
    found = next((table for table in tables() if table.name == name), None)
    if found is None:
        near = did_you_mean(name, names)
        raise UsageError(f"unknown published table {name} (choose from {', '.join(names)}){near}")
    return found


def meshes() -> list[Mesh]:
    """Partitions of tables A.1 and A.2.

    FPGAs, E_total, E_core, E_send + E_recv, D_ext, L_pipe, N_max.
    """
    return [
        (mesh[0], mesh[1], mesh[2], mesh[3], mesh[4], mesh[5], mesh[6])
        for table in tables()
        for mesh in table.meshes
    ]


def load_table(path: Path) -> PublishedTable:
    """Read one file. Raises :class:`UsageError` naming file, key and expected value."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        table = PublishedTable.model_validate(document)
    except OSError as error:
        raise UsageError(f"the published table {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the published table {path} is not TOML: {error}") from None
    except ValidationError as error:
        problem = first_problem(error, PublishedTable)
        raise UsageError(f"the published table {path}: {problem}") from None
    for row in table.rows:
        for name in row.values:
            table.column(name)
    return table
