"""``plumb doctor``: probes for the known faults of MPI, OpenSHMEM and OpenCL stacks.

Each probe is one short process, or a few, with a time limit. A finding names the fault, its
cure, and whether ``plumb run`` applies the cure by itself. Sources of the faults: Open MPI's
issues 11604 (finalize) and 11257 (32-bit compare-and-swap); for the rest the finding names the
probe.
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
from pathlib import Path
from typing import Literal

from plumbline.base.errors import ExitStatus, PlumbError
from plumbline.engine.program import Engine, find_engine, shmem_engine
from plumbline.engine.runtimes import SYSTEM_VENDORS
from plumbline.launch.launchers import (
    HEAP_VARIABLES,
    LaunchRequest,
    choose_launcher,
    physical_cores,
    plan_launch,
)

# ok; cured: broken, and plumb run cures it; broken: the user must act; absent: there is none here.
State = Literal["ok", "cured", "broken", "absent"]
_LIMIT_S = 30
_FINALIZE_LIMIT_S = 10.0
_FINALIZE_STARTS = 3
_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
_MIB = 2**20


@dataclass(frozen=True)
class Finding:
    """The result of a probe; ``cure`` is None where none is needed."""

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
    """How a process ended: its status (negative: the signal; None: not in time), and its words."""

    status: int | None
    text: str

    @property
    def ending(self) -> str:
        """The ending in a few words."""
        if self.status is None:
            return f"it did not end within {_LIMIT_S} s"
        number = -self.status if self.status < 0 else self.status - 128
        if self.status < 0 or self.status > 128:
            return f"it was ended by {_signal_name(number)}"
        return f"it ended with status {self.status}"


def examine(environ: Mapping[str, str]) -> list[Finding]:
    """All findings, in the order of their parts."""
    findings: list[Finding] = []
    findings += _mpi(environ)
    findings += _openshmem(environ)
    findings += _opencl(environ)
    return findings


def status_of(findings: Sequence[Finding]) -> ExitStatus:
    """3 where something is broken that plumb run does not cure, else 0."""
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
            who = "plumb run does it: " if finding.applied else "do: "
            lines.append(f"{'':<8}{who}{finding.cure}")
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


def _ranks_find_each_other(engine: Engine, environ: Mapping[str, str], library: str) -> Finding:
    ranks = min(2, physical_cores())
    launch = plan_launch(LaunchRequest(ranks), engine, environ)
    words = ["stream", "--runtime", "native", "--dry-run"]
    tried = _try(launch.command(engine.path, words), {**environ, **launch.environment})
    plural = "" if ranks == 1 else "s"
    if tried.status == 0 and tried.text.count(f"on {ranks} rank{plural}") == 1:
        return Finding("MPI", "launch", "ok", f"{ranks} ranks of {library} find each other")
    return Finding(
        "MPI",
        "launch",
        "broken",
        f"{ranks} ranks started by {launch.prefix[0]} do not find each other: {tried.ending}",
        f"use the launcher of {library}, with which plumb-mpi is built, or build it anew",
    )


def _mpi_probe(engine: Engine, environ: Mapping[str, str]) -> Callable[..., Tried]:
    """Runs the engine's probe of plain MPI calls on four ranks with some variables more."""
    launch = plan_launch(LaunchRequest(4, oversubscribe=True), engine, environ)

    def probe(added: Mapping[str, str], *words: str) -> Tried:
        command = launch.command(engine.path, ["--probe", *words])
        return _try(command, {**environ, **launch.environment, **added}, limit_s=_FINALIZE_LIMIT_S)

    return probe


