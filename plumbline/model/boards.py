"""What the kernels of a board can do at most: its figures, put into the equations.

Each function takes a device with a bitstream of its benchmark and answers with every bound that
holds, by name: rates in units a second, or times of a block in seconds. The least rate and the sum
of times are what to expect. A figure that the system lacks is a :class:`UsageError` that names it.
"""

from __future__ import annotations

from typing import Literal

from plumbline.model.equations import fft, gemm, random_access, stream
from plumbline.model.limits import LINK
from plumbline.model.prediction import Bound
from plumbline.system.device import Banks, Bitstream, DeviceTable, Link
from plumbline.system.system import known

BANKS = Bound("banks", "banks")
KERNEL_CLOCK = Bound("kernel clock", "kernels", of_kernels=True)
GENERATORS = Bound("generators", "kernels", of_kernels=True)
LOAD = Bound("load", "kernels")
MULTIPLY = Bound("multiply", "kernels", of_kernels=True)
NUMBER_BYTES = {"half": 2, "float": 4, "double": 8}
READS = {"copy": 1, "scale": 1, "add": 2, "triad": 2}


def banks_of(device: DeviceTable) -> Banks:
    """The memory banks, which must be known."""
    return known(device.banks, "count", "device.banks")


def memory_rate(device: DeviceTable, kernel: Bitstream) -> float:
    """Bytes a second that memory delivers at most to kernels of ``kernel``, all together."""
    if device.svm:
        return link_rate(device, "read")
    banks = banks_of(device)
    return min(kernel.banks or banks.count, banks.count) * banks.gb_s * 1e9


def link_rate(device: DeviceTable, direction: Literal["read", "write"]) -> float:
    """Bytes a second of the link to the host, for long copies."""
    link = device.link or Link()
    segments = link.read if direction == "read" else link.write
    found = segments[-1].bandwidth_gb_s if segments else None
    return known(found, "bandwidth_gb_s", f"device.link.{direction}") * 1e9


def cycle_bytes(kernel: Bitstream) -> int:
    """Bytes that one replication of STREAM moves in a cycle."""
    lanes = (kernel.vector_count or 1) * (kernel.global_mem_unroll or 1)
    return lanes * NUMBER_BYTES[kernel.type]


def stream_rates(device: DeviceTable, kernel: Bitstream, operation: str) -> dict[str, float]:
    """Bytes a second by the banks and by the kernels' clock; with ``svm`` by the link's duplex."""
    clock = kernel.frequency_mhz * 1e6
    if device.svm:
        reads = READS[operation]
        rate = stream.duplex_rate(reads, 1, link_rate(device, "read"))
        # A single pipeline, which reads and writes in the same cycle.
        asked = (reads + 1) * stream.kernel_rate(kernel.replications, cycle_bytes(kernel), clock)
        return {LINK: float(rate), KERNEL_CLOCK: float(asked)}
    banks = banks_of(device)
    bank_rate = stream.bank_rate(banks.count, banks.gb_s * 1e9, kernel.replications)
    asked = stream.kernel_rate(kernel.replications, cycle_bytes(kernel), clock)
    return {BANKS: float(bank_rate), KERNEL_CLOCK: float(asked)}


def update_rates(device: DeviceTable, kernel: Bitstream, devices: int = 1) -> dict[str, float]:
    """Random updates a second of all devices, by the generators and by the banks (not ``svm``)."""
    clock = kernel.frequency_mhz * 1e6
    rates: dict[str, float] = {
        GENERATORS: float(random_access.generator_rate(kernel.rng_count or 1, clock))
    }
    if not device.svm:
        banks = banks_of(device)
        of_one = random_access.bank_rate(
            kernel.replications, banks.count, clock, banks.frequency_mhz * 1e6
        )
        rates[BANKS] = devices * float(of_one)
    return rates


def fft_rates(device: DeviceTable, kernel: Bitstream) -> dict[str, float]:
    """Flops a second by the pipeline's clock or by the interface that feeds it (eq. 3.1)."""
    levels = known(kernel.log_fft_size, "log_fft_size", "device.bitstreams")
    point_bytes = 2 * NUMBER_BYTES[kernel.type]
    clock, replications = kernel.frequency_mhz * 1e6, kernel.replications
    rates: dict[str, float] = {KERNEL_CLOCK: float(fft.printed_flops(levels, clock, replications))}
    if device.svm:
        rates[LINK] = float(fft.linked_flops(levels, link_rate(device, "read"), point_bytes))
        return rates
    banks = banks_of(device)
    interface = fft.usable_clock(
        float("inf"), banks.frequency_mhz * 1e6, banks.width_bytes, point_bytes
    )
    return {**rates, BANKS: float(fft.printed_flops(levels, interface, replications))}


def block_parts_s(device: DeviceTable, kernel: Bitstream, inner: int) -> dict[str, float]:
    """Seconds to load, multiply and store one block of a product (eq. 3.2, our reading)."""
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    u = known(kernel.global_mem_unroll, "global_mem_unroll", "device.bitstreams")
    g = known(kernel.gemm_size, "gemm_size", "device.bitstreams")
    clock = kernel.frequency_mhz * 1e6
    rate = memory_rate(device, kernel)
    load = gemm.load_s(b, u, clock, kernel.replications, NUMBER_BYTES[kernel.type], rate)
    return {
        LOAD: float(load),
        MULTIPLY: float(gemm.multiply_s(b, g, clock)),
        "store": float(gemm.store_s(load, inner, b)),
    }
