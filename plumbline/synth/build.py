"""A build: a benchmark's kernels for a board, with the value of every build parameter.

Parameters, kernels and names come from the benchmark's declaration (``--describe``) alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.engine.options import check, whole_number
from plumbline.engine.program import BenchmarkSpec, BoardSpec, OptionSpec
from plumbline.system.synthesis import Preset, Synthesis, Value
from plumbline.system.system import System

if TYPE_CHECKING:
    from plumbline.synth.accl import Accl

SUFFIX = {"aoc": "aocx", "v++": "xclbin"}
REPLICATIONS = "replications"


@dataclass(frozen=True)
class Build:
    """Everything that determines a bitstream, besides the tool's seed."""

    benchmark: BenchmarkSpec
    board_name: str
    synthesis: Synthesis
    kernels: BoardSpec
    values: Mapping[str, Value]
    preset: str | None = None
    flags: tuple[str, ...] = ()
    board: str = ""
    clock_mhz: float | None = None
    slrs: tuple[int, ...] = field(default=())
    accl: Accl | None = None

    @property
    def replications(self) -> int:
        """The number of copies of the kernels."""
        return int(self.values.get(REPLICATIONS, 1))

    @property
    def in_hls(self) -> bool:
        """Whether the kernels are in HLS C++; otherwise they are in OpenCL C."""
        return self.kernels.source.endswith(".cpp")

    @property
    def numbered(self) -> bool:
        """Whether each replication's kernel is compiled by itself; otherwise copies are linked."""
        return self.synthesis.tool == "aoc"

    def kernel_name(self, pattern: str, replication: int = 0) -> str:
        """A kernel's name from its pattern in the declaration."""
        return re.sub(
            r"\{([^}]+)\}",
            lambda found: str({**self.values, "replication": replication}[found[1]]),
            pattern,
        )

    def kernel_names(self) -> list[str]:
        """The names of the compiled kernels."""
        if not self.numbered:
            return [self.kernel_name(kernel.name) for kernel in self.kernels.kernels]
        return [
            self.kernel_name(kernel.numbered, replication)
            for replication in range(self.replications)
            for kernel in self.kernels.kernels
        ]

    def channel_names(self, replication: int) -> dict[str, str]:
        """The io channels of a replication by their macros: those of its ports, out and in."""
        number, names = self.kernels.channels, self.synthesis.channels
        found: dict[str, str] = {}
        for port in range(number):
            received, sent = names[2 * (replication * number + port) :][:2]
            found |= {f"CHANNEL_OUT_{port}": sent, f"CHANNEL_IN_{port}": received}
        return found

    def bank(self, offset: int, replication: int) -> int | None:
        """The memory bank of an argument at ``offset`` among its replication's, if banks exist."""
        if self.synthesis.banks is None:
            return None
        return (replication * self.kernels.banks + offset) % self.synthesis.banks

    def slr(self, replication: int) -> int | None:
        """The die of a replication, if the board has several."""
        if self.slrs:
            return self.slrs[replication]
        return replication % self.synthesis.slrs if self.synthesis.slrs else None

    def options(self) -> list[str]:
        """The compiler's options of the build parameters and kernels, one word each."""
        words = []
        for option in self.benchmark.build_parameters:
            words += option_words(option, self.values[option.name])
        return words + self.kernels.options.split()

    @property
    def name(self) -> str:
        """The bitstream's name without suffix: ``gemm-float-r5-b512-g8-u8.520n``."""
        board = self.board_name.partition("-")[2] or self.board_name
        accl = f"-accl-{self.accl.stack}" if self.accl else ""
        return f"{build_name(self.benchmark, self.values)}.{board}{accl}"

    @property
    def file_name(self) -> str:
        """The bitstream's file name."""
        return f"{self.name}.{SUFFIX[self.synthesis.tool]}"


def option_words(option: OptionSpec, value: Value) -> list[str]:
    """The compiler's options for a value of a build parameter."""
    build = option.build
    assert build is not None
    if build.options is not None:
        return build.options[_text(value)].split()
    if not build.macro:
        return []
    number = int(value)
    return [f"-D{build.macro}={number.bit_length() - 1 if build.log2 else number}"]


def build_name(benchmark: BenchmarkSpec, values: Mapping[str, Value]) -> str:
    """The part of a bitstream's name before the board: the benchmark and every parameter."""
    parts, order = [benchmark.name], {"choice": 0, REPLICATIONS: 1}
    for option in sorted(
        benchmark.build_parameters, key=lambda o: order.get(o.type, order.get(o.name, 2))
    ):
        value, build = values[option.name], option.build
        assert build is not None
        if option.type == "flag":
            parts += [build.letter] if value else []
        else:
            parts.append(f"{build.letter}{_text(value)}")
    return "-".join(parts)


