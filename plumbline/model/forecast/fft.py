"""FFT: a batch of transforms of 2^``size`` points, 2 GiB of them a device."""

from __future__ import annotations

from plumbline.model import boards
from plumbline.model.equations import fft
from plumbline.model.forecast import Case, Point, beyond, bitstream_of, device_of, size_of, slowest
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import System, known

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "5 s f r 8, f the slower of kernels' and memory's clock; eq. 3.1"
SIZE = "log2 of the points of a transform"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("moved",)
SENDS = False
_BATCH_BYTES = 2.0**31


def sizes(system: System) -> list[float]:
    """The board's own size, else 2^9 and 2^17 points."""
    kernel = device_of(system).bitstream("fft", "float")
    return [float(kernel.log_fft_size)] if kernel and kernel.log_fft_size else [9.0, 17.0]


def point(system: System, case: Case) -> Point:
    """One batch on each device. Operation ``moved``: bytes a second instead of flops."""
    device, kernel = device_of(system), bitstream_of(system, "fft", case)
    point_bytes = 2 * boards.NUMBER_BYTES[case.type]
    far, printed = beyond(system, case, 2 * _BATCH_BYTES), None
    if kernel is not None:
        own = known(kernel.log_fft_size, "log_fft_size", "device.bitstreams")
        levels = own if case.size is None else case.size
        if levels != own:
            far = f"the board's kernels are of 2^{own} points"
            kernel = kernel.model_copy(update={"log_fft_size": int(levels)})
        rates = boards.fft_rates(device, kernel)
        printed = _printed(device, kernel, levels) * case.ranks
    else:
        levels = size_of(case, "size")
        rates = _roofline(device, case, levels)
    flops = _flops(levels, point_bytes)
    seconds, bound, parts = slowest(flops, rates, device)
    value = flops / seconds * 1e-9 * case.ranks
    unit = ""
    if case.operation == "moved":
        unit = "GB/s"
        value = float(fft.moved_rate(value, levels, point_bytes))
        printed = printed and float(fft.moved_rate(printed, levels, point_bytes))
    return Point(seconds, value, bound, parts, printed, far, unit)


def _flops(levels: float, point_bytes: int) -> float:
    return 5 * levels * _BATCH_BYTES / point_bytes


def _printed(device: DeviceTable, kernel: Bitstream, levels: float) -> float:
    """GFLOP/s by eq. 3.1, f the slower of kernels' and memory's clock."""
    clock = kernel.frequency_mhz * 1e6
    if device.banks is not None:
        clock = min(clock, device.banks.frequency_mhz * 1e6)
    return float(fft.printed_flops(levels, clock, kernel.replications)) * 1e-9


def _roofline(device: DeviceTable, case: Case, levels: float) -> dict[str, float]:
    """Flops a second by memory, through which a batch goes in passes, and by arithmetic."""
    number_bytes = boards.NUMBER_BYTES[case.type]
    held = device.fast_bytes or (device.cache_bytes or 0) // 2 or None
    fast = known(held, "fast_bytes", "device") / number_bytes
    flops = _flops(levels, 2 * number_bytes)
    bytes_ = float(fft.passes(levels, fast)) * _BATCH_BYTES
    moved = known(device.memory_s(bytes_, bytes_), "gb_s", "device.memory")
    needed = float(fft.flops_of_peak(flops, levels))
    peak = known(device.peak_s(needed, case.type, matrix=False), case.type, "device.peaks")
    return {"memory bandwidth": flops / moved, f"peak for {case.type}": flops / peak}
