"""Figures of records: by size, over ranks and time, distributions, roofline, pairs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median

from plumbline.base.units import prefix, size_text
from plumbline.judge.changes import changes
from plumbline.judge.comparison import is_rate
from plumbline.record.expectations import JudgedRecord
from plumbline.record.record import Case, Metric, Phase, Record
from plumbline.report.figures.files import beside
from plumbline.report.figures.shapes import (
    Axis,
    Bar,
    Chart,
    Curve,
    Distribution,
    Figure,
    Heat,
    Timeline,
    Values,
)
from plumbline.report.headline import headline

# Labels for a case's size; the first present one counts.
_SIZES = ("message_bytes", "bytes", "points", "table_bytes", "n", "size", "rows")
_IN_BYTES = ("message_bytes", "bytes", "table_bytes")
_MOST_CURVES = 6
_MOST_ROWS = 21
_MOST_BARS = 24  # rows of a timeline
_OVERLAP = (
    "A bar is from a phase's first beginning to its last end: phases that take turns overlap here."
)
_LEAST_CASES = 8  # of a distribution over cases


@dataclass(frozen=True)
class Shown:
    """A record with its expectations; ``label`` distinguishes it in a figure.

    ``folder`` holds the record and the files beside it.
    """

    label: str
    record: Record
    judged: JudgedRecord | None
    folder: Path | None = None


def size_label(case: Case) -> str | None:
    """The label of the case's size."""
    return next((name for name in _SIZES if isinstance(case.labels.get(name), int)), None)


def size_of(case: Case) -> int:
    """The case's size, or 0."""
    name = size_label(case)
    value = case.labels[name] if name else 0
    return value if isinstance(value, int) else 0


def family_of(case: Case) -> str:
    """The case's key without its size."""
    size = str(size_of(case))
    parts = case.key.split("/")
    return "/".join(part for part in parts if part != size) or case.key


def rate_of(case: Case) -> Metric | None:
    """The drawn rate of a case: of all ranks together, best repetition."""
    rates = [one for one in case.metrics if one.value is not None and is_rate(one.unit)]
    usual = [one for one in rates if one.name.endswith("_total")] or rates
    return usual[0] if usual else None


# --- by size --------------------------------------------------------------------------------------


def by_size(shown: Sequence[Shown]) -> Iterator[Figure]:
    """Rates and times by size, with the model's expectations; for three sizes or more."""
    found = [
        (one, family, sorted(cases, key=size_of))
        for one in shown
        for family, cases in _families(one.record).items()
        if len({size_of(case) for case in cases}) >= 3
    ]
    if not found:
        return
    several = len({family for _, family, _ in found}) > 1
    kept, more = found[:_MOST_CURVES], len(found) - _MOST_CURVES
    note = f"{more} more are in the tables." if more > 0 else ""
    rate = next((r for _, _, cases in kept for c in cases if (r := rate_of(c))), None)
    title = kept[0][0].record.benchmark.name
    label = size_label(kept[0][2][0]) or ""
    x = Axis(label.replace("_", " "), log=True, kind="bytes" if label in _IN_BYTES else "number")
    for what in ("rate", "time"):
        if what == "rate" and rate is None:
            continue
        y = Axis(
            f"{rate.name.replace('_', ' ')}, {rate.unit}"
            if what == "rate" and rate
            else "median time of one count, us",
            log=True,
        )
        curves = []
        for number, (one, family, cases) in enumerate(kept):
            name = ", ".join(filter(None, [family if several else "", one.label])) or family
            curves += list(_curves(one, cases, name, number, rate if what == "rate" else None))
        if any(len(curve.points) > 1 for curve in curves):
            yield Chart(f"{title}: {y.label.split(',')[0]} by size", x, y, curves, note)


def _families(record: Record) -> dict[str, list[Case]]:
    families: dict[str, list[Case]] = {}
    for case in record.cases:
        if case.has_figures and size_of(case) > 0:
            families.setdefault(family_of(case), []).append(case)
    return families


