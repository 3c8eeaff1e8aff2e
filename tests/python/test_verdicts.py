"""``bench/verdicts.py``: false alarms and detection, counted on launches made by hand."""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from conftest import DATA, ROOT

sys.path.insert(0, str(ROOT / "bench"))

import verdicts

WISH = argparse.Namespace(percent=[25, 50], pairs=10, draws=2, seed=1, svg=True)


def launches_without_parts(folder: Path, count: int) -> None:
    """Launches that differ by one percent."""
    draw = random.Random(3)
    document = json.loads((DATA / "record.json").read_text())
    document["cases"] = document["cases"][:5]
    for number in range(count):
        for case in document["cases"]:
            level = draw.lognormvariate(0, 0.01)
            case["samples"]["by_rank"] = [[3e-6 * level] * 4] * 2
        (folder / f"as-is-{number:03}.json").write_text(json.dumps(document))


def test_quiet_launches_raise_no_alarm_and_show_what_is_planted(tmp_path: Path) -> None:
    launches_without_parts(tmp_path, 20)
    (tmp_path / "planted-000.json").write_text("no launch as it is")
    found = list(verdicts.simulated(tmp_path, WISH))
    assert len(found) == 2 * (1 + 3 * 2)
    assert {one["what"].removeprefix(tmp_path.name) for one in found} == {
        ", compare --ab",
        ", compare",
    }
    null = [one for one in found if one["plant"] == "none"]
    assert [(one["false_alarm_cases"], one["detected"]) for one in null] == [(0, None)] * 2
    strong = [one for one in found if one["percent"] == 25 and one["plant"] in ("one", "all")]
    assert [one["detected"] for one in strong] == [1] * 4
    assert [one["false_alarm_cases"] for one in strong if one["plant"] == "one"] == [0] * 2
    some = [one for one in found if one["plant"] == "three" and one["percent"] == 25]
    assert [one["told_apart"] for one in some] == [1, 1]
    assert {one["told_apart"] for one in null} == {0}
    drawn = (tmp_path / "compare.svg").read_text()
    assert drawn.count("<polyline") == 6
    assert "planted slow-down" in drawn
    assert len(list(verdicts.table(found))) == 1 + len(found)
    (tmp_path / "as-is-019.json").unlink()
    assert list(verdicts.simulated(tmp_path, WISH)) == []  # too few for ten pairs


def comparison(keep: Path, setting: str, slower: str = "") -> None:
    """A kept comparison of ten pairs that differ by one percent; B takes 1.3 times as long in a case."""
    home = keep / setting / "000"
    folder = home / "comparisons" / "20260101T000000Z"
    folder.mkdir(parents=True)
    (home / "key").write_text(slower)
    launches_without_parts(folder, 20)
    for number, path in enumerate(sorted(folder.glob("as-is-*.json"))):
        document = json.loads(path.read_text())
        for case in document["cases"]:
            times = 1.3 if case["key"] == slower and number % 2 else 1
            case["samples"]["by_rank"] = [
                [times * s for s in r] for r in case["samples"]["by_rank"]
            ]
        path.with_name(f"{'ab'[number % 2]}-{number // 2:03}.json").write_text(json.dumps(document))


def test_kept_comparisons_are_judged_and_not_made_again(tmp_path: Path) -> None:
    comparison(tmp_path, "0-none")
    comparison(tmp_path, "30-one", "natural/transfer/1")
    wish = argparse.Namespace(
        **{**vars(WISH), "percent": [30]}, plant=["none", "one"], runs=1, load=False, keep=tmp_path
    )
    none, one, *drawn = verdicts.real_pairs(wish, "no engine")
    assert (none["what"], none["runs"], none["false_alarm_runs"]) == ("ab", 1, 0)
    assert (one["percent"], one["detected"], one["false_alarm_cases"]) == (30, 1, 0)
    assert [(found["what"], found["plant"]) for found in drawn] == [
        ("compare --ab", plant) for plant in ("none", "one", "all", "three")
    ]
    assert [found["detected"] for found in drawn[:3]] == [None, 1, 1]


def test_words_are_counted_by_what_was_planted() -> None:
    tally = verdicts.Tally()
    tally.add({"a": "slow", "b": "ok", "c": "fast"}, {"a"})
    tally.add({"a": "ambiguous", "b": "ok", "c": "none"}, {"a"})
    assert tally.figures() == {
        "runs": 2,
        "false_alarm_runs": 0.5,
        "false_alarm_cases": 0.25,
        "undecided_cases": 0.25,
        "detected": 0.5,
        "planted_undecided": 0.5,
        "told_apart": None,
    }


def launches_with_parts(folder: Path, count: int, name: str) -> None:
    """Records whose cases take as long as their parts, within one percent."""
    document = json.loads((DATA / "records" / "1.2.0.json").read_text())
    draw = random.Random(4)
    for number in range(count):
        for case in document["cases"]:
            second = 20e-6 * case["count"] * draw.lognormvariate(0, 0.01)
            case["samples"]["by_rank"] = [[second * (1 + 0.001 * i) for i in range(20)]] * 2
        for part in document["parts"]["cases"]:
            for visit in part["visits"]:
                visit["seconds"] = [20e-6 * (1 + 0.001 * i) for i in range(16)]
        document["started"] = f"2026-01-01T00:{number:02}:00Z"
        (folder / name.format(number)).write_text(json.dumps(document))


def test_launches_in_turn_are_judged_by_those_that_are_as_they_are(tmp_path: Path) -> None:
    launches_with_parts(tmp_path, 8, "as-is-{:03}.json")
    for number in (6, 7):
        document = json.loads((tmp_path / f"as-is-{number:03}.json").read_text())
        slow = document["cases"][0]
        slow["samples"]["by_rank"] = [[1.25 * s for s in r] for r in slow["samples"]["by_rank"]]
        document["started"] = f"2026-01-01T01:{number:02}:00Z"
        planted = tmp_path / f"planted-{number:03}.json"
        planted.write_text(json.dumps(document))
        planted.with_stem(f"{planted.stem}-2").write_text(json.dumps(document))  # launched again
        planted.with_suffix(".key").write_text(slow["key"])
    none, one = verdicts.judged_turns(tmp_path)
    assert (none["plant"], none["runs"], none["false_alarm_runs"]) == ("none", 8, 0)
    assert (one["runs"], one["detected"], one["false_alarm_cases"]) == (2, 1, 0)
    assert 0 < none["share"] < 1
    assert len(list(verdicts.table([none, one]))) == 3


def test_runs_are_judged_with_those_before_them(tmp_path: Path) -> None:
    launches_with_parts(tmp_path, 8, "as-is-{:03}.json")
    found = list(verdicts.simulated(tmp_path, WISH))
    null = [one for one in found if one["plant"] == "none"]
    assert [(one["what"], one["runs"], one["false_alarm_runs"]) for one in null] == [
        (f"{tmp_path.name}, run, fresh", 8, 0),
        (f"{tmp_path.name}, run, history", 2, 0),
    ]
    strong = [one for one in found if one["percent"] == 50]
    assert [one["detected"] for one in strong] == [1] * 4
    assert "dashed: run, history" in (tmp_path / "run.svg").read_text()
