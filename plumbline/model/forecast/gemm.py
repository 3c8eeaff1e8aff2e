"""GEMM: products of n x n matrices, n = ``size``, one on each device."""

from __future__ import annotations

from math import ceil

from plumbline.model import boards
from plumbline.model.equations import gemm
from plumbline.model.forecast import (
    Case,
    Point,
    Timed,
    beyond,
    bitstream_of,
    device_of,
    longest,
    size_of,
    slowest,
)
from plumbline.system.device import Bitstream
from plumbline.system.system import System, known

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "load + b^3/(g^3 f_k) + load b/n a block of b rows; eq. 3.2"
SIZE = "rows of a matrix"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("normalised",)
SENDS = False


def sizes(_system: System) -> list[float]:
    """4,096 rows, as of table 3.6."""
    return [4096.0]


def point(system: System, case: Case) -> Point:
    """One product on each device. Operation ``normalised``: of one replication at 100 MHz."""
    n, kernel = size_of(case, "size"), bitstream_of(system, "gemm", case)
    far = beyond(system, case, 3 * boards.NUMBER_BYTES[case.type] * n**2)
    if kernel is None:
        seconds, bound, parts = _roofline(system, case, n)
        return Point(seconds, _rate(n, seconds, case), bound, parts, None, far)
    block = boards.block_parts_s(device_of(system), kernel, int(n))
    b = kernel.block_size or 1
    if n % b:
        far = far or f"{n:g} rows are no whole number of blocks of {b}"
    rounds = ceil(n / b) ** 3 / kernel.replications
    parts = {name: rounds * seconds for name, seconds in block.items()}
    seconds = sum(parts.values())
    value, printed = _rate(n, seconds, case), _printed(system, kernel, n) * case.ranks
    unit = ""
    if case.operation == "normalised":
        unit = "GFLOP/s at 100 MHz"
        clock = kernel.frequency_mhz * 1e6
        value, printed = (
            float(gemm.normalised(rate, kernel.replications, clock)) for rate in (value, printed)
        )
    return Point(seconds, value, longest(parts), parts, printed, far, unit)


def _rate(n: float, seconds: float, case: Case) -> float:
    return 2 * n**3 / seconds * 1e-9 * case.ranks


def _printed(system: System, kernel: Bitstream, n: float) -> float:
    """GFLOP/s by eq. 3.2; f_mem, which is not printed, is the memory interface's clock."""
    banks, clock = device_of(system).banks, kernel.frequency_mhz * 1e6
    memory = banks.frequency_mhz * 1e6 if banks else clock
    b, u, g = kernel.block_size or 1, kernel.global_mem_unroll or 1, kernel.gemm_size or 1
    block = gemm.printed_block_s(b, u, g, n, clock, memory)
    return float(gemm.flops(b, kernel.replications, block)) * 1e-9


def _roofline(system: System, case: Case, n: float) -> Timed:
    """Both factors and C read, C written; by matrix units where the device has them."""
    device, flops = device_of(system), 2 * n**3
    matrix = case.type != "float" and device.knows_matrix_units(case.type)
    peak = known(device.peak_s(flops, case.type, matrix=matrix), case.type, "device.peaks")
    array = boards.NUMBER_BYTES[case.type] * n**2
    moved = known(device.memory_s(3 * array, array), "gb_s", "device.memory")
    rates = {f"peak for {case.type}": flops / peak, "memory bandwidth": flops / moved}
    return slowest(flops, rates, device)
