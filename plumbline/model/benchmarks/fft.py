"""FFT: the pipeline of a board (eq. 3.1), and the demands of a transform on any device.

Source: Meyer 2024, section 3.2.3.

*Arithmetic.* A peak counts multiply-adds, an FFT mostly adds. In radix 8 a butterfly of 8 points
over three levels is 52 additions and 4 multiplications (Johnson and Frigo, "A modified split-radix
FFT with fewer arithmetic operations", IEEE Trans. Signal Processing 55(1), 2007, table of N = 8: 56
flops), and multiplies 7 points by roots, each 2 multiplications and 2 multiply-adds: 84
instructions, 3.5 a point and level; 56 in the first step, which has no roots. That is 3.5 n (log2 n
- 1) instructions, each in the place of a multiply-add's two flops.

*Passes.* With a fast memory of S points n log2 n / log2 S points go through slow memory at least
(Hong and Kung, "I/O complexity: the red-blue pebble game", STOC 1981), so the batch goes through it
log2 n / log2 S times, rounded up.

*A case of a record.* On a board its pipeline takes eight points a cycle (eq. 3.1), elsewhere the
roofline.

The roofline uses the actual instructions, not the 5 n log2 n flops of nominal rates.

*A forecast.* A batch of transforms of 2^``size`` points, 2 GiB of them a device.
"""

from __future__ import annotations

from math import log2

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    at_least_a_launch,
    beyond,
    bitstream_of,
    device_of,
    size_of,
)
from plumbline.model.limits import LINK, MEMORY, Demand, peak_bound
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------

POINTS_A_CYCLE = 8
INSTRUCTIONS_A_LEVEL = 84 / 8 / 3
NAMED_FLOPS_A_LEVEL = 5


def printed_flops(levels: ArrayLike, clock: ArrayLike, replications: ArrayLike) -> Floats:
    """Eq. 3.1: p = 5 s f r 8 flops a second, s = log2 of the size, f the slower clock."""
    return floats(5 * floats(levels) * floats(clock) * floats(replications) * POINTS_A_CYCLE)


def usable_clock(
    clock: ArrayLike, interface_clock: ArrayLike, interface_bytes: ArrayLike, point_bytes: ArrayLike
) -> Floats:
    """The f of eq. 3.1 if a bank's interface is narrower than the eight points of a cycle.

    The interface's clock is then scaled by the ratio. In hertz.
    """
    share = np.minimum(1.0, floats(interface_bytes) / (POINTS_A_CYCLE * floats(point_bytes)))
    return floats(np.minimum(floats(clock), floats(interface_clock) * share))


def linked_flops(levels: ArrayLike, rate: ArrayLike, point_bytes: ArrayLike) -> Floats:
    """Flops a second over a link with ``rate`` bytes/s in each direction."""
    return floats(5 * floats(levels) * floats(rate) / floats(point_bytes))


def moved_rate(flops: ArrayLike, levels: ArrayLike, point_bytes: ArrayLike) -> Floats:
    """Bytes a second, read and written, at a rate in flops a second (table 3.6, in GB/s)."""
    return floats(floats(flops) * 2 * floats(point_bytes) / (5 * floats(levels)))


def flops_of_peak(named: ArrayLike, levels: ArrayLike) -> Floats:
    """Flops of a multiply-add peak for ``named`` nominal flops of 2^levels points."""
    share = 2 * INSTRUCTIONS_A_LEVEL * (1 - 1 / floats(levels)) / NAMED_FLOPS_A_LEVEL
    return floats(floats(named) * share)


def passes(levels: ArrayLike, fast_points: ArrayLike) -> Floats:
    """Minimum number of passes through slow memory for 2^levels points."""
    fast = floats(fast_points)
    held = np.log2(np.where(fast >= 2, fast, 2.0))
    return floats(np.where(fast >= 2, np.maximum(1, np.ceil(floats(levels) / held)), 1))


# --- a board --------------------------------------------------------------------------------------


def board_rates(device: DeviceTable, kernel: Bitstream) -> dict[str, float]:
    """Flops a second by the pipeline's clock or by the interface that feeds it (eq. 3.1)."""
    levels = known(kernel.log_fft_size, "log_fft_size", "device.bitstreams")
    point_bytes = 2 * boards.NUMBER_BYTES[kernel.type]
    clock, replications = kernel.frequency_mhz * 1e6, kernel.replications
    rates: dict[str, float] = {
        boards.KERNEL_CLOCK: float(printed_flops(levels, clock, replications))
    }
    if device.svm:
        rates[LINK] = float(linked_flops(levels, boards.link_rate(device, "read"), point_bytes))
        return rates
    banks = boards.banks_of(device)
    interface = usable_clock(
        float("inf"), banks.frequency_mhz * 1e6, banks.width_bytes, point_bytes
    )
    return {**rates, boards.BANKS: float(printed_flops(levels, interface, replications))}


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "fft"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})
# The bound counts passes through memory alone. On CPUs those within the caches add up: 2^10 points
# took 2.8 times the bound on PoCL, 2^17 points 6.5 times, 3.6 times as fast as FFTW.
MISSED = 8.0


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.1 if the system has the board's kernels, otherwise the roofline."""
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
        rates = board_rates(figures.device or DeviceTable(), kernel)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.flops, rates)


