"""PTRANS: C = B + A^T of n x n numbers, n = ``size``, over a grid with P = Q."""

from __future__ import annotations

from plumbline.model import boards
from plumbline.model.equations import ptrans
from plumbline.model.forecast import (
    Case,
    Point,
    beyond,
    bitstream_of,
    device_of,
    longest,
    side_of,
    size_of,
)
from plumbline.model.transfer import transfer_of
from plumbline.system.system import System, known

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "n^2 numbers over max(channels, memory), or over the exchange + 3 b^2/(c_w f) a block"
SIZE = "rows of the whole matrix"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True


def sizes(_system: System) -> list[float]:
    """16,384 rows, as figure 4.12 says (the text says 32,768)."""
    return [16384.0]


def point(system: System, case: Case) -> Point:
    """The whole matrix, transposed over all devices."""
    side_of(case.ranks)
    n, number_bytes = size_of(case, "size"), boards.NUMBER_BYTES[case.type]
    transport = case.transport or ("channel" if system.channel else "staged")
    over = Case(**{**vars(case), "transport": transport})
    sent = float(ptrans.exchanged_bytes(n, case.ranks, number_bytes))
    if transport == "channel":
        parts, printed = _over_channels(system, over, sent)
        bound = longest(parts)
        seconds = parts[bound]
    else:
        parts, printed = _over_hosts(system, over, sent), None
        bound, seconds = longest(parts), sum(parts.values())
    value = float(ptrans.sent_rate(n, number_bytes, seconds)) * 1e-9
    return Point(
        seconds,
        value,
        bound,
        parts,
        printed,
        beyond(system, case, 3 * n**2 / case.ranks * number_bytes),
    )


def _over_channels(
    system: System, case: Case, sent: float
) -> tuple[dict[str, float], float | None]:
    """All at once: sending, and three arrays through memory (eq. 4.6)."""
    channel = known(system.channel, "count", "channel")
    rate = channel.count * channel.channel_gb_s() * 1e9
    memory = _memory_s(system, case)
    parts = {"channels": sent / rate, "memory": memory}
    return parts, case.ranks * rate * 1e-9 if case.ranks > 1 else None


def _over_hosts(system: System, case: Case, sent: float) -> dict[str, float]:
    """One after the other: the exchange of A, then three pipelines (eq. 4.5)."""
    way = transfer_of(system, case.transport or "staged", case.approach)
    kernel = known(bitstream_of(system, "ptrans", case), "ptrans", "device.bitstreams")
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    width = known(kernel.channel_width, "channel_width", "device.bitstreams")
    blocks = size_of(case, "size") ** 2 / case.ranks / b**2 / kernel.replications
    pipelines = blocks * float(ptrans.block_s(0, b, width, kernel.frequency_mhz * 1e6))
    memory = _memory_s(system, case)
    parts = {name: float(part) for name, part in way.parts_s(sent).items()} if sent else {}
    return {**parts, "kernels": max(pipelines, memory)}


def _memory_s(system: System, case: Case) -> float:
    kernel = known(bitstream_of(system, "ptrans", case), "ptrans", "device.bitstreams")
    rate = boards.memory_rate(device_of(system), kernel)
    number_bytes = boards.NUMBER_BYTES[case.type]
    return float(ptrans.transposed_s(size_of(case, "size"), case.ranks, number_bytes, rate))
