"""plumb submit without a cluster: by bash, with an engine that behaves badly on demand; mutants."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, Plumb, start_plumb

from plumbline.base.errors import ExitStatus, UsageError
from plumbline.launch.jobs import Slurm, State
from plumbline.run.submit import Job, Submitted, Task
from plumbline.system.files import load_system

pytestmark = pytest.mark.usefixtures("stand_in")
LOCAL = ("--scheduler", "local", "--launcher", "none", "-n", "1", "--no-model")


def folder_of(home: Path) -> Path:
    (folder,) = (home / "jobs").iterdir()
    return folder


def test_a_run_by_bash_is_indexed(plumb: Plumb, home: Path) -> None:
    status, out, err = plumb("submit", "b_eff", *LOCAL)
    assert status == 0, err
    assert "results as table" in out
    assert "record: " in err
    assert "b_eff" in plumb("records")[1]
    assert plumb("submit", "--collect", folder_of(home).name)[0] == 0


@pytest.mark.parametrize(
    ("mode", "status", "said"),
    [
        ("wrong", 1, ""),
        ("fails", 3, "the run ended early; the record holds 2 of 14 cases"),
        ("mute", 3, "no record was left"),
    ],
)
def test_a_failed_run_is_reported_as_failed(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, mode: str, status: int, said: str
) -> None:
    monkeypatch.setenv("STAND_IN", mode)
    found, _, err = plumb("submit", "b_eff", *LOCAL)
    assert found == status, err
    assert said in err


def test_quotes_and_dollars_in_paths_are_only_text(
    plumb: Plumb, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / "a 'b' \"c\" $(touch made) ;%j"
    monkeypatch.setenv("PLUMBLINE_HOME", str(strange))
    monkeypatch.chdir(tmp_path)
    status, _, err = plumb("submit", "b_eff", *LOCAL)
    assert status == 0, err
    assert len(list((strange / "records").glob("b_eff-*.json"))) == 1
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--account", "a;rm -r x"),
        ("--account", "$(id)"),
        ("--partition", "a b"),
        ("--partition", "-x"),
        ("--constraint", "a\nb"),
        ("--time", "soon"),
    ],
)
def test_shell_characters_are_refused(plumb: Plumb, home: Path, option: str, value: str) -> None:
    status, out, err = plumb("submit", "b_eff", *LOCAL, f"{option}={value}")
    assert (status, out) == (2, "")
    assert f"{option.removeprefix('--')} must be" in err
    assert not (home / "jobs").exists()


def test_the_machine_has_account_and_modules(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    head = '[system]\nname = "m"\ndescription = "m"\nsource = "m"\n[job]\n'
    machine.write_text(
        f'{head}partition = "fpga"\naccount = "hpc-x"\nconstraint = "19.4.0_max&hbm"\n'
        'modules = ["bsp/20.4", "slurm"]\n'
    )
    words = ("--machine", str(machine), "--account", "other", "--dry-run")
    status, out, err = plumb("submit", "b_eff", *LOCAL, *words)
    assert (status, err) == (0, "")
    assert "#SBATCH --partition=fpga\n" in out
    assert "#SBATCH --account=other\n" in out
    assert "#SBATCH --constraint=19.4.0_max&hbm\n" in out
    assert "\nmodule load bsp/20.4 slurm\n" in out
    assert not (home / "jobs").exists()
    done = subprocess.run(["bash", "-n"], input=out, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    machine.write_text(f'{head}account = "a b"\n')
    with pytest.raises(UsageError, match="account must be a word"):
        load_system(machine)


def test_two_submissions_at_once_have_folders_of_their_own(plumb: Plumb, home: Path) -> None:
    both = [start_plumb("submit", "b_eff", *LOCAL) for _ in range(2)]
    for one in both:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    folders = list((home / "jobs").iterdir())
    assert len(folders) == 2
    records = {json.loads((one / "job.json").read_text())["tasks"][0]["record"] for one in folders}
    assert len(records) == 2
    assert all(Path(record).exists() for record in records)


def test_without_slurm_it_is_said(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    status, out, err = plumb("submit", "b_eff", "--launcher", "none", "-n", "1")
    assert (status, out) == (2, "")
    assert "there is no sbatch on PATH: --scheduler slurm needs Slurm" in err
    status, _, err = plumb("submit", "--collect", "17")
    assert status == 2
    assert "no job of this name was submitted" in err


# --- mutants: each end or record that does not belong to the job, or hides a failure ---------------


def job_with(home: Path, status: int, **changes: Any) -> Job:
    """A job of one task that left a record, with parts of it changed."""
    folder, records = home / "jobs" / "T", home / "records"
    folder.mkdir(parents=True)
    records.mkdir(exist_ok=True)
    path = records / "b_eff-T-0.json"
    document = json.loads((DATA / "record.json").read_text())
    document["command"] = changes.get("command", ["plumb-mpi", "b_eff", "--record", str(path)])
    if "outcome" in changes:
        document["outcome"] = {"status": changes["outcome"], "reason": "a byte is wrong"}
    if changes.get("recorded", True):
        path.write_text(json.dumps(document))
    end = {"token": "T", "job": "17", "task": 0, "status": status, **changes.get("end", {})}
    (folder / "end-0.json").write_text(json.dumps(end))
    task = Task(benchmark="b_eff", words=["run", "b_eff"], record=str(path))
    made = Submitted(token="T", scheduler="slurm", job="17", submitted="now", tasks=[task])
    return Job(None, folder, made, None, None)  # type: ignore[arg-type]


def test_the_right_one_passes(home: Path) -> None:
    assert job_with(home, 0).collected(0, State("COMPLETED")).status is ExitStatus.PASSED


@pytest.mark.parametrize(
    ("status", "state", "changes", "expected", "said"),
    [
        (0, "COMPLETED", {"end": {"job": "18"}}, 3, "an end of job 18, not of 17"),
        (0, "COMPLETED", {"end": {"token": "S"}}, 3, "an end of submission S, not of T"),
        (0, "COMPLETED", {"command": ["plumb-mpi", "b_eff", "--record", "x"]}, 3, "another run's"),
        (0, "COMPLETED", {"recorded": False}, 3, "left no record"),
        (0, "COMPLETED", {"outcome": "failed"}, 1, ""),
        (0, "COMPLETED", {"outcome": "error"}, 3, ""),
        (1, "FAILED", {}, 1, ""),
        (130, "TIMEOUT", {}, 3, "job 17 exceeded its time limit"),
        (0, "CANCELLED", {}, 3, "job 17 was cancelled"),
        (0, "NODE_FAIL", {}, 3, "a node of job 17 failed"),
        (77, "FAILED", {}, 3, "job 17 failed before its run ended"),
    ],
)
def test_no_failure_is_reported_as_passed(
    home: Path, status: int, state: str, changes: dict[str, Any], expected: int, said: str
) -> None:
    done = job_with(home, status, **changes).collected(0, State(state))
    assert done.status == expected
    assert said in done.sentence


def test_squeue_is_read_and_its_silence_is_no_end(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("sbatch", "echo '17;cluster'"),
        ("squeue", "printf '0|RUNNING|None\\n1|PENDING|Resources\\n'"),
    ):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    slurm = Slurm({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert slurm.submit(tmp_path / "script.sh", 2) == "17"
    assert slurm.states("17") == {0: State("RUNNING", "None"), 1: State("PENDING", "Resources")}
    (tmp_path / "squeue").write_text("#!/bin/sh\necho no contact >&2; exit 1\n")
    assert slurm.states("17") is None
    (tmp_path / "squeue").write_text("#!/bin/sh\necho error: Invalid job id >&2; exit 1\n")
    assert slurm.states("17") == {}
