"""``plumb compare --ab``: two alternating commands, A and B in random order within each pair.

Either is first in half of the pairs, as a launch right after another may be faster. Other load of a
shared machine then affects both equally. A command is ``plumb run`` with its arguments (``plumb
run`` may be omitted), or any other that writes a record: ``{record}`` is replaced by the file's
name, otherwise ``--record FILE`` names the file. Variables may precede it, as in a shell.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from plumbline.base.errors import ExitStatus, InterruptError, RunError, UsageError
from plumbline.base.paths import Home
from plumbline.judge.comparison import pairs_needed
from plumbline.judge.sides import Comparison, compare_pairs_of_records
from plumbline.record.record import Record, load_record

_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PLACE = "{record}"
_END_S = 10.0  # from terminating a command to killing it


@dataclass(frozen=True)
class Command:
    """One of the two commands: ``words`` with ``{record}``, or with its file ``own_record``."""

    side: str
    words: Sequence[str]
    variables: Mapping[str, str]
    own_record: Path | None = None

    def line(self, record: Path) -> list[str]:
        """The command line to start."""
        return [word.replace(_PLACE, str(record)) for word in self.words]


@dataclass
class InTurn:
    """Pairs of launches of two commands; ``folder`` keeps their records and output."""

    commands: tuple[Command, Command]
    folder: Path
    environ: Mapping[str, str]
    console: Console
    pairs: list[tuple[Record, Record]] = field(default_factory=list)

    def measure(self, count: int, seed: int) -> None:
        """Make ``count`` pairs. Raises :class:`RunError` for a command that fails."""
        for number, first in enumerate(order_of(count, seed), 1):
            records: dict[int, Record] = {}
            seconds = {}
            for which in (first, 1 - first):
                begin = time.monotonic()
                records[which] = self._launch(self.commands[which], number)
                seconds[which] = time.monotonic() - begin
            self.pairs.append((records[0], records[1]))
            self._say(f"pair {number} of {count}: A {seconds[0]:.1f} s, B {seconds[1]:.1f} s")
            if number == 1:
                self._warn_of_too_few(count)

    def compared(self, *, threshold: float, metric: str, despite: Collection[str]) -> Comparison:
        """The comparison of the pairs so far."""
        return compare_pairs_of_records(
            self.pairs, threshold=threshold, metric=metric, despite=despite
        )

    def _warn_of_too_few(self, count: int) -> None:
        cases = sum(case.outcome.status == "passed" for case in self.pairs[0][0].cases)
        if count < pairs_needed(cases):
            self._say(
                f"{count} pairs are too few to call one of {cases} cases slower: "
                f"--pairs {pairs_needed(cases)}"
            )

    def _launch(self, command: Command, number: int) -> Record:
        path = self.folder / f"{command.side.lower()}-{number:03}.json"
        if command.own_record is not None:
            command.own_record.unlink(missing_ok=True)
        log = path.with_suffix(".log")
        status = self._run(command, path, log)
        what = f"command {command.side} in pair {number}"
        if status != 0:
            raise RunError(f"{what} ended with status {status}: {_last_line(log)} ({log})")
        with suppress(FileNotFoundError):
            if command.own_record is not None:
                path.write_bytes(command.own_record.read_bytes())
        if not path.is_file():
            raise RunError(f"{what} wrote no record at {command.own_record or path}")
        return load_record(path)

    def _run(self, command: Command, path: Path, log: Path) -> int:
        environ = {**self.environ, **command.variables}
        with log.open("wb") as out:
            try:
                child = subprocess.Popen(
                    command.line(path),
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                )
            except OSError as error:
                what = f"command {command.side} cannot be started: {command.words[0]}"
                raise RunError(f"{what}: {error.strerror}") from None
            try:
                return child.wait()
            except KeyboardInterrupt:
                _end(child)
                raise

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def order_of(pairs: int, seed: int) -> list[int]:
    """Which command is first in each pair, at random: 0 (A) in half of them, 1 in the others."""
    draw = random.Random(seed)
    order = [number % 2 for number in range(pairs - pairs % 2)] + [draw.randrange(2)] * (pairs % 2)
    draw.shuffle(order)
    return order


def compare_in_turn(
    texts: tuple[str, str],
    home: Home,
    console: Console,
    *,
    pairs: int,
    seed: int,
    threshold: float,
    metric: str,
    despite: Collection[str],
    environ: Mapping[str, str] = os.environ,
) -> tuple[Comparison, ExitStatus]:
    """Measure pairs and compare them; the exit status is that of an early end, if any.

    After an interrupt or a failed command the pairs measured before it are kept and compared.
    """
    commands = (parse_command("A", texts[0]), parse_command("B", texts[1]))
    folder = _new_folder(home)
    turn = InTurn(commands, folder, environ, console)
    status = ExitStatus.PASSED
    try:
        turn.measure(pairs, seed)
    except KeyboardInterrupt:
        if not turn.pairs:
            raise InterruptError("interrupted before the first pair was complete") from None
        console.print(f"interrupted after {len(turn.pairs)} of {pairs} pairs", markup=False)
        status = ExitStatus.INTERRUPTED
    except RunError as error:
        if not turn.pairs:
            raise
        console.print(f"{error}", markup=False, highlight=False, soft_wrap=True)
        console.print(f"compared: {len(turn.pairs)} of {pairs} pairs", markup=False)
        status = ExitStatus.ERROR
    finally:
        if turn.pairs:
            console.print(f"records: {folder}", markup=False, highlight=False, soft_wrap=True)
    return turn.compared(threshold=threshold, metric=metric, despite=despite), status


def parse_command(side: str, text: str) -> Command:
    """A command from its text. Raises :class:`UsageError` if it names no record."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"command {side} must be words as in a shell: {error}") from None
    variables = {}
    while words and (matched := _VARIABLE.fullmatch(words[0])):
        variables[matched[1]] = matched[2]
        words = words[1:]
    if not words:
        raise UsageError(f"command {side} is empty")
    if words[:2] == ["plumb", "run"] or words[0] == "run":
        return _of_plumb(side, words[words.index("run") + 1 :], variables)
    if any(_PLACE in word for word in words):
        return Command(side, words, variables)
    named = _option(words, "--record")
    if named is not None and named != "none":
        return Command(side, words, variables, Path(named).absolute())
    if "/" not in words[0] and not _is_program(words[0]):
        return _of_plumb(side, words, variables)
    raise UsageError(
        f"command {side} names no record: write {_PLACE} where its file belongs, or --record FILE"
    )


