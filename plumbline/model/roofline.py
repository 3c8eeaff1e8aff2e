"""The roofline of any device: the time of a case is that of the slowest part of its work.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 52(4), 2009: attainable performance is the minimum of the peak and of memory
bandwidth times intensity. In times, with two further limits of a device:

    time of one count = max(bytes / bandwidth, flops / peak, updates / rate, one launch in a row)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from plumbline.model.limits import LIMITS, Demand
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures

NAME = "roofline"
FORMULA = "max(bytes/bandwidth, flops/peak, updates/rate, launch)"
# Minimum size of arrays that stream from memory, in sizes of the last caches: STREAM's rule.
CACHES = 4


def type_of(record: Record, case: Case) -> str:
    """The arithmetic's type, from the case or the run."""
    return case.label("type") or str(record.parameters.get("type", "float"))


def bitstream(record: Record, figures: Figures, benchmark: str) -> Bitstream | None:
    """The system's bitstream of ``benchmark`` in the run's type, or None."""
    number = str(record.parameters.get("type", "float"))
    return figures.device.bitstream(benchmark, number) if figures.device else None


def sharers(record: Record) -> int:
    """Maximum number of ranks per device."""
    places = Counter((rank.host, rank.device.index) for rank in record.ranks if rank.device)
    return max(places.values(), default=1)


def expect(record: Record, case: Case, figures: Figures, demand: Demand) -> Prediction:
    """The time of one count of ``case`` by the roofline, with its bound."""
    device = figures.device or DeviceTable()
    share = 1 if figures.by_all_ranks else sharers(record)
    parts: dict[str, float] = {}
    for limit in LIMITS:
        seconds = limit.seconds(device, case.work, demand) if limit.seconds else 0.0
        if seconds is None:
            return Prediction.unknown(f"the system has no {limit.bound(demand)}")
        if seconds:
            parts[limit.bound(demand)] = seconds * share
    if not parts:
        return Prediction.unknown("the model covers none of the case's work")
    found = Prediction.at_once(parts)
    touched = demand.table_bytes or case.work.bytes_read + case.work.bytes_written
    reason = "" if found.properties().in_caches else in_cache(record, figures, touched)
    return replace(found, reason=reason or None)


def is_on_host(record: Record) -> bool:
    """Whether the device's memory is the host's."""
    own = record.ranks[0].device
    return own is not None and own.type in ("cpu", "native")


def in_cache(record: Record, figures: Figures, touched: float) -> str:
    """The reason why memory's figures do not hold for ``size`` bytes, or an empty text."""
    own = record.ranks[0].device
    caches = figures.device.cache_bytes if figures.device else None
    if caches is None:
        caches = own.cache_bytes if own else 0
    if touched >= CACHES * caches:
        return ""
    return (
        f"the data fits in part in the caches of {caches / 2**20:.4g} MiB; memory's figures hold "
        f"from {CACHES} times that on"
    )
