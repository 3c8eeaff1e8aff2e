"""The NPB: every wrong benchmark and every wrong memory comes out ``failed``, and what is right passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

ALONE = (
    *("is-key-lost", "is-change-left-out", "is-stale-keys", "ep-seed-of-is"),
    *("is-rank-off", "mg-edges-not-passed-on", "mg-other-smoother", "mg-restricts-even"),
)
TOGETHER = (  # a rank alone sends nothing
    *("is-border-off", "is-counts-without-last", "ep-sums-without-last", "mg-norm-without-last"),
    *("mg-old-halo", "mg-notice-first", "is-notice-first", "mg-put-lost", "mg-no-credit"),
    *("is-foreign-keys", "bt-notice-first", "sp-notice-first", "lu-notice-first"),
    "lu-no-credit",
)
PASSES = ("mg-passes-late", "is-passes-late")


def run_of(benchmark: str, form: str = "signal") -> Run:
    """One run: EP of few pairs but of the class for its seed, the others of class S."""
    options = {"class": "S"}
    if benchmark[11:13] in ("bt", "sp", "lu"):
        options |= {"iterations": "1"}
    if "ep" not in benchmark.split("-")[:3] and "npb_ep" not in benchmark:
        options["form"] = form
    elif "seed" not in benchmark:
        options["log2-pairs"] = "18"
    return {"benchmark": benchmark, "transport": "mpi", "options": options}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_what_is_wrong_fails(tmp_path: Path, ranks: int) -> None:
    wrong = [*ALONE, *(TOGETHER if ranks > 1 else ())]
    right = [run_of(f"npb_{name}", form) for name in ("is", "mg") for form in ("signal", "barrier")]
    right += [run_of(f"mutant-npb-{name}") for name in PASSES]
    found = launch(tmp_path, ranks, [run_of(f"mutant-npb-{name}") for name in wrong] + right)
    for name, one in zip(wrong, found, strict=False):
        assert {outcome["status"] for outcome in one["outcomes"]} == {"failed"}, (name, one)
    for wanted, one in zip(right, found[len(wrong) :], strict=True):
        assert {outcome["status"] for outcome in one["outcomes"]} == {"passed"}, (wanted, one)
