"""The command line as people see it: lists, helps, and one sentence for every mistake."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import DATA, ROOT, Plumb

from plumbline.base.version import version
from plumbline.cli import app as cli

Golden = Callable[[str, str], None]
pytestmark = pytest.mark.usefixtures("stand_in")


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plumbline", "--version"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout == f"plumb {version()}\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("list.txt", ["list"]),
        ("list.json", ["list", "--format", "json"]),
        ("transports.txt", ["transports"]),
        ("transports.json", ["transports", "--format", "json"]),
        ("devices.txt", ["devices"]),
        ("run-help.txt", ["run", "--help"]),
        ("run-b_eff-help.txt", ["run", "b_eff", "--help"]),
        ("calibrate-help.txt", ["calibrate", "--help"]),
        ("compare-runtimes-help.txt", ["compare-runtimes", "b_eff", "--help"]),
        ("compare-transports-help.txt", ["compare-transports", "b_eff", "--help"]),
        ("scale-help.txt", ["scale", "b_eff", "--help"]),
    ],
)
def test_texts(
    plumb: Plumb,
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    words: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    status, out, err = plumb(*words)
    assert (status, err) == (0, "")
    golden(name, out)


MISTAKES = [
    "list --format xml",
    "run",
    "run b_ef",
    "run -n 2",
    "run b_eff extra",
    "run b_eff --max-sise 3",
    "run b_eff --max-size 31",
    "run b_eff --max-size -1",
    "run b_eff --min-size 9 --max-size 3",
    "run b_eff --repetitions 0",
    "run b_eff -n 3",
    "run b_eff -n 0",
    "run b_eff -n 2 --device-map 0",
    "run b_eff -n 2 --device-map 0:x",
    "run b_eff --ring randm",
    "run b_eff --format xml",
    "run b_eff --transport pigeon",
    "run b_eff --runtime intel-cpu",
    "run b_eff --runtime cuda",
    "run b_eff --launcher none -n 2",
    "run b_eff --launcher-args 'x",
    "run b_eff --tolerance -1",
    "run b_eff --launches 0",
    "run b_eff --system nowhere",
    "run b_eff --system nowhere.toml",
    "run b_eff --output /proc/none/x",
    "show nothing",
    "show nowhere/record.json",
    "show last --format xml",
    "calibrate --max-size 3",
    "calibrate b_eff",
    "compare-transports",
    "compare-transports b_ef",
    "compare-transports b_eff --transport peer",
    "compare-transports b_eff --format hpcc-json",
    "scale b_eff --mode strong",
    "scale b_eff --format xml",
    "setup cuda",
    "setup intel-cpu",
    "setup intel-sycl",
    "setup intel-cpu --onemkl",
    "completion tcsh",
    "schema --output /proc/none",
    "compare a b --pairs 3",
    "report --metric b_eff",
    "run b_eff --record /proc",
    "scale b_eff --plot /proc",
    "scale b_eff --output /proc/none/x",
    "plot last --plot tty --output x.svg",
    "model hpl --system noctua1-520n --sizes 0",
    "model hpl --system noctua1-520n --window 3",
    "model check --sizes 5",
    "model stream stream --system noctua1-520n",
    "model fft --system noctua1-520n --scaling strong",
    "model npb_is --system noctua1-520n --class S --operation S",
    "model npb_is --system noctua1-520n --kernel fast",
    "simulate hpl --system noctua1-520n --steps 3",
    "simulate hpl --system noctua1-520n --imbalance 0.1",
    "simulate shallow_water --system noctua2-u280 --nb 3",
    "simulate shallow_water --system noctua2-u280 --seed 3",
    "simulate ptrans --system noctua1-520n --watch 3",
]


def test_mistakes_are_one_sentence_each(plumb: Plumb, golden: Golden, home: Path) -> None:
    """Nothing on stdout, nothing started, one line on stderr, status 2."""
    lines = []
    for mistake in MISTAKES:
        status, out, err = plumb(*mistake.split())
        assert (status, out, err.count("\n")) == (2, "", 1), (mistake, out, err)
        lines.append(f"$ plumb {mistake}\n{err}".replace(str(home), "HOME"))
    golden("mistakes.txt", "".join(lines))
    assert not (home / "records").exists() or not list((home / "records").glob("*.json"))


@pytest.mark.parametrize(
    "words", [["shw"], ["list", "--form", "json"], ["show"], ["setup"], ["list", "--format"]]
)
def test_mistakes_that_typer_finds_are_one_sentence(plumb: Plumb, words: list[str]) -> None:
    status, out, err = plumb(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("plumb: ")


def test_a_home_that_cannot_be_written_is_one_sentence(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "/proc/none")
    place = "plumb: the index of the records, /proc/none/records/index.sqlite: "
    told = f"{place}No such file or directory (PLUMBLINE_HOME names another folder)\n"
    assert plumb("records") == (3, "", told)


def test_a_full_disk_under_stdout_is_one_sentence() -> None:
    """Also for a text so short that only the last flush fails."""
    for words in (["schema"], ["--version"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "plumbline", *words],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        told = "plumb: the output cannot be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (3, told)


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_the_help_lists_the_commands(plumb: Plumb, words: list[str]) -> None:
    status, out, err = plumb(*words)
    assert (status, err) == (0, "")
    for command in (
        "run",
        "list",
        "devices",
        "transports",
        "show",
        "records",
        "calibrate",
        "setup",
    ):
        assert f"\n  {command} " in out


def test_without_an_engine_every_command_says_so(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(tmp_path))
    for command in (["list"], ["devices"], ["run", "b_eff"], ["calibrate"]):
        status, out, err = plumb(*command)
        assert (status, out) == (2, "")
        assert err.startswith("plumb: there is no engine (plumb-mpi) in PLUMBLINE_ENGINE=")


def test_the_engines_own_refusal_is_passed_on(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("STAND_IN", "refuses")
    status, out, err = plumb("run", "b_eff", "--launcher", "none", "-n", "1")
    assert (status, out) == (2, "")
    assert err == "plumb: --max-size 30 needs 8 GiB, but 4 GiB are there\n"


def test_a_dry_run_is_the_engines_plan(plumb: Plumb) -> None:
    status, out, err = plumb("run", "b_eff", "--launcher", "none", "-n", "1", "--dry-run")
    assert (status, out, err) == (0, "plan: 14 cases\n", "")


def test_version_names_engine_and_library(plumb: Plumb) -> None:
    _, out, _ = plumb("version")
    assert out.startswith(f"plumb {version()}\nplumb-mpi 0.1.0 (abc1234, Open MPI v4.1.4): /")


def test_the_schema_command(plumb: Plumb, tmp_path: Path) -> None:
    status, out, _ = plumb("schema")
    assert status == 0
    assert json.loads(out)["title"] == "Plumbline record"
    assert plumb("schema", "--output", str(tmp_path / "s.json"))[0] == 0
    assert (tmp_path / "s.json").read_text() == out


def test_records_are_listed(plumb: Plumb, home: Path, golden: Golden) -> None:
    assert plumb("records")[1] == "no records yet: plumb run makes one\n"
    shutil.copy(DATA / "record.json", home / "records" / "one.json")
    assert plumb("records", "hpl")[1] == "no records of hpl yet: plumb run makes one\n"
    status, out, err = plumb("records")
    assert (status, err) == (0, "")
    golden("records.txt", out.replace(str(home), "HOME"))
    (listed,) = json.loads(plumb("records", "b_eff", "--format", "json")[1])
    (latency,) = [metric for metric in listed["metrics"] if metric["name"] == "latency"]
    assert (latency["group"], latency["unit"]) == ("natural", "us")
    (home / "records" / "two.json").write_text("[]")
    assert "two.json is not a record" in plumb("records", "--rebuild")[2]


def test_devices_of_a_node_without_any(plumb: Plumb, stand_in: Path) -> None:
    script = '#!/bin/sh\necho \'{"devices": [], "reason": "no OpenCL platform"}\'\n'
    text = (DATA / "describe.json").read_text()
    (stand_in / "describe.json").write_text(text)
    describe = f'[ "$1" = --describe ] && exec cat {stand_in}/describe.json\n'
    (stand_in / "plumb-mpi").write_text(script.replace("\n", f"\n{describe}", 1))
    status, out, err = plumb("devices")
    assert (status, err) == (0, "")
    assert out == "default vendor list:\n  none: no OpenCL platform\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], ["accept", "advise", "calibrate", "compare", "compare-runtimes", "compare-transports", "completion", "devices", "doctor", "explain", "find-bad", "fit",
                "history", "import", "list", "mesh", "model", "noise", "plot", "records", "report", "run", "scale", "schema", "setup", "show", "simulate", "submit", "survey",
                "synth", "tag", "transports", "version", "wiring"]),
        (["sh"], ["show"]),
        (["run", "b"], ["b_eff"]),
        (["run", "b_eff", "--max-s"], ["--max-size"]),
        (["run", "b_eff", "--ring", ""], ["both", "natural", "random"]),
        (["run", "b_eff", "--max-size", ""], []),
        (["run", "stream", "--el"], ["--elements"]),
        (["run", "b_eff", "--launcher", "mpi"], ["mpiexec", "mpirun"]),
        (["synth", "pl"], ["placeholder"]),
        (["synth", "b_eff", "--targ"], ["--target"]),
        (["setup", ""], ["fpga-emulator", "intel-cpu", "intel-sycl", "pocl"]),
        (["show", "x", "--format", "h"], ["hpcc", "hpcc-fpga", "hpcc-json"]),
        (["show", "l"], ["last"]),
        (["calibrate", "--trans"], ["--transport"]),
        (["compare", "l"], ["last"]),
        (["compare", "--ab", "x", "y", "--pa"], ["--pairs"]),
        (["compare", "x", "y", "--format", ""], ["csv", "json", "table"]),
        (["compare-transports", "b"], ["b_eff"]),
        (["compare-transports", "b_eff", "--trans"], []),
        (["compare-transports", "b_eff", "--max-s"], ["--max-size"]),
        (["compare-transports", "b_eff", "--format", ""], ["csv", "json", "table"]),
        (["scale", "b_eff", "--mod"], ["--mode"]),
        (["scale", "b_eff", "--ranks", "2", "--launch"], ["--launcher", "--launcher-args"]),
        (["completion", "b"], ["bash"]),
        (["schema", ""], ["record", "system"]),
        (["model", "str"], ["stream"]),
        (["model", "check", "3.1"], ["3.10", "3.11", "3.12"]),
        (["model", "hpl", "--system", "noct"], ["noctua1-520n", "noctua2-u280"]),
        (["model", "hpl", "--sc"], ["--scaling"]),
        (["explain", "l"], ["last"]),
        (["explain", "last", "--to"], ["--tolerance"]),
        (["fit", "x", "l"], ["last"]),
        (["advise", "--format", "c"], ["csv"]),
        (["simulate", "p"], ["ptrans"]),
        (["simulate", "hpl", "--system", "cyg"], ["cygnus-520n"]),
        (["simulate", "hpl", "--ba"], ["--barrier"]),
    ],
)  # fmt: skip
def test_completion(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    found: list[str],
) -> None:
    monkeypatch.setenv("_PLUMB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["plumb", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        cli.start([])
    out, err = capfd.readouterr()
    assert err == ""
    assert sorted(out.split()) == found


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_completion_script_works_in_bash(plumb: Plumb, tmp_path: Path) -> None:
    script = plumb("completion", "bash")[1]
    program = tmp_path / "plumb"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m plumbline "$@"\n')
    program.chmod(0o755)
    test = (
        f"PATH={tmp_path}:$PATH\n{script}\n"
        "COMP_WORDS=(plumb run b_eff --ring n); COMP_CWORD=4; _plumb_completion plumb; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", test], capture_output=True, text=True, check=True)
    assert done.stdout == "natural\n"


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ZeroDivisionError):
        cli.start([])
