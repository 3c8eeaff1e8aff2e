"""A scaling series as table, JSON, CSV and plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plumbline.base.columns import aligned, csv_text
from plumbline.base.errors import RunError, UsageError
from plumbline.judge.judgement import by_system
from plumbline.model.benchmarks import scaled_metric
from plumbline.model.scaling import LAWS, Curve, Fit, Mode, Point, law
from plumbline.record.expectations import DEFAULT_TOLERANCE
from plumbline.record.record import Case, Metric, Record
from plumbline.report.forecast import number
from plumbline.system.system import System

FORMS = ("text", "json", "csv")
_NO_SHARE = 1e-8  # remainder of a fit that ends at its bound
_SHARED_CORES = "more ranks than cores"
# Value, name and unit of a metric.
_Getter = Callable[[Record], tuple[float, str, str] | None]


@dataclass(frozen=True)
class Measured:
    """A run; ``part_of``: number of ranks of the whole problem, if this is one rank's part."""

    ranks: int
    size: int | None
    part_of: int | None
    path: Path
    record: Record


@dataclass
class ScalingTable:
    """The runs of a series, the ranks of extrapolated lines, and runs without a result.

    ``system``: whose figures the model's line is by.
    """

    benchmark: str
    mode: Mode
    metric: str | None
    beyond: Sequence[int]
    runs: list[Measured] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    system: System | None = None

    def curves(self) -> list[Curve]:
        """A curve of each metric over several cases, else of each case.

        Raises :class:`UsageError` for a metric missing in the records.
        """
        whole = sorted((r for r in self.runs if r.part_of is None), key=lambda r: r.ranks)
        if not whole:
            return []
        return self._of_aggregates(whole) or self._of_cases(whole)

    def _of_aggregates(self, whole: Sequence[Measured]) -> list[Curve]:
        wanted = self.metric or scaled_metric(self.benchmark)
        groups = dict.fromkeys(m.group for m in whole[0].record.metrics if m.name == wanted)
        return [
            curve
            for group in groups
            if (curve := self._curve(group or self.benchmark, _aggregate(wanted, group)))
        ]

    def _of_cases(self, whole: Sequence[Measured]) -> list[Curve]:
        found = []
        least = min(len(run.record.cases) for run in whole)
        for index in range(least):
            name = _common([run.record.cases[index].key for run in whole])
            if curve := self._curve(name, self._of_case(whole[0].record, index), index):
                found.append(curve)
        if not found and self.metric:
            names = {m.name for run in whole for case in run.record.cases for m in case.metrics}
            raise UsageError(f"--metric {self.metric}: the records have {', '.join(sorted(names))}")
        return found

    def _of_case(self, record: Record, index: int) -> _Getter:
        if index >= len(record.cases):
            return _nothing
        name = self.metric or _rate(record.cases[index], scaled_metric(self.benchmark))

        def get(run: Record) -> tuple[float, str, str] | None:
            case = run.cases[index] if index < len(run.cases) else None
            if case is None:
                return None
            if name is None:
                median = case.median_s()
                return (median * 1e6, "time of a count", "us") if median else None
            return _value(next((m for m in case.metrics if m.name == name), None))

        return get

    def _curve(self, name: str, get: _Getter, index: int | None = None) -> Curve | None:
        points, alone, unit, metric = [], {}, "", ""
        for run in self.runs:
            found = get(run.record)
            if found is None:
                continue
            value, metric, unit = found
            if run.part_of is not None:
                alone[run.part_of] = value
            else:
                of_no_board = run.record.emulated is not None
                point = Point(run.ranks, value, run.size, _aside(run.record), of_no_board)
                if index is not None and unit.endswith("/s"):
                    point = _with_case(point, run.record, run.record.cases[index], self.system)
                points.append(point)
        if not points:
            return None
        points.sort(key=lambda point: point.ranks)
        first = points[0]
        if first.ranks == 1:
            ranks = [*(p.ranks for p in points), *self.beyond] if self.mode == "weak" else [1]
            alone.update(dict.fromkeys(ranks, first.value))
        is_time = not unit.endswith("/s")
        return Curve(name, metric, unit, self.mode, tuple(points), alone, is_time)


def _with_case(point: Point, record: Record, case: Case, system: System | None) -> Point:
    """The point of a rate with what the case's model expects, and its partition's neighbours."""
    parts = case.facts.get("partitions")
    near = (
        [int(str(one["neighbours"])) for one in parts if isinstance(one, dict)]
        if isinstance(parts, list)
        else []
    )
    model = None
    if system is not None and not point.emulated and case.summary is not None:
        expected = by_system(record, system, DEFAULT_TOLERANCE).expectations.get(case.key)
        if expected is not None and expected.seconds:
            model = point.value * case.summary.min_s / case.count / expected.seconds
    return replace(point, model=model, neighbours=max(near, default=None))


def _nothing(_record: Record) -> None:
    return None


def _aggregate(name: str | None, group: str | None) -> _Getter:
    def get(record: Record) -> tuple[float, str, str] | None:
        return _value(record.metric(name, group) if name else None)

    return get