def _mpich_finalize(probe: Callable[..., Tried]) -> Finding:
    """MPICH 4.0 and 4.1 wait in MPI_Finalize without progress, which UCX's TCP needs."""
    part, name = "MPI", "finalize"
    usual = [probe({}, "finalize") for _ in range(_FINALIZE_STARTS)]
    if any(tried.status != 0 for tried in usual):
        return Finding(
            part,
            name,
            "broken",
            "programs of this MPICH do not always end: a rank waits in MPI_Finalize without "
            "progress (MPICH's pull request 6596)",
            "UCX_TLS=sm,self on one host; between hosts use MPICH 4.2 or later",
        )
    tcp = [probe({"UCX_TLS": "tcp,self"}, "finalize") for _ in range(_FINALIZE_STARTS)]
    if any(tried.status != 0 for tried in tcp):
        found = (
            "programs end as they should on one host; by UCX's TCP alone they do not always "
            "(MPICH's pull request 6596): between hosts use MPICH 4.2 or later"
        )
        return Finding(part, name, "ok", found)
    return Finding(part, name, "ok", "programs end as they should")


def _open_mpi(launcher: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    bare = {name: value for name, value in environ.items() if name not in _ROOT}
    allowed = {**bare, **dict.fromkeys(_ROOT, "1")}
    if os.geteuid() == 0:
        refuses = _try([launcher, "-n", "1", "true"], bare).status != 0
        yield Finding(
            "MPI",
            "root",
            "cured" if refuses else "ok",
            "Open MPI refuses to run as root" if refuses else "Open MPI runs as root",
            f"{_ROOT[0]}=1 {_ROOT[1]}=1" if refuses else None,
        )
    cores = physical_cores()
    more = _try([launcher, "-n", str(4 * cores + 1), "true"], allowed)
    yield Finding(
        "MPI",
        "slots",
        "cured" if more.status != 0 else "ok",
        f"{4 * cores + 1} ranks on {cores} cores are {'refused' if more.status != 0 else 'allowed'}"
        " by the launcher",
        "--oversubscribe (passed to the launcher; waiting ranks then yield the cores)"
        if more.status != 0
        else None,
    )
    yield _vendor_list_cut(launcher, allowed)


def _vendor_list_cut(launcher: str, environ: Mapping[str, str]) -> Finding:
    """A launcher whose hwloc loads OpenCL hands on only the first of several vendor files."""
    wanted = "/nowhere/a.icd:/nowhere/b.icd"
    bare = {name: value for name, value in environ.items() if name != "HWLOC_COMPONENTS"}
    bare["OCL_ICD_FILENAMES"] = wanted
    tried = _try([launcher, "-n", "1", "sh", "-c", 'echo "=$OCL_ICD_FILENAMES="'], bare)
    cut = tried.status == 0 and f"={wanted}=" not in tried.text
    return Finding(
        "OpenCL",
        "vendor files under a launcher",
        "cured" if cut else "ok",
        "the launcher's hwloc cuts OCL_ICD_FILENAMES at its first colon"
        if cut
        else "the launcher hands OCL_ICD_FILENAMES on as it is",
        "HWLOC_COMPONENTS=-opencl" if cut else None,
    )


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
        "64-bit words, which are all that the engine's own parts swap",
    )
    yield _atomic(
        probe(cure, "fetch-bitwise"),
        "fetching and, or, xor",
        "a compare-and-swap in their place, in the engine's own parts",
    )
    yield _heap(lambda added, *words: probe({**cure, **added}, *words))
    yield _features(probe(cure, "features"))


def _shmem_probe(engine: Engine, environ: Mapping[str, str]) -> Callable[..., Tried]:
    """Runs a probe on two PEs with some variables more, and none of the cures."""
    launch = plan_launch(LaunchRequest(2, oversubscribe=True), engine, environ)
    cures = {"OMPI_MCA_osc", *HEAP_VARIABLES}
    bare = {name: value for name, value in environ.items() if name not in cures}
    ours = {name: value for name, value in launch.environment.items() if name not in cures}

    def probe(added: Mapping[str, str], *words: str) -> Tried:
        return _try(launch.command(engine.path, ["--probe", *words]), {**bare, **ours, **added})

    return probe


