"""STREAM: arrays of ``size`` numbers a device, by banks, kernels' clock or link."""

from __future__ import annotations

from typing import Literal

from plumbline.model import boards
from plumbline.model.equations import stream
from plumbline.model.forecast import Case, Point, beyond, bitstream_of, device_of, size_of, slowest
from plumbline.system.system import System, known

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "min(banks in use x a bank's peak, bytes a cycle x clock); section 3.2.2"
SIZE = "numbers of an array"
OPERATIONS = ("copy", "scale", "add", "triad", "read", "write")
MORE: tuple[str, ...] = ()
SENDS = False
_DIRECTIONS: dict[str, Literal["read", "write"]] = {"read": "read", "write": "write"}


def sizes(_system: System) -> list[float]:
    """2^29 numbers, as of table 3.6."""
    return [2.0**29]


def point(system: System, case: Case) -> Point:
    """One operation. ``read`` and ``write`` are the link to the host, three arrays."""
    device = device_of(system)
    array = size_of(case, "size") * boards.NUMBER_BYTES[case.type]
    arrays = 3 if case.operation in _DIRECTIONS else boards.READS[case.operation] + 1
    moved = arrays * array
    rates, printed = _rates(system, case, moved)
    seconds, bound, parts = slowest(moved, rates, device)
    value = moved / seconds * 1e-9 * case.ranks
    if printed is not None:
        printed *= 1e-9 * case.ranks
    return Point(seconds, value, bound, parts, printed, beyond(system, case, 3 * array))


def _rates(system: System, case: Case, moved: float) -> tuple[dict[str, float], float | None]:
    """Bytes a second by each bound, and by the peak that the source prints."""
    device = device_of(system)
    direction = _DIRECTIONS.get(case.operation)
    if direction is not None:
        link = known(device.link, direction, "device.link")
        seconds = known(link.time_s(direction, moved), direction, "device.link")
        return {"link": moved / seconds}, boards.link_rate(device, direction)
    kernel = bitstream_of(system, "stream", case)
    if kernel is None:
        written = moved / (boards.READS[case.operation] + 1)
        seconds = known(device.memory_s(moved - written, written), "gb_s", "device.memory")
        return {"memory bandwidth": moved / seconds}, None
    rates = boards.stream_rates(device, kernel, case.operation)
    if device.svm:
        return rates, None
    banks = boards.banks_of(device)
    return rates, float(stream.printed_rate(banks.count, banks.gb_s * 1e9))
