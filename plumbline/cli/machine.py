"""Commands on this machine: list, devices, transports, doctor, noise, setup, version."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from plumbline.base.errors import UsageError
from plumbline.base.paths import find_home
from plumbline.base.version import version as plumb_version
from plumbline.cli.common import Form, app, stderr
from plumbline.engine import runtimes
from plumbline.engine.program import all_benchmarks, find_engine
from plumbline.report import inventory


@app.command("list")
def list_benchmarks(
    family: Annotated[str, typer.Argument(help="list the members of this one (osu)")] = "",
    form: Form = "text",
) -> None:
    """List the benchmarks."""
    print(inventory.benchmarks(all_benchmarks(), form, family))


@app.command()
def devices(form: Form = "text") -> None:
    """List the devices of this node, by vendor list."""
    lists = inventory.devices(find_engine(), find_home(), os.environ)
    print(inventory.devices_text(lists, form))


@app.command()
def transports(form: Form = "text") -> None:
    """List the transports, their approaches, and the devices they support."""
    lists = inventory.transports(find_engine(), find_home(), os.environ)
    print(inventory.transports_text(lists, form))


@app.command()
def doctor(form: Form = "text") -> None:
    """Find known faults of this machine's MPI, OpenSHMEM and OpenCL, and their remedies."""
    from plumbline.run import doctor as examination

    findings = examination.examine(os.environ)
    print(examination.text(findings, form))
    raise typer.Exit(examination.status_of(findings))


@app.command()
def noise(
    seconds: Annotated[float, typer.Option(min=1, max=86400, help="total time of measuring")] = 60,
    launches: Annotated[
        int, typer.Option(min=1, max=1000, help="number of launches, over which results vary")
    ] = 5,
    ranks: Annotated[
        int | None, typer.Option("--ranks", "-n", min=1, help="ranks (default: one per core)")
    ] = None,
    form: Form = "text",
) -> None:
    """Measure the noise of cores, memory, links and clocks, and the achievable precision."""
    from plumbline.cli.running import parse_run
    from plumbline.report.noise import write
    from plumbline.run.noise import measure, words_of

    asked = parse_run(words_of(seconds, launches, ranks))
    found = measure(asked, seconds, launches, os.environ, stderr())
    print(write(found, form))


@app.command()
def setup(
    runtime: Annotated[
        str, typer.Argument(help=", ".join(runtimes.NAMES), autocompletion=lambda: runtimes.NAMES)
    ],
    accept_eula: Annotated[
        bool, typer.Option("--accept-eula", help="accept Intel's licence for its runtimes")
    ] = False,
    onemkl: Annotated[
        bool, typer.Option("--onemkl", help="with oneMKL, for variant library on intel-sycl")
    ] = False,
) -> None:
    """Install a runtime, of OpenCL or SYCL, into its own folder."""
    runtimes.check_name(runtime)
    if onemkl and runtime != runtimes.INTEL_SYCL.name:
        raise UsageError(f"--onemkl is of {runtimes.INTEL_SYCL.name}, not {runtime}")
    if runtime not in runtimes.WHEELS:
        print(runtimes.set_up_pocl())
        return
    wheels = runtimes.WHEELS[runtime]
    ask = (lambda: typer.confirm(_question(wheels), err=True)) if sys.stdin.isatty() else None
    if not runtimes.licence_accepted(accept_eula, os.environ, ask):
        raise runtimes.licence_error(runtime)
    packages = [*wheels.packages, *(runtimes.ONEMKL_PACKAGES if onemkl else ())]
    megabytes = wheels.megabytes + (runtimes.ONEMKL_MEGABYTES if onemkl else 0)
    print(f"installing {', '.join(packages)} ({megabytes} MB)", file=sys.stderr)
    folder = runtimes.install(wheels, find_home(), onemkl)
    print(f"{runtime} is installed: {folder}; plumb run ... --runtime {runtime} uses it")


@app.command()
def version() -> None:
    """Show the versions of plumb and of its engine."""
    print(f"plumb {plumb_version()}")
    engine = find_engine()
    said = engine.description
    library = f", {said.world_library}" if said.world_library else ""
    print(f"{said.program} {said.version} ({said.commit or 'no commit'}{library}): {engine.path}")


def _question(runtime: runtimes.WheelRuntime) -> str:
    return (
        f"{runtime.title} falls under the Intel End User License Agreement for Developer Tools "
        "(included in the packages and published on Intel's site). Do you accept it?"
    )
