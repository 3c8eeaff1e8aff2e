"""STREAM on a board: banks of memory, and the clock of the kernels.

Source: Meyer 2024, section 3.2.2 (peak of the banks in use; PAC: one direction of PCIe each for
reading and writing) and section 3.3.1 (kernels slower than the banks' interface). Rates in bytes a
second.

*A case of a record.* Bound by memory, on a board by its banks and its kernels' clock; transfers by
the link.

*A forecast.* Arrays of ``size`` numbers a device, by banks, kernels' clock or link.
"""

from __future__ import annotations

from typing import Literal

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
from plumbline.model.limits import LINK, MEMORY, Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------


def printed_rate(banks: ArrayLike, bank_rate: ArrayLike) -> Floats:
    """Section 3.2.2: the theoretical peak of the board, all banks."""
    return floats(floats(banks) * floats(bank_rate))


def bank_rate(banks: ArrayLike, rate: ArrayLike, replications: ArrayLike) -> Floats:
    """The peak of the banks in use, one per replication."""
    return floats(np.minimum(floats(replications), floats(banks)) * floats(rate))


def kernel_rate(replications: ArrayLike, cycle_bytes: ArrayLike, clock: ArrayLike) -> Floats:
    """The kernels' maximum demand: bytes per cycle times clock."""
    return floats(floats(replications) * floats(cycle_bytes) * floats(clock))


def duplex_rate(reads: ArrayLike, writes: ArrayLike, rate: ArrayLike) -> Floats:
    """Over a link with ``rate`` in each direction: arrays read and written at the same time.

    The direction with more arrays bounds: (reads + writes) / max(reads, writes) of the rate.
    """
    read, written = floats(reads), floats(writes)
    return floats((read + written) / np.maximum(read, written) * floats(rate))


# --- a board --------------------------------------------------------------------------------------

READS = {"copy": 1, "scale": 1, "add": 2, "triad": 2}


def cycle_bytes(kernel: Bitstream) -> int:
    """Bytes that one replication of STREAM moves in a cycle."""
    lanes = (kernel.vector_count or 1) * (kernel.global_mem_unroll or 1)
    return lanes * boards.NUMBER_BYTES[kernel.type]


def board_rates(device: DeviceTable, kernel: Bitstream, operation: str) -> dict[str, float]:
    """Bytes a second by the banks and by the kernels' clock; with ``svm`` by the link's duplex."""
    clock = kernel.frequency_mhz * 1e6
    if device.svm:
        reads = READS[operation]
        rate = duplex_rate(reads, 1, boards.link_rate(device, "read"))
        # A single pipeline, which reads and writes in the same cycle.
        asked = (reads + 1) * kernel_rate(kernel.replications, cycle_bytes(kernel), clock)
        return {LINK: float(rate), boards.KERNEL_CLOCK: float(asked)}
    banks = boards.banks_of(device)
    of_banks = bank_rate(banks.count, banks.gb_s * 1e9, kernel.replications)
    asked = kernel_rate(kernel.replications, cycle_bytes(kernel), clock)
    return {boards.BANKS: float(of_banks), boards.KERNEL_CLOCK: float(asked)}


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "stream"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels if the system has them, otherwise the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "replications x min(bank, bytes a cycle x clock) (Meyer 2024, section 3.2.2)"
    return f"{roofline.NAME}: {roofline.FORMULA}; transfers by the link"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each operation."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    operation = case.label("operation")
    if operation in ("write", "read"):
        return _transfer(record, case, figures)
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if not kernel:
        demand = Demand(type=roofline.type_of(record, case))
        return roofline.expect(record, case, figures, demand)
    try:
        rates = board_rates(figures.device or DeviceTable(), kernel, operation)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.bytes_read + case.work.bytes_written, rates)


def _transfer(record: Record, case: Case, figures: Figures) -> Prediction:
    """Write: from the host into the device's memory; read: the other way."""
    link = figures.device.link if figures.device else None
    reads = case.label("operation") == "read"
    size = case.work.bytes_read if reads else case.work.bytes_written
    seconds = link.time_s("read" if reads else "write", size) if link else None
    if seconds is None:
        return Prediction.unknown("the system has no link to the host")
    share = 1 if figures.by_all_ranks else roofline.sharers(record)
    # On the host the link is the host's memory.
    reason = roofline.in_cache(record, figures, size) if roofline.is_on_host(record) else ""
    return Prediction.in_turn({LINK: seconds * share}, reason or None)


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "min(banks in use x a bank's peak, bytes a cycle x clock); section 3.2.2"
SIZE = "numbers of an array"
GROWS = ""
RANKS = (1,)
OPERATIONS = ("copy", "scale", "add", "triad", "read", "write")
MORE: tuple[str, ...] = ()
SENDS = False
_DIRECTIONS: dict[str, Literal["read", "write"]] = {"read": "read", "write": "write"}


def sizes(_system: System) -> list[float]:
    """2^29 numbers, as in table 3.6."""
    return [2.0**29]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One operation. ``read`` and ``write`` are the link to the host, three arrays."""
    device = device_of(system)
    array = size_of(scenario, "size") * boards.NUMBER_BYTES[scenario.type]
    arrays = 3 if scenario.operation in _DIRECTIONS else READS[scenario.operation] + 1
    moved = arrays * array
    rates, printed = _rates(system, scenario, moved)
    found = at_least_a_launch(moved, rates, device)
    value = moved / found.time_s * 1e-9 * scenario.ranks
    if printed is not None:
        printed *= 1e-9 * scenario.ranks
    return Forecast(found, value, printed, beyond(system, scenario, 3 * array))


def _rates(
    system: System, scenario: Scenario, moved: float
) -> tuple[dict[str, float], float | None]:
    """Bytes a second by each bound, and by the printed peak."""
    device = device_of(system)
    direction = _DIRECTIONS.get(scenario.operation)
    if direction is not None:
        link = known(device.link, direction, "device.link")
        seconds = known(link.time_s(direction, moved), direction, "device.link")
        return {LINK: moved / seconds}, boards.link_rate(device, direction)
    kernel = bitstream_of(system, "stream", scenario)
    if kernel is None:
        written = moved / (READS[scenario.operation] + 1)
        seconds = known(device.memory_s(moved - written, written), "gb_s", "device.memory")
        return {MEMORY: moved / seconds}, None
    rates = board_rates(device, kernel, scenario.operation)
    if device.svm:
        return rates, None
    banks = boards.banks_of(device)
    return rates, float(printed_rate(banks.count, banks.gb_s * 1e9))