def _curves(
    one: Shown, cases: Sequence[Case], name: str, colour: int, rate: Metric | None
) -> Iterator[Curve]:
    points, expected, texts = [], [], []
    for case in cases:
        metric = next((m for m in case.metrics if rate is not None and m.name == rate.name), None)
        value = metric.value if metric else None
        if rate is None:
            seconds = case.median_s()
            value = seconds * 1e6 if seconds else None
        if not value:
            continue
        size = size_of(case)
        points.append((float(size), value))
        shown = size_text(size) if size_label(case) in _IN_BYTES else str(size)
        unit = rate.unit if rate else "us"
        texts.append(f"{name}, {shown}: {value:.4g} {unit}")
        judged = one.judged.cases.get(case.key) if one.judged else None
        if judged is not None:
            share = judged.ratio if rate is not None else 1 / judged.ratio
            expected.append((float(size), value * share))
    yield Curve(name, points, colour, texts=texts)
    if len(expected) > 1:
        yield Curve(f"expected of {name}", expected, colour, model=True)


# --- over ranks and time --------------------------------------------------------------------------


def over_ranks(shown: Sequence[Shown]) -> Iterator[Figure]:
    """The headline over the number of ranks, if records differ in nothing else."""
    lines: dict[str, dict[int, tuple[float, str, str]]] = {}
    for one in shown:
        figure = headline(one.record)
        if figure is not None and is_rate(figure.unit):
            record = one.record
            key = f"{record.transport_name} {', '.join(record.devices())}".strip()
            place = lines.setdefault(key, {})
            known = place.get(record.world.ranks)
            if known is None or figure.value > known[0]:
                place[record.world.ranks] = (figure.value, figure.unit, figure.name)
    kept = {key: points for key, points in lines.items() if len(points) >= 2}
    if not kept:
        return
    curves = []
    for number, (key, points) in enumerate(kept.items()):
        ranks = sorted(points)
        first = points[ranks[0]][0] / ranks[0]
        values = [(float(rank), points[rank][0]) for rank in ranks]
        texts = [f"{rank} ranks: {points[rank][0]:.4g} {points[rank][1]}" for rank in ranks]
        curves.append(Curve(key, values, number, texts=texts))
        ideal = [(float(rank), first * rank) for rank in (ranks[0], ranks[-1])]
        curves.append(Curve(f"in proportion, {key}", ideal, number, model=True))
    _, unit, name = next(iter(next(iter(kept.values())).values()))
    title = f"{shown[0].record.benchmark.name}: {name} over ranks"
    yield Chart(
        title, Axis("ranks", log=True, kind="count"), Axis(f"{name}, {unit}", log=True), curves
    )


def over_time(title: str, runs: Sequence[Record]) -> Iterator[Figure]:
    """The headline over time, with changes of level, for three or more runs of one setting."""
    points, texts, unit, name = [], [], "", ""
    for record in sorted(runs, key=lambda one: one.started):
        figure = headline(record)
        if figure is None:
            continue
        moment = datetime.fromisoformat(record.started).timestamp()
        points.append((moment, figure.value))
        texts.append(f"{record.started}: {figure.text}")
        unit, name = figure.unit, figure.name
    if len(points) < 3:
        return
    values = [value for _, value in points]
    found = changes(values) if min(values) > 0 else []
    marks = [(points[one.index][0], f"{(one.ratio - 1) * 100:+.1f} %") for one in found]
    curve = Curve(name, points, 0, texts=texts)
    yield Chart(
        f"{title}: {name} over time",
        Axis("day", kind="date"),
        Axis(f"{name}, {unit}"),
        [curve],
        marks=marks,
    )


# --- distributions --------------------------------------------------------------------------------


def distribution(shown: Shown) -> Iterator[Figure]:
    """Every repetition's time over its case's median, by the slowest rank."""
    cases = [case for case in shown.record.cases if _repetitions(case)]
    if not cases:
        return
    every = max(1, math.ceil(len(cases) / _MOST_ROWS))
    short = _short_keys(cases)
    rows = []
    for case in cases[::every]:
        times = _repetitions(case)
        middle = median(times)
        rows.append(Values(short.get(case.key, case.key), [one / middle for one in times]))
    note = f"Every {_ordinal(every)} of {len(cases)} cases." if every > 1 else ""
    of = f" ({shown.label})" if shown.label else ""
    title = f"{shown.record.benchmark.name}: repetitions{of}"
    yield Distribution(title, Axis("time / median of the case", log=True), rows, note)


