"""How tests start the engine's programs on several ranks: as `plumb run` does, by the launcher of the MPI they are built with."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from plumbline.engine.program import Engine, describe
from plumbline.launch.launchers import LaunchRequest, plan_launch

ROOT = Path(__file__).resolve().parent.parent
# After which a program that has not ended hangs: emulated FPGAs on cores that others use take minutes for what they do
# in seconds alone.
PATIENCE_S = 600
# OpenMP's threads look for work without a pause: those of several ranks take each other's cores.
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}
BUILD = Path(os.environ.get("PLUMBLINE_BUILD", ROOT / "build" / "release"))


def program(name: str) -> Path:
    """A program of the build tree; it may be absent."""
    return BUILD / "bin" / name


@cache
def _engine(path: Path) -> Engine:
    return Engine(path, describe(path))


def launch_command(ranks: int, path: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Command line and environment that start `path` on some ranks, oversubscribed where need be."""
    launch = plan_launch(LaunchRequest(ranks=ranks, oversubscribe=True), _engine(path), os.environ)
    return launch.command(path, list(words)), {**os.environ, **launch.environment, **ENVIRONMENT}
