"""``plumb find-bad`` on a cluster: every node by itself, then every pair of nodes.

Nodes are measured all at once, pairs in rounds of disjoint ones (each pair once), or one at a time.
Nothing but the benchmarks is started, and each record is checked against the nodes that were asked.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from plumbline.base.errors import RunError, UsageError
from plumbline.base.paths import find_home
from plumbline.engine.options import Given
from plumbline.engine.program import find_engine
from plumbline.fit.bad_nodes import FEWEST_NODES, rounds
from plumbline.launch.launchers import library_kind
from plumbline.record.record import load_record
from plumbline.run.plan import Request, RunPlan, check_with_engine, make_plan

_LIMIT_S = 600.0
_FEWEST = 2
_NODES = "@NODES@"  # in the launcher's words
_END_S = 10.0  # of a run that is ended
# What is run, with its options: of every node by itself, and of a pair. The link to the device is
# judged by its rate. A pair's message is long enough for its rate, and a ring of two sends it both
# ways.
_LINK = 26  # log2 B
ALONE: Mapping[str, Mapping[str, str]] = {
    "stream": {},
    "gemm": {},
    "ceilings": {"size": str(_LINK), "only": f"link/read/{2**_LINK},link/write/{2**_LINK}"},
}
PAIR = (
    "b_eff",
    {
        "runtime": "native",
        "ring": "natural",
        "repetitions": "20",
        "min-size": "20",
        "max-size": "20",
    },
)


@dataclass(frozen=True)
class Wanted:
    """The request: hosts (empty: the job's), options of the engine for all runs."""

    hosts: Sequence[str] = ()
    preset: str = "smoke"
    serial: bool = False
    pairs_only: bool = False


@dataclass(frozen=True)
class Measurement:
    """A run on some nodes, and its record's place."""

    nodes: tuple[str, ...]
    command: list[str]
    environ: Mapping[str, str]
    record: Path


def measure(wanted: Wanted, environ: Mapping[str, str], console: Console) -> Path:
    """Measure all nodes and pairs; returns the folder of the records.

    Raises :class:`UsageError` before anything is started, :class:`RunError` naming the nodes of a
    run that failed.
    """
    nodes = list(wanted.hosts) or job_nodes(environ)
    if len(nodes) < _FEWEST or len(set(nodes)) != len(nodes):
        raise UsageError(f"find-bad needs at least {_FEWEST} different nodes, not {nodes}")
    folder = find_home(environ).root / "find-bad" / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    groups = _planned(nodes, wanted, folder, environ, console)
    folder.mkdir(parents=True)
    if len(nodes) < FEWEST_NODES:
        _say(console, f"pairs of {len(nodes)} nodes cannot separate a bad node from its link")
    for number, group in enumerate(groups, 1):
        named = ", ".join("-".join(one.nodes) for one in group)
        _say(console, f"[{number}/{len(groups)}] {group[0].record.name.split('@')[0]}: {named}")
        run_all(group)
    return folder


def job_nodes(environ: Mapping[str, str]) -> list[str]:
    """The nodes of the Slurm job. Raises :class:`UsageError` outside of one."""
    listed = environ.get("SLURM_JOB_NODELIST")
    if not listed:
        raise UsageError(
            "find-bad measures the nodes of a job: salloc --nodes=N plumb find-bad; or name them "
            "(--hosts a,b,c), or give records of them (--records)"
        )
    words = ["scontrol", "show", "hostnames", listed]
    done = subprocess.run(words, env=dict(environ), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(f"scontrol does not name the job's nodes: {done.stderr.strip()}")
    return done.stdout.split()


def within_job(nodes: int, words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The command that repeats ``plumb find-bad`` within a job of its own.

    Raises :class:`UsageError` without salloc.
    """
    if shutil.which("salloc", path=environ.get("PATH")) is None:
        raise UsageError("--nodes needs Slurm, but there is no salloc on PATH: use --hosts")
    job = ["salloc", "--quiet", f"--nodes={nodes}", "--ntasks-per-node=1"]
    return [*job, sys.executable, "-m", "plumbline", "find-bad", *words]


def _planned(
    nodes: Sequence[str],
    wanted: Wanted,
    folder: Path,
    environ: Mapping[str, str],
    console: Console,
) -> list[list[Measurement]]:
    """What runs at the same time, in order. Options are checked here."""

    def plan(benchmark: str, options: Mapping[str, str], count: int) -> RunPlan:
        return _plan(benchmark, {**options, "preset": wanted.preset}, count, environ, console)

    groups = []
    if not wanted.pairs_only:
        for name, options in ALONE.items():
            made = plan(name, options, len(nodes))
            groups.append([_on(nodes, made, folder / f"{name}@all.json")])
    made = plan(*PAIR, _FEWEST)
    for pairs in rounds(len(nodes)):
        runs = []
        for a, b in pairs:
            names = (nodes[a], nodes[b])
            runs.append(_on(names, made, folder / f"{PAIR[0]}@{'+'.join(names)}.json"))
        groups += [[run] for run in runs] if wanted.serial else [runs]
    return groups


def _on(nodes: Sequence[str], plan: RunPlan, record: Path) -> Measurement:
    """A plan's run on these nodes."""
    session = plan.session
    words = [plan.benchmark.name, *plan.arguments, "--record", str(record)]
    words += ["--progress", "none", "--format", "none"]
    command = session.launch.command(session.engine.path, words, session.exported)
    command = [word.replace(_NODES, ",".join(nodes)) for word in command]
    return Measurement(tuple(nodes), command, session.environ, record)


def _plan(
    benchmark: str,
    options: Mapping[str, str],
    count: int,
    environ: Mapping[str, str],
    console: Console,
) -> RunPlan:
    """The plan of a run on ``count`` nodes, whose names are filled in later."""
    engine = find_engine(environ, "mpi")
    spec = engine.description.benchmark(benchmark)
    values = {**options, "nodes": str(count), "ranks-per-node": "1", "no-model": "true"}
    if library_kind(engine.description.world_library or "") == "openmpi":
        # Not srun: before their direct connections stand, Slurm's PMIx plugin (22.05) addresses a
        # step's second node as the job's second, and a rank then waits in MPI_Init for ever.
        values |= {"launcher": "mpirun"}
        words = ["--host", _NODES]
        if "SLURM_JOB_ID" in environ:
            words += ["--mca", "plm_slurm_args", "--overlap"]
    elif "SLURM_JOB_ID" in environ:
        values |= {"launcher": "srun"}
        words = [f"--nodelist={_NODES}", "--overlap"]
    else:
        words = ["-hosts", _NODES]
    values["launcher-args"] = shlex.join(words)
    plan = make_plan(Request(engine, spec, Given(values)), environ, console)
    check_with_engine(plan)
    return plan


def run_all(group: Sequence[Measurement]) -> None:
    """Run a group at once; all are ended if one fails. Raises :class:`RunError`."""
    started = [
        subprocess.Popen(
            one.command,
            env=dict(one.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for one in group
    ]
    try:
        for one, process in zip(group, started, strict=True):
            _finish(one, process)
    finally:
        _end(started)


def _end(started: Sequence[subprocess.Popen[str]]) -> None:
    """End those that still run; a launcher that does not end its ranks is killed."""
    for process in started:
        if process.poll() is None:
            process.terminate()
    for process in started:
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _finish(one: Measurement, process: subprocess.Popen[str]) -> None:
    where = f"{one.record.name.split('@')[0]} on {', '.join(one.nodes)}"
    try:
        said, _ = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise RunError(f"{where} did not end within {_LIMIT_S:.0f} s") from None
    if process.returncode != 0:
        lines = [line for line in said.splitlines() if line.strip()]
        raise RunError(f"{where} failed: {lines[-1] if lines else 'without a message'}")
    try:
        hosts = load_record(one.record).hosts
    except UsageError as error:
        raise RunError(f"{where} left no record: {error}") from None
    measured = sorted(host.name.partition(".")[0] for host in hosts)
    if measured != sorted(name.partition(".")[0] for name in one.nodes):
        raise RunError(f"{where}: the record is of {', '.join(measured)}")


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def repeat_in_job(nodes: int, words: Sequence[str]) -> int:
    """Run ``plumb find-bad`` within a job of ``nodes`` nodes; returns its exit status."""
    command = within_job(nodes, words, os.environ)
    return subprocess.run(command, check=False).returncode
