"""STREAM: arrays of ``size`` numbers a device, by banks, kernels' clock or link."""

from __future__ import annotations

from plumbline import boards
from plumbline.equations import stream
from plumbline.forecast import Case, Point, beyond, bitstream_of, device_of, size_of, slowest
from plumbline.systems import System, known

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "min(banks in use x a bank's peak, bytes a cycle x clock); section 3.2.2"
SIZE = "numbers of an array"
OPERATIONS = ("copy", "scale", "add", "triad", "read", "write")
SENDS = False


def sizes(_system: System) -> list[float]:
    """2^29 numbers, as of table 3.6."""
    return [2.0**29]


def point(system: System, case: Case) -> Point:
    """One operation. ``read`` and ``write`` are the link to the host, three arrays."""
    device, numbers = device_of(system), size_of(case, "size")
    number_bytes = boards.NUMBER_BYTES[case.type]
    reads = boards.READS.get(case.operation, 1)
    printed = None
    if case.operation in ("read", "write"):
        moved = 3 * numbers * number_bytes
        link = known(device.link, "read" if case.operation == "read" else "write", "device.link")
        direction = "read" if case.operation == "read" else "write"
        seconds = known(link.time_s(direction, moved), direction, "device.link")  # type: ignore[arg-type]
        rates = {"link": moved / seconds}
        printed = boards.link_rate(device, direction) * case.ranks * 1e-9  # type: ignore[arg-type]
    else:
        moved = (reads + 1) * numbers * number_bytes
        kernel = bitstream_of(system, "stream", case)
        if kernel is not None:
            rates = boards.stream_rates(device, kernel, case.operation)
            if not device.svm:
                banks = boards.banks_of(device)
                printed = float(stream.printed_rate(banks.count, banks.gb_s)) * case.ranks
        else:
            share = moved / (reads + 1)
            seconds = known(device.memory_s(reads * share, share), "gb_s", "device.memory")
            rates = {"memory bandwidth": moved / seconds}
    seconds, bound, parts = slowest(moved, rates, device)
    value = moved / seconds * 1e-9 * case.ranks
    far = beyond(system, case, 3 * numbers * number_bytes)
    return Point(seconds, value, bound, parts, printed, far)
