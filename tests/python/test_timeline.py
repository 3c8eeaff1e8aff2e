"""``plumb show --timeline``: what each rank did when, from the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plumbline.base.errors import UsageError
from plumbline.model.simulate import Span
from plumbline.record.record import Case, load_record
from plumbline.report.phases import outer_phases, rank_times, spans_of, text_of
from plumbline.report.timeline import write_timeline

GOLDEN = Path(__file__).parents[1] / "golden" / "hpl_2.record.json"
LIVES = {
    "factorisation": [[(0.0, 8.0)], [(0.0, 8.0)]],
    "panel": [[(0.0, 1.0), (4.0, 5.0)], []],
    "broadcast": [[(1.0, 1.5)], [(0.0, 1.5)]],
    "row exchange": [[(1.5, 2.0)], [(1.5, 2.0)]],
    "update": [[(2.0, 4.0), (5.0, 7.0)], [(2.0, 7.0)]],
    "solve": [[(8.0, 9.0)], [(8.0, 10.0)]],
}


def case_with(tmp_path: Path, lives: dict[str, Any]) -> Case:
    document = json.loads(GOLDEN.read_text())
    for name, phase in document["cases"][0]["phases"].items():
        if name in lives:
            phase["last_spans_by_rank"] = lives[name]
    path = tmp_path / "record.json"
    path.write_text(json.dumps(document))
    return load_record(path).cases[0]


def test_time_in_no_phase_is_told_by_rank(tmp_path: Path) -> None:
    spans = spans_of(case_with(tmp_path, LIVES))
    assert outer_phases(spans) == {"factorisation"}
    first, second = rank_times(spans)
    assert (first.seconds, first.uncovered_s) == (9, 1), "from 7 to 8"
    assert (second.seconds, second.uncovered_s) == (10, 1)


def test_a_phase_that_others_reach_beyond_is_around_none() -> None:
    lives = {
        "exchange": (0.0, 4.0),
        "read": (0.0, 1.0),
        "host exchange": (1.0, 3.0),
        "write": (3.0, 4.0),
        "kernel": (0.5, 5.0),
    }
    spans = [Span("0", name, name, *life) for name, life in lives.items()]
    assert outer_phases(spans) == set(), "kernels during and after an exchange"
    assert rank_times(spans)[0].uncovered_s == 0
    spans[-1] = Span("0", "kernel", "kernel", 4.0, 5.0)
    assert outer_phases(spans) == {"exchange"}, "kernels after an exchange"
    assert rank_times(spans)[0].uncovered_s == 0


def test_the_text_has_a_row_for_each_phase_of_each_rank(tmp_path: Path) -> None:
    text = text_of(case_with(tmp_path, LIVES))
    rows = [line for line in text.splitlines() if "|" in line]
    assert len(rows) == 12
    assert len({row.index("|") for row in rows}) == 1
    assert "rank 0: 9000 ms, in neither kernel nor exchange 1000 ms (11.1%)" in text
    update = next(row for row in rows if row.strip().startswith("update"))
    drawn = update.split("|")[1]
    assert drawn[:14].strip() == ""
    assert drawn[15:28] == "█" * 13
    assert " 4000 ms" in update


def test_the_page_has_every_life(tmp_path: Path) -> None:
    spans = spans_of(case_with(tmp_path, LIVES))
    page = tmp_path / "timeline.html"
    write_timeline("hpl", spans, page)
    text = page.read_text()
    assert "rank 1, row exchange" in text
    assert len(spans) == 13


def test_an_older_record_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a newer run"):
        spans_of(case_with(tmp_path, {}))
