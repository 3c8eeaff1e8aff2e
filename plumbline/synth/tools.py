"""The vendors' tools: their versions, and starts with a time limit whose last lines are kept."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from plumbline.base.errors import RunError, UsageError

_VERSION = {
    "aoc": (["-version"], re.compile(r"Version (\d+(?:\.\d+)+)")),
    "v++": (["--version"], re.compile(r"v(\d+\.\d+)")),
}
_LAST_LINES = 6
_ASK_TIMEOUT_S = 120


def find_tool(tool: str, environ: Mapping[str, str]) -> str | None:
    """The program's path, or None."""
    return shutil.which(tool, path=environ.get("PATH", ""))


def require_tool(tool: str, environ: Mapping[str, str]) -> str:
    """The program's path. Raises :class:`UsageError` if it is not there."""
    path = find_tool(tool, environ)
    if path is None:
        raise UsageError(
            f"there is no {tool} on PATH: load the vendor's module, or take --target emulation "
            "(without aoc it is built by the FPGA emulator's compiler) or --dry-run"
        )
    return path


def check_version(tool: str, wanted: str, environ: Mapping[str, str]) -> None:
    """Raise :class:`UsageError` unless ``tool`` is of version ``wanted`` (19.4 for 19.4.0)."""
    words, pattern = _VERSION[tool]
    try:
        done = subprocess.run(
            [require_tool(tool, environ), *words],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{tool} does not print its version: {error}") from None
    found = pattern.search(done.stdout + done.stderr)
    if found is None:
        raise UsageError(f"{tool} {' '.join(words)} prints no version")
    if _padded(found[1]) != _padded(wanted):
        raise UsageError(
            f"{tool} is of version {found[1]}, but the board's file names {wanted}: load that "
            "version, or --any-version"
        )


def _padded(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def run_step(
    arguments: list[str], folder: Path, log: Path, environ: Mapping[str, str], limit_s: float | None
) -> None:
    """Start a tool in ``folder`` and wait for it; its output goes to ``log``.

    Raises :class:`RunError` with its last lines if it fails, is killed, or exceeds the limit; its
    processes are ended.
    """
    tool = arguments[0]
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"{tool} cannot be started: {error.strerror}") from None
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            end(process)
            raise RunError(f"{tool} exceeded the time limit; {last_lines(log)}") from None
        except BaseException:
            end(process)
            raise
    if status < 0:
        name = signal.Signals(-status).name
        raise RunError(f"{tool} was killed by {name}; {last_lines(log)}")
    if status > 0:
        raise RunError(f"{tool} ended with {status}; {last_lines(log)}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a tool with all processes that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_lines(log: Path) -> str:
    """The end of a log, in one line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    if not lines:
        return f"it printed nothing ({log})"
    return f"its last lines ({log}): {' | '.join(lines[-_LAST_LINES:])}"
