"""FFT: on a board its pipeline takes eight points a cycle (eq. 3.1), elsewhere the roofline.

Source: Meyer, dissertation, Paderborn University, 2024, section 3.2.3. The roofline counts
5 n log2 n flops, as all do; no algorithm needs just these, nor are all of them multiply-adds.
"""

from __future__ import annotations

from plumbline import roofline
from plumbline.device_table import Banks, Bitstream
from plumbline.models import Expectation
from plumbline.record import Case, Record
from plumbline.systems import Figures, Need

BENCHMARK = "fft"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})

POINTS_A_CYCLE = 8


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.1 where the system has the board's kernels, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "5 s f r 8 flops a second (Meyer 2024, eq. 3.1)"
    return f"{roofline.NAME}: {roofline.FORMULA}"


def expect(record: Record, figures: Figures) -> dict[str, Expectation]:
    """The time of one count of each size."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def pipeline_gflop_s(kernel: Bitstream, banks: Banks) -> float:
    """Eq. 3.1: p = 5 s f r 8, s the size's logarithm, f the lower of kernel's and memory's clock.

    Where a bank's interface is narrower than the eight points (64 B), its clock counts in that
    proportion.
    """
    points_bytes = POINTS_A_CYCLE * (16 if kernel.type == "double" else 8)
    memory_mhz = banks.frequency_mhz * min(1.0, banks.width_bytes / points_bytes)
    frequency = min(kernel.frequency_mhz, memory_mhz)
    return 5 * (kernel.log_fft_size or 0) * frequency * 1e-3 * kernel.replications * POINTS_A_CYCLE


def _expectation(record: Record, case: Case, figures: Figures) -> Expectation:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        demand = roofline.Demand(type=roofline.type_of(record, case))
        return roofline.expect(record, case, figures, demand)
    if figures.device is None or figures.device.banks is None or not kernel.log_fft_size:
        return Expectation(None, reason="the system knows no memory banks or size of the pipeline")
    seconds = case.work.flops / (pipeline_gflop_s(kernel, figures.device.banks) * 1e9)
    return Expectation(seconds, bound="pipeline", parts={"pipeline": seconds})
