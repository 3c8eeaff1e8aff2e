"""STREAM: bound by memory, on a board by its banks and its kernels' clock; transfers by the link.

Source: Meyer, dissertation, Paderborn University, 2024, section 3.2.2: a bank's peak times the
banks used (the bank bound), and where the kernels' clock is below that of the banks' interface, the
bytes of one cycle times the kernels' clock (the frequency bound; section 3.3.1 has the case).
"""

from __future__ import annotations

from plumbline import roofline
from plumbline.device_table import Banks, Bitstream
from plumbline.models import Expectation
from plumbline.record import Case, Record
from plumbline.systems import Figures, Need

BENCHMARK = "stream"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})

_BYTES = {"half": 2, "float": 4, "double": 8}


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels where the system has them, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "replications x min(bank, bytes a cycle x clock) (Meyer 2024, section 3.2.2)"
    return f"{roofline.NAME}: {roofline.FORMULA}; transfers by the link"


def expect(record: Record, figures: Figures) -> dict[str, Expectation]:
    """The time of one count of each operation."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def bank_bound_gb_s(banks: Banks, replications: int) -> float:
    """Peak of the banks that so many replications use, one each."""
    return min(replications, banks.count) * banks.gb_s


def frequency_bound_gb_s(kernel: Bitstream) -> float:
    """What the kernels can ask of memory: the bytes of one cycle times their clock."""
    lanes = (kernel.vector_count or 1) * (kernel.global_mem_unroll or 1)
    return kernel.replications * lanes * _BYTES[kernel.type] * kernel.frequency_mhz * 1e-3


def _expectation(record: Record, case: Case, figures: Figures) -> Expectation:
    operation = case.label("operation")
    if operation in ("write", "read"):
        return _transfer(record, case, figures)
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if not kernel:
        demand = roofline.Demand(type=roofline.type_of(record, case))
        return roofline.expect(record, case, figures, demand)
    device = figures.device
    if device is None or device.banks is None:
        return Expectation(None, reason="the system knows no memory banks")
    rates = {
        "banks": bank_bound_gb_s(device.banks, kernel.replications),
        "kernel clock": frequency_bound_gb_s(kernel),
    }
    moved = case.work.bytes_read + case.work.bytes_written
    parts = {name: moved / (rate * 1e9) for name, rate in rates.items()}
    bound = max(parts, key=parts.__getitem__)
    return Expectation(parts[bound], bound=bound, parts=parts)


def _transfer(record: Record, case: Case, figures: Figures) -> Expectation:
    """Write: from the host into the device's memory; read: the other way."""
    link = figures.device.link if figures.device else None
    reads = case.label("operation") == "read"
    size = case.work.bytes_read if reads else case.work.bytes_written
    seconds = link.time_s("read" if reads else "write", size) if link else None
    if seconds is None:
        return Expectation(None, reason="the system knows no link to the host")
    share = 1 if figures.by_all_ranks else roofline.sharers(record)
    parts = {"link": seconds * share}
    # On the host the link is the host's memory.
    reason = roofline.in_cache(record, figures, size) if roofline.is_on_host(record) else ""
    return Expectation(parts["link"], bound="link", parts=parts, reason=reason or None)
