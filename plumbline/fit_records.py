"""``plumb fit``: what records tell of a system, with intervals, and where it does not fit.

Transfers give a latency and a bandwidth for each leg or transport, in as few segments of sizes as
:func:`plumbline.fit.fit_segments` finds; STREAM the rates of memory and link; GEMM a peak for each
type; RandomAccess a rate for each table. With a system to start from, what its models expect of
the other benchmarks gives an efficiency (and of a board whose kernels bound, a clock).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from plumbline.assess import assess
from plumbline.device_table import DeviceTable, Link, Memory, Peak, RandomUpdates
from plumbline.errors import UsageError
from plumbline.fit import fit_segments
from plumbline.models.b_eff import leg_of
from plumbline.quantities import ratio_text
from plumbline.record import Case, Record
from plumbline.robust import Estimate, location, refined, robust_line
from plumbline.roofline import sharers
from plumbline.segments import Segment, time_of
from plumbline.systems import Identity, Leg, Legs, Point, System, Way

MISFIT = 0.1  # relative, from which a case does not fit
_NAMED = 8
_SOURCE = "fitted"
_KERNEL_BOUNDS = ("pipeline", "kernel clock", "multiply", "generators")
_MEMORY = {"dot": "read", "copy": "copy", "scale": "copy"}


@dataclass(frozen=True)
class Figure:
    """One estimated figure: ``unit`` is that of the estimate."""

    name: str
    estimate: Estimate
    unit: str


@dataclass(frozen=True)
class Fitted:
    """What was estimated for one part of the system, and measured / fitted of its cases."""

    what: str
    figures: list[Figure]
    ratios: list[tuple[str, float]] = field(default_factory=list)

    @property
    def misfits(self) -> list[tuple[str, float]]:
        """Cases further off than :data:`MISFIT`, the worst first."""
        off = [one for one in self.ratios if abs(one[1] - 1) > MISFIT]
        return sorted(off, key=lambda one: max(one[1], 1 / one[1]), reverse=True)


@dataclass(frozen=True)
class Fit:
    """The system that the records tell, and how each part of it was found."""

    system: System
    parts: list[Fitted]


def fit_records(records: Sequence[Record], name: str, base: System | None, segments: int) -> Fit:
    """Fit all that ``records`` tell; ``base`` has the figures that stay as they are.

    ``segments`` is how many lines a transfer may have. Raises :class:`UsageError` where the
    records are of different machines, or tell nothing.
    """
    _check_alike(records)
    start = base or System(system=Identity(name=name, description="", source=""))
    system, parts = _transfers(records, start, segments)
    device, found = _device(records, system.device or DeviceTable())
    parts += found
    if found:
        system = system.model_copy(update={"device": device})
    if base is not None:
        parts += list(_efficiencies(records, base))
    if not parts:
        raise UsageError(
            "the records tell nothing that can be fitted: b_eff, stream, gemm and random_access "
            "can, others with a system to start from (--system)"
        )
    # The board's figures are in it by now; a calibration would stand before what was fitted.
    whole = {"system": _identity(records, name), "board": None, "calibrations": []}
    return Fit(system.model_copy(update=whole), parts)


def write(fit: Fit, form: str, path: Path) -> str:
    """The fit as ``text`` or ``json``; ``path`` is where its system file lies."""
    if form == "json":
        return json.dumps(_document(fit, path), indent=2)
    return "\n".join(_lines(fit, path))


def _check_alike(records: Sequence[Record]) -> None:
    """Between host memories (mpi) it does not matter which device there is."""
    machines: dict[tuple[str, int, tuple[str, ...]], str] = {}
    others = [one for one in records if one.transport_name != "mpi"]
    for record in others or records:
        cpu, ranks, devices = record.hosts[0].cpu, record.world.ranks, tuple(record.devices())
        text = f"{', '.join(devices) or cpu} with {ranks} ranks"
        machines.setdefault((cpu, ranks, devices), text)
    of_all = {(record.hosts[0].cpu, record.world.ranks) for record in records}
    if len(of_all) > 1:
        machines = {(*one, ()): f"{one[0]} with {one[1]} ranks" for one in of_all}
    if len(machines) > 1:
        raise UsageError(
            f"the records are of different machines or ranks: {' and '.join(machines.values())}"
        )


def _identity(records: Sequence[Record], name: str) -> Identity:
    kinds = sorted({record.benchmark.name for record in records})
    devices = ", ".join(records[0].devices()) or records[0].hosts[0].cpu
    return Identity(
        name=name,
        description=f"{devices}, {records[0].world.ranks} ranks",
        source=f"plumb fit of {len(records)} record{'s' * (len(records) != 1)}: {', '.join(kinds)}",
    )


def _measured(case: Case) -> float | None:
    return case.median_s() if case.outcome.status == "passed" else None


def _noise(cases: Iterable[Case]) -> float:
    """The middle of the relative errors of medians, from their 95 % intervals."""
    errors = [
        (interval[1] - interval[0]) / 4 / seconds
        for case in cases
        if (interval := case.interval_s()) and (seconds := case.median_s())
    ]
    return max(median(errors), 1e-3) if errors else 0.005


# --- transfers -----------------------------------------------------------------------------------


def _transfers(
    records: Sequence[Record], system: System, segments: int
) -> tuple[System, list[Fitted]]:
    """The legs, and the transports whose transfers were measured whole."""
    noise = _noise(case for record in records for case in record.cases)
    points: dict[tuple[str, str], list[Point]] = {}
    for record in records:
        if record.benchmark.name != "b_eff" or record.parameters.get("form") != "exchange":
            continue
        for case in record.cases:
            seconds = _measured(case)
            if seconds:
                point = Point(case.work.messages, case.message_bytes(), seconds)
                points.setdefault(_place(record, case), []).append(point)
    legs = system.legs or Legs()
    ways = list(system.transfers)
    parts: list[Fitted] = []
    for (kind, name), measured in points.items():
        lines, part = _of_sizes(f"{kind} {name}", measured, noise, segments)
        parts.append(part)
        if kind == "leg":
            legs = legs.model_copy(update={name: lines})
        else:
            transport, approach = name.split("/")
            ways = [one for one in ways if (one.transport, one.approach) != (transport, approach)]
            ways.append(Way(transport=transport, approach=approach, segments=lines))
    given = {"legs": legs if legs != Legs() else None, "transfers": ways}
    return system.model_copy(update=given), parts


def _place(record: Record, case: Case) -> tuple[str, str]:
    leg: Leg | None = leg_of(record, case)
    if leg is not None:
        return "leg", leg
    return "transport", f"{record.transport_name}/{record.approach}"


def _of_sizes(
    what: str, points: Sequence[Point], noise: float, segments: int
) -> tuple[list[Segment], Fitted]:
    """Lines through all points, cut where the medians by size cut best."""
    ordered = sorted(points, key=lambda point: point.message_bytes)
    cuts = fit_segments(_middles(ordered), most=segments)
    fitted = refined(
        cuts,
        [point.messages * point.message_bytes for point in ordered],
        [point.message_bytes for point in ordered],
        [point.seconds for point in ordered],
        noise,
    )
    lines = [segment for segment, _ in fitted]
    figures: list[Figure] = []
    for segment, line in fitted:
        limit = f" up to {segment.up_to_bytes} B" if segment.up_to_bytes else ""
        limit = limit or (f" above {lines[-2].up_to_bytes} B" if len(lines) > 1 else "")
        figures.append(Figure(f"latency{limit}", line.fixed.scaled(1e6), "us"))
        if segment.bandwidth_gb_s is not None:
            figures.append(Figure(f"bandwidth{limit}", line.each.inverse(1e-9), "GB/s"))
    ratios = []
    for point in ordered:
        seconds = time_of(lines, point.messages, point.message_bytes)
        if seconds:
            ratios.append((f"{point.message_bytes} B", point.seconds / seconds))
    return lines, Fitted(what, figures, ratios)


def _middles(points: Sequence[Point]) -> list[Point]:
    """One point a size: the lower middle of its times."""
    by_size: dict[int, list[Point]] = {}
    for point in points:
        by_size.setdefault(point.message_bytes, []).append(point)
    return [
        sorted(several, key=lambda one: one.seconds)[(len(several) - 1) // 2]
        for several in by_size.values()
    ]


# --- devices -------------------------------------------------------------------------------------


def _device(records: Sequence[Record], table: DeviceTable) -> tuple[DeviceTable, list[Fitted]]:
    """Limits of one device that one rank uses alone."""
    changes: dict[str, object] = {}
    parts: list[Fitted] = []
    for kind, make in (("stream", _memory), ("gemm", _peaks), ("random_access", _updates)):
        ours = [record for record in records if record.benchmark.name == kind]
        for key, value, part in make(ours, table):
            changes[key] = value
            parts.append(part)
    own = records[0].ranks[0].device
    if changes and own is not None:
        changes = {"name": own.name, "cache_bytes": own.cache_bytes, **changes}
    return table.model_copy(update=changes), parts


_Rate = tuple[str, float, float]  # a case's key, its rate, and the rate's relative error
_Found = Iterator[tuple[str, object, Fitted]]


def _rates(records: Sequence[Record], amount: str) -> Iterator[tuple[Record, Case, float]]:
    """Each measured case with its rate on one device: the ranks that share it together."""
    for record in records:
        for case in record.cases:
            seconds, work = _measured(case), _amount(case, amount)
            if seconds and work:
                yield record, case, work * sharers(record) / seconds


def _amount(case: Case, amount: str) -> float:
    if amount == "bytes":
        return case.work.bytes_read + case.work.bytes_written
    return float(getattr(case.work, amount))


def _grouped(
    rates: Iterator[tuple[Record, Case, float]], key: str | dict[str, str]
) -> dict[str, list[_Rate]]:
    """Rates with their cases' keys by a label, or by what a table makes of the operation."""
    groups: dict[str, list[_Rate]] = {}
    for _, case, rate in rates:
        name = case.label(key) if isinstance(key, str) else key.get(case.label("operation"), "")
        if name:
            groups.setdefault(name, []).append((case.key, rate, _noise([case])))
    return groups


