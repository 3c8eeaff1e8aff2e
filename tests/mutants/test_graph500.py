"""Graph500: every wrong tree, graph and courier comes out ``failed``, and what is right passes, on any number of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def run_of(benchmark: str, variant: str, scale: int = 10) -> Run:
    """One run of two searches; with one edge a vertex there is more than one component."""
    factor = "1" if benchmark.endswith("pair-elsewhere") else "2"
    if benchmark.endswith("other-generator"):  # another draw in 600,000
        scale, factor = 14, "16"
    options = {"scale": str(scale), "edgefactor": factor, "roots": "2", "variant": variant}
    return {"benchmark": benchmark, "transport": "mpi", "options": options}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_what_is_wrong_fails(tmp_path: Path, ranks: int) -> None:
    wrong = [
        (name, variant)
        for variant, names in OF_VARIANT.items()
        for name in names
        if ranks > 1 or name not in COURIERS  # alone, a rank sends nothing
    ]
    right = [
        run_of("graph500", variant, scale)
        for variant in (*OF_VARIANT, "threaded")
        for scale in (1, 6, 10)
    ]
    right.append(run_of("mutant-graph500-passes-late", "put-atomic"))
    found = launch(
        tmp_path,
        ranks,
        [run_of(f"mutant-graph500-{name}", variant) for name, variant in wrong] + right,
    )
    for (name, variant), one in zip(wrong, found, strict=False):
        statuses = [outcome["status"] for outcome in one["outcomes"]]
        should = ["passed", "failed"] if name == "last-roots" else ["failed", "failed"]
        assert statuses == should, (name, variant, one)
    for wanted, one in zip(right, found[len(wrong) :], strict=True):
        statuses = {outcome["status"] for outcome in one["outcomes"]}
        assert statuses <= {"passed", "unsupported"}, (wanted, one)
