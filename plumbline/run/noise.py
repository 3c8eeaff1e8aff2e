"""``plumb noise``: noise of cores, memory, links and clocks, from several launches."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from plumbline.base.errors import ExitStatus, InterruptError, RunError
from plumbline.launch.execute import execute, record_place
from plumbline.launch.launchers import physical_cores
from plumbline.record.record import Record
from plumbline.report.noise import Steadiness, steadiness
from plumbline.run.plan import Request, make_plan
from plumbline.run.run import index_record

_CASES = 3  # core, memory, link
_FEWEST = 3  # launches, of which a spread can be said, whatever they take
_SHORTEST_SHARE = 0.3  # of a launch's length, below which one more is not made
_STAT = Path("/proc/stat")


class CoreTimes(NamedTuple):
    """Ticks of all cores since the start of the system."""

    total: int
    idle: int
    stolen: int


def words_of(seconds: float, launches: int, ranks: int | None) -> list[str]:
    """The arguments of ``plumb run`` for launches of ``seconds`` in total."""
    each = seconds / (launches * _CASES)
    words = ["noise", "--runtime", "native", "--no-model", "--time-limit", f"{each:.3f}"]
    return [*words, "-n", str(ranks or physical_cores())]


def next_share(seconds: float, spent: float, last: float, left: int) -> float | None:
    """The share of the last launch's length for each of ``left`` more; None: no more.

    So that all together take about ``seconds``, of which ``spent`` are gone; ``last`` is what the
    last launch took.
    """
    share = (seconds - spent) / (max(left, 1) * last)
    return None if share < _SHORTEST_SHARE else min(share, 1.0)


def measure(
    asked: Request, seconds: float, launches: int, environ: Mapping[str, str], console: Console
) -> Steadiness:
    """Launch ``noise`` repeatedly, and report; fewer times once ``seconds`` are over.

    If launches take longer than planned, as on shared cores, later ones are shortened. Raises
    :class:`RunError` for a failed launch; an interrupt keeps the complete ones.
    """
    plan = make_plan(asked, environ, console)
    arguments = list(plan.arguments)
    before, begin = core_times(), time.monotonic()
    records: list[Record] = []
    for number in range(1, launches + 1):
        start = time.monotonic()
        plan.session.say(f"launch {number} of {launches}")
        path, problem = record_place(plan.session, plan.benchmark.name)
        if problem:
            plan.session.say(problem)
        done = execute(plan.session, plan.benchmark.name, arguments, path)
        if done.interrupted:
            break
        if done.record is None or done.status is not ExitStatus.PASSED:
            raise RunError(done.said or f"launch {number} of noise failed: {path}")
        index_record(plan.session, path)
        records.append(done.record)
        now = time.monotonic()
        share = next_share(seconds, now - begin, now - start, launches - number)
        if share is None and number >= _FEWEST and number < launches:
            plan.session.say(f"{seconds:.0f} s are over: {number} of {launches} launches were made")
            break
        arguments = shortened(arguments, share or _SHORTEST_SHARE)
    if not records:
        raise InterruptError("interrupted before the first launch was complete")
    stolen, busy = shares(before, core_times())
    return steadiness(records, time.monotonic() - begin, stolen, busy)


def shortened(arguments: Sequence[str], share: float) -> list[str]:
    """The arguments with that share of the time limit of a case."""
    words = list(arguments)
    place = words.index("--time-limit") + 1
    words[place] = f"{float(words[place]) * share:.3f}"
    return words


def core_times(path: Path = _STAT) -> CoreTimes | None:
    """The first line of /proc/stat (proc(5)), or None."""
    with suppress(OSError, ValueError):
        name, *words = path.read_text(encoding="ascii").splitlines()[0].split()
        ticks = [int(word) for word in words[:8]]  # the guests' are included in user and nice
        if name == "cpu" and len(ticks) == 8:
            return CoreTimes(sum(ticks), ticks[3] + ticks[4], ticks[7])
    return None


def shares(before: CoreTimes | None, after: CoreTimes | None) -> tuple[float | None, float | None]:
    """The stolen and the used share of the cores' time between two readings."""
    if before is None or after is None or after.total <= before.total:
        return None, None
    total = after.total - before.total
    stolen = (after.stolen - before.stolen) / total
    return stolen, max(0.0, 1 - (after.idle - before.idle) / total - stolen)
