"""GUPS: updates of random words of a table that is spread over all ranks.

Of the updates that a rank makes, 1/p are its own; the rest go to others as messages of one word,
of which ``window`` are under way at once. Rates in updates a second, times in seconds.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def update_s(
    ranks: ArrayLike, local_s: ArrayLike, remote_s: ArrayLike, window: ArrayLike = 1
) -> Floats:
    """One update of one rank, on average: local/p + (1 - 1/p) remote/window."""
    own = 1 / floats(ranks)
    return floats(own * floats(local_s) + (1 - own) * floats(remote_s) / floats(window))


def rate(
    ranks: ArrayLike, local_s: ArrayLike, remote_s: ArrayLike, window: ArrayLike = 1
) -> Floats:
    """Updates a second of all ranks; never above p updates at a time of a rank's own memory."""
    slowest = np.maximum(update_s(ranks, local_s, remote_s, window), floats(local_s))
    return floats(floats(ranks) / slowest)


# --- a table in the memory of all ranks, each of which updates all of it --------------------------
#
# Each operation is complete, or atomic, before the next, so a rank waits for each word's cache
# line. Every rank works at once. All times are seconds an update of one rank.

LOOK_AHEAD = 1024  # updates of a rank that are not yet in the table (HPC Challenge's rule)
POOL = LOOK_AHEAD // 4  # of them wait in buckets
WORD_BYTES = 8


def held_share(table: ArrayLike, caches: ArrayLike) -> Floats:
    """The share of the table's lines that caches of ``caches`` bytes hold: min(1, caches/table)."""
    return floats(np.minimum(1, floats(caches) / floats(table)))


def in_a_row_s(latency_s: ArrayLike, gap_s: ArrayLike) -> Floats:
    """Atomics in a row, completed once in a look-ahead: a gap each, a latency in 1,024."""
    rest = np.maximum(floats(latency_s) - floats(gap_s), 0)
    return floats(floats(gap_s) + rest / LOOK_AHEAD)


def bucket_updates(ranks: ArrayLike) -> Floats:
    """Updates in a bucket that is sent: 2 pool / (p + 1).

    Of p buckets the fullest goes when all hold the pool. They fill alike, so before that they hold
    1/p, 2/p ... p/p of the fullest one: (p + 1)/2 of it together.
    """
    return floats(2 * POOL / (floats(ranks) + 1))


def bucket_share_s(ranks: ArrayLike, message_s: ArrayLike) -> Floats:
    """What an update pays of its bucket's messages, which 1 - 1/p of all buckets need."""
    return floats((1 - 1 / floats(ranks)) * floats(message_s) / bucket_updates(ranks))


def look_ahead_s(ranks: ArrayLike, round_trip_s: ArrayLike) -> Floats:
    """The least an update takes while at most the look-ahead less the pool is under way.

    ``round_trip_s`` is from sending a bucket until it is known to be taken.
    """
    return floats((1 - 1 / floats(ranks)) * floats(round_trip_s) / (LOOK_AHEAD - POOL))
