"""FFT: on a board its pipeline takes eight points a cycle (eq. 3.1), elsewhere the roofline.

The roofline takes what an FFT needs of a device, not the 5 n log2 n flops by which rates are named:
:mod:`plumbline.model.equations.fft` has both.
"""

from __future__ import annotations

from math import log2

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.equations import fft
from plumbline.model.limits import Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.system import Figures, Need

BENCHMARK = "fft"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.1 where the system has the board's kernels, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "5 s f r 8 flops a second (Meyer 2024, eq. 3.1)"
    return f"{roofline.NAME}: max(passes x bytes/bandwidth, 7 n (log2 n - 1)/peak, launch)"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each size."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        return roofline.expect(record, case, figures, _demand(record, case))
    try:
        rates = boards.fft_rates(figures.device or DeviceTable(), kernel)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.flops, rates)


def _demand(record: Record, case: Case) -> Demand:
    type_, points = roofline.type_of(record, case), case.labels.get("points")
    if not isinstance(points, int) or points < 4:
        return Demand(type=type_)
    return Demand(
        type=type_,
        flops=float(fft.flops_of_peak(case.work.flops, log2(points))),
        passes=int(fft.passes(log2(points), _fast_points(record, type_))),
    )


def _fast_points(record: Record, type_: str) -> float:
    """Points that fast memory holds: on GPUs a group's local memory, else the last cache.

    A group keeps its points in registers and exchanges real and imaginary parts one after the
    other, so that local memory need hold one number of each.
    """
    device = record.ranks[0].device
    number = 8 if type_ == "double" else 4
    if device is None:
        return 0
    if device.type == "gpu":
        return device.local_bytes / number
    return device.cache_bytes / (2 * number)
