"""``plumb compare-transports`` over a stand-in engine: runs, omissions, output, records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Plumb

from plumbline.record.record import Record
from plumbline.report.transports import Column, Comparison, size_text, write

Golden = Callable[[str, str], None]
pytestmark = pytest.mark.usefixtures("stand_in")
WORDS = ("compare-transports", "b_eff", "--launcher", "none", "-n", "1")
WAYS = ["peer/device-streaming", "peer/device-buffered", "staged/host-buffered"]


def records(home: Path) -> list[Path]:
    return sorted((home / "records").glob("*.json"))


def test_the_table(plumb: Plumb, golden: Golden, home: Path) -> None:
    status, out, err = plumb(*WORDS)
    assert status == 0, err
    golden("compare-transports.txt", out)
    for number, way in enumerate(WAYS, 1):
        assert f"{way} ({number} of 3)\n" in err
    assert len(records(home)) == 3
    assert plumb("records")[1].count("b_eff") >= 3
    assert "calibrating" not in err


def test_runtimes_side_by_side(plumb: Plumb, golden: Golden, home: Path) -> None:
    """The stand-in's cases, three records of each runtime, and rows of calls that it lacks."""
    words = ("compare-runtimes", "b_eff", "--launcher", "none", "-n", "1")
    status, out, err = plumb(*words)
    assert status == 0, err
    golden("compare-runtimes.txt", out)
    assert len(records(home)) == 15
    head, *_ = csv.reader(io.StringIO(plumb(*words, "--format", "csv")[1]))
    assert head == ["", "opencl", "sycl (opencl)", "sycl (sycl)", "cuda", "native"]


def test_csv_has_a_line_for_each_case_and_way(plumb: Plumb) -> None:
    status, out, _ = plumb(*WORDS, "--format", "csv")
    assert status == 0
    lines = list(csv.DictReader(io.StringIO(out)))
    assert len(lines) == 3 * 14
    (line,) = (
        entry
        for entry in lines
        if entry["case"] == "natural/transfer/1" and entry["approach"] == "device-streaming"
    )
    assert (line["message_bytes"], line["outcome"], line["fastest"]) == ("1", "passed", "yes")
    assert float(line["time_us"]) == pytest.approx(1 + 1 / 512)
    assert Path(line["record"]).exists()


def test_json_names_ways_crossovers_and_what_is_left_out(plumb: Plumb) -> None:
    found = json.loads(plumb(*WORDS, "--format", "json")[1])
    assert [f"{c['transport']}/{c['approach']}" for c in found["columns"]] == WAYS
    ranges = [
        (found["from_bytes"], found["to_bytes"], found["fastest"])
        for found in found["crossovers"]
        if found["group"].endswith("part transfer")
    ]
    assert ranges == [(1, 1024, WAYS[0]), (65536, 65536, WAYS[2])]
    assert {way["transport"]: way["reason"] for way in found["left_out"]} == {
        "local": "it serves one rank only",
        "mpi": "pthread-skylake-avx512: only with --memory host: it needs host memory",
    }


def test_the_device_decides_what_is_left_out(plumb: Plumb) -> None:
    for words in (["--runtime", "native"], ["--device", "1"], ["--device-map", "1"]):
        found = json.loads(plumb(*WORDS, *words, "--format", "json")[1])
        assert [column["transport"] for column in found["columns"]] == ["mpi", "staged"], words
        assert {"peer", "local"} == {way["transport"] for way in found["left_out"]}
    found = json.loads(plumb(*WORDS, "--memory", "host", "--format", "json")[1])
    assert {column["transport"] for column in found["columns"]} == {"mpi", "peer", "staged"}


def test_what_the_engine_refuses_is_left_out(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("STAND_IN", "refuses_buffered")
    status, out, _ = plumb(*WORDS, "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert [c["approach"] for c in found["columns"]] == ["device-streaming", "host-buffered"]
    reasons = [way["reason"] for way in found["left_out"] if way["transport"] == "peer"]
    assert reasons == ["transport peer does not work on this device: it has no flags"]
    assert len(records(home)) == 2


def test_a_wrong_answer_decides_the_exit_status(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "wrong_by_peer")
    assert plumb(*WORDS)[0] == 1


def test_a_run_that_fails_leaves_what_it_has(plumb: Plumb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "fails")
    status, out, err = plumb(*WORDS)
    assert status == 3
    assert "natural/launch/1" in out
    assert "natural/transfer/1" not in out
    assert err.count("the run ended early") == 3


def test_options_are_checked_before_anything_starts(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("STAND_IN", "refuses")
    status, out, err = plumb(*WORDS)
    assert (status, out) == (2, "")
    assert err == "plumb: --max-size 30 needs 8 GiB, but 4 GiB are there\n"
    assert not (home / "records").exists()


def test_results_go_to_a_file(plumb: Plumb, tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    status, out, _ = plumb(*WORDS, "--output", str(path))
    assert (status, out) == (0, "")
    assert "peer" in path.read_text()


def test_a_case_that_failed_is_never_the_fastest(record: Record, tmp_path: Path) -> None:
    bad = record.cases[0].outcome.model_copy(update={"status": "failed", "reason": "wrong bytes"})
    cases = [record.cases[0].model_copy(update={"outcome": bad}), *record.cases[1:]]
    wrong = record.model_copy(update={"cases": cases})
    key = record.cases[0].key
    comparison = Comparison("b_eff", 2)
    comparison.columns.append(Column("peer", "device-streaming", tmp_path, wrong))
    assert comparison.fastest(key) is None
    assert "peer/device-streaming, natural/launch/1: failed: wrong bytes" in write(
        comparison, "table"
    )
    comparison.columns.append(Column("staged", "host-buffered", tmp_path, record))
    fastest = comparison.fastest(key)
    assert fastest is not None
    assert fastest.transport == "staged"


def test_sizes_are_written_with_iec_prefixes() -> None:
    sizes = [1, 1023, 1024, 1536, 1 << 20, 3 << 30]
    texts = ["1 B", "1023 B", "1 KiB", "1536 B", "1 MiB", "3 GiB"]
    assert [size_text(size) for size in sizes] == texts
