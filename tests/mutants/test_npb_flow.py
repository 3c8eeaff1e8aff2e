"""npb_bt, npb_sp, npb_lu: wrong numbers, parts and messages come out ``failed``, and what is right passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SCHEMES = ("six-for-five", "no-products", "no-diffusion", "other-time")
BETWEEN_RANKS = ("old-margins", "stale-carry")
OF_CLASS = ("step-fewer", "no-number", "wrong-point")  # shown by the official values alone
WRONG = {
    "npb_bt": (*SCHEMES, "stretch-left-out", "last-tile-kept"),
    "npb_sp": (*SCHEMES, "last-tile-kept"),
    "npb_lu": (*SCHEMES, "stretch-left-out", "upper-ascends"),
}
SMALL = {"grid": "9", "iterations": "2", "dt": "0.005"}


def run_of(benchmark: str, options: dict[str, str]) -> Run:
    return {"benchmark": benchmark, "transport": "mpi", "options": options}


def assert_outcomes(tmp_path: Path, ranks: int, runs: list[tuple[Run, str]]) -> None:
    found = launch(tmp_path, ranks, [run for run, _ in runs])
    problems = [
        (run, one)
        for (run, should), one in zip(runs, found, strict=True)
        if not one["outcomes"] or {outcome["status"] for outcome in one["outcomes"]} != {should}
    ]
    assert not problems


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_seeded_step_shows_what_is_wrong(tmp_path: Path, ranks: int) -> None:
    runs = []
    for benchmark, names in WRONG.items():
        for form in ("two-sided", "signal", "barrier") if ranks == 3 else ("signal",):
            options = {**SMALL, "form": form}
            for name in (*names, *(BETWEEN_RANKS if ranks > 1 else ())):
                runs.append((run_of(f"mutant-{benchmark}-{name}", options), "failed"))
            runs.append((run_of(benchmark, options), "passed"))
    assert_outcomes(tmp_path, ranks, runs)


@pytest.mark.parametrize("ranks", [1, 2])
def test_official_values_show_what_is_wrong(tmp_path: Path, ranks: int) -> None:
    options = {"class": "S", "form": "two-sided"}
    runs = [
        (run_of(f"mutant-{benchmark}-{name}", options), "failed")
        for benchmark in WRONG
        for name in OF_CLASS
    ]
    assert_outcomes(tmp_path, ranks, runs + [(run_of(one, options), "passed") for one in WRONG])
