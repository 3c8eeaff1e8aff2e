"""Several ``plumb`` at once, and interrupts: measurements are kept, once each."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Plumb, start_plumb
from test_supervise import alive

from plumbline.base.files import claim, locked, replace_file
from plumbline.base.paths import Home
from plumbline.record.record import load_record
from plumbline.record.store import Store, record_files
from tests.launching import PATIENCE_S

ALONE = ("--launcher", "none", "-n", "1")
PLAIN = ("run", "b_eff", *ALONE, "--no-model")


def ends(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    """The exit status and stderr of each."""
    said = [process.communicate(timeout=PATIENCE_S)[1] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


def test_ten_runs_at_once_are_ten_records(stand_in: Path, home: Path) -> None:
    ended = ends([start_plumb(*PLAIN) for _ in range(10)])
    assert [status for status, _ in ended] == [0] * 10, ended
    told = {line for _, text in ended for line in text.splitlines() if line.startswith("record: ")}
    files = set(record_files(home / "records"))
    assert told == {f"record: {path}" for path in files}
    assert len(files) == 10
    assert len(Store(Home(home)).entries()) == 10


def test_runs_at_once_calibrate_once(stand_in: Path, home: Path, tmp_path: Path) -> None:
    """The others wait, and use the first one's result."""
    log = tmp_path / "log"
    runs = [start_plumb("run", "b_eff", *ALONE, STAND_IN_LOG=str(log)) for _ in range(4)]
    ended = ends(runs)
    assert [status for status, _ in ended] == [0] * 4, ended
    assert sum("calibrating, which takes" in text for _, text in ended) == 1
    assert all("verdicts within 25 %" in text for _, text in ended)
    kinds = [line.split() for line in log.read_text().splitlines()]
    measured = [words for words in kinds if "--record" in words and "--dry-run" not in words]
    assert (
        sum(words[words.index("--record") + 1].endswith("calibration.json") for words in measured)
        == 4
    )


def test_calibrations_of_several_kinds_at_once_are_all_kept(stand_in: Path, home: Path) -> None:
    transports = ("staged", "pipelined", "mpi")
    runs = [start_plumb("calibrate", *ALONE, "--transport", transport) for transport in transports]
    ended = ends(runs)
    assert [status for status, _ in ended] == [0] * 3, ended
    text = (home / "systems" / "local.toml").read_text()
    assert {transport for transport in transports if f"--transport {transport}" in text} == set(
        transports
    )


def _claim(folder: str, found: multiprocessing.SimpleQueue[str]) -> None:
    for _ in range(50):
        found.put(str(claim(Path(folder) / "b_eff-now.json")))


