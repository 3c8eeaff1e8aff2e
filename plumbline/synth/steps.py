"""The steps of a build, each a tool's argument list; no shell is involved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plumbline.base.errors import UsageError
from plumbline.synth.build import Build
from plumbline.synth.generate import Files

Target = Literal["emulation", "report", "hw-emulation", "hw"]
TARGETS: tuple[Target, ...] = ("emulation", "report", "hw-emulation", "hw")
_VPP_TARGET = {"emulation": "sw_emu", "report": "hw", "hw-emulation": "hw_emu", "hw": "hw"}
_LAST_WITH_OPENCL = (2024, 2)  # v++ 2025.1 has neither OpenCL C nor sw_emu


@dataclass(frozen=True)
class Step:
    """A tool's start: ``arguments`` begin with the tool; ``output`` is what it must leave."""

    arguments: list[str]
    output: Path

    @property
    def tool(self) -> str:
        """The program."""
        return self.arguments[0]


def steps_of(
    build: Build, files: Files, target: Target, folder: Path, seed: int | None = None
) -> list[Step]:
    """The steps that build ``target`` from ``files`` in ``folder``."""
    if seed is not None and target != "hw":
        raise UsageError("--seeds are of place and route: they need --target hw")
    if build.synthesis.tool == "aoc":
        return [_aoc(build, files, target, folder, seed)]
    if seed is not None:
        raise UsageError("v++ takes no seed: --seeds are aoc's")
    return _vpp(build, files, target, folder)


def product(build: Build, target: Target, folder: Path) -> Path:
    """The file that the last step leaves: a bitstream, or aoc's objects of a report."""
    if target == "report":
        return folder / (f"{build.name}.aocr" if build.synthesis.tool == "aoc" else "reports")
    return folder / build.file_name


def _aoc(build: Build, files: Files, target: Target, folder: Path, seed: int | None) -> Step:
    if build.clock_mhz is not None:
        raise UsageError("clock_mhz of a preset is asked of v++; aoc has no such option here")
    board = f"-board={build.board}"
    kind = {
        "emulation": ["-march=emulator"],
        "hw-emulation": ["-march=simulator"],
        "report": ["-rtl", "-report", board],
        "hw": [board],
    }[target]
    output = product(build, target, folder)
    seeds = [f"-seed={seed}"] if seed is not None else []
    words = ["aoc", str(folder / files.main), *build.options(), f"-I{folder}", *build.flags]
    return Step([*words, *kind, *seeds, "-o", str(output)], output)


def _vpp(build: Build, files: Files, target: Target, folder: Path) -> list[Step]:
    version = tuple(int(part) for part in build.synthesis.version.split(".")[:2])
    if version > _LAST_WITH_OPENCL and (not build.in_hls or target == "emulation"):
        lacks = "has no sw_emu" if build.in_hls else "compiles no OpenCL C"
        raise UsageError(f"v++ {build.synthesis.version} {lacks}: 2024.2 is the last that does")
    if build.accl is not None and target.endswith("emulation"):
        raise UsageError("--accl is of --target hw; transports accl-tcp and accl-udp emulate ACCL")
    assert files.link is not None
    assert files.compile is not None
    common = ["-t", _VPP_TARGET[target], "--platform", build.board]
    reports = ["-R2", "--report_dir", str(folder / "reports")]
    steps = []
    for kernel in build.kernel_names():
        output = folder / f"{kernel}.xo"
        words = ["v++", "-c", *common, "-k", kernel, *build.options(), f"-I{folder}", *build.flags]
        words += ["--config", str(folder / files.compile), *reports, "-o", str(output)]
        steps.append(Step([*words, str(folder / files.main)], output))
    if target == "report":
        return steps
    objects = [str(step.output) for step in steps]
    output = product(build, target, folder)
    words = ["v++", "-l", *common, "--config", str(folder / files.link)]
    if build.accl is not None and files.accl is not None:
        words += ["--config", str(folder / files.accl), *build.accl.words]
        objects += map(str, build.accl.objects.values())
    words += reports
    steps.append(Step([*words, "-o", str(output), *objects], output))
    if target != "hw":
        words = ["emconfigutil", "-f", build.board, "--od", str(folder)]
        steps.append(Step(words, folder / "emconfig.json"))
    return steps
