"""Commands that run benchmarks: run, compare-transports, scale, calibrate."""

from __future__ import annotations

import os

import typer

from plumbline.cli.common import (
    OWN_WORDS,
    app,
    stderr,
    wants_help,
)
from plumbline.engine.program import all_benchmarks, find_engine, find_engine_for


@app.command(context_settings=OWN_WORDS, add_help_option=False)
def run(context: typer.Context) -> None:
    """Run a benchmark (plumb run BENCHMARK --help)."""
    from plumbline.run.run import run as run_benchmark

    if wants_help(context.args):
        print(_run_help(context.args))
        return
    raise typer.Exit(run_benchmark(context.args, os.environ, stderr()))


@app.command("compare-transports", context_settings=OWN_WORDS, add_help_option=False)
def compare_transports(context: typer.Context) -> None:
    """Run a benchmark over every transport, side by side."""
    from plumbline.run.compare_transports import compare
    from plumbline.run.plan import comparison_help

    if wants_help(context.args):
        print(comparison_help(context.args, find_engine_for(context.args, os.environ).description))
        return
    raise typer.Exit(compare(context.args, os.environ, stderr()))


@app.command(context_settings=OWN_WORDS, add_help_option=False)
def scale(context: typer.Context) -> None:
    """Run a benchmark on more and more ranks: speed-up, efficiency, serial share."""
    from plumbline.run.scale import scale as run_series
    from plumbline.run.scale import scale_help

    if wants_help(context.args):
        print(scale_help(context.args, find_engine_for(context.args, os.environ).description))
        return
    raise typer.Exit(run_series(context.args, os.environ, stderr()))


@app.command(context_settings=OWN_WORDS, add_help_option=False)
def calibrate(context: typer.Context) -> None:
    """Measure what the models need of this machine."""
    from plumbline.calibrate.calibrate import NEEDS, can_measure
    from plumbline.run.plan import plan_calibration
    from plumbline.run.run import calibrate_for

    if wants_help(context.args):
        print("\n".join(_calibrate_help()))
        return
    plan = plan_calibration(context.args, os.environ, stderr())
    for need in (one for one in NEEDS if can_measure(one, plan.session.engine)):
        calibrate_for(plan, need, f"{need}, as asked")


def _run_help(tokens: list[str]) -> str:
    from plumbline.run.plan import run_help

    engine = find_engine_for(tokens, os.environ)
    named = [token for token in tokens if not token.startswith("-")]
    return run_help(tokens, engine.description if named else all_benchmarks())


def _calibrate_help() -> list[str]:
    from plumbline.engine.options import help_lines
    from plumbline.run.plan import calibration_groups

    head = [
        "usage: plumb calibrate [-n RANKS] [options]",
        "",
        "Measures the steps of transfers (launch, read, exchange, write), the limits of the device",
        "and, with --world shmem, one-sided operations, and stores them in systems/local.toml for",
        "the models. plumb run does so itself where it needs them.",
    ]
    return [*head, *help_lines(calibration_groups(find_engine().description))]
