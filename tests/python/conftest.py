"""Fixtures: a separate home for every test, a stand-in engine, and the real one if built."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from plumbline.cli import app as cli
from plumbline.engine.program import Engine, find_engine
from plumbline.launch import launchers
from plumbline.record.record import Record, load_record
from plumbline.run import plan

# No test asserts a time: a loaded machine makes nothing fail.
settings.register_profile("plumbline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plumbline")

HERE = Path(__file__).parent
DATA = HERE / "data"
GOLDEN = HERE / "golden"
ROOT = HERE.parent.parent
REAL_ENGINE = Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin"))

_STEERING = ("PLUMBLINE_", "SLURM_", "OCL_ICD_", "POCL_", "CL_CONFIG_", "ACCEPT_INTEL_EULA")

Plumb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def record() -> Record:
    """The record made by hand: 2 ranks, staged, all parts at three sizes."""
    return load_record(DATA / "record.json")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; variables that steer plumb or OpenCL are unset."""
    for name in list(os.environ):
        if name.startswith(_STEERING):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "home"


@pytest.fixture
def stand_in(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an engine that only behaves (see stand_in.py), in use. Two cores are there."""
    folder = tmp_path / "engine"
    folder.mkdir()
    shutil.copy(HERE / "stand_in.py", folder / "plumb-mpi")
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(folder))
    monkeypatch.setenv("STAND_IN_DATA", str(DATA))
    monkeypatch.setenv("STAND_IN_PIDS", str(tmp_path / "pid"))
    monkeypatch.setattr(plan, "physical_cores", lambda: 2)
    monkeypatch.setattr(launchers, "physical_cores", lambda: 2)
    return folder


@pytest.fixture
def plumb(capfd: pytest.CaptureFixture[str]) -> Plumb:
    """Runs a command line in this process: (status, stdout, stderr)."""

    def call(*words: str) -> tuple[int, str, str]:
        status = cli.start(list(words))
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares text with golden/NAME; UPDATE_GOLDEN=1 writes it instead."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text(), f"differs from {path}; UPDATE_GOLDEN=1 writes it anew"

    return check


@pytest.fixture(scope="module")
def engine() -> Engine:
    return find_engine({**os.environ, "PLUMBLINE_ENGINE": str(REAL_ENGINE)})


@pytest.fixture
def vendor(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of stand-ins of the tools, on PATH; the real engine is in use."""
    folder = tmp_path / "vendor"
    folder.mkdir()
    for tool in ("aoc", "v++", "emconfigutil"):
        shutil.copy(HERE / "fpga_tools.py", folder / tool)
        (folder / tool).chmod(0o755)
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(REAL_ENGINE))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_VERSION", "19.4.0")
    monkeypatch.chdir(tmp_path)
    return folder
