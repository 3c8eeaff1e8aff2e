"""PTRANS, C = B + A^T over a grid of devices (P = Q): the time of a block, and the bound.

Source: Meyer 2024, sections 4.1.2.1 and 4.1.2.2, eq. 4.5 and 4.6. b is a block's rows, c_w the
width of the channel in numbers (eq. 4.5) or bytes (eq. 4.6), c_f its clock in hertz.

*A case of a record.* The slowest rank: its exchange by legs, and its pipelines on a board with a
known bitstream (eq. 4.5), or three arrays through its memory. If exchange and kernels overlap by
stages, the longer hides the other except for one stage; on the host both use the same cores and
nothing is hidden.

*A forecast.* C = B + A^T of n x n numbers, n = ``size``, over a grid with P = Q.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
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
from plumbline.model.legs import LEGS_OF
from plumbline.model.prediction import Prediction
from plumbline.model.shared import Shared
from plumbline.model.transfer import transfer_of
from plumbline.record.record import Case, Record, Work
from plumbline.system.device import Bitstream
from plumbline.system.segments import time_of
from plumbline.system.system import Figures, Legs, Need, System, known

# --- equations ------------------------------------------------------------------------------------

ARRAYS = 3  # A and B are read, C is written


def printed_block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5 as printed: t_MPI + 3 b^2/c_w c_f; cycles *times* a clock are no seconds."""
    return floats(floats(mpi_s) + ARRAYS * floats(b) ** 2 / floats(width) * floats(clock))


def block_s(mpi_s: ArrayLike, b: ArrayLike, width: ArrayLike, clock: ArrayLike) -> Floats:
    """Eq. 4.5, corrected: t_MPI + 3 b^2 / (c_w c_f)."""
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
    """Bytes of A that one device sends: its n^2/p numbers; 0 where p = 1 (its own partner)."""
    count = floats(devices)
    return floats(np.where(count > 1, floats(n) ** 2 / count * floats(number_bytes), 0.0))


def transposed_s(
    n: ArrayLike, devices: ArrayLike, number_bytes: ArrayLike, memory_rate: ArrayLike
) -> Floats:
    """One device's three arrays through its memory, at ``memory_rate``."""
    share = floats(n) ** 2 / floats(devices) * floats(number_bytes)
    return floats(ARRAYS * share / floats(memory_rate))


def sent_rate(n: ArrayLike, number_bytes: ArrayLike, seconds: ArrayLike) -> Floats:
    """Table 4.8's figure, of the whole machine: n^2 numbers of A in bytes over the time."""
    return floats(floats(n) ** 2 * floats(number_bytes) / floats(seconds))


def overlapped_s(exchange_s: ArrayLike, kernel_s: ArrayLike, stages: ArrayLike) -> Floats:
    """Both cut into ``stages``, each stage's kernels after its exchange: a two-step pipeline.

    The longer one is idle only during the first stage's exchange, or the last one's kernels.
    """
    exchange, kernel = floats(exchange_s), floats(kernel_s)
    return floats(np.maximum(exchange, kernel) + np.minimum(exchange, kernel) / floats(stages))


# --- a case of a record ---------------------------------------------------------------------------

NEEDS: Need = "legs"
TRANSPORTS = frozenset({"local", "mpi", "staged"})
_KERNELS = ("memory", "kernels")  # parts of the kernels; all others are transfers


def describe(record: Record, figures: Figures) -> str:
    """Exchange, and pipelines or memory."""
    kernel = roofline.bitstream(record, figures, "ptrans")
    device = (
        "3 b^2/(c_w f) a block (Meyer 2024, eq. 4.5)" if kernel else "3 n^2/p numbers of memory"
    )
    return f"exchange of A + {device}; overlapped: the longer, and a stage of the other"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one transposition, of the slowest rank."""
    return {case.key: _expected(record, case, figures) for case in record.cases}


def _expected(record: Record, case: Case, figures: Figures) -> Prediction:
    try:
        of_ranks = [
            _parts(record, case, figures, work) for work in case.work_by_rank or [case.work]
        ]
    except UsageError as error:
        return Prediction.unknown(str(error))
    parts = max(of_ranks, key=lambda parts: sum(parts.values()))
    computing = sum(parts.get(name, 0.0) for name in _KERNELS)
    moving = sum(parts.values()) - computing
    stages = case.facts.get("stages")
    covered = case.facts.get("overlaps") is True and not roofline.is_on_host(record)
    touched = case.work.bytes_read + case.work.bytes_written
    reason = roofline.in_cache(record, figures, touched) if "memory" in parts else ""
    found = Prediction.in_turn(parts, reason or None)
    if covered and isinstance(stages, int):
        found = replace(found, seconds=float(overlapped_s(moving, computing, stages)))
    return found


def _parts(record: Record, case: Case, figures: Figures, work: Work) -> dict[str, float]:
    """Seconds of a rank's sequential parts."""
    parts = _moving(record, figures, work) if work.messages else {}
    return {**parts, **_computing(record, case, figures, work)}


