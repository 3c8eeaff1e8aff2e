"""``plumb compare-runtimes``: one benchmark over every runtime, beside the costs of their calls.

Each is a separate run, with a record kept as by ``plumb run``. Two further runs on each runtime
measure a launch of a kernel and copies of eight bytes (``ceilings``), and one byte that is read,
passed on and written (``links``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from plumbline.base.columns import aligned, csv_text
from plumbline.base.errors import ExitStatus, UsageError
from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.options import Given
from plumbline.launch.execute import execute, record_place
from plumbline.record.record import Record
from plumbline.run.compare_transports import say
from plumbline.run.plan import Request, RunPlan, make_plan
from plumbline.run.run import WEIGHT, fresh_output, index_record

# Runs for rows of calls: benchmark, its options, and the rows' titles by case.
_CALLS = (
    (
        "ceilings",
        ("--size", "12", "--only", "launch/wait,link/read/8,link/write/8"),
        {
            "launch/wait": "launch, us",
            "link/read/8": "8 B to the host, us",
            "link/write/8": "8 B to the device, us",
        },
    ),
    ("links", ("--sizes", "1"), {"natural/relay/1": "1 B read, passed on, written, us"}),
)
_CALL_TITLES = [title for *_, titles in _CALLS for title in titles.values()]
_BUILD = "building kernels, s"


@dataclass(frozen=True)
class Way:
    """A runtime, and the language of its kernels."""

    runtime: str
    language: str | None = None

    @property
    def label(self) -> str:
        """As users read it."""
        return f"{self.runtime} ({self.language})" if self.language else self.runtime

    def options(self) -> dict[str, str]:
        """Its options of a run."""
        language = {"kernel-language": self.language} if self.language else {}
        return {"runtime": self.runtime, **language}


@dataclass(frozen=True)
class Column:
    """A runtime's results: the benchmark's record, and seconds of calls by the row's title."""

    way: Way
    record: Record
    calls: dict[str, float]


def compare(asked: Request, environ: Mapping[str, str], console: Console) -> int:
    """Run over every runtime; returns the exit status.

    Runtimes that the engine rejects are left out with the reason, which is a failure only if none
    remains. Raises :class:`UsageError` for invalid options.
    """
    columns: list[Column] = []
    left_out: list[tuple[Way, str]] = []
    statuses: list[ExitStatus] = []
    output = fresh_output(make_plan(asked, environ, console))
    for way in _ways(environ):
        status, found = _measure(asked, way, environ, console)
        if isinstance(found, Column):
            columns.append(found)
        else:
            left_out.append((way, found))
        if status is not ExitStatus.BAD_USAGE:
            statuses.append(status)
    if not columns and not statuses:
        reasons = "; ".join(f"{way.label}: {reason}" for way, reason in left_out)
        raise UsageError(f"{asked.benchmark.name} runs on no runtime here: {reasons}")
    rows = list(_rows(columns))
    if asked.given.values.get("format") == "csv":
        say(csv_text(rows[0], rows[1:]), output)
    else:
        title = f"{asked.benchmark.name}, median time of an operation in us"
        lines = [title, "", *aligned(rows, left=1)]
        if left_out:
            lines += ["", "left out", *(f"  {way.label}: {reason}" for way, reason in left_out)]
        say("\n".join(lines), output)
    return max(statuses, key=WEIGHT.index, default=ExitStatus.BAD_USAGE)


def _ways(environ: Mapping[str, str]) -> list[Way]:
    """OpenCL by the driver that SYCL uses where that is installed, else by the system's."""
    intel = runtimes.is_installed(runtimes.INTEL_CPU.name, find_home(environ))
    opencl = Way(runtimes.INTEL_CPU.name if intel else "opencl")
    return [opencl, Way("sycl", "opencl"), Way("sycl", "sycl"), Way("cuda"), Way("native")]


def _measure(
    asked: Request, way: Way, environ: Mapping[str, str], console: Console
) -> tuple[ExitStatus, Column | str]:
    given = Given({**asked.given.values, **way.options()})
    try:
        plan = make_plan(replace(asked, given=given), environ, console)
    except UsageError as error:
        return ExitStatus.BAD_USAGE, str(error)
    plan.session.say(way.label)
    status, record, reason = _run(plan, plan.benchmark.name, plan.arguments)
    if record is None or status is ExitStatus.BAD_USAGE:
        return status, reason
    words = [word for name, value in way.options().items() for word in (f"--{name}", value)]
    words[1] = runtimes.engine_name(way.runtime)
    calls: dict[str, float] = {}
    for name, more, titles in _CALLS:
        calls |= _seconds(plan, name, [*words, *more], titles)
    return status, Column(way, record, calls)


def _run(
    plan: RunPlan, benchmark: str, arguments: Sequence[str]
) -> tuple[ExitStatus, Record | None, str]:
    path, problem = record_place(plan.session, benchmark)
    if problem:
        plan.session.say(problem)
    done = execute(plan.session, benchmark, list(arguments), path)
    if done.record is not None:
        plan.session.say(f"record: {path}")
        index_record(plan.session, path)
    outcome = done.record.outcome if done.record else None
    reason = done.said or (outcome.reason if outcome else None) or "the run left no record"
    return done.status, done.record, reason


def _seconds(
    plan: RunPlan, benchmark: str, words: Sequence[str], titles: Mapping[str, str]
) -> dict[str, float]:
    """The median times of one operation, of cases that passed, by title."""
    _, record, _ = _run(plan, benchmark, [*words, "--time-limit", "0.3"])
    times = {title: _time(record, key) for key, title in titles.items()} if record else {}
    return {title: time for title, time in times.items() if time is not None}


def _time(record: Record, key: str) -> float | None:
    case = next((case for case in record.cases if case.key == key), None)
    return case.median_s() if case and case.outcome.status == "passed" else None


def _rows(columns: Sequence[Column]) -> Iterator[list[str]]:
    """The head, a row for each case, rows of calls, and the time of building kernels."""
    yield ["", *(_title(column) for column in columns)]
    keys = dict.fromkeys(case.key for column in columns for case in column.record.cases)
    for key in keys:
        yield [key, *(_cell(_time(column.record, key), 1e6) for column in columns)]
    for title in _CALL_TITLES:
        yield [title, *(_cell(column.calls.get(title), 1e6) for column in columns)]
    yield [_BUILD, *(_cell(_built(column.record), 1) for column in columns)]


def _title(column: Column) -> str:
    return f"{column.way.label}{', emulated' if column.record.emulated else ''}"


def _cell(seconds: float | None, per_second: float) -> str:
    return "-" if seconds is None else f"{seconds * per_second:.4g}"


def _built(record: Record) -> float | None:
    """Seconds that building kernels took in all cases, as the record's facts tell."""
    times = [case.facts.get("kernel_build_s") for case in record.cases]
    known = [time for time in times if isinstance(time, float)]
    return sum(known) if known else None
