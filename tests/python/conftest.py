"""Fixtures: a separate home for every test, a stand-in engine, and the real one if built."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from plumbline.__main__ import main
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

# Kernels that drivers and runtime hls have compiled, which all tests share, by their places in a folder of caches.
CACHES = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
KERNELS = ("pocl", "libsycl_cache", "plumbline/hls")
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
    for name in KERNELS:
        (CACHES / name).mkdir(parents=True, exist_ok=True)
        own = tmp_path / "cache" / name
        own.parent.mkdir(parents=True, exist_ok=True)
        own.symlink_to(CACHES / name)
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


def start_plumb(*words: str, **environ: str) -> subprocess.Popen[str]:
    """Starts a command line in a process of its own: a fork of this one, which needs no second for its imports."""

    def become() -> None:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        os.environ.update(environ)
        sys.argv = ["plumb", *words]
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = 1
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)

    return subprocess.Popen(
        ["plumb"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=become,
    )


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
    monkeypatch.setenv("STAND_IN_HEADERS", str(ROOT / "engine" / "device" / "hls" / "include"))
    monkeypatch.chdir(tmp_path)
    return folder
