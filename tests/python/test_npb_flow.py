"""npb_bt, npb_sp and npb_lu through the engine: forms and ranks, volumes, bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.launching import PATIENCE_S, launch_command, program, record_of_killed

ENGINE = program("plumb-mpi")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")
FLOWS = ("npb_bt", "npb_sp", "npb_lu")
SMALL = ("--grid", "13", "--iterations", "3", "--dt", "0.004")


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none", "--repetitions", "1", "--format", "none"]
    command, environment = launch_command(ranks, ENGINE, *words, *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


def metrics(case: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in case["metrics"]}


@pytest.mark.parametrize("benchmark", FLOWS)
def test_official_values_are_reached(tmp_path: Path, benchmark: str) -> None:
    status, record, said = run(
        tmp_path, 2, benchmark, "--class", "S", "--form", "two-sided", "--repetitions", "1"
    )
    assert status == 0, said
    assert record["cases"][0]["labels"]["class"] == "S"
    assert record["cases"][0]["validation"]["error"] < 1e-8


@pytest.mark.parametrize(("ranks", "slabs"), [(1, 0), (3, 4), (4, 3)])
@pytest.mark.parametrize("benchmark", FLOWS)
def test_volumes_are_those_of_the_formula(
    tmp_path: Path, benchmark: str, ranks: int, slabs: int
) -> None:
    status, record, said = run(tmp_path, ranks, benchmark, *SMALL)
    assert status == 0, said
    assert [case["labels"]["form"] for case in record["cases"]] == [
        "two-sided",
        "signal",
        "barrier",
    ]
    if benchmark == "npb_lu":
        slabs = {1: 0, 3: 2, 4: 2}[ranks]
    carried = {"npb_bt": 35, "npb_sp": 32, "npb_lu": 10}[benchmark]
    # 3 ranks: two axes of three slabs; 4: three of two. LU: 12 of each pair of pencils, both ways.
    messages = {1: 0, 3: 48, 4: 96} if benchmark == "npb_lu" else {1: 0, 3: 36, 4: 48}
    for case in record["cases"]:
        found = metrics(case)
        assert found["bytes_sent"] == slabs * 8 * (carried * 11**2 + 20 * 13**2)
        assert found.get("bytes_by_formula", 0) == found["bytes_sent"]
        assert found.get("messages_by_formula", 0) == found["messages_sent"] == messages[ranks]
        assert (found["exposed_share"] > 0) or ranks == 1
        assert set(found) >= {"exch_exposed", "rhs_mean", "add_largest"}


@pytest.mark.parametrize(("benchmark", "form"), [("npb_bt", "two-sided"), ("npb_lu", "signal")])
def test_a_rank_killed_in_a_sweep_ends_the_run(tmp_path: Path, benchmark: str, form: str) -> None:
    """Most of a minute of steps is sweeps."""
    words = ("--grid", "16", "--iterations", "1000000", "--dt", "1e-5", "--form", form)
    record = record_of_killed(tmp_path, 2, benchmark, *words)
    assert record["cases"] == []


def test_a_killed_rank_leaves_the_finished_cases(tmp_path: Path) -> None:
    """Three forms, none precise enough before its time; the others have 8 s left."""
    words = ("--class", "S", "--time-limit", "4", "--confidence", "1e-6")
    record = record_of_killed(
        tmp_path, 2, "npb_sp", *words, "--max-repetitions", "1000000", finished=1
    )
    assert record["status"] in ("running", "aborted")
    assert 1 <= len(record["cases"]) < 3
    assert record["cases"][0]["outcome"]["status"] == "passed"


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (7, ["npb_bt", "--class", "S"], "6 ranks fit, and no more than 36"),
        (7, ["npb_lu", "--class", "S"], "6 ranks fit, and no more than 36"),
        (1, ["npb_sp", "--grid", "5"], "--grid must be at least 6, not 5"),
        (1, ["npb_bt", "--class", "X"], "--class"),
        (1, ["npb_bt", "--dt", "-1"], "--dt"),
        (1, ["npb_lu", "--threads", "2"], "--threads"),
        (1, ["npb_sp", "--grid", "1024"], "memory"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, ranks: int, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, ranks, *words)
    assert status == 2, said
    assert sentence in said
