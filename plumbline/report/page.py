"""``plumb report``: records as a self-contained page of HTML.

The file includes style, figures (SVG) and a small script for filters; without the script all is
shown. The template escapes all contents of records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from plumbline.base.units import duration, figure_text
from plumbline.base.version import version
from plumbline.judge.comparison import Compared
from plumbline.judge.sides import Comparison
from plumbline.record.expectations import JudgedRecord
from plumbline.record.record import Case, Record, option_text
from plumbline.record.store import seconds_of
from plumbline.report.comparison import summary
from plumbline.report.figures import fields
from plumbline.report.figures.records import (
    Shown,
    every_figure,
    over_time,
    rate_of,
    roofline,
)
from plumbline.report.figures.shapes import Field, Figure, Ratio, Ratios
from plumbline.report.figures.svg import svg
from plumbline.report.headline import Figure as Headline
from plumbline.report.headline import headline

VERDICTS = ("ok", "fast", "ambiguous", "slow")
_MOST_CASES = 64  # per setting, in its table
_MOST_SETTINGS = 40  # per benchmark, with a table of cases
_MOST_TIMES = 6  # figures over time
_MOST_RATIOS = 24


@dataclass(frozen=True)
class Loaded:
    """A record, its name for users, its expectations, and the folder of its files."""

    name: str
    record: Record
    judged: JudgedRecord | None
    folder: Path | None = None


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, with title and note."""

    title: str
    note: str
    svg: Markup


@dataclass(frozen=True)
class CaseRow:
    """A row of the table of cases, as texts."""

    key: str
    time: str
    interval: str
    rate: str
    expected: str
    ratio: float | None
    verdict: str
    limit: str
    outcome: str
    checked: str


@dataclass(frozen=True)
class Setting:
    """Runs that differ in their time only; the newest in full."""

    label: str
    newest: Loaded
    count: int
    figure: Headline | None
    outcomes: Mapping[str, int]
    verdicts: Mapping[str, int]
    share: float | None
    limits: str
    cases: Sequence[CaseRow]
    left_out: int
    facts: Sequence[tuple[str, str]]
    derivations: Sequence[tuple[str, str, str]]
    state: str

    @property
    def record(self) -> Record:
        """The newest record."""
        return self.newest.record

    @property
    def needs_attention(self) -> bool:
        """Whether a case failed or was slower than expected."""
        return bool(self.verdicts.get("slow")) or bool({"failed", "error"} & self.outcomes.keys())


@dataclass(frozen=True)
class Section:
    """A benchmark: settings, figures, and all runs."""

    name: str
    title: str
    source: str
    settings: Sequence[Setting]
    pictures: Sequence[Picture]
    runs: Sequence[Mapping[str, str]]
    hosts: str

    @property
    def needs_attention(self) -> bool:
        """Whether one of its settings needs attention."""
        return any(setting.needs_attention for setting in self.settings)


@dataclass(frozen=True)
class Machine:
    """A host and its used devices."""

    name: str
    facts: Sequence[tuple[str, str]]
    devices: Sequence[Sequence[tuple[str, str]]]


@dataclass
class Page:
    """The template's data."""

    title: str
    made: str
    version: str
    tiles: Sequence[tuple[str, str, str]]
    machines: Sequence[Machine]
    sections: Sequence[Section]
    rooflines: Sequence[Picture]
    comparison: Mapping[str, object] | None = None
    notes: Sequence[str] = field(default=())


