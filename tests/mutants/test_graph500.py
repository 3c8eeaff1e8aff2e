"""Graph500: every wrong tree, graph and courier comes out ``failed``, and what is right passes, on any number of ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy
import pytest

from plumbline.record.record import load_record
from tests.launching import PATIENCE_S, launch_command
from tests.mutants.kernel_mutants import KernelMutant, Sound
from tests.mutants.kernels.graph500 import KERNELS
from tests.mutants.test_kernels import run as run_kernels
from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

TREES = (
    *("no-such-edge", "level-too-deep", "pair-in-a-circle", "three-in-a-circle", "pair-elsewhere"),
    *("rank-unreached", "nothing-reached", "last-unreached", "own-parent"),
    *("parent-too-large", "parent-below-range", "root-without-itself", "tallied-twice"),
)
GRAPHS = ("edge-lost", "edge-twice", "ends-swapped", "other-generator")
COURIERS = ("last-words-lost", "wrong-ranks")
OF_VARIANT = {
    "messages": COURIERS,
    "bucketed": COURIERS,
    "direction-optimising": (*TREES, *GRAPHS, "last-roots", "stale-bitmap"),
    "put-atomic": ("rank-unreached", "last-roots", "quiet-left-out"),
}
PATHS = (
    *("no-such-edge", "pair-in-a-circle", "three-in-a-circle", "pair-elsewhere", "rank-unreached"),
    *("nothing-reached", "last-unreached", "own-parent", "root-without-itself", "tallied-twice"),
    *("just-too-long", "just-too-short", "no-number", "infinitely-long", "root-apart", "all-apart"),
    *("near-elsewhere", "other-parent", "heavy-left-out", "last-buckets-left"),
    *("edge-lost", "edge-twice", "ends-swapped", "other-weight", "last-roots"),
)
OF_PATHS = {"messages": PATHS, "bucketed": ("last-words-lost", "sent-once", "heavy-left-out")}
BETWEEN_RANKS = (*COURIERS, "sent-once")  # alone, a rank sends nothing


def nothing_between(path: Path) -> None:
    """A file of edges: vertices 0 - 1 - 2 - ... of which some are joined by a weight of zero."""
    weights = [0.5, 0.0, 0.5, 0.0, 0.0, 0.25, 0.0]
    numpy.array([[i, i + 1] for i in range(7)], dtype=numpy.int64).tofile(path)
    numpy.array(weights, dtype=numpy.float32).tofile(f"{path}.weights")


@pytest.mark.parametrize("ranks", [1, 2])
def test_circles_of_no_weight_fail(tmp_path: Path, ranks: int) -> None:
    """Distances fit all edges; only the parents' way to the root shows them."""
    nothing_between(tmp_path / "edges")
    options = {"graph": str(tmp_path / "edges"), "scale": "3", "roots": "2", "kernel": "sssp"}
    runs: list[Run] = [
        {"benchmark": name, "transport": "mpi", "options": options}
        for name in ("mutant-graph500-circle-of-nothing", "graph500")
    ]
    wrong, right = launch(tmp_path, ranks, runs)
    assert {one["status"] for one in wrong["outcomes"]} == {"failed"}
    assert {one["status"] for one in right["outcomes"]} == {"passed"}


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("", "", "passed"),
        (": before < after)", ": before <= after)", "failed"),  # circles through weights of zero
        ("if (orphans != 0) atomic_add", "if (orphans > 9) atomic_add", "failed"),
    ],
)
def test_parents_over_weights_of_nothing(tmp_path: Path, old: str, new: str, status: str) -> None:
    """On a device: no parent is nearer to the root than such a vertex, so its parent is found last."""
    nothing_between(tmp_path / "edges")
    words = ["graph500", "--variant", "device", "--kernel", "sssp", "--roots", "2"]
    words += ["--graph", str(tmp_path / "edges"), "--scale", "3"]
    if old:
        mutant = KernelMutant("nothing", KERNELS, old, new, words)
        words += ["--kernel-file", str(mutant.write(tmp_path))]
    _, record, _ = run_kernels(tmp_path, Sound(words), *words)
    assert {case["outcome"]["status"] for case in record["cases"]} == {status}


def run_of(benchmark: str, variant: str, scale: int = 10, kernel: str = "bfs") -> Run:
    """One run of two searches; with one edge a vertex there is more than one component."""
    factor = "1" if benchmark.endswith("elsewhere") else "2"
    if benchmark.endswith("other-generator"):  # another draw in 600,000
        scale, factor = 14, "16"
    options = {"scale": str(scale), "edgefactor": factor, "roots": "2", "variant": variant}
    return {"benchmark": benchmark, "transport": "mpi", "options": {**options, "kernel": kernel}}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_what_is_wrong_fails(tmp_path: Path, ranks: int) -> None:
    wrong = [
        (name, variant, kernel)
        for kernel, variants in (("bfs", OF_VARIANT), ("sssp", OF_PATHS))
        for variant, names in variants.items()
        for name in names
        if ranks > 1 or name not in BETWEEN_RANKS
    ]
    right = [run_of("graph500", variant, scale) for variant in OF_VARIANT for scale in (1, 6, 10)]
    right += [run_of("graph500", "all", scale, "sssp") for scale in (1, 6, 10)]
    right.append(run_of("mutant-graph500-passes-late", "put-atomic"))
    found = launch(
        tmp_path,
        ranks,
        [run_of(f"mutant-graph500-{name}", of, kernel=kernel) for name, of, kernel in wrong]
        + right,
    )
    for mutant, one in zip(wrong, found, strict=False):
        assert "outcomes" in one, (mutant, one)
        statuses = [outcome["status"] for outcome in one["outcomes"]]
        assert statuses == ["failed", "failed"], (mutant, one)
    for wanted, one in zip(right, found[len(wrong) :], strict=True):
        allowed = {"passed", "unsupported"}
        assert {outcome["status"] for outcome in one["outcomes"]} <= allowed, (wanted, one)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_rank_that_dies_in_a_level_ends_the_run(tmp_path: Path, ranks: int) -> None:
    """The others wait for its bits; the searches before are in the record."""
    path = tmp_path / "record.json"
    words = "mutant-graph500-dies-in-a-level --variant direction-optimising --scale 10 --roots 8"
    quiet = ["--progress", "none", "--format", "none", "--record", str(path)]
    command, environment = launch_command(ranks, MUTANTS, *words.split(), *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode != 0
    record = load_record(path)
    assert record.status in ("running", "aborted")
    assert [case.outcome.status for case in record.cases] == ["passed", "passed"], done.stderr
