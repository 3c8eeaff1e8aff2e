"""The placeholder kernel of OMB-FPGA, a bitstream for each kind of a board's memory.

Its name's letter is that of OMB-FPGA's option: D (DDR), B (HBM), P (on the chip).
"""

from __future__ import annotations

from importlib.resources import files

from plumbline.base.errors import UsageError
from plumbline.engine.program import BenchmarkSpec, BoardSpec, BuildSpec, OptionSpec
from plumbline.synth.build import Build
from plumbline.system.system import System

NAME = "placeholder"
KINDS = ("D", "B", "P")
SOURCE = "placeholder.cl"


def placeholder() -> BenchmarkSpec:
    """The placeholder as a benchmark with kernels for boards."""
    arguments = [{"name": name, "bank": 0} for name in ("buffer", "launches")]
    kernel = {"name": NAME, "numbered": f"{NAME}_{{replication}}", "arguments": arguments}
    board = BoardSpec.model_validate(
        {
            "source": SOURCE,
            "options": "",
            "kernels": [kernel],
            "streams": [],
            "banks": 1,
            "own_banks": True,
        }
    )
    memory = OptionSpec(
        name="memory",
        type="choice",
        choices=list(KINDS),
        help="kind of memory: D (DDR), B (HBM), P (on the chip); default: all of the board",
        build=BuildSpec(letter="", options=dict.fromkeys(KINDS, "")),
    )
    return BenchmarkSpec(
        name=NAME,
        title="a kernel that has a device's buffer as its argument",
        source="OMB-FPGA",
        parameters=[memory],
        boards={"aoc": board, "v++": board},
    )


def source_text() -> str:
    """The kernel."""
    return (files("plumbline.synth") / "templates" / SOURCE).read_text(encoding="utf-8")


def placeholder_builds(board_name: str, system: System, memory: str | None) -> list[Build]:
    """A build for each kind of memory (or one) of a board. Raises :class:`UsageError`."""
    synthesis = system.synthesis
    if synthesis is None or not synthesis.memories:
        raise UsageError(f"the system {board_name} has no memories in a table [synthesis]")
    if memory is not None and memory not in synthesis.memories:
        raise UsageError(
            f"{board_name} has no memory of kind {memory} (it has {', '.join(synthesis.memories)})"
        )
    spec = placeholder()
    return [
        Build(
            benchmark=spec,
            board_name=board_name,
            synthesis=synthesis.model_copy(update=_bank(name)),
            kernels=spec.boards[synthesis.tool],
            values={"memory": kind},
            flags=tuple(synthesis.flags),
            board=synthesis.board,
        )
        for kind, name in synthesis.memories.items()
        if memory in (None, kind)
    ]


def _bank(name: str) -> dict[str, object]:
    """A memory of one bank; an empty name is the tool's own choice."""
    if not name:
        return {"bank": None, "banks": None}
    return {"bank": name, "banks": 1}
