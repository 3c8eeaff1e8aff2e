"""``plumb survey``: which runs, what is kept, how it goes on after an end halfway."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from conftest import Plumb, start_plumb

from plumbline.base.errors import UsageError
from plumbline.run.survey import seconds_of_budget

FILE = """
name = "nightly <&>"
preset = "smoke"
[[run]]
benchmark = "b_eff"
launcher = "none"
ranks = 1
transport = ["mpi", "staged"]
[[run]]
benchmark = "stream"
launcher = "none"
ranks = 1
"""


@pytest.fixture
def log(stand_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each start of the engine adds a line."""
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "1")
    return tmp_path / "log"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(FILE)
    return path


def launches(log: Path) -> list[str]:
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.partition(" ")[2] for line in lines if "--progress" in line]


def test_all_that_there_is(plumb: Plumb, log: Path) -> None:
    status, out, err = plumb("survey", "--preset", "smoke", "--format", "json")
    assert status == 0
    runs = json.loads(out)["runs"]
    assert [run["benchmark"] for run in runs] == ["b_eff", "stream"]
    assert all(
        run["outcomes"] == {"passed": 13, "unsupported": 1} and run["status"] == 0 for run in runs
    )
    assert runs[0]["figure"]["name"] == "latency"
    assert "[1/2] b_eff: no record tells how long; 0:00:00 elapsed, ends about " in err
    assert len(launches(log)) == 2


def test_a_family_is_run_once(plumb: Plumb, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plumbline.engine.program import Description
    from plumbline.run import survey

    every = survey.all_benchmarks

    def with_members(environ: dict[str, str]) -> Description:
        found = every(environ)
        member = found.benchmarks[0].model_copy(update={"name": "b_eff_small", "family": "b_eff"})
        return found.model_copy(update={"benchmarks": [*found.benchmarks, member]})

    monkeypatch.setattr(survey, "all_benchmarks", with_members)
    _, out, _ = plumb("survey", "--preset", "smoke", "--dry-run")
    assert [line.split(":")[0] for line in out.splitlines()] == ["b_eff", "stream"]


def test_a_file_lists_runs_and_values(plumb: Plumb, listed: Path, log: Path) -> None:
    status, out, _ = plumb("survey", str(listed))
    assert status == 0
    assert [line.split(" --preset")[0] for line in launches(log)] == [
        "b_eff --transport mpi",
        "b_eff --transport staged",
        "stream",
    ]
    assert "b_eff --launcher none --ranks 1 --transport mpi" in out
    assert "survey nightly <&>: 3 runs, cases: 39 passed, 3 unsupported" in out


def test_it_is_resumed(plumb: Plumb, listed: Path, log: Path, home: Path) -> None:
    assert plumb("survey", str(listed))[0] == 0
    status, out, _ = plumb("survey", str(listed), "--resume", "--format", "json")
    assert (status, len(launches(log))) == (0, 3)
    runs = json.loads(out)["runs"]
    assert [run["kept"] for run in runs] == [True] * 3
    Path(runs[1]["record"]).unlink()
    _, out, _ = plumb("survey", str(listed), "--resume", "--format", "json")
    assert [run["kept"] for run in json.loads(out)["runs"]] == [True, False, True]
    assert len(launches(log)) == 4
    assert len(list((home / "surveys").glob("*.json"))) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_is_ended_halfway_and_resumed(
    plumb: Plumb,
    listed: Path,
    log: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    monkeypatch.setenv("STAND_IN", "waits_the_second_time")
    waiting = tmp_path / "pid.0"
    running = start_plumb("survey", str(listed))
    until = time.monotonic() + 300
    while time.monotonic() < until and not (waiting.exists() and waiting.read_text()):
        time.sleep(0.02)
    running.send_signal(number)
    out, err = running.communicate(timeout=300)
    if number == signal.SIGKILL:
        os.kill(int(waiting.read_text()), number)
    if number == signal.SIGTERM:
        assert running.returncode == 130
        assert "the same command with --resume goes on from here" in err
        assert "1 ended with interrupted" in out
    monkeypatch.setenv("STAND_IN", "passes")
    status, out, _ = plumb("survey", str(listed), "--resume", "--format", "json")
    assert status == 0
    assert [run["kept"] for run in json.loads(out)["runs"]] == [True, False, False]


def test_a_wrong_answer_is_the_worst(
    plumb: Plumb, listed: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "wrong")
    status, out, _ = plumb("survey", str(listed))
    assert status == 1
    assert "3 ended with wrong answer" in out


def test_the_budget_chooses_what_fits(plumb: Plumb, listed: Path, log: Path) -> None:
    status, out, _ = plumb("survey", str(listed), "--budget", "17s")  # 8 s each are guessed
    assert status == 0
    assert len(launches(log)) == 2
    assert "stream --launcher none --ranks 1: about 8 s, and 1 s of the budget would be left" in out
    assert "1 left out" in out
    _, out, _ = plumb("survey", str(listed), "--budget", "1s", "--dry-run")
    assert "b_eff --launcher none --ranks 1 --transport mpi: left out: about" in out


def test_without_records_the_engine_tells_how_long(
    plumb: Plumb, listed: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "memory: none\nmeasuring time: at most 21 s\n"
    monkeypatch.setattr("plumbline.run.survey.check_with_engine", lambda _plan: told)
    _, out, _ = plumb("survey", str(listed), "--dry-run")
    assert out.count(": about 45 s, guessed") == 3
    _, out, _ = plumb("survey", str(listed), "--budget", "91s", "--dry-run")
    assert out.count("left out: about 45 s, and 1 s of the budget would be left") == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("2min", 120)]
)
def test_budgets(text: str, seconds: float) -> None:
    assert seconds_of_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "ten", "0", "-5m", "10 d", "m"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="--budget must be a time such as 90s, 10m or 2h"):
        seconds_of_budget(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[run]]\nbenchmark='b_ef'", "unknown benchmark b_ef; did you mean b_eff?"),
        ("[[run]]\nbenchmark='b_eff'\ntranport='mpi'", "b_eff: unknown option tranport; did you"),
        ("[[run]]\nbenchmark='b_eff'\ntransport='mpj'", "invalid value 'mpj' for --transport"),
        ("[[run]]\nbenchmark='b_eff'\nmax-size='x'", "--max-size must be an integer"),
        ("[[run]]\nbenchmark='b_eff'\nrecord='x.json'", "unknown option record"),
        ("[[run]]\nbenchmark='b_eff'\nring={}", "ring must be a value or a list of values"),
        ("run=[]\n[[runs]]\nbenchmark='b_eff'", "unknown key runs; did you mean run?"),
        ("preset='smok'\nrun=[]", "preset must be smoke, standard, full, not smok; did you"),
        ("[[run]]\nranks=2", "the key run[0].benchmark is missing"),
        ("run=", "is not TOML"),
    ],
)
def test_a_bad_file(plumb: Plumb, log: Path, tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    status, _, err = plumb("survey", str(path))
    assert status == 2
    assert sentence in err
    assert not launches(log)


def test_a_file_that_is_not_there(plumb: Plumb, log: Path) -> None:
    status, _, err = plumb("survey", "nowhere.toml")
    assert (status, "the survey nowhere.toml cannot be read" in err) == (2, True)
