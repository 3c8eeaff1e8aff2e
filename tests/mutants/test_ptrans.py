"""PTRANS over exchanges that are wrong in some operations only, and over wrong transports: all must come out ``failed``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command
from tests.mutants.test_mutants import MUTANTS, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SMALL = ("--size", "67", "--block-size", "5", "--type", "double")
LARGE = ("--size", "512", "--block-size", "64")
# Ranks, transport, how the matrices are dealt out: one partner, several, and none for some.
RUNS = {
    "mpi": (2, ("--transport", "mpi")),
    "mpi-grid": (6, ("--transport", "mpi", "--grid-rows", "2")),
    "mpi-square": (4, ("--transport", "mpi")),
    "mpi-diagonal": (5, ("--transport", "mpi", "--distribution", "diagonal")),
    "mpi-at-once": (3, ("--transport", "mpi", "--no-overlap")),
    "staged": (2, ("--transport", "staged", "--runtime", "opencl")),
    "pipelined": (2, ("--transport", "pipelined", "--runtime", "opencl")),
    "peer": (2, ("--transport", "peer", "--approach", "host-buffered")),
    "peer-buffered": (2, ("--transport", "peer", "--approach", "device-buffered")),
    "peer-streaming": (3, ("--transport", "peer", "--approach", "device-streaming")),
}
# Kernels that wait for each other by looking take a core each: of these a few ways, as all are those of "peer".
FEW = "right,nothing,every-second,all-but-one,all-late,one-late,a-pair-left-out-once"
# Ranks 0 and 1 exchange nothing in these.
NO_SUCH_PAIR = ("mpi-square",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(
            pytest.param(
                name,
                SMALL,
                id=f"{name}-small",
                marks=[pytest.mark.soak] if RUNS[name][0] > 5 else [],
            )
            for name in RUNS
        ),
        *(pytest.param(name, LARGE, id=f"{name}-large") for name in ("mpi", "staged", "peer")),
    ],
)
def test_rounds_left_out_are_seen(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    ranks, how = RUNS[name]
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    few = ["--ways", FEW] if name in ("peer-buffered", "peer-streaming") else []
    options = [*how, *words, *quiet, *few, "--repetitions", "1"]
    command, environment = launch_command(ranks, MUTANTS, "mutant-rounds-ptrans", *options)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert record.exists(), done.stderr
    cases = json.loads(record.read_text())["cases"]
    found = {case["labels"]["rounds"]: case["outcome"]["status"] for case in cases}
    right = {"right", "a-pair-left-out-once"} if name in NO_SUCH_PAIR else {"right"}
    assert found == {way: "passed" if way in right else "failed" for way in found}
    assert len(found) == (7 if few else 16)
    assert done.returncode == 1


WRONG = ("flip-10", "flip-50", "flip-90", "stale", "last-byte", "wrong-rank", "nothing")
FORGETFUL = ("write-skipped", "read-skipped")


def of_ptrans(transport: str, approach: str = "host-buffered", **options: str) -> dict:
    """One run for the mutants' program."""
    asked = {"size": "67", "block-size": "5", "type": "double", **options}
    return {
        "benchmark": "ptrans",
        "transport": transport,
        "approach": approach,
        "pipeline_chunk_kib": 64 if "pipelined" in transport else 0,
        "options": {name.replace("_", "-"): value for name, value in asked.items()},
    }


def assert_wrong_transports_fail(
    tmp_path: Path, ranks: int, base: str, names: tuple[str, ...]
) -> None:
    """Each mutant fails, and the right benchmark passes right after it."""
    runs = [run for name in names for run in (of_ptrans(f"mutant-{name}-{base}"), of_ptrans(base))]
    found = [one["status"] for one in launch(tmp_path, ranks, runs)]
    assert found == ["failed", "passed"] * len(names), list(zip(runs, found, strict=True))


@pytest.mark.parametrize("ranks", [2, 3])
def test_wrong_transports_fail(tmp_path: Path, ranks: int) -> None:
    """Of three, a message to the wrong rank is never received."""
    names = tuple(name for name in WRONG if ranks == 2 or name != "wrong-rank")
    assert_wrong_transports_fail(tmp_path, ranks, "mpi", names)


def test_wrong_copies_fail(tmp_path: Path) -> None:
    assert_wrong_transports_fail(tmp_path, 2, "staged", (*WRONG, *FORGETFUL))


def test_wrong_peers_fail(tmp_path: Path) -> None:
    assert_wrong_transports_fail(
        tmp_path, 2, "peer", ("flip-50", "stale", "last-byte", "wrong-rank")
    )


def test_messages_of_two_partners_swapped_fail(tmp_path: Path) -> None:
    """Of equal size only where blocks divide the matrix alike."""
    even = {"size": "64", "block_size": "4", "grid_rows": "1"}
    runs = [of_ptrans("mutant-swapped-mpi", **even), of_ptrans("mpi", **even)]
    assert [one["status"] for one in launch(tmp_path, 4, runs)] == ["failed", "passed"]


def test_the_exchange_of_staged_is_told_by_legs(tmp_path: Path) -> None:
    """With and without overlap; the legs of one stage follow each other within its exchange."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    legs = ("read", "host exchange", "write")
    for how in ([], ["--no-overlap"]):
        words = [*SMALL, *quiet, "--repetitions", "1", *how]
        command, environment = launch_command(2, MUTANTS, "ptrans", *RUNS["staged"][1], *words)
        subprocess.run(
            command, env=environment, capture_output=True, timeout=PATIENCE_S, check=True
        )
        phases = json.loads(record.read_text())["cases"][0]["phases"]
        for rank in range(2):
            spans = [phases[leg]["last_spans_by_rank"][rank][0] for leg in legs]
            begin, end = phases["exchange"]["last_spans_by_rank"][rank][0]
            assert begin <= spans[0][0]
            assert all(a <= b for a, b in spans)
            if how:
                order = [at for span in spans for at in span]
                assert order == sorted(order)
                assert order[-1] <= end
