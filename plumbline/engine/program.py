"""The engine's programs: their places and descriptions.

``plumb-mpi --describe`` lists benchmarks, options, transports and runtimes, for validation and
completion. Its output is cached by the program's path, time and size.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plumbline.base.errors import PlumbError, RunError, UsageError, did_you_mean
from plumbline.base.files import replace_file
from plumbline.base.paths import PACKAGE, cache_folder, checkout_root
from plumbline.base.validation import first_problem
from plumbline.record.record import Device

PROGRAMS = ("plumb-mpi", "plumb-serial")
WORLDS = {"mpi": "plumb-mpi", "shmem": "plumb-shmem", "serial": "plumb-serial"}
_ASK_TIMEOUT_S = 60


class Described(BaseModel):
    """A part of the engine's description; keys of newer engines are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class BuildSpec(Described):
    """A parameter that is fixed in a bitstream.

    ``letter`` precedes its value in the bitstream's name. ``macro`` is the kernels' (``log2``: of
    the value's logarithm); ``options`` are the compiler's for each value, in its place; an empty
    text is a value without kernels for boards, unless the default's is empty as well. With
    ``zero`` 0 is a value like others.
    """

    letter: str
    macro: str = ""
    log2: bool = False
    zero: bool = False
    options: dict[str, str] | None = None


class OptionSpec(Described):
    """One option as the engine declares it: type, default, unit, range and help."""

    name: str
    aliases: list[str] = []
    type: Literal["integer", "number", "flag", "text", "choice"]
    default: bool | int | float | str | None = None
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str] | None = None
    help: str = ""
    bare: str = ""  # the value of the option where it stands without; another is then attached
    words: list[str] = []  # that stand alone and are its values, in their order
    build: BuildSpec | None = None


class BoardArgument(Described):
    """A pointer of a kernel to global memory, and its bank among those of its replication."""

    name: str
    bank: int


class BoardKernel(Described):
    """A kernel: its name where it is compiled once, and where each replication has its own."""

    name: str
    numbered: str
    arguments: list[BoardArgument]


class BoardStream(Described):
    """A stream between two kernels of a replication: ``kernel.port``.

    ``depth``: elements that it must hold; 0 leaves the number to the tool.
    """

    from_: str = Field(alias="from")
    to: str
    depth: int = 0


class BoardSpec(Described):
    """A benchmark's kernels for a board's tool; ``banks`` are those of a replication.

    ``own_banks``: no other replication uses them. ``run`` are options of runs with these kernels.
    ``includes`` are files that the source includes, ``channels`` the io channels of a replication
    in each direction.
    """

    source: str
    includes: list[str] = []
    channels: int = 0
    options: str
    kernels: list[BoardKernel]
    streams: list[BoardStream]
    banks: int
    own_banks: bool
    run: dict[str, str] = {}


class BenchmarkSpec(Described):
    """One benchmark: its options, presets, and the text forms of its records."""

    name: str
    title: str
    source: str
    family: str = ""  # the benchmark that runs it among others; "": it stands alone
    parameters: list[OptionSpec]
    presets: dict[str, dict[str, bool | int | float | str]] = {}
    forms: list[str] = []
    boards: dict[str, BoardSpec] = {}  # by tool

    @property
    def build_parameters(self) -> list[OptionSpec]:
        """The parameters that are fixed in a bitstream."""
        return [option for option in self.parameters if option.build is not None]


class TransportSpec(Described):
    """One transport, in a line."""

    name: str
    summary: str


class TransportDevice(Described):
    """A device, and the reason why a transport does not work on it (None: it does)."""

    index: int
    runtime: str
    name: str
    reason: str | None = None


class TransportState(TransportSpec):
    """A transport with its approaches, the default first.

    ``reason``: why it does not work in this program (None: it does). ``emulated``: what stands in
    for hardware that is absent.
    """

    approaches: list[str]
    emulated: str | None = None
    reason: str | None = None
    devices: list[TransportDevice] = []


class TransportList(Described):
    """The output of ``--transports --format json``; ``reason`` if empty."""

    transports: list[TransportState]
    reason: str | None = None


class Description(Described):
    """The output of ``--describe``."""

    program: str
    version: str
    commit: str | None = None
    schema_version: str
    world: str
    world_library: str | None = None
    runtimes: list[str]
    transports: list[TransportSpec]
    options: list[OptionSpec]
    benchmarks: list[BenchmarkSpec]

    def benchmark(self, name: str) -> BenchmarkSpec:
        """The benchmark ``name``. Raises :class:`UsageError` if unknown."""
        for benchmark in self.benchmarks:
            if benchmark.name == name:
                return benchmark
        names = [benchmark.name for benchmark in self.benchmarks]
        raise UsageError(
            f"unknown benchmark {name}{did_you_mean(name, names)} (plumb list shows all)"
        )


class DeviceList(Described):
    """The output of ``--devices --format json``."""

    devices: list[Device]
    reason: str | None = None


_L = TypeVar("_L", DeviceList, TransportList)


