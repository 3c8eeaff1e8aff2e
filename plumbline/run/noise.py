"""``plumb noise``: how steady cores, memory, links and clocks are here, from some launches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from plumbline.base.errors import ExitStatus, InterruptError, RunError, UsageError
from plumbline.engine.options import Given
from plumbline.engine.program import find_engine
from plumbline.launch.execute import execute, record_place
from plumbline.launch.launchers import physical_cores
from plumbline.record.record import Record
from plumbline.report.noise import Steadiness, steadiness
from plumbline.run.plan import Request, RunPlan, make_plan
from plumbline.run.run import index_record

_CASES = 3  # core, memory, link
_STAT = Path("/proc/stat")


class CoreTimes(NamedTuple):
    """Ticks of all cores since the start of the system."""

    total: int
    idle: int
    stolen: int


def measure(
    seconds: float,
    launches: int,
    ranks: int | None,
    environ: Mapping[str, str],
    console: Console,
) -> Steadiness:
    """Launch ``noise`` so often within so many seconds, and say what was found.

    Raises :class:`RunError` for a launch that fails; an interrupt keeps those that were complete.
    """
    plan = _plan(seconds, launches, ranks, environ, console)
    before, begin = core_times(), time.monotonic()
    records: list[Record] = []
    for number in range(1, launches + 1):
        plan.session.say(f"launch {number} of {launches}")
        path, problem = record_place(plan.session, plan.benchmark.name)
        if problem:
            plan.session.say(problem)
        done = execute(plan.session, plan.benchmark.name, plan.arguments, path)
        if done.interrupted:
            break
        if done.record is None or done.status is not ExitStatus.PASSED:
            raise RunError(done.said or f"launch {number} of noise failed: {path}")
        index_record(plan.session, path)
        records.append(done.record)
    if not records:
        raise InterruptError("interrupted before the first launch was complete")
    stolen, busy = shares(before, core_times())
    return steadiness(records, time.monotonic() - begin, stolen, busy)


def _plan(
    seconds: float, launches: int, ranks: int | None, environ: Mapping[str, str], console: Console
) -> RunPlan:
    each = seconds / (launches * _CASES)
    engine = find_engine(environ)
    benchmark = engine.description.benchmark("noise")
    if benchmark is None:
        raise UsageError(f"{engine.path} has no benchmark noise")
    values = {
        "runtime": "native",
        "time-limit": f"{each:.3f}",
        "ranks": str(ranks or physical_cores()),
    }
    return make_plan(Request(engine, benchmark, Given(values)), environ, console)


def core_times(path: Path = _STAT) -> CoreTimes | None:
    """The first line of /proc/stat (proc(5)); None where there is none."""
    with suppress(OSError, ValueError):
        name, *words = path.read_text(encoding="ascii").splitlines()[0].split()
        ticks = [int(word) for word in words[:8]]  # the guests' are in user and nice already
        if name == "cpu" and len(ticks) == 8:
            return CoreTimes(sum(ticks), ticks[3] + ticks[4], ticks[7])
    return None


def shares(before: CoreTimes | None, after: CoreTimes | None) -> tuple[float | None, float | None]:
    """What of the cores' time between the two was stolen, and what was used."""
    if before is None or after is None or after.total <= before.total:
        return None, None
    total = after.total - before.total
    stolen = (after.stolen - before.stolen) / total
    return stolen, max(0.0, 1 - (after.idle - before.idle) / total - stolen)
