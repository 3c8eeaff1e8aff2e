"""Figures of the files beside a record: stations, mesh, partition, level, and the animation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, Plumb
from test_mesh import SQUARE

from plumbline.record.record import load_record
from plumbline.report.figures.files import beside
from plumbline.report.figures.shapes import Chart, Field

STATIONS = """station,x_m,y_m,source,step,t_s,level_m,u_m_s,v_m_s
1,0.5,0.2,device,0,0,0.25,0,0
1,0.5,0.2,device,36,3600,0.5,0,0
1,0.5,0.2,reference,0,0,0.25,0,0
1,0.5,0.2,reference,18,1800,0.375,0,0
1,0.5,0.2,reference,36,3600,0.5,0,0
"""
LEVELS = np.arange(18, dtype="<f4").reshape(3, 2, 3)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A record with all the files of a shallow_water run of two elements and two snapshots."""
    written: dict[str, Any] = json.loads((DATA / "record.json").read_text())
    files = {name: f"x.{name}" for name in ("stations.csv", "mesh.14", "part", "states.npy")}
    facts = {"files": files, "snapshot_steps": [0, 18, 36], "time_step_s": 100.0}
    written["cases"] = [{**written["cases"][0], "facts": facts}]
    (tmp_path / "x.json").write_text(json.dumps(written))
    (tmp_path / "x.stations.csv").write_text(STATIONS)
    (tmp_path / "x.mesh.14").write_text(SQUARE)
    (tmp_path / "x.part").write_text("0\n1\n")
    np.save(tmp_path / "x.states.npy", LEVELS)
    return tmp_path / "x.json"


def test_every_file_is_a_figure(kept: Path) -> None:
    record = load_record(kept)
    stations, depth, partition, level = beside(record, kept.parent)
    assert isinstance(stations, Chart)
    device, reference = stations.curves
    assert device.points == [(0, 0.25), (1, 0.5)]
    assert (device.model, reference.model) == (False, True)
    assert reference.points == [(0, 0.25), (0.5, 0.375), (1, 0.5)]
    assert isinstance(depth, Field)
    assert isinstance(partition, Field)
    assert isinstance(level, Field)
    assert list(depth.values) == [5, 5]
    assert list(partition.values) == [0, 1]
    assert list(level.values) == [12, 15]
    assert level.title.endswith("level after 1 h")
    assert list(beside(record, None)) == []
    (kept.parent / "x.mesh.14").unlink()
    assert [type(one) for one in beside(record, kept.parent)] == [Chart]


def test_plot_and_report_have_them(plumb: Plumb, home: Path, kept: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture, page = tmp_path / "level.png", tmp_path / "page.html"
    words = ("--figure", "level after", "--output", str(picture))
    assert plumb("plot", str(kept), *words) == (0, "", "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    status, out, _ = plumb("plot", str(kept), "--figure", "partition", "--plot", "tty")
    assert status == 0
    assert "needs --output" in out
    assert plumb("report", str(kept), "--output", str(page))[0] == 0
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 3
    assert "level at stations" in text


def test_snapshots_are_animated_offline(
    plumb: Plumb, home: Path, kept: Path, tmp_path: Path
) -> None:
    page = tmp_path / "level.html"
    assert plumb("plot", str(kept), "--output", str(page)) == (0, "", "")
    text = page.read_text()
    assert "plotly" in text
    assert "<script src=" not in text
    for name in ("0.00 h", "0.50 h", "1.00 h"):
        assert name in text


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        ("states.npy", "has no snapshots beside its record: run with --snapshots"),
        ("shape", "not all is there"),
        ("text", "cannot be read"),
        ("two", "animates one record, not 2"),
    ],
)
def test_what_cannot_be_animated_is_a_sentence(
    plumb: Plumb, home: Path, kept: Path, tmp_path: Path, spoil: str, sentence: str
) -> None:
    states = kept.parent / "x.states.npy"
    words = [str(kept)]
    if spoil == "states.npy":
        states.unlink()
    elif spoil == "shape":
        np.save(states, LEVELS[:2])
    elif spoil == "text":
        states.write_text("no array")
    else:
        (kept.parent / "y.json").write_text(kept.read_text())
        words.append(str(kept.parent / "y.json"))
    status, out, err = plumb("plot", *words, "--output", str(tmp_path / "level.html"))
    assert (status, out) == (2, "")
    assert sentence in err
