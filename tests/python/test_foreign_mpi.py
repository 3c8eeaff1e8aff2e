"""A program of MPI that is not ours, mpi4py's benchmarks, on device memory under libplumb-mpi-device."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from tests.launching import launch_command

LIBRARY = "libplumb-mpi-device.so"
PROGRAM = Path(__file__).parent / "mpi4py_on_device.py"
FOLDERS = {
    "Open MPI": Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin")),
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin")),
}
# Arguments, and what is said at the end.
BENCHMARKS = {
    "pingpong": ("--array cupy --min-size 1 --max-size 65536 --loop 3 --skip 1", " 65536 "),
    "ringtest": ("--size 1000 --loop 3", "2 processes, 1000 bytes"),
}

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed"),
    pytest.mark.xdist_group("ranks"),
]


def run_on_device(mpi: str, runtime: str, tmp_path: Path, *words: str) -> str:
    """What two ranks of the program say."""
    engine, library = FOLDERS[mpi] / "plumb-mpi", FOLDERS[mpi].parent / "lib" / LIBRARY
    for needed in (engine, library):
        if not needed.exists():
            pytest.skip(f"{needed.name} is not built over {mpi}")
    command, environment = launch_command(2, engine)
    preload = [f"LD_PRELOAD={library}", f"PLUMB_MPI_RUNTIME={runtime}"]
    if mpi == "MPICH":  # mpi4py's wheel looks for it by the name that its own builds have
        (tmp_path / "libmpi.so.12").symlink_to(mpich_library(library))
        preload.append(f"LD_LIBRARY_PATH={tmp_path}")
    python = ["env", *preload, sys.executable, "-W", "error", str(PROGRAM), *words]
    command[command.index(str(engine)) :] = python
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mpich_library(library: Path) -> str:
    """The library of MPI that ours is linked with."""
    said = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    found = [line.split()[2] for line in said.splitlines() if line.split()[0].startswith("libmp")]
    return found[0]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize(
    ("mpi", "runtime"), [("Open MPI", "native"), ("Open MPI", "opencl"), ("MPICH", "native")]
)
def test_mpi4py_benchmark(mpi: str, runtime: str, benchmark: str, tmp_path: Path) -> None:
    words, end = BENCHMARKS[benchmark]
    assert end in run_on_device(mpi, runtime, tmp_path, benchmark, *words.split())