@dataclass(frozen=True)
class Engine:
    """A program of the engine and its description."""

    path: Path
    description: Description

    def run(
        self, arguments: list[str], environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run this program once, as one process, and wait (for queries, not for measuring)."""
        return _ask(self.path, arguments, environ)

    def devices(self, environ: Mapping[str, str]) -> DeviceList:
        """The devices visible to a process with this environment. Raises :class:`RunError`."""
        return self._listed(DeviceList, "devices", environ)

    def transports(self, environ: Mapping[str, str]) -> TransportList:
        """The transports and the devices they support. Raises :class:`RunError`."""
        return self._listed(TransportList, "transports", environ)

    def _listed(self, kind: type[_L], what: str, environ: Mapping[str, str]) -> _L:
        done = self.run([f"--{what}", "--format", "json"], environ)
        try:
            return kind.model_validate_json(done.stdout)
        except ValidationError as error:
            said = _last_line(done.stderr) or first_problem(error, kind)
            raise RunError(f"{self.path.name} --{what} printed no list of {what}: {said}") from None


def find_engine(environ: Mapping[str, str] = os.environ, world: str | None = None) -> Engine:
    """The engine's program (for ``world``) with its description.

    Raises :class:`UsageError` with a remedy if there is none.
    """
    path = find_program(environ, PROGRAMS if world is None else (WORLDS[world],))
    return Engine(path, describe(path, environ))


def find_engine_for(words: Sequence[str], environ: Mapping[str, str]) -> Engine:
    """The engine for a command line: of its ``--world``, otherwise one with its benchmark.

    The default program takes precedence over plumb-shmem.
    """
    world = named_world(words)
    if world is not None:
        return find_engine(environ, world)
    usual = find_engine(environ)
    # Some text forms are named like benchmarks: --format osu.
    names = {after for word, after in pairwise(["", *words]) if word != "--format"}
    known = {benchmark.name for benchmark in usual.description.benchmarks}
    shmem = shmem_engine(environ) if known.isdisjoint(names) else None
    if shmem is not None and any(b.name in names for b in shmem.description.benchmarks):
        return shmem
    return usual


def named_world(words: Sequence[str]) -> str | None:
    """The value of ``--world`` in ``words``. Raises :class:`UsageError` if invalid."""
    named = [w.partition("=")[2] for w in words if w.startswith("--world=")]
    named += [after for word, after in pairwise(words) if word == "--world"]
    if named and named[-1] not in WORLDS:
        known = ", ".join(WORLDS)
        raise UsageError(
            f"invalid value '{named[-1]}' for --world (choose from {known})"
            f"{did_you_mean(named[-1], WORLDS)}"
        )
    return named[-1] if named else None


def shmem_engine(environ: Mapping[str, str]) -> Engine | None:
    """plumb-shmem, if built."""
    try:
        return find_engine(environ, "shmem")
    except PlumbError:
        return None


def all_benchmarks(environ: Mapping[str, str] = os.environ) -> Description:
    """The default program's description, with the benchmarks of plumb-shmem only."""
    usual = find_engine(environ).description
    shmem = shmem_engine(environ)
    known = {benchmark.name for benchmark in usual.benchmarks}
    more = [b for b in shmem.description.benchmarks if b.name not in known] if shmem else []
    return usual.model_copy(update={"benchmarks": [*usual.benchmarks, *more]})


def find_program(
    environ: Mapping[str, str] = os.environ, programs: Sequence[str] = PROGRAMS
) -> Path:
    """The first of ``programs`` in the folders of :func:`folders`, or on PATH."""
    given = environ.get("PLUMBLINE_ENGINE")
    searched = list(folders(environ))
    for program in programs:
        for folder in searched:
            path = folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return path.absolute()
        on_path = shutil.which(program, path=environ.get("PATH"))
        if on_path and not given:
            return Path(on_path)
    where = f"in PLUMBLINE_ENGINE={given}" if given else f"in {searched[0]} or on PATH"
    if programs == (WORLDS["shmem"],):
        raise UsageError(
            f"there is no plumb-shmem {where}: it is built only with OpenSHMEM (Debian: "
            "libopenmpi-dev and openmpi-bin; elsewhere its module, or PLUMBLINE_SHMEM_COMPILER); "
            "install one and build again"
        )
    raise UsageError(
        f"there is no engine ({programs[0]}) {where}: build it with 'make build' in the source "
        "checkout, or set PLUMBLINE_ENGINE to the folder that holds it"
    )


def folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """The engine's folders, searched before PATH."""
    given = environ.get("PLUMBLINE_ENGINE")
    if given:
        yield Path(given).expanduser()
        return
    checkout = checkout_root()
    if checkout is not None:
        yield checkout / "build" / "release" / "bin"
    yield PACKAGE / "bin"


def describe(path: Path, environ: Mapping[str, str] = os.environ) -> Description:
    """The description of the program at ``path``, from the cache if up to date."""
    cache = cache_folder(environ) / f"describe-{_fingerprint(path, environ)}.json"
    try:
        return Description.model_validate_json(cache.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        pass
    done = _ask(path, ["--describe"], environ)
    try:
        description = Description.model_validate_json(done.stdout)
    except ValidationError as error:
        said = _last_line(done.stderr) or first_problem(error, Description)
        raise RunError(f"{path} --describe ended with {done.returncode}: {said}") from None
    _write_cache(cache, done.stdout)
    return description


def _ask(
    path: Path, arguments: list[str], environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    command = [str(path), *arguments]
    try:
        return subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{' '.join(command)} gave no answer in {_ASK_TIMEOUT_S} s") from None
    except OSError as error:
        raise RunError(f"{path} cannot be started: {error.strerror}") from None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else ""


def _fingerprint(path: Path, environ: Mapping[str, str]) -> str:
    facts = path.stat()
    libraries = environ.get("LD_LIBRARY_PATH", "")
    text = json.dumps([str(path), facts.st_mtime_ns, facts.st_size, libraries])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write_cache(cache: Path, text: str) -> None:
    with suppress(OSError):  # only a cache
        replace_file(cache, text)
