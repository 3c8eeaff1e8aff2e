"""``plumb scale``: one benchmark on increasing numbers of ranks, as a resumable series.

Each run is one of ``plumb run``, with its own record. In weak scaling the option named by the
benchmark's model grows with the ranks (:class:`~plumbline.model.shared.Shared`), in strong scaling
it is constant; then one rank also runs problems of the size of one rank's part, for the
extrapolated line (Meyer 2024, section 4.2.3).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from rich.console import Console

from plumbline.base.errors import ExitStatus, RunError, UsageError
from plumbline.engine.options import Given, OptionGroup, whole_number
from plumbline.engine.program import BenchmarkSpec, Description, Engine, OptionSpec
from plumbline.launch.execute import execute, record_place
from plumbline.launch.launchers import physical_cores
from plumbline.model.benchmarks import shared_problem
from plumbline.model.scaling import Mode
from plumbline.model.shared import Shared
from plumbline.record.record import Record
from plumbline.report.forecast import whole_numbers
from plumbline.report.scaling import FORMS, Measured, ScalingTable, write, write_plot
from plumbline.run.plan import Request, RunPlan, check_with_engine, make_plan, option_groups
from plumbline.run.run import WEIGHT, index_record
from plumbline.run.series import Series, is_kept, load_series, series_path
from plumbline.system.files import local_system

# Options of a run that do not apply to a series.
_NOT_SCALED = frozenset(
    (
        *(
            "ranks",
            "nodes",
            "launches",
            "system",
            "no-model",
            "limits",
            "tolerance",
            "fail-slow",
            "record",
            "format",
        ),
        *("output", "test", "dry-run"),
    )
)
_OWN = ("ranks", "mode", "beyond", "metric", "series", "afresh", "format", "output", "plot")


@dataclass(frozen=True)
class Step:
    """One run: ranks, size, if any, and the number of ranks whose part it is."""

    plan: RunPlan
    ranks: int
    size: int | None = None
    part_of: int | None = None

    def __str__(self) -> str:
        size = f", size {self.size}" if self.size is not None else ""
        part = f" (one rank's part of {self.part_of})" if self.part_of else ""
        return f"{self.ranks} rank{'s' * (self.ranks != 1)}{size}{part}"


@dataclass
class Asked:
    """The validated request of a command line."""

    engine: Engine
    benchmark: BenchmarkSpec
    given: Given
    mode: Mode
    ranks: list[int]
    beyond: list[int]
    shared: Shared | None
    run_values: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The whole size (strong) or one rank's (weak): given, of the preset, or the default."""
        assert self.shared is not None
        size = _whole(self.benchmark, self.run_values, self.shared.option)
        if size > 0 or self.shared.of_choice is None:
            return size
        option, sizes = self.shared.of_choice
        return sizes[_text(self.benchmark, self.run_values, option)]

    @property
    def multiple(self) -> int:
        """The multiple to which sizes are rounded."""
        assert self.shared is not None
        name = self.shared.multiple_of
        return max(1, _whole(self.benchmark, self.run_values, name)) if name else 1


def scale(request: Request, environ: Mapping[str, str], console: Console) -> int:
    """Execute ``plumb scale``; returns the exit status.

    Everything is validated before the first run. Raises :class:`UsageError`.
    """
    asked = _asked(request)
    steps, skipped = _steps(asked, environ, console)
    say = steps[0].plan.session.say
    for line in skipped:
        say(line)
    home = steps[0].plan.session.home
    named = asked.given.values.get("series")
    path = (
        Path(named)
        if named
        else series_path(home, asked.benchmark.name, asked.mode, asked.run_values)
    )
    series = load_series(path, asked.benchmark.name, asked.mode)
    if asked.given.flag("afresh"):
        series.runs.clear()
    table = ScalingTable(
        asked.benchmark.name, asked.mode, asked.given.values.get("metric"), asked.beyond
    )
    table.system = local_system(home)
    status = _run_all(steps, series, path, table)
    say(f"series: {path}")
    _show(asked, table)
    return status


