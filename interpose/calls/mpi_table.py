"""The table of MPI functions (mpi.toml): a Function for each name in mpi.h."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = tomllib.loads(Path(__file__).with_name("mpi.toml").read_text(encoding="utf-8"))
# Type in C and type with large counts, by kind.
KINDS = {
    word: types.split(" | ") for types, words in TABLE["kinds"].items() for word in words.split()
}
ADDRESSES = {"from": "const void*", "to": "void*"}
# Parameters after an operand's address: suffix of the name, type in C, type with large counts.
COUNT = ("count", "int", "MPI_Count")
COUNTS = ("counts", "const int*", "const MPI_Count*")
OFFSETS = ("offsets", "const int*", "const MPI_Aint*")
WIDE_OFFSETS = ("offsets", "const MPI_Aint*", "const MPI_Aint*")
TYPE = ("type", "MPI_Datatype", "MPI_Datatype")
TYPES = ("types", "const MPI_Datatype*", "const MPI_Datatype*")
FOLLOWING: dict[str, list[tuple[str, str, str]]] = {
    "": [COUNT, TYPE],
    "equal": [COUNT, TYPE],
    "varied": [COUNTS, OFFSETS, TYPE],
    "typed": [COUNTS, OFFSETS, TYPES],
    "placed": [COUNTS, WIDE_OFFSETS, TYPES],
    "shared": [],
    "one": [],
    "address": [],
}


@dataclass(frozen=True)
class Parameter:
    """A parameter in C: its kind in the table, its name and its type."""

    kind: str
    name: str
    type: str


@dataclass(frozen=True)
class Operand:
    """A buffer that MPI reads (``from``) or writes (``to``); ``form`` tells its size (mpi.toml)."""

    kind: str
    form: str
    name: str
    parameters: list[Parameter]


@dataclass(frozen=True)
class Function:
    """A function by its name after ``MPI_``; ``of_int``: the one with counts of type int."""

    name: str
    of_int: str
    group: str
    how: str
    words: list[Operand | Parameter]
    body: str = ""
    measure: str = ""
    entry: str = ""
    since: int = 3
    offers: bool = False

    @property
    def is_large(self) -> bool:
        """Whether counts are of type MPI_Count."""
        return self.name != self.of_int

    @property
    def operands(self) -> list[Operand]:
        """The operands, in order."""
        return [word for word in self.words if isinstance(word, Operand)]

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters as in C, in order."""
        flat: list[Parameter] = []
        for word in self.words:
            flat += word.parameters if isinstance(word, Operand) else [word]
        return flat

    @property
    def names(self) -> str:
        """The parameters' names, as arguments."""
        return ", ".join(it.name for it in self.parameters)

    @property
    def buffers(self) -> list[str]:
        """Names of the parameters that are addresses of buffers."""
        return [it.name for it in self.parameters if it.kind in ("base", *ADDRESSES)]

    def has(self, *kinds: str) -> bool:
        """Whether a parameter is of one of these kinds."""
        return any(it.kind in kinds for it in self.parameters)


def read_word(word: str, is_large: bool) -> Operand | Parameter:
    """Return what KIND[/FORM][:NAME] of a parameter list stands for."""
    word, _, name = word.partition(":")
    kind, _, form = word.partition("/")
    name = name or kind
    if kind not in ADDRESSES:
        return Parameter(kind, name, KINDS[kind][-1 if is_large else 0])
    following = [
        Parameter(suffix, f"{name}_{suffix}", large if is_large else small)
        for suffix, small, large in FOLLOWING[form]
    ]
    return Operand(kind, form, name, [Parameter(kind, name, ADDRESSES[kind]), *following])


def name_of(form: str, name: str) -> str:
    """Return the function's name: ``I*`` of ``Send`` is ``Isend``."""
    before, after = form.split("*")
    return before + (name[0].lower() + name[1:] if before in ("I", "R") else name) + after


def forms_of(group: str, name: str, form: str, row: dict[str, Any]) -> list[Function]:
    """Return one form of a function, and the same with large counts where it exists."""
    words = f"{row['parameters']} {row.get('adds', '')}".split()
    kept = {key: row[key] for key in ("body", "measure", "entry", "offers") if key in row}
    small = name_of(form, name)
    since = row.get("since", 3)
    functions = []
    for full, how, version in ((small, row["how"], since), (f"{small}_c", row.get("large"), 4)):
        if how is not None:
            read = [read_word(word, full != small) for word in words]
            functions.append(Function(full, small, group, how, read, since=version, **kept))
    return functions


def read_functions() -> list[Function]:
    """Return all functions that are wrapped, each form by itself."""
    functions = []
    for group, its in TABLE.items():
        for name, row in its["functions"].items() if "forms" in its else ():
            for form, of_form in its["forms"].items():
                of_row = {"parameters": row} if isinstance(row, str) else row
                functions += forms_of(group, name, form, of_form | of_row)
    return functions
