"""RandomAccess: 4 updates a word of a table of ``size`` bytes, spread over all devices."""

from __future__ import annotations

from plumbline.model import boards
from plumbline.model.equations import random_access
from plumbline.model.forecast import (
    Case,
    Point,
    beyond,
    bitstream_of,
    device_of,
    size_of,
    slowest,
    update_s,
)
from plumbline.system.system import System

METRIC, UNIT = "updates", "GUP/s"
EQUATION = "min(generators x clock, banks x clock / 2); sections 3.2.2, 4.1.4 and 4.2.4"
SIZE = "bytes of the table"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = False
_WORD = 8
_UPDATES_A_WORD = 4


def sizes(_system: System) -> list[float]:
    """4 GiB, as of table 3.6."""
    return [2.0**32]


def point(system: System, case: Case) -> Point:
    """The whole table's updates by all devices."""
    device, table = device_of(system), size_of(case, "size")
    updates = _UPDATES_A_WORD * table / _WORD
    kernel = bitstream_of(system, "random_access", case)
    printed = None
    if kernel is not None:
        rates = boards.update_rates(device, kernel, case.ranks)
        printed = rates["generators"] * 1e-9
        if (kernel.rng_count or 1) > 1 and "banks" in rates:
            banks = boards.banks_of(device).count
            one = random_access.bank_rate(banks, banks, kernel.frequency_mhz * 1e6, float("inf"))
            printed = case.ranks * float(one) * 1e-9
    else:
        own = int(table / case.ranks)
        seconds = update_s(device, own)
        rates = {"random updates": case.ranks / seconds}
    seconds, bound, parts = slowest(updates, rates, device)
    far = beyond(system, case, table / case.ranks)
    return Point(seconds, updates / seconds * 1e-9, bound, parts, printed, far)
