"""The command ``plumb``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from plumbline.base.errors import ExitStatus, InterruptError, PlumbError, UsageError, shortened
from plumbline.base.paths import find_home
from plumbline.base.version import version as plumb_version
from plumbline.cli import completion
from plumbline.engine import runtimes
from plumbline.engine.program import all_benchmarks, find_engine, find_engine_for
from plumbline.record.expectations import DEFAULT_TOLERANCE
from plumbline.report import inventory
from plumbline.system.files import find_system, known_systems
from plumbline.system.system import System


class _Commands(TyperGroup):
    """The commands; an interrupt of one is a failure like any other, and no library's to tell."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptError("interrupted") from None


app = typer.Typer(
    name="plumb",
    cls=_Commands,
    help="Measures accelerated HPC machines, proves each result right, and judges it by a model.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_OWN_WORDS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}
Form = Annotated[str, typer.Option("--format", help="text or json")]


def start(arguments: list[str]) -> int:
    """Run a command line; returns the exit status. Every failure is one sentence on stderr."""
    try:
        status = app(arguments, prog_name="plumb", standalone_mode=False)
        return status if isinstance(status, int) else ExitStatus.PASSED
    except PlumbError as error:
        if str(error):
            print(f"plumb: {shortened(str(error))}", file=sys.stderr)
        return error.status
    except typer.Abort:
        print("plumb: aborted", file=sys.stderr)
        return ExitStatus.ERROR
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.PASSED
    except Exception as error:
        # Typer's own refusals share no public base class over its versions, only this method.
        sentence = getattr(error, "format_message", None)
        if sentence is None:
            raise
        text = shortened(sentence().strip().rstrip("."))
        print(f"plumb: {text[:1].lower()}{text[1:]} (plumb --help)", file=sys.stderr)
        return ExitStatus.BAD_USAGE


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    if version:
        print(f"plumb {plumb_version()}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command(context_settings=_OWN_WORDS, add_help_option=False)
def run(context: typer.Context) -> None:
    """Run a benchmark (plumb run BENCHMARK --help)."""
    from plumbline.run.run import run as run_benchmark

    if _wants_help(context.args):
        print(_run_help(context.args))
        return
    raise typer.Exit(run_benchmark(context.args, os.environ, _stderr()))


@app.command("compare-transports", context_settings=_OWN_WORDS, add_help_option=False)
def compare_transports(context: typer.Context) -> None:
    """Run a benchmark over every transport, side by side."""
    from plumbline.run.compare_transports import compare
    from plumbline.run.plan import comparison_help

    if _wants_help(context.args):
        print(comparison_help(context.args, find_engine_for(context.args, os.environ).description))
        return
    raise typer.Exit(compare(context.args, os.environ, _stderr()))


@app.command("list")
def list_benchmarks(form: Form = "text") -> None:
    """List the benchmarks."""
    print(inventory.benchmarks(all_benchmarks(), _form(form)))


@app.command()
def devices(form: Form = "text") -> None:
    """List the devices of this node, by vendor list."""
    form = _form(form)
    lists = inventory.devices(find_engine(), find_home(), os.environ)
    print(inventory.devices_text(lists, form))


@app.command()
def transports(form: Form = "text") -> None:
    """List the transports, their approaches, and on which device each works."""
    form = _form(form)
    lists = inventory.transports(find_engine(), find_home(), os.environ)
    print(inventory.transports_text(lists, form))


@app.command()
def doctor(form: Form = "text") -> None:
    """Find known faults of this machine's MPI, OpenSHMEM and OpenCL, and their remedies."""
    from plumbline.run import doctor as examination

    form = _form(form)
    findings = examination.examine(os.environ)
    print(examination.text(findings, form))
    raise typer.Exit(examination.status_of(findings))


@app.command()
def show(
    record: Annotated[str, typer.Argument(help="a record's file or name, or: last")],
    form: Annotated[
        str, typer.Option("--format", help="table, csv, hpcc-json, json, shoms or osu")
    ] = "table",
    output: Annotated[str | None, typer.Option(help="write to this file, not to stdout")] = None,
    system: Annotated[str | None, typer.Option(help="system file or name to judge by")] = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0, help="largest deviation from the model that is still ok, relative"),
    ] = DEFAULT_TOLERANCE,
) -> None:
    """Print a record again, from the record alone."""
    from plumbline.run.plan import FORMATS
    from plumbline.run.show import show as show_record

    _choice("--format", form, FORMATS)
    show_record(
        record,
        os.environ,
        _stderr(),
        form=form,
        output=output,
        system=system,
        tolerance=tolerance,
    )


