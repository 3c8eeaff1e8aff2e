"""noise whose quanta are not the work that they should be, and benchmarks that are right and wait."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command
from tests.mutants.test_mutants import MUTANTS, assert_all_failed

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SIZES = {
    "small": ("--steps", "7", "--slice", "3", "--slices", "9", "--message", "3", "--rounds", "2", "--quanta", "9"),
    "usual": ("--slices", "8", "--rounds", "8", "--quanta", "8"),
}  # fmt: skip
WRONG = ("nothing", "half", "all-but-one", "leaves-quanta-out", "first-only")
OVER_LINKS = ("flip-50", "stale", "last-byte", "nothing", "half", "last-only", "every-second")


def run(
    tmp_path: Path, ranks: int, *words: str, repetitions: int = 2, **variables: str
) -> tuple[int, dict]:
    """Exit status and record of a run of the mutants' program."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    fixed = ["--repetitions", str(repetitions), "--runtime", "native"]
    command, environment = launch_command(ranks, MUTANTS, *words, *quiet, *fixed)
    done = subprocess.run(
        command,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert record.exists(), done.stderr
    return done.returncode, json.loads(record.read_text())


@pytest.mark.parametrize(
    ("name", "size"), [*((name, "small") for name in WRONG), ("leaves-quanta-out", "usual")]
)
def test_quanta_left_out_are_seen(tmp_path: Path, name: str, size: str) -> None:
    assert_all_failed(*run(tmp_path, 2, f"mutant-noise-{name}", *SIZES[size]))


@pytest.mark.parametrize("name", OVER_LINKS)
def test_wrong_links_are_seen(tmp_path: Path, name: str) -> None:
    words = ("noise", *SIZES["usual"], "--transport", f"mutant-{name}-mpi")
    status, record = run(tmp_path, 2, *words)
    outcomes = {case["key"]: case["outcome"]["status"] for case in record["cases"]}
    assert (status, outcomes) == (1, {"core": "passed", "memory": "passed", "link": "failed"})


@pytest.mark.parametrize(("ranks", "cases"), [(1, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("size", SIZES)
def test_what_they_wrap_passes(tmp_path: Path, size: str, ranks: int, cases: int) -> None:
    status, record = run(tmp_path, ranks, "noise", *SIZES[size])
    assert (status, len(record["cases"])) == (0, cases), [c["outcome"] for c in record["cases"]]
    for case in record["cases"]:
        told = [name for name in case["tallies_by_rank"] if name.startswith("detours/")]
        quanta = case["count"] * case["repetitions"]
        by_rank = [
            sum(case["tallies_by_rank"][name][rank] for name in told) for rank in range(ranks)
        ]
        paired = ranks if case["key"] != "link" else ranks // 2 * 2
        assert by_rank == [quanta if rank < paired else 0 for rank in range(ranks)]


# --- benchmarks that wait ---------------------------------------------------------------------------

WAITING = {
    "stream": ("stream", "--elements", "4096"),
    "gemm": ("gemm", "--size", "40"),
    "fft": ("fft", "--size", "5", "--batch", "40"),
    "random_access": ("random_access", "--size", "12"),
    "b_eff": ("b_eff", "--max-size", "2", "--transport", "mpi"),
    "ptrans": ("ptrans", "--size", "64", "--block-size", "8", "--transport", "mpi"),
    "noise": ("noise", *SIZES["usual"]),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_right_under_its_own_name(tmp_path: Path, name: str) -> None:
    where = {"b_eff": "transport", "ptrans": "transport", "noise": "run"}.get(name, "queue")
    status, record = run(tmp_path, 2, *WAITING[name], PLUMBLINE_MUTANT_WAITS=f"{where}:50")
    assert status == 0, [case["outcome"] for case in record["cases"]]
    assert record["benchmark"]["name"] == name


def test_waiting_needs_a_place_and_a_share() -> None:
    for text in ("kernel", "queue", "queue:", "queue:x", "run:-1", "queue:nan"):
        done = subprocess.run(
            [str(MUTANTS), "--version"],
            env={**os.environ, "PLUMBLINE_MUTANT_WAITS": text},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, text
        assert done.stderr.startswith(
            "error: PLUMBLINE_MUTANT_WAITS must be queue, transport, kernel"
        )


def test_only_the_cases_named_wait(tmp_path: Path) -> None:
    """A wait of thirty times the work is seen in the best of six, whatever the load."""
    words = ("stream", "--elements", "4096")
    waits = {"PLUMBLINE_MUTANT_WAITS": "run:3000:copy"}
    _, record = run(tmp_path, 1, *words, repetitions=6, **waits)
    best = {c["key"]: c["summary"]["min_s"] / c["count"] for c in record["cases"]}
    copies = [seconds for key, seconds in best.items() if key.startswith("copy")]
    others = [seconds for key, seconds in best.items() if not key.startswith("copy")]
    assert min(copies) > 3 * min(others)