def _location(
    what: str, rates: Sequence[_Rate], name: str, factor: float, unit: str
) -> tuple[float, Fitted]:
    """The middle rate in ``unit`` (``factor`` of it a second), and the part that it makes."""
    middle = location([rate for _, rate, _ in rates])
    if len(rates) == 1:  # as well known as its median
        error = 2 * rates[0][2]
        middle = Estimate(middle.value, middle.value * (1 - error), middle.value * (1 + error))
    ratios = [(key, middle.value / rate) for key, rate, _ in rates]
    figure = Figure(name, middle.scaled(factor), unit)
    return float(f"{middle.value * factor:.5g}"), Fitted(what, [figure], ratios)


def _memory(records: Sequence[Record], table: DeviceTable) -> _Found:
    entries: list[Memory] = []
    parts: list[Fitted] = []
    for access, rates in _grouped(_rates(records, "bytes"), _MEMORY).items():
        rate, part = _location(f"memory, {access}", rates, "bandwidth", 1e-9, "GB/s")
        entries.append(Memory.model_validate({"access": access, "gb_s": rate, "source": _SOURCE}))
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
        line = Segment(latency_us=0, bandwidth_gb_s=rate, source=_SOURCE)
        link[direction] = [line]
        yield "link", Link(**{**_link(table), **link}), part


