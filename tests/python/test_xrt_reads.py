"""The readers of bitstreams beside AMD's own: `xrt::xclbin`, by the headers of Debian's libxrt-dev."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import fpga_tools
import pytest
from test_xrt import BANKS, ENGINE, LIBRARIES, STREAM, UPDATES, Board, bitstream, board

from plumbline.synth import containers
from plumbline.synth.containers import read_container

__all__ = ["board"]  # a fixture
SOURCE = Path(__file__).with_name("xrt_reads.cpp")
LIBRARY = next((path for path in LIBRARIES if path.name == "libxrt_coreutil.so.2"), None)
COMPILER = ["g++", "-std=c++17", "-I/usr/include/xrt"]


@pytest.fixture(scope="module")
def xrt_reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """AMD's reader as a program; skips without its header."""
    header = "#include <experimental/xrt_xclbin.h>\n"
    try:
        found = subprocess.run(
            [*COMPILER, "-E", "-x", "c++", "-"],
            input=header,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("g++ is not installed")
    if LIBRARY is None or found.returncode != 0:
        pytest.skip("XRT's headers are not installed (Debian: libxrt-dev, uuid-dev)")
    made = tmp_path_factory.mktemp("xrt") / "reads"
    subprocess.run([*COMPILER, str(SOURCE), str(LIBRARY), "-o", str(made)], check=True)
    return made


def read_by_xrt(program: Path, path: Path) -> dict[str, list[list[str]]]:
    """Its lines by their first word."""
    done = subprocess.run([str(program), str(path)], capture_output=True, text=True, check=True)
    found = defaultdict(list)
    for line in done.stdout.splitlines():
        what, *words = line.split()
        found[what].append(words)
    return found


def test_offsets_and_sizes_are_those_of_its_header(xrt_reads: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.xclbin"
    path.write_bytes(fpga_tools.xclbin("u280", ["calc:calc_0"]))
    found = read_by_xrt(xrt_reads, path)
    places = (containers._HEADER, containers._PLATFORM.start, containers._COUNT)
    assert found["header"] == [[str(place) for place in (*places, containers._SECTIONS)]]
    shapes = (containers._SECTION, containers._IP, containers._CLOCK, containers._MEM)
    assert found["sizes"] == [[str(shape.size) for shape in shapes]]


def test_it_reads_the_same(xrt_reads: Path, board: Board) -> None:
    """Of a bitstream with banks and arguments, and of one with clocks: this command, and AMD's class."""
    full = Path(bitstream(board, [*UPDATES, *STREAM])[1])
    clocked = board.folder / "clocked.xclbin"
    clocked.write_bytes(fpga_tools.xclbin("xilinx_u280", ["calc:calc_0", "calc:calc_1"]))
    for path in (full, clocked):
        ours, theirs = read_container(path), read_by_xrt(xrt_reads, path)
        assert [[ours.board]] == theirs["board"]
        assert [[copy] for copy in ours.copies] == theirs["copy"]
        assert ours.memories == [tag for tag, _ in theirs["memory"]]
        assert [[name, str(mhz)] for name, mhz in ours.clocks_mhz.items()] == theirs["clock"]
    assert read_container(clocked).clocks_mhz == {"DATA_CLK": 300}
    theirs = read_by_xrt(xrt_reads, full)
    assert [[name] for name in read_container(full).kernels] == theirs["kernel"]
    assert ["calc", "out", "HBM[1]"] in theirs["bank"]


@pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")
def test_the_engine_reads_the_same_banks(xrt_reads: Path, board: Board) -> None:
    """All of the topology are in its sentence about a bank that is none."""
    words = bitstream(board, STREAM)
    theirs = read_by_xrt(xrt_reads, Path(words[1]))
    tags = {tag for what in ("memory", "unused") for tag, _ in theirs[what]}
    assert tags == set(BANKS)
    _, record, said = board.run("stream", "--elements", "5000", "--memory", "ddr:7", *words)
    reasons = {case["outcome"]["reason"] for case in record["cases"]}
    assert len(reasons) == 1, said
    reason = reasons.pop()
    assert set(reason.rpartition("it has ")[2].split(", ")) == tags, reason
