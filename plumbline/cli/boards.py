"""Commands on boards: synth."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline.base.errors import UsageError
from plumbline.base.paths import find_home
from plumbline.cli.options import Kind
from plumbline.cli.running import register
from plumbline.engine.options import OptionGroup
from plumbline.engine.program import BenchmarkSpec, Description, OptionSpec
from plumbline.run.plan import Request
from plumbline.synth.placeholder import NAME as PLACEHOLDER
from plumbline.synth.placeholder import placeholder

if TYPE_CHECKING:
    from plumbline.synth.build import Build
    from plumbline.synth.synthesise import Wish
    from plumbline.system.system import System

EVERY = "all"
_SYNTH_HELP = """Builds a bitstream of the benchmark's kernels for a board, by the board's tool (aoc
or v++) or, for --target emulation without aoc, by the FPGA emulator's compiler. Build parameters
come from the board's preset; those given override it. The bitstream is named after all of them,
and its manifest lies beside it: plumb run --kernel-file takes the parameters from there."""


def _synth_groups(description: Description, benchmark: BenchmarkSpec | None) -> list[OptionGroup]:
    from plumbline.synth.steps import TARGETS

    del description
    own = [
        OptionSpec(name="board", type="text", help="system file or name of the board"),
        OptionSpec(
            name="target",
            type="choice",
            help="what is built: an emulation, reports, a simulation, the bitstream",
            default="hw",
            choices=list(TARGETS),
        ),
        OptionSpec(name="preset", type="text", help="preset of the board; default: its first"),
        OptionSpec(name="output", type="text", help="folder; default: synth/NAME/TARGET"),
        OptionSpec(name="dry-run", type="flag", help="print the steps, without starting them"),
        OptionSpec(name="seeds", type="text", help="aoc's seeds, 1-5 or 1,3: the best clock stays"),
        OptionSpec(name="resume", type="flag", help="keep steps that are done with the same input"),
        OptionSpec(
            name="time-limit", type="number", help="for all steps together", unit="h", minimum=0
        ),
        OptionSpec(name="accl", type="text", help="checkout of ACCL to link, built for the board"),
        OptionSpec(name="any-version", type="flag", help="take the tool in any version"),
        OptionSpec(name="compare", type="flag", help="print ratios to published syntheses"),
        OptionSpec(name="learn", type="text", help="add the synthesis to this system file"),
    ]
    groups = [OptionGroup("Options of plumb", own)]
    if benchmark is not None and benchmark.build_parameters:
        title = f"Build parameters of {benchmark.name}"
        groups.append(OptionGroup(title, benchmark.build_parameters))
    return groups


def _synth(asked: Request) -> None:
    from plumbline.synth.build import make_build
    from plumbline.synth.placeholder import placeholder_builds
    from plumbline.system.files import find_system, known_systems

    home, given = find_home(), asked.given
    board = given.values.get("board")
    if asked.benchmark.name == EVERY:
        _every(asked, [board] if board else known_systems(home))
        return
    if board is None:
        raise UsageError("--board is missing: the system file or name of the board")
    system = find_system(board, home)
    name = system.system.name
    if asked.benchmark.name == PLACEHOLDER:
        for build in placeholder_builds(name, system, given.values.get("memory")):
            _make(asked, build, system)
        return
    parameters = {
        option.name: given.values[option.name]
        for option in asked.benchmark.build_parameters
        if option.name in given.values
    }
    preset = given.values.get("preset")
    _make(asked, make_build(asked.benchmark, name, system, parameters, preset), system)


def _every(asked: Request, boards: Sequence[str]) -> None:
    """Print the steps of all presets."""
    from plumbline.synth import synthesise as synth
    from plumbline.synth.build import make_build
    from plumbline.system.files import find_system

    if not asked.given.flag("dry-run"):
        raise UsageError(f"{EVERY} is of --dry-run: a synthesis takes hours, so name a benchmark")
    known = {one.name: one for one in asked.engine.description.benchmarks if one.boards}
    for board in boards:
        system = find_system(board, find_home())
        for preset in system.presets if system.synthesis else ():
            if preset.benchmark not in known or preset.kernels:
                continue
            name, benchmark = system.system.name, known[preset.benchmark]
            build = make_build(benchmark, name, system, {}, preset.name)
            wish, files = _wish(asked, build.name), synth.files_of(build, asked.engine, os.environ)
            print(f"# {name} {benchmark.name} {preset.name}")
            print("\n".join(synth.command_lines(build, files, wish, asked.engine, os.environ)))


def _make(asked: Request, build: Build, system: System) -> None:
    from plumbline.synth import synthesise as synth
    from plumbline.synth.accl import find_accl

    home, given = find_home(), asked.given
    if "accl" in given.values:
        folder = Path(given.values["accl"]).expanduser().resolve()
        build = replace(build, accl=find_accl(folder, build.synthesis, build.board))
    wish = _wish(asked, build.name)
    files = synth.files_of(build, asked.engine, os.environ)
    if given.flag("dry-run"):
        print("\n".join(synth.command_lines(build, files, wish, asked.engine, os.environ)))
        return
    made = synth.synthesise(
        build, wish, asked.engine, home, os.environ, lambda text: print(text, file=sys.stderr)
    )
    if given.flag("compare") or "learn" in given.values:
        from plumbline.synth import compare
        from plumbline.synth.manifest import read_manifest

        manifest = read_manifest(made) if made.is_file() else None
        if manifest is None:
            raise UsageError("--compare and --learn are of a bitstream: --target hw")
        found = compare.resources_of(manifest, made.parent)
        if given.flag("compare"):
            print(compare.comparison(build, system, found))
        if "learn" in given.values:
            compare.learned(build, manifest, found, Path(given.values["learn"]).expanduser())
    print(made)


def _wish(asked: Request, name: str) -> Wish:
    from plumbline.synth.steps import TARGETS
    from plumbline.synth.synthesise import Wish

    given = asked.given
    target = next(one for one in TARGETS if one == given.values.get("target", "hw"))
    limit = given.values.get("time-limit")
    folder = Path(given.values.get("output", f"synth/{name}/{target}")).expanduser().resolve()
    return Wish(
        target=target,
        folder=folder,
        seeds=_seeds(given.values.get("seeds", "")),
        resume=given.flag("resume"),
        limit_s=None if limit is None else float(limit) * 3600,
        any_version=given.flag("any-version"),
    )


def _seeds(text: str) -> tuple[int, ...]:
    """1-5 or 1,3 as numbers. Raises :class:`UsageError`."""
    seeds: list[int] = []
    for part in text.split(",") if text else ():
        found = re.fullmatch(r"([1-9]\d{0,5})(?:-([1-9]\d{0,5}))?", part)
        if found is None or int(found[2] or found[1]) < int(found[1]):
            raise UsageError(
                f"--seeds must be numbers and ranges, such as 1-5 or 1,3, not '{text}'"
            )
        seeds += range(int(found[1]), int(found[2] or found[1]) + 1)
    return tuple(dict.fromkeys(seeds))


_ALL = BenchmarkSpec(
    name=EVERY,
    title="all presets, with --dry-run",
    source="the boards' system files",
    parameters=[],
)
register(
    "synth",
    "Build a bitstream for a board, or its emulation (plumb synth BENCHMARK --help).",
    Kind(_synth_groups, _synth, _SYNTH_HELP, more=[placeholder(), _ALL]),
)
