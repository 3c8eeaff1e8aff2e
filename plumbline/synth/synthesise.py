"""``plumb synth``: from a build to a named bitstream with its manifest."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plumbline.base.errors import RunError, UsageError
from plumbline.base.files import replace_file
from plumbline.base.paths import Home
from plumbline.engine import runtimes
from plumbline.engine.program import Engine
from plumbline.synth import tools
from plumbline.synth.build import Build
from plumbline.synth.check import check_files
from plumbline.synth.containers import read_container
from plumbline.synth.generate import Files, generate
from plumbline.synth.manifest import (
    Manifest,
    Ran,
    Seed,
    file_sha256,
    manifest_path,
    write_manifest,
)
from plumbline.synth.placeholder import SOURCE, source_text
from plumbline.synth.reports import AOC_REPORT, HLS_REPORT, ROUTED_REPORT, read_report
from plumbline.synth.steps import Step, Target, product, steps_of

EMULATOR = runtimes.FPGA_EMULATOR.name
_REPORTS = (AOC_REPORT, ROUTED_REPORT, HLS_REPORT)

_sources: dict[tuple[Path, str], str] = {}  # of this process


@dataclass(frozen=True)
class Wish:
    """How to build: ``limit_s`` bounds all steps together."""

    target: Target
    folder: Path
    seeds: tuple[int, ...] = ()
    resume: bool = False
    limit_s: float | None = None
    any_version: bool = False


def files_of(build: Build, engine: Engine, environ: Mapping[str, str]) -> Files:
    """The checked files of a build."""
    included = {path: _text_of(path, engine, environ) for path in build.kernels.includes}
    files = generate(build, _text_of(build.kernels.source, engine, environ), included)
    check_files(build, files)
    return files


def _text_of(source: str, engine: Engine, environ: Mapping[str, str]) -> str:
    if source == SOURCE:
        return source_text()
    if (engine.path, source) not in _sources:
        done = engine.run(["--embedded", source], environ)
        if done.returncode != 0:
            raise RunError(f"{engine.path.name} has no source {source}: {done.stderr.strip()}")
        _sources[engine.path, source] = done.stdout
    return _sources[engine.path, source]


def by_emulator(build: Build, wish: Wish, environ: Mapping[str, str]) -> bool:
    """Whether the FPGA emulator's compiler builds it, in place of a missing aoc."""
    if wish.target != "emulation" or build.synthesis.tool != "aoc":
        return False
    return tools.find_tool("aoc", environ) is None


def command_lines(
    build: Build, files: Files, wish: Wish, engine: Engine, environ: Mapping[str, str]
) -> list[str]:
    """The steps as a shell would take them, for people."""
    return [
        shlex.join(step.arguments)
        for _, steps in _all_steps(build, files, wish, engine, environ)
        for step in steps
    ]


def synthesise(
    build: Build,
    wish: Wish,
    engine: Engine,
    home: Home,
    environ: Mapping[str, str],
    say: Callable[[str], None],
) -> Path:
    """Build, and return the bitstream (of ``report``: the folder of the reports).

    Raises :class:`UsageError` for a missing tool or another version before anything starts, and
    :class:`RunError` for a failing step.
    """
    files = files_of(build, engine, environ)
    everything = _all_steps(build, files, wish, engine, environ)
    if by_emulator(build, wish, environ):
        environ = {**environ, **runtimes.environment(EMULATOR, home, 1, environ)}
    else:
        for tool in dict.fromkeys(step.tool for _, steps in everything for step in steps):
            tools.require_tool(tool, environ)
        if not wish.any_version:
            tools.check_version(build.synthesis.tool, build.synthesis.version, environ)
    started, end = _now(), None if wish.limit_s is None else time.monotonic() + wish.limit_s
    ran: list[Ran] = []
    made: dict[int, Path] = {}
    for seed, steps in everything:
        folder = _folder(wish, seed)
        _write_files(files, folder)
        ran += [_run(step, folder, files, wish, environ, end, say) for step in steps]
        made[seed] = product(build, wish.target, folder)
    if wish.target == "report":
        return wish.folder
    return _finish(build, files, wish, made, ran, (started, environ), say)


def _all_steps(
    build: Build, files: Files, wish: Wish, engine: Engine, environ: Mapping[str, str]
) -> list[tuple[int, list[Step]]]:
    """The steps by seed; 0 is the tool's own."""
    if by_emulator(build, wish, environ):
        return [(0, [_emulator_step(build, files, wish.folder, engine)])]
    if not wish.seeds:
        return [(0, steps_of(build, files, wish.target, wish.folder))]
    return [
        (seed, steps_of(build, files, wish.target, _folder(wish, seed), seed))
        for seed in wish.seeds
    ]


def _emulator_step(build: Build, files: Files, folder: Path, engine: Engine) -> Step:
    output = folder / build.file_name
    words = [str(engine.path), "--compile", str(folder / files.main), str(output)]
    return Step([*words, *build.options(), f"-I{folder}"], output)


