"""How bitstreams are built for a board, and the presets of their build parameters."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plumbline.base.toml import Table
from plumbline.system.device import Mhz, Whole

Tool = Literal["aoc", "v++"]
Value = bool | int | str


class Synthesis(Table):
    """The tool that builds a board's bitstreams, and what it must know of the board.

    ``board`` is aoc's name of the board, or v++'s platform. ``bank`` is the name of a memory bank,
    with ``{bank}`` for its number: ``HBM[{bank}]`` in a link file, ``HBM{bank}`` as an argument's
    attribute; without it the host places buffers. ``banks`` counts them. ``slrs`` counts the dies
    over which kernels are spread. ``memories`` are names of a bank of each kind of memory: D (DDR),
    B (HBM), P (on the chip); an empty one is the tool's own choice. ``channels`` are the board's io
    channels: for each link what is received from it, then what is sent to it. ``joined_by`` joins
    names of a kernel's copies in a link file; by default ``.`` before version 2024, and ``,`` from
    then on.
    """

    tool: Tool
    version: str
    board: str
    flags: list[str] = Field(default_factory=list)
    bank: str | None = None
    banks: Whole | None = None
    slrs: Whole | None = None
    channels: list[str] = Field(default_factory=list)
    memories: dict[Literal["D", "B", "P"], str] = Field(default_factory=dict)
    joined_by: Literal[".", ","] | None = None
    source: str

    @model_validator(mode="after")
    def _banks_are_counted(self) -> Self:
        if self.bank is not None and ("{bank}" not in self.bank or self.banks is None):
            raise ValueError("bank must contain {bank}, and banks their number")
        if re.fullmatch(r"\d+(\.\d+)+", self.version) is None:
            raise ValueError(f"version must be numbers, such as 19.4.0, not {self.version!r}")
        return self

    @property
    def separator(self) -> str:
        """What joins the names of a kernel's copies in a link file."""
        return self.joined_by or ("." if int(self.version.partition(".")[0]) < 2024 else ",")


class Preset(Table):
    """Build parameters of a benchmark on a board; ``clock_mhz`` is the clock asked of the tool.

    ``parameters`` are the benchmark's build parameters by their options' names; or, published ones,
    those of other ``kernels`` (HPCC FPGA's) by their names. ``board`` replaces the
    one of :class:`Synthesis`, ``flags`` are added; ``slrs`` are the dies of the replications.
    """

    benchmark: str
    name: str
    parameters: dict[str, Value]
    kernels: str | None = None
    clock_mhz: Mhz | None = None
    board: str | None = None
    flags: list[str] = Field(default_factory=list)
    slrs: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list)
    source: str


def check_presets(presets: list[Preset]) -> None:
    """Raise ValueError if two presets of a benchmark share a name."""
    seen = set()
    for preset in presets:
        key = (preset.benchmark, preset.name)
        if key in seen:
            raise ValueError(f"two presets of {preset.benchmark} are named {preset.name}")
        seen.add(key)