def _link(table: DeviceTable) -> dict[str, list[Segment]]:
    return {"read": table.link.read, "write": table.link.write} if table.link else {}


def _peaks(records: Sequence[Record], table: DeviceTable) -> _Found:
    """By matrix units where the cases say so. Several sizes give a fixed time as well."""
    entries = list(table.peaks)
    for units in ("vector", "matrix"):
        for type_ in sorted({case.label("type") for record in records for case in record.cases}):
            cases = [
                (case, seconds / sharers(record))
                for record in records
                for case in record.cases
                if case.label("type") == type_ and _units(case) == units
                if (seconds := _measured(case)) and case.work.flops
            ]
            if not cases:
                continue
            part, gflop_s = _peak(f"gemm in {type_}, {units} units", cases)
            entries = [one for one in entries if (one.type, one.units) != (type_, units)]
            entry = {"type": type_, "units": units, "gflop_s": gflop_s, "source": _SOURCE}
            entries.append(Peak.model_validate(entry))
            yield "peaks", list(entries), part


def _units(case: Case) -> str:
    return "vector" if case.facts.get("matrix_units", "none") in ("", "none") else "matrix"


def _peak(what: str, cases: Sequence[tuple[Case, float]]) -> tuple[Fitted, float]:
    flops = [case.work.flops for case, _ in cases]
    times = [seconds for _, seconds in cases]
    if len(set(flops)) < 2:
        rates = [(case.key, case.work.flops / seconds, _noise([case])) for case, seconds in cases]
        rate, part = _location(what, rates, "rate", 1e-9, "GFLOP/s")
        return part, rate
    line = robust_line(flops, times, _noise(case for case, _ in cases))
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
            by_table.setdefault(8 * 2**words, []).append((case.key, rate, _noise([case])))
    entries: list[RandomUpdates] = []
    for size, rates in sorted(by_table.items()):
        rate, part = _location(f"updates, table of {size} B", rates, "rate", 1e-9, "GUP/s")
        entries.append(RandomUpdates(table_bytes=size, gup_s=rate, source=_SOURCE))
        yield "random", list(entries), part


