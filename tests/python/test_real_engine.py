"""``plumb`` over the real engine, launchers and devices; skipped where these are not there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT, Plumb, start_plumb
from strict import faults

from plumbline.base.errors import PlumbError
from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import find_engine
from plumbline.judge.parts import limits_within
from plumbline.launch import launchers
from plumbline.launch.launchers import physical_cores
from plumbline.record.expectations import expected_path
from plumbline.record.record import load_record
from tests.launching import PATIENCE_S, launch_command, preloaded

FOLDERS = {
    "Open MPI": Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin")),
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin")),
}
INSTALLED = find_home()
SHORT = ("--preset", "smoke", "--max-size", "10")


def why_not(folder: Path) -> str | None:
    """Why the engine in ``folder`` cannot be used, or None."""
    try:
        found = find_engine({**os.environ, "PLUMBLINE_ENGINE": str(folder)}).description.world
    except PlumbError as error:
        return str(error)
    return None if found == "mpi" else "the engine has no MPI"


def opencl_devices() -> int:
    """How many devices the default vendor list has."""
    try:
        found = find_engine({**os.environ, "PLUMBLINE_ENGINE": str(FOLDERS["Open MPI"])})
        return len([d for d in found.devices(os.environ).devices if d.runtime == "opencl"])
    except PlumbError:
        return 0


MISSING = why_not(FOLDERS["Open MPI"])
pytestmark = [
    pytest.mark.skipif(MISSING is not None, reason=str(MISSING)),
    pytest.mark.skipif(physical_cores() < 2, reason="two ranks need two cores"),
    pytest.mark.usefixtures("engine"),
    pytest.mark.xdist_group("ranks"),  # ranks of two tests at once would take each other's cores
]
needs_opencl = pytest.mark.skipif(opencl_devices() == 0, reason="there is no OpenCL device")


@pytest.fixture
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of the release tree, and the runtimes that are installed."""
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(FOLDERS["Open MPI"]))
    home.mkdir()
    (home / "runtimes").symlink_to(INSTALLED.runtimes)


def record_in(err: str) -> Path:
    found = re.search(r"^record: (.*)$", err, re.M)
    assert found, err
    return Path(found[1])


@needs_opencl
def test_a_newcomers_run(plumb: Plumb, home: Path) -> None:
    """The three columns, and validated parts; the verdicts depend on the machine."""
    status, out, err = plumb("run", "b_eff", "-n", "2", "--preset", "smoke")
    assert status == 0, err
    for word in ("b_eff", "latency", "expected", "efficiency", "state", "promise", "GB/s", "1 MiB"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 120
    assert "calibrating" not in err
    assert "this run's own parts; verdicts within 10 %" in err
    path = record_in(err)
    record = load_record(path)
    assert record.outcome is not None
    assert record.outcome.status == "passed"
    assert [len(rank.cores) for rank in record.ranks] == [physical_cores() // 2] * 2
    assert not {warning.code for warning in record.warnings} & {"unbound", "oversubscribed"}
    assert faults(json.loads(path.read_text())) == []
    assert record.parts is not None
    assert [part.label("message_bytes") for part in record.parts.cases] == [
        case.label("message_bytes") for case in record.cases
    ]
    for part in record.parts.cases:
        assert part.outcome.status == "passed"
        assert part.validation is not None
        assert part.visits
        assert set(part.visits[0].shares) == {"read", "exchange", "write"}
    for case, part in zip(record.cases, record.parts.cases, strict=True):
        assert {visit.count for visit in part.visits} == {case.count}  # repetitions are alike
    judged = json.loads(expected_path(path).read_text())["cases"]
    assert judged.keys() == {case.key for case in record.cases}
    assert {case["verdict"] for case in judged.values()} <= {"ok", "slow", "ambiguous"}
    status, out, _ = plumb("explain", str(path), "--all")
    assert (status, out.count("natural/transfer/1024 ") >= 1) == (0, True)
    assert plumb("fit", str(path), "--name", "mine")[0] == 0
    status, out, _ = plumb("advise", "--system", "mine", "--sizes", "1,1KiB")
    assert (status, "staged/host-buffered" in out) == (0, True)


@pytest.mark.parametrize(
    ("benchmark", "options", "limits"),
    [
        ("gemm", ("--size", "256"), {"launch", "flops", "memory"}),
        ("stream", ("--elements", "65536"), {"launch", "flops", "memory", "link"}),
        ("fft", ("--size", "10", "--data", "1"), {"launch", "flops", "memory"}),
        ("random_access", ("--size", "16"), {"random"}),
    ],
)
def test_a_newcomers_run_of_one_device(
    plumb: Plumb, benchmark: str, options: tuple[str, ...], limits: set[str]
) -> None:
    """Every case has a verdict, by ceilings that were measured in the same launch."""
    words = ("--runtime", "native", "--time-limit", "0.02", *options)
    status, out, err = plumb("run", benchmark, "-n", "1", *words)
    assert status == 0, err
    assert "calibrating" not in err
    for word in ("expected", "efficiency", "state", "promise", "bound"):
        assert word in out
    record = load_record(record_in(err))
    assert record.parts is not None
    passed = {one.label("limit") for one in record.parts.cases if one.outcome.status == "passed"}
    assert passed == limits
    judged = json.loads(expected_path(record_in(err)).read_text())
    assert judged["without"] == {}
    assert all(case["verdict"] for case in judged["cases"].values())


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("gups", "--size", "12", "--stream", "lcg"), {"random/update/1048576"}),
        (("npb_ep", "--log2-pairs", "17"), {"flops/double"}),
    ],
)
def test_a_newcomers_third_run_beside_a_yardstick(
    plumb: Plumb, words: tuple[str, ...], parts: set[str]
) -> None:
    """No verdict without a history, then one of every case; nothing calibrates."""
    for launch in range(3):
        status, _, err = plumb("run", *words, "-n", "2", "--time-limit", "0.02", "--launches", "1")
        assert status == 0, err
        assert "calibrating" not in err
        assert ("no verdict yet" in err) == (launch < 2)
    record = load_record(record_in(err))
    assert record.parts is not None
    assert {one.key for one in record.parts.cases if one.visits} == parts
    assert {one.outcome.status for one in record.parts.cases} == {"passed"}
    judged = json.loads(expected_path(record_in(err)).read_text())["cases"]
    assert judged.keys() == {case.key for case in record.cases}
    assert all(case["verdict"] for case in judged.values())


