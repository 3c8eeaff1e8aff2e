"""The roofline of any device: a case takes as long as the slowest of what it must do.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 52(4), 2009: attainable performance is the least of the peak and of memory
bandwidth times intensity. In times, and with two more limits that a device has:

    time of one count = max(bytes / bandwidth, flops / peak, updates / rate, one launch in a row)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures

NAME = "roofline"
FORMULA = "max(bytes/bandwidth, flops/peak, updates/rate, launch)"
# So many times the last caches must arrays be to stream from memory: STREAM's own rule.
CACHES = 4


@dataclass(frozen=True)
class Demand:
    """What a case asks of a device, beyond the work in its record.

    ``type`` names the arithmetic's; ``matrix`` says that matrix units may do it; ``flops``, where
    given, is what the arithmetic takes of a peak that counts multiply-adds, in place of the
    record's. The record's bytes go ``passes`` times through memory. Of random updates: the table's
    length and whether they are atomic.
    """

    type: str | None = None
    matrix: bool = False
    flops: float | None = None
    passes: int = 1
    table_bytes: int = 0
    atomic: bool = False


def type_of(record: Record, case: Case) -> str:
    """The arithmetic's type, as the case or the run names it."""
    return case.label("type") or str(record.parameters.get("type", "float"))


def bitstream(record: Record, figures: Figures, benchmark: str) -> Bitstream | None:
    """What the system's board runs for ``benchmark`` in the run's type, or None."""
    number = str(record.parameters.get("type", "float"))
    return figures.device.bitstream(benchmark, number) if figures.device else None


def sharers(record: Record) -> int:
    """How many ranks use the most used device."""
    places = Counter((rank.host, rank.device.index) for rank in record.ranks if rank.device)
    return max(places.values(), default=1)


def expect(record: Record, case: Case, figures: Figures, demand: Demand) -> Prediction:
    """The time of one count of ``case`` by the roofline, and the bound that it is."""
    device = figures.device or DeviceTable()
    bounds = _bounds(case, device, demand)
    unknown = [name for name, seconds in bounds.items() if seconds is None]
    if unknown:
        return Prediction.unknown(f"the system knows no {unknown[0]}")
    share = 1 if figures.by_all_ranks else sharers(record)
    parts = {name: seconds * share for name, seconds in bounds.items() if seconds}
    if not parts:
        return Prediction.unknown("the case says no work that the model knows")
    bound = max(parts, key=parts.__getitem__)
    touched = demand.table_bytes or case.work.bytes_read + case.work.bytes_written
    reason = "" if bound.startswith(("launch", "peak")) else in_cache(record, figures, touched)
    return Prediction(parts[bound], bound=bound, parts=parts, reason=reason or None)


def is_on_host(record: Record) -> bool:
    """Whether the device's memory is the host's."""
    own = record.ranks[0].device
    return own is not None and own.type in ("cpu", "native")


def in_cache(record: Record, figures: Figures, touched: float) -> str:
    """Why memory's figures do not hold for so many bytes, or an empty text where they do."""
    own = record.ranks[0].device
    caches = figures.device.cache_bytes if figures.device else None
    if caches is None:
        caches = own.cache_bytes if own else 0
    if touched >= CACHES * caches:
        return ""
    return (
        f"what it touches fits in part in the caches of {caches / 2**20:.4g} MiB; memory's figures "
        f"hold from {CACHES} times that on"
    )


def _bounds(case: Case, device: DeviceTable, demand: Demand) -> dict[str, float | None]:
    """Seconds that each limit allows at best; None where the system does not know it."""
    work = case.work
    bounds: dict[str, float | None] = {}
    if work.updates:
        kind = "rate of atomic updates" if demand.atomic else "rate of random updates"
        bounds[kind] = device.updates_s(work.updates, demand.table_bytes, atomic=demand.atomic)
    if work.bytes_read or work.bytes_written:
        moved = (demand.passes * work.bytes_read, demand.passes * work.bytes_written)
        bounds["memory bandwidth"] = device.memory_s(*moved)
    if work.flops and demand.type:
        flops = work.flops if demand.flops is None else demand.flops
        bounds[f"peak for {demand.type}"] = device.peak_s(flops, demand.type, matrix=demand.matrix)
    if device.launch and device.launch.row_us is not None:
        bounds["launch"] = device.launch.row_us * 1e-6
    return bounds
