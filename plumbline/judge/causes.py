"""Causes with evidence in a record: other load on the host, and parts that changed."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from plumbline.judge.state import StateOfMachine
from plumbline.record.record import HostLoad, Record

_STOLEN = 0.01  # of the cores' time
_CLOCK = 0.9  # of the clock at the start
_SHOWN = 3
_WAITED = 0.1  # of a case's time
_HELD_BACK = 0.01  # of the run's time
_AT_LIMIT = 0.97  # of the power limit
_REASONS = {"power": "by its power limit", "heat": "for its temperature", "board": "by its board"}


def causes(record: Record, state: StateOfMachine) -> Iterator[str]:
    """One sentence per cause with evidence in the record."""
    for one in state.moved[:_SHOWN]:
        how, times = ("slower", one.times) if one.times > 1 else ("faster", 1 / one.times)
        yield f"{one.name} moved: {times:.2g} times {how} than in {one.beyond} of {one.launches}."
    yield from _of_cores(record)
    yield from _of_power(record)
    load = record.load
    if load is None:
        return
    yield from _of_devices(record, load)
    cores = record.hosts[0].cores
    if load.stolen_share is not None and load.stolen_share > _STOLEN:
        yield (
            f"The hypervisor took {load.stolen_share:.1%} of the cores' time: other virtual "
            "machines share this host."
        )
    if load.average_begin > cores:
        yield (
            f"{load.average_begin:.3g} threads wanted to run when the run began, on {cores} "
            f"core{'s' * (cores != 1)}: other work on the node."
        )
    begin, end = load.clock_begin_mhz, load.clock_end_mhz
    if begin and end and end < _CLOCK * begin:
        yield f"The clock fell from {begin:.0f} to {end:.0f} MHz during the run."


def _of_power(record: Record) -> Iterator[str]:
    """Devices and packages that drew their power limit in a case's energy repetition."""
    drawn: dict[str, tuple[float, str, float, bool]] = {}
    for case in record.cases:
        for one in case.energy.domains if case.energy else []:
            limit = one.state.limit_w
            if limit is None or one.mean_w is None:
                continue
            capped = "power" in one.state.throttled
            share = one.mean_w / limit
            if (share > _AT_LIMIT or capped) and share > drawn.get(one.source, (0.0,))[0]:
                drawn[one.source] = (share, case.key, limit, capped)
    for source, (share, key, limit, capped) in sorted(drawn.items())[:_SHOWN]:
        told = ", and its driver named the power limit as reason of lower clocks" if capped else ""
        yield f"{source} drew {share:.0%} of its power limit of {limit:.4g} W in {key}{told}."


def _of_cores(record: Record) -> Iterator[str]:
    """Unbound ranks, and threads that waited for a core."""
    for warning in record.warnings:
        if warning.code in ("unbound", "oversubscribed"):
            yield f"{warning.text[:1].upper()}{warning.text[1:].rstrip('.')}."
    waited = {
        case.key: share
        for case in record.cases
        if isinstance(share := case.facts.get("waited_share"), float)
    }
    if waited and waited[worst := max(waited, key=waited.__getitem__)] > _WAITED:
        yield (
            f"A thread of {worst} waited for a core in {waited[worst]:.0%} of its time, though it "
            f"had work (in the middle of all cases in {median(waited.values()):.0%})."
        )


def _of_devices(record: Record, load: HostLoad) -> Iterator[str]:
    """Throttled GPUs; small pages under a device whose memory is the host's."""
    run_s = record.parts.run_s if record.parts else None
    for name, seconds in (load.gpu_throttled_s or {}).items():
        if seconds > _HELD_BACK * (run_s or 1.0):
            of = f" of {run_s:.3g} s" if run_s else ""
            how = _REASONS.get(name, f"({name})")
            yield f"A GPU was held back below its clocks {how} for {seconds:.3g} s{of} (NVML)."
    on_host = any(rank.device and rank.device.type == "cpu" for rank in record.ranks)
    if load.huge_pages == "never" and on_host:
        yield (
            "Memory has small pages (transparent huge pages: never): large arrays and shared "
            "segments are slower to reach and to map."
        )
