"""Queues that execute only some of a sample's operations: every case of every benchmark of one device must fail.

The mutants' program has each benchmark as ``mutant-queues-NAME``, with each of its cases once for each way of leaving
operations out, so that a launch tries them all.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command
from tests.mutants.test_kernels import needs_devices_of, vendor_environment
from tests.mutants.test_mutants import MUTANTS, assert_all_failed
from tests.mutants.test_sycl import needs_onemkl, sycl_environment

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

DEVICES = ("native", "pocl", "cuda", pytest.param("sycl", marks=pytest.mark.soak))
RUNS = {
    "stream-small": ("stream", "--elements", "1003", "--type", "double", "--replications", "2"),
    "stream-large": ("stream", "--elements", "2000000"),
    "fft-small": ("fft", "--size", "3,9", "--batch", "5", "--replications", "2"),
    "fft-large": ("fft", "--size", "4,14", "--data", "2", "--type", "double", "--inverse"),
    "gemm-small": ("gemm", "--rows", "5", "--columns", "9", "--inner", "3"),
    "ceilings-small": (
        *("ceilings", "--size", "12", "--updates", "6", "--accumulators", "4096"),
        *("--only", "launch,flops/float,flops/matrix_half,memory,random,link"),
    ),
    "ceilings-large": ("ceilings", "--size", "24", "--only", "memory/write,memory/copy,link"),
    "gemm-large": ("gemm", "--size", "400", "--type", "double"),
    "ptrans-small": ("ptrans", "--transport", "staged", "--size", "67", "--block-size", "5"),
    "ptrans-large": (
        *("ptrans", "--transport", "staged", "--size", "512", "--block-size", "64"),
        *("--type", "double", "--no-overlap"),
    ),
    **{
        f"b_eff-{part}": ("b_eff", "--transport", "staged", "--part", part, "--max-size", "20")
        for part in ("read", "write", "launch")
    },
}
"""Benchmark and options, below and above the sizes of caches."""

PIPELINES = {
    "stream-pipeline": ("stream", "--elements", "1003", "--variant", "single_work_item"),
    "stream-library": ("stream", "--elements", "100000", "--variant", "library"),
    "fft-pipeline": ("fft", "--size", "3,6", "--batch", "7", "--variant", "single_work_item"),
    "gemm-pipeline": (
        *("gemm", "--size", "33", "--variant", "single_work_item", "--block-size", "16"),
        *("--replications", "2", "--type", "half"),
    ),
    "gemm-gpu-kernel": ("gemm", "--size", "100", "--kernel", "gpu"),
    "fft-gpu-kernel": ("fft", "--size", "6,13", "--batch", "7", "--kernel", "gpu"),
}
"""Forms that not every runtime has, tried on PoCL."""

LIBRARIES = {
    "fft": ("fft", "--size", "3,9", "--batch", "5", "--variant", "library"),
    "gemm": ("gemm", "--size", "65", "--variant", "library"),
}
"""Libraries' calls: FFTW and OpenBLAS, clFFT and CLBlast, oneMKL."""


def run(tmp_path: Path, device: str, *words: str, ranks: int = 1) -> tuple[int, dict]:
    """Exit status and record of a run."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    command, environment = launch_command(ranks, MUTANTS, *words, *quiet, "--repetitions", "2")
    if device == "pocl":
        environment |= vendor_environment(device, ranks)
    else:
        if device == "sycl":
            environment |= sycl_environment()
        else:
            needs_devices_of(device)
        command += ["--runtime", device]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert record.exists(), done.stderr
    return done.returncode, json.loads(record.read_text())


def assert_every_case_failed(status: int, record: dict) -> None:
    """Those that the device can do at all, of which there are some."""
    record["cases"] = [
        case for case in record["cases"] if case["outcome"]["status"] != "unsupported"
    ]
    assert record["cases"]
    assert_all_failed(status, record)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RUNS)
def test_operations_left_out_are_seen(tmp_path: Path, device: str, name: str) -> None:
    benchmark, *words = RUNS[name]
    assert_every_case_failed(*run(tmp_path, device, f"mutant-queues-{benchmark}", *words))


@pytest.mark.parametrize("device", ["pocl", pytest.param("sycl", marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", PIPELINES)
def test_operations_left_out_are_seen_in_other_forms(
    tmp_path: Path, device: str, name: str
) -> None:
    benchmark, *words = PIPELINES[name]
    assert_every_case_failed(*run(tmp_path, device, f"mutant-queues-{benchmark}", *words))


@pytest.mark.parametrize("device", ["native", "pocl", pytest.param("sycl", marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", LIBRARIES)
def test_calls_of_libraries_left_out_are_seen(tmp_path: Path, device: str, name: str) -> None:
    benchmark, *words = LIBRARIES[name]
    if device == "sycl":
        needs_onemkl()
    assert_every_case_failed(*run(tmp_path, device, f"mutant-queues-{benchmark}", *words))


UPDATE = {"copy_rows", "copy_block", "transpose_part", "invert", "pack_a", "pack_b", "multiply"}
SOLVE = {"solve_lower", "solve_upper", "subtract_product"}
AGREEMENT = {"copy", "search_column", "tell_candidate", "take_candidate", "eliminate"}
AT_ONCE = {"exchange_and_solve", "update_columns"}
PANELS = {
    ("1x1", "cpu"): {"factor_columns_alone", *AT_ONCE},
    ("1x1", "gpu"): {"factor_columns", *AT_ONCE},
    ("2x1", "cpu"): {*AGREEMENT, "solve_columns", "update_columns"},
}
"""HPL's kernels, by grid and device: a panel on several ranks agrees on its pivots."""


@pytest.mark.soak  # forty cases a grid
@pytest.mark.parametrize("size", ["60", "70"])  # at 70 the last panel is on one rank alone
@pytest.mark.parametrize(("grid", "kernel"), PANELS)
def test_a_launch_left_out_of_hpl_is_seen(
    tmp_path: Path, grid: str, kernel: str, size: str
) -> None:
    """Cases of kernels that the grid does not launch leave out nothing, and pass."""
    ranks = 1 if grid == "1x1" else 2
    words = ["--runtime", "opencl", "--transport", "staged", "--kernel", kernel]
    words += ["--grid", grid, "--size", size, "--block", "32"]
    status, record = run(tmp_path, "pocl", "mutant-launches-hpl", *words, ranks=ranks)
    failed = {c["key"] for c in record["cases"] if c["outcome"]["status"] == "failed"}
    passed = {c["key"] for c in record["cases"] if c["outcome"]["status"] == "passed"}
    kernels = UPDATE | SOLVE | PANELS[grid, kernel]
    assert failed == {c["key"] for c in record["cases"] if c["labels"]["omitted"] in kernels}
    assert len(failed) + len(passed) == len(record["cases"])
    assert {key.split("/")[0] for key in failed} == kernels
    assert status == 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RUNS)
def test_what_they_wrap_passes(tmp_path: Path, device: str, name: str) -> None:
    status, record = run(tmp_path, device, *RUNS[name])
    assert status == 0, [case["outcome"] for case in record["cases"]]