def over_cases(shown: Shown) -> Iterator[Figure]:
    """The rate of cases that were run once, such as the searches of a graph, by their group."""
    groups: dict[str, list[float]] = {}
    rates = [
        (case.key.rpartition("/")[0], rate)
        for case in shown.record.cases
        if case.has_figures
        and case.samples.by_rank
        and len(case.samples.by_rank[0]) == 1
        and (rate := rate_of(case))
    ]
    for group, rate in rates:
        if rate.value is not None and (rate.name, rate.unit) == (
            rates[0][1].name,
            rates[0][1].unit,
        ):
            groups.setdefault(group, []).append(rate.value)
    rows = [Values(group, values) for group, values in groups.items()]
    rows = [row for row in rows if len(row.values) >= _LEAST_CASES]
    if rows:
        of = f" ({shown.label})" if shown.label else ""
        name, unit = rates[0][1].name, rates[0][1].unit
        scale, prefixed = prefix(max(max(row.values) for row in rows), unit)
        rows = [Values(row.label, [value * scale for value in row.values]) for row in rows]
        title = f"{shown.record.benchmark.name}: {name} of each case{of}"
        label = prefixed if prefixed.endswith(name) else f"{name}, {prefixed}"
        yield Distribution(title, Axis(label, log=True), rows)


def _short_keys(cases: Sequence[Case]) -> dict[str, str]:
    """Keys without their common parts, sizes in bytes with a unit."""
    start = _common_words([case.key.split("/")[0] for case in cases])
    split = [case.key[start:].split("/") for case in cases]
    alike = len({len(parts) for parts in split}) == 1 and len(cases) > 1
    same = [alike and len(set(column)) == 1 for column in zip(*split, strict=False)]
    found = {}
    for case, parts in zip(cases, split, strict=True):
        size = size_of(case) if size_label(case) in _IN_BYTES else 0
        own = [part for part, is_same in zip(parts, same, strict=False) if not is_same]
        own += parts[len(same) :]
        found[case.key] = "/".join(size_text(size) if size and p == str(size) else p for p in own)
    return found


def _common_words(names: Sequence[str]) -> int:
    """The number of letters of the words (``osu_``) with which all names begin."""
    words = [name.split("_")[:-1] for name in names]
    alike = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    return sum(len(column[0]) + 1 for column in alike) if len(set(names)) > 1 else 0


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def _repetitions(case: Case) -> list[float]:
    if case.outcome.status != "passed" or not case.samples.by_rank:
        return []
    slowest = [max(times) for times in zip(*case.samples.by_rank, strict=False)]
    return [one for one in slowest if one > 0] if len(slowest) >= 5 else []


# --- roofline -------------------------------------------------------------------------------------


def roofline(records: Sequence[Record]) -> Iterator[Figure]:
    """Arithmetic intensity and speed of cases, with ceilings measured on the same devices."""
    for key, group in itertools.groupby(sorted(records, key=_place), key=_place):
        of = list(group)
        ceilings = [one for one in of if one.benchmark.name == "ceilings"]
        points = [
            (record.benchmark.name, *place, case.key)
            for record in of
            if record.benchmark.name != "ceilings"
            for case in record.cases
            if (place := _intensity(record, case)) is not None
        ]
        if points and ceilings:
            yield _roofline(key, points, ceilings)


def _place(record: Record) -> tuple[str, str, int]:
    hosts = ", ".join(sorted({host.name for host in record.hosts}))
    return hosts, ", ".join(record.devices()), record.world.ranks