def test_a_claimed_name_is_nobody_elses(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    found: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
    claimers = [context.Process(target=_claim, args=(str(tmp_path), found)) for _ in range(4)]
    for claimer in claimers:
        claimer.start()
    names = {found.get() for _ in range(200)}
    for claimer in claimers:
        claimer.join()
    assert len(names) == 200
    assert len(list(tmp_path.iterdir())) == 200


def _count(folder: str) -> None:
    path = Path(folder) / "count"
    for _ in range(100):
        with locked(Path(folder) / "systems" / ".x.lock"):
            replace_file(path, str(int(path.read_text()) + 1))


def test_what_is_changed_under_the_lock_is_not_lost(tmp_path: Path) -> None:
    """Read, change, write: as calibrations of several hosts do with one local.toml."""
    (tmp_path / "count").write_text("0")
    context = multiprocessing.get_context("fork")
    counters = [context.Process(target=_count, args=(str(tmp_path),)) for _ in range(4)]
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    assert (tmp_path / "count").read_text() == "400"
    assert len(list(tmp_path.iterdir())) == 2  # and nothing temporary is left


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for text in ("one", "two"):
        replace_file(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() == text


def test_a_home_that_takes_no_lock_is_no_hindrance() -> None:
    with locked(Path("/proc/none/x.lock")):
        pass


def interrupt_at(
    start: int, log: Path, number: signal.Signals, *words: str
) -> tuple[int, str, list[str]]:
    """Interrupt the run while the engine is in its start of number ``start``.

    Returns exit status, stderr, and the starts of the engine that followed.
    """
    process = start_plumb(*words, STAND_IN_LOG=str(log), STAND_IN_HOLD=str(start))
    while not log.exists() or len(log.read_text().splitlines()) < start:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    ((status, text),) = ends([process])
    lines = log.read_text().splitlines()
    assert not any(alive(int(line.split()[0])) for line in lines)
    return status, text, lines[start:]


# Starts of the engine in a first run: --describe, the check of the options, four launches of the
# calibration, the run, --show.
@pytest.mark.parametrize(
    ("start", "number"),
    [*((start, signal.SIGINT) for start in range(1, 9)), (4, signal.SIGTERM), (7, signal.SIGTERM)],
)
def test_an_interrupt_starts_no_further_work(
    stand_in: Path, home: Path, tmp_path: Path, start: int, number: signal.Signals
) -> None:
    words = ("run", "b_eff", *ALONE)
    status, text, after = interrupt_at(start, tmp_path / "log", number, *words)
    assert status == 130, text
    assert "plumb: interrupted" in text
    assert "Traceback" not in text
    assert after == []
    files = list(record_files(home / "records"))
    assert [load_record(path).status for path in files] == (["complete"] if start == 8 else [])
    assert (home / "systems" / "local.toml").exists() == (start > 6)


def test_the_last_start_of_a_run_is_the_eighth(stand_in: Path, tmp_path: Path) -> None:
    """So that the test above interrupts each of them."""
    log = tmp_path / "log"
    ((status, _),) = ends([start_plumb("run", "b_eff", *ALONE, STAND_IN_LOG=str(log))])
    assert status == 0
    lines = log.read_text().splitlines()
    assert len(lines) == 8
    assert "--show" in lines[-1]


def test_an_interrupt_ends_several_launches(stand_in: Path, home: Path, tmp_path: Path) -> None:
    """The first one's record stays, and is in the index; no third launch is made."""
    words = (*PLAIN, "--launches", "3")
    # --describe, --dry-run, first launch, --show, second launch
    status, _, after = interrupt_at(5, tmp_path / "log", signal.SIGINT, *words)
    assert (status, after) == (130, [])
    (entry,) = Store(Home(home)).entries()
    assert entry.status == "passed"
    assert list(record_files(home / "records")) == [entry.path]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 20))]
)
def test_an_interrupt_at_a_random_moment_keeps_what_was_told(
    stand_in: Path, home: Path, tmp_path: Path, seed: int
) -> None:
    """Cases that were told as finished are in the record; nothing is half written."""
    log = tmp_path / "log"
    process = start_plumb(*PLAIN, STAND_IN="slow", STAND_IN_LOG=str(log))
    while not log.exists():
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0, 2))
    process.send_signal(signal.SIGINT)
    ((status, text),) = ends([process])
    assert status in (0, 130), text
    assert "Traceback" not in text
    assert not any(alive(int(line.split()[0])) for line in log.read_text().splitlines())
    told = text.count(": passed, 5 repetitions")
    kept = [load_record(path) for path in record_files(home / "records")]
    assert len(kept) == (told > 0 or len(kept) > 0)
    assert sum(len(record.cases) for record in kept) >= told
    assert len(kept) == 1 or status == 130
    assert not [path for path in (home / "records").glob("*") if path.stat().st_size == 0]


IN_A_DESTRUCTOR = """
import signal, sys
from plumbline.__main__ import main
import plumbline.cli.app

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell runs behind

class Loses:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def start(arguments):
    Loses()
    while True:
        pass

plumbline.cli.app.start = start
main()
"""


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    """Python prints an exception of a destructor, and goes on."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_DESTRUCTOR],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, "plumb: interrupted\n")


def test_a_given_name_is_every_launchs_own(plumb: Plumb, stand_in: Path, tmp_path: Path) -> None:
    words = ("--launches", "3", "--record", str(tmp_path / "r.json"))
    assert plumb(*PLAIN, *words)[0] == 0
    assert {path.name for path in tmp_path.glob("r*.json") if "expected" not in path.name} == {
        "r.json",
        "r-2.json",
        "r-3.json",
    }
