"""The manifest beside a bitstream: what it was built from, and what a run of it must agree with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from plumbline.base.errors import UsageError, reason_of
from plumbline.base.files import replace_file
from plumbline.base.validation import first_problem
from plumbline.engine.options import whole_number
from plumbline.engine.program import BenchmarkSpec, OptionSpec
from plumbline.synth.build import build_name
from plumbline.system.synthesis import Value

VERSION = 1
_BLOCK = 1 << 20  # bytes


class Part(BaseModel):
    """A part of a manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Ran(Part):
    """A step that ran: its argument list and time."""

    arguments: list[str]
    seconds: float


class Seed(Part):
    """A synthesis with a seed, and the clock that it reached."""

    seed: int
    clock_mhz: float


class Manifest(Part):
    """What a bitstream was built from. Hashes are SHA-256 in hexadecimal digits."""

    version: int = VERSION
    name: str
    benchmark: str
    board: str
    target: str
    preset: str | None
    parameters: dict[str, Value]
    kernels: list[str]
    channels: list[str]
    tool: str
    source_sha256: str
    bitstream_sha256: str
    clock_mhz: float | None = None
    reports: dict[str, str] = {}
    seeds: list[Seed] = []
    steps: list[Ran]
    started: str
    finished: str


def manifest_path(bitstream: Path) -> Path:
    """The manifest of a bitstream."""
    return bitstream.with_name(bitstream.name + ".json")


def file_sha256(path: Path) -> str:
    """The hash of a file. Raises :class:`UsageError` if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def write_manifest(manifest: Manifest, bitstream: Path) -> None:
    """Write ``manifest`` beside its bitstream."""
    replace_file(manifest_path(bitstream), manifest.model_dump_json(indent=1) + "\n")


def read_manifest(bitstream: Path) -> Manifest | None:
    """The manifest beside a bitstream, or None. Raises :class:`UsageError` if it is invalid."""
    path = manifest_path(bitstream)
    if not path.is_file():
        return None
    try:
        manifest = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the manifest {path} cannot be read: {reason_of(error)}") from None
    except ValidationError as error:
        raise UsageError(f"the manifest {path}: {first_problem(error, Manifest)}") from None
    if manifest.version != VERSION:
        raise UsageError(f"the manifest {path} is of version {manifest.version}, not {VERSION}")
    return manifest


def checked_manifest(bitstream: Path, benchmark: BenchmarkSpec) -> Manifest | None:
    """The manifest of a bitstream of ``benchmark``, which agrees with the file; None without one.

    Raises :class:`UsageError` for another benchmark's bitstream, another hash, or a name that does
    not hold every parameter.
    """
    manifest = read_manifest(bitstream)
    if manifest is None:
        return None
    if manifest.benchmark != benchmark.name:
        raise UsageError(
            f"{bitstream} is a bitstream of {manifest.benchmark}, not {benchmark.name}"
        )
    names = [option.name for option in benchmark.build_parameters]
    if sorted(manifest.parameters) != sorted(names):
        raise UsageError(
            f"the manifest of {bitstream} must have the parameters {', '.join(names)}, not "
            f"{', '.join(manifest.parameters)}"
        )
    expected = build_name(benchmark, manifest.parameters)
    if bitstream.stem != manifest.name or manifest.name.partition(".")[0] != expected:
        raise UsageError(
            f"{bitstream} has a false name: by its manifest's parameters it must be "
            f"{expected}.{manifest.name.rpartition('.')[2]}{bitstream.suffix}"
        )
    if file_sha256(bitstream) != manifest.bitstream_sha256:
        raise UsageError(
            f"{bitstream} differs from its manifest's bitstream (SHA-256): it was built again or "
            "damaged"
        )
    return manifest


def run_options(
    bitstream: Path, benchmark: BenchmarkSpec, given: Mapping[str, str]
) -> tuple[dict[str, str], str | None]:
    """The options that a run of a bitstream takes from its manifest, and the record's text.

    Raises :class:`UsageError` for a given option that contradicts it.
    """
    manifest = checked_manifest(bitstream, benchmark)
    if manifest is None:
        return {}, None
    taken: dict[str, str] = {}
    fixed = {**manifest.parameters, **_variant(benchmark, manifest)}
    for option in benchmark.parameters:
        if option.name not in fixed:
            continue
        value = fixed[option.name]
        if option.name in given and _read(option, given[option.name]) != _read(
            option, _text(value)
        ):
            raise UsageError(
                f"--{option.name} {given[option.name]} contradicts {bitstream}, which was built "
                f"with {_text(value)}"
            )
        if option.type != "flag" or value is True:
            taken[option.name] = _text(value)
    built = f"{manifest.name} ({manifest.target}, {manifest.tool})"
    return taken, f"{built}, SHA-256 {manifest.bitstream_sha256}"


def cables_text(manifest: Manifest, cables: Sequence[Sequence[str]]) -> str:
    """The engine's ``--cables``. Raises :class:`UsageError` for a port without io channels."""
    channels = [manifest.channels[at : at + 2] for at in range(0, len(manifest.channels), 2)]
    for port in (port for cable in cables for port in cable):
        if int(port.rpartition(":ch")[2]) >= len(channels):
            raise UsageError(
                f"a cable is in {port}, but {manifest.name} has the io channels "
                f"{', '.join('/'.join(both) for both in channels) or 'none'}"
            )
    return ",".join("=".join(cable) for cable in cables)


def _variant(benchmark: BenchmarkSpec, manifest: Manifest) -> dict[str, Value]:
    tool = "v++" if manifest.tool.startswith("v++") else "aoc"
    board = benchmark.boards.get(tool)
    return dict(board.run) if board else {}


def _read(option: OptionSpec, text: str) -> Value:
    if option.type in ("choice", "flag"):
        return text
    number = whole_number(option, text)
    return text if number is None else number


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
