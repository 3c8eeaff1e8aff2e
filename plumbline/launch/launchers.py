"""Launchers: the program that starts the ranks, its command line, binding and environment.

Ranks of one node share its cores evenly, each bound to its own (``k = cores // ranks``). Open MPI,
MPICH (and derivatives), Intel MPI and Slurm's ``srun`` are supported; others by ``--launcher none``
or by starting ``plumb-mpi`` by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from plumbline.base.errors import UsageError
from plumbline.engine.program import Engine

# Size of the symmetric heap, by OpenSHMEM's, Open MPI's and old libraries' names.
HEAP_VARIABLES = ("SHMEM_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE", "SMA_SYMMETRIC_SIZE")

_HEAP_OF_ENGINE = 256 * 2**20
_PLACES_HOSTS = re.compile(r"--?(hosts?|hostfile|machinefile|H|f)(=.*)?")
_PLACES_RANKS = re.compile(r"--?(bind-to|map-by|cpu-bind)(=.*)?")


@dataclass(frozen=True)
class LaunchRequest:
    """The request of a launch, from the options."""

    ranks: int
    launcher: str = "auto"
    arguments: tuple[str, ...] = ()
    oversubscribe: bool = False

    @property
    def names_hosts(self) -> bool:
        """Whether the launcher's arguments name hosts; then local cores do not matter."""
        return any(_PLACES_HOSTS.fullmatch(argument) for argument in self.arguments)

    @property
    def binds(self) -> bool:
        """Whether the launcher's arguments bind or map ranks."""
        return any(_PLACES_RANKS.fullmatch(argument) for argument in self.arguments)


