"""A device's memory, link, arithmetic and updates, from records of its benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from plumbline.fit.figures import SOURCE, Figure, Fitted, measured, noise_of
from plumbline.fit.regression import Estimate, location, robust_line
from plumbline.model.benchmarks import graph500, ssca1
from plumbline.model.benchmarks import shallow_water as water
from plumbline.model.message_cost import free
from plumbline.model.roofline import sharers
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, Link, Memory, OwnWork, Peak, RandomUpdates
from plumbline.system.segments import Segment
from plumbline.system.system import Figures

_MEMORY = {"dot": "read", "copy": "copy", "scale": "copy"}


def fit_device(records: Sequence[Record], table: DeviceTable) -> tuple[DeviceTable, list[Fitted]]:
    """Limits of one device used by a single rank."""
    changes: dict[str, object] = {}
    parts: list[Fitted] = []
    for kind, make in (("stream", _memory), ("gemm", _peaks), ("random_access", _updates)):
        ours = [record for record in records if record.benchmark.name == kind]
        for key, value, part in make(ours, table):
            changes[key] = value
            parts.append(part)
    if (rows := _work(records, table, parts)) is not None:
        changes["work"] = rows
    own = records[0].ranks[0].device
    if changes and own is not None:
        changes = {"name": own.name, "cache_bytes": own.cache_bytes, **changes}
    return table.model_copy(update=changes), parts


_Rate = tuple[str, float, float]  # a case's key, its rate, and the rate's relative error
_Found = Iterator[tuple[str, object, Fitted]]


def _rates(records: Sequence[Record], amount: str) -> Iterator[tuple[Record, Case, float]]:
    """Each measured case with its rate on one device, summed over the ranks that share it."""
    for record in records:
        for case in record.cases:
            seconds, work = measured(case), _amount(case, amount)
            if seconds and work:
                yield record, case, work * sharers(record) / seconds


def _amount(case: Case, amount: str) -> float:
    if amount == "bytes":
        return case.work.bytes_read + case.work.bytes_written
    return float(getattr(case.work, amount))


def _grouped(
    rates: Iterator[tuple[Record, Case, float]], key: str | dict[str, str]
) -> dict[str, list[_Rate]]:
    """Rates with their cases' keys, by a label, or by a mapping of the operation."""
    groups: dict[str, list[_Rate]] = {}
    for _, case, rate in rates:
        name = case.label(key) if isinstance(key, str) else key.get(case.label("operation"), "")
        if name:
            groups.setdefault(name, []).append((case.key, rate, noise_of([case])))
    return groups


def _location(
    what: str, rates: Sequence[_Rate], name: str, factor: float, unit: str
) -> tuple[float, Fitted]:
    """The median rate in ``unit`` (``factor`` of it per second), and its part of the fit."""
    middle = location([rate for _, rate, _ in rates])
    if len(rates) == 1:  # with the uncertainty of its median
        error = 2 * rates[0][2]
        middle = Estimate(middle.value, middle.value * (1 - error), middle.value * (1 + error))
    ratios = [(key, middle.value / rate) for key, rate, _ in rates]
    figure = Figure(name, middle.scaled(factor), unit)
    return float(f"{middle.value * factor:.5g}"), Fitted(what, [figure], ratios)


def _work(
    records: Sequence[Record], table: DeviceTable, parts: list[Fitted]
) -> list[OwnWork] | None:
    """Rates of loops on one rank, and the table's others; None without any."""
    found: list[OwnWork] = []
    for name, learn, expect in (
        ("graph500", graph500.learn, graph500.expect),
        ("ssca1", ssca1.learn, ssca1.expect),
        ("shallow_water", partial(water.learn, device=table), water.expect),
    ):
        ours = [one for one in records if one.benchmark.name == name and one.world.ranks == 1]
        rows = learn(ours, free, SOURCE)
        noise = noise_of([case for one in ours for case in one.cases])
        figures = []
        for row in rows:
            part = Estimate(row.per_s, row.per_s * (1 - 2 * noise), row.per_s * (1 + 2 * noise))
            figures.append(Figure(row.part or "rate", part, "/s"))
        if figures:
            known = Figures(None, DeviceTable(work=rows, launch=table.launch))
            ratios = [
                (case.key, seconds / expected.time_s)
                for one in ours
                for case, expected in zip(one.cases, expect(one, known).values(), strict=True)
                if (seconds := measured(case)) and expected.parts
            ]
            parts.append(Fitted(f"work of {name}", figures, ratios))
        found += rows
    fitted = {(row.benchmark, row.part) for row in found}
    kept = [row for row in table.work if (row.benchmark, row.part) not in fitted]
    return [*kept, *found] if found else None


