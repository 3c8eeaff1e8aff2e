"""Commands on models: model, advise, simulate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from plumbline.base.errors import UsageError
from plumbline.base.paths import find_home
from plumbline.cli.common import (
    Form,
    FormOrCsv,
    Scalar,
    app,
    refuse_ignored,
    system_option,
)
from plumbline.cli.options import choice
from plumbline.system.files import find_system, known_systems
from plumbline.system.system import System

SIMULATED = ("hpl", "ptrans", "shallow_water", "graph500", "ssca1")


def _subjects() -> list[str]:
    from plumbline.model.benchmarks import BENCHMARKS

    return [*BENCHMARKS, "check"]


def _tables() -> list[str]:
    from plumbline.model.published import tables

    return [table.name for table in tables()]


@app.command("model")
def model_command(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="a benchmark, or: check", autocompletion=_subjects)],
    table: Annotated[
        str | None, typer.Argument(help="check: only this published table", autocompletion=_tables)
    ] = None,
    system: Annotated[
        str | None, system_option("system file or name (default: this machine, once calibrated)")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="sizes of one device: 64,4KiB,2^20, or 1:1MiB by doubling")
    ] = None,
    ranks: Annotated[str | None, typer.Option(help="numbers of devices: 1,4,16 or 1:64")] = None,
    scaling: Annotated[
        str, choice("--scaling", "sizes of one device, or of the whole", ["weak", "strong"])
    ] = "weak",
    operation: Annotated[str | None, typer.Option(help="operations (copy,triad; bcast)")] = None,
    class_: Annotated[
        str | None, typer.Option("--class", help="npb_…: classes (S,W,A,B,C), as operations")
    ] = None,
    type_: Scalar = "float",
    transport: Annotated[
        str | None, typer.Option(help="transport of messages (staged, channel)")
    ] = None,
    approach: Annotated[str | None, typer.Option(help="host-buffered, device-streaming")] = None,
    kernel: Annotated[str | None, typer.Option(help="variant of the board's kernels")] = None,
    window: Annotated[int, typer.Option(min=1, help="gups: concurrent updates")] = 1,
    energy: Annotated[
        bool, typer.Option("--energy", help="joules and metric per watt, by the system's power")
    ] = False,
    form: FormOrCsv = "text",
    plot: Annotated[Path | None, typer.Option(help="write a picture to this HTML file")] = None,
) -> None:
    """Forecast a system, or check the models against published tables.

    plumb model hpl --system noctua1-520n --ranks 1,4,9,16,25: expected time and metric, and the
    bound. Benchmarks: stream, random_access, fft, gemm, b_eff, ptrans, hpl, shallow_water,
    collectives, gups, npb_…. Values outside the range of the figures are marked as extrapolated.

    plumb model check: each published figure beside the printed equation and our reading of it.
    """
    from plumbline.report import forecast as forecast_table
    from plumbline.report import model_check

    _check_model(context, what)
    if what == "check":
        from plumbline.model.published import table_of, tables

        chosen = tables() if table is None else [table_of(table)]
        found = [cell for one in chosen for cell in model_check.cells(one, find_home())]
        print(
            {"text": model_check.as_text, "json": model_check.as_json, "csv": model_check.as_csv}[
                form
            ](found)
        )
        return
    made = forecast_table.make_table(
        forecast_table.ForecastRequest(
            benchmark=what,
            sizes=forecast_table.numbers(sizes, "--sizes") if sizes else (),
            ranks=forecast_table.whole_numbers(ranks, "--ranks") if ranks else (),
            operations=_listed(class_ or operation),
            type=type_,
            transport=transport,
            approach=approach,
            kernel=kernel,
            window=window,
            scaling=scaling,
            energy=energy,
        ),
        _system(what, system),
    )
    forms = {
        "text": forecast_table.as_text,
        "json": forecast_table.as_json,
        "csv": forecast_table.as_csv,
    }
    print(forms[form](made))
    if plot is not None:
        forecast_table.write_plot(made, plot)
        print(f"picture: {plot}", file=sys.stderr)


@app.command()
def advise(
    system: Annotated[str | None, system_option("system (default: this machine)")] = None,
    sizes: Annotated[
        str, typer.Option(help="message sizes: 64,4KiB,2^20, or 1:1MiB by doubling")
    ] = "1:1MiB",
    ranks: Annotated[int, typer.Option(min=2, help="number of ranks")] = 2,
    transports: Annotated[
        str | None, typer.Option(help="transports to compare: staged,channel,accl-udp")
    ] = None,
    error: Annotated[
        float, typer.Option(min=0, max=1, help="relative error of figures without one")
    ] = 0.1,
    form: FormOrCsv = "text",
) -> None:
    """Recommend a transport and approach for each message size."""
    from plumbline.report import advise as advising
    from plumbline.report.forecast import whole_numbers
    from plumbline.system.files import find_system, local_system

    home = find_home()
    chosen = find_system(system, home) if system is not None else local_system(home)
    names = transports.split(",") if transports else []
    asked = whole_numbers(sizes, "--sizes")
    print(advising.write(advising.advise(chosen, asked, ranks, names, error), form))


@app.command()
def simulate(
    context: typer.Context,
    benchmark: Annotated[
        str, typer.Argument(help=", ".join(SIMULATED), autocompletion=lambda: SIMULATED)
    ],
    system: Annotated[str, system_option("system file or name")],
    ranks: Annotated[int | None, typer.Option(min=1, help="number of devices")] = None,
    rows: Annotated[int | None, typer.Option("-P", min=1, help="rows of the grid")] = None,
    columns: Annotated[int | None, typer.Option("-Q", min=1, help="columns of the grid")] = None,
    n: Annotated[
        int | None,
        typer.Option(min=1, help="rows of the matrix; elements of the mesh; scale"),
    ] = None,
    nb: Annotated[int, typer.Option(min=0, help="rows of a block (0: the kernels' own)")] = 0,
    type_: Scalar = "float",
    transport: Annotated[
        str | None, typer.Option(help="transport of messages (staged, channel)")
    ] = None,
    approach: Annotated[str | None, typer.Option(help="host-buffered, device-streaming")] = None,
    barrier: Annotated[
        bool, typer.Option("--barrier", help="hpl: all ranks end an iteration together")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, help="shallow_water: time steps")] = 10,
    imbalance: Annotated[
        float,
        typer.Option(min=0, max=0.5, help="all but hpl, ptrans: relative imbalance"),
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="seed of the imbalance")] = 1,
    graph: Annotated[
        str | None,
        typer.Option(
            help="shallow_water: partitions and their borders, a METIS graph (format 011), or a "
            "record of it"
        ),
    ] = None,
    timeline: Annotated[
        Path | None, typer.Option(help="write kernels and transfers over time to this HTML file")
    ] = None,
    watch: Annotated[int, typer.Option(min=1, help="number of ranks in the timeline")] = 4,
    form: Form = "text",
) -> None:
    """Simulate an application on a system, for thousands of ranks.

    plumb simulate hpl --system noctua1-520n -P 5 -Q 5 --n 122880: an
    event-driven simulation of dependencies with the models' times, beside the closed form.
    """
    from plumbline.report import simulation as command
    from plumbline.run.show import find_record
    from plumbline.system.files import find_system

    grid = benchmark in ("hpl", "ptrans")
    applies = {
        "nb": grid,
        "type_": grid or benchmark == "shallow_water",
        "barrier": benchmark == "hpl",
        "steps": benchmark == "shallow_water",
        "imbalance": not grid,
        "seed": not grid,
    }
    if benchmark in SIMULATED:
        refuse_ignored(context, applies, benchmark)
    refuse_ignored(context, {"watch": timeline is not None}, "a simulation without --timeline")
    refuse_ignored(context, {"seed": imbalance > 0}, "a simulation without --imbalance")
    parts = command.partitions_of(
        graph, benchmark, (ranks, rows, columns, n), lambda name: find_record(name, find_home())
    )
    place = (len(parts), 1) if parts else command.grid_of(ranks, rows, columns)
    request = command.SimulationRequest(
        benchmark,
        *place,
        size=n,
        block=nb,
        type=type_,
        transport=transport,
        approach=approach,
        barrier=barrier,
        steps=steps,
        imbalance=imbalance,
        seed=seed,
        graph=parts,
        watch=watch if timeline else 0,
    )
    outcome = command.simulate(find_system(system, find_home()), request)
    if timeline is not None:
        from plumbline.report.timeline import write_timeline

        write_timeline(outcome.title, outcome.timeline.spans, timeline)
    print(command.as_text(outcome) if form == "text" else command.as_json(outcome))


_ON_BOARDS = ("b_eff", "fft", "gemm", "hpl", "ptrans", "random_access", "shallow_water", "stream")


def _check_model(context: typer.Context, what: str) -> None:
    """Refuse options that the forecast of ``what`` would ignore. Raises :class:`UsageError`."""
    from plumbline.model.benchmarks import forecaster_of

    if what == "check":
        names = [parameter.name or "" for parameter in context.command.params]
        applies = {name: name in ("what", "table", "form") for name in names}
        refuse_ignored(context, applies, "check")
        return
    module, is_npb = forecaster_of(what), what.startswith("npb_")
    if context.params["table"] is not None:
        raise UsageError(f"a table is of plumb model check: plumb model {what} has none")
    if is_npb and context.params["class_"] and context.params["operation"]:
        raise UsageError("--class and --operation name the same: give one of them")
    applies = {
        "class_": is_npb,
        "kernel": what in _ON_BOARDS,
        "type_": what in _ON_BOARDS or what == "gups",
        "window": what == "gups",
        "scaling": bool(module.GROWS),
    }
    refuse_ignored(context, applies, what)


def _listed(words: str | None) -> tuple[str, ...]:
    return tuple(words.split(",")) if words else ()


def _system(benchmark: str, given: str | None) -> System:
    """The system of a forecast; this machine by default. Raises :class:`UsageError`."""
    from plumbline.model.benchmarks import forecaster_of
    from plumbline.system.files import local_system

    forecaster_of(benchmark)
    home = find_home()
    if given is not None:
        return find_system(given, home)
    if not home.local_system.exists():
        names = ", ".join(known_systems(home))
        raise UsageError(
            f"plumb model {benchmark} needs --system (choose from {names}), "
            "or plumb calibrate, which measures this machine"
        )
    return local_system(home)
