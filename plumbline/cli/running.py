"""Commands that run benchmarks: run, compare-transports, scale, calibrate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import typer

from plumbline.cli.common import app, stderr
from plumbline.cli.options import Declared, Kind, command_for
from plumbline.engine.options import OptionGroup
from plumbline.engine.program import BenchmarkSpec, Description
from plumbline.run import plan
from plumbline.run.plan import Request


def _run(asked: Request) -> None:
    from plumbline.run.run import run

    raise typer.Exit(run(plan.make_plan(asked, os.environ, stderr())))


def _compare(asked: Request) -> None:
    from plumbline.run.compare_transports import compare

    raise typer.Exit(compare(plan.make_plan(asked, os.environ, stderr())))


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
    for need in (one for one in NEEDS if can_measure(one, planned.session.engine)):
        calibrate_for(planned, need, f"{need}, as asked")


_COMPARE_HELP = """Runs the benchmark over every transport and approach available for the device,
and prints times and bandwidths side by side. The record of each run is kept."""
_SCALE_HELP = """Runs the benchmark on increasing numbers of ranks, and gives speed-up, efficiency
and the fitted serial share. The record of each run is kept; repeating the command continues the
series."""
_CALIBRATE_HELP = """Measures the steps of transfers (launch, read, exchange, write), the limits of
the device and, with --world shmem, one-sided operations, and stores them in systems/local.toml for
the models. plumb run does so itself if necessary."""
_RUN = Kind(plan.option_groups, _run)


def parse_run(words: Sequence[str]) -> Request:
    """The request of ``plumb run`` with these arguments. Raises as the command does."""
    asked: Request = command_for("run", words, replace(_RUN, act=lambda one: one))(
        list(words), "plumb run", standalone_mode=False
    )
    return asked


def _register(name: str, summary: str, kind: Kind) -> None:
    def listed() -> None:
        """Placeholder in lists of commands: the actual command is built from the arguments."""

    app.command(name, cls=type("_Declared", (Declared,), {"kind": kind}), help=summary)(listed)


_register("run", "Run a benchmark (plumb run BENCHMARK --help).", _RUN)
_register(
    "compare-transports",
    "Run a benchmark over every transport, side by side.",
    Kind(plan.comparison_groups, _compare, _COMPARE_HELP),
)
_register(
    "scale",
    "Run a benchmark on increasing numbers of ranks: speed-up, efficiency, serial share.",
    Kind(_scaling, _scale, _SCALE_HELP),
)
_register(
    "calibrate",
    "Measure this machine's figures for the models.",
    Kind(plan.calibration_groups, _calibrate, _CALIBRATE_HELP, fixed="b_eff"),
)