def make_build(
    benchmark: BenchmarkSpec,
    board_name: str,
    system: System,
    given: Mapping[str, str],
    preset_name: str | None = None,
) -> Build:
    """The build of ``benchmark`` for ``system``, with ``given`` parameters over the preset's.

    Raises :class:`UsageError` for what the board, the benchmark or the parameters do not allow.
    """
    synthesis = system.synthesis
    if synthesis is None:
        raise UsageError(
            f"the system {board_name} has no table [synthesis]: it is no board with a tool"
        )
    kernels = benchmark.boards.get(synthesis.tool)
    if kernels is None:
        raise UsageError(f"{benchmark.name} has no kernels for boards of {synthesis.tool}")
    preset = find_preset(benchmark, board_name, system, given, preset_name)
    if preset and preset.kernels:
        raise UsageError(
            f"the preset {preset.name} of {benchmark.name} has parameters of {preset.kernels}'s "
            f"kernels: Plumbline's have {', '.join(o.name for o in benchmark.build_parameters)}"
        )
    parameters: dict[str, Value] = dict(preset.parameters) if preset else {}
    where = f"the preset {preset.name} of {benchmark.name}" if preset else "the command line"
    values = _values(benchmark, {**parameters, **given}, where)
    if REPLICATIONS in given and preset:
        preset = preset.model_copy(update={"slrs": []})
    build = Build(
        benchmark=benchmark,
        board_name=board_name,
        synthesis=synthesis,
        kernels=kernels,
        values=values,
        preset=preset.name if preset and not given else None,
        flags=(*synthesis.flags, *(preset.flags if preset else ())),
        board=(preset.board if preset else None) or synthesis.board,
        clock_mhz=preset.clock_mhz if preset else None,
        slrs=tuple(preset.slrs) if preset else (),
    )
    _check_placement(build)
    return build


def find_preset(
    benchmark: BenchmarkSpec,
    board_name: str,
    system: System,
    given: Mapping[str, str],
    name: str | None,
) -> Preset | None:
    """The preset by name, else the first of the given type, else the first; None if none exist."""
    presets = [preset for preset in system.presets if preset.benchmark == benchmark.name]
    if name is not None:
        names = [preset.name for preset in presets]
        if name not in names:
            raise UsageError(
                f"{board_name} has no preset {name} of {benchmark.name} (choose from "
                f"{', '.join(names) or 'none'}){did_you_mean(name, names)}"
            )
        return presets[names.index(name)]
    own = [preset for preset in presets if not preset.kernels]
    of_type = [p for p in own if p.parameters.get("type") == given.get("type")]
    return next(iter([*(of_type if "type" in given else []), *own]), None)


def _values(
    benchmark: BenchmarkSpec, parameters: Mapping[str, Value], where: str
) -> dict[str, Value]:
    known = {option.name: option for option in benchmark.build_parameters}
    for name in parameters:
        if name not in known:
            raise UsageError(
                f"{where}: {benchmark.name} has no build parameter {name} (it has "
                f"{', '.join(known)}){did_you_mean(name, known)}"
            )
    missing = [name for name in known if name not in parameters]
    if missing:
        raise UsageError(
            f"{where} lacks {', '.join('--' + name for name in missing)}: a bitstream of "
            f"{benchmark.name} needs all of its build parameters"
        )
    return {name: _value(option, parameters[name]) for name, option in known.items()}


def _value(option: OptionSpec, value: Value) -> Value:
    """A value of its option's type. Raises :class:`UsageError` if invalid, or not of a board."""
    text = _text(value)
    build = option.build
    assert build is not None
    if option.type == "flag":
        if text not in ("true", "false"):
            raise UsageError(f"--{option.name} must be true or false, not '{text}'")
        return text == "true"
    if option.type == "choice":
        check(option, text)
        options = build.options or {}
        if not options.get(text) and options.get(str(option.default)):
            raise UsageError(f"--{option.name} {text} has no kernels for boards")
        return text
    number = whole_number(option.model_copy(update={"type": "integer"}), text)
    least = 0 if build.zero or option.unit.startswith("log2") else 1  # 0 chooses at run time
    if number is None or number < least:
        raise UsageError(
            f"--{option.name} must be a number, at least {least}, in a bitstream, not '{text}'"
        )
    if option.type == "integer":
        check(option, str(number))
    if build.log2 and number & (number - 1):
        raise UsageError(f"--{option.name} must be a power of two, not {number}")
    return number


def _check_placement(build: Build) -> None:
    synthesis, kernels = build.synthesis, build.kernels
    banks = synthesis.banks
    if kernels.own_banks and banks is not None and build.replications * kernels.banks > banks:
        each = "one bank" if kernels.banks == 1 else f"{kernels.banks} banks"
        raise UsageError(
            f"--replications {build.replications} of {build.benchmark.name} need {each} each, but "
            f"{build.board_name} has {banks}"
        )
    there = len(synthesis.channels) // 2
    if build.replications * kernels.channels > there:
        raise UsageError(
            f"--replications {build.replications} of {build.benchmark.name} need "
            f"{kernels.channels} io channels each, but {build.board_name} has {there}"
        )
    if build.slrs and len(build.slrs) != build.replications:
        raise UsageError(f"slrs has {len(build.slrs)} dies for {build.replications} replications")
    for slr in build.slrs:
        if not synthesis.slrs or slr >= synthesis.slrs:
            raise UsageError(f"unknown SLR {slr}: {build.board_name} has {synthesis.slrs or 0}")


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