def _demand(record: Record, case: Case) -> Demand:
    type_, points = roofline.type_of(record, case), case.labels.get("points")
    if not isinstance(points, int) or points < 4:
        return Demand(type=type_)
    return Demand(
        type=type_,
        flops=float(flops_of_peak(case.work.flops, log2(points))),
        passes=int(passes(log2(points), _fast_points(record, type_))),
    )


def _fast_points(record: Record, type_: str) -> float:
    """Points that fit fast memory: on GPUs a group's local memory, otherwise the last cache.

    A group keeps its points in registers and exchanges real and imaginary parts in turn, so local
    memory holds one number of each point.
    """
    device = record.ranks[0].device
    number = 8 if type_ == "double" else 4
    if device is None:
        return 0
    if device.type == "gpu":
        return device.local_bytes / number
    return device.cache_bytes / (2 * number)


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "5 s f r 8, f the slower of kernels' and memory's clock; eq. 3.1"
SIZE = "log2 of the points of a transform"
GROWS = ""
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("moved",)
SENDS = False
_BATCH_BYTES = 2.0**31


def sizes(system: System) -> list[float]:
    """The board's own size, otherwise 2^9 and 2^17 points."""
    kernel = device_of(system).bitstream("fft", "float")
    return [float(kernel.log_fft_size)] if kernel and kernel.log_fft_size else [9.0, 17.0]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One batch on each device. Operation ``moved``: bytes a second instead of flops."""
    device, kernel = device_of(system), bitstream_of(system, "fft", scenario)
    point_bytes = 2 * boards.NUMBER_BYTES[scenario.type]
    far, printed = beyond(system, scenario, 2 * _BATCH_BYTES), None
    if kernel is not None:
        own = known(kernel.log_fft_size, "log_fft_size", "device.bitstreams")
        levels = own if scenario.size is None else scenario.size
        if levels != own:
            far = f"the board's kernels are of 2^{own} points"
            kernel = kernel.model_copy(update={"log_fft_size": int(levels)})
        rates = board_rates(device, kernel)
        printed = _printed(device, kernel, levels) * scenario.ranks
    else:
        levels = size_of(scenario, "size")
        rates = _roofline(device, scenario, levels)
    flops = _flops(levels, point_bytes)
    found = at_least_a_launch(flops, rates, device)
    value = flops / found.time_s * 1e-9 * scenario.ranks
    unit = ""
    if scenario.operation == "moved":
        unit = "GB/s"
        value = float(moved_rate(value, levels, point_bytes))
        printed = printed and float(moved_rate(printed, levels, point_bytes))
    return Forecast(found, value, printed, far, unit)


def _flops(levels: float, point_bytes: int) -> float:
    return 5 * levels * _BATCH_BYTES / point_bytes


def _printed(device: DeviceTable, kernel: Bitstream, levels: float) -> float:
    """GFLOP/s by eq. 3.1, f the slower of kernels' and memory's clock."""
    clock = kernel.frequency_mhz * 1e6
    if device.banks is not None:
        clock = min(clock, device.banks.frequency_mhz * 1e6)
    return float(printed_flops(levels, clock, kernel.replications)) * 1e-9


def _roofline(device: DeviceTable, scenario: Scenario, levels: float) -> dict[str, float]:
    """Flops a second by memory, with the passes of a batch, and by arithmetic."""
    number_bytes = boards.NUMBER_BYTES[scenario.type]
    held = device.fast_bytes or (device.cache_bytes or 0) // 2 or None
    fast = known(held, "fast_bytes", "device") / number_bytes
    flops = _flops(levels, 2 * number_bytes)
    bytes_ = float(passes(levels, fast)) * _BATCH_BYTES
    moved = known(device.memory_s(bytes_, bytes_), "gb_s", "device.memory")
    needed = float(flops_of_peak(flops, levels))
    peak = known(device.peak_s(needed, scenario.type, matrix=False), scenario.type, "device.peaks")
    return {MEMORY: flops / moved, peak_bound(scenario.type): flops / peak}
