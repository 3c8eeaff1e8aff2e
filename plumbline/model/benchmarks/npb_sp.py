"""NPB SP: scalar pentadiagonal lines over the tiles of BT (:mod:`npb_bt` has the equations)."""

from __future__ import annotations

from plumbline.model.benchmarks.npb_bt import FLOW_RUNS, check, iteration, official
from plumbline.model.npb import Iteration, NpbModel, Problem, grid_shared

# --- equations ------------------------------------------------------------------------------------


def operations(problem: Problem) -> float:
    """The official count, of all steps."""
    return official((881.174, -4683.91, 11484.5, -19272.4), problem)


# --- model ----------------------------------------------------------------------------------------


def _iteration(problem: Problem, ranks: int) -> Iteration:
    return iteration(problem, ranks, forward=22, back=10, covered=15 / 881)


MODEL = NpbModel(
    "npb_sp",
    operations,
    _iteration,
    check,
    EQUATION="operations / (points of a rank at their rate + faces + sweeps' messages not covered)",
    SHARED=grid_shared("npb_sp", "grid", 1 / 3),
    runs=FLOW_RUNS,
)
