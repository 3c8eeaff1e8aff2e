"""How tests start the engine's programs on several ranks: as `plumb run` does, by the launcher of the MPI they are built with."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from plumbline.engine.program import Engine, describe
from plumbline.launch.launchers import LaunchRequest, plan_launch

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLUMBLINE_BUILD", ROOT / "build" / "release"))
# After which a program that has not ended hangs: emulated FPGAs on cores that others use take minutes for what they do
# in seconds alone.
PATIENCE_S = 600
# OpenMP's threads look for work without a pause: those of several ranks take each other's cores.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",
    "PLUMB_TEST_KERNELS": str(
        BUILD / "kernels"
    ),  # compiled for emulated FPGAs (compiling_once.hpp)
}


def program(name: str) -> Path:
    """A program of the build tree; it may be absent."""
    return BUILD / "bin" / name


def preloaded(library: Path) -> str:
    """LD_PRELOAD with a library before those that are in it already."""
    return ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))


@cache
def _engine(path: Path) -> Engine:
    return Engine(path, describe(path))


def launch_command(ranks: int, path: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Command line and environment that start `path` on some ranks, oversubscribed where need be."""
    launch = plan_launch(LaunchRequest(ranks=ranks, oversubscribe=True), _engine(path), os.environ)
    return launch.command(path, list(words)), {**os.environ, **launch.environment, **ENVIRONMENT}
