"""``plumb fit``: a system's figures from records, with intervals and deviations.

Transfers give a latency and a bandwidth for each leg or transport, in segments of sizes
(:func:`plumbline.fit.segments.fit_segments`); STREAM the rates of memory and link; GEMM a peak for
each type; RandomAccess a rate for each table; SHOMS latency and gap of each operation. With a base
system, other benchmarks give an efficiency against its models (and, for a board bound by kernels, a
clock).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import UsageError
from plumbline.base.units import ratio_text
from plumbline.fit.device import fit_device
from plumbline.fit.figures import MISFIT, Figure, Fitted, measured, noise_of
from plumbline.fit.operations import fit_operations
from plumbline.fit.regression import location, refined
from plumbline.fit.segments import fit_segments
from plumbline.judge.judgement import judge
from plumbline.model.legs import leg_of
from plumbline.model.prediction import Bound
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable
from plumbline.system.segments import Segment, time_of
from plumbline.system.system import Identity, Leg, Legs, MeasuredTransfer, Point, System

_NAMED = 8


@dataclass(frozen=True)
class Fit:
    """The fitted system, and the fit of each part."""

    system: System
    parts: list[Fitted]


def fit_records(records: Sequence[Record], name: str, base: System | None, segments: int) -> Fit:
    """Fit all figures that ``records`` determine; others are kept from ``base``.

    ``segments`` is a transfer's maximum number of lines. Raises :class:`UsageError` if the records
    are of different machines, determine no figure, or are of an emulated transport.
    """
    for record in records:
        if record.emulated:
            raise UsageError(f"an emulated time is of no machine: {record.emulated}")
    _check_alike(records)
    start = base or System(system=Identity(name=name, description="", source=""))
    system, parts = _transfers(records, start, segments)
    device, found = fit_device(records, system.device or DeviceTable())
    parts += found
    if found:
        system = system.model_copy(update={"device": device})
    operations, found = fit_operations(records, system.operations)
    parts += found
    system = system.model_copy(update={"operations": operations})
    if base is not None:
        parts += list(_efficiencies(records, base))
    if not parts:
        raise UsageError(
            "the records determine no figure: give records of b_eff, stream, gemm, "
            "random_access, shoms or osu_latency, or a system to start from (--system)"
        )
    # The board's figures are merged; calibrations would hide the fitted figures.
    whole: dict[str, object] = {
        "system": _identity(records, name),
        "board": None,
        "calibrations": [],
    }
    return Fit(system.model_copy(update=whole), parts)


def write(fit: Fit, form: str, path: Path) -> str:
    """The fit as ``text`` or ``json``; ``path`` is its system file."""
    if form == "json":
        return json.dumps(_document(fit, path), indent=2)
    return "\n".join(_lines(fit, path))


def _check_alike(records: Sequence[Record]) -> None:
    """The devices, ignored between host memories (mpi)."""
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


# --- transfers -----------------------------------------------------------------------------------


def _transfers(
    records: Sequence[Record], system: System, segments: int
) -> tuple[System, list[Fitted]]:
    """The legs, and transports measured as a whole."""
    noise = noise_of(case for record in records for case in record.cases)
    points: dict[tuple[str, str], list[Point]] = {}
    for record in records:
        if record.benchmark.name.startswith("osu"):
            for place, point in _one_way(record):
                points.setdefault(place, []).append(point)
        if record.benchmark.name != "b_eff" or record.parameters.get("form") != "exchange":
            continue
        for case in record.cases:
            seconds = measured(case)
            if seconds:
                point = Point(case.work.messages, case.message_bytes(), seconds)
                points.setdefault(_place(record, case), []).append(point)
    legs = system.legs or Legs()
    transfers = list(system.transfers)
    parts: list[Fitted] = []
    for (kind, name), found in points.items():
        lines, part = _of_sizes(f"{kind} {name.removesuffix('/')}", found, noise, segments)
        parts.append(part)
        if kind == "leg":
            legs = legs.model_copy(update={name: lines})
        else:
            transport, approach = name.split("/")
            transfers = [
                one
                for one in transfers
                if (one.transport, one.approach or "") != (transport, approach)
            ]
            transfers.append(
                MeasuredTransfer(transport=transport, approach=approach or None, segments=lines)
            )
    given = {"legs": legs if legs != Legs() else None, "transfers": transfers}
    return system.model_copy(update=given), parts


def _one_way(record: Record) -> Iterator[tuple[tuple[str, str], Point]]:
    """Half of each round trip of OSU's latency test, named by where both buffers lie.

    With a buffer on a device the approach is that of libplumb-mpi-device.
    """
    where = "-".join(str(record.parameters.get("where", "H,H")).split(","))
    through = record.environment.get("PLUMB_MPI_TRANSPORT", "staged")
    if through == "staged" and record.environment.get("PLUMB_MPI_STAGING") == "naive":
        through = "naive"
    for case in record.cases:
        seconds, size = measured(case), case.labels.get("bytes")
        if case.label("test") == "osu_latency" and seconds and isinstance(size, int):
            swept = "from" in case.labels  # --pairs all
            pair = f"{case.label('from')}-{case.label('to')}" if swept else where
            approach = "" if pair == "H-H" else through
            yield ("transport", f"osu-{pair}/{approach}"), Point(1, size, seconds / 2)


def _place(record: Record, case: Case) -> tuple[str, str]:
    leg: Leg | None = leg_of(record, case)
    if leg is not None:
        return "leg", leg
    return "transport", f"{record.transport_name}/{record.approach}"


def _of_sizes(
    what: str, points: Sequence[Point], noise: float, segments: int
) -> tuple[list[Segment], Fitted]:
    """Lines through all points, cut as the medians by size are cut."""
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
    """One point per size: the lower median of its times."""
    by_size: dict[int, list[Point]] = {}
    for point in points:
        by_size.setdefault(point.message_bytes, []).append(point)
    return [
        sorted(several, key=lambda one: one.seconds)[(len(several) - 1) // 2]
        for several in by_size.values()
    ]


# --- against a system ----------------------------------------------------------------------------


def _efficiencies(records: Sequence[Record], base: System) -> Iterator[Fitted]:
    """Expected / measured by benchmark and bound; scales a board's clock if kernels bound."""
    groups: dict[tuple[str, Bound], list[tuple[Case, float]]] = {}
    numbers: dict[tuple[str, Bound], str] = {}
    for record in records:
        judgement = judge(record, base, MISFIT)
        found = judgement.judged
        for case in record.cases:
            judged = found.cases.get(case.key) if found else None
            if judged and judged.verdict and case.outcome.status == "passed":
                bound = judgement.expectations[case.key].properties()
                key = (record.benchmark.name, bound)
                groups.setdefault(key, []).append((case, judged.ratio))
                numbers[key] = str(record.parameters.get("type", "float"))
    for (benchmark, bound), cases in groups.items():
        share = location([1 / ratio for _, ratio in cases])
        figures = [Figure("efficiency", share, "of the system's")]
        kernel = (
            base.device.bitstream(benchmark, numbers[benchmark, bound]) if base.device else None
        )
        if kernel and bound.of_kernels:
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
