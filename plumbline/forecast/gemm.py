"""GEMM: products of n x n matrices, n = ``size``, one on each device."""

from __future__ import annotations

from math import ceil

from plumbline import boards
from plumbline.equations import gemm
from plumbline.forecast import (
    Case,
    Point,
    beyond,
    bitstream_of,
    device_of,
    longest,
    size_of,
    slowest,
)
from plumbline.systems import System, known

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "load + b^3/(g^3 f_k) + load b/n a block of b rows; eq. 3.2"
SIZE = "rows of a matrix"
OPERATIONS = ("",)
SENDS = False


def sizes(_system: System) -> list[float]:
    """4,096 rows, as of table 3.6."""
    return [4096.0]


def point(system: System, case: Case) -> Point:
    """One product on each device."""
    device, n = device_of(system), size_of(case, "size")
    kernel = bitstream_of(system, "gemm", case)
    flops = 2 * n**3
    far = beyond(system, case, 3 * boards.NUMBER_BYTES[case.type] * n**2)
    if kernel is None:
        matrix = case.type != "float" and device.knows_matrix_units(case.type)
        peak = known(device.peak_s(flops, case.type, matrix=matrix), case.type, "device.peaks")
        bytes_ = boards.NUMBER_BYTES[case.type] * n**2
        moved = known(device.memory_s(3 * bytes_, bytes_), "gb_s", "device.memory")
        rates = {f"peak for {case.type}": flops / peak, "memory bandwidth": flops / moved}
        seconds, bound, parts = slowest(flops, rates, device)
        return Point(seconds, flops / seconds * 1e-9 * case.ranks, bound, parts, None, far)
    block = boards.block_parts_s(device, kernel, int(n))
    b = kernel.block_size or 1
    if n % b:
        far = f"{n:g} rows are no whole number of blocks of {b}"
    rounds = ceil(n / b) ** 3 / kernel.replications
    parts = {name: rounds * seconds for name, seconds in block.items()}
    seconds = sum(parts.values())
    value = flops / seconds * 1e-9 * case.ranks
    clock = kernel.frequency_mhz * 1e6
    memory = device.banks.frequency_mhz * 1e6 if device.banks else clock
    one = gemm.printed_block_s(
        b, kernel.global_mem_unroll or 1, kernel.gemm_size or 1, n, clock, memory
    )
    printed = float(gemm.flops(b, kernel.replications, one)) * 1e-9 * case.ranks
    if case.operation == "normalised":
        value, printed = (
            float(gemm.normalised(rate, kernel.replications, clock)) for rate in (value, printed)
        )
    return Point(seconds, value, longest(parts), parts, printed, far)