def _show(asked: Asked, table: ScalingTable) -> None:
    if not table.runs:
        return
    text = write(table, asked.given.values.get("format", FORMS[0]))
    output = asked.given.values.get("output")
    if output is None:
        print(text, flush=True)
    else:
        try:
            Path(output).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            sys.stdout.write(text + "\n")
            raise RunError(f"--output {output} cannot be written: {error.strerror}") from None
    if "plot" in asked.given.values:
        write_plot(table, Path(asked.given.values["plot"]))


# --- planning ----------------------------------------------------------------------------------


def _asked(request: Request) -> Asked:
    benchmark, given = request.benchmark, request.given
    mode = cast(Mode, given.values.get("mode", "weak"))
    cores = physical_cores()
    usual = ",".join(str(1 << i) for i in range(cores.bit_length()) if 1 << i <= cores)
    ranks = sorted(set(whole_numbers(given.values.get("ranks", usual), "--ranks")))
    beyond = sorted(set(whole_numbers(given.values.get("beyond", str(8 * ranks[-1])), "--beyond")))
    values = {name: value for name, value in given.values.items() if name not in _OWN}
    shared = shared_problem(benchmark.name, values)
    if mode == "strong" and shared is None:
        raise UsageError(
            f"--mode strong is not available for {benchmark.name}, whose ranks have a problem each "
            "(choose from hpl, ptrans, npb_…, random_access --table shared)"
        )
    if shared is not None:
        for name in (one for one in shared.instead if one in values):
            raise UsageError(f"a series needs the size as --{shared.option}, not --{name}")
    for name in ("series", "output", "plot"):
        _check_file(name, given.values.get(name))
    return Asked(request.engine, benchmark, given, mode, ranks, beyond, shared, values)


def _check_file(name: str, given: str | None) -> None:
    """Refuse, before the first run, what cannot be written after it."""
    if given is None:
        return
    if Path(given).is_dir():
        raise UsageError(f"--{name} {given} is a folder: name a file in it")
    if name != "series" and not Path(given).absolute().parent.is_dir():
        raise UsageError(f"--{name} {given} cannot be written: its folder does not exist")


def _steps(
    asked: Asked, environ: Mapping[str, str], console: Console
) -> tuple[list[Step], list[str]]:
    """All runs, validated as by ``plumb run``; and the omitted ones, with reasons."""
    steps, skipped = [], []
    for ranks in asked.ranks:
        size = None
        if asked.shared is not None:
            size = asked.size
            if asked.mode == "weak":
                size = asked.shared.grown(size, ranks, asked.multiple)
        step = Step(_plan(asked, ranks, size, environ, console), ranks, size)
        try:
            check_with_engine(step.plan)
        except UsageError as error:
            raise UsageError(f"{step}: {error}") from None
        steps.append(step)
    if asked.mode == "strong" and asked.shared is not None:
        for ranks in [*asked.ranks, *(one for one in asked.beyond if one > asked.ranks[-1])]:
            try:
                size = asked.shared.part(asked.size, ranks, asked.multiple)
                if ranks > 1 and size > 0:
                    plan = _plan(asked, 1, size, environ, console)
                    check_with_engine(plan)
                    steps.append(Step(plan, 1, size, ranks))
            except UsageError as error:
                skipped.append(f"no line for {ranks} ranks: {error}")
    return steps, skipped


def _plan(
    asked: Asked, ranks: int, size: int | None, environ: Mapping[str, str], console: Console
) -> RunPlan:
    values = {**asked.run_values, "ranks": str(ranks)}
    if size is not None and asked.shared is not None:
        values[asked.shared.option] = str(size)
    return make_plan(Request(asked.engine, asked.benchmark, Given(values)), environ, console)


