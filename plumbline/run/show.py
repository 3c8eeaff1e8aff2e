"""``plumb show``: print a stored record."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from plumbline.base.errors import RunError, UsageError, did_you_mean
from plumbline.base.paths import Home, find_home
from plumbline.engine.program import find_engine
from plumbline.engine.text_form import form_of, print_record
from plumbline.judge.judgement import Judgement, judge
from plumbline.record.expectations import expected_path
from plumbline.record.record import Record, load_record
from plumbline.record.store import record_files
from plumbline.run.plan import FORMATS as RUN_FORMATS
from plumbline.run.run import write_expected
from plumbline.system.files import find_system, local_system

FORMATS = [*RUN_FORMATS, "hpcc", "hpcc-fpga"]
_LONGEST_NAME = 4096  # of a path, on Linux


def show(
    given: Sequence[str],
    environ: Mapping[str, str],
    console: Console,
    *,
    form: str,
    output: str | None,
    system: str | None,
    tolerance: float | None,
    timeline: str | None = None,
    energy: bool = False,
) -> None:
    """Print the record ``given`` (a path, a name in HOME/records, or ``last``).

    ``hpcc`` joins several records; other forms take one. The expectation file beside the record is
    used if there is one and no ``system`` is named; otherwise the record is judged by ``system`` or
    by this machine's calibration. ``timeline`` draws the phases of the cases instead:
    as text for "-", otherwise as a page of HTML. ``energy`` prints the energy of the cases instead.
    """
    home = find_home(environ)
    paths = [find_record(one, home) for one in given]
    if form == "hpcc":
        from plumbline.report import hpcc

        _print(hpcc.write([load_record(path) for path in paths]), output)
        return
    if len(paths) > 1:
        raise UsageError(f"--format {form} takes one record: hpcc joins several")
    (path,) = paths
    record = load_record(path)
    if timeline is not None:
        _draw(record, timeline)
        return
    if energy:
        from plumbline.report.energy import text_of

        _print(text_of(record), output)
        return
    engine = find_engine(environ)
    if form == "hpcc-fpga":
        from plumbline.report import hpcc_fpga

        document = form_of(engine, environ, path, "hpcc-json")
        _print(hpcc_fpga.text_of(json.loads(document)), output)
        if record.emulated:
            console.print(f"emulated: {record.emulated}", markup=False, soft_wrap=True)
        return
    expected: Path | None = expected_path(path)
    with tempfile.TemporaryDirectory(prefix="plumbline-") as spare:
        if system is not None or expected is None or not expected.is_file():
            judgement = _judge(home, system, path, tolerance)
            expected = write_expected(judgement, Path(spare) / path.name, Path(spare))
            console.print(judgement.line, markup=False, highlight=False, soft_wrap=True)
        output_path = Path(output) if output else None
        print_record(engine, environ, path, expected, form=form, output=output_path)
    if record.status != "complete":
        reason = f": {record.reason}" if record.reason else ""
        console.print(f"the run did not complete{reason}", markup=False, soft_wrap=True)


def _draw(record: Record, to: str) -> None:
    """The phases of all cases that have some."""
    from plumbline.report.phases import spans_of, text_of
    from plumbline.report.timeline import write_timeline

    cases = [case for case in record.cases if case.phases]
    if not cases:
        raise UsageError(f"{record.benchmark.name} has no case with phases, so no timeline")
    if to == "-":
        print("\n\n".join(text_of(case) for case in cases))
        return
    spans = [
        replace(span, rank=f"{span.rank}, {case.key}" if len(cases) > 1 else span.rank)
        for case in cases
        for span in spans_of(case)
    ]
    keys = ", ".join(case.key for case in cases[:3])
    write_timeline(f"{record.benchmark.name}: {keys}, last repetition", spans, Path(to))


def _print(text: str, output: str | None) -> None:
    if output is None:
        print(text)
        return
    try:
        Path(output).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"--output {output} cannot be written: {error.strerror}") from None


def find_record(given: str, home: Home) -> Path:
    """The record's path. Raises :class:`UsageError` if there is none."""
    if given == "last":
        newest = max(
            record_files(home.records), default=None, key=lambda path: path.stat().st_mtime_ns
        )
        if newest is None:
            raise UsageError(f"there is no record in {home.records} yet")
        return newest
    named = home.records / f"{given.removesuffix('.json')}.json"
    if len(given) > _LONGEST_NAME:
        raise UsageError(f"there is no record {given}")
    if not Path(given).exists() and "/" not in given and not named.exists():
        names = [path.stem for path in record_files(home.records)]
        raise UsageError(f"unknown record {given}{did_you_mean(given, names)}")
    return Path(given) if Path(given).exists() or "/" in given else named


def _judge(home: Home, system: str | None, path: Path, tolerance: float | None) -> Judgement:
    chosen = find_system(system, home) if system is not None else local_system(home)
    return judge(load_record(path), chosen, tolerance)
