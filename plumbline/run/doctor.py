"""``plumb doctor``: probes for the known faults of MPI, OpenSHMEM, OpenCL and SYCL stacks.

A probe is one or several short processes with a time limit. A finding names the fault and its cure.
Sources of the faults: Open MPI's issues 11604 (finalize) and 11257 (32-bit compare-and-swap).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from plumbline.base.errors import ExitStatus, PlumbError, UsageError
from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import Engine, find_engine, shmem_engine
from plumbline.engine.runtimes import SYSTEM_VENDORS
from plumbline.launch.launchers import (
    HEAP_VARIABLES,
    LAUNCHERS,
    LaunchRequest,
    choose_launcher,
    physical_cores,
    plan_launch,
)

# cured: broken, and plumb run applies the cure; broken: the user must act; absent: not installed.
State = Literal["ok", "cured", "broken", "absent"]
_LIMIT_S = 30
_FINALIZE_LIMIT_S = 10.0
_FINALIZE_STARTS = 3
_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
_MIB = 2**20


@dataclass(frozen=True)
class Finding:
    """The result of a probe; ``cure`` is None if none is needed."""

    part: str
    probe: str
    state: State
    found: str
    cure: str | None = None

    @property
    def applied(self) -> bool:
        """Whether ``plumb run`` applies the cure by itself."""
        return self.state == "cured"


@dataclass(frozen=True)
class Tried:
    """The end of a process: status (negative: the signal; None: timeout) and output."""

    status: int | None
    text: str

    @property
    def ending(self) -> str:
        """Description of the end."""
        if self.status is None:
            return f"not ended within {_LIMIT_S} s"
        number = -self.status if self.status < 0 else self.status - 128
        if self.status < 0 or self.status > 128:
            return f"ended by {_signal_name(number)}"
        return f"exit status {self.status}"


def examine(environ: Mapping[str, str]) -> list[Finding]:
    """All findings, in the order of their parts."""
    findings: list[Finding] = []
    findings += _mpi(environ)
    findings += _slurm(environ)
    findings += _openshmem(environ)
    findings += _opencl(environ)
    findings += _sycl(environ)
    return findings


def status_of(findings: Sequence[Finding]) -> ExitStatus:
    """3 if the user must act, otherwise 0."""
    broken = any(finding.state == "broken" for finding in findings)
    return ExitStatus.ERROR if broken else ExitStatus.PASSED


def text(findings: Sequence[Finding], form: str) -> str:
    """The findings as text, or as a JSON list with a key ``applied``."""
    if form == "json":
        listed = [{**asdict(finding), "applied": finding.applied} for finding in findings]
        return json.dumps(listed, indent=1)
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.state:<7} {finding.part}, {finding.probe}: {finding.found}")
        if finding.cure:
            by = "applied by plumb run: " if finding.applied else "remedy: "
            lines.append(f"{'':<8}{by}{finding.cure}")
    return "\n".join(lines)


def _mpi(environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        engine = find_engine(environ, "mpi")
        _, launcher = choose_launcher(LaunchRequest(1), engine, environ)
    except PlumbError as error:
        yield Finding("MPI", "program", "absent", str(error))
        return
    library = engine.description.world_library or "MPI"
    yield _ranks_find_each_other(engine, environ, library)
    if launcher is not None and "Open MPI" in library:
        yield from _open_mpi(launcher, environ)
    if launcher is not None and "MPICH" in library:
        yield _mpich_finalize(_mpi_probe(engine, environ))


def _slurm(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether ranks that srun starts find each other, by its list and the engine's library."""
    finding = partial(Finding, "Slurm", "ranks by srun")
    srun = shutil.which("srun", path=environ.get("PATH"))
    if srun is None:
        yield finding("absent", "there is no srun on PATH")
        return
    try:
        library = find_engine(environ, "mpi").description.world_library or ""
        bare = {name: value for name, value in environ.items() if name != "SLURM_MPI_TYPE"}
        words = LAUNCHERS["srun"].meeting(srun, LaunchRequest(2), library, bare)
    except UsageError as error:
        yield finding("broken", str(error), "--launcher mpirun within a job")
        return
    except PlumbError as error:
        yield finding("absent", str(error))
        return
    if not words:
        yield finding("absent", "srun --mpi=list names no plugin: Slurm is not configured here")
        return
    given = environ.get("SLURM_MPI_TYPE")
    if given is not None and f"--mpi={given}" not in words:
        found = f"SLURM_MPI_TYPE={given} overrides {words[0]}, which {library.split(',')[0]} needs"
        yield finding("broken", found, "unset SLURM_MPI_TYPE")
        return
    yield finding("ok", f"srun {words[0]} starts ranks of {library.split(',')[0]}")


