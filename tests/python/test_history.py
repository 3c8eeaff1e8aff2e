"""``plumb history``: lines of records over time, their changes, and the forms."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import DATA, Plumb

from plumbline.base.paths import Home
from plumbline.record.store import TIME, Series, Store

LATENCY = Series("b_eff", "", "latency", "natural", "us")
HOST = 'node<1>"&\\\n$(x)'


def put(home: Home, day: int, latency: float, host: str = "node1", driver: str = "3.1") -> Path:
    """A record of a day in a year, with a latency and the driver of the first rank's device."""
    document = json.loads((DATA / "record.json").read_text())
    document["started"] = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T02:00:00Z"
    for metric in document["metrics"]:
        if metric["name"] == "latency":
            metric["value"] = latency
    document["hosts"][0]["name"] = host
    for rank in document["ranks"]:
        rank["device"]["driver"] = driver
    home.records.mkdir(parents=True, exist_ok=True)
    path = home.records / f"{re.sub('[^a-z0-9]', '', host)}-{day:03}.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def nights(home: Path) -> Home:
    """Twenty nights on one host, from the 13th on slower by a driver; two on another."""
    kept = Home(home)
    for day in range(20):
        slow = day >= 12
        put(kept, day, (12.0 if slow else 10.0) + 0.01 * (day % 3), driver="3.2" if slow else "3.1")
    for day in range(2):
        put(kept, day, 5.0, HOST)
    return kept


def test_a_line_says_what_changed_and_when(plumb: Plumb, nights: Home) -> None:
    status, out, err = plumb("history", "b_eff", "--host", "node1")
    assert status == 0, err
    assert "latency (natural): node1, pthread-skylake-avx512, 2 ranks, staged host-buffered" in out
    assert "newest   12.01 us  2026-01-20T02:00:00Z" in out
    assert "▁▁▁" in out
    changed = "2026-01-13T02:00:00Z: slower, 10.01 us to 12.01 us (+20.0 %); driver 3.1 to 3.2"
    assert changed in out


def test_every_host_is_a_line_of_its_own(plumb: Plumb, nights: Home) -> None:
    _, out, _ = plumb("history", "b_eff", "--metric", "latency", "--format", "json")
    lines = json.loads(out)
    assert {len(line["values"]) for line in lines} == {20, 2}
    assert [len(line["changes"]) for line in lines if len(line["values"]) == 20] == [1]
    assert {one["host"] for line in lines for one in line["values"]} == {"node1", HOST}


def test_cases_and_times(plumb: Plumb, nights: Home) -> None:
    words = ("history", "b_eff", "--case", "natural/transfer/*", "--metric", TIME)
    _, out, _ = plumb(*words, "--since", "2026-01-19", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["case"] for row in rows} == {f"natural/transfer/{n}" for n in (1, 1024, 65536)}
    assert len(rows) == 3 * 2
    assert {row["unit"] for row in rows} == {"s"}
    assert all(float(row["value"]) > 0 and row["driver"] == "3.2" for row in rows)


def test_prometheus(plumb: Plumb, nights: Home) -> None:
    _, out, _ = plumb("history", "b_eff", "--metric", "latency", "--format", "prometheus")
    sample = re.compile(r'plumbline_\w+\{(\w+="(\\[\\"n]|[^"\\\n])*",?)+\} [0-9.e+-]+')
    lines = out.splitlines()
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in lines)
    assert r'host="node<1>\"&\\\n$(x)"' in out
    assert lines[0].startswith("# HELP plumbline_value ")


def test_parquet_has_what_csv_has(plumb: Plumb, nights: Home, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    words = ("history", "b_eff", "--metric", "*", "--case", "*", "--format")
    status, _, err = plumb(*words, "parquet")
    assert (status, "--format parquet needs --output FILE" in err) == (2, True)
    assert plumb(*words, "parquet", "--output", str(path))[0] == 0
    rows = parquet.read_table(path).to_pylist()
    assert {(type(row["value"]), type(row["ranks"])) for row in rows} == {(float, int)}
    _, out, _ = plumb(*words, "csv")
    listed = list(csv.DictReader(io.StringIO(out)))
    assert len(listed) > 22
    assert [{name: str(value) for name, value in row.items()} for row in rows] == listed


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_full_disk_is_named(plumb: Plumb, nights: Home, form: str) -> None:
    status, _, err = plumb("history", "b_eff", "--format", form, "--output", "/dev/full")
    assert (status, err.endswith("cannot be written: No space left on device\n")) == (2, True), err
    assert Path("/dev/full").is_char_device()


def test_without_pyarrow_the_package_is_named(
    plumb: Plumb, nights: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = ("history", "b_eff", "--format", "parquet", "--output", str(tmp_path / "x"))
    status, _, err = plumb(*words)
    assert (status, "needs pyarrow: pip install pyarrow, or --format csv" in err) == (2, True)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("b_ef", "there is no record of b_ef with a right result yet"),
        ("b_eff --metric latancy", "no record has a metric latancy; did you mean latency?"),
        ("b_eff --case natural/transfr/1", "did you mean natural/transfer/1?"),
        ("b_eff --case x", "no record has a case x (there are natural/"),
        ("b_eff --host nowhere", "no record of b_eff has a value on that host and device"),
        ("b_eff --since yesterday", "--since must be a day or moment in UTC, as 2026-11-22, not"),
        ("b_eff --since 2030", "no record of b_eff has a value on that host and device"),
    ],
)
def test_what_names_nothing_is_refused(
    plumb: Plumb, nights: Home, words: str, sentence: str
) -> None:
    status, _, err = plumb("history", *words.split())
    assert (status, sentence in err) == (2, True), err


def test_what_is_no_record_is_named_and_left_out(plumb: Plumb, nights: Home) -> None:
    (nights.records / "damaged.json").write_text('{"schema_version": "1.2.0", "benchm')
    (nights.records / "foreign.json").write_text('{"results": []}')
    document = json.loads((DATA / "record.json").read_text())
    (nights.records / "later.json").write_text(json.dumps({**document, "schema_version": "2.0.0"}))
    status, _, err = plumb("history", "b_eff")
    assert status == 0
    for name in ("damaged.json is not a record", "foreign.json is not a record of Plumbline's"):
        assert name in err
    assert "later.json has schema 2.0.0, but this plumb reads up to" in err


def test_only_right_cases_have_values(nights: Home) -> None:
    document = json.loads((DATA / "record.json").read_text())
    for case in document["cases"]:
        case["outcome"] = {"status": "failed", "reason": "x"}
    (nights.records / "wrong.json").write_text(json.dumps(document))
    store = Store(nights)
    store.sync()
    cases = [one for one in store.series("b_eff") if one.case]
    assert cases
    assert {one.path for one in store.history(cases[0])}.isdisjoint(
        {str(nights.records / "wrong.json")}
    )


def test_two_writers_lose_nothing(home: Path) -> None:
    kept = Home(home)
    paths = [put(kept, day, 1.0) for day in range(24)]
    with ThreadPoolExecutor(4) as writers:
        list(writers.map(lambda path: Store(kept).add(path), paths))
    store = Store(kept)
    assert len(store.history(LATENCY)) == 24
    assert store.sync() == []
    put(kept, 3, 2.0)  # written again
    store.add(paths[3])
    assert sorted(one.value for one in store.history(LATENCY)) == [1.0] * 23 + [2.0]


def test_how_long_runs_took(nights: Home) -> None:
    store = Store(nights)
    store.sync()
    first = store.durations()[0]
    assert (first.benchmark, first.preset, first.ranks) == ("b_eff", "standard", 2)
