"""GUPS: updates of random words of a table of ``size`` bytes over all ranks, a message each."""

from __future__ import annotations

from plumbline.model import boards
from plumbline.model.equations import gups
from plumbline.model.forecast import (
    Case,
    Point,
    beyond,
    bitstream_of,
    device_of,
    message_of,
    size_of,
    update_s,
)
from plumbline.system.system import System

METRIC, UNIT = "updates", "GUP/s"
EQUATION = "p / (local/p + (1 - 1/p) message/window); docs/models.md"
SIZE = "bytes of the table"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True
_WORD = 8


def sizes(_system: System) -> list[float]:
    """4 GiB."""
    return [2.0**32]


def point(system: System, case: Case) -> Point:
    """As many updates as the table has words."""
    device, table = device_of(system), size_of(case, "size")
    kernel = bitstream_of(system, "random_access", Case(type=case.type))
    if kernel is not None:
        local_s = 1 / min(boards.update_rates(device, kernel).values())
    else:
        own = int(table / case.ranks)
        local_s = update_s(device, own)
    remote_s = float(message_of(system, case).seconds(_WORD)) if case.ranks > 1 else 0.0
    rate = float(gups.rate(case.ranks, local_s, remote_s, case.window))
    share = 1 / case.ranks
    parts = {
        "memory": share * local_s,
        "messages": (1 - share) * remote_s / case.window,
    }
    bound = "messages" if parts["messages"] > parts["memory"] else "memory"
    return Point(
        table / _WORD / rate,
        rate * 1e-9,
        bound,
        parts,
        None,
        beyond(system, case, table / case.ranks),
    )