def _intensity(record: Record, case: Case) -> tuple[float, float] | None:
    """FLOP/B and GFLOP/s of all ranks, for a passed case with both flops and bytes."""
    seconds = case.median_s()
    moved = case.work.bytes_read + case.work.bytes_written
    if case.outcome.status != "passed" or not seconds or not moved or case.work.flops <= 0:
        return None
    ranks = record.measuring.active_ranks or record.world.ranks
    return case.work.flops / moved, case.work.flops * ranks / seconds * 1e-9


def _roofline(
    place: tuple[str, str, int],
    points: Sequence[tuple[str, float, float, str]],
    ceilings: Sequence[Record],
) -> Figure:
    peak: Counter[str] = Counter()
    bandwidth = 0.0
    for record in ceilings:
        for case in record.cases:
            seconds = case.median_s()
            if case.outcome.status != "passed" or not seconds:
                continue
            rate = record.world.ranks / seconds * 1e-9
            if case.label("limit") == "flops":
                name = case.label("type")
                peak[name] = max(peak[name], case.work.flops * rate)  # type: ignore[assignment]
            elif case.label("limit") == "memory":
                moved = case.work.bytes_read + case.work.bytes_written
                bandwidth = max(bandwidth, moved * rate)
    low = min(x for _, x, _, _ in points) / 4
    high = max([*(x for _, x, _, _ in points), *(top / bandwidth for top in peak.values())]) * 4
    curves = []
    for number, (name, top) in enumerate(peak.most_common(3)):
        ridge = top / bandwidth if bandwidth else low
        line = [(low, low * bandwidth), (ridge, top), (high, top)] if bandwidth else []
        title = f"ceiling, {name}: {top:.4g} GFLOP/s, {bandwidth:.4g} GB/s"
        curves.append(Curve(title, line or [(low, top), (high, top)], 7 - number, model=True))
    names = list(dict.fromkeys(name for name, *_ in points))
    for number, name in enumerate(names):
        own = [(x, y) for of, x, y, _ in points if of == name]
        texts = [f"{of} {key}: {y:.4g} GFLOP/s" for of, x, y, key in points if of == name]
        curves.append(Curve(name, own, number, joined=False, texts=texts))
    host, device, ranks = place
    return Chart(
        f"Roofline: {host}, {device}",
        Axis("flops per byte read or written", log=True),
        Axis("GFLOP/s", log=True),
        curves,
        f"All {ranks} ranks together; ceilings as the benchmark ceilings measured them.",
    )


# --- pairs, ranks, phases -------------------------------------------------------------------------


def pairs(record: Record) -> Iterator[Figure]:
    """Times between pairs of cores or ranks; from three ranks on also per rank and case."""
    for first, second in (("core_0", "core_1"), ("from", "to")):
        cases = [
            case
            for case in record.cases
            if case.outcome.status == "passed"
            and isinstance(case.labels.get(first), int)
            and isinstance(case.labels.get(second), int)
        ]
        tests: dict[str, list[Case]] = {}  # a test's cases are not one after the other
        for case in cases:
            tests.setdefault(str(case.label("test") or ""), []).append(case)
        for test, group in tests.items():
            yield _pair_map(record, test, group, (first, second))
    yield from _memory_maps(record)
    if record.world.ranks >= 3:
        yield from _rank_map(record)


def _memory_maps(record: Record) -> Iterator[Figure]:
    """A test's figure of its longest messages, from and to each kind of memory."""
    tests: dict[str, list[Case]] = {}
    for case in record.cases:
        if isinstance(case.labels.get("from"), str):
            tests.setdefault(str(case.label("test")), []).append(case)
    for test, cases in tests.items():
        longest = max(int(case.label("bytes")) for case in cases)
        values: dict[tuple[str, str], float | None] = {}
        unit = ""
        for case in cases:
            if case.outcome.status == "passed" and int(case.label("bytes")) == longest:
                figure = case.metrics[0]
                values[str(case.label("from")), str(case.label("to"))] = figure.value
                unit = figure.unit
        letters = [one for one in "HDBP" if any(one in pair for pair in values)]
        title = f"{test}: messages of {longest} B, from and to each memory"
        cells = [[values.get((a, b)) for b in letters] for a in letters]
        yield Heat(title, letters, letters, cells, unit, "from", "to")


