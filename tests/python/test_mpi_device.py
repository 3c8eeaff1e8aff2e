"""Programs under libplumb-mpi-device: one that is not ours (mpi4py's benchmarks), and on emulated FPGAs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from tests.launching import PATIENCE_S, launch_command, preloaded

LIBRARY = "libplumb-mpi-device.so"
PROGRAM = Path(__file__).parent / "mpi4py_on_device.py"
# Programs of mpi4py, and their ranks.
MPI4PY = {"window": 2, "vectors": 3}
FOLDERS = {
    "Open MPI": Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin")),
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin")),
}
# Arguments, and the final message.
BENCHMARKS = {
    "pingpong": ("--array cupy --min-size 1 --max-size 65536 --loop 3 --skip 1", " 65536 "),
    "ringtest": ("--size 1000 --loop 3", "2 processes, 1000 bytes"),
}

pytestmark = pytest.mark.xdist_group("ranks")  # two tests' ranks would take each other's cores


def run(mpi: str, program: list[str], environment: dict[str, str], ranks: int = 2) -> str:
    """What a program says on ``ranks`` ranks."""
    engine = FOLDERS[mpi] / "plumb-mpi"
    command, added = launch_command(ranks, engine)
    command[command.index(str(engine)) :] = program
    done = subprocess.run(
        command,
        env=added | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def need(*files: Path) -> None:
    """Skip the test where one of ``files`` is not built."""
    for file in files:
        if not file.exists():
            pytest.skip(f"{file.name} is not built")


def mpich_library(library: Path) -> str:
    """The library of MPI that ours is linked with."""
    said = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    found = [line.split()[2] for line in said.splitlines() if line.split()[0].startswith("libmp")]
    return found[0]


def preloading(mpi: str, folder: Path) -> list[str]:
    """The command that starts a program of mpi4py under the library; skips where that is not built."""
    library = FOLDERS[mpi].parent / "lib" / LIBRARY
    need(FOLDERS[mpi] / "plumb-mpi", library)
    command = ["env", f"LD_PRELOAD={preloaded(library)}"]
    if mpi == "MPICH":  # mpi4py's wheel looks for it by the name that its own builds have
        (folder / "libmpi.so.12").symlink_to(mpich_library(library))
        command.append(f"LD_LIBRARY_PATH={folder}")
    return [*command, sys.executable, "-W", "error"]


@pytest.mark.parametrize("program", MPI4PY)
@pytest.mark.parametrize("mpi", FOLDERS)
def test_mpi4py_program(mpi: str, program: str, tmp_path: Path) -> None:
    """Over MPICH mpi4py calls the functions whose counts are of type MPI_Count."""
    path = Path(__file__).parent / f"mpi4py_{program}_on_device.py"
    command = [*preloading(mpi, tmp_path), str(path)]
    said = run(mpi, command, {"PLUMB_MPI_RUNTIME": "native"}, MPI4PY[program])
    assert said.count("all is as it should be") == MPI4PY[program]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize(
    ("mpi", "runtime"),
    [("Open MPI", "native"), ("Open MPI", "opencl"), ("Open MPI", "sycl"), ("MPICH", "native")],
)
def test_mpi4py_benchmark(mpi: str, runtime: str, benchmark: str, tmp_path: Path) -> None:
    words, end = BENCHMARKS[benchmark]
    command = [*preloading(mpi, tmp_path), str(PROGRAM), benchmark, *words.split()]
    added = {"PLUMB_MPI_RUNTIME": runtime}
    if runtime == "sycl":
        if not runtimes.is_installed(runtimes.INTEL_SYCL.name, find_home()):
            pytest.skip(f"{runtimes.INTEL_SYCL.name} is not installed")
        added |= runtimes.environment(runtimes.INTEL_SYCL.name, find_home(), 2)
    assert end in run(mpi, command, added)


@pytest.mark.parametrize("name", [runtimes.FPGA_EMULATOR.name, runtimes.INTEL_SYCL.name])
@pytest.mark.parametrize(
    ("program", "words", "end"),
    [
        ("heat", "24 4", "largest difference from one host 0\n"),
        ("stress", "--seed 3 --operations 40", "40 operations agree"),
        ("doors", "", ""),
        ("fortran-mpi_f08", "", "calls came out right"),
    ],
)
def test_intels_runtimes(name: str, program: str, words: str, end: str) -> None:
    """On emulated FPGAs by a part of the device's name, of two that the emulator shows; on SYCL's CPU."""
    installed = find_home()
    if not runtimes.is_installed(name, installed):
        pytest.skip(f"{name} is not installed (plumb setup {name})")
    path = FOLDERS["Open MPI"] / f"plumb-mpi-device-{program}"
    need(FOLDERS["Open MPI"] / "plumb-mpi", path)
    environment = runtimes.environment(name, installed, 2)
    environment["PLUMB_MPI_RUNTIME"] = runtimes.engine_name(name)
    if name == runtimes.INTEL_SYCL.name:
        pieces = {"PLUMB_MPI_PIECES_FROM": "200", "PLUMB_MPI_PIECE": "9999"}
        environment |= {"PLUMB_MPI_TRANSPORT": "peer"} if words else pieces
    else:
        environment["PLUMB_MPI_DEVICE"] = "Emulation"
    assert end in run("Open MPI", [str(path), *words.split()], environment)


@pytest.mark.soak
@pytest.mark.parametrize("mpi", FOLDERS)
@pytest.mark.parametrize(
    "variables",
    [
        "PLUMB_MPI_STAGING=naive",
        "PLUMB_MPI_PIECES_FROM=200 PLUMB_MPI_PIECE=64",
        "PLUMB_MPI_TRANSPORT=peer PLUMB_MPI_REDUCE_FROM=1 PLUMB_MPI_COLLECTIVE_FROM=1",
        "PLUMB_MPI_TRANSPORT=peer PLUMB_MPI_REDUCE_FROM=1 PLUMB_MPI_KERNEL_LANGUAGE=sycl",
    ],
)
def test_random_operations_on_sycl(mpi: str, variables: str) -> None:
    name = runtimes.INTEL_SYCL.name
    if not runtimes.is_installed(name, find_home()):
        pytest.skip(f"{name} is not installed")
    path = FOLDERS[mpi] / "plumb-mpi-device-stress"
    need(path)
    environment = runtimes.environment(name, find_home(), 3) | {"PLUMB_MPI_RUNTIME": "sycl"}
    environment |= dict(word.split("=") for word in variables.split())
    words = ["--seed", "11", "--operations", "200"]
    assert "200 operations agree" in run(mpi, [str(path), *words], environment, 3)


@pytest.fixture(scope="module", params=["Open MPI", pytest.param("MPICH", marks=pytest.mark.soak)])
def sycl_program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """An MPI, and a program with SYCL memory of its own, compiled as its author would."""
    installed, mpi = find_home(), str(request.param)
    if not runtimes.is_installed(runtimes.INTEL_SYCL.name, installed):
        pytest.skip(f"{runtimes.INTEL_SYCL.name} is not installed")
    library = FOLDERS[mpi].parent / "lib" / LIBRARY
    need(FOLDERS[mpi] / "plumb-mpi", library)
    sycl = installed.runtimes / runtimes.INTEL_SYCL.name
    program = tmp_path_factory.mktemp("sycl") / "sycl_program"
    source = ROOT / "tests" / "interpose" / "sycl_program.cpp"
    compiler = "mpicxx.mpich" if mpi == "MPICH" else "mpicxx"
    command = [compiler, "-std=c++17", "-w", str(source), "-o", str(program)]
    command += [f"-I{sycl / 'venv' / 'include'}", f"-I{ROOT / 'interpose' / 'api'}"]
    command += [str(library), f"-Wl,-rpath,{library.parent}", f"-L{sycl / 'lib'}", "-lsycl"]
    done = subprocess.run(
        [*command, "-Wl,--allow-shlib-undefined"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return mpi, program


@pytest.mark.parametrize(
    ("transport", "wrong", "said"),
    [
        ("staged", "", ""),
        ("peer", "", ""),
        ("staged", "unregistered", "MPI_Send: invalid device address .* is not registered"),
        ("staged", "freed", "MPI_Send: invalid device address .* the memory registered .* freed"),
    ],
)
def test_sycl_memory_of_the_program(
    sycl_program: tuple[str, Path], transport: str, wrong: str, said: str
) -> None:
    """Its own memory of malloc_device is an argument of MPI while it is registered."""
    environment = runtimes.environment(runtimes.INTEL_SYCL.name, find_home(), 1)
    environment["PLUMB_MPI_TRANSPORT"] = transport
    mpi, program = sycl_program
    command = [str(program), *wrong.split()]
    if wrong:
        with pytest.raises(AssertionError, match=said):
            run(mpi, command, environment)
    else:
        assert "all is as it should be" in run(mpi, command, environment)
