"""FFT: on a board its pipeline takes eight points a cycle (eq. 3.1), elsewhere the roofline.

Source: Meyer, dissertation, Paderborn University, 2024, section 3.2.3. The roofline takes what an
FFT needs of a device, not the 5 n log2 n flops by which rates are named:

*Arithmetic.* A peak counts multiply-adds, an FFT mostly adds. In radix 8 a butterfly of 8 points
over three levels is 52 additions and 4 multiplications (Johnson and Frigo, "A modified split-radix
FFT with fewer arithmetic operations", IEEE Trans. Signal Processing 55(1), 2007, table of N = 8: 56
flops), and multiplies 7 points by roots, each 2 multiplications and 2 multiply-adds: 84
instructions, 3.5 a point and level; 56 in the first step, which has no roots. That is
3.5 n (log2 n - 1) instructions, each in the place of a multiply-add's two flops.

*Passes.* With a fast memory of S points n log2 n / log2 S points go through slow memory at least
(Hong and Kung, "I/O complexity: the red-blue pebble game", STOC 1981), so the batch goes through it
log2 n / log2 S times, rounded up.
"""

from __future__ import annotations

from math import ceil, log2

from plumbline import roofline
from plumbline.device_table import Banks, Bitstream
from plumbline.models import Expectation
from plumbline.record import Case, Record
from plumbline.systems import Figures, Need

BENCHMARK = "fft"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})

POINTS_A_CYCLE = 8
INSTRUCTIONS_A_LEVEL = 84 / 8 / 3
NAMED_FLOPS_A_LEVEL = 5


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.1 where the system has the board's kernels, else the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "5 s f r 8 flops a second (Meyer 2024, eq. 3.1)"
    return f"{roofline.NAME}: max(passes x bytes/bandwidth, 7 n (log2 n - 1)/peak, launch)"


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


def flops_of_peak(named: float, levels: float) -> float:
    """What of a peak in multiply-adds ``named`` flops of transforms of 2^levels points take."""
    return named * 2 * INSTRUCTIONS_A_LEVEL * (1 - 1 / levels) / NAMED_FLOPS_A_LEVEL


def passes(levels: float, fast_points: float) -> int:
    """How often a transform of 2^levels points goes through slow memory at least."""
    return max(1, ceil(levels / log2(fast_points))) if fast_points >= 2 else 1


def _expectation(record: Record, case: Case, figures: Figures) -> Expectation:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        return roofline.expect(record, case, figures, _demand(record, case))
    if figures.device is None or figures.device.banks is None or not kernel.log_fft_size:
        return Expectation(None, reason="the system knows no memory banks or size of the pipeline")
    seconds = case.work.flops / (pipeline_gflop_s(kernel, figures.device.banks) * 1e9)
    return Expectation(seconds, bound="pipeline", parts={"pipeline": seconds})


def _demand(record: Record, case: Case) -> roofline.Demand:
    type_, points = roofline.type_of(record, case), case.labels.get("points")
    if not isinstance(points, int) or points < 4:
        return roofline.Demand(type=type_)
    return roofline.Demand(
        type=type_,
        flops=flops_of_peak(case.work.flops, log2(points)),
        passes=passes(log2(points), _fast_points(record, type_)),
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
