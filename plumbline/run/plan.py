"""From the arguments of ``plumb run`` to a validated plan, before anything is launched."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home, find_home
from plumbline.calibrate.calibrate import DECIDING
from plumbline.engine import runtimes
from plumbline.engine.options import Given, OptionGroup
from plumbline.engine.program import (
    WORLDS,
    BenchmarkSpec,
    Description,
    Engine,
    OptionSpec,
)
from plumbline.judge.parts import Planned, least_time, steadying, wanted
from plumbline.launch import launchers
from plumbline.launch.execute import Session
from plumbline.launch.launchers import (
    HEAP_VARIABLES,
    LaunchRequest,
    heap_environment,
    physical_cores,
    plan_launch,
)
from plumbline.launch.placement import DISTRIBUTIONS, DeviceMap, device_map, placement_of
from plumbline.launch.progress import ProgressView, Watched
from plumbline.model.benchmarks import model_of
from plumbline.model.yardsticks import yardstick_of
from plumbline.record.expectations import TOLERANCE
from plumbline.synth.manifest import cables_text, read_manifest, run_options
from plumbline.system.files import find_system

# The engine's options that plumb handles or sets itself.
_TAKEN_OVER = frozenset(
    {"record", "format", "progress", "ranks", "local-ranks", "runtime", "world", "kernel-build"}
)
# plumb's options that apply to calibrations as well.
_LAUNCHING = frozenset(
    (
        *("world", "ranks", "nodes", "ranks-per-node", "rank-order", "runtime", "launcher"),
        *("launcher-args", "oversubscribe", "verbose"),
    )
)
FORMATS = ["table", "csv", "hpcc-json", "json", "shoms", "osu", "graph500"]
COMPARISON_FORMATS = ["table", "csv", "json"]
_TIMES = frozenset(("time-limit", "least-time", "repetitions", "max-repetitions"))  # of a case
# Options of a run that do not apply to a comparison of transports: those it varies, those that
# judge or repeat a run, and those without a measurement.
_NOT_COMPARED = frozenset(
    (
        *("transport", "approach", "launches", "system", "no-model", "limits", "tolerance"),
        *("fail-slow", "record", "test", "dry-run"),
    )
)


@dataclass(frozen=True)
class Request:
    """A command line's request, each option validated individually."""

    engine: Engine
    benchmark: BenchmarkSpec
    given: Given


@dataclass(frozen=True)
class RunPlan:
    """A run, validated as far as possible without starting it.

    ``arguments`` are the engine's and the benchmark's options, in the engine's words.
    """

    session: Session
    benchmark: BenchmarkSpec
    given: Given
    request: LaunchRequest
    arguments: list[str]

    @property
    def tolerance(self) -> float | None:
        """Largest relative excess over the expected time that is still ok, or None."""
        given = self.given.values.get("tolerance")
        return None if given is None else float(given)

    @property
    def launches(self) -> int:
        """Number of starts of the program."""
        return self.given.count("launches", 1)

    @property
    def format(self) -> str:
        """The form of the results."""
        return self.given.values.get("format", FORMATS[0])


def own_options(
    description: Description, forms: list[str], benchmark: BenchmarkSpec | None = None
) -> list[OptionSpec]:
    """``plumb``'s own options of ``run``; ``forms`` are those of the results."""
    taken = {option.name for option in benchmark.parameters} if benchmark else set()
    distribution = [] if "distribution" in taken else ["--distribution"]
    runtime_names = list(dict.fromkeys([*runtimes.NAMES, *description.runtimes]))
    ranks, system = "ranks (MPI), PEs (OpenSHMEM)", "system file or name to compare with"
    return [
        _option("world", "choice", "MPI, OpenSHMEM, or one process alone", choices=list(WORLDS)),
        _option("ranks", "integer", ranks, default_ranks(), minimum=1, aliases=["-n"]),
        _option("nodes", "integer", "nodes, each with the same number of ranks", minimum=1),
        _option("ranks-per-node", "integer", "ranks of each node", minimum=1),
        _option(
            "rank-order",
            "choice",
            "order of ranks: a node after the other, or nodes in turn (default: block)",
            choices=list(DISTRIBUTIONS),
            aliases=distribution,
        ),
        _option("runtime", "choice", "runtime of the devices", choices=runtime_names),
        _option(
            "launcher", "choice", "program that starts the ranks", "auto", choices=launchers.CHOICES
        ),
        _option("launcher-args", "text", "further arguments for the launcher, in one quoted text"),
        _option("oversubscribe", "flag", "allow more ranks than cores"),
        _option(
            "launches",
            "integer",
            "start the program N times (default: once, and again while a case is in doubt)",
            minimum=1,
        ),
        _option("system", "text", f"{system} (default: this machine's)"),
        _option("no-model", "flag", "do not compare with a model, and do not calibrate"),
        _option("limits", "flag", "with --no-model: measure the limits of the cases nevertheless"),
        _option("tolerance", "number", TOLERANCE, minimum=0),
        _option("fail-slow", "flag", "exit with 4 if a case is slower than its model"),
        _option("format", "choice", "form of the results", "table", choices=forms),
        _option("output", "text", "write the results to this file instead of stdout"),
        _option("record", "text", "write the record to this file"),
        _option("watch", "flag", "draw the samples of each case when it is finished"),
        _option("verbose", "flag", "print the command lines before starting them"),
    ]


