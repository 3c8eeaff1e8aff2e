"""Boards: their bounds, and the rates of memory and link that their kernels share.

The limits of a benchmark's kernels, ``board_rates``, are in the benchmark's module. A missing
figure of the system is a :class:`UsageError` that names it.
"""

from __future__ import annotations

from typing import Literal

from plumbline.model.prediction import Bound
from plumbline.system.device import Banks, Bitstream, DeviceTable, Link
from plumbline.system.system import known

BANKS = Bound("banks", "banks")
KERNEL_CLOCK = Bound("kernel clock", "kernels", of_kernels=True)
GENERATORS = Bound("generators", "kernels", of_kernels=True)
LOAD = Bound("load", "kernels")
MULTIPLY = Bound("multiply", "kernels", of_kernels=True)
NUMBER_BYTES = {"half": 2, "float": 4, "double": 8}


def banks_of(device: DeviceTable) -> Banks:
    """The memory banks. Raises if unknown."""
    return known(device.banks, "count", "device.banks")


def memory_rate(device: DeviceTable, kernel: Bitstream) -> float:
    """Maximum bytes a second between memory and all kernels of ``kernel``."""
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
