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
from plumbline.launch.placement import Placement

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
    placement: Placement | None = None

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
    finish_s: ClassVar[float | None] = None  # from the engine's end to its own; None: as usual

    def __init_subclass__(cls) -> None:
        if cls.kind:
            LAUNCHERS[cls.kind] = cls()

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """Arguments that bind each rank to ``share`` cores (None: the launcher's default)."""
        del share, oversubscribed
        return ()

    def spreading(self, placement: Placement) -> tuple[str, ...]:
        """Arguments that distribute the ranks over several nodes. Raises :class:`UsageError`."""
        raise UsageError(
            f"--nodes {placement.nodes}: the options by which {self.title} distributes ranks are "
            "not known: give them by --launcher-args"
        )

    def always(self, *, oversubscribed: bool) -> tuple[str, ...]:
        """Arguments independent of the placement of ranks."""
        del oversubscribed
        return ()

    def exports(self, names: Iterable[str]) -> list[str]:
        """Arguments that export these variables to ranks on other nodes, if required."""
        del names
        return []

    def meeting(
        self, program: str, request: LaunchRequest, library: str, environ: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Arguments by which ranks of ``library`` find each other, where the launcher has several.

        Raises :class:`UsageError` if it has none for this library.
        """
        del program, request, library, environ
        return ()

    def environment(self, share: int | None) -> dict[str, str]:
        """Variables for the launcher."""
        del share
        return {}

    def prefix(
        self, program: str, request: LaunchRequest, share: int | None, *, oversubscribed: bool
    ) -> tuple[str, ...]:
        """The command line up to the engine's program."""
        placing = () if request.binds else self.placing(share, oversubscribed=oversubscribed)
        placement = request.placement
        if placement is not None and placement.nodes > 1:
            placing += self.spreading(placement)
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

    def spreading(self, placement: Placement) -> tuple[str, ...]:
        """Each node gets its ranks; their numbers follow slots or nodes."""
        order = "node" if placement.distribution == "cyclic" else "slot"
        return ("--map-by", f"ppr:{placement.per_node}:node", "--rank-by", order)

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


class Hydra(Launcher):
    """What the launchers of MPICH and Intel MPI have in common."""

    def spreading(self, placement: Placement) -> tuple[str, ...]:
        """Ranks per node before the next node's turn, which comes again after the last."""
        return ("-ppn", "1" if placement.distribution == "cyclic" else str(placement.per_node))


class IntelMpi(Hydra):
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


class Mpich(Hydra):
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


# Ways of Slurm (``srun --mpi``) by which ranks of a library find each other, the best first.
_PMI = {"openmpi": ("pmix",), "intel": ("pmi2", "pmix"), "mpich": ("cray_shasta", "pmi2", "pmix")}


class Srun(Launcher):
    """Slurm's, for any library."""

    kind = "srun"
    title = "Slurm"
    programs = ("srun",)
    names = ("srun",)
    job = "SLURM_JOB_ID"
    count = "-n"
    finish_s = 60.0  # a loaded controller, and 10 s in which the engine waits for its library

    def placing(self, share: int | None, *, oversubscribed: bool) -> tuple[str, ...]:
        """Slurm assigns the cores."""
        del share
        return ("--overcommit",) if oversubscribed else ("--cpu-bind=cores",)

    def spreading(self, placement: Placement) -> tuple[str, ...]:
        """Slurm's own words."""
        return (
            f"--nodes={placement.nodes}",
            f"--ntasks-per-node={placement.per_node}",
            f"--distribution={placement.distribution}",
        )

    def always(self, *, oversubscribed: bool) -> tuple[str, ...]:
        """A failed rank ends all."""
        del oversubscribed
        return ("--kill-on-bad-exit=1",)

    def meeting(
        self, program: str, request: LaunchRequest, library: str, environ: Mapping[str, str]
    ) -> tuple[str, ...]:
        """``--mpi`` from ``srun --mpi=list``, unless given by argument or variable."""
        given = any(re.fullmatch(r"--mpi(=.*)?", word) for word in request.arguments)
        if given or "SLURM_MPI_TYPE" in environ:
            return ()
        known = pmi_of(program, environ)
        kind = library_kind(library)
        ways = [way for way in _PMI[kind] if way != "cray_shasta" or "CRAY" in library]
        found = next((way for way in ways if way in known), None)
        if found is not None or not known:  # an srun that lists nothing has its own default
            return (f"--mpi={found}",) if found else ()
        raise UsageError(
            f"srun has no {' or '.join(ways)}, by which ranks of {LAUNCHERS[kind].title} find each "
            f"other (srun --mpi=list: {', '.join(known)}): use --launcher mpirun, or have Slurm's "
            f"plugin installed"
        )


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
    """A start: arguments before the program, variables to set, cores per rank (or None), ranks."""

    kind: str
    prefix: tuple[str, ...]
    environment: dict[str, str]
    cores_per_rank: int | None
    ranks: int = 0

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
    local = local and (kind == "none" or not _is_of_job(environ))
    if local and request.ranks > cores and not request.oversubscribe:
        raise UsageError(
            f"{request.ranks} ranks exceed the {cores} cores of this node: give at most {cores}, "
            "or --oversubscribe (times are then not representative)"
        )
    _check_nodes(request, environ, local=local)
    share = max(cores // request.ranks, 1) if local else None
    launcher = LAUNCHERS[kind]
    library = engine.description.world_library or ""
    oversubscribed = request.ranks > cores if local else request.oversubscribe
    prefix = launcher.prefix(program or "", request, share, oversubscribed=oversubscribed)
    prefix += launcher.meeting(program or "", request, library, environ)
    added = {**launcher.environment(share), **_workarounds(kind, engine.description.world, environ)}
    if share is not None:
        added.update(_pocl_threads(share, environ))
    return Launch(kind, prefix, added, share, request.ranks)


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
    said = _says(program, "--version", environ)
    return next((one.kind for one in LAUNCHERS.values() if re.search(one.version, said)), None)


def pmi_of(srun: str, environ: Mapping[str, str]) -> list[str]:
    """The names that ``srun --mpi`` takes here; of PMIx's versions the plain name as well."""
    lines = _says(srun, "--mpi=list", environ).splitlines()
    return [line.split()[-1] for line in lines if re.fullmatch(r"(srun: )?\s*\w+", line)]


def _says(program: str, word: str, environ: Mapping[str, str]) -> str:
    """Output of ``program word``; empty if it does not start or end."""
    try:
        done = subprocess.run(
            [program, word],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _check_nodes(request: LaunchRequest, environ: Mapping[str, str], *, local: bool) -> None:
    """Raise :class:`UsageError` for more nodes than there are, as far as that is known."""
    nodes = request.placement.nodes if request.placement else 1
    there = environ.get("SLURM_JOB_NUM_NODES", "")
    if local and nodes > 1:
        raise UsageError(
            f"--nodes {nodes}: this command runs on one node; start it within a job, submit it "
            "(plumb submit), or name hosts to the launcher (--launcher-args)"
        )
    if not request.names_hosts and there.isdigit() and nodes > int(there):
        raise UsageError(f"--nodes {nodes}: the job has {there}")


def _is_of_job(environ: Mapping[str, str]) -> bool:
    """Whether ranks run on the nodes of a scheduler's job, which are not this node alone."""
    if not any(one.job in environ for one in LAUNCHERS.values() if one.job):
        return False
    return environ.get("SLURM_JOB_NODELIST") != os.uname().nodename.partition(".")[0]


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