class Launcher:
    """A launcher: recognition, command line and environment.

    A subclass with a ``kind`` is in :data:`LAUNCHERS` by that name.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    programs: ClassVar[tuple[str, ...]] = ()  # the most specific name first
    suffix: ClassVar[str] = ""  # of programs installed beside another launcher's
    version: ClassVar[str] = "(?!)"  # a pattern in the output of ``--version``
    library: ClassVar[str] = "(?!)"  # a pattern in the MPI library's own name
    names: ClassVar[tuple[str, ...]] = ("mpirun", "mpiexec")  # for ``--launcher``
    job: ClassVar[str] = ""  # a variable set in a scheduler's jobs; starts any library's ranks
    count: ClassVar[str] = "-np"

    def __init_subclass__(cls) -> None:
        LAUNCHERS[cls.kind] = cls()

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """Arguments that bind each rank to ``share`` cores (None: the launcher's default)."""
        del share, oversubscribed
        return ()

    def always(self, *, oversubscribed: bool) -> tuple[str, ...]:
        """Arguments independent of the placement of ranks."""
        del oversubscribed
        return ()

    def exports(self, names: Iterable[str]) -> list[str]:
        """Arguments that export these variables to ranks on other nodes, if required."""
        del names
        return []

    def environment(self, share: int | None) -> dict[str, str]:
        """Variables for the launcher."""
        del share
        return {}

    def prefix(
        self, program: str, request: LaunchRequest, share: int | None, *, oversubscribed: bool
    ) -> tuple[str, ...]:
        """The command line up to the engine's program."""
        placing = () if request.binds else self.placing(share, oversubscribed=oversubscribed)
        always = self.always(oversubscribed=oversubscribed)
        return (program, self.count, str(request.ranks), *always, *placing, *request.arguments)


LAUNCHERS: dict[str, Launcher] = {}


class OpenMpi(Launcher):
    """Open MPI's, for MPI and OpenSHMEM."""

    kind = "openmpi"
    title = "Open MPI"
    programs = ("mpirun.openmpi", "mpirun", "orterun")
    suffix = ".openmpi"
    version = r"Open MPI|OpenRTE|open-mpi|prte"
    library = "Open MPI"

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """``slot:PE`` gives each rank PE cores."""
        if oversubscribed:
            return ("--bind-to", "none")
        return ("--bind-to", "core", *(("--map-by", f"slot:PE={share}") if share else ()))

    def always(self, *, oversubscribed: bool) -> tuple[str, ...]:
        """Waiting ranks that share a core yield it."""
        return ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1") if oversubscribed else ()

    def exports(self, names: Iterable[str]) -> list[str]:
        """By ``-x``."""
        return [word for name in names for word in ("-x", name)]

    def environment(self, share: int | None) -> dict[str, str]:
        """Required to run as root."""
        del share
        if os.geteuid() != 0:
            return {}
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class IntelMpi(Launcher):
    """Intel MPI's Hydra, with binding by a variable."""

    kind = "intel"
    title = "Intel MPI"
    programs = ("mpiexec.hydra", "mpiexec", "mpirun")
    suffix = ".hydra"
    version = "Intel"
    library = "Intel"
    count = "-n"

    def environment(self, share: int | None) -> dict[str, str]:
        """The cores of each rank."""
        return {"I_MPI_PIN_DOMAIN": str(share)} if share is not None else {}


class Mpich(Launcher):
    """Hydra, of MPICH and derivatives."""

    kind = "mpich"
    title = "MPICH"
    programs = ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun")
    suffix = ".mpich"
    version = "HYDRA|MPICH|MVAPICH"
    library = ""  # any other: derivatives have various names

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """``core:N`` gives each rank N cores."""
        if oversubscribed:
            return ("-bind-to", "none")
        return ("-bind-to", f"core:{share}" if share else "core")


class Oshrun(Launcher):
    """The launcher of an OpenSHMEM other than Open MPI's."""

    kind = "oshrun"
    title = "OpenSHMEM"
    programs = ("oshrun", "shmemrun")
    names = ("oshrun",)
    count = "-n"


class Srun(Launcher):
    """Slurm's, for any library."""

    kind = "srun"
    title = "Slurm"
    programs = ("srun",)
    names = ("srun",)
    job = "SLURM_JOB_ID"
    count = "-n"

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """Slurm assigns the cores."""
        del share, oversubscribed
        return ("--cpu-bind=cores",)

    def always(self, *, oversubscribed: bool) -> tuple[str, ...]:
        """A failed rank ends all."""
        del oversubscribed
        return ("--kill-on-bad-exit=1",)


class NoLauncher(Launcher):
    """The program itself, one rank."""

    kind = "none"
    names = ("none",)

    def prefix(
        self, program: str, request: LaunchRequest, share: int | None, *, oversubscribed: bool
    ) -> tuple[str, ...]:
        """Nothing."""
        del program, request, share, oversubscribed
        return ()


CHOICES = ["auto", *dict.fromkeys(name for one in LAUNCHERS.values() for name in one.names)]


@dataclass(frozen=True)
class Launch:
    """A start: arguments before the program, variables to set, cores per rank (or None)."""

    kind: str
    prefix: tuple[str, ...]
    environment: dict[str, str]
    cores_per_rank: int | None

    @property
    def is_local(self) -> bool:
        """Whether all ranks are known to run on this node."""
        return self.cores_per_rank is not None

    def command(
        self, program: Path, arguments: Sequence[str], exported: Iterable[str] = ()
    ) -> list[str]:
        """The whole command line; ``exported`` are variables for remote ranks as well."""
        exports = [] if self.is_local else LAUNCHERS[self.kind].exports(exported)
        return [*self.prefix, *exports, str(program), *arguments]


def plan_launch(
    request: LaunchRequest, engine: Engine, environ: Mapping[str, str], cores: int | None = None
) -> Launch:
    """Select the start of ``request.ranks`` ranks of ``engine``.

    ``cores`` are those of this node (default: counted). Raises :class:`UsageError` for more ranks
    than cores without ``oversubscribe``, and for a launcher that is missing or of another MPI.
    """
    kind, program = choose_launcher(request, engine, environ)
    cores = cores or physical_cores()
    local = not LAUNCHERS[kind].job and not request.names_hosts
    if local and request.ranks > cores and not request.oversubscribe:
        raise UsageError(
            f"{request.ranks} ranks exceed the {cores} cores of this node: give at most {cores}, "
            "or --oversubscribe (times are then not representative)"
        )
    share = max(cores // request.ranks, 1) if local else None
    launcher = LAUNCHERS[kind]
    prefix = launcher.prefix(
        program or "", request, share, oversubscribed=local and request.ranks > cores
    )
    added = {**launcher.environment(share), **_workarounds(kind, engine.description.world, environ)}
    if share is not None:
        added.update(_pocl_threads(share, environ))
    return Launch(kind, prefix, added, share)


def heap_environment(
    symmetric_bytes: int, request: LaunchRequest, environ: Mapping[str, str]
) -> dict[str, str]:
    """The variables that give each PE a symmetric heap with room for ``symmetric_bytes``.

    None if the user set one. Twice the need, because libraries round allocations up to powers of
    two, plus room for the engine. Raises :class:`UsageError` if this node's memory is too small for
    all PEs.
    """
    if any(name in environ for name in HEAP_VARIABLES):
        return {}
    free = available_memory()
    if free and not request.names_hosts and "SLURM_JOB_ID" not in environ:
        together = symmetric_bytes * request.ranks
        if together > free:
            raise UsageError(
                f"{request.ranks} PEs need {symmetric_bytes / 2**30:.3g} GiB of symmetric memory "
                f"each, {together / 2**30:.3g} GiB together, but this node has "
                f"{free / 2**30:.3g} GiB free"
            )
    return dict.fromkeys(HEAP_VARIABLES, str(2 * symmetric_bytes + _HEAP_OF_ENGINE))


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes of available memory on this node; 0 if unknown."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def choose_launcher(
    request: LaunchRequest, engine: Engine, environ: Mapping[str, str]
) -> tuple[str, str | None]:
    """Kind and program of the launcher. Raises :class:`UsageError` if none matches."""
    if request.launcher == "none" or engine.description.world == "serial":
        if request.ranks != 1:
            raise UsageError(
                f"--ranks must be 1 with --launcher none, not {request.ranks}"
                if request.launcher == "none"
                else f"--ranks must be 1 without MPI ({engine.path.name}), not {request.ranks}"
            )
        return "none", None
    scheduler = _scheduler(request.launcher, environ)
    if scheduler is not None:
        return scheduler
    library = engine.description.world_library or ""
    if engine.description.world == "shmem":
        if "Open MPI" in library:
            return "openmpi", _program("openmpi", request.launcher, environ, Oshrun.programs)
        return "oshrun", _other_oshrun(request.launcher, environ)
    kind = library_kind(library)
    return kind, _program(kind, request.launcher, environ)


def _scheduler(launcher: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The scheduler's launcher: named, or on PATH within one of its jobs."""
    for one in (known for known in LAUNCHERS.values() if known.job):
        program = shutil.which(one.programs[0], path=environ.get("PATH"))
        if launcher in one.names and program is None:
            raise UsageError(
                f"there is no {one.programs[0]} on PATH: --launcher {launcher} needs {one.title}"
            )
        if program and (launcher in one.names or (launcher == "auto" and one.job in environ)):
            return one.kind, program
    return None


def library_kind(library: str) -> str:
    """The launcher's kind, from the MPI library's own name."""
    return next(one.kind for one in LAUNCHERS.values() if re.search(one.library, library))


def launcher_kind(program: str, environ: Mapping[str, str]) -> str | None:
    """The kind of the launcher ``program``, from its ``--version``; None if unknown."""
    try:
        done = subprocess.run(
            [program, "--version"],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout + done.stderr
    return next((one.kind for one in LAUNCHERS.values() if re.search(one.version, said)), None)


def physical_cores(system: Path = Path("/sys/devices/system/cpu")) -> int:
    """Cores (not hardware threads) that this process may run on."""
    allowed = os.sched_getaffinity(0)
    cores = {_core(system / f"cpu{number}" / "topology", number) for number in allowed}
    return max(len(cores), 1)


def _core(topology: Path, number: int) -> tuple[str, str]:
    try:
        package = (topology / "physical_package_id").read_text().strip()
        return package, (topology / "core_id").read_text().strip()
    except OSError:
        return "", str(number)


def _program(
    kind: str, launcher: str, environ: Mapping[str, str], first: tuple[str, ...] = ()
) -> str:
    known = LAUNCHERS[kind]
    auto = launcher == "auto"
    names = (*first, *known.programs) if auto else (launcher + known.suffix, launcher)
    others: list[str] = []
    for name in names:
        program = shutil.which(name, path=environ.get("PATH"))
        if program is None:
            continue
        found = launcher_kind(program, environ)
        if found in (kind, None):
            return program
        others.append(f"{name} is {LAUNCHERS[found].title}'s")
    wanted = known.title
    raise UsageError(
        f"the engine is built with {wanted}, but there is no launcher of {wanted} on PATH"
        f"{' (' + ', '.join(others) + ')' if others else ''}: load the module it was built with, "
        "or build the engine with the MPI on PATH"
    )


def _other_oshrun(launcher: str, environ: Mapping[str, str]) -> str:
    """The first launcher of OpenSHMEM on PATH, preferably not Open MPI's."""
    names = Oshrun.programs if launcher == "auto" else (launcher,)
    found = [
        program
        for folder in environ.get("PATH", "").split(os.pathsep)
        for name in names
        if (program := shutil.which(name, path=folder or ".")) is not None
    ]
    if not found:
        raise UsageError(
            f"there is no launcher of OpenSHMEM ({' or '.join(names)}) on PATH: put the library's "
            "own there, or load its module"
        )
    return next((p for p in found if launcher_kind(p, environ) != "openmpi"), found[0])


def _workarounds(kind: str, world: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that avoid faults of launchers and libraries."""
    cures: dict[str, str] = {}
    if (kind == "openmpi" or world == "shmem") and "OMPI_MCA_osc" not in environ:
        # With this component for windows Open MPI 4.1 crashes in shmem_finalize, and in an MPI
        # compare-and-swap on the rank's own memory.
        cures["OMPI_MCA_osc"] = "^rdma"
    if "HWLOC_COMPONENTS" not in environ:
        # A launcher's hwloc may load OpenCL, whose loader cuts OCL_ICD_FILENAMES at its first
        # colon: the ranks would then see one vendor's devices only.
        cures["HWLOC_COMPONENTS"] = "-opencl"
    return cures


def _pocl_threads(share: int, environ: Mapping[str, str]) -> dict[str, str]:
    # PoCL counts the node's cores, not those of the rank's binding. Newer versions use the second
    # name of the limit; each ignores the other.
    names = ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT")
    if any(name in environ for name in names):
        return {}
    return dict.fromkeys(names, str(share))
