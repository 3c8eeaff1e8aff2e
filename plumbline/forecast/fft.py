"""FFT: a batch of transforms of 2^``size`` points, 2 GiB of them a device."""

from __future__ import annotations

from plumbline import boards
from plumbline.equations import fft
from plumbline.forecast import Case, Point, beyond, bitstream_of, device_of, size_of, slowest
from plumbline.systems import System, known

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "5 s f r 8, f the slower of kernels' and memory's clock; eq. 3.1"
SIZE = "log2 of the points of a transform"
OPERATIONS = ("",)
SENDS = False
_BATCH_BYTES = 2.0**31


def sizes(system: System) -> list[float]:
    """The board's own size, else 2^9 and 2^17 points."""
    kernel = device_of(system).bitstream("fft", "float")
    return [float(kernel.log_fft_size)] if kernel and kernel.log_fft_size else [9.0, 17.0]


def point(system: System, case: Case) -> Point:
    """One batch on each device."""
    device = device_of(system)
    far = beyond(system, case, 2 * _BATCH_BYTES)
    kernel = bitstream_of(system, "fft", case)
    point_bytes = 2 * boards.NUMBER_BYTES[case.type]
    printed = None
    if kernel is not None:
        levels = float(known(kernel.log_fft_size, "log_fft_size", "device.bitstreams"))
        if case.size is not None and case.size != levels:
            far = f"the board's kernels are of 2^{levels:g} points"
            kernel = kernel.model_copy(update={"log_fft_size": int(case.size)})
            levels = case.size
        rates = boards.fft_rates(device, kernel)
        clock = kernel.frequency_mhz * 1e6
        if device.banks is not None:
            clock = min(clock, device.banks.frequency_mhz * 1e6)
        printed = float(fft.printed_flops(levels, clock, kernel.replications)) * 1e-9 * case.ranks
        flops = 5 * levels * _BATCH_BYTES / point_bytes
    else:
        levels = size_of(case, "size")
        flops = 5 * levels * _BATCH_BYTES / point_bytes
        held = device.fast_bytes or (device.cache_bytes or 0) // 2 or None
        fast = known(held, "fast_bytes", "device") / boards.NUMBER_BYTES[case.type]
        times = float(fft.passes(levels, fast))
        moved = known(
            device.memory_s(times * _BATCH_BYTES, times * _BATCH_BYTES), "gb_s", "device.memory"
        )
        needed = float(fft.flops_of_peak(flops, levels))
        peak = known(device.peak_s(needed, case.type, matrix=False), case.type, "device.peaks")
        rates = {"memory bandwidth": flops / moved, f"peak for {case.type}": flops / peak}
    seconds, bound, parts = slowest(flops, rates, device)
    value = flops / seconds * 1e-9 * case.ranks
    if case.operation == "moved":
        value = float(fft.moved_rate(value, levels, point_bytes))
        printed = printed and float(fft.moved_rate(printed, levels, point_bytes))
    return Point(seconds, value, bound, parts, printed, far)
