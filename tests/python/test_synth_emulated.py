"""From build to run, really: the FPGA emulator compiles a board's text, and the saved binary runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Plumb
from synth_board import INSTALLED, needs_engine

from plumbline.engine import runtimes
from plumbline.synth import tools
from plumbline.synth.manifest import manifest_path, read_manifest
from tests.launching import program


def emulator() -> dict[str, str]:
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name} --accept-eula)")
    return runtimes.environment(name, INSTALLED, 1)


@pytest.fixture
def emulated(vendor: Path, home: Path) -> None:
    """The emulator's compiler in place of aoc."""
    emulator()
    (vendor / "aoc").unlink()
    home.mkdir(exist_ok=True)
    (home / "runtimes").symlink_to(INSTALLED.runtimes)


def outcomes(path: Path) -> list[str]:
    return [case["outcome"]["status"] for case in json.loads(path.read_text())["cases"]]


EMULATED = [
    (
        "gemm",
        ("-r", "2", "--block-size", "32", "--gemm-block", "4", "--global-mem-unroll", "8"),
        ("--size", "96"),
        {"passed"},
    ),
    ("stream", ("-r", "2", "--local-buffer", "64"), ("-s", "4096"), {"passed", "unsupported"}),
    ("fft", ("--size", "6", "--unroll", "4"), ("--batch", "5"), {"passed"}),
    (
        "random_access",
        ("-r", "2", "--buffer-log", "0", "-g", "2", "--rng-distance", "3"),
        ("--size", "10", "--updates", "buffered"),
        {"passed"},
    ),
]


@needs_engine
@pytest.mark.parametrize(("benchmark", "build", "words", "wanted"), EMULATED)
def test_from_build_to_run(
    emulated: None,
    plumb: Plumb,
    benchmark: str,
    build: tuple[str, ...],
    words: tuple[str, ...],
    wanted: set[str],
) -> None:
    """The emulator's compiler builds the board's text; the saved binary runs and is proven."""
    status, out, err = plumb(
        *("synth", benchmark, "--board", "bittware-520n", "--target", "emulation"),
        *("--output", "out", *build),
    )
    assert status == 0, err
    bitstream = Path(out.strip())
    manifest = read_manifest(bitstream)
    assert manifest is not None
    assert manifest.tool == "intel-opencl-rt 2023.2.4"
    status, _, err = plumb(
        *("run", benchmark, "-n", "1", "--runtime", "fpga-emulator", "--no-model"),
        *("--kernel-file", str(bitstream), *words, "--repetitions", "2", "--record", "r.json"),
    )
    assert status == 0, err
    assert set(outcomes(Path("r.json"))) == wanted
    record = json.loads(Path("r.json").read_text())
    assert record["measuring"]["kernel_build"].startswith(f"{manifest.name} (emulation, intel-")
    for name, value in manifest.parameters.items():
        assert str(record["parameters"][name]) == str(value)


