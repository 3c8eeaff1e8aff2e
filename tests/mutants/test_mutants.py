"""Every mutant must come out `failed`, and its transport must pass under the same conditions, right after it.

Many run in one launch (``plumb-mpi-mutants --many``): launches take longer than what they run.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from tests.launching import PATIENCE_S, launch_command, program

MUTANTS = program("plumb-mpi-mutants")
pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

FORMS = ("exchange", "ping-pong", "batched")
SIZES = {"small": ("0", "3"), "large": ("20", "20"), "byte": ("0", "0"), "kibi": ("10", "10")}
SIZES["pipe"] = ("17", "17")  # more than a pipe holds
HOST, PEER = "host-buffered", ("host-buffered", "device-buffered", "device-streaming")
CREDIT_IGNORED = "mutant-stream-credit-ignored-peer"
# Shows between groups of one kernel, of which host devices have one: bench/link_mutants.py runs it.
ON_GPUS = "mutant-stream-neighbours-ignored-peer"
# Some of the rounds are made, and the others left out.
ROUNDS = (
    *("nothing", "half", "first-only", "last-only", "every-second"),
    *("all-but-first", "all-but-one", "all-but-last"),
    *(f"count-mod-{m}" for m in (2, 3, 4, 6, 8, 16)),
)
# What goes wrong with a whole exchange, in whatever form.
OF_ANY_FORM = ("flip-50", "last-byte", *ROUNDS)
# What goes wrong with a whole exchange, whatever carries it.
OF_ANY_TRANSPORT = (*OF_ANY_FORM, "flip-10", "flip-90", "wrong-rank", "stale", "swapped")

Run = dict[str, Any]


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, dict]:
    """One run of the mutants' program by itself, on some ranks; gives its exit status and its record."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    command, environment = launch_command(ranks, MUTANTS, *words, *quiet, "--time-limit", "0.02")
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert record.exists(), done.stderr
    assert done.returncode < 128, done.stderr
    return done.returncode, json.loads(record.read_text())


def assert_all_failed(status: int, record: dict) -> None:
    """Every case is a wrong answer with a reason."""
    outcomes = [case["outcome"] for case in record["cases"]]
    assert status == 1
    assert record["outcome"]["status"] == "failed"
    assert all(outcome["status"] == "failed" for outcome in outcomes), outcomes
    assert all(outcome["reason"] for outcome in outcomes)


def run_of(
    transport: str,
    approach: str,
    form: str,
    size: str,
    rounds: int = 0,
    benchmark: str = "b_eff",
    runtime: str = "",
) -> Run:
    """One run; of so many rounds of each message, or (0) of as many as the engine chooses.

    Messages of the large size are many pieces. Without a runtime it is the transport's default.
    """
    smallest, largest = SIZES[size]
    options = {"form": form, "min-size": smallest, "max-size": largest, "batch": "2"}
    if rounds:
        count = str(2 * rounds if form == "batched" else rounds)
        options |= {"loop-lower": count, "loop-upper": count}
    return {
        "benchmark": benchmark,
        "transport": transport,
        "approach": approach,
        "pipeline_chunk_kib": 64 if "pipelined" in transport else 0,
        "options": options,
    } | ({"runtime": runtime} if runtime else {})


def launch(
    tmp_path: Path, ranks: int, runs: list[Run], added: dict[str, str] | None = None
) -> list[dict]:
    """What each of the runs came to; skips where the first cannot be made on this machine.

    ``added``: variables of a runtime.
    """
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(runs))
    command, environment = launch_command(ranks, MUTANTS, "--many", str(path))
    environment |= added or {}
    transports = [str(run["transport"]) for run in runs if run.get("runtime", "opencl") == "opencl"]
    if any(name.endswith("channel") or "accl" in name for name in transports):
        environment |= emulated_fpgas(ranks)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-4000:])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(runs), done.stderr
    if found[0]["status"] == "skipped":
        pytest.skip(found[0]["reason"])
    return found


def emulated_fpgas(ranks: int) -> dict[str, str]:
    """What makes OpenCL show an emulated FPGA for each rank; skips where there is no emulator."""
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, find_home()):
        pytest.skip(f"{name} is not installed (ACCEPT_INTEL_EULA=1 make test installs it)")
    return runtimes.environment(name, find_home(), devices=ranks)


