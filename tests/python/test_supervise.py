"""Starting, watching and ending processes; launchers' noise; exit statuses."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Plumb

from plumbline.base.errors import UsageError
from plumbline.launch.events import (
    CaseFinished,
    Event,
    EventLines,
    Failed,
    Finish,
    Start,
    parse_event,
)
from plumbline.launch.execute import judge_ending
from plumbline.launch.launcher_output import LauncherOutput
from plumbline.launch.supervise import Ending, supervise

ERROR = json.dumps({"event": "error", "text": "lost"})
BROKEN = (
    f"{'-' * 40}{ERROR}\n{'-' * 34}\nPrimary job  terminated normally, but 1 process returned\nkept"
)


def python(program: str, grace_s: float = 15.0) -> tuple[Ending, list[Event], list[str]]:
    events: list[Event] = []
    lines: list[str] = []
    command = [sys.executable, "-c", program]
    ending = supervise(command, os.environ, events.append, lines.append, grace_s)
    return ending, events, lines


def alive(pid: int) -> bool:
    """Whether process ``pid`` stays, though it was killed (a loaded machine takes its time)."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"event":"start","benchmark":"b","cases":1,"ranks":2,"record":null}', Start),
        ('{"event":"error","text":"x","later":1}', Failed),
        ('{"event":"unheard of"}', type(None)),
        ('{"event":"error"}', type(None)),
        ('{"event"', type(None)),
        ("warning: text", type(None)),
        ("", type(None)),
    ],
)
def test_events_are_told_from_text(line: str, kind: type) -> None:
    assert isinstance(parse_event(line), kind)


def test_events_and_text_are_told_apart_as_they_come() -> None:
    ending, events, lines = python(
        "import sys, json, time\n"
        "print('on stdout')\n"
        f"sys.stderr.write({ERROR!r}[:10]); sys.stderr.flush(); time.sleep(0.01)\n"
        f"print({ERROR!r}[10:], file=sys.stderr)\n"
        "sys.stderr.write('no newline')\nsys.exit(7)"
    )
    assert ending.status == 7
    assert [type(event) for event in events] == [Failed]
    assert ending.errors == ["lost"]
    assert sorted(lines) == ["no newline", "on stdout"]


def test_an_event_in_a_launchers_line_is_found() -> None:
    noise = LauncherOutput()
    shown: list[str] = []
    events: list[Event] = []

    def on_text(line: str) -> None:
        if not noise.hides(line):
            shown.append(line)

    command = [sys.executable, "-c", f"print({BROKEN!r})"]
    supervise(command, os.environ, events.append, on_text)
    assert [type(event) for event in events] == [Failed]
    assert shown == ["kept"]


@pytest.mark.parametrize("cut", [1, 5, 9, len(ERROR) - 1])
def test_an_event_broken_by_a_launchers_row_is_put_together(cut: int) -> None:
    row = "-" * 74
    lines = [ERROR[:cut] + row, "Primary job  terminated normally", row, ERROR[cut:], ERROR]
    told = EventLines()
    heard = [said for line in lines for said in told.take(line)]
    lost = Failed(event="error", text="lost")
    assert heard == [row, "Primary job  terminated normally", row, lost, lost]


def test_what_cannot_be_started_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="/no/such/mpirun cannot be started: No such file"):
        supervise(["/no/such/mpirun"], {}, lambda _: None, lambda _: None)


def test_after_the_last_word_it_is_ended_even_if_it_will_not() -> None:
    ending, _, _ = python(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"print({ERROR!r}, file=sys.stderr, flush=True)\ntime.sleep(600)",
        grace_s=0.5,
    )
    assert ending.killed
    assert ending.status == -signal.SIGKILL


@pytest.mark.parametrize(("after", "killed"), [(0.2, True), (60.0, False)])
def test_a_scheduler_may_take_longer_after_a_good_end(after: float, killed: bool) -> None:
    last = json.dumps(FINISH.model_dump())
    program = f"import time\nprint({last!r}, flush=True)\ntime.sleep(2)"
    command = [sys.executable, "-c", program]
    events: list[Event] = []
    ending = supervise(command, os.environ, events.append, print, grace_s=0.2, finish_s=after)
    assert ending.killed is killed