@pytest.fixture
def launches(tmp_path: Path) -> Path:
    """A program that launches a placeholder; skips without a compiler or OpenCL's headers."""
    source, made = Path(__file__).with_name("placeholder_launches.cpp"), tmp_path / "launches"
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    words = ["g++", "-std=c++20", str(source), "-lOpenCL", "-o", str(made)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "CL/cl.h: No such file" in done.stderr:
        pytest.skip("OpenCL's headers are not installed")
    assert done.returncode == 0, done.stderr
    return made


def count_launches(launches: Path, bitstream: Path, kernel: str) -> tuple[int, list[str]]:
    """Five launches, twice: exit status, and the counts after each time."""
    words = [str(launches), str(bitstream), kernel, "5"]
    environment = {**os.environ, **emulator()}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.split()


@needs_engine
def test_a_placeholder_counts_its_launches(emulated: None, plumb: Plumb, launches: Path) -> None:
    """In DDR and in HBM as aoc takes it, and as v++ does, in every kind of memory; its buffer stays as it was."""
    for board, kind in (("bittware-520n", "D"), ("bittware-520n-mx", "B")):
        words = ("--board", board, "--target", "emulation", "--output", "out")
        status, out, err = plumb("synth", "placeholder", *words)
        assert status == 0, err
        bitstream = Path(out.strip())
        assert bitstream.name.startswith(f"placeholder-{kind}.")
        assert count_launches(launches, bitstream, "placeholder_0") == (0, ["5", "10"])
    source = Path("out/placeholder.cl").read_text()
    lazy, touching = "launches[0] = 1;", "++launches[0]; buffer[0] = 0;"
    for text, told in (
        ("++launches[0];", (0, ["5", "10"])),
        (lazy, (0, [str(2**32 - 6)] * 2)),
        (touching, (1, [])),
    ):
        assert source.count("++launches[0];") == 1
        Path("own.cl").write_text(source.replace("++launches[0];", text))
        compile_it = [str(program("plumb-mpi")), "--compile", "own.cl", "own.aocx"]
        tools.run_step(compile_it, Path(), Path("log"), {**os.environ, **emulator()}, None)
        assert count_launches(launches, Path("own.aocx"), "placeholder") == told, text


Cables = list[tuple[tuple[int, int], tuple[int, int]]]  # two boards with their ports, each
RING: Cables = [((0, 0), (1, 2)), ((0, 1), (1, 3)), ((0, 2), (1, 0)), ((0, 3), (1, 1))]
CROSSED: Cables = [((0, 0), (0, 3)), ((0, 1), (0, 2))]


def connect(cables: Cables) -> list[int]:
    """Named pipes in place of cables, in a folder for each board; open, so that no kernel waits for another."""
    pipes = []
    for one, other in cables:
        for (board, port), (far, into) in ((one, other), (other, one)):
            Path(str(board)).mkdir(exist_ok=True)
            Path(str(far)).mkdir(exist_ok=True)
            pipe = Path(f"{board}/kernel_output_ch{port}").resolve()
            os.mkfifo(pipe)
            Path(f"{far}/kernel_input_ch{into}").symlink_to(pipe)
            pipes.append(os.open(pipe, os.O_RDWR))
    return pipes


def system_with(cables: Cables) -> str:
    """A system file with these cables."""
    ends = [[f"n00:acl{board}:ch{port}" for board, port in cable] for cable in cables]
    head = '[system]\nname = "ring"\ndescription = "boards"\nsource = "a test"\n'
    Path("ring.toml").write_text(
        f'{head}[channel]\ncount = 4\ncables = {ends}\nsource = "a test"\n'
    )
    return "ring.toml"


def in_own_folders(monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    """An engine each rank of which works in the folder of its number, where the emulator looks for its io channels."""
    engine = program("plumb-mpi")
    own = Path("engine")
    own.mkdir()
    (own / engine.name).write_text(
        f'#!/bin/sh\n[ -z "$OMPI_COMM_WORLD_RANK" ] || cd "$OMPI_COMM_WORLD_RANK"\nexec {engine} "$@"\n'
    )
    (own / engine.name).chmod(0o755)
    for rank in range(ranks):
        Path(str(rank)).mkdir(exist_ok=True)
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(own.resolve()))


@needs_engine
@pytest.mark.parametrize(
    ("ranks", "cables", "outcome"), [(2, RING, "passed"), (1, CROSSED, "failed")]
)
def test_kernels_of_a_bitstream_over_its_io_channels(
    emulated: None,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    ranks: int,
    cables: Cables,
    outcome: str,
) -> None:
    """The emulator has a file for each io channel: two boards in a ring, and one that is its own neighbour.

    A cable to the wrong port is a wrong answer, unless the system file has it: then nothing starts.
    """
    build = ("--board", "noctua1-520n", "--target", "emulation", "--output", "out")
    status, out, err = plumb("synth", "b_eff", *build)
    assert status == 0, err
    in_own_folders(monkeypatch, ranks)
    record = Path("r.json").resolve()
    words = (
        *("run", "b_eff", "-n", str(ranks), "--runtime", "fpga-emulator", "--oversubscribe"),
        *(
            "--transport",
            "channel",
            "--kernel-file",
            str(Path(out.strip()).resolve()),
            "--no-model",
        ),
        *("--min-size", "10", "--max-size", "12", "--repetitions", "2", "--timeout", "60"),
        *("--record", str(record)),
    )
    pipes = connect(cables)
    of_system = ("--system", system_with(RING)) if outcome == "passed" else ()
    _, _, err = plumb(*words, *of_system)
    for pipe in pipes:
        os.close(pipe)
    assert set(outcomes(record)) == {outcome}, err
    if outcome == "passed":
        return
    _, _, err = plumb(*words, "--system", system_with(CROSSED))
    assert set(outcomes(record)) == {"unsupported"}, err
    sentence = "what n00:acl0:ch0 sends must arrive at n00:acl0:ch2, but its cable leads to"
    assert f"rank 0 to rank 0: {sentence} n00:acl0:ch3" in record.read_text()
    status, _, err = plumb(*words, "--system", system_with([((0, 4), (0, 2))]))
    assert (status, "a cable is in n00:acl0:ch4, but b_eff" in err) == (2, True)


@needs_engine
def test_a_replications_lost_offset_and_a_build_without_manifest(
    emulated: None, plumb: Plumb
) -> None:
    """Replication 1 reads the rows of replication 0: the run of the bitstream must fail."""
    build = ("--type", "float", "-r", "2", "--block-size", "32", "--gemm-block", "4")
    status, out, err = plumb(
        *("synth", "gemm", "--board", "bittware-520n", "--target", "emulation"),
        *("--output", "out", *build, "--global-mem-unroll", "8"),
    )
    assert status == 0, err
    bitstream = Path(out.strip())
    right, offset = '#include "single_work_item.cl"', "(ulong)(tile_row + i) * inner"
    text = next(Path("out").glob("gemm-*.cl"))
    first, second, rest = text.read_text().split(right)
    text.write_text(f'{first}{right}{second}#include "lost.cl"{rest}')
    source = Path("out/single_work_item.cl").read_text()
    assert source.count(offset) == 1
    lost = source.replace(offset, "(ulong)(tile_row - row_begin + i) * inner")
    Path("out/lost.cl").write_text(lost)
    manifest = read_manifest(bitstream)
    assert manifest is not None
    tools.run_step(
        manifest.steps[0].arguments,
        Path("out"),
        Path("log"),
        {**os.environ, **emulator()},
        None,
    )
    manifest_path(bitstream).unlink()
    status, _, err = plumb(
        *("run", "gemm", "-n", "1", "--runtime", "fpga-emulator", "--no-model", "--size", "96"),
        *("--kernel-file", str(bitstream), *build, "--global-mem-unroll", "8"),
        *("--variant", "single_work_item", "--repetitions", "2", "--record", "r.json"),
    )
    assert status == 1, err
    assert outcomes(Path("r.json")) == ["failed"]
    assert json.loads(Path("r.json").read_text())["measuring"]["kernel_build"] == "unknown"
