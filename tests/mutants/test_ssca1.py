"""SSCA1: wrong strings, kernels and results all come out ``failed``, and what is right passes, on any number of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

OF_ANY_KERNEL = (
    *("fill-after-planting", "seeded-by-rank", "strings-alike"),
    *("gap-start-twice", "no-gap-start", "similar-as-exact", "similar-as-dissimilar"),
    *("ends-lost", "an-end-lost", "an-end-twice", "an-end-moved", "a-score-higher"),
    *("cells-told-twice", "plants-alone", "ends-of-before"),
    *("start-off-by-one", "first-pair-missing", "nothing-found", "gaps-on-the-other-side"),
)
OF_BLOCKED = ("corner-missing", "no-gaps-between-bands", "gaps-as-scores", "partial-tile-skipped")
# By proof: where not all cells are compared, what shows in the windows and in the reports.
OF_VARIANT = {
    ("put-get", "32", "oracle"): ("ends-lost", "gap-start-twice", "quiet-left-out", "gaps-swapped"),
    ("blocked", "32", "oracle"): (*OF_ANY_KERNEL, *OF_BLOCKED),
    ("blocked", "16", "oracle"): OF_BLOCKED,
    ("blocked", "32", "blocked"): (*OF_ANY_KERNEL, *OF_BLOCKED),
    ("blocked", "32", "windows"): (*OF_ANY_KERNEL, *OF_BLOCKED),
}


def run_of(benchmark: str, variant: str, bits: str, proof: str, *more: tuple[str, str]) -> Run:
    """With a low minimum there are some hundred ends."""
    scale = "12" if variant == "blocked" else "8"
    options = {"scale": scale, "minimum-score": "9", "variant": variant, "bits": bits}
    options |= {"proof": proof, "tile": "16", "reports": "30"}
    return {"benchmark": benchmark, "transport": "mpi", "options": options | dict(more)}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_what_is_wrong_fails(tmp_path: Path, ranks: int) -> None:
    wrong = [(name, *kind) for kind, names in OF_VARIANT.items() for name in names]
    if ranks > 1:  # alone, a rank puts no tile
        wrong.append(("stale-tile", "blocked", "32", "oracle"))
    runs = [run_of(f"mutant-ssca1-{name}", *kind) for name, *kind in wrong]
    high = (("exact", "10000"), ("minimum-score", "10000"))
    runs.append(run_of("mutant-ssca1-wraps", "blocked", "16", "oracle", *high))
    wrong.append(("wraps", "blocked", "16", "oracle"))
    right = [run_of("ssca1", *kind) for kind in OF_VARIANT]
    right.append(run_of("mutant-ssca1-passes-late", "put-get", "32", "oracle"))
    right.append(run_of("ssca1", "blocked", "32", "oracle", *high))
    found = launch(tmp_path, ranks, [*runs, *right])
    for kind, one in zip(wrong, found, strict=False):
        assert [outcome["status"] for outcome in one["outcomes"]] == ["failed"], (kind, one)
    for wanted, one in zip(right, found[len(wrong) :], strict=True):
        assert [outcome["status"] for outcome in one["outcomes"]] == ["passed"], (wanted, one)
