"""``plumb accept``: requirements against records, as a table and as JUnit's XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import DATA, Plumb

from plumbline.record.record import load_record

KEY = "natural/transfer/65536"


@pytest.fixture
def put(home: Path):
    """Writes records that are data/record.json with changes."""

    def write(name: str, factor: float = 1.0, **changes: object) -> Path:
        document = json.loads((DATA / "record.json").read_text())
        for metric in document["metrics"]:
            if metric["name"] == "latency":
                metric["value"] *= factor
        for case in document["cases"]:
            for metric in case["metrics"][:1]:
                rate = {"name": "bandwidth_per_rank", "unit": "GB/s", "value": 2.0 * factor}
                case["metrics"].append({**metric, **rate})
        path = home / "records" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**document, **changes}))
        return path

    return write


@pytest.fixture
def accept(plumb: Plumb, tmp_path: Path):
    """Runs plumb accept with requirements, on a record called `one`."""

    def call(requirements: str, *words: str) -> tuple[int, str, str]:
        path = tmp_path / "asked.toml"
        path.write_text(requirements)
        return plumb("accept", str(path), *(words or ("one",)))

    return call


def asked(*lines: str, benchmark: str = "b_eff") -> str:
    return "\n".join(["[[require]]", f"benchmark = '{benchmark}'", *lines, ""])


TIME_OF_CASE = ("metric = 'time'", f"case = '{KEY}'")


def median() -> float:
    record = load_record(DATA / "record.json")
    (found,) = [case.median_s() for case in record.cases if case.key == KEY]
    assert found is not None
    return found


def test_absolute_values_in_any_unit(put, accept) -> None:
    put("one")
    us = median() * 1e6
    met = asked(*TIME_OF_CASE, f"at_most = '{us * 1.01} us'")
    missed = asked(*TIME_OF_CASE, f"at_most = {us * 0.99e-6}")
    assert accept(met)[0] == 0
    status, out, _ = accept(missed)
    assert (status, "missed" in out) == (4, True)
    status, out, _ = accept(met + missed, "one", "--format", "json")
    checks = json.loads(out)["checks"]
    assert (status, [check["answer"] for check in checks]) == (4, ["met", "missed"])
    assert checks[0]["value"] == pytest.approx(median())
    assert checks[0]["limit"] == pytest.approx(median() * 1.01)


def test_emulated_times_meet_nothing(put, accept) -> None:
    put("one", emulated="C simulation emulates a board")
    status, out, _ = accept(asked(*TIME_OF_CASE, "at_most = 100"))
    assert (status, "missed: its times are of no board: C simulation" in out) == (4, True)


def test_aggregates_and_patterns(put, accept) -> None:
    put("one")
    status, out, _ = accept(
        asked("metric = 'latency'", "at_most = '1 s'")
        + asked("metric = 'bandwidth_per_rank'", "case = '*/transfer/*'", "at_least = '1 B/s'"),
        "one",
        "--format",
        "csv",
    )
    rows = out.splitlines()
    assert rows[0].startswith("requirement,benchmark,case,metric,answer,value")
    assert sum(",met," in row for row in rows) == 4
    assert status == 4  # of the four sizes one is not supported there
    assert "unsupported" in rows[-1]


def test_shares_of_a_model(put, accept, home: Path) -> None:
    path = put("one")
    judged = {"expected_s": median() / 1.25, "ratio": 1.25, "verdict": "ok", "bound": None}
    document = {"model": "m", "system": "local", "cases": {KEY: judged}}
    path.with_name("one.expected.json").write_text(json.dumps(document))
    of = ("of = 'model'",)
    assert accept(asked(*TIME_OF_CASE, *of, "at_most = 1.3"))[0] == 0
    assert accept(asked(*TIME_OF_CASE, *of, "at_most = 1.2"))[0] == 4
    rate = ("metric = 'bandwidth_per_rank'", f"case = '{KEY}'", *of)
    assert accept(asked(*rate, "at_least = 0.79"))[0] == 0
    assert accept(asked(*rate, "at_least = 0.81"))[0] == 4
    status, out, _ = accept(asked("metric = 'latency'", *of, "at_most = 1"))
    assert (status, "models expect times of cases" in out) == (3, True)


def test_shares_of_earlier_records(put, accept, plumb: Plumb) -> None:
    for name, factor in (("old1", 1.0), ("old2", 1.1), ("old3", 1.2)):
        put(name, factor)
    put("one", 1.05)
    assert plumb("tag", "before", "old1", "old2", "old3")[0] == 0
    rate = ("metric = 'bandwidth_per_rank'", f"case = '{KEY}'", "of = 'records before'")
    assert accept(asked(*rate, "at_least = 0.95"))[0] == 0
    status, out, _ = accept(asked(*rate, "at_least = 0.96"))
    assert (status, "(0.96 of records before)" in out) == (4, True)
    latency = ("metric = 'latency'", "of = 'records before'")
    assert accept(asked(*latency, "at_most = 1.0"))[0] == 0


def test_earlier_records_of_other_conditions_are_no_reference(put, accept) -> None:
    put("one")
    put("other", memory={"kind": "svm", "bank": None})
    text = asked("metric = 'latency'", "of = 'records other'", "at_most = 2")
    status, out, _ = accept(text)
    assert (status, "none of those records is of these ranks" in out) == (3, True)


def test_a_wrong_answer_misses_everything(put, accept) -> None:
    document = json.loads((DATA / "record.json").read_text())
    for case in document["cases"]:
        case["outcome"] = {"status": "failed", "reason": "3 bytes are wrong"}
    put("one", cases=document["cases"])
    status, out, _ = accept(asked(*TIME_OF_CASE, "at_most = 100"))
    assert (status, "wrong: failed: 3 bytes are wrong" in out) == (1, True)


def test_systems(put, accept) -> None:
    put("one")
    ours, theirs = "systems = ['node1']", "systems = ['gpu*', '*H200*']"
    latency = ("metric = 'latency'", "at_most = '1 s'")
    status, out, _ = accept(asked(*latency, ours) + asked(*latency, theirs))
    assert (status, "skipped: it is for the systems gpu*, *H200*" in out) == (0, True)
    status, _, err = accept(asked(*latency, theirs))
    assert (status, "no requirement is for this machine (node1)" in err) == (2, True)


def test_records_of_one_benchmark_are_told_apart(put, accept, tmp_path: Path) -> None:
    put("one")
    put("two")
    put("three", transport=None)
    path = tmp_path / "junit.xml"
    text = asked("metric = 'latency'", "at_most = '1 s'")
    status, out, err = accept(text, "one", "two", "three", "--junit", str(path))
    assert status == 0, err
    names = [case.attrib["name"] for case in ET.parse(path).iter("testcase")]
    assert (len(names), len(set(names))) == (3, 3)
    assert sum("(staged" in name for name in names) == 2
    assert sum(line.count(" of two ") for line in out.splitlines()) == 1


def test_junit_of_odd_names(put, accept, tmp_path: Path) -> None:
    host = '<node "1" & \u0007$(reboot)>'
    document = json.loads((DATA / "record.json").read_text())
    document["hosts"][0]["name"] = host
    put("one", hosts=document["hosts"])
    path = tmp_path / "junit.xml"
    text = asked("metric = 'latency'", "at_most = '1 s'", "name = 'a < b & \"c\"'")
    text += asked("metric = 'latency'", "at_most = '1 ns'")
    text += asked("metric = 'latency'", "at_most = '1 s'", "systems = ['x']")
    assert accept(text, "one", "--junit", str(path))[0] == 4
    root = ET.fromstring(path.read_text())
    assert root.attrib == {
        "name": "acceptance", "tests": "3", "failures": "1", "errors": "0", "skipped": "1"
    }  # fmt: skip
    (suite,) = root
    assert suite.attrib["hostname"] == host.replace("\u0007", "\ufffd")
    assert [[child.tag for child in case] for case in suite] == [
        ["system-out"],
        ["failure", "system-out"],
        ["skipped", "system-out"],
    ]
    assert suite[0].attrib["name"].startswith('a < b & "c" natural at most 1 s')
    assert "must be at most" in suite[1][0].attrib["message"]


def test_records_of_the_newest_survey(put, plumb: Plumb, accept, home: Path, tmp_path) -> None:
    latency = asked("metric = 'latency'", "at_most = '1 s'")
    path = tmp_path / "asked.toml"
    path.write_text(latency)
    status, _, err = plumb("accept", str(path))
    assert (status, "there is no survey yet" in err) == (2, True)
    run = {"ranks": 2, "arguments": ["b_eff"], "record": str(put("one"))}
    survey = {"name": "x", "started": "2026-11-22T02:00:00Z", "plan": "x", "runs": [run]}
    (home / "surveys").mkdir()
    (home / "surveys" / "1-x.json").write_text(json.dumps(survey))
    (home / "surveys" / "2-x.json").write_text(json.dumps({**survey, "runs": []}))
    assert plumb("accept", str(path))[0] == 0


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("metric = 'latancy'", "at_most = 1"), "no aggregate latancy; did you mean latency?"),
        (
            ("metric = 'time'", "case = 'natural/transfr/1'", "at_most = 1"),
            "no case natural/transfr/1; did you mean natural/transfer/1?",
        ),
        (
            ("metric = 'tim'", f"case = '{KEY}'", "at_most = 1"),
            "no metric tim; did you mean time?",
        ),
        (
            ("metric = 'latency'", "ranks = 7", "at_most = 1"),
            "no ranks 7; the records have 2",
        ),
        (
            ("metric = 'latency'", "transport = 'stage'", "at_most = 1"),
            "no transport stage; did you mean staged?",
        ),
        (("metric = 'latency'", "at_most = '1 GB'"), "must be a time (such as us), not a size"),
        (("metric = 'latency'",), "must have either at_least or at_most"),
        (("metric = 'latency'", "at_most = 1", "at_least = 1"), "must have either at_least or"),
        (("metric = 'latency'", "at_most = 1", "of = 'the model'"), "of must be 'model', 'system"),
        (("metric = 'latency'", "at_most = '1 us'", "of = 'model'"), "must be a number above 0"),
        (("metrik = 'latency'", "at_most = 1"), "the key require[0].metric is missing"),
        (("metric = 'latency'", "at_most = 1", "sytems = []"), "did you mean systems?"),
        (("metric = ", ""), "is not TOML"),
    ],
)
def test_what_names_no_case_is_refused(put, accept, lines: tuple[str, ...], sentence: str) -> None:
    put("one")
    status, _, err = accept(asked(*lines))
    assert (status, sentence in err) == (2, True), err


def test_a_benchmark_without_records_is_refused(put, accept) -> None:
    put("one")
    status, _, err = accept(asked("metric = 'x'", "at_most = 1", benchmark="b_ef"))
    assert (status, "no benchmark b_ef; did you mean b_eff?" in err) == (2, True)


def test_a_file_that_is_none(plumb: Plumb, tmp_path: Path, home: Path) -> None:
    assert "cannot be read" in plumb("accept", "nowhere.toml")[2]
    (tmp_path / "x.toml").write_text("name = 'x'\nrequire = []")
    status, _, err = plumb("accept", str(tmp_path / "x.toml"))
    assert (status, "require" in err) == (2, True)
