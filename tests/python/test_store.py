"""The index of records."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from conftest import DATA, Plumb

from plumbline.base.paths import Home
from plumbline.record.store import Store, StoreError
from plumbline.report import history, inventory


def put(home: Home, name: str, **changes: object) -> Path:
    home.records.mkdir(parents=True, exist_ok=True)
    document = json.loads((DATA / "record.json").read_text())
    path = home.records / name
    path.write_text(json.dumps({**document, **changes}))
    return path


@pytest.fixture
def kept(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_an_empty_home_has_no_records(kept: Home) -> None:
    store = Store(kept)
    assert store.sync() == []
    assert store.entries() == []


def test_records_are_listed_oldest_first(kept: Home) -> None:
    put(kept, "b.json", started="2026-11-21T12:00:00Z")
    put(kept, "a.json", started="2026-11-21T13:00:00Z")
    (kept.records / "a.expected.json").write_text("{}")
    store = Store(kept)
    assert store.sync() == []
    assert [entry.path.name for entry in store.entries()] == ["b.json", "a.json"]
    entry = store.entries("b_eff")[0]
    assert (entry.host, entry.ranks, entry.transport) == ("node1", 2, "staged")
    assert entry.device == "pthread-skylake-avx512"
    assert ("b_eff", "natural", None, "GB/s") in entry.metrics
    assert store.entries("stream") == []


def test_the_index_follows_the_files(kept: Home) -> None:
    path = put(kept, "a.json")
    store = Store(kept)
    store.add(path)
    put(kept, "a.json", status="aborted", outcome=None)
    store.sync()
    assert [entry.status for entry in store.entries()] == ["aborted"]
    path.unlink()
    store.sync()
    assert store.entries() == []


def test_what_is_no_record_is_told_and_left_out(kept: Home) -> None:
    path = put(kept, "a.json")
    (kept.records / "b.json").write_text("{")
    (problem,) = Store(kept).sync()
    assert "b.json is not a record" in problem
    assert [entry.path for entry in Store(kept).entries()] == [path]


def test_it_is_made_anew_from_the_files(kept: Home, tmp_path: Path) -> None:
    put(kept, "a.json")
    elsewhere = Path(shutil.copy(DATA / "record.json", tmp_path / "elsewhere.json"))
    Store(kept).sync()
    Store(kept).add(elsewhere)
    assert len(Store(kept).entries()) == 2
    assert Store(kept).sync(rebuild=True) == []
    assert len(Store(kept).entries()) == 2
    kept.index.unlink()
    Store(kept).sync()
    assert [entry.path.name for entry in Store(kept).entries()] == ["a.json"]


def test_metrics_of_two_groups_are_both_kept(kept: Home) -> None:
    """``--ring both`` has a b_eff of each ring: neither takes the other's place."""
    metric = {"name": "b_eff", "unit": "GB/s", "convention": "", "reason": None, "table": True}
    both = [{**metric, "group": "natural", "value": 2.0}, {**metric, "group": "random", "value": 1}]
    put(kept, "a.json", metrics=both)
    Store(kept).sync()
    (entry,) = Store(kept).entries()
    expected = [("b_eff", "natural", 2.0, "GB/s"), ("b_eff", "random", 1.0, "GB/s")]
    assert entry.metrics == expected
    assert "b_eff (natural) 2 GB/s, b_eff (random) 1 GB/s" in inventory.records([entry], "text")
    (listed,) = json.loads(inventory.records([entry], "json"))
    assert [one["group"] for one in listed["metrics"]] == ["natural", "random"]


def test_emulated_is_said_beside_each_figure(kept: Home) -> None:
    put(kept, "a.json", emulated="a board of paper")
    put(kept, "b.json", started="2026-11-22T13:00:00Z")
    store = Store(kept)
    assert store.sync() == []
    first, second = store.entries()
    rows = [
        line for line in inventory.records([first, second], "text").splitlines() if "b_eff" in line
    ]
    figures = sum(metric.value is not None for metric in first.metrics)
    assert figures > 0
    assert [row.count("(emulated)") for row in rows] == [figures, 0]
    told = json.loads(inventory.records([first, second], "json"))
    assert [one["emulated"] for one in told] == ["a board of paper", ""]
    wanted = history.Wanted("b_eff", "*")
    lines = history.lines_of(store, wanted)
    assert {line.values[0].emulated for line in lines} == {"a board of paper", ""}
    assert "(emulated)" in history.write(lines, "text")
    assert "a board of paper" in history.write(lines, "csv")
    assert 'emulated="a board of paper"' in history.write(lines, "prometheus")


def test_an_index_of_the_first_layout_is_migrated(kept: Home, tmp_path: Path) -> None:
    """It knew records outside the home; those are kept, and their metrics by group."""
    elsewhere = Path(shutil.copy(DATA / "records" / "1.0.0.json", tmp_path / "elsewhere.json"))
    gone = tmp_path / "gone.json"
    kept.records.mkdir()
    with sqlite3.connect(kept.index) as database:
        database.execute(
            """create table records (path text primary key, mtime_ns integer, bytes integer,
            benchmark text, started text, host text, device text, transport text, ranks integer,
            status text, metrics text)"""
        )
        for path in (elsewhere, gone):
            row = [str(path), 1, 1, "b_eff", "x", "h", "d", "t", 2, "passed", '{"b_eff": [1, "B"]}']
            database.execute(f"insert into records values ({', '.join('?' * len(row))})", row)
        database.execute("pragma user_version = 1")
    (entry,) = Store(kept).entries()
    assert entry.path == elsewhere
    assert {metric.group for metric in entry.metrics} == {"natural", "random"}
    assert len(entry.metrics) == 8


def test_listing_waits_for_no_other_plumb(kept: Home) -> None:
    """Nor does it need to write, once the index is current."""
    put(kept, "a.json")
    Store(kept).sync()
    with sqlite3.connect(kept.index) as writer:
        writer.execute("begin immediate")
        assert Store(kept).sync() == []
        assert len(Store(kept).entries()) == 1


def test_an_index_of_another_layout_is_replaced(kept: Home) -> None:
    put(kept, "a.json")
    with sqlite3.connect(kept.index) as database:
        database.execute("create table records (path text)")
    Store(kept).sync()
    assert len(Store(kept).entries()) == 1


def test_a_full_disk_is_named(plumb: Plumb, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Home(home)
    path = put(kept, "a.json")
    Store(kept).add(path)
    connect = sqlite3.connect

    def full(*words: object, **options: object) -> sqlite3.Connection:
        database = connect(*words, **options)  # type: ignore[call-overload]
        database.execute("pragma max_page_count = 1")  # at least the present ones
        return database

    monkeypatch.setattr("plumbline.record.store.sqlite3.connect", full)
    more = [put(kept, f"{i}.json") for i in range(30)]
    with pytest.raises(StoreError, match=r"index\.sqlite: database or disk is full"):
        Store(kept).sync()
    for words in (("records",), ("history", "b_eff")):
        status, out, err = plumb(*words)
        assert (status, out, err.count("\n")) == (3, "", 1), err
        assert "index.sqlite: database or disk is full" in err
    monkeypatch.setattr("plumbline.record.store.sqlite3.connect", connect)
    assert [entry.path for entry in Store(kept).entries()] == [path]
    Store(kept).sync()
    assert len(Store(kept).entries()) == 1 + len(more)