def write_page(
    title: str,
    records: Sequence[Loaded],
    comparison: Comparison | None = None,
    sides: tuple[str, str] = ("A", "B"),
) -> str:
    """The page's HTML: the ``comparison``, if given, then ``records`` by benchmark."""
    environment = Environment(
        loader=PackageLoader("plumbline.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["share"] = _share_text
    template = environment.get_template("report.html")
    page = page_of(title, records)
    if comparison is not None:
        page.comparison = _comparison(comparison, sides)
    return template.render(page=page)


def page_of(title: str, records: Sequence[Loaded]) -> Page:
    """The page's data from ``records``."""
    ordered = sorted(records, key=lambda one: (one.record.benchmark.name, one.record.started))
    sections = [
        _section(list(group))
        for _, group in groupby(ordered, key=lambda one: one.record.benchmark.name)
    ]
    return Page(
        title=title,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=version(),
        tiles=_tiles(records),
        machines=list(_machines([one.record for one in ordered])),
        sections=sections,
        rooflines=[_picture(one) for one in roofline([one.record for one in ordered])],
    )


def _tiles(records: Sequence[Loaded]) -> list[tuple[str, str, str]]:
    """Value, label, and rating (ok, bad, or none)."""
    outcomes = Counter(case.outcome.status for one in records for case in one.record.cases)
    verdicts = sum((one.judged.counts() for one in records if one.judged), Counter[str]())
    wrong = outcomes["failed"] + outcomes["error"]
    judged = sum(verdicts.values())
    return [
        (str(len(records)), "record" if len(records) == 1 else "records", ""),
        (str(outcomes["passed"]), "cases right", "ok"),
        (str(wrong), "wrong or failed", "bad" if wrong else "ok"),
        (
            f"{verdicts['slow']} of {judged}",
            "slower than expected",
            "bad" if verdicts["slow"] else "",
        ),
        (str(outcomes["unsupported"] + outcomes["skipped"]), "not supported, or skipped", ""),
    ]


# --- machines -------------------------------------------------------------------------------------


def _machines(records: Sequence[Record]) -> Iterator[Machine]:
    hosts: dict[str, Machine] = {}
    for record in sorted(records, key=lambda one: one.started):
        for number, host in enumerate(record.hosts):
            memory = f"{host.memory_bytes / 2**30:.1f} GiB"
            facts = [
                ("processor", f"{host.cpu}, {host.cores} cores"),
                ("memory", memory),
                ("system", f"{host.os}, kernel {host.kernel}"),
                ("clock governor", host.governor or "not told by the kernel"),
                ("ranks joined by", record.world.library or record.world.kind),
            ]
            devices = {
                (rank.device.runtime, rank.device.name): rank.device
                for rank in record.ranks
                if rank.device and rank.host == number
            }
            known = hosts.get(host.name)
            # Newer facts of a device replace older ones: PoCL's memory is what was free then.
            older = {tuple(one[:3]): list(one) for one in known.devices} if known else {}
            for device in devices.values():
                units = device.compute_units
                row = [
                    ("device", device.name),
                    ("runtime", f"{device.runtime}: {device.platform}"),
                    ("driver", device.driver),
                    ("type", f"{device.type}, {units} compute unit{'s' * (units != 1)}"),
                    ("memory", f"{device.memory_bytes / 2**30:.1f} GiB"),
                ]
                older[tuple(row[:3])] = row
            hosts[host.name] = Machine(host.name, facts, list(older.values()))
    yield from hosts.values()


# --- a benchmark ----------------------------------------------------------------------------------


def _section(records: Sequence[Loaded]) -> Section:
    first = records[-1].record
    settings = [
        _setting(label, group[-1], len(group), number < _MOST_SETTINGS)
        for number, (label, group) in enumerate(_by_setting(records))
    ]
    drawn = [
        one for one in figures_of(records) if fields.is_available() or not isinstance(one, Field)
    ]
    pictures = [_picture(figure) for figure in drawn]
    hosts = {host.name for one in records for host in one.record.hosts}
    return Section(
        name=first.benchmark.name,
        title=first.benchmark.title,
        source=first.benchmark.source,
        settings=settings,
        pictures=pictures,
        runs=[_run(one) for one in reversed(records)],
        hosts="\n".join(sorted(hosts)),
    )


def figures_of(records: Sequence[Loaded]) -> list[Figure]:
    """The figures of one benchmark's records (sorted by time)."""
    shown: list[Shown] = []
    times: list[Figure] = []
    for label, group in _by_setting(records):
        shown.append(Shown(label, group[-1].record, group[-1].judged, group[-1].folder))
        title = ", ".join(filter(None, [group[-1].record.benchmark.name, label]))
        if len(times) < _MOST_TIMES:
            times += list(over_time(title, [one.record for one in group]))
    return [*every_figure(shown), *times]


def _by_setting(records: Sequence[Loaded]) -> list[tuple[str, list[Loaded]]]:
    """Records that differ in their time only, with the conditions that distinguish them."""
    grouped: dict[tuple[tuple[str, str], ...], list[Loaded]] = {}
    for one in records:
        grouped.setdefault(tuple(_conditions(one.record).items()), []).append(one)
    labels = _labels([dict(key) for key in grouped])
    return list(zip(labels, grouped.values(), strict=True))


def _conditions(record: Record) -> dict[str, str]:
    """The conditions that distinguish settings, as shown to users."""
    sent = record.transport
    return {
        "host": ", ".join(sorted({host.name for host in record.hosts})),
        "device": ", ".join(record.devices()) or "no device",
        "runtime": ", ".join(sorted({r.device.runtime for r in record.ranks if r.device})),
        "world": record.world.kind,
        "ranks": f"{record.world.ranks} rank{'s' * (record.world.ranks != 1)}",
        "transport": f"{sent.name} {record.approach}" if sent else "",
        "memory": f"memory {record.memory.kind}",
        "preset": f"preset {record.measuring.preset}",
        **{name: option_text(name, value) for name, value in record.parameters.items()},
    }


def _labels(every: Sequence[Mapping[str, str]]) -> list[str]:
    """The differing conditions of each setting; empty for a single one."""
    names = dict.fromkeys(name for one in every for name in one)
    differing = [name for name in names if len({one.get(name) for one in every}) > 1]
    return [", ".join(filter(None, (one.get(name, "") for name in differing))) for one in every]


def _setting(label: str, newest: Loaded, count: int, in_full: bool) -> Setting:
    record, judged = newest.record, newest.judged
    rows = [_case(case, judged) for case in record.cases[: _MOST_CASES if in_full else 0]]
    ratios = sorted(case.ratio for case in judged.cases.values()) if judged else []
    bounds = Counter(case.bound for case in judged.cases.values() if case.bound) if judged else {}
    return Setting(
        label=label,
        newest=newest,
        count=count,
        figure=headline(record),
        outcomes=Counter(case.outcome.status for case in record.cases),
        verdicts=judged.counts() if judged else {},
        share=1 / ratios[len(ratios) // 2] if ratios else None,
        limits=", ".join(f"{bound} ({n})" for bound, n in Counter(bounds).most_common(3)),
        cases=rows,
        left_out=len(record.cases) - len(rows),
        facts=list(_facts(newest)),
        derivations=_derivations(record),
        state=" ".join(filter(None, [judged.state, judged.promise])) if judged else "",
    )


def _facts(loaded: Loaded) -> Iterator[tuple[str, str]]:
    record = loaded.record
    program = record.program
    took = seconds_of(record)
    yield "record", loaded.name
    yield "measured", f"{record.started}{f', {took:.1f} s' if took is not None else ''}"
    yield "command", " ".join(record.command)
    commit = f", commit {program.commit[:10]}" if program.commit else ""
    altered = " with changes" if program.dirty else ""
    yield "program", f"{program.name} {program.version}{commit}{altered}, {program.build_type}"
    yield (
        "expected by",
        f"{loaded.judged.model}; {loaded.judged.system}" if loaded.judged else "no model",
    )
    if record.emulated:
        yield "emulated", record.emulated
    validations = [case.validation for case in record.cases if case.validation]
    items = sum(sum(one.items_checked) for one in validations)
    wrong = sum(one.wrong_items for one in validations)
    yield "validation", f"{items} items of {len(validations)} cases compared, {wrong} wrong"
    for warning in record.warnings:
        yield "warning", warning.text
    if record.outcome and record.outcome.reason:
        yield "outcome", f"{record.outcome.status}: {record.outcome.reason}"


def _derivations(record: Record) -> list[tuple[str, str, str]]:
    """Name, unit and derivation of each metric."""
    metrics = [*record.metrics, *(m for case in record.cases for m in case.metrics)]
    return list(dict.fromkeys((one.name, one.unit, one.convention) for one in metrics))


def _case(case: Case, judged: JudgedRecord | None) -> CaseRow:
    median, interval = case.median_s(), case.interval_s()
    expected = judged.cases.get(case.key) if judged else None
    rate = rate_of(case)
    outcome = case.outcome.status
    checked = ""
    if case.validation is not None and case.validation.performed:
        checked = f"{sum(case.validation.items_checked)} items by {case.validation.reference}"
        if case.validation.wrong_items:
            checked += f", {case.validation.wrong_items} wrong: {case.validation.detail or ''}"
    return CaseRow(
        key=case.key,
        time=duration(median) if median is not None else "",
        interval=f"{duration(interval[0])} to {duration(interval[1])}" if interval else "",
        rate=figure_text(rate.value, rate.unit) if rate and rate.value is not None else "",
        expected=duration(expected.expected_s) if expected else "",
        ratio=expected.ratio if expected else None,
        verdict=(expected.verdict or "") if expected else "",
        limit=(expected.bound or "") if expected else "",
        outcome=f"{outcome}: {case.outcome.reason}" if case.outcome.reason else outcome,
        checked=checked,
    )


def _run(loaded: Loaded) -> dict[str, str]:
    record = loaded.record
    figure = headline(record)
    outcomes = Counter(case.outcome.status for case in record.cases)
    verdicts = loaded.judged.counts() if loaded.judged else Counter[str]()
    return {
        "started": record.started,
        "host": ", ".join(sorted({host.name for host in record.hosts})),
        "ranks": str(record.world.ranks),
        "transport": f"{record.transport_name} {record.approach or ''}".strip(),
        "figure": f"{figure.text} {figure.name}" if figure else "",
        "outcomes": ", ".join(f"{count} {word}" for word, count in outcomes.items()),
        "verdicts": ", ".join(f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word]),
        "name": loaded.name,
    }


# --- comparison -----------------------------------------------------------------------------------


def _comparison(comparison: Comparison, sides: tuple[str, str]) -> dict[str, object]:
    rows = sorted(
        comparison.cases, key=lambda one: (one.benchmark, one.word not in ("slower", "faster"))
    )
    pictures = [
        _picture(_ratios(benchmark, list(group), comparison))
        for benchmark, group in groupby(rows, key=lambda one: one.benchmark)
    ]
    return {
        "sides": sides,
        "launches": comparison.launches,
        "summary": summary(comparison),
        "pictures": pictures,
        "differences": comparison.differences,
        "cases": comparison.cases,
        "apart": comparison.apart,
        "duration": duration,
    }


def _ratios(benchmark: str, cases: Sequence[Compared], comparison: Comparison) -> Ratios:
    shown = cases[:_MOST_RATIOS]
    ratios = [Ratio(one.key, one.ratio, one.interval, one.word) for one in shown]
    cut = f"The first {len(shown)} of {len(cases)} cases." if len(cases) > len(shown) else ""
    what = "time of one count" if comparison.metric == "time" else comparison.metric
    return Ratios(f"{benchmark}: {what}, B over A", ratios, comparison.threshold, cut)


def _picture(figure: Figure) -> Picture:
    return Picture(figure.title, figure.note, Markup(svg(figure)))  # svg() escapes its input


def _share_text(share: float) -> str:
    return f"{share * 100:.0f} %"
