"""Commands that run benchmarks: run, compare-transports, scale, calibrate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from plumbline.base.errors import UsageError
from plumbline.cli.common import app, stderr
from plumbline.cli.options import Declared, Kind, command_for, command_of
from plumbline.engine.options import Given, OptionGroup
from plumbline.engine.program import BenchmarkSpec, Description
from plumbline.run import plan
from plumbline.run.plan import Request


def _run(asked: Request) -> None:
    from plumbline.run.run import run

    raise typer.Exit(run(plan.make_plan(asked, os.environ, stderr())))


def _compare(asked: Request) -> None:
    from plumbline.run.compare_transports import compare

    raise typer.Exit(compare(plan.make_plan(asked, os.environ, stderr())))


def _compare_runtimes(asked: Request) -> None:
    from plumbline.run.compare_runtimes import compare

    raise typer.Exit(compare(asked, os.environ, stderr()))


def _scale(asked: Request) -> None:
    from plumbline.run.scale import scale

    raise typer.Exit(scale(asked, os.environ, stderr()))


def _scaling(description: Description, benchmark: BenchmarkSpec | None) -> list[OptionGroup]:
    from plumbline.run.scale import scaling_groups  # SciPy takes a while to import

    return scaling_groups(description, benchmark)


def _calibrate(asked: Request) -> None:
    from plumbline.calibrate.calibrate import NEEDS, can_measure
    from plumbline.run.run import calibrate_for

    planned = plan.make_plan(asked, os.environ, stderr())
    only = planned.given.values.get("only", ",".join(NEEDS)).split(",")
    for name in (one for one in only if one not in NEEDS):
        raise UsageError(f"--only must be of {', '.join(NEEDS)}, not {name!r}")
    engine, transport = planned.session.engine, planned.given.values.get("transport")
    for need in (one for one in NEEDS if one in only and can_measure(one, engine, transport)):
        calibrate_for(planned, need, f"{need}, as asked")


def _submit(asked: Request) -> None:
    from plumbline.run.submit import submit_one

    raise typer.Exit(submit_one(asked, os.environ, stderr()))


def _submission(description: Description, benchmark: BenchmarkSpec | None) -> list[OptionGroup]:
    from plumbline.run.submit import NOT_SUBMITTED, own_options

    own = OptionGroup("Options of plumb submit", own_options())
    return [own, *plan.without(plan.option_groups(description, benchmark), NOT_SUBMITTED)]


class _Submission(Declared):
    """``plumb submit``: of a benchmark, of a survey's file, or of a job that was submitted."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the form that the arguments have."""
        from plumbline.run import submit

        words = list(args)
        if words and words[0].endswith(".toml"):
            path = Path(words.pop(0))

            def act(values: dict[str, str]) -> None:
                given = Given(values)
                raise typer.Exit(submit.submit_file(path, given, os.environ, stderr()))

            group = OptionGroup("Options of plumb submit FILE", submit.own_options())
        elif any(word.partition("=")[0] == "--collect" for word in words):

            def act(values: dict[str, str]) -> None:
                raise typer.Exit(submit.collect(Given(values), os.environ, stderr()))

            group = OptionGroup("Options of plumb submit --collect", submit.collect_options())
        else:
            return super().make_context(info_name, args, parent, **extra)
        command = command_of(info_name, [group], act)
        return command.make_context(info_name, words, parent, **extra)


_COMPARE_HELP = """Runs the benchmark over every transport and approach available for the device,
and prints times and bandwidths side by side. The record of each run is kept."""
_COMPARE_RUNTIMES_HELP = """Runs the benchmark over every runtime, OpenCL, SYCL (with kernels in
OpenCL C and in SYCL), CUDA and native, and prints the cases' times side by side, with those of a
launch, a copy of one byte, and building kernels. The record of each run is kept."""
_SCALE_HELP = """Runs the benchmark on increasing numbers of ranks, and gives speed-up, efficiency
and the fitted serial share. The record of each run is kept; repeating the command continues the
series."""
_SUBMIT_HELP = """Runs the benchmark, or the runs of a survey's FILE.toml, as a batch job: writes
its script, submits it, waits, and indexes the records. --collect JOB does the last two for a job
of --no-wait."""
_CALIBRATE_HELP = """Measures the steps of transfers (launch, read, exchange, write), the limits of
the device, rates of applications' own loops and, with --world shmem, one-sided operations, and
stores them in systems/local.toml for the models."""
_RUN = Kind(plan.option_groups, _run)


def parse_run(words: Sequence[str]) -> Request:
    """The request of ``plumb run`` with these arguments. Raises as the command does."""
    asked: Request = command_for("run", words, replace(_RUN, act=lambda one: one))(
        list(words), "plumb run", standalone_mode=False
    )
    return asked


def register(name: str, summary: str, kind: Kind, shape: type[Declared] = Declared) -> None:
    """Register a command whose options the engine declares."""

    def listed() -> None:
        """Placeholder in lists of commands: the actual command is built from the arguments."""

    app.command(name, cls=type("_Declared", (shape,), {"kind": kind}), help=summary)(listed)


register("run", "Run a benchmark (plumb run BENCHMARK --help).", _RUN)
register(
    "submit",
    "Run a benchmark, or the runs of a file, as a batch job.",
    Kind(_submission, _submit, _SUBMIT_HELP),
    _Submission,
)
register(
    "compare-transports",
    "Run a benchmark over every transport, side by side.",
    Kind(plan.comparison_groups, _compare, _COMPARE_HELP),
)
register(
    "compare-runtimes",
    "Run a benchmark over every runtime, side by side.",
    Kind(plan.runtime_comparison_groups, _compare_runtimes, _COMPARE_RUNTIMES_HELP),
)
register(
    "scale",
    "Run a benchmark on increasing numbers of ranks: speed-up, efficiency, serial share.",
    Kind(_scaling, _scale, _SCALE_HELP),
)
register(
    "calibrate",
    "Measure this machine's figures for the models.",
    Kind(plan.calibration_groups, _calibrate, _CALIBRATE_HELP, fixed="b_eff"),
)
