"""RandomAccess: bound by random updates of memory, on a board by its generators and banks.

The equations are those of :mod:`plumbline.model.equations.random_access`.
"""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.limits import Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.system import Figures, Need

BENCHMARK = "random_access"
NEEDS: Need = "updates"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels where the system has them, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "min(generators x clock, banks x clock / 2) (Meyer 2024, sections 3.2.2, 4.2.4)"
    return f"{roofline.NAME}: updates/rate"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each kind of update."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        size = case.labels.get("table_bytes")
        demand = Demand(
            table_bytes=size if isinstance(size, int) else 0,
            atomic=case.label("updates").startswith("atomic"),
        )
        return roofline.expect(record, case, figures, demand)
    try:
        rates = boards.update_rates(figures.device or DeviceTable(), kernel)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.updates, rates)
