"""An application's own loops: their rates from a record, and their time by a device's rates.

No single limit of a device bounds such loops, so a calibration measures their rates by short runs
of each application (:mod:`plumbline.calibrate.work`).
"""

from __future__ import annotations

from plumbline.record.record import Case
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.system import known

SLICE_S = 3e-3  # for which a thread usually keeps its core


def undisturbed_s(case: Case) -> float:
    """Seconds of one count without other work: the best repetition, if it fits a thread's slice.

    Of longer ones it may be the mean without the share in which threads waited for cores.
    """
    assert case.summary is not None
    best, waited = case.summary.min_s, float(str(case.facts.get("waited_share", 0.0)))
    if best > SLICE_S:
        best = min(best, max(case.summary.mean_s * (1 - waited), SLICE_S))
    return best / case.count


def rate(
    benchmark: str,
    part: str,
    items: float,
    seconds: float,
    source: str,
    held_bytes: float = 0,
    lanes: int | None = None,
) -> OwnWork:
    """The rate of ``items`` in ``seconds``; without ``held_bytes`` for any data."""
    return OwnWork(
        benchmark=benchmark,
        part=part or None,
        held_bytes=round(held_bytes) or None,
        lanes=lanes,
        per_s=float(f"{items / seconds:.5g}"),
        source=source,
    )


def own_s(
    device: DeviceTable, benchmark: str, part: str, items: float, held_bytes: float = 0
) -> float:
    """Seconds of ``items``. Raises :class:`UsageError` for an unknown rate, with its table."""
    found = device.work_s(benchmark, items, held_bytes, part or None)
    what = f"work of {benchmark}" + (f", {part}" if part else "")
    return known(found, what, "device.work")