@pytest.mark.parametrize("limits", [True, False])
def test_limits_are_measured_for_a_comparison_and_judge_nothing(plumb: Plumb, limits: bool) -> None:
    words = ("--runtime", "native", "--size", "256", "--time-limit", "0.05", "--no-model")
    status, out, err = plumb("run", "gemm", "-n", "1", *words, *(["--limits"] if limits else []))
    assert status == 0, err
    assert "efficiency" not in out
    record = load_record(record_in(err))
    assert not expected_path(record_in(err)).exists()
    (case,) = record.cases
    within = {"flops/float"} if limits else set()
    assert limits_within(record, case.key).keys() == within


def test_what_was_promised(plumb: Plumb) -> None:
    words = ("--runtime", "native", "--size", "256", "--time-limit", "0.02")
    _, _, err = plumb("run", "gemm", "-n", "1", *words)
    status, out, err = plumb("show", str(record_in(err)), "--system", "h200")
    assert status == 0, err
    assert 'by the system "h200"' in " ".join(out.split())
    status, out, err = plumb("show", "last", "--format", "shoms")
    assert (status, out) == (2, ""), err
    assert err == "error: form shoms applies to shoms, not to a record of gemm\n"


@needs_opencl
def test_the_table_comes_from_the_record_alone(plumb: Plumb, home: Path) -> None:
    once = ("--launches", "1")  # also if a case is in doubt
    words = (*SHORT, *once, "--system", "noctua1-520n")
    _, out, err = plumb("run", "b_eff", "-n", "2", *words)
    path = record_in(err)
    again = plumb("show", str(path))
    assert again[0] == 0
    assert again[1] == out
    for form in ("csv", "hpcc-json", "json"):
        status, text, _ = plumb("show", "last", "--format", form)
        assert status == 0
        assert text
        if "json" in form:
            json.loads(text)
    assert plumb("records")[1].count(str(path)) == 1


@needs_opencl
@pytest.mark.parametrize("ranks", [1, 3, 4, 8])
def test_any_number_of_ranks(plumb: Plumb, ranks: int) -> None:
    words = ("--no-model", "--oversubscribe", "--ring", "both", "--time-limit", "0.01")
    status, _, err = plumb("run", "b_eff", "-n", str(ranks), *SHORT[:2], "--max-size", "4", *words)
    assert status == 0, err
    assert load_record(record_in(err)).world.ranks == ranks


