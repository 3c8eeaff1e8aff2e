"""NPB IS: ranks of integer keys, sorted by buckets.

An iteration of a rank with N/p of N = 2^k keys: the counts of 1,024 buckets and five test keys are
reduced; p - 1 messages of a number, then p - 1 of about N/p^2 keys of 4 B each
(benchmarks/shmem/npb/README.md: 4 N (p - 1)/p B of all ranks). While the keys travel a rank counts
its own, 1/p of a third of its work, as a key is touched three times: counted by bucket, moved,
ranked.

Without a measured rate: three updates a key, one of them of a random word of the counts (4 B for
each possible key), and 20 B of memory.
"""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.model.npb import TWO_SIDED, Iteration, NpbModel, Problem, Sent, grid_shared
from plumbline.system.device import DeviceTable

# --- equations ------------------------------------------------------------------------------------

KEY_BYTES = 4
BUCKETS, TESTS = 1024, 5
PASSES = 3  # over the keys
MEMORY_BYTES = 20  # a key: read to be counted, read, written, read to be ranked, and its line


def keys_sent(keys: float, ranks: int) -> float:
    """Keys of one message: a rank's share, of which each rank gets a p-th."""
    return keys / ranks**2


def counts_bytes(largest: int, ranks: int) -> float:
    """Bytes of a rank's counts, one for each possible key of its buckets."""
    return 2.0**largest * KEY_BYTES / ranks


def operations(problem: Problem) -> float:
    """The official count: keys ranked, in all iterations."""
    return 2.0**problem.size * problem.iterations


# --- model ----------------------------------------------------------------------------------------


def _iteration(problem: Problem, ranks: int) -> Iteration:
    keys = 2.0**problem.size
    others, own = ranks - 1, keys / ranks
    sent = (
        Sent(1, others, 8),
        Sent(1, others, KEY_BYTES * keys_sent(keys, ranks), 1 / (PASSES * ranks)),
    )
    held = counts_bytes(problem.largest, ranks) + 2 * KEY_BYTES * own
    return Iteration({"": own}, held, sent, reduced=((BUCKETS + TESTS) * KEY_BYTES,))


def _check(problem: Problem, ranks: int) -> None:
    if ranks > min(BUCKETS, 2**problem.largest):
        raise UsageError(
            f"{ranks} ranks exceed the {BUCKETS} buckets of npb_is, one a rank at least"
        )


def _by_limits(device: DeviceTable, problem: Problem, ranks: int) -> float | None:
    own = 2.0**problem.size / ranks
    table = round(counts_bytes(problem.largest, ranks))
    atomic = device.updates_s(own, table, atomic=True)
    updates = device.updates_s(own, table, atomic=False) if atomic is None else atomic
    moved = device.memory_s(0.8 * MEMORY_BYTES * own, 0.2 * MEMORY_BYTES * own)
    return None if updates is None or moved is None else updates + moved


MODEL = NpbModel(
    "npb_is",
    operations,
    _iteration,
    _check,
    EQUATION="2^k keys / (N/p keys at their rate + counts + (p - 1) messages of N/p^2 keys)",
    SHARED=grid_shared("npb_is", "log2-keys", 1, logarithm=True),
    runs=tuple(
        (
            *(*TWO_SIDED, "--log2-keys", str(keys), "--log2-max-key", str(keys - 4)),
            *(("--iterations", "2") if keys > 22 else ()),
        )
        for keys in (18, 19, 21, 22, 24)  # between, keys leave the caches
    ),
    by_limits=_by_limits,
)
