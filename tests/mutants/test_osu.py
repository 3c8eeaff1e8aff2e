"""An MPI library made wrong on purpose, under OSU's tests: what is wrong comes out `failed`, at a byte, 8 KiB and 1 MiB."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command, preloaded, program

MUTANTS = program("plumb-mpi-mutants")
pytestmark = pytest.mark.skipif(not MUTANTS.exists(), reason="plumb-mpi-mutants is not built")

SIZES = (1, 8192, 1048576)
# Of each way to be wrong: the tests that must find it, with their options.
WRONG: dict[str, list[tuple[str, dict[str, str]]]] = {
    "flip-at-10": [("osu_latency", {}), ("osu_latency", {"type": "mpi_int"}), ("osu_bw", {})],
    "flip-at-90": [
        ("osu_latency", {}),
        ("osu_latency", {"type": "mpi_int"}),
        ("osu_latency", {"type": "mpi_float"}),
        ("osu_sendrecv", {}),
        ("osu_latency", {"type": "mpi_double"}),
        ("osu_bibw", {}),
        ("osu_mbw_mr", {}),
    ],
    "last-byte-missing": [("osu_latency", {}), ("osu_multi_lat", {})],
    "one-byte-too-many": [("osu_latency", {})],
    "every-100th-lost": [("osu_latency", {"iterations": "250"}), ("osu_bw", {"iterations": "10"})],
    "first-of-window": [
        ("osu_bw", {"buffer-num": "multiple"}),
        ("osu_mbw_mr", {"buffer-num": "multiple"}),
        ("osu_bibw", {}),
    ],
    "float-off": [
        ("osu_allreduce", {"type": "mpi_float"}),
        ("osu_reduce", {"type": "mpi_float"}),
    ],
    "element-off": [("osu_allreduce", {}), ("osu_reduce", {})],
    "rank-left-out": [("osu_allreduce", {}), ("osu_allreduce", {"type": "mpi_char"})],
    "reduced-elsewhere": [("osu_reduce_scatter", {})],
    "blocks-swapped": [("osu_alltoall", {})],
    "stale-rank": [("osu_bcast", {})],
    "own-block-missing": [("osu_allgather", {})],
    "gather-block-missing": [("osu_gather", {}), ("osu_gather", {"root-rank": "rotate"})],
    "root-block-for-all": [("osu_scatter", {})],
    "every-7th-call-nothing": [("osu_bcast", {"iterations": "20"})],
    "early-barrier": [("osu_barrier", {})],
    "early-ibarrier": [("osu_ibarrier", {})],
    "begun-not-done": [("osu_ibcast", {})],
    "old-data": [("osu_latency_persistent", {"iterations": "10"})],
    "old-collective": [
        ("osu_bcast_persistent", {"iterations": "10"}),
        ("osu_barrier_persistent", {"iterations": "10"}),
    ],
    "half-put": [("osu_put_latency", {}), ("osu_put_bw", {})],
    "early-flush": [
        ("osu_put_latency", {}),
        ("osu_put_bw", {}),
        ("osu_get_latency", {}),
        ("osu_acc_latency", {}),
    ],
    "get-of-others": [("osu_get_latency", {}), ("osu_get_bw", {})],
    "accumulated-twice": [("osu_acc_latency", {})],
    "fetches-new": [("osu_fop_latency", {})],
    "swaps-never": [("osu_cas_latency", {})],
    "holes-written": [("osu_latency", {"ddt": "vect:8:3"}), ("osu_alltoall", {"ddt": "vect:8:4"})],
    "holes-closed": [("osu_latency", {"ddt": "vect:4:2"})],
    "old-place": [("osu_latency", {"iterations": "20", "buffer-num": "rotate:1000000"})],
    "neighbours-swapped": [("osu_neighbor_alltoall", {})],
}
# OSU's own defects (numbers of the list in docs): in each, what is wrong above must be found by these tests.
DEFECTS = {
    # It compares the first quarter of a message of mpi_int.
    "O1": [("flip-at-90", "osu_latency", {"type": "mpi_int"})],
    # Its tolerance is of integers: less than 1 passes.
    "O2": [
        ("float-off", "osu_allreduce", {"type": "mpi_float"}),
        ("float-off", "osu_reduce", {"type": "mpi_float"}),
        ("flip-at-90", "osu_latency", {"type": "mpi_float"}),
    ],
    # Only the last of several buffers counts. (That none overlaps is below.)
    "O9": [
        ("first-of-window", "osu_bw", {"buffer-num": "multiple"}),
        ("first-of-window", "osu_mbw_mr", {"buffer-num": "multiple"}),
    ],
}
ONE_SIZE = (
    "osu_barrier",
    "osu_ibarrier",
    "osu_barrier_persistent",
    "osu_fop_latency",
    "osu_cas_latency",
)
WORDS = ("osu_allreduce", "osu_reduce", "osu_reduce_scatter", "osu_acc_latency")


def sizes_of(test: str, options: dict[str, str]) -> list[int | None]:
    """Bytes, as large as an element at least."""
    if test in ONE_SIZE:
        return [None]
    least = {"mpi_int": 4, "mpi_float": 4, "mpi_double": 8, "mpi_char": 1}
    standard = "mpi_int" if test in WORDS else "mpi_char"
    element = least[options.get("type", standard)]
    if "ddt" in options:  # two periods at least: one has a hole only at its end
        element = 16
    return [max(size, element * (2 if test == "osu_reduce_scatter" else 1)) for size in SIZES]


def wish(test: str, options: dict[str, str], size: int | None, wrong: str = "") -> dict:
    settings = {**options, **({} if size is None else {"message-size": f"{size}:{size}"})}
    settings.setdefault("iterations", "3")  # enough to differ, and no search for a loop's length
    if test in ("osu_bw", "osu_bibw", "osu_mbw_mr", "osu_put_bw", "osu_get_bw"):
        settings["window-size"] = "4"
    return {"benchmark": test, "transport": "mpi", "options": settings, "wrong_mpi": wrong}


def run_all(
    tmp_path: Path, ranks: int, wishes: list[dict], more: dict[str, str] | None = None
) -> list[dict]:
    """All in one launch: their outcomes."""
    listed = tmp_path / "runs.json"
    listed.write_text(json.dumps(wishes))
    command, environment = launch_command(ranks, MUTANTS, "--many", str(listed))
    environment.update(more or {})
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict, dict]]:
    """What each wrong library came out as, in one launch."""
    wishes = [
        wish(test, options, size, wrong)
        for wrong, tests in WRONG.items()
        for test, options in tests
        for size in sizes_of(test, options)
        # of a byte there is no half, and no other place that differs by sliding
        if not (wrong == "get-of-others" and size == 1)
    ]
    return list(zip(wishes, run_all(tmp_path_factory.mktemp("wrong"), 2, wishes), strict=True))


def test_a_wrong_library_fails(found: list[tuple[dict, dict]]) -> None:
    missed = [
        (one["wrong_mpi"], one["benchmark"], one["options"], outcome)
        for one, outcome in found
        if outcome["status"] != "failed" and not is_unsupported(outcome)
    ]
    assert not missed
    assert len(WRONG) >= 15


def test_only_the_end_of_an_operation_shows_an_early_flush(tmp_path: Path) -> None:
    """All is there in the end. After a local flush puts need not be, but gets must."""
    local = {"sync-option": "flush_local"}
    wishes = [
        wish(test, local, 8192, "early-flush") for test in ("osu_put_latency", "osu_get_latency")
    ]
    assert [outcome["status"] for outcome in run_all(tmp_path, 2, wishes)] == ["passed", "failed"]


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_osus(found: list[tuple[dict, dict]], defect: str) -> None:
    for wrong, test, options in DEFECTS[defect]:
        outcomes = [
            outcome["status"]
            for one, outcome in found
            if (one["wrong_mpi"], one["benchmark"]) == (wrong, test)
            and options.items() <= one["options"].items()
        ]
        assert outcomes == ["failed"] * len(SIZES), (wrong, test, options)


def test_a_defect_of_osus_o9_receives_overlap(tmp_path: Path) -> None:
    """Where active receives share memory this library spoils a message; none here do, also with one source."""
    wishes = [
        wish(test, {"buffer-num": buffers}, 8192, "receives-overlap")
        for test in ("osu_bw", "osu_bibw", "osu_mbw_mr")
        for buffers in ("single", "multiple")
    ]
    outcomes = run_all(tmp_path, 2, wishes)
    assert [outcome["status"] for outcome in outcomes] == ["passed"] * len(wishes)


COLLECTIVES = (
    "osu_allreduce",
    "osu_alltoall",
    "osu_bcast",
    "osu_allgather",
    "osu_gather",
    "osu_scatter",
)
# Of those above, with buffers on devices of PoCL through libplumb-mpi-device.
ON_DEVICES = {
    "flip-at-10": ["osu_latency", "osu_bw"],
    "flip-at-90": ["osu_latency", "osu_bibw"],
    "last-byte-missing": ["osu_latency"],
    "one-byte-too-many": ["osu_latency"],
    "every-100th-lost": ["osu_bw"],
    "first-of-window": ["osu_bw"],
    "element-off": ["osu_allreduce"],
    "rank-left-out": ["osu_allreduce"],
    "blocks-swapped": ["osu_alltoall"],
    "stale-rank": ["osu_bcast"],
    "own-block-missing": ["osu_allgather"],
    "gather-block-missing": ["osu_gather"],
    "root-block-for-all": ["osu_scatter"],
    "every-7th-call-nothing": ["osu_bcast"],
    "half-put": ["osu_put_latency"],
    "early-flush": ["osu_put_latency", "osu_get_bw"],
    "get-of-others": ["osu_get_bw"],
    "accumulated-twice": ["osu_acc_latency"],
    "never-touches": [
        "osu_latency",
        "osu_put_latency",
        "osu_allreduce",
    ],  # the last: touches are counted on
}


def test_a_wrong_library_under_buffers_of_devices_fails(tmp_path: Path) -> None:
    library = MUTANTS.parent.parent / "lib" / "libplumb-mpi-device.so"
    if not library.exists():
        pytest.skip("libplumb-mpi-device is not built")
    wishes = []
    right = ("", ["osu_latency", "osu_alltoall", "osu_put_latency", "osu_get_bw"])
    for wrong, tests in [right, *ON_DEVICES.items()]:
        for test in tests:
            on_pairs = test not in COLLECTIVES
            options = {"where": "D,D"} if on_pairs else {"device-runtime": "opencl"}
            more = {**options, "iterations": "8"}
            sizes = sizes_of(test, {})[1 if wrong == "get-of-others" else 0 :]  # see above
            wishes += [wish(test, more, size, wrong) for size in sizes]
    found = run_all(
        tmp_path, 2, wishes, {"LD_PRELOAD": preloaded(library), "PLUMB_MPI_RUNTIME": "opencl"}
    )
    assert len(found) == len(wishes)
    if all(is_unsupported(outcome) for outcome in found):
        pytest.skip(found[0]["outcomes"][0]["reason"])
    for one, outcome in zip(wishes, found, strict=True):
        right = {"": {"passed"}, "early-flush": {"failed", "error"}}  # the error: above the roof
        assert outcome["status"] in right.get(one["wrong_mpi"], {"failed"}), (one, outcome)
    assert len(ON_DEVICES) >= 15


def test_a_barrier_that_does_not_wait_for_one_rank_fails(tmp_path: Path) -> None:
    wishes = [wish("osu_barrier", {}, None, wrong) for wrong in ("last-leaves-early", "")]
    assert [outcome["status"] for outcome in run_all(tmp_path, 3, wishes)] == ["failed", "passed"]


def is_unsupported(outcome: dict) -> bool:
    """What this library lacks (persistent collectives)."""
    return all(one["status"] == "unsupported" for one in outcome["outcomes"])


def test_the_right_library_passes(tmp_path: Path) -> None:
    """At the same sizes, so that it is what is wrong that fails."""
    wishes = [
        wish(test, options, size)
        for tests in WRONG.values()
        for test, options in tests[:1]
        for size in sizes_of(test, options)[:2]
    ]
    for one, outcome in zip(wishes, run_all(tmp_path, 2, wishes), strict=True):
        assert outcome["status"] == "passed" or is_unsupported(outcome), (one, outcome)