def _finalize(bare: Tried, cured: Tried) -> Finding:
    part, name = "OpenSHMEM", "finalize"
    if bare.status == 0:
        return Finding(part, name, "ok", "programs end as they should")
    found = f"a program that starts and ends does not end well: {bare.ending}"
    if cured.status == 0:
        return Finding(part, name, "cured", found, "OMPI_MCA_osc=^rdma")
    return Finding(
        part,
        name,
        "broken",
        f"{found}; with OMPI_MCA_osc=^rdma, too",
        "try OMPI_MCA_btl=^uct or OMPI_MCA_memory=^patcher, else another OpenSHMEM library",
    )


def _atomic(tried: Tried, name: str, cure: str) -> Finding:
    if tried.status == 0:
        return Finding("OpenSHMEM", name, "ok", "right")
    wrong = "the result is wrong" if tried.status == 1 else tried.ending
    return Finding("OpenSHMEM", name, "cured", f"it fails: {wrong}", cure)


def _heap(probe: Callable[..., Tried]) -> Finding:
    wanted = str(300 * _MIB)
    heeded = [
        name
        for name in HEAP_VARIABLES
        if probe({name: str(700 * _MIB)}, "heap", wanted).status == 0
    ]
    ignored = [name for name in HEAP_VARIABLES if name not in heeded]
    if not heeded:
        return Finding(
            "OpenSHMEM",
            "symmetric heap",
            "broken",
            f"none of {', '.join(HEAP_VARIABLES)} gives it 300 MiB",
            "see the library's manual for the variable; keep to small tables until then",
        )
    if not ignored:
        return Finding("OpenSHMEM", "symmetric heap", "ok", "all variables for its size are heeded")
    return Finding(
        "OpenSHMEM",
        "symmetric heap",
        "cured",
        f"{' and '.join(ignored)} {'is' if len(ignored) == 1 else 'are'} ignored",
        f"{heeded[0]}=SIZE (with the others, and the size that the cases need)",
    )


def _features(tried: Tried) -> Finding:
    words = dict(word.split("=") for word in tried.text.split() if word.count("=") == 1)
    missing = [name for name, there in words.items() if there == "0"]
    return Finding(
        "OpenSHMEM",
        "specification 1.5",
        "ok",
        f"without {', '.join(missing)}: what needs them is left out" if missing else "all there",
    )


def _opencl(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield from _vendor_libraries(Path(environ.get("OCL_ICD_VENDORS", SYSTEM_VENDORS)))
    try:
        engine = find_engine(environ)
    except PlumbError as error:
        yield Finding("OpenCL", "devices", "absent", str(error))
        return
    tried = _try([str(engine.path), "--devices"], environ)
    if tried.status in (0, 2):
        yield Finding("OpenCL", "devices", "ok", "all runtimes list their devices in one process")
        return
    yield Finding(
        "OpenCL",
        "devices",
        "broken",
        f"listing the devices of all runtimes in one process fails: {tried.ending}",
        "give each process one runtime: plumb run --runtime NAME, or OCL_ICD_VENDORS",
    )


def _vendor_libraries(vendors: Path) -> Iterator[Finding]:
    """Vendor files that name a library by a path at which there is none."""
    files = [vendors] if vendors.is_file() else sorted(vendors.glob("*.icd"))
    if not files:
        yield Finding("OpenCL", "vendor files", "absent", f"{vendors} names no OpenCL runtime")
        return
    for file in files:
        try:
            library = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            library = f"/ ({error.strerror})"
        if library.startswith("/") and not Path(library).is_file():
            yield Finding(
                "OpenCL",
                "vendor files",
                "broken",
                f"{file} names {library}, which does not exist",
                "write the library's own path into it (plumb setup does so for Intel's)",
            )
            return
    yield Finding("OpenCL", "vendor files", "ok", f"{len(files)} in {vendors}")


def _try(command: Sequence[str], environ: Mapping[str, str], limit_s: float | None = None) -> Tried:
    """Run ``command`` in an empty folder, in a group of its own that ends with it."""
    if shutil.which(command[0], path=environ.get("PATH")) is None:
        return Tried(127, f"{command[0]} is not there")
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
