"""GUPS: updates of random words of a table that is spread over all ranks.

Of the updates that a rank makes, 1/p are its own; the rest go to others as messages of one word,
of which ``window`` are under way at once. Rates in updates a second, times in seconds.
"""

from __future__ import annotations

import numpy as np

from plumbline.equations import ArrayLike, Floats, floats


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
