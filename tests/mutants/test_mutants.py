"""Every mutant must come out `failed` with exit status 1, and what it wraps must pass under the same conditions."""

from __future__ import annotations

import json
import os
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
    assert done.returncode < 128, done.stderr
    return done.returncode, json.loads(record.read_text())


def emulated_fpgas(ranks: int) -> dict[str, str]:
    """What makes OpenCL show an emulated FPGA for each rank; skips where there is no emulator."""
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, find_home()):
        pytest.skip(f"{name} is not installed (ACCEPT_INTEL_EULA=1 make test installs it)")
    return runtimes.environment(name, find_home(), devices=ranks)


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


def why_not(transport: str) -> str | None:
    """Why no device of this machine is carried by ``transport``; None = one is."""
    (entry,) = (entry for entry in listed_transports() if entry["name"] == transport)
    fit = [device for device in entry["devices"] if not device["reason"]]
    return entry["reason"] or (None if fit else entry["devices"][0]["reason"])


def transports() -> list[tuple[str, str]]:
    """Names of all mutated transports with each of their approaches, as the program itself lists them."""
    return [
        (entry["name"], approach)
        for entry in listed_transports()
        if entry["name"].startswith("mutant-")
        for approach in entry["approaches"]
    ]


BETWEEN_GPUS = ("nccl", "mpi-device")
pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SIZES = {"small": ["--max-size", "3"], "large": ["--min-size", "20", "--max-size", "20"]}
# An odd ring at small sizes, an even one at large sizes: each kind once, not each pair.
RINGS = [(2, "large"), (3, "small")]
CREDIT_IGNORED = "mutant-stream-credit-ignored-peer"


PEER = ("host-buffered", "device-buffered", "device-streaming")
# What goes wrong with a whole exchange, whatever carries it: flips and wrong ranks show that for each approach.
OF_ANY_APPROACH = [f"mutant-{name}-peer" for name in ("half", "nothing", "stale", "last-byte")]


def options_of(transport: str) -> list[str]:
    """What a transport is given so that there is something to go wrong.

    Messages of the large size are many pieces. Between emulated FPGAs a time limit leaves one round, in which nothing
    is passed on; two chunks that change places in each of an even number of rounds are where they were.
    """
    if "channel" in transport:
        return ["--loop-lower", "5", "--loop-upper", "5"]
    if transport.endswith(BETWEEN_GPUS):
        return ["--runtime", "cuda", "--loop-lower", "100", "--loop-upper", "100"]
    pieces = ["--pipeline-chunk", "64"] if "pipelined" in transport else []
    # What is lost now and then needs many messages, also where a busy machine has time for few.
    often = "lost" in transport or "now-and-then" in transport
    return [*pieces, *(["--loop-lower", "25", "--loop-upper", "25"] if often else [])]


def wrong_transports() -> list[tuple[str, str, int, str]]:
    """Each mutant on each ring; what goes wrong between pieces only where there are some."""
    return [
        (transport, approach, ranks, size)
        for transport, approach in transports()
        if transport != CREDIT_IGNORED
        and not transport.endswith(BETWEEN_GPUS)
        and (approach == PEER[-1] or transport not in OF_ANY_APPROACH)
        for ranks, size in RINGS
        if size == "large"
        or not any(word in transport for word in ("pipelined", "peer", "before-data"))
    ]


def assert_all_failed(status: int, record: dict) -> None:
    """Every case is a wrong answer with a reason."""
    outcomes = [case["outcome"] for case in record["cases"]]
    assert status == 1
    assert record["outcome"]["status"] == "failed"
    assert all(outcome["status"] == "failed" for outcome in outcomes), outcomes
    assert all(outcome["reason"] for outcome in outcomes)


@pytest.mark.parametrize(("transport", "approach", "ranks", "size"), wrong_transports())
def test_wrong_transport_fails(
    tmp_path: Path, transport: str, approach: str, ranks: int, size: str
) -> None:
    words = ["--transport", transport, "--approach", approach, *SIZES[size], *options_of(transport)]
    assert_all_failed(*run(tmp_path, ranks, "b_eff", *words))


# Peer's on an odd ring at the shortest size only: where there are more ranks than cores, kernels that wait for each
# other by looking at a flag take long.
ODD_PEER = [(3, ["--max-size", "0"])]


@pytest.mark.parametrize("transport", ["flip-50", "wrong-rank", "last-byte"])
@pytest.mark.parametrize("approach", PEER)
@pytest.mark.parametrize(("ranks", "words"), ODD_PEER)
def test_wrong_peer_fails_on_an_odd_ring(
    tmp_path: Path, transport: str, approach: str, ranks: int, words: list[str]
) -> None:
    chosen = ["--transport", f"mutant-{transport}-peer", "--approach", approach]
    assert_all_failed(*run(tmp_path, ranks, "b_eff", *chosen, *words))


