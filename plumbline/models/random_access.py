"""RandomAccess: bound by random updates of memory, on a board by its generators and banks.

Source: Meyer, dissertation, Paderborn University, 2024. Section 3.2.2: every replication generates
all random numbers of the stream, one a cycle, so updates a second cannot exceed the kernels' clock
(times the generators of a replication, section 4.1.4). Section 4.2.4: an update reads and writes a
bank, which takes two cycles of it.
"""

from __future__ import annotations

from plumbline import roofline
from plumbline.device_table import Banks, Bitstream
from plumbline.models import Expectation
from plumbline.record import Case, Record
from plumbline.systems import Figures, Need

BENCHMARK = "random_access"
NEEDS: Need = "updates"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels where the system has them, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "min(generators x clock, banks x clock / 2) (Meyer 2024, sections 3.2.2, 4.2.4)"
    return f"{roofline.NAME}: updates/rate"


def expect(record: Record, figures: Figures) -> dict[str, Expectation]:
    """The time of one count of each kind of update."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def generator_bound_gup_s(kernel: Bitstream) -> float:
    """Each replication goes through the whole stream, ``rng_count`` numbers a cycle."""
    return (kernel.rng_count or 1) * kernel.frequency_mhz * 1e-3


def bank_bound_gup_s(kernel: Bitstream, banks: Banks) -> float:
    """Two cycles of a bank for an update, in the slower of kernel's and interface's clock."""
    clock = min(kernel.frequency_mhz, banks.frequency_mhz)
    return min(kernel.replications, banks.count) * clock * 1e-3 / 2


def _expectation(record: Record, case: Case, figures: Figures) -> Expectation:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        size = case.labels.get("table_bytes")
        demand = roofline.Demand(
            table_bytes=size if isinstance(size, int) else 0,
            atomic=case.label("updates").startswith("atomic"),
        )
        return roofline.expect(record, case, figures, demand)
    device = figures.device
    if device is None or device.banks is None:
        return Expectation(None, reason="the system knows no memory banks")
    rates = {
        "generators": generator_bound_gup_s(kernel),
        "banks": bank_bound_gup_s(kernel, device.banks),
    }
    parts = {name: case.work.updates / (rate * 1e9) for name, rate in rates.items()}
    bound = max(parts, key=parts.__getitem__)
    return Expectation(parts[bound], bound=bound, parts=parts)
