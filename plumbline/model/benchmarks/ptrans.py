"""PTRANS, C = B + A^T over a grid of devices (P = Q): what a block takes, and who bounds.

Source: Meyer 2024, sections 4.1.2.1 and 4.1.2.2, eq. 4.5 and 4.6. b is a block's rows, c_w the
width of the channel in numbers (eq. 4.5) or bytes (eq. 4.6), c_f its clock in hertz.

*A forecast.* C = B + A^T of n x n numbers, n = ``size``, over a grid with P = Q.
"""

from __future__ import annotations

import numpy as np

from plumbline.model import boards
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    beyond,
    bitstream_of,
    device_of,
    side_of,
    size_of,
)
from plumbline.model.prediction import Prediction
from plumbline.model.transfer import transfer_of
from plumbline.system.system import System, known

# --- equations ------------------------------------------------------------------------------------

ARRAYS = 3  # A and B are read, C is written


def printed_block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5 as printed: t_MPI + 3 b^2/c_w c_f; cycles *times* a clock are no seconds."""
    return floats(floats(mpi_s) + ARRAYS * floats(b) ** 2 / floats(width) * floats(clock))


def block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5 as it must be read: t_MPI + 3 b^2 / (c_w c_f)."""
    return floats(floats(mpi_s) + ARRAYS * floats(b) ** 2 / (floats(width) * floats(clock)))


def needed_memory_rate(channels: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.6: b_global = 3 r c_w c_f bytes a second, for the channels to bound."""
    return floats(ARRAYS * floats(channels) * floats(width) * floats(clock))


def printed_peak(
    devices: ArrayLike, channels: ArrayLike, width: ArrayLike, clock: ArrayLike
) -> Floats:
    """Section 4.1.2.2: p = i r c_w c_f. Called FLOP/s there; its unit is bytes a second."""
    return floats(floats(devices) * floats(channels) * floats(width) * floats(clock))


def exchanged_bytes(n: ArrayLike, devices: ArrayLike, number_bytes: ArrayLike) -> Floats:
    """What one device sends of A: its n^2/p numbers; none where p = 1 (it is its own partner)."""
    count = floats(devices)
    return floats(np.where(count > 1, floats(n) ** 2 / count * floats(number_bytes), 0.0))


def transposed_s(
    n: ArrayLike, devices: ArrayLike, number_bytes: ArrayLike, memory_rate: ArrayLike
) -> Floats:
    """One device's three arrays through its memory, at ``memory_rate``."""
    share = floats(n) ** 2 / floats(devices) * floats(number_bytes)
    return floats(ARRAYS * share / floats(memory_rate))


def sent_rate(n: ArrayLike, number_bytes: ArrayLike, seconds: ArrayLike) -> Floats:
    """Table 4.8's figure: n^2 numbers of A in bytes, over the time, of the whole machine."""
    return floats(floats(n) ** 2 * floats(number_bytes) / floats(seconds))


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "n^2 numbers over max(channels, memory), or over the exchange + 3 b^2/(c_w f) a block"
SIZE = "rows of the whole matrix"
GROWS = "side"
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True


def sizes(_system: System) -> list[float]:
    """16,384 rows, as figure 4.12 says (the text says 32,768)."""
    return [16384.0]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """The whole matrix, transposed over all devices."""
    side_of(scenario.ranks)
    n, number_bytes = size_of(scenario, "size"), boards.NUMBER_BYTES[scenario.type]
    transport = scenario.transport or ("channel" if system.channel else "staged")
    over = Scenario(**{**vars(scenario), "transport": transport})
    sent = float(exchanged_bytes(n, scenario.ranks, number_bytes))
    if transport == "channel":
        parts, printed = _over_channels(system, over, sent)
        found = Prediction.at_once(parts)
    else:
        parts, printed = _over_hosts(system, over, sent), None
        found = Prediction.in_turn(parts)
    value = float(sent_rate(n, number_bytes, found.time_s)) * 1e-9
    return Forecast(
        found,
        value,
        printed,
        beyond(system, scenario, 3 * n**2 / scenario.ranks * number_bytes),
    )


def _over_channels(
    system: System, scenario: Scenario, sent: float
) -> tuple[dict[str, float], float | None]:
    """All at once: sending, and three arrays through memory (eq. 4.6)."""
    channel = known(system.channel, "count", "channel")
    rate = channel.count * channel.channel_gb_s() * 1e9
    memory = _memory_s(system, scenario)
    parts = {"channels": sent / rate, "memory": memory}
    return parts, scenario.ranks * rate * 1e-9 if scenario.ranks > 1 else None


def _over_hosts(system: System, scenario: Scenario, sent: float) -> dict[str, float]:
    """One after the other: the exchange of A, then three pipelines (eq. 4.5)."""
    way = transfer_of(system, scenario.transport or "staged", scenario.approach)
    kernel = known(bitstream_of(system, "ptrans", scenario), "ptrans", "device.bitstreams")
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    width = known(kernel.channel_width, "channel_width", "device.bitstreams")
    blocks = size_of(scenario, "size") ** 2 / scenario.ranks / b**2 / kernel.replications
    pipelines = blocks * float(block_s(0, b, width, kernel.frequency_mhz * 1e6))
    memory = _memory_s(system, scenario)
    parts = {name: float(part) for name, part in way.parts_s(sent).items()} if sent else {}
    return {**parts, "kernels": max(pipelines, memory)}


def _memory_s(system: System, scenario: Scenario) -> float:
    kernel = known(bitstream_of(system, "ptrans", scenario), "ptrans", "device.bitstreams")
    rate = boards.memory_rate(device_of(system), kernel)
    number_bytes = boards.NUMBER_BYTES[scenario.type]
    return float(transposed_s(size_of(scenario, "size"), scenario.ranks, number_bytes, rate))