@app.command()
def explain(
    record: Annotated[str, typer.Argument(help="a record's file or name, or: last")],
    system: Annotated[
        str | None, typer.Option(help="system file or name to judge by (default: this machine)")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="every case, not the worst few")] = False,
    tolerance: Annotated[
        float,
        typer.Option(min=0, help="largest deviation from the model that is still ok, relative"),
    ] = DEFAULT_TOLERANCE,
    form: Form = "text",
) -> None:
    """Show the bound of each case, and hints for a higher rate."""
    from plumbline.judge.explain import explain as explain_record
    from plumbline.judge.explain import write
    from plumbline.record.record import load_record
    from plumbline.run.show import find_record

    form, home = _form(form), find_home()
    found = explain_record(load_record(find_record(record, home)), home, system, tolerance)
    print(write(found, form, all_cases=every))


@app.command()
def records(
    benchmark: Annotated[str | None, typer.Argument(help="only those of this benchmark")] = None,
    form: Form = "text",
    rebuild: Annotated[bool, typer.Option(help="make the index anew from the files")] = False,
) -> None:
    """List the records that are kept, oldest first."""
    from plumbline.record.store import Store

    store = Store(find_home())
    for problem in store.sync(rebuild=rebuild):
        print(f"plumb: {problem}", file=sys.stderr)
    print(inventory.records(store.entries(benchmark), _form(form)))


