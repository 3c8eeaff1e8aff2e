"""RandomAccess: the generators of random numbers and the banks that are updated.

Source: Meyer 2024, section 3.2.2 (every replication goes through the whole stream of random
numbers), section 4.1.4 (several generators a replication), section 4.2.4 (an update is a read and
a write: two cycles of a bank). Rates in updates a second, clocks in hertz.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def generator_rate(generators: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 3.2.2: updates cannot outrun the numbers of one replication, over all devices."""
    return floats(floats(generators) * floats(clock))


def bank_rate(
    replications: ArrayLike, banks: ArrayLike, clock: ArrayLike, interface_clock: ArrayLike
) -> Floats:
    """Section 4.2.4: half an update a cycle in each bank in use, in the slower of both clocks."""
    slower = np.minimum(floats(clock), floats(interface_clock))
    return floats(np.minimum(floats(replications), floats(banks)) * slower / 2)


def normalised(rate: ArrayLike, banks: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 4.2.4: of one bank at 100 MHz, where 50e6 is the most."""
    return floats(floats(rate) / floats(banks) / (floats(clock) / 100e6))
