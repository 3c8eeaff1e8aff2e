"""Starts a launcher, reads the output of its ranks, and leaves no process behind.

A launcher that runs for 15 s after the engine's last event (an error, or the end) is terminated; a
scheduler's may take longer after a good end. On an interrupt or SIGTERM the launcher is terminated,
and remaining processes are killed; a second one kills at once. Neither raises an exception here, so
a started process is always ended.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from plumbline.base.errors import UsageError
from plumbline.launch.events import Event, EventLines, Failed, Finish, Warned

GRACE_S = 15.0
_TERMINATE_S = 5.0
_DRAIN_S = 1.0
_TICK_S = 0.2


@dataclass
class Ending:
    """The outcome of a run.

    ``status`` is the launcher's exit status (negative: the signal that ended it). ``said`` is the
    output of launcher and ranks without events; ``last_word`` is the error or finish event.
    ``unfinalised``: a rank has left its library, which some launchers call a failure.
    """

    status: int = 0
    last_word: Event | None = None
    errors: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    interrupted: bool = False
    killed: bool = False
    unfinalised: bool = False


class _Interrupts:
    """Number of interrupts, by Ctrl-C or SIGTERM."""

    count = 0

    def note(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of both signals."""
        self.count += 1


def supervise(
    command: Sequence[str],
    environ: Mapping[str, str],
    on_event: Callable[[Event], None],
    on_text: Callable[[str], None],
    grace_s: float = GRACE_S,
    finish_s: float | None = None,
) -> Ending:
    """Run ``command`` to its end; events and other lines of its output go to the callbacks.

    Both its stdout and its stderr are read, because results come from the record. The command may
    run for ``grace_s`` after the engine's error, for ``finish_s`` (default: as long) after its end.
    Raises :class:`UsageError` where the command cannot be started.
    """
    ending = Ending()
    with _noted() as interrupts:
        try:
            process = subprocess.Popen(
                command,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from None
        try:
            _follow(process, interrupts, ending, on_event, on_text, (grace_s, finish_s or grace_s))
        finally:
            _stop(process, interrupts)
        ending.interrupted = interrupts.count > 0
    ending.status = process.returncode
    return ending


def _follow(
    process: subprocess.Popen[bytes],
    interrupts: _Interrupts,
    ending: Ending,
    on_event: Callable[[Event], None],
    on_text: Callable[[str], None],
    graces_s: tuple[float, float],
) -> None:
    patience: float | None = None
    drained: float | None = None
    told = EventLines()
    for line in _lines(process):
        now = time.monotonic()
        if interrupts.count:
            return
        if line is not None:
            for said in told.take(line):
                _take(said, ending, on_event, on_text)
        elif process.poll() is not None:
            drained = drained or now + _DRAIN_S
        if ending.last_word is not None:
            patience = patience or now + graces_s[isinstance(ending.last_word, Finish)]
        if patience is not None and now > patience and process.poll() is None:
            ending.killed = True
            return
        if drained is not None and now > drained:
            return


def _take(
    said: Event | str,
    ending: Ending,
    on_event: Callable[[Event], None],
    on_text: Callable[[str], None],
) -> None:
    if isinstance(said, str):
        ending.said.append(said)
        on_text(said)
        return
    if isinstance(said, Failed):
        ending.errors.append(said.text)
    if isinstance(said, Failed | Finish):
        ending.last_word = said
    if isinstance(said, Warned) and said.code == "unfinalised":
        ending.unfinalised = True
    on_event(said)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str | None]:
    """Lines of both pipes as they arrive; None at each tick without one; ends with the pipes."""
    pending: dict[int, bytes] = {}
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            selector.register(pipe.fileno(), selectors.EVENT_READ)
            pending[pipe.fileno()] = b""
        while selector.get_map():
            ready = selector.select(_TICK_S)
            if not ready:
                yield None
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                *lines, rest = (pending[key.fd] + chunk).split(b"\n")
                pending[key.fd] = rest
                if not chunk:
                    selector.unregister(key.fd)
                    lines = [rest] if rest else []
                yield from (line.decode(errors="replace").rstrip("\r") for line in lines)


@contextmanager
def _noted() -> Iterator[_Interrupts]:
    """Count interrupts within the context (in the main thread only)."""
    interrupts = _Interrupts()
    before: dict[signal.Signals, Any] = {}
    try:
        with suppress(ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, interrupts.note)
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(process: subprocess.Popen[bytes], interrupts: _Interrupts) -> None:
    """Terminate, then kill the processes left in the launcher's session."""
    family = _family(process.pid)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        asked, until = interrupts.count, time.monotonic() + _TERMINATE_S
        while process.poll() is None and interrupts.count == asked and time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TICK_S)
    ended = {process.pid} if process.poll() is not None else set()
    for pid in (family | _family(process.pid)) - ended:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _family(leader: int) -> set[int]:
    """The processes of the session of ``leader``, and their descendants.

    Launchers put ranks into their own process groups, some into their own sessions.
    """
    parents: dict[int, int] = {}
    found = {leader}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            if int(fields[3]) == leader:
                found.add(int(entry.name))
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in found} - found
        found |= children
        grown = bool(children)
    return found - {os.getpid()}
