"""``plumb run --watch``: the samples of each case when it is finished."""

from __future__ import annotations

import io

from conftest import ROOT
from rich.console import Console

from plumbline.launch.events import CaseFinished, Start
from plumbline.launch.progress import Watched

RECORD = ROOT / "tests" / "golden" / "b_eff_2_passed.record.json"


def watched(record: str | None, key: str) -> str:
    text = io.StringIO()
    with Watched(Console(file=text, width=200), "b_eff") as view:
        view.on_event(Start(event="start", benchmark="b_eff", cases=1, ranks=2, record=record))
        view.on_event(CaseFinished(event="case_finished", index=1, of=1, key=key, outcome="passed"))
    return text.getvalue()


def test_samples_are_drawn() -> None:
    said = watched(str(RECORD), "natural/transfer/1")
    assert "natural/transfer/1: median " in said
    assert set("▁█") <= set(said)


def test_without_a_record_it_goes_on() -> None:
    for said in (watched(None, "x"), watched("/nowhere.json", "x"), watched(str(RECORD), "x")):
        assert "x: passed" in said
        assert "median" not in said
