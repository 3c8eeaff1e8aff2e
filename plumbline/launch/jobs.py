"""Schedulers: submit a script as a job, ask for the state of its tasks. No accounting is needed.

A script finds the number of its task in ``PLUMBLINE_TASK`` or ``SLURM_ARRAY_TASK_ID``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from plumbline.base.errors import RunError, UsageError

_TIMEOUT_S = 60
# Of a task that has ended, by Slurm's word, in a sentence about job {job}.
ENDINGS = {
    "COMPLETED": "job {job} ended",
    "CANCELLED": "job {job} was cancelled",
    "TIMEOUT": "job {job} exceeded its time limit (--time)",
    "DEADLINE": "job {job} exceeded its deadline",
    "NODE_FAIL": "a node of job {job} failed",
    "BOOT_FAIL": "a node of job {job} did not boot",
    "OUT_OF_MEMORY": "job {job} exceeded its memory",
    "PREEMPTED": "job {job} was preempted",
    "FAILED": "job {job} failed",
    "REVOKED": "job {job} was revoked",
}
_LOCAL = "local-"


class State(NamedTuple):
    """Of a task: Slurm's word (``PENDING``, ``RUNNING``, …), and its reason."""

    word: str
    reason: str = ""

    @property
    def ended(self) -> bool:
        """Whether it will not go on."""
        return self.word in ENDINGS


class Scheduler(Protocol):
    """Submits scripts, and knows their states."""

    def submit(self, script: Path, tasks: int) -> str:
        """Submit ``script`` with so many tasks; returns the job's name.

        Raises :class:`UsageError` with the scheduler's reason if it is rejected.
        """

    def states(self, job: str) -> Mapping[int, State] | None:
        """The states of a job's tasks; without those forgotten; None if it does not answer."""


@dataclass(frozen=True)
class Slurm:
    """By sbatch and squeue, which remembers a job for some minutes after its end."""

    environ: Mapping[str, str]

    def __post_init__(self) -> None:
        for program in ("sbatch", "squeue"):
            if shutil.which(program, path=self.environ.get("PATH")) is None:
                raise UsageError(
                    f"there is no {program} on PATH: --scheduler slurm needs Slurm "
                    "(--scheduler local runs the script here)"
                )

    def submit(self, script: Path, tasks: int) -> str:
        """By sbatch; several tasks are an array."""
        array = [f"--array=0-{tasks - 1}"] if tasks > 1 else []
        done = self._run(["sbatch", "--parsable", *array, str(script)])
        if done.returncode != 0:
            raise UsageError(f"sbatch rejects the job: {_reason(done.stderr)}")
        return done.stdout.strip().partition(";")[0]

    def states(self, job: str) -> Mapping[int, State] | None:
        """By squeue, ended tasks as well."""
        words = ["squeue", "--noheader", "--array", "--states=all", f"--jobs={job}"]
        try:
            done = self._run([*words, "--format=%K|%T|%r"])
        except RunError:
            return None
        if done.returncode != 0:
            return {} if "Invalid job id" in done.stderr else None
        found = {}
        for line in done.stdout.splitlines():
            task, word, reason = line.strip().split("|", 2)
            found[int(task) if task.isdigit() else 0] = State(word, reason)
        return found

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words,
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(f"{words[0]} gives no answer: {error}") from None


@dataclass(frozen=True)
class Local:
    """By bash on this node, one task after the other."""

    environ: Mapping[str, str]

    def submit(self, script: Path, tasks: int) -> str:
        """Start a shell that goes on by itself."""
        numbers = " ".join(map(str, range(tasks)))
        loop = f'for task in {numbers}; do PLUMBLINE_TASK=$task bash "$0"; done'
        process = subprocess.Popen(
            ["bash", "-c", loop, str(script)],
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return f"{_LOCAL}{process.pid}"

    def states(self, job: str) -> Mapping[int, State] | None:
        """Running while the shell is there; forgotten then."""
        process = Path("/proc") / job.removeprefix(_LOCAL)
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return {}
        # A shell that has just been started has no words yet; one that has ended is a zombie.
        is_own = b"PLUMBLINE_TASK=$task" in b" ".join(words) or not any(words)
        return {0: State("RUNNING")} if is_own and state != "Z" else {}


def scheduler_of(name: str, environ: Mapping[str, str] = os.environ) -> Scheduler:
    """``slurm`` or ``local``. Raises :class:`UsageError` if it is not installed."""
    return Slurm(environ) if name == "slurm" else Local(environ)


def _reason(said: str) -> str:
    """The last error of sbatch, without its name."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].removeprefix("sbatch: error: ") if lines else "it gives no reason"