def _value(metric: Metric | None) -> tuple[float, str, str] | None:
    if metric is None or metric.value is None or metric.value <= 0:
        return None
    return metric.value, metric.name, metric.unit


def _rate(case: Case, usual: str | None) -> str | None:
    """The metric of a case: the benchmark's own, or the first rate; None without a rate."""
    names = [metric.name for metric in case.metrics]
    if usual in names:
        return usual
    return next((m.name for m in case.metrics if m.unit.endswith("/s")), None)


def _aside(record: Record) -> str:
    crowded = any(warning.code == "oversubscribed" for warning in record.warnings)
    return _SHARED_CORES if crowded else ""


def _common(keys: Sequence[str]) -> str:
    """``general/double/*`` of ``general/double/1024`` and ``general/double/2048``."""
    split = [key.split("/") for key in keys]
    if len({len(parts) for parts in split}) != 1:
        return keys[0]
    return "/".join(parts[0] if len(set(parts)) == 1 else "*" for parts in zip(*split, strict=True))


# --- text -----------------------------------------------------------------------------------------


def write(table: ScalingTable, form: str) -> str:
    """The series in ``form``, without a final newline."""
    curves = table.curves()
    if form == "json":
        return _as_json(table, curves)
    if form == "csv":
        rows = (row for curve in curves for row in _csv_rows(table, curve))
        return csv_text(_CSV_HEAD, rows)
    lines = [line for curve in curves for line in [*_curve_text(table, curve), ""]]
    lines += [f"not in the table: {line}" for line in table.left_out]
    lines += _doubts(table)
    return "\n".join(lines).rstrip()


def _curve_text(table: ScalingTable, curve: Curve) -> Iterator[str]:
    fit, ranks = curve.fit(), _ranks_of(table, curve)
    yield f"{table.benchmark}, {table.mode} scaling: {curve.name}, {curve.metric} in {curve.unit}"
    sized = any(point.size is not None for point in curve.points)
    head = ["ranks", *(["size"] if sized else []), curve.metric, "speed-up", "efficiency"]
    head += [LAWS[table.mode], "p x one rank"]
    measured = {point.ranks: point for point in curve.points}
    more = [name for name in _MORE if any(_more(curve, p)[name] for p in curve.points)]
    rows = [[*head, *more]]
    for p in ranks:
        point = measured.get(p)
        size = [number(point.size) if point else ""] if sized else []
        cells = [str(p), *size, *_numbers(curve, point), *_lines(curve, fit, p)]
        rows.append([*cells, *(_more(curve, point)[name] if point else "" for name in more)])
    notes = ["", *((_note(measured[p]) or "") if p in measured else "not run" for p in ranks)]
    lines = list(aligned(rows, 0))
    for line, note in zip(lines, notes, strict=True):
        yield f"{line.ljust(len(lines[0]))}  {note}".rstrip()
    yield _fit_text(curve, fit)


_MORE = ("model", "N_max")


def _more(curve: Curve, point: Point) -> dict[str, str]:
    """The model's speed-up, and the most neighbours of a rank; empty if unknown."""
    near = "" if point.neighbours is None else str(point.neighbours)
    model = curve.speedup_by_model(point)
    return {"model": "" if model is None else f"{model:.3f}", "N_max": near}


def _note(point: Point) -> str | None:
    return ", ".join(filter(None, [point.aside, "emulated" * point.emulated])) or None


def _numbers(curve: Curve, point: Point | None) -> list[str]:
    if point is None:
        return ["", "", ""]
    efficiency = f"{curve.efficiency_of(point):.3f}"
    return [number(point.value), f"{curve.speedup_of(point):.3f}", efficiency]


def _lines(curve: Curve, fit: Fit | None, ranks: int) -> list[str]:
    by_law = float(law(curve.mode, fit.serial, ranks, curve.base.ranks)) if fit else None
    return [f"{one:.3f}" if one else "" for one in (by_law, curve.extrapolated(ranks))]


def _fit_text(curve: Curve, fit: Fit | None) -> str:
    name = LAWS[curve.mode]
    if fit is None:
        return f"serial share ({name}): two points are needed on as many ranks as there are cores"
    width = f" ± {fit.half_width:.2g} (95 %)" if fit.half_width is not None else ""
    few = "" if fit.half_width is not None else "; one point fixes it, nothing tests it"
    if fit.serial < _NO_SHARE:
        return f"serial share ({name}): none; it is as fast as the law allows, or faster{few}"
    return (
        f"serial share ({name}): {fit.serial:.3g}{width}; "
        f"the curve is within {100 * fit.largest_error:.2g} % of the points{few}"
    )


def _ranks_of(table: ScalingTable, curve: Curve) -> list[int]:
    run = [point.ranks for point in curve.points]
    return [*run, *(ranks for ranks in table.beyond if ranks > run[-1])]