@app.command("model")
def model_command(
    what: Annotated[str, typer.Argument(help="a benchmark, or: check")],
    table: Annotated[str | None, typer.Argument(help="check: only this published table")] = None,
    system: Annotated[str | None, typer.Option(help="system file or name")] = None,
    sizes: Annotated[
        str | None, typer.Option(help="sizes of one device: 64,4KiB,2^20, or 1:1MiB by doubling")
    ] = None,
    ranks: Annotated[str | None, typer.Option(help="numbers of devices: 1,4,16 or 1:64")] = None,
    scaling: Annotated[
        str, typer.Option(help="weak: sizes are of one device; strong: of the whole")
    ] = "weak",
    operation: Annotated[
        str | None, typer.Option(help="only these operations (copy,triad; bcast)")
    ] = None,
    type_: Annotated[str, typer.Option("--type", help="half, float or double")] = "float",
    transport: Annotated[str | None, typer.Option(help="how messages go (staged, channel)")] = None,
    approach: Annotated[str | None, typer.Option(help="host-buffered, device-streaming")] = None,
    kernel: Annotated[str | None, typer.Option(help="variant of the board's kernels")] = None,
    window: Annotated[int, typer.Option(min=1, help="gups: updates under way at once")] = 1,
    form: Annotated[str, typer.Option("--format", help="text, json or csv")] = "text",
    plot: Annotated[Path | None, typer.Option(help="write a picture to this HTML file")] = None,
) -> None:
    """Forecast a system, or check the models against published tables.

    plumb model hpl --system noctua1-520n --ranks 1,4,9,16,25: expected time and metric, and the
    bound. Benchmarks: stream, random_access, fft, gemm, b_eff, ptrans, hpl, shallow_water,
    collectives, gups. Values outside the range of the figures are marked as extrapolated.

    plumb model check: every published figure beside the equation as printed and our reading.
    """
    from plumbline.report import forecast as forecast_table
    from plumbline.report import model_check

    _choice("--format", form, ["text", "json", "csv"])
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
    _choice("--scaling", scaling, ["weak", "strong"])
    _choice("--type", type_, ["half", "float", "double"])
    made = forecast_table.make_table(
        forecast_table.ForecastRequest(
            benchmark=what,
            sizes=forecast_table.numbers(sizes, "--sizes") if sizes else (),
            ranks=forecast_table.whole_numbers(ranks, "--ranks") if ranks else (),
            operations=operation.split(",") if operation else (),
            type=type_,
            transport=transport,
            approach=approach,
            kernel=kernel,
            window=window,
            scaling=scaling,
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


@app.command(context_settings=_OWN_WORDS, add_help_option=False)
def calibrate(context: typer.Context) -> None:
    """Measure what the models need of this machine."""
    from plumbline.calibrate.calibrate import NEEDS, can_measure
    from plumbline.run.plan import plan_calibration
    from plumbline.run.run import calibrate_for

    if _wants_help(context.args):
        print("\n".join(_calibrate_help()))
        return
    plan = plan_calibration(context.args, os.environ, _stderr())
    for need in (one for one in NEEDS if can_measure(one, plan.session.engine)):
        calibrate_for(plan, need, f"{need}, as asked")


class _ListTaker(TyperCommand):
    """A command whose usage names a list as RECORD..., without the braces of Typer's own."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage behind the command's name, in pieces."""
        return [piece.strip("{").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


@app.command(cls=_ListTaker)
def fit(
    records: Annotated[list[str], typer.Argument(metavar="RECORD", help="records' files or names")],
    name: Annotated[str, typer.Option(help="name of the system")] = "fitted",
    output: Annotated[
        str | None, typer.Option(help="the system file to write (default: systems/NAME.toml)")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="a system whose other figures stay, and that is compared")
    ] = None,
    segments: Annotated[
        int, typer.Option(min=1, max=4, help="how many lines a transfer's sizes may take")
    ] = 4,
    form: Form = "text",
) -> None:
    """Estimate a system's figures from records, and write its file."""
    from plumbline.fit.records import fit_records, write
    from plumbline.record.record import load_record
    from plumbline.run.show import find_record
    from plumbline.system.files import find_system, save_system

    form, home = _form(form), find_home()
    if output is None and (not name.replace("-", "").replace("_", "").isalnum() or name == "local"):
        raise UsageError(f"--name must be letters, digits, - and _, and not local, not '{name}'")
    base = find_system(system, home) if system is not None else None
    found = fit_records(
        [load_record(find_record(one, home)) for one in records], name, base, segments
    )
    path = Path(output) if output else home.systems / f"{name}.toml"
    try:
        save_system(found.system, path, "Written by plumb fit; every figure is of these records.")
    except OSError as error:
        raise UsageError(f"the system file {path} cannot be written: {error.strerror}") from None
    print(write(found, form, path))


@app.command()
def advise(
    system: Annotated[str | None, typer.Option(help="system (default: this machine)")] = None,
    sizes: Annotated[
        str, typer.Option(help="message sizes: 64,4KiB,2^20, or 1:1MiB by doubling")
    ] = "1:1MiB",
    ranks: Annotated[int, typer.Option(min=2, help="number of ranks")] = 2,
    transports: Annotated[
        str | None, typer.Option(help="only these: staged,channel,accl-udp")
    ] = None,
    error: Annotated[
        float, typer.Option(min=0, max=1, help="relative error of figures that name none")
    ] = 0.1,
    form: Annotated[str, typer.Option("--format", help="text, json or csv")] = "text",
) -> None:
    """Recommend a transport and approach for each message size."""
    from plumbline.report import advise as advising
    from plumbline.report.forecast import whole_numbers
    from plumbline.system.files import find_system, local_system

    _choice("--format", form, ["text", "json", "csv"])
    home = find_home()
    chosen = find_system(system, home) if system is not None else local_system(home)
    names = transports.split(",") if transports else []
    asked = whole_numbers(sizes, "--sizes")
    print(advising.write(advising.advise(chosen, asked, ranks, names, error), form))


@app.command()
def simulate(
    benchmark: Annotated[str, typer.Argument(help="hpl, ptrans or shallow_water")],
    system: Annotated[str, typer.Option(help="system file or name")],
    ranks: Annotated[int | None, typer.Option(min=1, help="number of devices")] = None,
    rows: Annotated[int | None, typer.Option("-P", min=1, help="rows of the grid")] = None,
    columns: Annotated[int | None, typer.Option("-Q", min=1, help="columns of the grid")] = None,
    n: Annotated[
        int | None, typer.Option(min=1, help="rows of the whole matrix; elements of the mesh")
    ] = None,
    nb: Annotated[int, typer.Option(min=0, help="rows of a block (0: the kernels' own)")] = 0,
    type_: Annotated[str, typer.Option("--type", help="half, float or double")] = "float",
    transport: Annotated[str | None, typer.Option(help="how messages go (staged, channel)")] = None,
    approach: Annotated[str | None, typer.Option(help="host-buffered, device-streaming")] = None,
    barrier: Annotated[
        bool, typer.Option("--barrier", help="hpl: all ranks end an iteration together")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, help="shallow_water: steps of time")] = 10,
    imbalance: Annotated[
        float, typer.Option(min=0, max=0.5, help="shallow_water: how partitions differ, relative")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="of partitions that differ")] = 1,
    graph: Annotated[
        Path | None,
        typer.Option(
            help="shallow_water: partitions and their borders, a METIS graph (format 011)"
        ),
    ] = None,
    timeline: Annotated[
        Path | None, typer.Option(help="write kernels and transfers over time to this HTML file")
    ] = None,
    watch: Annotated[int, typer.Option(min=1, help="number of ranks in the timeline")] = 4,
    form: Form = "text",
) -> None:
    """Simulate an application on a system, for thousands of ranks.

    plumb simulate hpl --system noctua1-520n -P 5 -Q 5 --n 122880: what depends on what is
    followed event by event, with the times of the models, and set beside the closed form.
    """
    from plumbline.report import simulation as command
    from plumbline.system.files import find_system

    _choice("--format", form, ["text", "json"])
    _choice("--type", type_, ["half", "float", "double"])
    parts = command.partitions_of(graph, benchmark, (ranks, rows, columns, n))
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

        write_timeline(outcome, timeline)
    print(command.as_text(outcome) if form == "text" else command.as_json(outcome))


