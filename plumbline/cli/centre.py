"""Commands of a computing centre: survey, history, accept, report, plot, import, wiring."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from plumbline.base.errors import UsageError
from plumbline.base.paths import find_home
from plumbline.cli.common import app, record_names, stderr
from plumbline.cli.options import PlainUsage, choice
from plumbline.launch.placement import DISTRIBUTIONS
from plumbline.report import history as over_time


def _benchmarks() -> list[str]:
    from plumbline.engine.program import all_benchmarks

    return [one.name for one in all_benchmarks().benchmarks]


@app.command()
def survey(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="a TOML list of runs (default: all)")
    ] = None,
    preset: Annotated[
        str, choice("--preset", "how long each run takes", ["smoke", "standard", "full"])
    ] = "standard",
    resume: Annotated[
        bool, typer.Option(help="go on with the last survey of the same runs: keep what passed")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="run only what fits into 90s, 10m, 2h")
    ] = None,
    fail_slow: Annotated[
        bool, typer.Option("--fail-slow", help="exit with 4 where a case is slower than its model")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="list the runs, start none")] = False,
    form: Annotated[str, choice("--format", "form of the summary", ["text", "json", "csv"])] = (
        "text"
    ),
    output: Annotated[
        Path | None, typer.Option("--output", help="write the summary to this file, not to stdout")
    ] = None,
) -> None:
    """Run all that this machine can run, or what a file lists, and keep and judge it.

    Exit status as of plumb run, the worst of all runs.
    """
    from plumbline.report.survey import write
    from plumbline.run import survey as surveying

    wanted = surveying.Wanted(
        preset=preset,
        file=file,
        resume=resume,
        budget_s=None if budget is None else surveying.seconds_of_budget(budget),
        fail_slow=fail_slow,
        starts=not dry_run,
    )
    prepared = surveying.prepare(wanted, os.environ, stderr())
    if dry_run:
        print(prepared.planned())
        return
    status = prepared.run_all()
    _write(write(prepared.name, prepared.rows, form), output)
    raise typer.Exit(status)


@app.command()
def history(
    benchmark: Annotated[str, typer.Argument(help="a benchmark", autocompletion=_benchmarks)],
    metric: Annotated[
        str | None,
        typer.Option(
            help="a metric, a pattern, or time (default: aggregates, or each case's rate)"
        ),
    ] = None,
    case: Annotated[str | None, typer.Option(help="only the case of this key, or pattern")] = None,
    host: Annotated[str, typer.Option(help="only on hosts of this pattern")] = "*",
    device: Annotated[str, typer.Option(help="only on devices of this pattern")] = "*",
    since: Annotated[str, typer.Option(help="only since this day or moment, 2026-11-22")] = "",
    form: Annotated[str, choice("--format", "form of the lines", over_time.FORMS)] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", help="write to this file, not to stdout")
    ] = None,
) -> None:
    """Show figures over time, with the moments at which they changed and what changed with them.

    A line is of one machine, device and setting; driver, version, MPI library and kernel may
    change along it.
    """
    from plumbline.record.store import Store

    if not re.fullmatch(r"(\d{4}(-\d\d){0,2}(T[\d:.]+Z?)?)?", since):
        raise UsageError(f"--since must be a day or moment in UTC, as 2026-11-22, not '{since}'")
    if form == "parquet" and output is None:
        raise UsageError("--format parquet needs --output FILE")
    store = Store(find_home(os.environ))
    for problem in store.sync():
        print(f"plumb: {problem}", file=sys.stderr)
    lines = over_time.lines_of(
        store, over_time.Wanted(benchmark, metric, case, host, device, since)
    )
    if form == "parquet" and output is not None:
        over_time.write_parquet(lines, output)
        return
    _write(over_time.write(lines, form), output)


@app.command(cls=PlainUsage)
def accept(
    requirements: Annotated[
        Path, typer.Argument(metavar="REQUIREMENTS", help="a TOML file of requirements")
    ],
    records: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORD",
            help="records, as for compare (default: those of the newest survey)",
            autocompletion=record_names,
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="write JUnit's XML to this file")] = None,
    form: Annotated[str, choice("--format", "form of the table", ["text", "json", "csv"])] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", help="write the table to this file, not to stdout")
    ] = None,
) -> None:
    """Check records against requirements.

    Exits with 4 where one is missed, 1 for a wrong answer, 3 for an error, and 2 where a
    requirement names no case.
    """
    from plumbline.judge.acceptance import status_of
    from plumbline.report import acceptance
    from plumbline.run import accept as accepting

    asked = accepting.load_requirements(requirements)
    checks = accepting.accept(asked, records or [], find_home(os.environ))
    if junit is not None:
        _save(acceptance.junit(asked.name, checks), junit, "--junit")
    _write(acceptance.write(asked.name, checks, form), output)
    raise typer.Exit(status_of(checks))


@app.command(cls=PlainUsage)
def report(
    records: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORD",
            help="records, as for compare (default: those of the newest survey)",
            autocompletion=record_names,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", help="the file to write")] = Path(
        "report.html"
    ),
    against: Annotated[
        str | None, typer.Option(help="compare the records with these, A; as for compare")
    ] = None,
    title: Annotated[str | None, typer.Option(help="the page's title")] = None,
    metric: Annotated[
        str | None, typer.Option(help="with --against: compare this metric (default: time)")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=10, help="with --against: a smaller difference is none (default: 0.03)"
        ),
    ] = None,
) -> None:
    """Write records as one page of HTML that needs no network: tables, figures, derivations."""
    from plumbline.run.report import Asked, write_report

    if against is None and (metric is not None or threshold is not None):
        raise UsageError("--metric and --threshold are of --against: name records to compare with")
    compared = metric or "time", 0.03 if threshold is None else threshold
    asked = Asked(records or [], output, against, title, *compared)
    count = write_report(asked, find_home(os.environ))
    print(f"{output}: {count} record{'s' if count != 1 else ''}", file=sys.stderr)


@app.command(cls=PlainUsage)
def plot(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="RECORD", help="records, as for compare", autocompletion=record_names
        ),
    ],
    figure: Annotated[
        str | None, typer.Option(help="its number, or a part of its title (default: list all)")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="the file: .svg, .png or .pdf; .html animates snapshots"),
    ] = None,
    where: Annotated[str, choice("--plot", "to a file, or in the terminal", ["file", "tty"])] = (
        "file"
    ),
) -> None:
    """Draw one figure of records, for a paper or in the terminal."""
    from plumbline.report.figures import tty
    from plumbline.report.figures.picture import save
    from plumbline.run import plot as plotting

    if output is not None and where == "tty":
        raise UsageError("--plot tty draws in the terminal: omit --output, or --plot tty")
    if figure is not None and output is not None and output.suffix.lower() == ".html":
        raise UsageError("--figure does not apply to an animation (--output FILE.html)")
    if output is not None and output.suffix.lower() == ".html":
        plotting.animate(records, find_home(os.environ), output)
        return
    found = plotting.figures_in(records, find_home(os.environ))
    if figure is None and len(found) > 1:
        for number, one in enumerate(found, 1):
            print(f"{number:>3}  {one.title}")
        return
    one = plotting.chosen(found, figure or "1")
    if output is not None:
        save(one, output)
    elif where == "tty":
        print("\n".join(tty.lines(one, min(stderr().width, 120))))
    else:
        raise UsageError("a figure needs --output FILE.svg (or .png, .pdf), or --plot tty")


@app.command("import", cls=PlainUsage)
def import_results(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="results of other suites")],
    host: Annotated[str, typer.Option(help="where the file does not say it")] = "unknown",
    ranks: Annotated[
        int, typer.Option("--ranks", "-n", min=0, help="where the file does not say them")
    ] = 0,
    date: Annotated[
        str | None, typer.Option(help="when it was measured (default: the file's time)")
    ] = None,
) -> None:
    """Make records of results of other suites: OSU, IMB, nccl-tests, HPC Challenge, HPCC FPGA.

    They are marked as imported: nothing of them was validated here.
    """
    from plumbline.run.importing import import_file

    for file in files:
        for path in import_file(file, find_home(os.environ), host, ranks, date):
            print(path)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text)
    else:
        _save(text, output, "--output")


def _save(text: str, path: Path, option: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be written: {error.strerror}") from None


@app.command("find-bad", cls=PlainUsage)
def find_bad(
    records: Annotated[
        list[Path] | None,
        typer.Option("--records", help="a record, or a folder of records; may be repeated"),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=2, help="measure this many nodes, in a job of their own")
    ] = None,
    hosts: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="measure these hosts, without Slurm")
    ] = None,
    preset: Annotated[
        str, choice("--preset", "how long each run takes", ["smoke", "standard", "full"])
    ] = "smoke",
    serial: Annotated[
        bool, typer.Option("--serial", help="one pair at a time, instead of all disjoint ones")
    ] = False,
    pairs_only: Annotated[
        bool, typer.Option("--pairs-only", help="measure pairs of nodes, not the nodes themselves")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="write the text to this file, not to stdout")
    ] = None,
) -> None:
    """Name nodes and links that are slower than the others, by measuring or from records.

    Within a job of Slurm its nodes are measured: each by itself (stream, gemm, the link to its
    device), then all pairs (b_eff), as many at a time as there are disjoint ones. From records:
    those without transport compare the nodes, those of two nodes each the pairs. Nothing is
    drained.
    """
    from plumbline.run import find_bad as finding
    from plumbline.run import measure_nodes as measuring

    if records and (nodes or hosts or serial or pairs_only):
        raise UsageError("--records takes no option of a measurement")
    if nodes and hosts:
        raise UsageError("--nodes and --hosts both choose the nodes; give one of them")
    if nodes and "SLURM_JOB_ID" not in os.environ:
        words = ["--preset", preset, *(["--serial"] if serial else [])]
        words += ["--pairs-only"] if pairs_only else []
        words += ["--output", str(output)] if output else []
        raise typer.Exit(measuring.repeat_in_job(nodes, words))
    if not records:
        names = hosts.split(",") if hosts else []
        wanted = measuring.Wanted(names, preset, serial, pairs_only)
        records = [measuring.measure(wanted, os.environ, stderr())]
        print(f"records: {records[0]}", file=sys.stderr)
    _write(finding.text_of(finding.gather(finding.load(records))), output)


@app.command(cls=PlainUsage)
def wiring(
    shape: Annotated[
        str, typer.Argument(metavar="SHAPE", help="ring, or a torus of ROWSxCOLUMNS (2x3)")
    ],
    nodes: Annotated[int, typer.Option(min=1, help="nodes of the job")],
    per_node: Annotated[int, typer.Option("--ranks-per-node", min=1, help="boards of a node")] = 1,
    distribution: Annotated[
        str,
        choice(
            "--rank-order",
            "order of the ranks on the nodes",
            list(DISTRIBUTIONS),
            alias="--distribution",
        ),
    ] = DISTRIBUTIONS[0],
    boards: Annotated[
        str | None, typer.Option("--device-map", help="boards of the ranks, as of plumb run")
    ] = None,
    channels: Annotated[
        str,
        typer.Option(
            help="of a board: towards the ranks before it, then those after it "
            "(torus: left, up, right, down)"
        ),
    ] = "0:1:2:3",
) -> None:
    """Print the links of boards behind an optical switch, for changeFPGAlinks.

    In a ring each board is wired to the next rank's, in a torus to its right and lower neighbours.
    """
    from plumbline.launch import wiring as wires
    from plumbline.launch.placement import Placement, device_map

    placement = Placement(nodes, per_node, distribution)
    links = wires.links_of(shape, placement.ranks, channels)
    named = wires.fpga_links(links, placement, device_map(boards) if boards else None)
    print(" \\\n  ".join(["changeFPGAlinks", *(f"--fpgalink={one}" for one in named)]))