@needs_opencl
def test_all_parts_and_a_system_by_name(plumb: Plumb) -> None:
    words = ("--part", "all", "--max-size", "3", "--preset", "smoke", "--system", "noctua1-520n")
    status, out, err = plumb("run", "b_eff", "-n", "2", *words)
    assert status == 0, err
    assert "noctua1-520n" in out
    assert "1 without" in err  # the launch, of which the file says nothing


def test_host_memory_needs_no_device(plumb: Plumb) -> None:
    status, _, err = plumb("run", "b_eff", "-n", "2", "--runtime", "native", *SHORT)
    assert status == 0, err
    record = load_record(record_in(err))
    assert record.transport_name == "mpi"
    assert "model: mpi = exchange" in err


@pytest.mark.parametrize("runtime", runtimes.NAMES)
def test_runtimes(plumb: Plumb, runtime: str) -> None:
    if not runtimes.is_installed(runtime, INSTALLED):
        pytest.skip(f"{runtime} is not installed (plumb setup {runtime})")
    words = ("--max-size", "3", "--preset", "smoke", "--no-model")
    status, _, err = plumb("run", "b_eff", "-n", "2", "--runtime", runtime, *words)
    assert status == 0, err
    record = load_record(record_in(err))
    platforms = {rank.device.platform for rank in record.ranks if rank.device}
    assert len(platforms) == 1
    title = {
        "pocl": "Portable",
        "intel-cpu": "Intel(R) OpenCL",
        "fpga-emulator": "FPGA Emul",
        "intel-sycl": "Intel(R) OpenCL",
    }
    assert title[runtime] in platforms.pop()
    if runtime == "fpga-emulator":
        assert [rank.device.index for rank in record.ranks if rank.device] == [0, 1]


@pytest.mark.parametrize(
    "ranks", [2, *(pytest.param(ranks, marks=pytest.mark.soak) for ranks in (3, 4))]
)
def test_a_ring_of_emulated_fpgas(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name})")
    words = ("--transport", "channel", "--runtime", name, "--max-size", "4", "--preset", "smoke")
    with tempfile.TemporaryDirectory() as folder:  # other tests' links are elsewhere
        monkeypatch.setenv("TMPDIR", folder)
        status, out, err = plumb("run", "b_eff", "-n", str(ranks), "--oversubscribe", *words)
        assert status == 0, err
        assert not list(Path(folder).glob("plumb-links-*"))
    record = load_record(record_in(err))
    assert record.transport is not None
    assert (record.transport.scheduled_by, record.transport.landing) == ("device", "streaming")
    assert {case.outcome.status for case in record.cases} == {"passed"}
    assert "its times are of no board: Intel(R) FPGA Emulation Device emulates" in err
    assert "GB/s (emulated)" in out


# More emulators than cores are slow: on three and four ranks only tests that need them.
@pytest.mark.parametrize(
    ("ranks", "patterns"),
    [
        (2, "*"),
        pytest.param(3, "*", marks=pytest.mark.soak),
        (3, "*EachRound*:*Reduc*"),
        (4, "*EachRound*:*Torus*"),
    ],
)
def test_transport_channel_in_every_pattern(ranks: int, patterns: str) -> None:
    name = runtimes.FPGA_EMULATOR.name
    program = FOLDERS["Open MPI"] / "mpi_tests"
    if not runtimes.is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name})")
    if not program.exists():
        pytest.skip("mpi_tests is not built")
    engine = FOLDERS["Open MPI"] / "plumb-mpi"
    only = ":".join(f"{pattern}hannel*streaming*" for pattern in patterns.split(":"))
    command, environment = launch_command(ranks, engine, f"--gtest_filter={only}")
    command[command.index(str(engine))] = str(program)
    environment |= runtimes.environment(name, INSTALLED, ranks)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EachRoundLeavesItsMessageInASlotOfItsOwn/channel" in done.stdout


