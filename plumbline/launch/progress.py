"""Shows a run's progress on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from plumbline.launch.events import CaseFinished, CaseStarted, Event, Failed, Start, Warned
from plumbline.launch.launcher_output import LauncherOutput


class ProgressView:
    """Takes events and other lines of one run. Use as a context; writes to ``console`` (stderr).

    ``aside`` marks an auxiliary run: this text is shown at the start, instead of the lines of cases
    and warnings. Errors and other lines are always shown.
    """

    def __init__(self, console: Console, title: str, aside: str | None = None) -> None:
        self.launcher = LauncherOutput()
        self.cases_finished = 0
        self._console = console
        self._title = title
        self._aside = aside
        self._bar = bars(console)
        self._task = self._bar.add_task("starting", title=title, total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def on_event(self, event: Event) -> None:
        """Show ``event``."""
        if isinstance(event, Start):
            self._bar.update(self._task, total=event.cases)
            self._line(
                f"{self._title}: {_number(event.cases, 'case')} on {_number(event.ranks, 'rank')}"
            )
            if self._aside:
                self.say(self._aside)
        elif isinstance(event, CaseStarted):
            self._bar.update(self._task, description=event.key, completed=event.index - 1)
        elif isinstance(event, CaseFinished):
            self._case(event)
        elif isinstance(event, Warned) and self._aside is None:
            self.say(f"warning: {event.text}")
        elif isinstance(event, Failed):
            self.say(f"plumb: {event.text}")

    def on_text(self, line: str) -> None:
        """Print a line that is not an event, unless it is the launcher's."""
        if not self.launcher.hides(line):
            self.say(line)

    def say(self, text: str) -> None:
        """Write a line, above the bar if there is one."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _case(self, event: CaseFinished) -> None:
        self.cases_finished += 1
        self._bar.update(
            self._task, completed=event.index, description=f"{event.key} {event.outcome}"
        )
        width = len(str(event.of))
        text = f"[{event.index:>{width}}/{event.of}] {event.key}: {event.outcome}"
        if event.repetitions is not None:
            text += f", {event.repetitions} repetitions"
        if event.reason:
            text += f" ({event.reason})"
        if event.outcome in ("passed", "skipped", "unsupported"):
            self._line(text)
        else:
            self.say(text)

    def _line(self, text: str) -> None:
        if self._aside is None and not self._console.is_terminal:
            self.say(text)


class RunOfMany(ProgressView):
    """One of many runs, whose bars stand together in ``shared``; tells only what went wrong.

    ``warnings`` counts what the engine warned of.
    """

    def __init__(
        self, console: Console, title: str, aside: str | None = None, *, shared: Progress
    ) -> None:
        super().__init__(console, title, aside)
        self._bar = shared
        self._task = shared.add_task("starting", title=title, total=None)
        self.warnings = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.remove_task(self._task)

    def on_event(self, event: Event) -> None:
        """Show ``event`` in the bar."""
        if isinstance(event, Warned):
            self.warnings += 1
        else:
            super().on_event(event)

    def _line(self, text: str) -> None:
        pass


def bars(console: Console) -> Progress:
    """Bars of runs and of their cases; nothing where ``console`` is no terminal."""
    return Progress(
        TextColumn("{task.fields[title]}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _number(number: int, of: str) -> str:
    return f"{number} {of}" if number == 1 else f"{number} {of}s"
