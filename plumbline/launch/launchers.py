"""Which launcher starts the ranks, with which command line, bound how, in which environment.

Ranks of one node share its cores evenly, each bound to its own (``k = cores // ranks``). Open MPI,
MPICH (and its kin), Intel MPI and Slurm's ``srun`` are known; others are reached by
``--launcher none`` or by starting ``plumb-mpi`` by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plumbline.base.errors import UsageError
from plumbline.engine.program import Engine

Kind = Literal["openmpi", "mpich", "intel", "oshrun", "srun", "none"]
CHOICES = ["auto", "mpirun", "mpiexec", "oshrun", "srun", "none"]
# How much symmetric heap there is, as OpenSHMEM, Open MPI and old libraries name it.
HEAP_VARIABLES = ("SHMEM_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE", "SMA_SYMMETRIC_SIZE")

_TITLES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "intel": "Intel MPI",
    "oshrun": "OpenSHMEM",
    "srun": "Slurm",
}
_PROGRAMS = {
    "openmpi": ("mpirun.openmpi", "mpirun", "orterun"),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"),
    "intel": ("mpiexec.hydra", "mpiexec", "mpirun"),
    "oshrun": ("oshrun", "shmemrun"),
}
_HEAP_OF_ENGINE = 256 * 2**20
_PLACES_HOSTS = re.compile(r"--?(hosts?|hostfile|machinefile|H|f)(=.*)?")
_PLACES_RANKS = re.compile(r"--?(bind-to|map-by|cpu-bind)(=.*)?")


@dataclass(frozen=True)
class LaunchRequest:
    """What the user asked of the launch."""

    ranks: int
    launcher: str = "auto"
    arguments: tuple[str, ...] = ()
    oversubscribe: bool = False

    @property
    def names_hosts(self) -> bool:
        """Whether the arguments for the launcher name hosts, so that local cores say nothing."""
        return any(_PLACES_HOSTS.fullmatch(argument) for argument in self.arguments)

    @property
    def binds(self) -> bool:
        """Whether the arguments for the launcher bind or map ranks themselves."""
        return any(_PLACES_RANKS.fullmatch(argument) for argument in self.arguments)


@dataclass(frozen=True)
class Launch:
    """How to start: words before the program, variables to set, cores of each rank (or None)."""

    kind: Kind
    prefix: tuple[str, ...]
    environment: dict[str, str]
    cores_per_rank: int | None

    @property
    def is_local(self) -> bool:
        """Whether all ranks surely run on this node."""
        return self.cores_per_rank is not None

    def command(
        self, program: Path, arguments: Sequence[str], exported: Iterable[str] = ()
    ) -> list[str]:
        """The whole command line; ``exported`` are variables that remote ranks need as well."""
        exports: list[str] = []
        if self.kind == "openmpi" and self.cores_per_rank is None:
            exports = [word for name in exported for word in ("-x", name)]
        return [*self.prefix, *exports, str(program), *arguments]


def plan_launch(
    request: LaunchRequest, engine: Engine, environ: Mapping[str, str], cores: int | None = None
) -> Launch:
    """Decide how to start ``request.ranks`` ranks of ``engine``.

    ``cores`` are those of this node (default: counted). Raises :class:`UsageError` for more ranks
    than cores without ``oversubscribe``, and for a launcher that is missing or of another MPI.
    """
    kind, program = choose_launcher(request, engine, environ)
    cores = cores or physical_cores()
    local = kind != "srun" and not request.names_hosts
    if local and request.ranks > cores and not request.oversubscribe:
        raise UsageError(
            f"{request.ranks} ranks exceed the {cores} cores of this node: give at most {cores}, "
            "or --oversubscribe (times then mean little)"
        )
    share = max(cores // request.ranks, 1) if local else None
    prefix = _prefix(kind, program, request, share, oversubscribed=local and request.ranks > cores)
    added = _cures(kind, engine.description.world, environ)
    if share is not None:
        added.update(_pocl_threads(share, environ))
        if kind == "intel":
            added.setdefault("I_MPI_PIN_DOMAIN", str(share))
    return Launch(kind, prefix, added, share)


def heap_environment(
    symmetric_bytes: int, request: LaunchRequest, environ: Mapping[str, str]
) -> dict[str, str]:
    """The variables that give each PE a symmetric heap with room for so many bytes.

    None where the user set one. Twice the need, because libraries round what they hand out up to
    powers of two, and room for the engine's own. Raises :class:`UsageError` where this node's
    memory has no room for all PEs.
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
    """Bytes of memory that this node can still give; 0 where that is not known."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def choose_launcher(
    request: LaunchRequest, engine: Engine, environ: Mapping[str, str]
) -> tuple[Kind, str | None]:
    """Kind and program of the launcher. Raises :class:`UsageError` where none fits."""
    if request.launcher == "none" or engine.description.world == "serial":
        if request.ranks != 1:
            raise UsageError(
                f"--ranks must be 1 with --launcher none, not {request.ranks}"
                if request.launcher == "none"
                else f"--ranks must be 1 without MPI ({engine.path.name}), not {request.ranks}"
            )
        return "none", None
    path = environ.get("PATH")
    in_job = "SLURM_JOB_ID" in environ and shutil.which("srun", path=path)
    if request.launcher == "srun" or (request.launcher == "auto" and in_job):
        program = shutil.which("srun", path=path)
        if program is None:
            raise UsageError("there is no srun on PATH: --launcher srun needs Slurm")
        return "srun", program
    library = engine.description.world_library or ""
    if engine.description.world == "shmem":
        if "Open MPI" in library:
            return "openmpi", _program("openmpi", request.launcher, environ, _PROGRAMS["oshrun"])
        return "oshrun", _other_oshrun(request.launcher, environ)
    kind = library_kind(library)
    return kind, _program(kind, request.launcher, environ)


def library_kind(library: str) -> Kind:
    """The launcher's kind from the name that the MPI library gives itself."""
    if "Open MPI" in library:
        return "openmpi"
    return "intel" if "Intel" in library else "mpich"


