"""Functions of OpenSHMEM made wrong on purpose come out `failed`; the right ones pass on any number of PEs."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command, program

MUTANTS = program("plumb-shmem-mutants")
PROGRAM = program("plumb-shmem")
MOVERS = "long_p-last-element,long_get-flip,long_put-all-but-one"
DROPS = ("only", "every-second", "lost", "all-but", "count-mod")
ALONE = "test_lock-always-free"  # hangs after a lock that does not lock
SMALL = ["--minsize", "64", "--maxsize", "64"]

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="plumb-shmem-mutants is not built (no OpenSHMEM, or no make build)"
)


def run(tmp_path: Path, pes: int, path: Path, *words: str) -> tuple[int, dict]:
    """Runs a program on some PEs; gives its exit status and its record."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    limits = ["--time-limit", "0.002", "--min-repetitions", "6", "--max-repetitions", "6"]
    command, environment = launch_command(pes, path, *words, *quiet, *limits)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert record.exists(), done.stderr
    assert done.returncode < 128, done.stderr
    return done.returncode, json.loads(record.read_text())


@cache
def rows_of(benchmark: str) -> list[str]:
    """The tests of a benchmark of wrong rows (those with -passes- in their names are right)."""
    words = ["--only", "*", *SMALL, "--ranks", "2", "--dry-run", "--format", "json"]
    command = [str(MUTANTS), benchmark, *words]
    planned = subprocess.run(command, capture_output=True, text=True, check=True)
    return [case["labels"]["test"] for case in json.loads(planned.stdout)["planned"]]


def names_of(benchmark: str, dropped: bool, passing: bool = False) -> list[str]:
    """Tests with rows that leave operations out, or with other wrong rows; or the right ones."""
    return [
        name
        for name in rows_of(benchmark)
        if any(word in name for word in DROPS) == dropped
        and ("-passes-" in name) == passing
        and name != ALONE
    ]


def assert_all_failed(status: int, record: dict, names: list[str]) -> None:
    assert status == 1
    assert [case["labels"]["test"] for case in record["cases"]] == names
    right = {
        case["key"]: case["outcome"]
        for case in record["cases"]
        if case["outcome"]["status"] != "failed" or not case["outcome"]["reason"]
    }
    assert not right


@pytest.mark.parametrize(
    ("benchmark", "dropped", "fewest"),
    [("wrong-shoms", False, 20), ("wrong-shoms", True, 18), ("wrong-osu", True, 15)],
)
def test_wrong_rows_fail(tmp_path: Path, benchmark: str, dropped: bool, fewest: int) -> None:
    names = names_of(benchmark, dropped)
    assert len(names) >= fewest
    words = [benchmark, "--only", ",".join(names), *SMALL, *(["--window", "64"] if dropped else [])]
    assert_all_failed(*run(tmp_path, 2, MUTANTS, *words), names)


def test_a_lock_that_is_always_free_fails(tmp_path: Path) -> None:
    assert_all_failed(*run(tmp_path, 2, MUTANTS, "wrong-shoms", "--only", ALONE, *SMALL), [ALONE])


@pytest.mark.parametrize("window", ["1", "3"])
@pytest.mark.parametrize("size", ["8", "4096"])
def test_an_operation_left_out_fails(tmp_path: Path, size: str, window: str) -> None:
    """In the middle of a sample, at sizes whose places follow each other, or slide."""
    name = "long_put-all-but-one"
    words = ["--only", name, "--minsize", size, "--maxsize", size, "--window", window]
    assert_all_failed(*run(tmp_path, 3, MUTANTS, "wrong-shoms", *words), [name])


def test_wrong_rows_fail_over_scattered_places(tmp_path: Path) -> None:
    words = ["--only", MOVERS, "--spread", "16", "--window", "64", *SMALL]
    status, record = run(tmp_path, 2, MUTANTS, "wrong-shoms", *words)
    assert_all_failed(status, record, [n for n in rows_of("wrong-shoms") if n in MOVERS.split(",")])


def test_a_library_that_completes_late_passes(tmp_path: Path) -> None:
    names = names_of("wrong-shoms", dropped=False, passing=True)
    assert len(names) == 3
    words = ["wrong-shoms", "--only", ",".join(names), *SMALL, "--window", "16"]
    status, record = run(tmp_path, 2, MUTANTS, *words)
    assert status == 0, [case["outcome"] for case in record["cases"]]
    for case in record["cases"]:
        assert case["facts"]["completion"].startswith("seen ")


def test_all_pes_came_between_each_other(tmp_path: Path) -> None:
    """Atomicity was tried as often as is wanted, which the record says."""
    status, record = run(
        tmp_path, 3, PROGRAM, "shoms", "--only", "long_fadd,long_add,ulong_atomic_or"
    )
    assert status == 0
    for case in record["cases"]:
        proven = case["facts"]["overlaps"] >= 32
        assert proven != case["facts"].get("atomicity", "").startswith("not proven")


def assert_sound(status: int, record: dict) -> None:
    """Every case passed, or this library lacks its function."""
    wrong = {
        case["key"]: case["outcome"]
        for case in record["cases"]
        if case["outcome"]["status"] not in ("passed", "unsupported")
    }
    assert not wrong
    assert status == 0


FEW = "long_put,long_iget,long_sum_to_all,broadcast32,alltoall64,long_fadd,long_wait,set_lock,barrier_all"
MORE = f"{FEW},long_*,longdouble_*,put128,ctx_long_p,ctx_long_get,*collect32,alltoalls32,sync_all,barrier,*_lock,sh*,init"


SCATTERED = "long_p,long_g,long_put,long_get,long_iput,long_get_nbi,ctx_long_put,ulong_atomic_*"


@pytest.mark.parametrize("words", [["--spread", "6"], ["--spread", "17", "--window", "64"]])
def test_right_rows_pass_over_scattered_places(tmp_path: Path, words: list[str]) -> None:
    assert_sound(*run(tmp_path, 3, PROGRAM, "shoms", "--only", SCATTERED, *words, *SMALL))


@pytest.mark.parametrize(("pes", "rows"), [(3, MORE), (4, FEW)])
def test_right_rows_pass(tmp_path: Path, pes: int, rows: str) -> None:
    assert_sound(*run(tmp_path, pes, PROGRAM, "shoms", "--only", rows, *SMALL))


@pytest.mark.parametrize("pes", [2, pytest.param(3, marks=pytest.mark.soak)])
def test_every_row_passes(tmp_path: Path, pes: int) -> None:
    """After barriers: where cores are shared, starts at an agreed time are set ever later."""
    words = ("--tests", "all", "--sync", "barrier")
    status, record = run(tmp_path, pes, PROGRAM, "shoms", *words, *SMALL)
    assert_sound(status, record)
    tests = {case["labels"]["test"] for case in record["cases"]}
    assert len(tests) > 400
    named = "int_p longdouble_iget put128 longlong_prod_to_all collect64 swap int_cswap test_lock"
    assert tests >= {*named.split(), "local_read", "shmalloc", "init", "finalize", "barrier_all"}


def test_osu_passes(tmp_path: Path) -> None:
    status, record = run(tmp_path, 2, PROGRAM, "osu_shmem", "--minsize", "8", "--maxsize", "8")
    assert_sound(status, record)
    assert len({case["labels"]["test"] for case in record["cases"]}) == 19


def test_threads_pass(tmp_path: Path) -> None:
    words = ["shoms", "--threads", "2", "--only", "long_put,long_get,long_fadd,ctx_long_p", *SMALL]
    assert_sound(*run(tmp_path, 2, PROGRAM, *words))