def option_groups(
    description: Description, benchmark: BenchmarkSpec | None, forms: Sequence[str] = FORMATS
) -> list[OptionGroup]:
    """All options of ``plumb run`` in groups: plumb's, the engine's, the benchmark's."""
    engine = [option for option in description.options if option.name not in _TAKEN_OVER]
    groups = [
        OptionGroup("Options of plumb", own_options(description, list(forms), benchmark)),
        OptionGroup("Options of the engine", engine),
    ]
    if benchmark is not None:
        groups.append(OptionGroup(f"Options of {benchmark.name}", benchmark.parameters))
    return groups


def calibration_groups(
    description: Description, benchmark: BenchmarkSpec | None
) -> list[OptionGroup]:
    """The options of a run that determine its calibration, and those that select calibrations."""
    deciding = {name for names in DECIDING.values() for name in names} | _LAUNCHING
    only = _option("only", "text", f"calibrations, of {','.join(DECIDING)} (default: all)")
    return [
        OptionGroup("Options of a calibration", [only]),
        *_those(option_groups(description, benchmark), lambda name: name in deciding),
    ]


def comparison_groups(
    description: Description, benchmark: BenchmarkSpec | None
) -> list[OptionGroup]:
    """The options of a run, without those set by a comparison of transports."""
    groups = option_groups(description, benchmark, COMPARISON_FORMATS)
    return _those(groups, lambda name: name not in _NOT_COMPARED)


def runtime_comparison_groups(
    description: Description, benchmark: BenchmarkSpec | None
) -> list[OptionGroup]:
    """The options of a run, without those set by a comparison of runtimes."""
    groups = option_groups(description, benchmark, ["table", "csv"])
    taken = ("transport", "approach", "runtime", "kernel-language", "kernel-file", "memory")
    return _those(groups, lambda name: name not in (_NOT_COMPARED - set(taken)) | set(taken[2:]))


def without(groups: Sequence[OptionGroup], names: Collection[str]) -> list[OptionGroup]:
    """``groups`` without the options of these names."""
    return _those(groups, lambda name: name not in names)


def _those(groups: Sequence[OptionGroup], taken: Callable[[str], bool]) -> list[OptionGroup]:
    return [OptionGroup(g.title, [o for o in g.options if taken(o.name)]) for g in groups]


def make_plan(asked: Request, environ: Mapping[str, str], console: Console) -> RunPlan:
    """The plan of a run: launcher, environment, and the engine's arguments.

    Raises :class:`UsageError` for errors that can be detected before a launch.
    """
    engine, benchmark = asked.engine, asked.benchmark
    home = find_home(environ)
    given, built = _with_manifest(asked.given, benchmark)
    given = _with_cables(given, home)
    request = _launch_request(given, environ)
    devices = _device_map(given, request.ranks)
    _check_form(given, benchmark)
    planned = plan_launch(request, engine, environ)
    added = dict(planned.environment)
    added |= _runtime_environment(given, home, request.ranks, devices, environ)
    added |= _device_library(given, engine, environ)
    session = Session(
        engine=engine,
        home=home,
        launch=planned,
        environ={**environ, **added},
        exported=tuple(added),
        console=console,
        verbose=given.flag("verbose"),
        placement=request.placement,
        devices=devices,
        view=Watched if given.flag("watch") else ProgressView,
    )
    arguments = _engine_words(given, engine.description, benchmark)
    if built is not None:
        arguments += ["--kernel-build", built]
    session = with_heap(session, benchmark.name, arguments, request)
    return RunPlan(session, benchmark, given, request, arguments)


