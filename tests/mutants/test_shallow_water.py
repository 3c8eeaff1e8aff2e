"""Shallow water: every wrong exchange and step comes out ``failed``, over right and wrong transports; what is right passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

WRONG = (
    *("halo-one-stage-old", "halo-old-once", "message-lost-once", "last-element-not-sent"),
    *("tide-phase-dropped", "step-skipped", "stage-skipped", "border-before-wait"),
    "station-of-another-place",
)
TRANSPORTS = ("flip-50", "stale", "last-byte", "nothing")


def run_of(name: str = "", transport: str = "mpi", **options: str) -> Run:
    usual = {"steps": "12", "order": "1", "partitioner": "rcb"}
    benchmark = f"mutant-shallow-water-{name}" if name else "shallow_water"
    return {"benchmark": benchmark, "transport": transport, "options": {**usual, **options}}


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_is_wrong_fails(tmp_path: Path, ranks: int) -> None:
    names = [*WRONG, *(["neighbours-swapped"] if ranks > 2 else [])]
    wrong = [run_of(name) for name in names]
    wrong += [run_of(transport=f"mutant-{one}-mpi") for one in TRANSPORTS]
    wrong += [run_of("halo-old-once", order="0", type="double")]
    right = [run_of(), run_of(overlap="off"), run_of(order="2", type="double")]
    found = [one["status"] for one in launch(tmp_path, ranks, wrong + right)]
    wanted = ["failed"] * len(wrong) + ["passed"] * len(right)
    assert found == wanted, list(zip([*wrong, *right], found, strict=True))