def _moving(record: Record, figures: Figures, work: Work) -> dict[str, float]:
    message = work.bytes_sent / work.messages
    transfer = figures.transfer(record.transport_name, record.approach)
    if transfer is not None:
        return {"transfer": time_of(transfer.segments, work.messages, message) or 0.0}
    parts: dict[str, float] = {}
    for leg in LEGS_OF.get(record.transport_name, ()):
        seconds = (figures.legs or Legs()).time_s(leg, work.messages, message)
        parts[leg] = known(seconds, f"leg {leg}", "calibration")
    return parts


def _computing(record: Record, case: Case, figures: Figures, work: Work) -> dict[str, float]:
    share = 1 if figures.by_all_ranks else roofline.sharers(record)
    kernel = roofline.bitstream(record, figures, "ptrans")
    if kernel is not None:
        return {"kernels": share * _pipelines_s(kernel, case, work)}
    device = figures.device
    seconds = device.memory_s(work.bytes_read, work.bytes_written) if device else None
    if seconds is None:
        raise UsageError(
            "the system has no memory bandwidth: plumb run stream on as many ranks measures it"
        )
    return {"memory": share * seconds}


def _pipelines_s(kernel: Bitstream, case: Case, work: Work) -> float:
    """Eq. 4.5 without its exchange, for the blocks of each replication in sequence."""
    size = known(case.labels.get("block"), "block", "case")
    width = known(kernel.channel_width, "channel_width", "device.bitstreams")
    blocks = work.flops / float(str(size)) ** 2 / kernel.replications
    return blocks * float(block_s(0, float(str(size)), width, kernel.frequency_mhz * 1e6))


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "bandwidth", "GB/s"
EQUATION = "n^2 numbers over max(channels, memory), or over the exchange + 3 b^2/(c_w f) a block"
SIZE = "rows of the whole matrix"
GROWS = "side"
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True
SHARED = Shared("size", 0.5, multiple_of="block-size", instead=("size-in-blocks",))


def sizes(_system: System) -> list[float]:
    """16,384 rows, as in figure 4.12 (32,768 in the text)."""
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
    """One after the other: the exchange of A, then pipelines (eq. 4.5) or arrays in memory."""
    transfer = transfer_of(system, scenario.transport or "staged", scenario.approach)
    parts = {name: float(part) for name, part in transfer.parts_s(sent).items()} if sent else {}
    memory = _memory_s(system, scenario)
    kernel = bitstream_of(system, "ptrans", scenario)
    if kernel is None:
        return {**parts, "memory": memory}
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    width = known(kernel.channel_width, "channel_width", "device.bitstreams")
    blocks = size_of(scenario, "size") ** 2 / scenario.ranks / b**2 / kernel.replications
    pipelines = blocks * float(block_s(0, b, width, kernel.frequency_mhz * 1e6))
    return {**parts, "kernels": max(pipelines, memory)}


def _memory_s(system: System, scenario: Scenario) -> float:
    return arrays_s(system, scenario, size_of(scenario, "size"), scenario.ranks)


def arrays_s(system: System, scenario: Scenario, n: float, ranks: int) -> float:
    """Seconds for A, B and C in a device's memory, of a matrix of ``n`` rows on ``ranks``."""
    device, kernel = device_of(system), bitstream_of(system, "ptrans", scenario)
    number_bytes = boards.NUMBER_BYTES[scenario.type]
    if kernel is not None:
        return float(transposed_s(n, ranks, number_bytes, boards.memory_rate(device, kernel)))
    array = n**2 / ranks * number_bytes
    return known(device.memory_s(2 * array, array), "gb_s", "device.memory")
