"""One start of the engine: launch, supervise, read the record, report the outcome."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from plumbline.base.errors import ExitStatus, UsageError
from plumbline.base.files import claim, drop_empty
from plumbline.base.paths import Home
from plumbline.engine.program import Engine
from plumbline.launch.events import Event, Failed, Finish, Start
from plumbline.launch.launcher_output import LauncherOutput
from plumbline.launch.launchers import LAUNCHERS, Launch
from plumbline.launch.placement import DeviceMap, Placement, why_misplaced
from plumbline.launch.progress import ProgressView
from plumbline.launch.supervise import Ending, supervise
from plumbline.record.record import Record, load_record

_ROOM_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Session:
    """The common parts of all starts of one ``plumb`` command.

    ``environ`` is the ranks' whole environment, ``exported`` the variables set by plumb.
    ``console`` writes to stderr, ``view`` creates the progress view of a start. Records are checked
    against ``placement`` and ``devices``.
    """

    engine: Engine
    home: Home
    launch: Launch
    environ: dict[str, str]
    exported: tuple[str, ...]
    console: Console
    verbose: bool = False
    placement: Placement | None = None
    devices: DeviceMap | None = None
    view: Callable[[Console, str, str | None], ProgressView] = ProgressView

    def say(self, text: str) -> None:
        """A line for the user, on stderr."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Executed:
    """The outcome of a start; ``record`` is None if there is none at ``path``.

    ``said`` is the engine's final error message, if any.
    """

    status: ExitStatus
    path: Path
    record: Record | None
    interrupted: bool = False
    said: str | None = None


def execute(
    session: Session, benchmark: str, arguments: Sequence[str], path: Path, aside: str | None = None
) -> Executed:
    """Start ``benchmark`` with the record at ``path``, show its progress, and read the record.

    ``aside`` as in :class:`~plumbline.launch.progress.ProgressView`.
    """
    words = [benchmark, *arguments]
    words += ["--record", str(path), "--progress", "json", "--format", "none"]
    command = session.launch.command(session.engine.path, words, session.exported)
    if session.verbose:
        session.say(shlex.join(command))
    worlds: list[int] = []
    try:
        with session.view(session.console, benchmark, aside) as view:

            def on_event(event: Event) -> None:
                worlds.extend([event.ranks] if isinstance(event, Start) else [])
                view.on_event(event)

            finish_s = LAUNCHERS[session.launch.kind].finish_s
            ending = supervise(command, session.environ, on_event, view.on_text, finish_s=finish_s)
        record, problem = _record_left(path)
    finally:
        drop_empty(path)
    status, sentence = judge_ending(ending, view.launcher)
    if status in (ExitStatus.PASSED, ExitStatus.SLOW, ExitStatus.WRONG_ANSWER):
        problem = problem or _other_world(session, worlds)
        if record is not None:
            problem = problem or why_misplaced(record, session.placement, session.devices)
    if status is ExitStatus.ERROR and sentence is None:
        sentence = _worst(record)
    if status in (ExitStatus.ERROR, ExitStatus.INTERRUPTED):
        session.say(f"plumb: {sentence}; {cases_left(record, path)}")
    elif problem and status is not ExitStatus.BAD_USAGE:
        session.say(f"plumb: {problem}")
        status = ExitStatus.ERROR
    elif sentence:
        session.say(f"plumb: {sentence}")
    said = ending.last_word.text if isinstance(ending.last_word, Failed) else sentence
    return Executed(status, path, record, ending.interrupted, said)


def _other_world(session: Session, worlds: Sequence[int]) -> str | None:
    """The sentence for ranks that did not find each other, or None."""
    wanted = session.launch.ranks
    if not wanted or not worlds or list(worlds) == [wanted]:
        return None
    started = " and ".join(map(str, worlds[:4])) + (", …" if len(worlds) > 4 else "")
    return (
        f"one world of {wanted} ranks was to start, but {session.launch.kind} started "
        f"{len(worlds)}, of {started}: the launcher is not that of the engine's library"
    )


def judge_ending(ending: Ending, launcher: LauncherOutput) -> tuple[ExitStatus, str | None]:
    """The exit status of a start, and a message unless the engine's events had one.

    The engine's own 0 to 4 are kept if its events confirm them: Hydra, too, exits with 1 to 4 if a
    signal of that number killed a rank. Everything else is 3.
    """
    last = ending.last_word
    known = {status.value for status in ExitStatus} - {ExitStatus.INTERRUPTED.value}
    if ending.interrupted:
        return ExitStatus.INTERRUPTED, "interrupted"
    if ending.killed:
        return ExitStatus.ERROR, "the launcher did not end after the engine and was terminated"
    # Ranks that left their library end with 0, but Open MPI's launcher with 1.
    left = ending.unfinalised and launcher.died() is None
    if (
        isinstance(last, Finish)
        and last.exit in known
        and (ending.status in (0, last.exit) or left)
    ):
        return ExitStatus(last.exit), None
    if isinstance(last, Failed) and ending.status in (ExitStatus.BAD_USAGE, ExitStatus.ERROR):
        return ExitStatus(ending.status), "the run ended early" if ending.status == 3 else None
    died = launcher.died()
    if last is None and died is None and ending.status in known:
        return ExitStatus(ending.status), launcher.text() or "the engine ended without a message"
    reason = died or launcher.text() or _exit_text(ending.status)
    return ExitStatus.ERROR, reason


def record_place(
    session: Session, benchmark: str, given: str | None = None, launch: int = 1
) -> tuple[Path, str | None]:
    """A new record's path, and a message if it could not be the requested one.

    A default name is claimed exclusively. Launches from the second on append their number to a
    given name. If the requested folder is not writable or full, the path is in a temporary folder.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    wanted = session.home.records / f"{benchmark}-{stamp}.json"
    if given:
        wanted = Path(given).absolute()
        wanted = wanted.with_stem(f"{wanted.stem}-{launch}") if launch > 1 else wanted
    problem = _why_not(wanted)
    try:
        if problem is None:
            return wanted if given else claim(wanted), None
    except OSError as error:
        problem = error.strerror or str(error)
    place = Path(tempfile.mkdtemp(prefix="plumbline-")) / wanted.name
    return place, f"no record can be kept in {wanted.parent}: {problem}; it is in {place}"


def _why_not(path: Path) -> str | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent):
            pass
        room = os.statvfs(path.parent)
    except OSError as error:
        return error.strerror or str(error)
    if path.is_dir():
        return f"{path.name} is a folder"
    return "the disk is full" if room.f_bavail * room.f_frsize < _ROOM_BYTES else None


def _record_left(path: Path) -> tuple[Record | None, str | None]:
    with suppress(OSError):
        if not path.exists() or path.stat().st_size == 0:
            return None, f"the engine left no record at {path}"
    try:
        return load_record(path), None
    except UsageError as error:
        return None, str(error)


def cases_left(record: Record | None, path: Path) -> str:
    """How many cases a run that ended early has left."""
    if record is None:
        return "no record was left"
    return f"the record holds {len(record.cases)} of {record.planned_cases} cases: {path}"


def _worst(record: Record | None) -> str:
    """The reason of a run that ended with an error."""
    outcome = record.outcome if record else None
    return (outcome.reason if outcome else None) or "the run ended with an error"


def _exit_text(status: int) -> str:
    if status < 0:
        return f"the launcher was ended by signal {-status}"
    if status > 128:
        return f"the launcher ended with status {status} (signal {status - 128})"
    return f"the launcher ended with status {status}"
