"""System files: search by name, reading with boards, writing, schema."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.files import replace_file
from plumbline.base.paths import Home, shipped_folders
from plumbline.base.toml import toml_text
from plumbline.base.validation import first_problem
from plumbline.system.system import LOCAL, Identity, System

SCHEMA_ID = "urn:plumbline:system"


def load_system(path: Path, *, written_by_plumb: bool = False) -> System:
    """Read a system file, and the boards it names, from its own folder or the shipped ones.

    An unknown key is an error; in a file written by plumb it is from a newer version, and ignored.
    Raises :class:`UsageError` naming file, key and expected value.
    """
    system, seen = _read_system(path, written_by_plumb), [path.stem]
    board, at = system.board, path
    while board is not None:
        if board in seen:
            raise UsageError(f"the system file {at}: the boards form a cycle: {board}")
        seen.append(board)
        at = _board_path(board, path, at)
        below = _read_system(at)
        system, board = system.on(below), below.board
    return system


def _board_path(board: str, path: Path, named_in: Path) -> Path:
    folders = [path.parent, *shipped_folders("systems")]
    for folder in folders:
        if (folder / f"{board}.toml").is_file():
            return folder / f"{board}.toml"
    names = sorted({file.stem for folder in folders for file in folder.glob("*.toml")} - {LOCAL})
    raise UsageError(
        f"the system file {named_in}: unknown board {board}{did_you_mean(board, names)}"
    )


def _read_system(path: Path, lenient: bool = False) -> System:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no system file {path}") from None
    except OSError as error:
        raise UsageError(f"the system file {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the system file {path} is not TOML: {error}") from None
    try:
        return _validated(document, lenient)
    except ValidationError as error:
        raise UsageError(f"the system file {path}: {first_problem(error, System)}") from None


def _validated(document: dict[str, Any], lenient: bool) -> System:
    try:
        return System.model_validate(document)
    except ValidationError as error:
        unknown = [one["loc"] for one in error.errors() if one["type"] == "extra_forbidden"]
        if not (lenient and unknown):
            raise
    for *path, key in unknown:
        table: Any = document
        for step in path:
            table = table[step]
        del table[key]
    return System.model_validate(document)


def find_system(given: str, home: Home) -> System:
    """The system of ``--system``: a file's path, or a name searched in the folders."""
    path = Path(given).expanduser()
    if path.suffix == ".toml" or "/" in given:
        return load_system(path)
    folders = home.system_folders()
    for folder in folders:
        if (folder / f"{given}.toml").is_file():
            return load_system(folder / f"{given}.toml", written_by_plumb=given == LOCAL)
    names = known_systems(home)
    raise UsageError(
        f"unknown system {given} (choose from {', '.join(names) or 'none'}, or give the path of a "
        f".toml file){did_you_mean(given, names)}"
    )


def local_system(home: Home) -> System:
    """``systems/local.toml``, or an empty system if missing."""
    path = home.local_system
    if path.exists():
        return load_system(path, written_by_plumb=True)
    return System(
        system=Identity(name=LOCAL, description="this machine, measured", source="plumb calibrate")
    )


def known_systems(home: Home) -> list[str]:
    """The names of all systems in the folders, except this machine's."""
    folders = home.system_folders()
    return sorted({file.stem for folder in folders for file in folder.glob("*.toml")} - {LOCAL})


def schema() -> dict[str, Any]:
    """The JSON Schema of a system file (draft 2020-12)."""
    body = System.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **body,
        "title": "Plumbline system",
    }


def schema_text() -> str:
    """The contents of ``schema/system.schema.json``."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def save_system(system: System, path: Path, comment: str) -> None:
    """Write ``system`` to ``path`` atomically, under a heading comment. Raises OSError."""
    heading = "".join(f"# {line}\n" for line in comment.splitlines())
    replace_file(path, heading + toml_text(system))
