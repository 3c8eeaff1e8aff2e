"""OSU's tests over MPI: every one runs and is checked, by its own name and together; their text; what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plumbline.base.errors import ExitStatus
from tests.launching import PATIENCE_S, launch_command, program

Plumb = Callable[..., tuple[int, str, str]]
PROGRAM = program("plumb-mpi")
QUICK = ["--progress", "none", "--time-limit", "0.002", "--min-repetitions", "6"]
QUICK += ["--max-repetitions", "6"]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="plumb-mpi is not built")

COLLECTIVES = [
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier"),
    *("bcast", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scatter", "scatterv"),
]


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, str, str, list[dict]]:
    """Runs plumb-mpi on some ranks: its exit status, its output and the cases of its record."""
    record = tmp_path / "record.json"
    record.unlink(missing_ok=True)
    command, environment = launch_command(ranks, PROGRAM, *words, *QUICK, "--record", str(record))
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    cases = json.loads(record.read_text())["cases"] if record.exists() else []
    return done.returncode, done.stdout, done.stderr, cases


def refused(cases: list[dict]) -> dict[str, str]:
    return {c["key"]: c["outcome"]["reason"] for c in cases if c["outcome"]["status"] != "passed"}


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_test_passes(tmp_path: Path, ranks: int) -> None:
    """At sizes whose messages lie apart, and at ones whose messages slide."""
    words = ["osu", "--minsize", "16", "--maxsize", "4096", "--size-factor", "256"]
    status, _, err, cases = run(tmp_path, ranks, *words, "--format", "none")
    assert not refused(cases), err
    assert status == 0
    tests = {case["labels"]["test"] for case in cases}
    assert tests >= {f"osu_{name}" for name in COLLECTIVES} | {f"osu_i{n}" for n in COLLECTIVES}
    assert ("osu_latency" in tests) == (ranks == 2)


def test_text_is_osus(tmp_path: Path) -> None:
    words = ["osu_allreduce", "-m", "4:8", "-f", "-c", "--format", "osu"]
    status, out, err, _ = run(tmp_path, 2, *words)
    assert status == 0, err
    lines = out.splitlines()
    assert lines[:4] == [
        "",
        "# OSU MPI Allreduce Latency Test v7.5",
        "# Datatype: MPI_INT.",
        (
            "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
            "        Validation"
        ),
    ]
    assert [line.split()[0] for line in lines[4:]] == ["4", "8"]
    assert all(len(line) == len(lines[3]) and line.endswith("Pass") for line in lines[4:])


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (3, ["osu_latency"], "osu_latency: it is between two ranks, not 3"),
        (3, ["osu_mbw_mr"], "it needs an even number of ranks, not 3"),
        (2, ["osu_mbw_mr", "-p", "2"], "--pairs 2 needs 4 ranks, not 2"),
        (2, ["osu_allreduce", "-W", "4"], "has one message under way at a time"),
        (2, ["osu_latency", "-z101"], "percentiles must be whole numbers from 0 to 100"),
        (2, ["osu_latency", "-z1,2,3,4,5,6"], "one to five percentiles"),
        (2, ["osu_bw", "-W", "0"], "window"),
        (2, ["osu_gather", "-k", "fixed:2"], "there are 2 ranks"),
        (2, ["osu_allreduce", "-T", "mpi_nothing"], "mpi_nothing"),
        (2, ["osu_latency", "-m", "8:4"], "--message-size must be [MIN:]MAX"),
    ],
)
def test_bad_input(tmp_path: Path, ranks: int, words: list[str], sentence: str) -> None:
    status, _, err, cases = run(tmp_path, ranks, *words)
    assert status == ExitStatus.USAGE, err
    assert sentence in err
    assert not cases


def test_list_has_one_line_of_the_family(plumb: Plumb) -> None:
    _, out, _ = plumb("list")
    assert [line.split()[0] for line in out.splitlines() if line.startswith("osu")] in (
        ["osu"],
        ["osu", "osu_shmem"],
    )
    _, out, _ = plumb("list", "osu")
    names = {line.split()[0] for line in out.splitlines()[1:]}
    assert {"osu_latency", "osu_alltoallw", "osu_ibarrier", "osu_bw_persistent"} <= names
    assert plumb("list", "oso")[0] == ExitStatus.USAGE