def launcher_kind(program: str, environ: Mapping[str, str]) -> Kind | None:
    """To whom the launcher ``program`` belongs, from its ``--version``; None where unknown."""
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
    if re.search(r"Open MPI|OpenRTE|open-mpi|prte", said):
        return "openmpi"
    if "Intel" in said:
        return "intel"
    return "mpich" if re.search(r"HYDRA|MPICH|MVAPICH", said) else None


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
    kind: Kind, launcher: str, environ: Mapping[str, str], first: tuple[str, ...] = ()
) -> str:
    names = (*first, *_PROGRAMS[kind]) if launcher == "auto" else _named(kind, launcher)
    others: list[str] = []
    for name in names:
        program = shutil.which(name, path=environ.get("PATH"))
        if program is None:
            continue
        found = launcher_kind(program, environ)
        if found in (kind, None):
            return program
        others.append(f"{name} is {_TITLES[found]}'s")
    wanted = _TITLES[kind]
    raise UsageError(
        f"the engine is built with {wanted}, but there is no launcher of {wanted} on PATH"
        f"{' (' + ', '.join(others) + ')' if others else ''}: load the module it was built with, "
        "or build the engine with the MPI on PATH"
    )


def _other_oshrun(launcher: str, environ: Mapping[str, str]) -> str:
    """The first launcher of OpenSHMEM on PATH that is not Open MPI's, else the first."""
    names = _PROGRAMS["oshrun"] if launcher == "auto" else (launcher,)
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


def _named(kind: Kind, launcher: str) -> tuple[str, ...]:
    suffix = {"openmpi": ".openmpi", "mpich": ".mpich", "intel": ".hydra"}[kind]
    return (launcher + suffix, launcher)


def _prefix(
    kind: Kind,
    program: str | None,
    request: LaunchRequest,
    share: int | None,
    *,
    oversubscribed: bool,
) -> tuple[str, ...]:
    if program is None:
        return ()
    count = "-n" if kind in ("srun", "intel", "oshrun") else "-np"
    placing = () if request.binds else _placing(kind, share, oversubscribed)
    if oversubscribed and kind == "openmpi":
        placing = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1", *placing)
    if kind == "srun":
        placing = ("--kill-on-bad-exit=1", *placing)
    return (program, count, str(request.ranks), *placing, *request.arguments)


def _placing(kind: Kind, share: int | None, oversubscribed: bool) -> tuple[str, ...]:
    if kind == "srun":
        return ("--cpu-bind=cores",)
    if kind in ("intel", "oshrun"):
        return ()
    bind = "--bind-to" if kind == "openmpi" else "-bind-to"
    if oversubscribed:
        return (bind, "none")
    if kind == "mpich":
        return (bind, f"core:{share}" if share else "core")
    where = ("--map-by", f"slot:PE={share}") if share else ()
    return (bind, "core", *where)


def _cures(kind: Kind, world: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What launchers and libraries get wrong by default, put right."""
    cures: dict[str, str] = {}
    if kind == "openmpi" and os.geteuid() == 0:
        cures = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
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
    # PoCL counts the node's cores, not those that a rank is bound to. Newer versions know the limit
    # by the second name; each ignores the other's.
    names = ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT")
    if any(name in environ for name in names):
        return {}
    return dict.fromkeys(names, str(share))