def _of_plumb(side: str, words: Sequence[str], variables: Mapping[str, str]) -> Command:
    """``plumb run`` with these arguments and our record; without a model unless it is named.

    The limits within its cases tell what states the machine was in.
    """
    for taken in ("--record", "--launches", "--output"):
        if _option(words, taken) is not None:
            raise UsageError(f"command {side} takes no {taken}: plumb compare sets it")
    judged = _option(words, "--system") is not None or "--no-model" in words
    extra = [] if judged else ["--no-model", "--limits"]
    start = [sys.executable, "-m", "plumbline", "run"]
    one = ["--launches", "1", "--record", _PLACE]
    return Command(side, [*start, *words, *extra, *one], variables)


def _is_program(word: str) -> bool:
    return any(
        os.access(Path(folder) / word, os.X_OK)
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if folder
    )


def _option(words: Sequence[str], name: str) -> str | None:
    for position, word in enumerate(words):
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
        if word == name:
            return words[position + 1] if position + 1 < len(words) else ""
    return None


def _new_folder(home: Home) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    parent = home.comparisons
    for number in range(1, 1000):
        folder = parent / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise RunError(f"no record can be kept in {parent}: {error.strerror}") from None
        return folder
    raise RunError(f"no new folder in {parent}")


def _last_line(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _end(child: subprocess.Popen[bytes]) -> None:
    """Wait for the end of an interrupted command."""
    with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
        child.send_signal(signal.SIGTERM)
        child.wait(_END_S)
        return
    child.kill()
    child.wait()
