"""STREAM: bound by memory, on a board by its banks and its kernels' clock; transfers by the link.

The equations are those of :mod:`plumbline.model.equations.stream`.
"""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.limits import LINK, Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.system import Figures, Need

BENCHMARK = "stream"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels where the system has them, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "replications x min(bank, bytes a cycle x clock) (Meyer 2024, section 3.2.2)"
    return f"{roofline.NAME}: {roofline.FORMULA}; transfers by the link"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each operation."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    operation = case.label("operation")
    if operation in ("write", "read"):
        return _transfer(record, case, figures)
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if not kernel:
        demand = Demand(type=roofline.type_of(record, case))
        return roofline.expect(record, case, figures, demand)
    try:
        rates = boards.stream_rates(figures.device or DeviceTable(), kernel, operation)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.bytes_read + case.work.bytes_written, rates)


def _transfer(record: Record, case: Case, figures: Figures) -> Prediction:
    """Write: from the host into the device's memory; read: the other way."""
    link = figures.device.link if figures.device else None
    reads = case.label("operation") == "read"
    size = case.work.bytes_read if reads else case.work.bytes_written
    seconds = link.time_s("read" if reads else "write", size) if link else None
    if seconds is None:
        return Prediction.unknown("the system knows no link to the host")
    share = 1 if figures.by_all_ranks else roofline.sharers(record)
    # On the host the link is the host's memory.
    reason = roofline.in_cache(record, figures, size) if roofline.is_on_host(record) else ""
    return Prediction.in_turn({LINK: seconds * share}, reason or None)