def _doubts(table: ScalingTable) -> Iterator[str]:
    """Differences between runs of a series other than their ranks."""
    kinds: dict[str, set[object]] = {
        "hosts": {tuple(sorted({host.name for host in run.record.hosts})) for run in table.runs},
        "builds": {(run.record.program.commit, run.record.program.dirty) for run in table.runs},
        "devices": {tuple(run.record.devices()) for run in table.runs},
    }
    for kind, found in kinds.items():
        if len(found) > 1:
            yield f"warning: the runs are of {len(found)} different {kind}"


# --- other forms ----------------------------------------------------------------------------------

_CSV_HEAD = (
    *("benchmark", "mode", "case", "metric", "unit", "ranks", "size", "value", "speedup"),
    *("efficiency", "law", "law_speedup", "one_rank_speedup", "model_speedup", "neighbours"),
    "note",
)


def _csv_rows(table: ScalingTable, curve: Curve) -> Iterator[list[object]]:
    fit = curve.fit()
    measured = {point.ranks: point for point in curve.points}
    for p in _ranks_of(table, curve):
        point = measured.get(p)
        yield [
            *(table.benchmark, table.mode, curve.name, curve.metric, curve.unit, p),
            *((point.size, point.value) if point else (None, None)),
            *((curve.speedup_of(point), curve.efficiency_of(point)) if point else (None, None)),
            LAWS[curve.mode],
            float(law(curve.mode, fit.serial, p, curve.base.ranks)) if fit else None,
            curve.extrapolated(p),
            *((curve.speedup_by_model(point), point.neighbours) if point else (None, None)),
            _note(point) if point else "not run",
        ]


def _as_json(table: ScalingTable, curves: Sequence[Curve]) -> str:
    def of(curve: Curve) -> dict[str, object]:
        fit = curve.fit()
        return {
            "case": curve.name,
            "metric": curve.metric,
            "unit": curve.unit,
            "law": LAWS[curve.mode],
            "serial_share": fit.serial if fit else None,
            "serial_share_half_width": fit.half_width if fit else None,
            "largest_error": fit.largest_error if fit else None,
            "rows": [
                dict(zip(_CSV_HEAD[5:], row[5:], strict=True)) for row in _csv_rows(table, curve)
            ],
        }

    runs = [{"ranks": r.ranks, "part_of": r.part_of, "record": str(r.path)} for r in table.runs]
    document = {
        "benchmark": table.benchmark,
        "mode": table.mode,
        "curves": [of(curve) for curve in curves],
        "runs": runs,
        "left_out": table.left_out,
        "warnings": list(_doubts(table)),
    }
    return json.dumps(document, indent=2)


def _hover(curve: Curve, point: Point) -> str:
    near = "" if point.neighbours is None else f", N_max {point.neighbours}"
    return f"{number(point.value)} {curve.unit}{near}"


def write_plot(table: ScalingTable, path: Path) -> None:
    """Speed-ups over ranks, with the law's curve and the line from one rank, as a page.

    Hollow marks are not part of the fit. Raises :class:`RunError` if it cannot be written.
    """
    from plotly import graph_objects as go

    figure = go.Figure()
    most = 1
    for curve in table.curves():
        fit, ranks = curve.fit(), _ranks_of(table, curve)
        most = max(most, *ranks)
        label = curve.name
        figure.add_scatter(
            x=[point.ranks for point in curve.points],
            y=[curve.speedup_of(point) for point in curve.points],
            mode="markers",
            name=f"{label}, measured",
            text=[_hover(curve, point) for point in curve.points],
            marker={
                "size": 9,
                "symbol": ["circle-open" if p.aside else "circle" for p in curve.points],
            },
        )
        if fit is not None:
            dense = [
                curve.base.ranks * (ranks[-1] / curve.base.ranks) ** (i / 60) for i in range(61)
            ]
            figure.add_scatter(
                x=dense,
                y=law(curve.mode, fit.serial, dense, curve.base.ranks).tolist(),
                mode="lines",
                name=f"{label}, {LAWS[curve.mode]} with serial share {fit.serial:.3g}",
            )
        by_model = [
            (p.ranks, one) for p in curve.points if (one := curve.speedup_by_model(p)) is not None
        ]
        if by_model:
            figure.add_scatter(
                x=[p for p, _ in by_model],
                y=[one for _, one in by_model],
                mode="lines",
                line={"dash": "dash"},
                name=f"{label}, model",
            )
        line = [(p, one) for p in ranks if (one := curve.extrapolated(p)) is not None]
        figure.add_scatter(
            x=[p for p, _ in line],
            y=[one for _, one in line],
            mode="lines",
            line={"dash": "dot"},
            name=f"{label}, p times one rank with its part",
        )
    figure.add_scatter(
        x=[1, most], y=[1, most], mode="lines", name="ideal", line={"color": "lightgrey"}
    )
    figure.update_layout(
        title=f"{table.benchmark}, {table.mode} scaling",
        xaxis={"title": "ranks", "type": "log"},
        yaxis={"title": "speed-up", "type": "log"},
        template="simple_white",
    )
    try:
        path.write_text(figure.to_html(include_plotlyjs=True), encoding="utf-8")
    except OSError as error:
        raise RunError(f"--plot {path} cannot be written: {error.strerror}") from None
