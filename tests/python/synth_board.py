"""What tests of synth share: the shipped systems, the real engine, and a made-up board."""

from __future__ import annotations

import os
from typing import Any

import pytest
from conftest import REAL_ENGINE, ROOT

from plumbline.base.errors import PlumbError
from plumbline.base.paths import find_home
from plumbline.engine.program import (
    BenchmarkSpec,
    BoardSpec,
    BuildSpec,
    OptionSpec,
    find_engine,
)
from plumbline.synth.build import Build, make_build
from plumbline.system.files import load_system
from plumbline.system.synthesis import Preset, Synthesis
from plumbline.system.system import Identity, System

INSTALLED = find_home()
NAMES = sorted(path.stem for path in (ROOT / "systems").glob("*.toml"))
SYSTEMS = {name: load_system(ROOT / "systems" / f"{name}.toml") for name in NAMES}


def _why_not() -> str | None:
    try:
        find_engine({**os.environ, "PLUMBLINE_ENGINE": str(REAL_ENGINE)})
    except PlumbError as error:
        return str(error)
    return None


MISSING = _why_not()
needs_engine = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def preset_of(board: str, benchmark: str, name: str) -> Preset:
    (found,) = (p for p in SYSTEMS[board].presets if (p.benchmark, p.name) == (benchmark, name))
    return found


def board_system(tool: str = "v++", **changes: Any) -> System:
    """A board with four banks and two dies."""
    bank = {"v++": "DDR[{bank}]", "aoc": "HBM{bank}"}[tool]
    version = {"v++": "2021.2", "aoc": "19.4.0"}[tool]
    facts = {"tool": tool, "version": version, "board": "xilinx_b", "bank": bank, "banks": 4}
    synthesis = Synthesis.model_validate({**facts, "slrs": 2, "source": "s", **changes})
    identity = Identity(name="maker-b", description="d", source="s")
    return System(system=identity, synthesis=synthesis)


def spec(streams: bool = True) -> BenchmarkSpec:
    """A benchmark of two kernels with a stream between them."""
    kernels = [
        {"name": n, "numbered": n + "_{replication}", "arguments": [{"name": a, "bank": b}]}
        for n, a, b in (("fetch", "from", 0), ("sum", "to", 1))
    ]
    stream = [{"from": "fetch_{replication}.out", "to": "sum_{replication}.in"}]
    board = BoardSpec.model_validate(
        {
            "source": "x/sum.cl",
            "options": "-DX",
            "kernels": kernels,
            "streams": stream if streams else [],
            "banks": 2,
            "own_banks": True,
        }
    )
    options = [
        ("replications", "integer", BuildSpec(letter="r")),
        ("block", "integer", BuildSpec(letter="b", macro="BLOCK", log2=True)),
        ("fast", "flag", BuildSpec(letter="fast", options={"true": "-DFAST", "false": ""})),
    ]
    return BenchmarkSpec(
        name="summing",
        title="t",
        source="s",
        parameters=[OptionSpec(name=n, type=t, build=b) for n, t, b in options],  # type: ignore[arg-type]
        boards={"v++": board, "aoc": board},
    )


def made(tool: str = "v++", **given: str) -> Build:
    values = {"replications": "2", "block": "8", "fast": "true", **given}
    return make_build(spec(), "maker-b", board_system(tool), values)
