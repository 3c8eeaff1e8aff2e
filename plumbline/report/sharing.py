"""Rates of ranks that share a device, and of the device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median

from plumbline.base.columns import aligned
from plumbline.judge.comparison import is_rate
from plumbline.record.record import Case, Rank, Record, Work

_SEVERAL = 2
_PREFIXES = {"G": 1e9, "M": 1e6}
# Work of a rate, by the end of its unit.
_WORK: dict[str, Callable[[Work], float]] = {
    "FLOP/s": lambda work: work.flops,
    "UP/s": lambda work: work.updates,
    "TEPS": lambda work: work.edges,
    "B/s": lambda work: work.bytes_read + work.bytes_written or work.bytes_sent,
}


def shared_devices(record: Record) -> list[str]:
    """The rates of a shared device's ranks and their sum, by case; empty without such a device.

    Ranks measure at the same time, so a device's rate is that of its ranks together. A rank's is by
    its median.
    """
    if "shared_device" not in {warning.code for warning in record.warnings}:
        return []
    rows = [row for case in record.cases for row in _rows(record, case)]
    return [] if not rows else [*aligned([["case", "device", "ranks", "rates"], *rows])]


def _rows(record: Record, case: Case) -> Iterator[list[str]]:
    units = [metric.unit for metric in case.metrics if is_rate(metric.unit)]
    end = next((end for end in _WORK if units and units[0].endswith(end)), None)
    if end is None or not case.has_figures or not case.count:
        return
    scale = _PREFIXES.get(units[0].removesuffix(end), 1.0)
    for (host, device), ranks in _sharers(record).items():
        rates = [
            _WORK[end](_work(case, rank.rank)) * case.count / median(samples) / scale
            for rank in ranks
            if (samples := case.samples.by_rank[rank.rank])
        ]
        if rates and min(rates) > 0:
            sum_of_all = " + ".join(f"{rate:.4g}" for rate in rates)
            yield [
                case.key,
                f"{record.hosts[host].name} {device}",
                ", ".join(str(rank.rank) for rank in ranks),
                f"{sum_of_all} = {sum(rates):.4g} {units[0]}",
            ]


def _sharers(record: Record) -> dict[tuple[int, str], list[Rank]]:
    """Ranks by host and device, where there are several."""
    users: dict[tuple[int, str], list[Rank]] = defaultdict(list)
    for rank in record.ranks:
        if rank.device is not None:
            users[rank.host, f"{rank.device.runtime} {rank.device.index}"].append(rank)
    return {place: ranks for place, ranks in users.items() if len(ranks) >= _SEVERAL}


def _work(case: Case, rank: int) -> Work:
    return case.work_by_rank[rank] if case.work_by_rank else case.work