@app.command()
def setup(
    runtime: Annotated[str, typer.Argument(help=", ".join(runtimes.NAMES))],
    accept_eula: Annotated[
        bool, typer.Option("--accept-eula", help="accept Intel's licence for its runtimes")
    ] = False,
) -> None:
    """Install an OpenCL runtime into its own folder."""
    runtimes.check_name(runtime)
    if runtime not in runtimes.WHEELS:
        print(runtimes.set_up_pocl())
        return
    wheels = runtimes.WHEELS[runtime]
    ask = (lambda: typer.confirm(_question(wheels), err=True)) if sys.stdin.isatty() else None
    if not runtimes.licence_accepted(accept_eula, os.environ, ask):
        raise runtimes.refusal(runtime)
    print(f"installing {', '.join(wheels.packages)} ({wheels.megabytes} MB)", file=sys.stderr)
    folder = runtimes.install(wheels, find_home())
    print(f"{runtime} is installed: {folder}; plumb run ... --runtime {runtime} uses it")


@app.command()
def schema(
    of: Annotated[str, typer.Argument(help="record or system")] = "record",
    output: Annotated[str | None, typer.Option(help="write to this file, not to stdout")] = None,
) -> None:
    """Print the JSON Schema of records, or of system files."""
    from plumbline.record import record
    from plumbline.system import files as systems

    _choice("schema", of, ["record", "system"])
    text = record.schema_text() if of == "record" else systems.schema_text()
    if output is None:
        print(text, end="")
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from None


@app.command()
def version() -> None:
    """Show the versions of plumb and of its engine."""
    print(f"plumb {plumb_version()}")
    engine = find_engine()
    said = engine.description
    library = f", {said.world_library}" if said.world_library else ""
    print(f"{said.program} {said.version} ({said.commit or 'no commit'}{library}): {engine.path}")


@app.command("completion")
def completion_script(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish")],
) -> None:
    """Print a shell's completion script.

    To use it now: eval "$(plumb completion bash)".
    """
    print(completion.script(shell), end="")


@app.command("_complete", hidden=True, context_settings=_OWN_WORDS, add_help_option=False)
def _complete(context: typer.Context) -> None:
    shown: Any = typer.main.get_command(app)
    commands = {
        name: ["--help", *(flag for one in command.params for flag in one.opts if flag[:2] == "--")]
        for name, command in shown.commands.items()
        if not command.hidden
    }
    print("\n".join(completion.candidates(context.args, commands, os.environ)))


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


def _question(runtime: runtimes.WheelRuntime) -> str:
    return (
        f"{runtime.title} falls under the Intel End User License Agreement for Developer Tools "
        "(its text comes with the packages, and is on Intel's site). Do you accept it?"
    )


def _system(benchmark: str, given: str | None) -> System:
    """The system that a forecast is for. Raises :class:`UsageError` where none is given."""
    from plumbline.model.benchmarks import forecaster_of

    forecaster_of(benchmark)
    home = find_home()
    if given is None:
        names = ", ".join(known_systems(home))
        raise UsageError(f"plumb model {benchmark} needs --system (choose from {names})")
    return find_system(given, home)


def _wants_help(tokens: list[str]) -> bool:
    return "--help" in tokens or "-h" in tokens


def _form(form: str) -> str:
    return _choice("--format", form, ["text", "json"])


def _choice(flag: str, given: str, choices: list[str]) -> str:
    from plumbline.engine.options import check
    from plumbline.engine.program import OptionSpec

    check(OptionSpec(name=flag, type="choice", choices=choices), given, flag)
    return given


def _stderr() -> Console:
    return Console(stderr=True)
