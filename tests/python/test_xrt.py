"""AMD's boards without one: XRT's noop device, which keeps memory but runs no kernel.

Every case with a kernel must therefore end as ``failed``; transfers, which it does make, pass.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, program
from tests.python import xclbin

ENGINE = program("plumb-serial")
LIBRARIES = sorted(Path("/usr/lib").glob("*/libxrt_*.so*"))
pytestmark = [
    pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)"),
    pytest.mark.skipif(
        not any(path.name == "libxrt_noop.so.2" for path in LIBRARIES),
        reason="AMD's XRT is not installed (Debian: libxrt1)",
    ),
]

BANKS = ("HBM[0]", "HBM[1]", "HBM[2]", "HBM[3]", "DDR[0]", "DDR[1]", "PLRAM[0]")
# Each pointer is connected to one bank, as a linker does; XRT places views of buffers by that.
_CALC = [("in1", "float*"), ("in2", "float*"), ("out", "float*")]
STREAM = [
    xclbin.Kernel(
        "calc", [*_CALC, ("scalar", "float"), ("size", "uint"), ("type", "uint")], [["HBM[1]"]] * 3
    ),
    xclbin.Kernel("calc_dot", [*_CALC, ("size", "uint")], [["HBM[1]"]] * 3),
]
_SHARES = [(name, "ulong") for name in ("share", "updates", "first", "words")]
_SHARES.append(("log2_table", "uint"))
UPDATES = [
    xclbin.Kernel(
        f"update_{i}_g5_d5_b0",
        [("table", "ulong*"), ("starts", "ulong*"), *_SHARES],
        [[f"DDR[{i}]"]] * 2,
    )
    for i in range(2)
]
_BATCH = [("batch", "uint"), ("inverse", "int")]
TRANSFORM = [
    xclbin.Kernel("fetch_0", [("from", "float*"), *_BATCH], [["HBM[3]"]]),
    xclbin.Kernel("fft_0", [("table", "float*"), ("batch", "uint")], [["HBM[3]"]]),
    xclbin.Kernel("store_0", [("to", "float*"), *_BATCH], [["HBM[3]"]]),
]
PRODUCT = [
    xclbin.Kernel(
        "gemm",
        [
            *((name, "float*") for name in ("a", "b", "c", "out")),
            *((name, "float") for name in ("alpha", "beta")),
            *((name, "uint") for name in ("row_begin", "row_end", "columns", "inner")),
        ],
        [["PLRAM[0]"]] * 4,
    )
]


@dataclass
class Board:
    """XRT with its noop device."""

    folder: Path

    def run(self, *words: str, runtime: str = "xrt") -> tuple[int, dict, str]:
        """Exit status, record (or nothing) and messages. Runtime opencl has AMD's library alone."""
        record = self.folder / "record.json"
        record.unlink(missing_ok=True)
        environment = dict(os.environ) | {
            "XILINX_XRT": str(self.folder),
            "XCL_EMULATION_MODE": "noop",
            "OCL_ICD_VENDORS": str(self.folder),
        }
        policy = ["--repetitions", "2", "--format", "none", "--progress", "none"]
        done = subprocess.run(
            [str(ENGINE), *words, "--runtime", runtime, *policy, "--record", str(record)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return (
            done.returncode,
            json.loads(record.read_text()) if record.exists() else {},
            done.stderr,
        )


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """XRT looks for its drivers in a folder ``lib`` of its own."""
    (tmp_path / "lib").mkdir()
    for path in LIBRARIES:
        (tmp_path / "lib" / path.name).symlink_to(path)
    (tmp_path / "amd.icd").write_text("libxilinxopencl.so.2\n")
    return Board(tmp_path)


def bitstream(board: Board, kernels: Sequence[xclbin.Kernel]) -> list[str]:
    return ["--kernel-file", str(xclbin.write(board.folder / "a.xclbin", BANKS, kernels))]


# In HLS C++, of one work item as well.
TRANSPOSE = [
    xclbin.Kernel(
        "transpose",
        [
            *((name, "float*") for name in ("from", "b", "c")),
            ("table", "ulong*"),
            *((name, "ulong") for name in ("from_at", "b_at", "c_at", "blocks")),
        ],
        [["HBM[0]"]] * 4,
    )
]


def of(name: str, types: str) -> xclbin.Kernel:
    """A kernel with arguments of these types, all in a bank."""
    arguments = [(f"a{i}", kind) for i, kind in enumerate(types.split())]
    pointers = sum(kind.endswith("*") for _, kind in arguments)
    return xclbin.Kernel(name, arguments, [["DDR[0]"]] * pointers)


LINPACK = [
    of("lu", "float* ulong ulong uint ulong long* uint float* ulong"),
    of("left", "float* ulong ulong uint uint float* ulong ulong"),
    of("top", "float* uint uint float* ulong float* ulong ulong uint"),
    of("inner", "float* ulong float* float* ulong ulong uint uint uint"),
    of("solve", "float* ulong ulong uint uint float*"),
    of("subtract", "float* ulong ulong uint uint float* float*"),
]
WATER = [
    of("edge", "int* float* float* int* float* uint uint uint uint uint float"),
    of(
        "element", "float* float* int* int* float* uint uint uint int float float float float float"
    ),
    of("collect", "float* int* uint"),
    of("deliver", "float* uint"),
]
LAUNCHES = [of("count_launch", "ulong*")]


@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        (STREAM, ("stream", "--elements", "5000", "--memory", "hbm:1")),
        (TRANSPOSE, ("ptrans", "--size", "64", "--block-size", "16", "--memory", "hbm:0")),
        (
            LINPACK,
            ("hpl", "--size", "64", "--block", "16", "--matrix", "dominant", "--type", "float"),
        ),
        (WATER, ("shallow_water", "--mesh", "rectangle", "--across", "4", "--steps", "2")),
        (LAUNCHES, ("b_eff", "--part", "all", "--max-size", "2")),
        (UPDATES, ("random_access", "--size", "8", "--memory", "ddr", "--replications", "2")),
        (TRANSFORM, ("fft", "--size", "5", "--batch", "4", "--memory", "hbm:3")),
        (PRODUCT, ("gemm", "--size", "64", "--block-size", "32", "--memory", "plram")),
    ],
    ids=["stream", "ptrans", "hpl", "shallow_water", "b_eff", "random_access", "fft", "gemm"],
)
def test_cases_fail_where_no_kernel_runs(
    board: Board, kernels: Sequence[xclbin.Kernel], words: Sequence[str]
) -> None:
    status, record, said = board.run(*words, *bitstream(board, kernels))
    assert status == 1, said
    outcomes = {case["key"]: case["outcome"] for case in record["cases"]}
    copies = ("/read/", "/write/", "/exchange/", "/transfer/")
    transfers = {
        key for key in outcomes if key in ("write", "read") or any(one in key for one in copies)
    }
    assert outcomes.keys() > transfers
    for key, outcome in outcomes.items():
        assert outcome["status"] == ("passed" if key in transfers else "failed"), (key, outcome)