def _ranks_find_each_other(engine: Engine, environ: Mapping[str, str], library: str) -> Finding:
    ranks = min(2, physical_cores())
    launch = plan_launch(LaunchRequest(ranks), engine, environ)
    words = ["stream", "--runtime", "native", "--dry-run"]
    tried = _try(launch.command(engine.path, words), {**environ, **launch.environment})
    plural = "" if ranks == 1 else "s"
    if tried.status == 0 and tried.text.count(f"on {ranks} rank{plural}") == 1:
        return Finding("MPI", "launch", "ok", f"{ranks} ranks of {library} form one world")
    found = f"{ranks} ranks started by {launch.prefix[0]} do not form one world: {tried.ending}"
    cure = f"use the launcher of {library}, with which plumb-mpi is built, or build it again"
    return Finding("MPI", "launch", "broken", found, cure)


def _mpi_probe(engine: Engine, environ: Mapping[str, str]) -> Callable[..., Tried]:
    """The engine's probe of plain MPI calls on four ranks, with additional variables."""
    launch = plan_launch(LaunchRequest(4, oversubscribe=True), engine, environ)

    def probe(added: Mapping[str, str], *words: str) -> Tried:
        command = launch.command(engine.path, ["--probe", *words])
        return _try(command, {**environ, **launch.environment, **added}, limit_s=_FINALIZE_LIMIT_S)

    return probe


def _mpich_finalize(probe: Callable[..., Tried]) -> Finding:
    """MPICH 4.0 and 4.1 wait in MPI_Finalize without progress, which UCX's TCP needs."""
    finding = partial(Finding, "MPI", "finalize")
    usual = [probe({}, "finalize") for _ in range(_FINALIZE_STARTS)]
    if any(tried.status != 0 for tried in usual):
        return finding(
            "broken",
            "programs of this MPICH do not always end: a rank waits in MPI_Finalize without "
            "progress (MPICH's pull request 6596)",
            "UCX_TLS=sm,self on one host; between hosts use MPICH 4.2 or later",
        )
    tcp = [probe({"UCX_TLS": "tcp,self"}, "finalize") for _ in range(_FINALIZE_STARTS)]
    if all(tried.status == 0 for tried in tcp):
        return finding("ok", "programs end normally")
    return finding(
        "ok",
        "programs end normally on one host; with UCX's TCP alone they do not always end "
        "(MPICH's pull request 6596): between hosts use MPICH 4.2 or later",
    )