def test_mpich(plumb: Plumb, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = why_not(FOLDERS["MPICH"])
    if reason:
        pytest.skip(reason)
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(FOLDERS["MPICH"]))
    words = ("--runtime", "native", "--no-model", *SHORT)
    status, _, err = plumb("run", "b_eff", "-n", "2", *words)
    assert status == 0, err
    record = load_record(record_in(err))
    assert "MPICH" in (record.world.library or "")
    assert [len(rank.cores) for rank in record.ranks] == [physical_cores() // 2] * 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--max-size 3 --min-size 9", "--min-size must not exceed --max-size, but 9 > 3"),
        ("--min-size 25", "25"),
        ("--device nonesuch", "nonesuch"),
        ("--device-map 0:9", "9"),
        ("--transport pigeon", "unknown transport: 'pigeon'"),
        ("--approach sideways", "unknown approach of transport staged: 'sideways' (choose from "),
        (
            "--transport peer --approach host-streaming",
            "approach of transport peer: 'host-streaming'",
        ),
        ("--transport peer --runtime native", "OpenCL C, which runtime native cannot run"),
        ("--transport peer --memory svm", "memory of kind svm"),
        ("--loop-decrease 0", "--loop-decrease must lie between 1 and 64, not 0"),
        ("--memory moon", "moon"),
        ("--max-size 30 --replications 64", "GiB"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    plumb: Plumb, home: Path, words: str, sentence: str
) -> None:
    status, out, err = plumb("run", "b_eff", "-n", "2", "--no-model", *words.split())
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1, err
    assert not list((home / "records").glob("*"))


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_what_memory_cannot_hold_is_refused_before_a_calibration(
    plumb: Plumb, home: Path, more: tuple[str, ...]
) -> None:
    """By the memory of all ranks of this host together, not of one alone."""
    available = launchers.available_memory()
    assert available
    bits = (3 * available // 4).bit_length() - 1  # 3/8 to 3/4 of the memory, in two buffers each
    words = ("--runtime", "native", "--size", str(bits - 3))
    status, out, err = plumb("run", "random_access", "-n", "2", "--oversubscribe", *words, *more)
    assert (status, out) == (2, "")
    assert "of memory together, but " in err or "on the device, but " in err
    assert err.count("\n") == 1, err
    assert not home.exists() or not list(home.rglob("*.toml"))
    assert plumb("run", "b_eff", "--max-size", "30", "--replications", "64", *more)[0] == 2
    assert plumb("run", "b_eff", "--max-size", "10", "--dry-run")[0] == 0


def test_memory_of_other_hosts_is_not_this_ones(plumb: Plumb) -> None:
    words = (
        "--runtime",
        "native",
        "--size",
        "36",
        "--dry-run",
        "--launcher-args",
        "--host a:1,b:1",
    )
    assert plumb("run", "random_access", "-n", "2", *words)[0] == 0


def test_what_sends_nothing_takes_no_approach(plumb: Plumb) -> None:
    words = ("--no-model", "--approach", "host-buffered")
    status, out, err = plumb("run", "stream", "-n", "2", *words)
    assert (status, out) == (2, "")
    assert err == "plumb: stream sends nothing between ranks: it takes no --approach\n"


def ranks_of(launcher: int) -> list[int]:
    """The engine's processes below ``launcher``'s session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == "plumb-mpi":
                environ = (entry / "environ").read_bytes()
                if f"PLUMB_TEST_MARK={launcher}\0".encode() in environ:
                    found.append(int(entry.name))
        except OSError:
            continue
    return sorted(found)


def told_of(cases: int, *where: str) -> tuple[subprocess.Popen[str], str]:
    """A run of 21 cases that has told of so many as finished, and what it said."""
    # Never precise enough: what is left takes longer than telling does, also where cores are shared.
    precise = ("--confidence", "1e-6", "--max-repetitions", "1000000", "--time-limit", "0.2")
    words = ("run", "b_eff", "-n", "2", *where, "--no-model", *precise)
    process = start_plumb(*words, PLUMB_TEST_MARK=str(os.getpid()))
    assert process.stderr is not None
    said: list[str] = []
    while sum(": passed, " in line for line in said) < cases or not said:
        said.append(process.stderr.readline())
        assert said[-1], "".join(said)
    return process, "".join(said)


KILLED = [
    *((library, victim, "--runtime native") for library in FOLDERS for victim in (0, -1)),
    ("Open MPI", -1, "--device cpu --transport pipelined"),
    *(
        ("Open MPI", -1, f"--device cpu --transport peer --approach {approach}")
        for approach in ("host-buffered", "device-buffered", "device-streaming")
    ),
]


@pytest.mark.parametrize(("library", "victim", "where"), KILLED)
def test_a_killed_rank_ends_the_run_and_leaves_the_cases(
    home: Path, monkeypatch: pytest.MonkeyPatch, library: str, victim: int, where: str
) -> None:
    if reason := why_not(FOLDERS[library]):
        pytest.skip(reason)
    if "cpu" in where and opencl_devices() == 0:
        pytest.skip("there is no OpenCL device")
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(FOLDERS[library]))
    process, said = told_of(2, *where.split())
    os.kill(ranks_of(os.getpid())[victim], signal.SIGKILL)
    err = said + process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 3
    assert "was ended by signal 9 (SIGKILL); the record holds " in err
    record = load_record(record_in(err))
    assert record.status in ("running", "aborted")
    assert 2 <= len(record.cases) < 21
    assert ranks_of(os.getpid()) == []


@pytest.mark.parametrize("library", FOLDERS)
@pytest.mark.parametrize("told", [0, 1, 7])
def test_an_interrupt_keeps_the_cases_that_were_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, library: str, told: int
) -> None:
    """So many cases were told as finished when the user interrupts, somewhere in the next."""
    if reason := why_not(FOLDERS[library]):
        pytest.skip(reason)
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(FOLDERS[library]))
    process, said = told_of(told, "--runtime", "native")
    process.send_signal(signal.SIGINT)
    err = said + process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130, err
    assert "plumb: interrupted; " in err
    assert ranks_of(os.getpid()) == []
    if told:
        record = load_record(record_in(err))
        assert record.status in ("running", "aborted")
        assert err.count(": passed, ") <= len(record.cases) < 21


@needs_opencl
def test_devices_and_transports(plumb: Plumb) -> None:
    lists = json.loads(plumb("devices", "--format", "json")[1])
    assert any(device["runtime"] == "opencl" for device in lists["default"]["devices"])
    (known, *_) = json.loads(plumb("transports", "--format", "json")[1]).values()
    works = {
        entry["name"]: [device["runtime"] for device in entry["devices"] if not device["reason"]]
        for entry in known["transports"]
    }
    assert {"opencl", "native"} <= set(works["staged"]) & set(works["pipelined"])
    assert "native" in works["mpi"]
    assert "native" not in works["peer"]


@needs_opencl
def test_transports_are_compared(plumb: Plumb, home: Path) -> None:
    short = ("--max-size", "4", "--time-limit", "0.002", "--format", "json")
    status, out, err = plumb("compare-transports", "b_eff", "-n", "2", "--device", "cpu", *short)
    assert status == 0, err
    found = json.loads(out)
    columns = [f"{column['transport']}/{column['approach']}" for column in found["columns"]]
    assert {"staged/host-buffered", "pipelined/host-buffered"} <= set(columns)
    assert {f"peer/{a}" for a in ("host-buffered", "device-buffered", "device-streaming")} <= set(
        columns
    )
    assert {column["outcome"] for column in found["columns"]} == {"passed"}
    assert [case["message_bytes"] for case in found["cases"]] == [2**i for i in range(5)]
    for case in found["cases"]:
        assert case["fastest"] == min(case["time_us"], key=case["time_us"].get)
        assert list(case["bandwidth_gb_s"]) == columns
    assert {way["transport"] for way in found["left_out"]} >= {"local"}
    assert all(Path(column["record"]).exists() for column in found["columns"])
    assert plumb("records")[1].count("b_eff") >= len(columns)
    status, out, err = plumb(
        "compare-transports", "b_eff", "-n", "2", "--runtime", "native", *short
    )
    assert status == 0, err
    names = [column["transport"] for column in json.loads(out)["columns"]]
    assert names == ["mpi", "pipelined", "staged"]
    sentence = "stream sends nothing between ranks: it takes no --transport"
    status, out, err = plumb("compare-transports", "stream", "-n", "2")
    assert (status, out, err) == (2, "", f"plumb: {sentence}\n")


@pytest.mark.parametrize(
    "words",
    [
        "stream --elements 20000",
        "random_access --size 12",
        "fft --size 8 --data 1",
        "gemm --size 64",
    ],
)
def test_one_rank_works_and_the_rest_idle(plumb: Plumb, tmp_path: Path, words: str) -> None:
    short = f"--runtime native -n 2 --time-limit 0.01 --active-ranks 1 --record {tmp_path}/x.json"
    status, out, err = plumb("run", *words.split(), *short.split())
    assert status == 0, err
    assert "active      1 rank; the rest idle" in out
    assert faults(json.loads((tmp_path / "x.json").read_text())) == []
    record = load_record(tmp_path / "x.json")
    assert record.measuring.active_ranks == 1
    for case in record.cases:
        assert [len(samples) > 0 for samples in case.samples.by_rank] == [True, False]
        assert case.validation is not None
        assert case.validation.items_checked[0] > case.validation.items_checked[1] == 0
        assert not any(metric.name.endswith("_per_rank") for metric in case.metrics)
    status, out, _ = plumb("show", "--format", "hpcc", str(tmp_path / "x.json"))
    assert (status, "Success=" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ptrans", "ptrans has one problem for all ranks: it takes no --active-ranks"),
        ("random_access --table shared", "random_access has one problem for all ranks"),
        ("gemm --format hpcc-json", "--format hpcc-json is of runs in which all ranks work"),
        ("gemm -n 1", "--active-ranks 2 is above the 1 ranks that there are"),
    ],
)
def test_ranks_that_cannot_idle(plumb: Plumb, words: str, sentence: str) -> None:
    active = "2" if "-n" in words else "1"
    status, _, err = plumb("run", *words.split(), "--active-ranks", active, "--runtime", "native")
    assert status == 2
    assert sentence in err


def test_a_series_over_ranks(plumb: Plumb, home: Path) -> None:
    short = ("--size", "256", "--block-size", "32", "--runtime", "native", "--time-limit", "0.01")
    words = ("scale", "ptrans", "--ranks", "1,2", "--beyond", "4", *short, "--format", "json")
    status, out, err = plumb(*words)
    assert status == 0, err
    (curve,) = json.loads(out)["curves"]
    assert [(row["ranks"], row["size"]) for row in curve["rows"]] == [(1, 256), (2, 352), (4, None)]
    status, out, err = plumb(*words, "--mode", "strong")
    assert status == 0, err
    found = json.loads(out)
    assert [(run["ranks"], run["part_of"]) for run in found["runs"]] == [
        (1, None),
        (2, None),
        (1, 2),
        (1, 4),
    ]
    assert {row["size"] for row in found["curves"][0]["rows"]} == {256, None}
    assert plumb(*words, "--mode", "strong")[1] == out
    assert len(list((home / "series").iterdir())) == 2


def test_a_full_disk_is_told_and_the_results_are_printed(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(full)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs root")
    try:
        monkeypatch.setenv("PLUMBLINE_HOME", str(full))
        words = ("--runtime", "native", "--no-model", *SHORT)
        status, out, err = plumb("run", "b_eff", "-n", "2", *words)
    finally:
        subprocess.run(["umount", str(full)], check=False)
    assert status == 3
    assert "the disk is full" in err
    assert "latency" in out


def test_srun_where_there_is_none(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, out, err = plumb("run", "b_eff", "-n", "2", "--launcher", "srun")
    assert (status, out) == (2, "")
    assert err == "plumb: there is no srun on PATH: --launcher srun needs Slurm\n"


def preload(function: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a function that does not return in front of MPI's."""
    library = folder / "never.so"
    source = f"#include <unistd.h>\nint {function}(void) {{ for (;;) pause(); }}\n"
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(words, input=source, text=True, check=True)
    monkeypatch.setenv("LD_PRELOAD", preloaded(library))


@pytest.fixture
def never_finalises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks do not leave MPI_Finalize."""
    preload("MPI_Finalize", tmp_path, monkeypatch)


@pytest.mark.soak  # 120 s
def test_ranks_that_do_not_find_each_other_end(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preload("MPI_Init_thread", tmp_path, monkeypatch)
    status, _, err = plumb("run", *SHORT_STREAM, "-n", "2", "--no-model")
    assert status == 3
    assert "waited 120 s for the world of ranks to start" in err


UNFINALISED = "the library did not finalise within {} s: the process ends without"
SHORT_STREAM = ("stream", "--runtime", "native", "--elements", "1024", "--repetitions", "6")


@pytest.mark.usefixtures("never_finalises")
def test_a_library_that_does_not_finalise_is_left(plumb: Plumb) -> None:
    """The run keeps its own status, though Open MPI's launcher then ends with 1."""
    status, _, err = plumb("run", *SHORT_STREAM, "-n", "2", "--no-model", "--timeout", "3")
    assert status == 0, err
    assert UNFINALISED.format(3) in err
    assert load_record(record_in(err)).outcome.status == "passed"


@pytest.mark.usefixtures("never_finalises")
def test_each_status_of_the_engine_survives_such_a_library() -> None:
    program = str(FOLDERS["Open MPI"] / "plumb-mpi")
    ends = [(("--transport", "mpi"), "/dev/null", 2), (("--record", "none"), "/dev/full", 3)]
    words = (*SHORT_STREAM, "--format", "table", "--timeout", "1")
    started = []
    for added, out, _ in ends:
        with Path(out).open("w") as file:
            command = [program, *words, *added]
            started.append(
                subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE, text=True)
            )
    for process, (_, _, status) in zip(started, ends, strict=True):
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == status, err
        assert UNFINALISED.format(1) in err