def _folder(wish: Wish, seed: int) -> Path:
    return wish.folder / f"seed-{seed}" if seed else wish.folder


def _write_files(files: Files, folder: Path) -> None:
    try:
        for name, text in files.texts.items():
            replace_file(folder / name, text)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None


def _run(
    step: Step,
    folder: Path,
    files: Files,
    wish: Wish,
    environ: Mapping[str, str],
    end: float | None,
    say: Callable[[str], None],
) -> Ran:
    """Run a step, unless ``--resume`` finds it done: same arguments, same files, same output."""
    done_file = folder / f"{step.output.name}.done"
    key = hashlib.sha256(json.dumps([step.arguments, files.sha256]).encode()).hexdigest()
    if wish.resume and (done := _done(done_file, key, step.output)) is not None:
        say(f"done before: {step.output.name}")
        return Ran(arguments=step.arguments, seconds=done)
    done_file.unlink(missing_ok=True)
    say(shlex.join(step.arguments))
    begin = time.monotonic()
    left = None if end is None else max(end - begin, 0.001)
    tools.run_step(step.arguments, folder, folder / f"{step.output.name}.log", environ, left)
    if not step.output.exists():
        raise RunError(f"{step.tool} ended with 0, but left no {step.output}")
    seconds = round(time.monotonic() - begin, 3)
    state = {"key": key, "seconds": seconds, "output": _hash_of(step.output)}
    replace_file(done_file, json.dumps(state) + "\n")
    return Ran(arguments=step.arguments, seconds=seconds)


def _done(file: Path, key: str, output: Path) -> float | None:
    """The seconds of a finished step, or None if it must run."""
    try:
        state = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    if state.get("key") != key or not output.exists() or state.get("output") != _hash_of(output):
        return None
    return float(state["seconds"])


def _hash_of(path: Path) -> str:
    return file_sha256(path) if path.is_file() else ""


def _finish(
    build: Build,
    files: Files,
    wish: Wish,
    made: Mapping[int, Path],
    ran: Sequence[Ran],
    of: tuple[str, Mapping[str, str]],
    say: Callable[[str], None],
) -> Path:
    """Choose the seed of the best clock, check its bitstream and write the manifest."""
    started, environ = of
    clocks = {seed: clock_of(path.parent) for seed, path in made.items()}
    chosen = max(made, key=lambda seed: clocks[seed] or 0.0)
    bitstream = wish.folder / build.file_name
    if made[chosen] != bitstream:
        say(f"the best clock is of seed {chosen}: {clocks[chosen]} MHz")
        shutil.copyfile(made[chosen], bitstream)
    reports = reports_in(made[chosen].parent)
    emulated = by_emulator(build, wish, environ)
    tool = f"{build.synthesis.tool} {build.synthesis.version}"
    manifest = Manifest(
        name=build.name,
        benchmark=build.benchmark.name,
        board=build.board_name,
        target=wish.target,
        preset=build.preset,
        parameters=dict(build.values),
        kernels=_kernels(build, bitstream, emulated=emulated),
        channels=list(build.synthesis.channels),
        tool=" ".join(runtimes.FPGA_EMULATOR.packages[0].split("==")) if emulated else tool,
        source_sha256=files.sha256,
        bitstream_sha256=file_sha256(bitstream),
        clock_mhz=clocks[chosen],
        reports={str(path.relative_to(wish.folder)): file_sha256(path) for path in reports},
        seeds=[Seed(seed=s, clock_mhz=clock) for s, clock in clocks.items() if s and clock],
        steps=list(ran),
        started=started,
        finished=_now(),
    )
    write_manifest(manifest, bitstream)
    say(f"manifest: {manifest_path(bitstream)}")
    return bitstream


def _kernels(build: Build, bitstream: Path, *, emulated: bool) -> list[str]:
    """The kernels' names, which the bitstream must have as well if it tells them."""
    wanted = build.kernel_names()
    found = [] if emulated else read_container(bitstream).kernels
    every = [*wanted, *(build.accl.objects if build.accl else ())]
    if found and sorted(found) != sorted(every):
        raise RunError(
            f"{bitstream} has the kernels {', '.join(sorted(found))}, not {', '.join(every)}"
        )
    return wanted


def reports_in(folder: Path) -> list[Path]:
    """The reports below a folder, the most final first."""
    return [path for name in _REPORTS for path in sorted(folder.rglob(f"*{name}"))]


def clock_of(folder: Path) -> float | None:
    """The kernels' clock in the reports of a synthesis, or None."""
    for path in reports_in(folder):
        found = read_report(path)
        if found.clock_mhz is not None:
            return found.clock_mhz
    for bitstream in folder.glob("*.xclbin"):
        clocks = read_container(bitstream).clocks_mhz
        if clocks:
            return float(clocks.get("DATA_CLK", max(clocks.values())))
    return None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