@pytest.mark.parametrize(
    ("transport", "size"),
    [
        (transport, size)
        for transport, _ in transports()
        if transport.endswith(BETWEEN_GPUS)
        for size in SIZES
    ],
)
def test_wrong_transport_between_gpus_fails(tmp_path: Path, transport: str, size: str) -> None:
    """Small messages may have come before anybody looks, though nobody waited for them."""
    base = next(base for base in BETWEEN_GPUS if transport.endswith(base))
    if reason := why_not(base):
        pytest.skip(reason)
    if size == "small" and "not-awaited" in transport:
        pytest.skip("they arrive too soon")
    words = ["--transport", transport, *SIZES[size], *options_of(transport)]
    assert_all_failed(*run(tmp_path, 2, "b_eff", *words))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("transport", BETWEEN_GPUS)
@pytest.mark.parametrize("form", ["exchange", "ping-pong", "batched"])
def test_what_they_wrap_between_gpus_passes(
    tmp_path: Path, transport: str, form: str, size: str
) -> None:
    if reason := why_not(transport):
        pytest.skip(reason)
    test_what_they_wrap_passes(tmp_path, transport, 2, form, size)


@pytest.mark.skipif("CI" in os.environ, reason="it rests on timing, and machines of CI are shared")
def test_credit_ignored_fails(tmp_path: Path) -> None:
    """A rank is two rounds ahead of another, and so fills a slot early, only from four ranks on."""
    rounds = ["--loop-upper", "25", "--loop-lower", "25"]
    words = ["--transport", CREDIT_IGNORED, "--min-size", "10", "--max-size", "10", *rounds]
    assert_all_failed(*run(tmp_path, 4, "b_eff", *words))


@pytest.mark.parametrize(
    "benchmark",
    ["mutant-b_eff-blind-rank", "mutant-b_eff-half-sighted", "mutant-b_eff-below-zero"],
)
@pytest.mark.parametrize("size", SIZES)
def test_blind_validator_fails(tmp_path: Path, benchmark: str, size: str) -> None:
    status, record = run(tmp_path, 2, benchmark, "--transport", "mpi", *SIZES[size])
    assert status == 1
    assert record["outcome"]["status"] == "failed"


@pytest.mark.parametrize(("ranks", "size"), [*RINGS, (1, "small"), (4, "small")])
@pytest.mark.parametrize("transport", ["mpi", "staged", "pipelined"])
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


# Emulated FPGAs take seconds for what others do in milliseconds: every form, every ring, but not each of each.
@pytest.mark.parametrize(
    ("form", "ranks", "size"),
    [
        ("exchange", 1, "small"),
        ("exchange", 2, "large"),
        ("exchange", 3, "small"),
        ("exchange", 4, "small"),
        ("ping-pong", 3, "small"),
        ("batched", 3, "small"),
    ],
)
def test_channel_passes(tmp_path: Path, form: str, ranks: int, size: str) -> None:
    test_what_they_wrap_passes(tmp_path, "channel", ranks, form, size)


@pytest.mark.parametrize("approach", PEER)
@pytest.mark.parametrize(
    ("form", "ranks", "words"),
    [
        *((form, 2, SIZES["large"]) for form in ("exchange", "ping-pong", "batched")),
        *(("exchange", ranks, words) for ranks, words in ODD_PEER),
    ],
)
def test_peer_passes(
    tmp_path: Path, approach: str, form: str, ranks: int, words: list[str]
) -> None:
    # A streaming lane has eight slots at most; a batch takes as many.
    chosen = ["--transport", "peer", "--approach", approach, "--form", form, "--batch", "4"]
    status, record = run(tmp_path, ranks, "b_eff", *chosen, *words)
    assert status == 0, record["outcome"]
    assert {case["outcome"]["status"] for case in record["cases"]} == {"passed"}


@pytest.mark.parametrize("form", ["exchange", "ping-pong", "batched"])
@pytest.mark.parametrize("transport", ["mutant-half-mpi", "mutant-round-lost-mpi"])
def test_rounds_are_counted(tmp_path: Path, transport: str, form: str) -> None:
    """Whatever the loop's length: on two ranks a message of two rounds before is the same again."""
    for rounds in ("8", "22") if form == "batched" else ("7", "22"):
        loops = ["--loop-lower", rounds, "--loop-upper", rounds, "--batch", "2"]
        words = ["--transport", transport, "--form", form, *loops, "--max-size", "2"]
        assert_all_failed(*run(tmp_path, 2, "b_eff", *words))


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
