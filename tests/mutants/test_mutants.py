"""Every mutant must come out `failed` with exit status 1, and what it wraps must pass under the same conditions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from plumbline import runtimes
from plumbline.home import find_home
from tests.launching import launch_command, program

MUTANTS = program("plumb-mpi-mutants")


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, dict]:
    """Runs the mutants' program on some ranks; gives its exit status and its record."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    command, environment = launch_command(ranks, MUTANTS, *words, *quiet, "--time-limit", "0.02")
    if any(word.endswith("channel") for word in words):
        environment |= emulated_fpgas(ranks)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert record.exists(), done.stderr
    return done.returncode, json.loads(record.read_text())


def emulated_fpgas(ranks: int) -> dict[str, str]:
    """What makes OpenCL show an emulated FPGA for each rank; skips where there is no emulator."""
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, find_home()):
        pytest.skip(f"{name} is not installed (ACCEPT_INTEL_EULA=1 make test installs it)")
    return runtimes.environment(name, find_home(), devices=ranks)


def transports() -> list[str]:
    """Names of all mutated transports, as the program itself lists them."""
    if not MUTANTS.exists():
        return []
    listed = subprocess.run(
        [str(MUTANTS), "--transports", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [entry["name"] for entry in json.loads(listed.stdout)["transports"]]
    return [name for name in names if name.startswith("mutant-")]


pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SIZES = {"small": ["--max-size", "3"], "large": ["--min-size", "20", "--max-size", "20"]}
# An odd ring at small sizes, an even one at large sizes: each kind once, not each pair.
RINGS = [(2, "large"), (3, "small")]


def options_of(transport: str) -> list[str]:
    """What a transport is given so that there is something to go wrong.

    Messages of the large size are many pieces. Between emulated FPGAs a time limit leaves one round, in which nothing
    is passed on; two chunks that change places in each of an even number of rounds are where they were.
    """
    if "channel" in transport:
        return ["--loop-lower", "5", "--loop-upper", "5"]
    return ["--pipeline-chunk", "64"] if "pipelined" in transport else []


def wrong_transports() -> list[tuple[str, int, str]]:
    """Each mutant on each ring; what goes wrong between pieces only where there are some."""
    return [
        (transport, ranks, size)
        for transport in transports()
        for ranks, size in RINGS
        if size == "large" or not ("pipelined" in transport or "before-data" in transport)
    ]


@pytest.mark.parametrize(("transport", "ranks", "size"), wrong_transports())
def test_wrong_transport_fails(tmp_path: Path, transport: str, ranks: int, size: str) -> None:
    status, record = run(
        tmp_path, ranks, "b_eff", "--transport", transport, *SIZES[size], *options_of(transport)
    )
    outcomes = [case["outcome"] for case in record["cases"]]
    assert status == 1
    assert record["outcome"]["status"] == "failed"
    assert all(outcome["status"] == "failed" for outcome in outcomes), outcomes
    assert all(outcome["reason"] for outcome in outcomes)


@pytest.mark.parametrize("benchmark", ["mutant-b_eff-blind-rank", "mutant-b_eff-half-sighted"])
@pytest.mark.parametrize("size", SIZES)
def test_blind_validator_fails(tmp_path: Path, benchmark: str, size: str) -> None:
    status, record = run(tmp_path, 2, benchmark, "--transport", "mpi", *SIZES[size])
    assert status == 1
    assert record["outcome"]["status"] == "failed"


@pytest.mark.parametrize(("ranks", "size"), [*RINGS, (1, "small"), (4, "small")])
@pytest.mark.parametrize("transport", ["mpi", "staged", "pipelined", "channel"])
@pytest.mark.parametrize("form", ["exchange", "ping-pong", "batched"])
def test_what_they_wrap_passes(
    tmp_path: Path, transport: str, ranks: int, form: str, size: str
) -> None:
    if form == "ping-pong" and ranks == 1:
        pytest.skip("ping-pong needs two ranks")
    status, record = run(
        tmp_path,
        ranks,
        "b_eff",
        "--transport",
        transport,
        "--form",
        form,
        *SIZES[size],
        *options_of(transport),
    )
    assert status == 0, record["outcome"]
    assert {case["outcome"]["status"] for case in record["cases"]} == {"passed"}


@pytest.mark.parametrize("form", ["ping-pong", "batched"])
@pytest.mark.parametrize(
    "transport", ["mutant-flip-50-staged", "mutant-last-byte-mpi", "mutant-nothing-mpi"]
)
def test_other_forms_fail_too(tmp_path: Path, transport: str, form: str) -> None:
    status, record = run(
        tmp_path, 2, "b_eff", "--transport", transport, "--form", form, "--max-size", "12"
    )
    assert status == 1
    assert record["outcome"]["status"] == "failed"
