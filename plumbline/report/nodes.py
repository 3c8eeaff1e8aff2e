"""Times of the nodes of one record, and the slowest of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from plumbline.record.record import Case, Record

_SEVERAL = 2


def slowest_node(record: Record) -> str | None:
    """The node that was slowest in most cases, with its time over the median node's; None of one.

    The time of a node is the median of its slowest rank's.
    """
    if len(record.hosts) < _SEVERAL:
        return None
    excess: dict[int, list[float]] = defaultdict(list)
    cases = 0
    for case in record.cases:
        seconds = seconds_of_hosts(record, case) if case.has_figures and case.count else {}
        middle = {host: median(times) for host, times in seconds.items() if times}
        if len(middle) < _SEVERAL:
            continue
        cases += 1
        worst = max(middle, key=lambda host: middle[host])
        excess[worst].append(middle[worst] / median(middle.values()))
    if not excess:
        return None
    host, ratios = max(excess.items(), key=lambda item: (len(item[1]), median(item[1])))
    return (
        f"slowest node: {record.hosts[host].name}, in {len(ratios)} of {cases} cases, "
        f"{median(ratios):.3g} x the median node's time"
    )


def seconds_of_hosts(record: Record, case: Case) -> dict[int, list[float]]:
    """Of each host the slowest of its ranks in each repetition."""
    hosts: dict[int, list[list[float]]] = defaultdict(list)
    for rank, seconds in zip(record.ranks, case.samples.by_rank, strict=True):
        if seconds:
            hosts[rank.host].append(seconds)
    return {host: slowest_ranks(of_ranks, case.count) for host, of_ranks in hosts.items()}


def slowest_ranks(by_rank: Sequence[Sequence[float]], count: int) -> list[float]:
    """Seconds of one count in each repetition, of its slowest rank."""
    return [max(each) / count for each in zip(*filter(None, by_rank), strict=False)]
