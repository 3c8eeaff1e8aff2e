"""Commands on records: show, explain, compare, tag, records, fit, schema."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from plumbline.base.errors import UsageError
from plumbline.base.paths import find_home
from plumbline.cli.common import (
    Form,
    RecordName,
    Tolerance,
    app,
    record_names,
    stderr,
    system_option,
)
from plumbline.cli.options import PlainUsage, choice
from plumbline.engine.options import check
from plumbline.engine.program import OptionSpec
from plumbline.report import inventory
from plumbline.run.show import FORMATS
from plumbline.system.files import find_system


@app.command(cls=PlainUsage)
def show(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="RECORD",
            help="files or names, or: last; form hpcc joins several",
            autocompletion=record_names,
        ),
    ],
    form: Annotated[str, choice("--format", "form of the results", FORMATS)] = "table",
    output: Annotated[str | None, typer.Option(help="write to this file, not to stdout")] = None,
    system: Annotated[str | None, system_option("system file or name to judge by")] = None,
    tolerance: Tolerance = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="draw what each rank did when: to an HTML file, or - for text on stdout",
        ),
    ] = None,
    energy: Annotated[
        bool, typer.Option("--energy", help="joules and watts of the cases, beside published ones")
    ] = False,
) -> None:
    """Print a stored record."""
    from plumbline.run.show import show as show_record

    show_record(
        records,
        os.environ,
        stderr(),
        form=form,
        output=output,
        system=system,
        tolerance=tolerance,
        timeline=timeline,
        energy=energy,
    )


@app.command()
def explain(
    record: RecordName,
    system: Annotated[
        str | None, system_option("system file or name to judge by (default: this machine)")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="all cases instead of the worst")] = False,
    tolerance: Tolerance = None,
    form: Form = "text",
) -> None:
    """Show the bound of each case, and hints for higher rates."""
    from plumbline.judge.explain import explain as explain_record
    from plumbline.judge.explain import write
    from plumbline.record.record import load_record
    from plumbline.run.show import find_record

    home = find_home()
    found = explain_record(load_record(find_record(record, home)), home, system, tolerance)
    print(write(found, form, all_cases=every))


_SIDE = "records, or with --ab a command"


@app.command(cls=PlainUsage)
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=_SIDE, autocompletion=record_names)],
    b: Annotated[str, typer.Argument(metavar="B", help=_SIDE, autocompletion=record_names)],
    in_turn: Annotated[
        bool,
        typer.Option("--ab", help="A and B are commands: run them alternately and compare pairs"),
    ] = False,
    pairs: Annotated[
        int | None,
        typer.Option(min=1, max=10000, help="with --ab: number of pairs (default: 10)"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="with --ab: seed of the order within pairs (default: 1)")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=10, help="relative difference to ignore")
    ] = 0.03,
    metric: Annotated[str, typer.Option(help="metric to compare instead of the time")] = "time",
    despite: Annotated[
        str, typer.Option(help="conditions that may differ: driver,devices,ranks,…")
    ] = "",
    form: Annotated[
        str, choice("--format", "form of the table", ["table", "csv", "json"])
    ] = "table",
) -> None:
    """Compare two sets of records, or two alternating commands (--ab); exits with 4 if B is slower.

    A set is a comma-separated list of: a record's file or name, a folder, a pattern, a tag, last,
    last~N.
    """
    from plumbline.run import compare as comparing
    from plumbline.run.in_turn import compare_in_turn

    home = find_home()
    if not in_turn:
        if pairs is not None or seed is not None:
            raise UsageError("--pairs and --seed are of --ab: without it nothing is run")
        found = comparing.compare_sets(
            a, b, home, threshold=threshold, metric=metric, despite=despite
        )
        raise typer.Exit(comparing.show(found, form))
    found, status = compare_in_turn(
        (a, b),
        home,
        stderr(),
        pairs=10 if pairs is None else pairs,
        seed=1 if seed is None else seed,
        threshold=threshold,
        metric=metric,
        despite=comparing.conditions_named(despite),
    )
    shown = comparing.show(found, form)
    raise typer.Exit(status or shown)


@app.command(cls=PlainUsage)
def tag(
    name: Annotated[str, typer.Argument(help="the tag")],
    records: Annotated[
        list[str],
        typer.Argument(metavar="RECORD", help="as for compare", autocompletion=record_names),
    ],
) -> None:
    """Add records to a named set, for plumb compare."""
    from plumbline.run.compare import tag as add_to_tag

    count = add_to_tag(name, records, find_home())
    print(f"{name}: {count} record{'s' if count != 1 else ''}")


@app.command()
def records(
    benchmark: Annotated[str | None, typer.Argument(help="benchmark to list")] = None,
    form: Form = "text",
    rebuild: Annotated[bool, typer.Option(help="rebuild the index from the files")] = False,
) -> None:
    """List the stored records, oldest first."""
    from plumbline.record.store import Store

    store = Store(find_home())
    for problem in store.sync(rebuild=rebuild):
        print(f"plumb: {problem}", file=sys.stderr)
    print(inventory.records(store.entries(benchmark), form, benchmark))


@app.command(cls=PlainUsage)
def fit(
    records: Annotated[
        list[str],
        typer.Argument(metavar="RECORD", help="files or names", autocompletion=record_names),
    ],
    name: Annotated[str, typer.Option(help="name of the system")] = "fitted",
    output: Annotated[
        str | None, typer.Option(help="the system file to write (default: systems/NAME.toml)")
    ] = None,
    system: Annotated[
        str | None, system_option("system whose other figures are kept, and which is compared")
    ] = None,
    segments: Annotated[
        int, typer.Option(min=1, max=4, help="maximum number of lines for a transfer's sizes")
    ] = 4,
    form: Form = "text",
) -> None:
    """Estimate a system's figures from records, and write its file."""
    from plumbline.fit.records import fit_records, write
    from plumbline.record.record import load_record
    from plumbline.run.show import find_record
    from plumbline.system.files import save_system

    home = find_home()
    if output is None and (not name.replace("-", "").replace("_", "").isalnum() or name == "local"):
        raise UsageError(f"--name must be letters, digits, - and _, and not local, not '{name}'")
    base = find_system(system, home) if system is not None else None
    found = fit_records(
        [load_record(find_record(one, home)) for one in records], name, base, segments
    )
    path = Path(output) if output else home.systems / f"{name}.toml"
    try:
        save_system(found.system, path, "Written by plumb fit from these records.")
    except OSError as error:
        raise UsageError(f"the system file {path} cannot be written: {error.strerror}") from None
    print(write(found, form, path))


@app.command()
def schema(
    of: Annotated[
        str, typer.Argument(help="record or system", autocompletion=lambda: ["record", "system"])
    ] = "record",
    output: Annotated[str | None, typer.Option(help="write to this file, not to stdout")] = None,
) -> None:
    """Print the JSON Schema of records, or of system files."""
    from plumbline.record import record
    from plumbline.system import files as systems

    check(OptionSpec(name="schema", type="choice", choices=["record", "system"]), of)
    text = record.schema_text() if of == "record" else systems.schema_text()
    if output is None:
        print(text, end="")
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from None
