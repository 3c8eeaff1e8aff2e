"""The flow of ``plumb run`` over a stand-in engine: output, records, exit status."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path

import pytest
from conftest import Plumb, start_plumb
from test_launch import needs_openmpi
from test_supervise import alive

from tests.launching import PATIENCE_S

pytestmark = pytest.mark.usefixtures("stand_in")
ALONE = ("--launcher", "none", "-n", "1")
PLAIN = ("run", "b_eff", "--no-model")


def records(home: Path) -> list[Path]:
    return sorted(
        path for path in (home / "records").glob("*.json") if ".expected" not in path.name
    )


@needs_openmpi
def test_the_first_run_calibrates_and_judges(plumb: Plumb, home: Path) -> None:
    status, out, err = plumb("run", "b_eff", "-n", "2")
    assert status == 0
    assert out == "results as table, with a model\n"
    assert "this machine is not calibrated for this kind of run yet: calibrating" in err
    assert "warning: rank 1 is bound to no core" in err
    assert "verdicts within 25 %: 13 ok, 1 without" in err
    (path,) = records(home)
    assert f"record: {path}" in err
    expected = json.loads(path.with_name(path.stem + ".expected.json").read_text())
    assert expected["system"] == "local"
    assert "[[calibrations]]" in (home / "systems" / "local.toml").read_text()
    status, _, err = plumb("run", "b_eff", "-n", "2", "--max-size", "9")
    assert status == 0
    assert "calibrating" not in err


@needs_openmpi
def test_progress_is_plain_lines_without_a_terminal(plumb: Plumb) -> None:
    _, _, err = plumb(*PLAIN, "-n", "2")
    assert "b_eff: 14 cases on 2 ranks\n" in err
    assert "[ 2/14] natural/read/1: passed, 5 repetitions\n" in err


@needs_openmpi
@pytest.mark.parametrize(
    ("mode", "expected", "sentence"),
    [
        ("wrong", 1, None),
        ("fails", 3, "plumb: the run ended early; the record holds 2 of 14 cases: "),
        ("dies", 3, "was ended by signal 9 (SIGKILL); the record holds 2 of 14 cases: "),
        ("mute", 3, "plumb: rank "),
    ],
)
def test_bad_ends(
    plumb: Plumb,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    expected: int,
    sentence: str | None,
) -> None:
    monkeypatch.setenv("STAND_IN", mode)
    status, out, err = plumb(*PLAIN, "-n", "2")
    assert status == expected
    assert (sentence or "") in err
    assert "-----" not in err
    left = records(home)
    assert bool(left) == (mode != "mute")
    assert out == ("results as table, without a model\n" if left else "")


@needs_openmpi
def test_a_dead_rank_is_named(plumb: Plumb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "dies")
    _, _, err = plumb(*PLAIN, "-n", "2")
    assert "plumb: rank 1 on " in err
    assert "waited to its end" not in err


def test_a_launcher_that_hangs_after_an_error_is_ended(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "hangs")
    monkeypatch.setattr("plumbline.launch.supervise.supervise.__defaults__", (0.5, None))
    status, _, err = plumb(*PLAIN, *ALONE)
    assert status == 3
    assert "plumb: rank 0 lost rank 1" in err
    assert "the launcher did not end after the engine and was terminated" in err


@needs_openmpi
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("STAND_IN", "waits")
    process = start_plumb(*PLAIN, "-n", "2", "--oversubscribe")
    marks = [tmp_path / "pid.0", tmp_path / "pid.1"]
    while not all(mark.exists() and mark.read_text() for mark in marks):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "plumb: interrupted; the record holds 2 of 14 cases: " in err
    assert out == "results as table, without a model\n"
    assert not any(alive(int(mark.read_text())) for mark in marks)


@needs_openmpi
def test_a_folder_that_cannot_be_written_costs_the_record_not_the_results(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "/proc/none")
    status, out, err = plumb("run", "b_eff", "-n", "2")
    assert status == 3
    assert out == "results as table, with a model\n"
    assert "no record can be kept in /proc/none/records: No such file or directory; it is in" in err
    assert "but not kept: /proc/none/systems/local.toml: No such file or directory" in err
    assert "the index of records was not updated" in err


def test_a_full_disk_is_told(plumb: Plumb, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        f_bavail, f_frsize = 10, 4096

    monkeypatch.setattr("plumbline.launch.execute.os.statvfs", lambda _: Full())
    status, out, err = plumb(*PLAIN, *ALONE)
    assert status == 3
    assert "no record can be kept in" in err
    assert ": the disk is full; it is in " in err
    assert out == "results as table, without a model\n"


def test_record_and_output_go_where_asked(plumb: Plumb, tmp_path: Path, home: Path) -> None:
    record, output = tmp_path / "deep" / "r.json", tmp_path / "out.csv"
    words = ("--record", str(record), "--output", str(output), "--format", "csv")
    status, out, err = plumb(*PLAIN, *ALONE, *words)
    assert (status, out) == (0, "")
    assert output.read_text() == "results as csv, without a model\n"
    assert f"record: {record}" in err
    assert record.is_file()
    assert str(record) in plumb("records")[1]


def test_a_record_called_none_is_refused(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = plumb(*PLAIN, *ALONE, "--record", "none")
    assert status == 2
    assert "--record none is the engine's" in err
    assert plumb(*PLAIN, *ALONE, "--record", "./none")[0] == 0
    assert (tmp_path / "none").exists()


def test_several_launches_are_several_records_and_a_spread(plumb: Plumb, home: Path) -> None:
    status, out, _ = plumb(*PLAIN, *ALONE, "--launches", "3")
    assert status == 0
    assert len(records(home)) == 3
    assert out.count("results as table") == 3
    assert "median of one count over 3 launches (us)" in out
    assert "natural/transfer/1024 " in out
    status, out, err = plumb(*PLAIN, *ALONE, "--launches", "2", "--format", "json")
    assert "median" not in out
    assert "median of one count over 2 launches (us)" in err


def test_slower_than_its_model_is_4_when_asked(plumb: Plumb, tmp_path: Path) -> None:
    system = tmp_path / "fast.toml"
    leg = '[[legs.{}]]\nlatency_us = 0.001\nsource = "a request"\n'
    legs = "".join(leg.format(name) for name in ("launch", "read", "exchange", "write"))
    system.write_text(f'[system]\nname = "fast"\ndescription = ""\nsource = ""\n{legs}')
    words = ("run", "b_eff", *ALONE, "--system", str(system))
    status, out, err = plumb(*words)
    assert (status, out) == (0, "results as table, with a model\n")
    assert "system fast; verdicts within 25 %: 13 slow" in err
    assert plumb(*words, "--fail-slow")[0] == 4
    assert plumb(*words, "--fail-slow", "--tolerance", "1e6")[0] == 0


def test_show_prints_from_the_record_alone(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    plumb(*PLAIN, *ALONE)
    (path,) = records(home)
    for name in (str(path), path.name, path.stem, "last"):
        status, out, err = plumb("show", name, "--format", "csv")
        assert (status, out) == (0, "results as csv, without a model\n")
        assert "not calibrated for this kind of run" in err
    status, out, err = plumb("show", "last", "--system", "noctua1-520n")
    assert (status, out) == (0, "results as table, with a model\n")
    assert "system noctua1-520n" in err
    assert not list((home / "records").glob("*.expected.json"))
    moved = Path(shutil.move(path, tmp_path / "moved.json"))
    assert plumb("show", str(moved))[0] == 0
    assert plumb("show", "last")[0] == 2


def test_other_transports_have_no_model(plumb: Plumb) -> None:
    _, out, err = plumb("run", "b_eff", *ALONE, "--transport", "pipelined")
    assert "calibrating" not in err
    assert out == "results as table, without a model\n"


@needs_openmpi
def test_calibrate_by_hand(plumb: Plumb, home: Path) -> None:
    status, out, err = plumb("calibrate", "-n", "2", "--transport", "staged")
    assert (status, out) == (0, "")
    assert "calibrated in " in err
    assert (
        'request = "legs -n 2 --transport staged"' in (home / "systems" / "local.toml").read_text()
    )


def test_a_broken_local_system_is_bad_input(plumb: Plumb, home: Path) -> None:
    (home / "systems").mkdir(parents=True)
    (home / "systems" / "local.toml").write_text("[system]\nname = 3\n")
    status, out, err = plumb("run", "b_eff", *ALONE)
    assert (status, out) == (2, "")
    assert "local.toml: system.name: must be a text, not the integer 3" in err


def test_verbose_says_the_command(plumb: Plumb, stand_in: Path) -> None:
    _, _, err = plumb(*PLAIN, *ALONE, "--verbose", "--max-size", "5", "--runtime", "native")
    assert f"{stand_in}/plumb-mpi b_eff --runtime native --max-size 5 --record " in err