def _pair_map(record: Record, test: str, cases: list[Case], names: tuple[str, str]) -> Figure:
    values: dict[tuple[int, int], float] = {}
    for case in cases:
        ends = (int(case.label(names[0])), int(case.label(names[1])))
        values[ends] = (case.median_s() or 0) * 1e6
    rows = sorted({a for a, _ in values})
    columns = sorted({b for _, b in values})
    cells = [[values.get((a, b)) for b in columns] for a in rows]
    what = names[0].removesuffix("_0").removesuffix("from") or "rank"
    return Heat(
        f"{record.benchmark.name}: {test or 'time'} between pairs of {what}s",
        [str(one) for one in rows],
        [str(one) for one in columns],
        cells,
        "us",
        what,
        what,
    )


def _rank_map(record: Record) -> Iterator[Figure]:
    cases = [case for case in record.cases if _repetitions(case)]
    every = max(1, math.ceil(len(cases) / _MOST_ROWS))
    short = _short_keys(cases)
    rows, cells = [], []
    for case in cases[::every]:
        medians = [median(times) for times in case.samples.by_rank]
        rows.append(short.get(case.key, case.key))
        cells.append([one / min(medians) if min(medians) > 0 else None for one in medians])
    if rows:
        ranks = [str(rank) for rank in range(record.world.ranks)]
        title = f"{record.benchmark.name}: time of each rank over the fastest's"
        yield Heat(title, rows, ranks, cells, "times", "case", "rank")


def timeline(record: Record) -> Iterator[Figure]:
    """Each rank's phases in the last repetition of the last case with phases.

    Older records have no intervals, only a phase's first beginning and last end.
    """
    for case in reversed(record.cases):
        title = f"{record.benchmark.name} {case.key}: phases of the"
        if spans := _intervals(case):
            yield _timeline(f"{title} last repetition", spans, list(case.phases), "")
            return
        if spans := _outer_spans(case):
            yield _timeline(f"{title} best repetition", spans, list(case.phases), _OVERLAP)
            return


_Spans = dict[tuple[int, str], list[tuple[float, float]]]  # by rank and phase


def _timeline(title: str, spans: _Spans, names: list[str], note: str) -> Timeline:
    ranks = sorted({rank for rank, _ in spans})
    drawn = ranks[: max(1, _MOST_BARS // len(names))]
    if len(drawn) < len(ranks):
        note = f"The first {len(drawn)} of {len(ranks)} ranks. {note}".strip()
    keys = sorted(
        (key for key in spans if key[0] in drawn), key=lambda one: (one[0], names.index(one[1]))
    )
    bars = [
        Bar(row, *span, key[1], names.index(key[1]))
        for row, key in enumerate(keys)
        for span in spans[key]
    ]
    return Timeline(title, [f"rank {rank}, {name}" for rank, name in keys], bars, note)


def _intervals(case: Case) -> _Spans:
    return {
        (rank, name): lives
        for name, phase in case.phases.items()
        for rank, lives in enumerate(phase.last_spans_by_rank)
        if lives
    }


def _outer_spans(case: Case) -> _Spans:
    best = case.summary.best_repetition if case.summary else 0
    return {
        (rank, name): [span]
        for name, phase in case.phases.items()
        for rank in range(len(phase.begin_by_rank))
        if (span := _span(phase, rank, best)) is not None
    }


def _span(phase: Phase, rank: int, repetition: int) -> tuple[float, float] | None:
    if rank >= len(phase.end_by_rank) or repetition >= len(phase.begin_by_rank[rank]):
        return None
    begin, end = phase.begin_by_rank[rank][repetition], phase.end_by_rank[rank][repetition]
    return None if begin is None or end is None else (begin, end)


def every_figure(shown: Sequence[Shown]) -> list[Figure]:
    """All figures of one benchmark's newest records, one per setting."""
    found = [*by_size(shown), *over_ranks(shown)]
    for one in shown[:3]:
        found += [*distribution(one), *over_cases(one), *pairs(one.record), *timeline(one.record)]
        found += beside(one.record, one.folder)
    return found