def test_opencl_places_buffers_in_the_banks_of_the_bitstream(board: Board) -> None:
    """By cl_mem_ext_ptr_t: AMD's library tells whether a buffer is where its kernel is connected.

    On the noop device it takes no views of buffers, so no case with a kernel gets further.
    """
    words, not_connected = (
        ("stream", "--elements", "5000", "--memory"),
        "required argument connectivity",
    )
    for bank, is_connected in (("hbm:1", True), ("default", True), ("hbm:2", False)):
        _, record, said = board.run(*words, bank, *bitstream(board, STREAM), runtime="opencl")
        outcomes = {case["key"]: case["outcome"]["status"] for case in record["cases"]}
        assert (outcomes.pop("write"), outcomes.pop("read")) == ("passed", "passed"), said
        assert set(outcomes.values()) == {"error"}
        assert (not_connected in said, "sub-buffer memory bank" in said) == (
            not is_connected,
            is_connected,
        )
        assert "emulates a board" in record["emulated"]
    _, record, said = board.run(*words, "ddr:7", *bitstream(board, STREAM), runtime="opencl")
    reasons = {case["outcome"]["reason"] for case in record["cases"]}
    assert len(reasons) == 1, said
    assert "no memory of kind ddr:7: it has HBM[0], HBM[1]" in reasons.pop()
    _, record, said = board.run(*words, "plram", "--operation", "write", runtime="opencl")
    (case,) = record["cases"]
    assert "its banks are a bitstream's: give --kernel-file" in case["outcome"]["reason"], said


def test_vnx_is_refused_on_boards(board: Board) -> None:
    words = ("b_eff", "--transport", "vnx", *bitstream(board, LAUNCHES))
    status, _, said = board.run(*words)
    assert (status, "it is emulated only, as no bitstream here has VNx's network" in said) == (
        2,
        True,
    ), said


def test_a_buffer_larger_than_on_chip_memory_is_unsupported(board: Board) -> None:
    words = ("gemm", "--size", "2048", "--block-size", "32", "--memory", "plram")
    _, record, said = board.run(*words, *bitstream(board, PRODUCT))
    assert {case["outcome"]["status"] for case in record["cases"]} == {"unsupported"}, said
    reason = record["cases"][0]["outcome"]["reason"]
    assert "MiB is larger than PLRAM[0], 16 MiB" in reason


def test_a_truncated_bitstream_is_an_error(board: Board) -> None:
    words = bitstream(board, STREAM)
    path = Path(words[1])
    path.write_bytes(path.read_bytes()[:700])
    status, _, said = board.run("stream", "--elements", "5000", *words)
    assert status != 0
    assert "truncated" in said


def test_without_xrt_the_reason_is_given() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "XILINX_XRT"}
    words = ("stream", "--runtime", "xrt", "--record", "none")
    done = subprocess.run(
        [str(ENGINE), *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "XILINX_XRT is not set" in done.stderr
