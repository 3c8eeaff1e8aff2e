"""How tests start the engine's programs on several ranks: as `plumb run` does, by the launcher of the MPI they are built with."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Any

from plumbline.engine.program import Engine, describe
from plumbline.launch.launchers import LaunchRequest, plan_launch

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLUMBLINE_BUILD", ROOT / "build" / "release"))
# After which a program that has not ended hangs: emulated FPGAs on cores that others use take minutes for what they do
# in seconds alone.
PATIENCE_S = 600
# OpenMP's threads look for work without a pause: those of several ranks take each other's cores.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",
    "PLUMB_TEST_KERNELS": str(
        BUILD / "kernels"
    ),  # compiled for emulated FPGAs (compiling_once.hpp)
}


def program(name: str) -> Path:
    """A program of the build tree; it may be absent."""
    return BUILD / "bin" / name


def preloaded(library: Path) -> str:
    """LD_PRELOAD with a library before those that are in it already."""
    return ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))


@cache
def _engine(path: Path) -> Engine:
    return Engine(path, describe(path))


def launch_command(ranks: int, path: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Command line and environment that start `path` on some ranks, oversubscribed where need be."""
    launch = plan_launch(LaunchRequest(ranks=ranks, oversubscribe=True), _engine(path), os.environ)
    return launch.command(path, list(words)), {**os.environ, **launch.environment, **ENVIRONMENT}


def record_of_killed(
    folder: Path, ranks: int, *words: str, finished: int = 0, engine: Path | None = None
) -> dict[str, Any]:
    """The record in `folder` of an engine whose last rank is killed at work, after so many cases; it must end soon.

    The watchdog, which ends whatever else does not, is told to wait for longer than that.
    """
    path = folder / "record.json"
    quiet = ("--record", str(path), "--progress", "none", "--format", "none")
    patient = ("--timeout", str(2 * PATIENCE_S))
    path_of_engine = engine or program("plumb-mpi")
    command, environment = launch_command(ranks, path_of_engine, *words, *quiet, *patient)
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as launcher:
        begin = time.monotonic()
        while time.monotonic() < begin + PATIENCE_S:
            own = _running(folder)
            if len(own) == ranks and _is_at_work(own, path, finished):
                break
            time.sleep(0.02)
        os.kill(own[-1], signal.SIGKILL)
        assert launcher.wait(timeout=PATIENCE_S) != 0
    assert _running(folder) == []
    return _record_in(path)


def _is_at_work(own: list[int], path: Path, finished: int) -> bool:
    """By finished cases, if some are wanted: processor time comes late where other programs run."""
    if finished:
        return len(_record_in(path).get("cases", ())) >= finished
    return min(map(_cpu_seconds, own)) > 1


def _record_in(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    return {}


def _running(folder: Path) -> list[int]:
    """Processes of the engine that write a record in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith((b"/plumb-mpi", b"/plumb-shmem")) and any(
                os.fsencode(folder) in one for one in words
            ):
                found.append(int(entry.name))
    return sorted(found)


def _cpu_seconds(process: int) -> float:
    """Of a process so far."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) / os.sysconf("SC_CLK_TCK")
    return 0