def _memory(records: Sequence[Record], table: DeviceTable) -> _Found:
    entries: list[Memory] = []
    parts: list[Fitted] = []
    for access, rates in _grouped(_rates(records, "bytes"), _MEMORY).items():
        rate, part = _location(f"memory, {access}", rates, "bandwidth", 1e-9, "GB/s")
        entries.append(Memory.model_validate({"access": access, "gb_s": rate, "source": SOURCE}))
        parts.append(part)
    known = DeviceTable(memory=entries)
    mixed = [
        (case.key, case.work, rate)
        for _, case, rate in _rates(records, "bytes")
        if entries and case.label("operation") in ("add", "triad")
    ]
    if mixed:
        ratios = []
        for key, work, rate in mixed:
            seconds = known.memory_s(work.bytes_read, work.bytes_written) or 0.0
            ratios.append((key, (work.bytes_read + work.bytes_written) / rate / seconds))
        parts.append(Fitted("memory, mixed (by the rates above)", [], ratios))
    for part in parts:
        yield "memory", entries, part
    link: dict[str, list[Segment]] = {}
    both = {"read": "read", "write": "write"}
    for direction, rates in _grouped(_rates(records, "bytes"), both).items():
        rate, part = _location(f"link, {direction}", rates, "bandwidth", 1e-9, "GB/s")
        line = Segment(latency_us=0, bandwidth_gb_s=rate, source=SOURCE)
        link[direction] = [line]
        yield "link", Link(**{**_link(table), **link}), part


def _link(table: DeviceTable) -> dict[str, list[Segment]]:
    return {"read": table.link.read, "write": table.link.write} if table.link else {}


def _peaks(records: Sequence[Record], table: DeviceTable) -> _Found:
    """By matrix units if the cases use them. Several sizes also give a fixed time."""
    entries = list(table.peaks)
    for units in ("vector", "matrix"):
        for type_ in sorted({case.label("type") for record in records for case in record.cases}):
            cases = [
                (case, seconds / sharers(record))
                for record in records
                for case in record.cases
                if case.label("type") == type_ and _units(case) == units
                if (seconds := measured(case)) and case.work.flops
            ]
            if not cases:
                continue
            part, gflop_s = _peak(f"gemm in {type_}, {units} units", cases)
            entries = [one for one in entries if (one.type, one.units) != (type_, units)]
            entry = {"type": type_, "units": units, "gflop_s": gflop_s, "source": SOURCE}
            entries.append(Peak.model_validate(entry))
            yield "peaks", list(entries), part


def _units(case: Case) -> str:
    return "vector" if case.facts.get("matrix_units", "none") in ("", "none") else "matrix"


def _peak(what: str, cases: Sequence[tuple[Case, float]]) -> tuple[Fitted, float]:
    flops = [case.work.flops for case, _ in cases]
    times = [seconds for _, seconds in cases]
    if len(set(flops)) < 2:
        rates = [(case.key, case.work.flops / seconds, noise_of([case])) for case, seconds in cases]
        rate, part = _location(what, rates, "rate", 1e-9, "GFLOP/s")
        return part, rate
    line = robust_line(flops, times, noise_of(case for case, _ in cases))
    ratios = [(case.key, seconds / float(line.seconds(case.work.flops))) for case, seconds in cases]
    figures = [
        Figure("fixed time", line.fixed.scaled(1e6), "us"),
        Figure("rate", line.each.inverse(1e-9), "GFLOP/s"),
    ]
    return Fitted(what, figures, ratios), float(f"{1e-9 / line.each.value:.5g}")


def _updates(records: Sequence[Record], _table: DeviceTable) -> _Found:
    by_table: dict[int, list[_Rate]] = {}
    for record, case, rate in _rates(records, "updates"):
        words = record.parameters.get("size")
        if isinstance(words, int):
            by_table.setdefault(8 * 2**words, []).append((case.key, rate, noise_of([case])))
    entries: list[RandomUpdates] = []
    for size, rates in sorted(by_table.items()):
        rate, part = _location(f"updates, table of {size} B", rates, "rate", 1e-9, "GUP/s")
        entries.append(RandomUpdates(table_bytes=size, gup_s=rate, source=SOURCE))
        yield "random", list(entries), part