def _launch_request(given: Given, environ: Mapping[str, str]) -> LaunchRequest:
    def count(name: str) -> int | None:
        return given.count(name, 0) or None

    ranks, nodes, per_node = count("ranks"), count("nodes"), count("ranks-per-node")
    if ranks is None and "SLURM_NTASKS" in environ and (nodes is None) != (per_node is None):
        ranks = default_ranks(environ)
    placement = placement_of(ranks, nodes, per_node, given.values.get("rank-order"))
    return LaunchRequest(
        ranks=placement.ranks if placement else given.count("ranks", default_ranks(environ)),
        launcher=given.values.get("launcher", "auto"),
        arguments=_launcher_words(given),
        oversubscribe=given.flag("oversubscribe"),
        placement=placement,
    )


def _with_manifest(given: Given, benchmark: BenchmarkSpec) -> tuple[Given, str | None]:
    """The options with those of the kernel file's manifest, and its text for the record.

    Raises :class:`UsageError` for an option that contradicts the manifest.
    """
    file = given.values.get("kernel-file")
    if file is None:
        return given, None
    taken, built = run_options(Path(file), benchmark, given.values)
    return Given({**given.values, **taken}), built


def _with_cables(given: Given, home: Home) -> Given:
    """The options with the named system's cables, for kernels of a bitstream over them."""
    asked = given.values
    if asked.get("transport") != "channel" or "cables" in asked or "system" not in asked:
        return given
    manifest = read_manifest(Path(asked["kernel-file"])) if "kernel-file" in asked else None
    channel = find_system(asked["system"], home).channel
    if manifest is None or channel is None or not channel.cables:
        return given
    return Given({**asked, "cables": cables_text(manifest, channel.cables)})


def _device_library(given: Given, engine: Engine, environ: Mapping[str, str]) -> dict[str, str]:
    """What loads libplumb-mpi-device before MPI, where a benchmark's buffers lie on devices."""
    on_host = (
        set(given.values.get("where", "H")) <= set("H,") and given.values.get("pairs") != "all"
    )
    if on_host and "device-runtime" not in given.values:
        return {}
    library = engine.path.parent.parent / "lib" / "libplumb-mpi-device.so"
    if not library.exists():
        raise UsageError(
            f"buffers on devices need {library.name}: cmake --build {engine.path.parent.parent} "
            "--target plumb-mpi-device"
        )
    return {"LD_PRELOAD": ":".join(filter(None, [str(library), environ.get("LD_PRELOAD", "")]))}


def with_heap(
    session: Session, benchmark: str, arguments: Sequence[str], request: LaunchRequest
) -> Session:
    """``session`` with the symmetric heap that the cases need, if the world has one.

    The user's settings are kept. Raises :class:`UsageError` if this node's memory is too small.
    """
    if session.engine.description.world != "shmem":
        return session
    ours = [name for name in HEAP_VARIABLES if name in session.exported]
    environ = {name: value for name, value in session.environ.items() if name not in ours}
    heap = heap_environment(
        _symmetric_bytes(session, benchmark, arguments, request), request, environ
    )
    exported = [name for name in session.exported if name not in ours]
    return replace(session, environ={**environ, **heap}, exported=(*exported, *heap))


def check_with_engine(plan: RunPlan) -> str:
    """Have the engine validate the options and plan the run, as one process; returns its plan.

    Raises :class:`UsageError` with the engine's message.
    """
    done = _dry_run(plan.session, plan.benchmark.name, plan.arguments, plan.request)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise UsageError(
            said[-1].removeprefix("error: ") if said else "the engine rejects these options"
        )
    return done.stdout


def with_parts(plan: RunPlan) -> RunPlan:
    """``plan`` with the parts by which its cases are judged, if the engine measures them.

    Parts named by the user are kept; without a model or a yardstick there are none. With
    ``--limits`` they are measured though nothing is judged.
    """
    given, known = plan.given, {option.name for option in plan.session.engine.description.options}
    if "parts" not in known or "parts" in given.values:
        return plan
    if given.flag("test") or (given.flag("no-model") and not given.flag("limits")):
        return plan
    words = ("--format", "json")
    done = _dry_run(plan.session, plan.benchmark.name, plan.arguments, plan.request, *words)
    if done.returncode != 0:
        return plan
    document = json.loads(done.stdout)
    world, name = plan.session.engine.description.world, plan.benchmark.name
    sends = world == "mpi" and plan.request.ranks > 1
    planned = Planned(document["transport"], document["planned"], document["device"], sends)
    way = (given.values.get("approach"), given.values.get("form", "exchange"))
    yardstick = yardstick_of(name, planned.transport or "none", *way)
    if world == "shmem" and planned.transport != "none" and yardstick is None:
        return plan  # a world without bare messages
    text = wanted(model_of(name), planned, given.values, yardstick)
    text = steadying(text, planned) if given.flag("no-model") else text
    parts = ["--parts", text] if text else []
    least = least_time(text, len(planned.cases))
    if least and "least-time" in known and not _TIMES & given.values.keys():
        parts += ["--least-time", f"{least:.3g}"]
    return replace(plan, arguments=[*plan.arguments, *parts])


