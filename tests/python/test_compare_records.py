"""``plumb compare`` on records made by hand, and in turn on a command that only writes them."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import DATA, Plumb, start_plumb

from tests.launching import PATIENCE_S

Golden = Callable[[str, str], None]
pytestmark = pytest.mark.usefixtures("home")

# Writes a record whose times are a factor (a launch's own, known by its file's name) of the data's.
WRITER = """
import json, random, sys, time
path, factor = sys.argv[1], float(sys.argv[2])
time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
draw = random.Random(path.rsplit("/", 1)[-1])
document = json.load(open({data!r}))
for case in document["cases"]:
    level = factor * draw.lognormvariate(0, 0.01)
    case["samples"]["by_rank"] = [[v * level * draw.lognormvariate(0, 0.01) for v in rank] for rank in case["samples"]["by_rank"]]
json.dump(document, open(path, "w"))
"""


@pytest.fixture
def writer(tmp_path: Path) -> str:
    """The command that writes a record: ``writer RECORD FACTOR [SECONDS]``."""
    path = tmp_path / "writer.py"
    path.write_text(WRITER.format(data=str(DATA / "record.json")))
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def write_records(folder: Path, count: int, factor: float = 1, **changed: object) -> Path:
    """A folder of launches, one of them with a case slowed by ``factor``."""
    folder.mkdir()
    draw = random.Random(folder.name)
    for number in range(count):
        document = json.loads((DATA / "record.json").read_text())
        for key, value in changed.items():
            document[key] = value
        for case in document["cases"]:
            slow = factor if case["key"] == "natural/transfer/1" else 1
            level = slow * draw.lognormvariate(0, 0.004)
            case["samples"]["by_rank"] = [
                [value * level for value in rank] for rank in case["samples"]["by_rank"]
            ]
        (folder / f"{number}.json").write_text(json.dumps(document))
    return folder


def test_the_table_names_what_is_slower(plumb: Plumb, golden: Golden, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 6), write_records(tmp_path / "b", 6, 1.2)
    status, out, err = plumb("compare", str(a), str(b))
    assert (status, err) == (4, "")
    golden("compare.txt", out)
    status, out, _ = plumb("compare", str(b), str(a))
    assert status == 0
    assert [line.split()[-1] for line in out.splitlines() if "natural/transfer/1 " in line] == [
        "faster"
    ]


def test_csv_and_json_have_every_figure(plumb: Plumb, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 6), write_records(tmp_path / "b", 6, 1.2)
    found = json.loads(plumb("compare", str(a), str(b), "--format", "json")[1])
    assert found["counts"]["slower"] == 1
    (slow,) = (case for case in found["cases"] if case["word"] == "slower")
    assert slow["interval"][0] < 1.2 < slow["interval"][1]
    lines = list(
        csv.DictReader(io.StringIO(plumb("compare", str(a), str(b), "--format", "csv")[1]))
    )
    assert [line["case"] for line in lines if line["verdict"] == "slower"] == [slow["key"]]


def test_one_launch_a_side_has_no_verdict(plumb: Plumb, golden: Golden, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 1), write_records(tmp_path / "b", 1, 3)
    status, out, _ = plumb("compare", str(a), str(b))
    assert status == 0
    golden("compare-one-launch.txt", out)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d["world"].update(kind="shmem"), "world differ: mpi and shmem"),
        (lambda d: d["ranks"][0]["device"].update(driver="9"), "driver differ:"),
        (lambda d: d["ranks"][0]["device"].update(name="another"), "devices differ:"),
        (lambda d: d["parameters"].update(type="half"), "type differ: none and half"),
        (lambda d: d["benchmark"].update(name="stream"), "there is none in B"),
    ],
)
def test_other_conditions_cannot_be_compared(
    plumb: Plumb, tmp_path: Path, change: Callable[[dict], None], sentence: str
) -> None:
    a, b = write_records(tmp_path / "a", 1), write_records(tmp_path / "b", 1)
    document = json.loads((b / "0.json").read_text())
    change(document)
    (b / "0.json").write_text(json.dumps(document))
    status, out, err = plumb("compare", str(a), str(b))
    assert (status, out) == (2, "")
    assert err.startswith("plumb: no case can be compared: ")
    assert err.count("\n") == 1
    assert sentence in err


def test_what_may_differ_is_named(plumb: Plumb, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 3), write_records(tmp_path / "b", 3)
    for path in b.iterdir():
        document = json.loads(path.read_text())
        for rank in document["ranks"]:
            rank["device"]["driver"] = "9"
        document["transport"]["name"] = "mpi"
        path.write_text(json.dumps(document))
    status, out, _ = plumb("compare", str(a), str(b), "--despite", "driver")
    assert status == 0
    assert "| 9\n" in out
    assert "differs: transport staged host-buffered | mpi host-buffered" in out
    _, _, err = plumb("compare", str(a), str(b), "--despite", "drivers")
    assert "did you mean driver?" in err


def test_cases_of_other_sizes_are_apart(plumb: Plumb, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 3), write_records(tmp_path / "b", 3)
    for path in b.iterdir():
        document = json.loads(path.read_text())
        document["cases"][1]["work"] = {"bytes_sent": 77}
        failed = {"status": "failed", "reason": "wrong bytes"}
        document["cases"][2]["outcome"] = failed
        del document["cases"][3]
        path.write_text(json.dumps(document))
    out = plumb("compare", str(a), str(b))[1]
    apart = out[out.index("not compared") :]
    assert "sizes differ: " in apart
    assert "failed in B: wrong bytes" in apart
    assert "it is not in B" in apart


def test_sides_are_named_in_many_ways(plumb: Plumb, tmp_path: Path, home: Path) -> None:
    a = write_records(tmp_path / "a", 4)
    records = home / "records"
    records.mkdir(parents=True)
    for number, path in enumerate(sorted(a.iterdir())):
        kept = records / f"b_eff-{number}.json"
        kept.write_text(path.read_text())
        os.utime(kept, (number, number))
    assert plumb("tag", "old", "b_eff-0", "b_eff-1")[1] == "old: 2 records\n"
    assert plumb("tag", "old", str(a / "2.json"))[1] == "old: 3 records\n"
    for side, count in (
        ("old", 3),
        ("b_eff-0,b_eff-1", 2),
        (str(a / "*.json"), 4),
        ("last,last~1,last~2", 3),
        (f"{a},old", 7 - 1),
    ):
        out = plumb("compare", side, str(a), "--format", "json")[1]
        assert json.loads(out)["launches"]["a"] == count, side
    for side, sentence in (
        ("last~9", "plumb: last~9: there are 4 records in "),
        ("last~x", "plumb: last~x must be last~N"),
        ("b_eff-7", "plumb: unknown record b_eff-7; did you mean b_eff-3?"),
        (str(a / "*.jso"), "plumb: there is no record like "),
        (f"{a},", "plumb: a side must be records"),
    ):
        status, _, err = plumb("compare", side, str(a))
        assert status == 2, side
        assert err.startswith(sentence)
    assert plumb("tag", "last", "b_eff-0")[0] == 2


def test_metrics_have_a_direction(plumb: Plumb, tmp_path: Path) -> None:
    a, b = write_records(tmp_path / "a", 3), write_records(tmp_path / "b", 3)
    for folder, rate in ((a, 4.0), (b, 2.0)):
        for number, path in enumerate(sorted(folder.iterdir())):
            document = json.loads(path.read_text())
            metric = {"unit": "GB/s", "convention": "x", "reason": None, "table": True}
            document["cases"][0]["metrics"] = [
                {"name": "rate", "value": rate * (1 + 0.001 * number), **metric}
            ]
            document["cases"][1]["metrics"] = [{"name": "odd", "value": 1.0, **metric, "unit": "%"}]
            path.write_text(json.dumps(document))
    status, out, _ = plumb("compare", str(a), str(b), "--metric", "rate")
    assert status == 4
    assert "B/A of the rate: below 1 is slower" in out
    assert plumb("compare", str(b), str(a), "--metric", "rate")[0] == 0
    for metric, sentence in (
        ("odd", "it is not known what is better of odd in %"),
        ("none", "none has a metric called none"),
    ):
        status, _, err = plumb("compare", str(a), str(b), "--metric", metric)
        assert status == 2
        assert sentence in err


# --- in turn --------------------------------------------------------------------------------------


def test_commands_in_turn(plumb: Plumb, golden: Golden, writer: str, home: Path) -> None:
    commands = (f"{writer} {{record}} 1", f"X=1 {writer} {{record}} 1.3")
    status, out, err = plumb("compare", "--ab", *commands, "--pairs", "10")
    assert status == 4
    assert "10 pairs in turn" in out
    assert ": 13 slower" in out
    assert "pair 10 of 10: A " in err
    (folder,) = (home / "comparisons").iterdir()
    assert len(list(folder.glob("*.json"))) == 20
    assert "too few" not in err


def test_too_few_pairs_say_how_many(plumb: Plumb, writer: str) -> None:
    commands = (f"{writer} {{record}} 1", f"{writer} {{record}} 2")
    status, out, err = plumb("compare", "--ab", *commands, "--pairs", "2")
    assert status == 0
    assert "2 pairs are too few to call one of 13 cases slower: --pairs 7" in err
    assert "ambiguous: 2 pairs: 13 cases need 7" in out


def test_a_command_may_name_its_record(plumb: Plumb, tmp_path: Path) -> None:
    record = tmp_path / "own.json"
    copy = f"cp {DATA / 'record.json'} {record}"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\n{copy}\n")
    script.chmod(0o755)
    command = f"{script} --record {record}"
    status, out, _ = plumb("compare", "--ab", command, command, "--pairs", "10")
    assert status == 0
    assert ": 13 same" in out


@pytest.mark.parametrize(
    ("command", "status", "sentence"),
    [
        ("ls", 2, "command B names no record: write {record} where its file belongs"),
        ("", 2, "command B is empty"),
        ("a 'b", 2, "command B must be words as in a shell: No closing quotation"),
        ("plumb run b_eff --record x", 2, "command B takes no --record: plumb compare sets it"),
        ("/nowhere/x {record}", 3, "command B cannot be started: /nowhere/x: No such file"),
        ("sh -c 'echo no more; exit 7' {record}", 3, "ended with status 7: no more ("),
        ("true {record}", 3, "command B in pair 1 wrote no record at "),
    ],
)
def test_a_failing_command_is_one_sentence(
    plumb: Plumb, writer: str, command: str, status: int, sentence: str
) -> None:
    found, out, err = plumb("compare", "--ab", f"{writer} {{record}} 1", command)
    assert (found, out) == (status, "")
    assert err.startswith("plumb: ")
    assert err.count("\n") == 1
    assert sentence in err


def test_a_command_that_fails_later_leaves_the_pairs_so_far(
    plumb: Plumb, writer: str, tmp_path: Path
) -> None:
    script = tmp_path / "thrice.sh"
    script.write_text(
        f"echo x >> {tmp_path}/runs\n[ $(wc -l < {tmp_path}/runs) -le 3 ] || exit 7\n"
    )
    command = f"sh -c '. {script}; {writer} {{record}} 1'"
    status, out, err = plumb("compare", "--ab", f"{writer} {{record}} 1", command)
    assert status == 3
    assert "command B in pair 4 ended with status 7" in err
    assert "compared: 3 of 10 pairs" in err
    assert out.startswith("3 pairs in turn")


@pytest.mark.usefixtures("stand_in")
def test_plumb_run_is_run_without_a_model(plumb: Plumb, home: Path) -> None:
    words = "b_eff --launcher none -n 1 --verbose"
    status, _, err = plumb("compare", "--ab", words, f"plumb run {words}", "--pairs", "1")
    assert status == 0, err
    (folder,) = (home / "comparisons").iterdir()
    logs = [path.read_text() for path in folder.glob("*.log")]
    assert len(logs) == 2
    assert all("calibrat" not in text for text in logs)


def test_an_interrupt_keeps_what_was_measured(writer: str, home: Path) -> None:
    commands = (f"{writer} {{record}} 1 0.05", f"{writer} {{record}} 1 0.05")
    child = start_plumb("compare", "--ab", *commands, "--pairs", "1000")
    deadline = time.monotonic() + 60
    while len(list(home.glob("comparisons/*/b-003.json"))) == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, err
    assert "of 1000 pairs" in err
    assert "pairs in turn" in out
