"""NPB EP: pairs of normal deviates, without messages but for two sums at the end.

An iteration is the whole run: batches of 2^16 pairs, spread with their remainder. Two reductions,
of the two sums and of ten counts (8 B each).
"""

from __future__ import annotations

from math import ceil

from plumbline.model.npb import Iteration, NpbModel, Problem, grid_shared

# --- equations ------------------------------------------------------------------------------------

BATCH_LOG = 16


def pairs(log2_pairs: int, ranks: int) -> int:
    """Pairs of the rank with most: whole batches."""
    batch = min(log2_pairs, BATCH_LOG)
    return ceil((1 << log2_pairs - batch) / ranks) << batch


def operations(problem: Problem) -> float:
    """The official count: random numbers."""
    return 2.0 ** (problem.size + 1)


# --- model ----------------------------------------------------------------------------------------


def _iteration(problem: Problem, ranks: int) -> Iteration:
    return Iteration({"": pairs(problem.size, ranks)}, 0, reduced=(2 * 8, 10 * 8))


def _check(_problem: Problem, _ranks: int) -> None:
    """Any number of ranks: some may have no batch."""


MODEL = NpbModel(
    "npb_ep",
    operations,
    _iteration,
    _check,
    EQUATION="2^(m+1) / (pairs of a rank at their rate + two reductions)",
    SHARED=grid_shared("npb_ep", "log2-pairs", 1, logarithm=True),
    runs=(("--log2-pairs", "21"),),
)