def _text(benchmark: BenchmarkSpec, values: Mapping[str, str], name: str) -> str:
    option = next(one for one in benchmark.parameters if one.name == name)
    preset = benchmark.presets.get(values.get("preset", "standard"), {})
    return values.get(name) or str(preset.get(name, option.default))


def _whole(benchmark: BenchmarkSpec, values: Mapping[str, str], name: str) -> int:
    option = next(one for one in benchmark.parameters if one.name == name)
    number = whole_number(option, _text(benchmark, values, name))
    assert number is not None  # it was checked
    return number


# --- running --------------------------------------------------------------------------------------


def _run_all(steps: Sequence[Step], series: Series, path: Path, table: ScalingTable) -> ExitStatus:
    statuses: list[ExitStatus] = []
    for number, step in enumerate(steps, 1):
        say = step.plan.session.say
        kept = series.found(step.ranks, step.plan.arguments)
        if kept is not None:
            say(f"{step}: kept from {kept[0]} ({number} of {len(steps)})")
            table.runs.append(_measured(step, *kept))
            continue
        say(f"{step} ({number} of {len(steps)})")
        status, found, interrupted = _run_one(step)
        statuses.append(status)
        if found is not None:
            _keep(series, path, step, found[0])
            table.runs.append(_measured(step, *found))
        else:
            table.left_out.append(f"{step}: no right result")
            say(table.left_out[-1])
        if interrupted:
            say("interrupted: the same command goes on from here")
            break
    return max(statuses, key=WEIGHT.index, default=ExitStatus.PASSED)


def _run_one(step: Step) -> tuple[ExitStatus, tuple[Path, Record] | None, bool]:
    """The status, the record if valid, and whether the run was interrupted."""
    session, name = step.plan.session, step.plan.benchmark.name
    path, problem = record_place(session, name)
    if problem:
        session.say(problem)
    done = execute(session, name, step.plan.arguments, path)
    if done.record is not None:
        session.say(f"record: {path}")
        index_record(session, path)
    kept = done.record is not None and is_kept(done.record, step.ranks)
    return done.status, (path, done.record) if kept and done.record else None, done.interrupted


def _keep(series: Series, path: Path, step: Step, record: Path) -> None:
    try:
        series.add(path, step.ranks, step.plan.arguments, record)
    except OSError as error:
        step.plan.session.say(f"the series cannot be written to {path}: {error.strerror}")


def _measured(step: Step, path: Path, record: Record) -> Measured:
    return Measured(step.ranks, step.size, step.part_of, path, record)


# --- options --------------------------------------------------------------------------------------


def scaling_groups(description: Description, benchmark: BenchmarkSpec | None) -> list[OptionGroup]:
    """The series' own options, and those of a run, without those it varies."""
    groups = [
        OptionGroup(group.title, [o for o in group.options if o.name not in _NOT_SCALED])
        for group in option_groups(description, benchmark)
    ]
    return [OptionGroup("Options of a series", _own_options()), *groups]


def _own_options() -> list[OptionSpec]:
    def option(name: str, kind: str, help: str, **more: object) -> OptionSpec:
        return OptionSpec.model_validate({"name": name, "type": kind, "help": help, **more})

    return [
        option("ranks", "text", "numbers of ranks, such as 1,2,4,8 or 1:8", aliases=["-n"]),
        option(
            "mode",
            "choice",
            "the problem grows with the ranks (weak; sizes are one rank's), or is fixed (strong)",
            choices=["weak", "strong"],
            default="weak",
        ),
        option(
            "beyond",
            "text",
            "maximum number of ranks of the lines (default: 8 times that of the runs)",
        ),
        option("metric", "text", "metric (default: the benchmark's rate of all ranks)"),
        option("series", "text", "file of the series' state (default: one in HOME/series)"),
        option("afresh", "flag", "repeat runs that the series already has"),
        option("format", "choice", "form of the results", choices=list(FORMS), default=FORMS[0]),
        option("output", "text", "write the results to this file instead of stdout"),
        option("plot", "text", "write a plot to this file (HTML)"),
    ]