@cache
def listed_transports() -> list[dict]:
    """All transports, as the program itself lists them."""
    if not MUTANTS.exists():
        return []
    listed = subprocess.run(
        [str(MUTANTS), "--transports", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(listed.stdout)["transports"]


def mutants_of(base: str, approach: str) -> list[str]:
    """What goes wrong with a transport in one of its approaches, by name."""
    return [
        entry["name"].removeprefix("mutant-").removesuffix(f"-{base}")
        for entry in listed_transports()
        if entry["name"].startswith("mutant-")
        and entry["name"].endswith(f"-{base}")
        and approach in entry["approaches"]
        and entry["name"] not in (CREDIT_IGNORED, ON_GPUS)
        and "receives-reversed" not in entry["name"]  # right (test_accl.py)
    ]


def assert_mutants_fail(
    tmp_path: Path,
    ranks: int,
    base: str,
    approach: str,
    size: str,
    forms: tuple[str, ...],
    rounds: int,
    runtime: str = "",
) -> None:
    """All mutants of a transport, each followed by the transport itself, to exclude interference.

    Emulated FPGAs compile their kernels for seconds in each run: `channel` itself runs once, at the end.
    """
    names = mutants_of(base, approach)
    runs: list[Run] = []
    for name in names:
        if size != "large" and name not in OF_ANY_TRANSPORT and base in ("pipelined", "peer"):
            continue  # faults between pieces, if there is one
        if size == "small" and name in ("not-awaited", "token-before-data"):
            continue  # they may have come before anybody looks
        if runtime == "hls" and name == "token-before-data":
            continue  # of the emulator alone: here the data may be there before the sender wakes
        late = name in ("not-awaited", "token-before-data")  # it must take long to be missed
        for form in forms if name in OF_ANY_FORM else forms[:1]:
            wrong = f"mutant-{name}-{base}"
            of = "large" if late and size == "pipe" else size
            runs.append(run_of(wrong, approach, form, of, rounds, runtime=runtime))
        if base not in ("channel", "vnx") or name == names[-1]:
            form = runs[-1]["options"]["form"]
            runs.append(run_of(base, approach, form, size, rounds, runtime=runtime))
    assert set(ROUNDS) <= set(names)
    problems = []
    for run, found in zip(runs, launch(tmp_path, ranks, runs), strict=True):
        should = "failed" if str(run["transport"]).startswith("mutant-") else "passed"
        right = found["status"] == should and all(
            outcome["status"] == should and (outcome["reason"] or should == "passed")
            for outcome in found["outcomes"]
        )
        if not right:
            problems.append((should, run["transport"], run["options"], found))
    assert not problems


@pytest.mark.parametrize(
    ("ranks", "size"),
    [(2, "small"), (2, "large"), (3, "small"), pytest.param(3, "large", marks=pytest.mark.soak)],
)
@pytest.mark.parametrize("base", ["mpi", "staged", "pipelined"])
def test_mutants_fail(tmp_path: Path, base: str, size: str, ranks: int) -> None:
    assert_mutants_fail(tmp_path, ranks, base, HOST, size, FORMS, 25 if size == "small" else 17)


# Kernels in one form, and on an odd ring at the shortest size alone: kernels that wait for each other by looking at a flag
# take long where others want the core.
@pytest.mark.parametrize(("ranks", "size"), [(2, "byte"), (2, "large"), (3, "byte")])
@pytest.mark.parametrize("approach", PEER)
def test_mutants_of_peer_fail(tmp_path: Path, approach: str, size: str, ranks: int) -> None:
    forms = FORMS if approach == HOST else FORMS[:1]
    assert_mutants_fail(tmp_path, ranks, "peer", approach, size, forms, 17)


@pytest.mark.soak
@pytest.mark.parametrize("approach", PEER[1:])
def test_mutants_of_peer_fail_in_every_form(tmp_path: Path, approach: str) -> None:
    assert_mutants_fail(tmp_path, 2, "peer", approach, "large", FORMS, 17)


@pytest.mark.parametrize(("base", "size"), [("accl-tcp", "large"), ("accl-udp", "small")])
def test_mutants_of_accl_fail(tmp_path: Path, base: str, size: str) -> None:
    assert_mutants_fail(tmp_path, 2, base, HOST, size, FORMS[:1], 17)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("base", ["nccl", "mpi-device"])
def test_mutants_between_gpus_fail(tmp_path: Path, base: str, size: str) -> None:
    assert_mutants_fail(tmp_path, 2, base, HOST, size, FORMS, 100)


# Emulated FPGAs take seconds instead of milliseconds.
@pytest.mark.parametrize(("ranks", "size"), [(2, "pipe"), (3, "byte")])
@pytest.mark.parametrize("runtime", ["", "hls"])
def test_mutants_of_channel_fail(tmp_path: Path, ranks: int, size: str, runtime: str) -> None:
    assert_mutants_fail(tmp_path, ranks, "channel", PEER[-1], size, FORMS[:1], 17, runtime)


def test_mutants_of_vnx_fail(tmp_path: Path) -> None:
    assert_mutants_fail(tmp_path, 2, "vnx", PEER[-1], "kibi", FORMS[:1], 17, "hls")


def test_credit_ignored_fails(tmp_path: Path) -> None:
    """A rank is two rounds ahead of another, and so fills a slot early, only from four ranks on."""
    runs = [run_of(name, PEER[-1], "exchange", "kibi", 4) for name in (CREDIT_IGNORED, "peer")]
    wrong, right = launch(tmp_path, 4, runs)
    assert [outcome["status"] for outcome in wrong["outcomes"]] == ["failed"]
    assert [outcome["status"] for outcome in right["outcomes"]] == ["passed"]


def test_a_wrong_transport_ends_with_status_1(tmp_path: Path) -> None:
    loops = ["--loop-lower", "25", "--loop-upper", "25"]
    words = ["--transport", "mutant-count-mod-6-mpi", "--max-size", "3", *loops]
    assert_all_failed(*run(tmp_path, 2, "b_eff", *words))


def test_blind_validators_fail(tmp_path: Path) -> None:
    runs = [
        run_of("mpi", HOST, "exchange", size, 25, benchmark)
        for benchmark in (
            "mutant-b_eff-blind-rank",
            "mutant-b_eff-half-sighted",
            "mutant-b_eff-below-zero",
        )
        for size in ("small", "large")
    ]
    assert [found["status"] for found in launch(tmp_path, 2, runs)] == ["failed"] * len(runs)


def assert_passes(tmp_path: Path, ranks: int, runs: list[Run]) -> None:
    """Every case of every run passes."""
    for run, found in zip(runs, launch(tmp_path, ranks, runs), strict=True):
        assert found["status"] == "passed", (run, found)
        assert {outcome["status"] for outcome in found["outcomes"]} == {"passed"}


@pytest.mark.parametrize(
    ("ranks", "size"), [(1, "small"), (2, "large"), (3, "small"), (4, "small")]
)
def test_what_they_wrap_passes(tmp_path: Path, ranks: int, size: str) -> None:
    runs = [
        run_of(transport, HOST, form, size)
        for transport in ("mpi", "staged", "pipelined")
        for form in FORMS
        if form != "ping-pong" or ranks > 1
    ]
    assert_passes(tmp_path, ranks, runs)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("transport", ["nccl", "mpi-device"])
def test_what_they_wrap_between_gpus_passes(tmp_path: Path, transport: str, size: str) -> None:
    assert_passes(tmp_path, 2, [run_of(transport, HOST, form, size) for form in FORMS])


# A window of large messages is more than fits into the pipes; the emulator takes long for it.
@pytest.mark.parametrize(
    ("form", "ranks", "size", "runtime"),
    [
        pytest.param(*run, runtime, marks=pytest.mark.soak)
        if run == ("batched", 2, "large") and not runtime
        else (*run, runtime)
        for run in (
            ("exchange", 1, "small"),
            ("exchange", 2, "large"),
            ("exchange", 3, "small"),
            ("exchange", 4, "small"),
            ("ping-pong", 3, "small"),
            ("batched", 3, "small"),
            ("batched", 2, "large"),
        )
        for runtime in ("", "hls")
    ],
)
def test_channel_passes(tmp_path: Path, form: str, ranks: int, size: str, runtime: str) -> None:
    runs = [run_of("channel", PEER[-1], form, size, 5, runtime=runtime)]
    assert_passes(tmp_path, ranks, runs)


def test_vnx_passes(tmp_path: Path) -> None:
    runs = [
        run_of("vnx", PEER[-1], "exchange", size, 5, runtime="hls") for size in ("small", "kibi")
    ]
    assert_passes(tmp_path, 2, runs)


@pytest.mark.parametrize(("ranks", "size", "forms"), [(2, "large", FORMS), (3, "byte", FORMS[:1])])
def test_peer_passes(tmp_path: Path, ranks: int, size: str, forms: tuple[str, ...]) -> None:
    assert_passes(
        tmp_path,
        ranks,
        [run_of("peer", approach, form, size) for approach in PEER for form in forms],
    )