# --- against a system ----------------------------------------------------------------------------


def _efficiencies(records: Sequence[Record], base: System) -> Iterator[Fitted]:
    """Expected / measured by benchmark and bound; a board's clock times it, where kernels bound."""
    groups: dict[tuple[str, str], list[tuple[Case, float]]] = {}
    numbers: dict[tuple[str, str], str] = {}
    for record in records:
        comparison = assess(record, base, MISFIT).comparison
        for case in record.cases:
            judged = comparison.cases.get(case.key) if comparison else None
            if judged and judged.verdict and case.outcome.status == "passed":
                key = (record.benchmark.name, judged.bound or "")
                groups.setdefault(key, []).append((case, judged.ratio))
                numbers[key] = str(record.parameters.get("type", "float"))
    for (benchmark, bound), cases in groups.items():
        share = location([1 / ratio for _, ratio in cases])
        figures = [Figure("efficiency", share, "of the system's")]
        kernel = (
            base.device.bitstream(benchmark, numbers[benchmark, bound]) if base.device else None
        )
        if kernel and bound in _KERNEL_BOUNDS:
            figures.append(Figure("clock", share.scaled(kernel.frequency_mhz), "MHz"))
        ratios = [(case.key, ratio * share.value) for case, ratio in cases]
        yield Fitted(f"{benchmark}, bound by {bound}, beside {base.system.name}", figures, ratios)


# --- text ----------------------------------------------------------------------------------------


def _lines(fit: Fit, path: Path) -> Iterator[str]:
    yield f"{fit.system.system.description}; {fit.system.system.source}"
    for part in fit.parts:
        cases = f"{len(part.ratios)} case{'s' * (len(part.ratios) != 1)}"
        yield from ("", f"{part.what}: {cases}")
        width = max((len(figure.name) for figure in part.figures), default=0)
        for figure in part.figures:
            one = figure.estimate
            interval = f"({one.low:.4g} to {one.high:.4g})"
            yield f"  {figure.name:<{width}}  {one.value:.4g} {figure.unit} {interval}"
        if part.ratios:
            yield f"  {_fits(part)}"
    yield from ("", f"the system file: {path}")


def _fits(part: Fitted) -> str:
    off = part.misfits
    if not off:
        worst = max(abs(ratio - 1) for _, ratio in part.ratios)
        return f"fits all within {worst:.1%}"
    named = ", ".join(f"{key} ({ratio_text(ratio)})" for key, ratio in off[:_NAMED])
    more = f" and {len(off) - _NAMED} more" if len(off) > _NAMED else ""
    return (
        f"does not fit {len(off)} of {len(part.ratios)} within {MISFIT:.0%} "
        f"(measured / fitted): {named}{more}"
    )


def _document(fit: Fit, path: Path) -> dict[str, object]:
    return {
        "system": str(path),
        "parts": [
            {
                "what": part.what,
                "figures": [
                    {
                        "name": figure.name,
                        "value": figure.estimate.value,
                        "interval": [figure.estimate.low, figure.estimate.high],
                        "unit": figure.unit,
                    }
                    for figure in part.figures
                ],
                "ratios": [{"case": key, "ratio": ratio} for key, ratio in part.ratios],
                "misfits": [key for key, _ in part.misfits],
            }
            for part in fit.parts
        ],
    }
