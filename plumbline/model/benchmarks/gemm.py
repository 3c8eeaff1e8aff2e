"""GEMM: on a board three pipelines one after the other (eq. 3.2), elsewhere the roofline.

The equations are those of :mod:`plumbline.model.equations.gemm`.
"""

from __future__ import annotations

from math import ceil

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.limits import Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.system import Figures, Need

BENCHMARK = "gemm"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.2 where the system has the board's kernels, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "load + b^3/(g^3 f_k) + load b/n a block (Meyer 2024, eq. 3.2)"
    return f"{roofline.NAME}: {roofline.FORMULA}"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each product."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        return _roofline(record, case, figures)
    rows, columns, inner = (_size(case, name) for name in ("rows", "columns", "inner"))
    if not (rows and columns and inner):
        return Prediction.unknown("the case does not say its size")
    try:
        block = boards.block_parts_s(figures.device or DeviceTable(), kernel, inner)
    except UsageError as error:
        return Prediction.unknown(str(error))
    blocks = 1
    for extent in (rows, columns, inner):
        blocks *= ceil(extent / (kernel.block_size or 1))
    rounds = blocks / kernel.replications
    parts = {name: seconds * rounds for name, seconds in block.items()}
    return Prediction.in_turn(parts)


def _roofline(record: Record, case: Case, figures: Figures) -> Prediction:
    """By vector units for float, and where the kernels say so; else by matrix units, if any.

    Without matrix units kernels compute half in float; libraries may do so in half. Where a
    calibration knows which part of its peak the kernels reach, it is that part.
    """
    number, used = roofline.type_of(record, case), str(case.facts.get("matrix_units", ""))
    own = record.ranks[0].device
    on_gpu = own is not None and own.type == "gpu"
    may_use = number != "float" and (used not in ("", "none") or (not used and on_gpu))
    if may_use and figures.device and not figures.device.knows_matrix_units(number):
        return Prediction.unknown(f"the system knows no peak of matrix units for {number}")
    if number == "half" and not may_use and case.facts.get("variant") != "library":
        number = "float"
    share = 1.0
    if figures.device:
        variant = str(case.facts.get("variant", ""))
        share = figures.device.share_of_peak(BENCHMARK, number, variant, matrix=may_use)
    demand = Demand(type=number, matrix=may_use, flops=case.work.flops / share)
    return roofline.expect(record, case, figures, demand)


def _size(case: Case, name: str) -> int:
    value = case.labels.get(name)
    return value if isinstance(value, int) else 0