def test_children_in_groups_of_their_own_end_too(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    ending, _, _ = python(
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setpgid(0, 0)\n"
        f"    open({str(marker)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        f"while not (os.path.exists({str(marker)!r}) and open({str(marker)!r}).read()):\n"
        "    time.sleep(0.05)\n"
    )
    assert ending.status == 0
    assert not alive(int(marker.read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything(tmp_path: Path, number: signal.Signals) -> None:
    marker = tmp_path / "pid"

    def interrupt() -> None:
        while not marker.exists() or not marker.read_text():
            time.sleep(0.05)
        os.kill(os.getpid(), number)

    threading.Thread(target=interrupt).start()
    ending, _, _ = python(
        f"import os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    assert ending.interrupted
    assert not alive(int(marker.read_text()))


def test_a_second_interrupt_does_not_wait_for_what_will_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plumbline.launch.supervise._TERMINATE_S", 600)
    marker = tmp_path / "pid"

    def interrupt() -> None:
        while not marker.exists() or not marker.read_text():
            time.sleep(0.05)
        while not marker.read_text().endswith("asked"):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    ending, _, _ = python(
        "import os, signal, time\n"
        f"file = open({str(marker)!r}, 'w')\n"
        "def asked(*_):\n    file.write('asked'); file.flush()\n"
        "signal.signal(signal.SIGTERM, asked)\n"
        "file.write(f'{os.getpid()} '); file.flush()\n"
        "time.sleep(100)"
    )
    assert ending.interrupted
    assert ending.status == -signal.SIGKILL  # 0 where it was waited for


OPEN_MPI_KILLED = f"""warning: kept
{"-" * 74}
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
{"-" * 74}
{"-" * 74}
mpirun noticed that process rank 1 with PID 77 on node vm exited on signal 9 (Killed).
{"-" * 74}
also kept"""
MPICH_KILLED = f"""kept
{"=" * 83}
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 4741 RUNNING AT vm
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
{"=" * 83}
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions"""
SLURM_KILLED = "srun: error: node7: task 3: Killed\nkept"
OPEN_MPI_EXIT = f"""{"-" * 74}
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[41012,1],1]
  Exit code:    77
{"-" * 74}"""


@pytest.mark.parametrize(
    ("text", "shown", "died"),
    [
        (
            OPEN_MPI_KILLED,
            ["warning: kept", "also kept"],
            "rank 1 on vm was ended by signal 9 (SIGKILL)",
        ),
        (MPICH_KILLED, ["kept"], "a rank on vm was ended by signal 9 (SIGKILL)"),
        (SLURM_KILLED, ["kept"], "rank 3 on node7: Killed"),
        (OPEN_MPI_EXIT, [], "rank 1 ended early"),
        ("just text\n--- a rule ---", ["just text", "--- a rule ---"], None),
    ],
)
def test_launchers_noise_is_held_back_and_read(
    text: str, shown: list[str], died: str | None
) -> None:
    noise = LauncherOutput()
    assert [line for line in text.splitlines() if not noise.hides(line)] == shown
    assert noise.died() == died


def noise_of(text: str) -> LauncherOutput:
    noise = LauncherOutput()
    for line in text.splitlines():
        noise.hides(line)
    return noise


FINISH = Finish(event="finish", outcome="failed", exit=1, seconds=1)
PASSED = Finish(event="finish", outcome="passed", exit=0, seconds=1)
FAILED = Failed(event="error", text="lost")


@pytest.mark.parametrize(
    ("ending", "text", "status", "sentence"),
    [
        (Ending(status=1, last_word=FINISH), "", 1, None),
        (Ending(status=0, last_word=FINISH), "", 1, None),
        (
            Ending(status=139, last_word=FINISH),
            "",
            3,
            "the launcher ended with status 139 (signal 11)",
        ),
        (Ending(status=2, last_word=FAILED), "", 2, None),
        (Ending(status=3, last_word=FAILED), "", 3, "the run ended early"),
        (Ending(status=137), OPEN_MPI_KILLED, 3, "rank 1 on vm was ended by signal 9 (SIGKILL)"),
        (
            Ending(status=2),
            MPICH_KILLED.replace("signal 9", "signal 2"),
            3,
            "a rank on vm was ended by signal 2 (SIGINT)",
        ),
        (Ending(status=0), "", 0, "the engine ended without a message"),
        (Ending(status=-15), "", 3, "the launcher was ended by signal 15"),
        (Ending(status=77), "", 3, "the launcher ended with status 77"),
        (Ending(interrupted=True), "", 130, "interrupted"),
        (Ending(status=130), "", 3, "the launcher ended with status 130"),
        (Ending(killed=True), "", 3, "the launcher did not end after the engine"),
        (Ending(status=1, last_word=PASSED), "", 3, "the launcher ended with status 1"),
        (Ending(status=1, last_word=PASSED, unfinalised=True), "exiting improperly", 0, None),
        (
            Ending(status=137, last_word=PASSED, unfinalised=True),
            OPEN_MPI_KILLED,
            3,
            "rank 1 on vm was ended by signal 9 (SIGKILL)",
        ),
    ],
)
def test_exit_statuses(ending: Ending, text: str, status: int, sentence: str | None) -> None:
    judged = judge_ending(ending, noise_of(text))
    assert judged[0] == status
    assert (judged[1] or "").startswith(sentence or "")
    assert (judged[1] is None) == (sentence is None)


def test_a_run_that_ends_with_an_error_has_its_sentence(
    plumb: Plumb, stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "errs")
    status, _, err = plumb("run", "b_eff", "--launcher", "none", "-n", "1", "--no-model")
    assert status == 3
    assert "plumb: natural/launch/1: could not compile x.cl; the record holds 14 of 14" in err
    assert "None" not in err


def test_a_finished_case_without_a_reason_is_an_event() -> None:
    line = '{"event":"case_finished","index":1,"of":2,"key":"k","outcome":"passed"}'
    assert isinstance(parse_event(line), CaseFinished)
