"""Devices that fail in some repetitions only: no result of an earlier repetition may pass for theirs.

``mutant-repetitions-NAME`` has each case of a benchmark three times: over a device to which nothing is
given after the first repetition (``stale``), which gives nothing back either (``dead``), and which does
nothing in the third of four repetitions (``middle``), the fastest by its clock. On several ranks one of
them does so alone (``rank``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, run

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

OF_STRINGS = (
    *("--variant", "device", "--runtime", "opencl", "--scale", "8", "--minimum-score", "9"),
)
RUNS = {
    "stream": ("--elements", "1003"),
    "fft": ("--size", "3,9", "--batch", "5"),
    "ceilings": ("--size", "12", "--updates", "6", "--accumulators", "4096"),
    "random_access": ("--size", "10"),
    "b_eff-read": ("--transport", "staged", "--part", "read", "--max-size", "4"),
    "b_eff-write": ("--transport", "staged", "--part", "write", "--max-size", "4"),
    "ptrans": ("--transport", "staged", "--size", "67", "--block-size", "5"),
    "gemm": ("--size", "33"),
    "gemm-without-c": ("--size", "33", "--beta", "0"),
    "gemm-library": ("--size", "33", "--variant", "library"),
    "links-relay": ("--part", "relay", "--sizes", "8,4096"),
    "links-copy": ("--part", "copy", "--sizes", "8,4096"),
    "mpi_fft": ("--transport", "staged", "--size", "8"),
    "hpl": ("--runtime", "opencl", "--size", "96", "--block", "16"),
    "shallow_water": ("--steps", "5", "--size", "0"),
    "npb_is": ("--class", "S", "--variant", "device", "--runtime", "opencl"),
    "npb_mg": ("--class", "S", "--variant", "device", "--runtime", "opencl"),
    "ssca1-tiles": (*OF_STRINGS, "--form", "tiles"),
    "ssca1-strips": (*OF_STRINGS, "--form", "strips"),
}
RIGHT = ("stale/link/read", "stale/natural/read")
"""Only reads from the device are timed here, and these it does."""


@pytest.mark.parametrize("name", RUNS)
def test_repetitions_left_out_are_seen(tmp_path: Path, name: str) -> None:
    benchmark = "mutant-repetitions-" + name.partition("-")[0]
    runtime = () if "--runtime" in RUNS[name] else ("--runtime", "native")
    words = (*RUNS[name], *runtime, "--repetitions", "3", "--sync", "barrier")
    _, record = run(tmp_path, 1, benchmark, *words)
    outcomes = {
        case["key"]: case["outcome"]["status"]
        for case in record["cases"]
        if case["outcome"]["status"] != "unsupported"
    }
    assert {key.partition("/")[0] for key in outcomes} == {"stale", "dead", "middle"}
    for key, status in outcomes.items():
        assert status == ("passed" if key.startswith(RIGHT) else "failed"), key


def test_a_repetition_left_out_by_one_rank_is_seen(tmp_path: Path) -> None:
    """It is not the slowest."""
    words = ("--elements", "1003", "--runtime", "native", "--repetitions", "3", "--sync", "barrier")
    _, record = run(tmp_path, 2, "mutant-repetitions-stream", *words)
    outcomes = [
        case["outcome"]["status"] for case in record["cases"] if case["key"].startswith("rank/")
    ]
    assert outcomes
    assert set(outcomes) == {"failed"}


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_searches_left_out_are_seen(tmp_path: Path, kernel: str) -> None:
    """Each search of graph500 runs once: here they are repetitions of each other."""
    words = ("--variant", "device", "--runtime", "opencl", "--scale", "8", "--roots", "3")
    words += ("--kernel", kernel)
    _, record = run(tmp_path, 1, "mutant-repetitions-graph500", *words)
    passed = {case["key"] for case in record["cases"] if case["outcome"]["status"] == "passed"}
    right = {"stale": (0,), "dead": (0,), "middle": (0, 1)}
    assert passed == {f"{way}/{kernel}/device/{i}" for way, those in right.items() for i in those}