def _dry_run(
    session: Session, benchmark: str, arguments: Sequence[str], request: LaunchRequest, *more: str
) -> subprocess.CompletedProcess[str]:
    words = [benchmark, *_without(arguments, "--dry-run"), "--dry-run"]
    known = {option.name for option in session.engine.description.options}
    if "ranks" in known:
        words += ["--ranks", str(request.ranks)]
    if "local-ranks" in known:
        words += ["--local-ranks", str(request.ranks if session.launch.is_local else 0)]
    return session.engine.run([*words, "--record", "none", *more], session.environ)


def _symmetric_bytes(
    session: Session, benchmark: str, arguments: Sequence[str], request: LaunchRequest
) -> int:
    """Bytes of symmetric heap per PE for the cases; 0 if the engine rejects the options."""
    done = _dry_run(session, benchmark, arguments, request, "--format", "json")
    return int(json.loads(done.stdout)["symmetric_bytes"]) if done.returncode == 0 else 0


def default_ranks(environ: Mapping[str, str] = os.environ) -> int:
    """Two ranks, fewer on one core; within a Slurm job its number of tasks."""
    tasks = environ.get("SLURM_NTASKS", "")
    if tasks.isdigit() and int(tasks) > 0:
        return int(tasks)
    return min(2, physical_cores())


def _option(
    name: str, kind: str, help: str, default: int | float | str | None = None, **more: object
) -> OptionSpec:
    facts = {"name": name, "type": kind, "help": help, "default": default, **more}
    return OptionSpec.model_validate(facts)


def _launcher_words(given: Given) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(given.values.get("launcher-args", "")))
    except ValueError as error:
        raise UsageError(f"--launcher-args must be words as in a shell: {error}") from None


def _check_form(given: Given, benchmark: BenchmarkSpec) -> None:
    if given.values.get("record") == "none":
        raise UsageError(
            "--record none is the engine's: plumb shows and judges a run by its record; "
            "--record ./none names a file"
        )
    record = given.values.get("record")
    if record is not None and Path(record).is_dir():
        raise UsageError(f"--record {record} is a folder: name a file in it")
    form = given.values.get("format", FORMATS[0])
    if form == "hpcc-json" and given.count("active-ranks", 0):
        raise UsageError(
            "--format hpcc-json is of runs in which all ranks work: HPCC FPGA has no other"
        )
    if benchmark.forms and form not in benchmark.forms:
        raise UsageError(
            f"invalid value '{form}' for --format: {benchmark.name} has "
            f"{', '.join(benchmark.forms)}"
        )


def _device_map(given: Given, ranks: int) -> DeviceMap | None:
    text = given.values.get("device-map")
    if text is None:
        return None
    found = device_map(text)
    found.check_ranks(ranks)
    return found


def _runtime_environment(
    given: Given,
    home: Home,
    ranks: int,
    devices: DeviceMap | None,
    environ: Mapping[str, str],
) -> dict[str, str]:
    runtime = runtimes.set_up_name(given.values.get("runtime"), home, environ)
    if runtime is None:
        return {}
    wanted = [number + 1 for number in devices.numbers] if devices else []
    device = given.values.get("device", "")
    wanted += [int(device) + 1] if device.isdigit() else []
    return runtimes.environment(runtime, home, max([ranks, *wanted]), environ)


def _engine_words(given: Given, description: Description, benchmark: BenchmarkSpec) -> list[str]:
    words: list[str] = []
    runtime = given.values.get("runtime")
    if runtime is not None:
        words += ["--runtime", runtimes.engine_name(runtime)]
    for option in [*description.options, *benchmark.parameters]:
        if option.name in given.values and option.name not in _TAKEN_OVER:
            words.append(f"--{option.name}")
            if option.type != "flag":
                words.append(given.values[option.name])
    return words


def _without(words: Sequence[str], word: str) -> list[str]:
    return [other for other in words if other != word]
