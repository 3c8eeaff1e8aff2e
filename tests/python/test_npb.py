"""The NPB through the engine: classes on any number of ranks, forms, volumes, the official text, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from tests.launching import PATIENCE_S, ROOT, launch_command, program

ENGINE = program("plumb-mpi")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")


def run(
    tmp_path: Path, ranks: int, *words: str, engine: Path = ENGINE
) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none", "--repetitions", "1"]
    command, environment = launch_command(ranks, engine, *words, *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


def metrics(case: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in case["metrics"]}


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("benchmark", ["npb_is", "npb_mg"])
def test_every_form_agrees_with_the_official_values(
    tmp_path: Path, benchmark: str, ranks: int
) -> None:
    status, record, said = run(tmp_path, ranks, benchmark, "--class", "S", "--format", "none")
    assert status == 0, said
    assert [case["key"] for case in record["cases"]] == ["S/two-sided", "S/signal", "S/barrier"]
    for case in record["cases"]:
        found = metrics(case)
        assert 0 <= found["exposed_share"] <= 100
        assert found["messages_sent"] == pytest.approx(found.get("messages_by_formula", 0))
        assert (found["messages_sent"] > 0) == (ranks > 1)
        if benchmark == "npb_mg" and ranks > 1:
            assert found["bytes_sent"] == pytest.approx(found["bytes_by_formula"])
        if benchmark == "npb_is" and ranks > 1:  # whole buckets: not exactly a share
            assert found["bytes_sent"] == pytest.approx(found["bytes_by_formula"], rel=0.1)


@pytest.mark.parametrize("benchmark", ["npb_is", "npb_mg", "npb_sp"])
def test_forms_run_over_openshmem(tmp_path: Path, benchmark: str) -> None:
    shmem = program("plumb-shmem")
    if not shmem.exists():
        pytest.skip("there is no plumb-shmem")
    words = (benchmark, "--class", "S", "--format", "none")
    status, record, said = run(tmp_path, 2, *words, engine=shmem)
    assert status == 0, said
    assert [(case["key"], case["outcome"]["status"]) for case in record["cases"]] == [
        (f"S/{form}", "passed") for form in ("two-sided", "signal", "barrier")
    ]
    for case in record["cases"]:
        found = metrics(case)
        assert found["messages_sent"] == pytest.approx(found["messages_by_formula"])


@pytest.mark.skipif(not runtimes.is_installed("pocl", find_home()), reason="PoCL is not installed")
def test_devices_send_as_much(tmp_path: Path) -> None:
    words = ("npb_mg", "--class", "S", "--variant", "device", "--format", "none")
    status, record, said = run(tmp_path, 2, *words)
    assert status == 0, said
    (case,) = record["cases"]
    assert (case["key"], case["outcome"]["status"]) == ("S/device", "passed")
    found = metrics(case)
    assert found["bytes_sent"] == pytest.approx(found["bytes_by_formula"])
    assert found["messages_sent"] == pytest.approx(found["messages_by_formula"])


@pytest.mark.parametrize(
    ("benchmark", "reason"),
    [("npb_ep", "the baseline of processes without messages")]
    + [
        (name, "their lines and sweeps depend row by row")
        for name in ("npb_bt", "npb_sp", "npb_lu")
    ],
)
def test_those_without_kernels_say_why(tmp_path: Path, benchmark: str, reason: str) -> None:
    words = (benchmark, "--class", "S", "--variant", "device", "--runtime", "native")
    status, record, said = run(tmp_path, 1, *words, "--format", "none")
    assert status == 0, said
    (case,) = record["cases"]
    assert (case["key"], case["outcome"]["status"]) == ("S/device", "unsupported")
    assert reason in case["outcome"]["reason"]


def test_pairs_are_spread_over_any_ranks(tmp_path: Path) -> None:
    status, record, said = run(
        tmp_path, 3, "npb_ep", "--log2-pairs", "19", "--class", "S", "--format", "none"
    )
    assert status == 0, said
    assert record["cases"][0]["labels"]["class"] == "U"


def test_the_official_text_is_laid_out_as_ever(tmp_path: Path) -> None:
    status, _, said = run(
        tmp_path, 2, "npb_is", "--class", "S", "--form", "signal", "--format", "npb"
    )
    assert status == 0, said
    lines = said[said.index(" IS Benchmark Completed") :].splitlines()
    assert lines[1] == " Class           =                        S"
    assert lines[2] == " Size            =                    65536"
    assert lines[3] == " Iterations      =                       10"
    assert lines[5] == " Total processes =                        2"
    assert lines[9] == " Operation type  =              keys ranked"
    assert lines[10] == " Verification    =               SUCCESSFUL"
    assert all(len(line) == 43 for line in lines[1:12])


@pytest.mark.parametrize(
    ("ranks", "words", "reason"),
    [
        (1, ("npb_mg", "--class", "D"), "must be one of"),
        (1, ("npb_mg", "--grid", "33"), "power of two"),
        (1, ("npb_mg", "--grid", "4"), "at least 8"),
        (5, ("npb_mg", "--grid", "8"), "at most 4 ranks"),
        (1, ("npb_is", "--log2-max-key", "33"), "32 bits"),
        (1, ("npb_is", "--log2-keys", "3"), "too few"),
        (1, ("npb_is", "--threads", "2"), "threads"),
        (1, ("npb_ep", "--form", "signal"), "npb_ep sends no messages: omit --form"),
        (1, ("npb_mg", "--variant", "device", "--form", "signal"), "sends by a transport"),
        (1, ("npb_is", "--variant", "device", "--runtime", "native"), "compiles kernels"),
        (1, ("npb_mg", "--variant", "device", "--tile", "64x4"), "must be five numbers"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, ranks: int, words: tuple[str, ...], reason: str
) -> None:
    status, record, said = run(tmp_path, ranks, *words)
    assert status == 2, said
    assert not record
    assert reason in said


def test_a_folder_without_programs_of_npb_is_refused(tmp_path: Path) -> None:
    for folder, reason in (("nowhere", "no such folder"), ("", "has no is.A.x")):
        words = ("--npb", str(tmp_path / folder), "is")
        done = subprocess.run(
            [sys.executable, str(ROOT / "bench" / "npb.py"), *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 1
        assert reason in done.stderr


def test_too_small_a_symmetric_heap_is_refused_with_the_figure(tmp_path: Path) -> None:
    shmem = program("plumb-shmem")
    if not shmem.exists():
        pytest.skip("there is no plumb-shmem")
    words = ("npb_is", "--class", "C", "--form", "signal", "--record", "none")
    command, environment = launch_command(2, shmem, *words)
    done = subprocess.run(
        command,
        env={**environment, "SHMEM_SYMMETRIC_HEAP_SIZE": "16M"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "each PE needs 128.9 MiB of symmetric memory" in done.stderr


def test_one_sided_forms_need_their_memory(tmp_path: Path) -> None:
    serial = program("plumb-serial")
    done = subprocess.run(
        [str(serial), "npb_is", "--class", "S", "--form", "signal", "--record", "none"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "memory that other ranks reach" in done.stderr