def _open_mpi(launcher: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    bare = {name: value for name, value in environ.items() if name not in _ROOT}
    allowed = {**bare, **dict.fromkeys(_ROOT, "1")}
    if os.geteuid() == 0:
        root = partial(Finding, "MPI", "root")
        if _try([launcher, "-n", "1", "true"], bare).status == 0:
            yield root("ok", "Open MPI runs as root")
        else:
            yield root("cured", "Open MPI refuses to run as root", f"{_ROOT[0]}=1 {_ROOT[1]}=1")
    cores = physical_cores()
    slots, more = partial(Finding, "MPI", "slots"), 4 * cores + 1
    if _try([launcher, "-n", str(more), "true"], allowed).status == 0:
        yield slots("ok", f"the launcher allows {more} ranks on {cores} cores")
    else:
        found = f"the launcher rejects {more} ranks on {cores} cores"
        yield slots("cured", found, "--oversubscribe (waiting ranks then yield the cores)")
    yield _vendor_list_cut(launcher, allowed)


def _vendor_list_cut(launcher: str, environ: Mapping[str, str]) -> Finding:
    """A launcher whose hwloc loads OpenCL passes on only the first of several vendor files."""
    wanted = "/nowhere/a.icd:/nowhere/b.icd"
    bare = {name: value for name, value in environ.items() if name != "HWLOC_COMPONENTS"}
    bare["OCL_ICD_FILENAMES"] = wanted
    tried = _try([launcher, "-n", "1", "sh", "-c", 'echo "=$OCL_ICD_FILENAMES="'], bare)
    finding = partial(Finding, "OpenCL", "vendor files under a launcher")
    if tried.status != 0 or f"={wanted}=" in tried.text:
        return finding("ok", "the launcher passes OCL_ICD_FILENAMES on unchanged")
    found = "the launcher's hwloc cuts OCL_ICD_FILENAMES at its first colon"
    return finding("cured", found, "HWLOC_COMPONENTS=-opencl")


def _openshmem(environ: Mapping[str, str]) -> Iterator[Finding]:
    part = "OpenSHMEM"
    engine = shmem_engine(environ)
    if engine is None:
        yield Finding(part, "program", "absent", "there is no plumb-shmem: no OpenSHMEM was found")
        return
    try:
        probe = _shmem_probe(engine, environ)
    except PlumbError as error:
        yield Finding(part, "launch", "broken", str(error), "put the library's oshrun on PATH")
        return
    finalized = probe({}, "finalize")
    cured = finalized if finalized.status == 0 else probe({"OMPI_MCA_osc": "^rdma"}, "finalize")
    yield _finalize(finalized, cured)
    if cured.status != 0:
        return
    cure = {"OMPI_MCA_osc": "^rdma"}
    yield _atomic(
        probe(cure, "compare-swap-32"),
        "32-bit compare-and-swap",
        "the engine swaps 64-bit words only",
    )
    yield _atomic(
        probe(cure, "fetch-bitwise"),
        "fetching and, or, xor",
        "the engine uses compare-and-swap instead",
    )
    yield _heap(lambda added, *words: probe({**cure, **added}, *words))
    yield _features(probe(cure, "features"))


def _shmem_probe(engine: Engine, environ: Mapping[str, str]) -> Callable[..., Tried]:
    """The engine's probe on two PEs, with additional variables and without the cures."""
    launch = plan_launch(LaunchRequest(2, oversubscribe=True), engine, environ)
    cures = {"OMPI_MCA_osc", *HEAP_VARIABLES}
    bare = {name: value for name, value in environ.items() if name not in cures}
    ours = {name: value for name, value in launch.environment.items() if name not in cures}

    def probe(added: Mapping[str, str], *words: str) -> Tried:
        return _try(launch.command(engine.path, ["--probe", *words]), {**bare, **ours, **added})

    return probe


def _finalize(bare: Tried, cured: Tried) -> Finding:
    finding = partial(Finding, "OpenSHMEM", "finalize")
    if bare.status == 0:
        return finding("ok", "programs end normally")
    found = f"an empty program fails at its end: {bare.ending}"
    if cured.status == 0:
        return finding("cured", found, "OMPI_MCA_osc=^rdma")
    return finding(
        "broken",
        f"{found}; also with OMPI_MCA_osc=^rdma",
        "try OMPI_MCA_btl=^uct or OMPI_MCA_memory=^patcher, or another OpenSHMEM library",
    )


def _atomic(tried: Tried, name: str, cure: str) -> Finding:
    if tried.status == 0:
        return Finding("OpenSHMEM", name, "ok", "the result is right")
    wrong = "the result is wrong" if tried.status == 1 else tried.ending
    return Finding("OpenSHMEM", name, "cured", wrong, cure)


def _heap(probe: Callable[..., Tried]) -> Finding:
    wanted = str(300 * _MIB)
    heeded = [
        name
        for name in HEAP_VARIABLES
        if probe({name: str(700 * _MIB)}, "heap", wanted).status == 0
    ]
    ignored = [name for name in HEAP_VARIABLES if name not in heeded]
    finding = partial(Finding, "OpenSHMEM", "symmetric heap")
    if not heeded:
        return finding(
            "broken",
            f"none of {', '.join(HEAP_VARIABLES)} sets its size to 300 MiB",
            "set the variable of the library's manual, or use small tables",
        )
    if not ignored:
        return finding("ok", "all variables of its size have an effect")
    found = f"{' and '.join(ignored)} {'is' if len(ignored) == 1 else 'are'} ignored"
    return finding("cured", found, f"{heeded[0]}=SIZE (with the others, by the cases' needs)")


def _features(tried: Tried) -> Finding:
    words = dict(word.split("=") for word in tried.text.split() if word.count("=") == 1)
    missing = [name for name, there in words.items() if there == "0"]
    found = f"without {', '.join(missing)}, whose tests are skipped" if missing else "complete"
    return Finding("OpenSHMEM", "specification 1.5", "ok", found)


def _opencl(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield from _vendor_libraries(Path(environ.get("OCL_ICD_VENDORS", SYSTEM_VENDORS)))
    try:
        engine = find_engine(environ)
    except PlumbError as error:
        yield Finding("OpenCL", "devices", "absent", str(error))
        return
    tried = _try([str(engine.path), "--devices"], environ)
    finding = partial(Finding, "OpenCL", "devices")
    if tried.status in (0, 2):
        yield finding("ok", "all runtimes list their devices in one process")
    else:
        yield finding(
            "broken",
            f"listing the devices of all runtimes in one process fails: {tried.ending}",
            "use one runtime per process: plumb run --runtime NAME, or OCL_ICD_VENDORS",
        )


def _vendor_libraries(vendors: Path) -> Iterator[Finding]:
    """Vendor files with the path of a missing library."""
    finding = partial(Finding, "OpenCL", "vendor files")
    files = [vendors] if vendors.is_file() else sorted(vendors.glob("*.icd"))
    if not files:
        yield finding("absent", f"{vendors} names no OpenCL runtime")
        return
    for file in files:
        try:
            library = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            library = f"/ ({error.strerror})"
        if library.startswith("/") and not Path(library).is_file():
            cure = "write the library's path into it (plumb setup does so for Intel's)"
            yield finding("broken", f"{file} names {library}, which does not exist", cure)
            return
    yield finding("ok", f"{len(files)} in {vendors}")


def _sycl(environ: Mapping[str, str]) -> Iterator[Finding]:
    finding = partial(Finding, "SYCL", "plug-in")
    name, home = runtimes.INTEL_SYCL.name, find_home(environ)
    added = {}
    if runtimes.PLUGIN_VARIABLE not in environ:
        if not (home.runtimes / name).is_dir():
            yield finding("absent", f"{name} is not installed (plumb setup {name})")
            return
        if not runtimes.is_installed(name, home):
            found = f"{home.runtimes / name} is incomplete: a wheel or the plug-in is missing"
            yield finding("broken", found, f"plumb setup {name} --accept-eula")
            return
        added = runtimes.environment(name, home, 1, environ)
        yield from _run_time_compiler(home.runtimes / name / "lib")
    yield from _wheels_loader(environ)
    try:
        engine = find_engine(environ)
    except PlumbError as error:
        yield finding("absent", str(error))
        return
    yield _sycl_device(_try(_short_run_on("sycl", engine), {**environ, **added}))


def _sycl_device(tried: Tried) -> Finding:
    """Of a short run on runtime ``sycl``, whose message names the fault and its remedy."""
    finding = partial(Finding, "SYCL", "plug-in")
    if tried.status == 0:
        return finding("ok", "it loads, and a kernel runs on its device")
    lines = [line for line in tried.text.splitlines() if "sycl" in line.lower()]
    if tried.status != 2 or not lines:
        found = f"a process with it fails: {tried.ending}"
        return finding("broken", found, "plumb setup intel-sycl --accept-eula installs it again")
    return finding("broken", lines[-1], "the message names it")


def _run_time_compiler(libraries: Path) -> Iterator[Finding]:
    if not list(libraries.glob("libsycl-jit.so*")):
        yield Finding(
            "SYCL",
            "run-time compiler",
            "broken",
            f"{libraries} has no libsycl-jit.so: --kernel-language sycl cannot compile",
            "plumb setup intel-sycl --accept-eula installs it again",
        )


def _short_run_on(runtime: str, engine: Engine) -> list[str]:
    """A dry run would look for no device."""
    words = "stream --operation copy --elements 1024 --repetitions 1 --format none --record none"
    return [str(engine.path), *words.split(), "--runtime", runtime]


def _wheels_loader(environ: Mapping[str, str]) -> Iterator[Finding]:
    """A folder of Intel's wheels on the library path: its OpenCL loader hides the system's."""
    for folder in environ.get("LD_LIBRARY_PATH", "").split(":"):
        path = Path(folder or "/nowhere")
        if (path / "libOpenCL.so.1").exists() and list(path.glob("libintelocl*.so*")):
            yield Finding(
                "SYCL",
                "OpenCL loader",
                "broken",
                f"{path} in LD_LIBRARY_PATH has the wheel's own OpenCL loader",
                "remove it: plumb run --runtime intel-sycl adds the libraries without the loader",
            )


def _try(command: Sequence[str], environ: Mapping[str, str], limit_s: float | None = None) -> Tried:
    """Run ``command`` in an empty folder and a session that ends with it."""
    if shutil.which(command[0], path=environ.get("PATH")) is None:
        return Tried(127, f"{command[0]} not found")
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        process = subprocess.Popen(
            command,
            env=dict(environ),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit_s or _LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Tried(None, "")
    return Tried(process.returncode, said)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
