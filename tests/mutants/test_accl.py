"""Engines of ACCL made wrong must come out `failed`; right ones must see a network's faults: `error`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, Run, launch, run_of

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

BUFFERED, STREAMING = "host-buffered", "host-streaming"
OPERANDS = {"accl_operands": "streams"}  # out of a stream, into receive buffers
BY_KERNELS, STREAMS_OF_KERNELS, HLS = "device-buffered", "device-streaming", {"runtime": "hls"}
# Sizes as log2: of two segments and more, and of a rendezvous.
SEGMENTS, RENDEZVOUS, BYTES = ("12", "13"), ("16", "17"), ("0", "3")


def wish(transport: str, approach: str, sizes: tuple[str, str], **more: str) -> Run:
    """One run; ``more`` are options of the transport."""
    run = run_of(transport, approach, "exchange", "small", 9)
    run["options"] |= {"min-size": sizes[0], "max-size": sizes[1]}
    return run | {"transport_options": {name.replace("_", "-"): v for name, v in more.items()}}


def assert_all(found: list[dict], status: str, runs: list[Run], reason: str = "") -> None:
    """Every case of every run came to ``status``."""
    for run, one in zip(runs, found, strict=True):
        assert {outcome["status"] for outcome in one["outcomes"]} == {status}, (run, one)
        assert all(reason in (outcome["reason"] or "") for outcome in one["outcomes"]), (run, one)


WRONG = [
    *(
        wish(f"wrong-{name}-{base}", approach, sizes)
        for base in ("accl-udp", "accl-tcp")
        for name, approach, sizes in (
            ("sequence-ignored", BUFFERED, SEGMENTS),
            ("sequence-ignored", STREAMING, SEGMENTS),
            ("last-word", BUFFERED, BYTES),
            ("last-word", STREAMING, BYTES),
            ("stream", STREAMING, SEGMENTS),
            ("freed-early", BUFFERED, SEGMENTS),
            ("freed-early", BUFFERED, BYTES),
        )
    ),
    *(
        wish(f"wrong-{name}-{base}", BUFFERED, sizes, **OPERANDS)
        for base in ("accl-udp", "accl-tcp")
        for name, sizes in (
            ("result", SEGMENTS),
            ("result", BYTES),
            ("sequence-ignored", SEGMENTS),
            ("last-word", BYTES),
            ("freed-early", SEGMENTS),
            ("freed-early", BYTES),
        )
    ),
    wish("wrong-doubled-taken-accl-tcp", BUFFERED, ("12", "12"), accl_credit="off"),
    wish("wrong-doubled-taken-accl-tcp", BUFFERED, ("12", "12"), accl_credit="off", **OPERANDS),
    wish("mutant-receives-reversed-wrong-tag-ignored-accl-tcp", BUFFERED, SEGMENTS),
    wish("mutant-receives-reversed-wrong-tag-ignored-accl-tcp", BUFFERED, SEGMENTS, **OPERANDS),
    wish("wrong-early-end-accl-tcp", BUFFERED, RENDEZVOUS),
    # Scheduled by kernels, in HLS C++.
    *(
        wish(f"wrong-{name}-{base}", approach, sizes) | HLS
        for base, name, approach, sizes in (
            ("accl-udp", "sequence-ignored", BY_KERNELS, SEGMENTS),
            ("accl-tcp", "freed-early", BY_KERNELS, SEGMENTS),
            ("accl-tcp", "early-end", BY_KERNELS, RENDEZVOUS),
            ("accl-udp", "last-word", STREAMS_OF_KERNELS, BYTES),
            ("accl-tcp", "stream", STREAMS_OF_KERNELS, SEGMENTS),
        )
    ),
    wish("wrong-freed-early-accl-udp", BY_KERNELS, SEGMENTS, **OPERANDS) | HLS,
    # Of one word: kernels that have each other's words of longer messages may wait for each other.
    wish("wrong-result-accl-tcp", BY_KERNELS, BYTES, **OPERANDS) | HLS,
]
SOUND = [
    *(
        wish(base, approach, sizes) | HLS
        for base in ("accl-udp", "accl-tcp")
        for approach in (BY_KERNELS, STREAMS_OF_KERNELS)
        for sizes in (BYTES, RENDEZVOUS)
    ),
    *(
        wish(base, BUFFERED, sizes)
        for base in ("accl-udp", "accl-tcp")
        for sizes in (SEGMENTS, BYTES)
    ),
    *(wish(base, STREAMING, SEGMENTS) for base in ("accl-udp", "accl-tcp")),
    wish("accl-tcp", BUFFERED, RENDEZVOUS),
    wish("mutant-receives-reversed-accl-tcp", BUFFERED, SEGMENTS),
    wish("mutant-receives-reversed-accl-tcp", BUFFERED, SEGMENTS, **OPERANDS),
]


def test_wrong_engines_fail_and_right_ones_pass(tmp_path: Path) -> None:
    found = launch(tmp_path, 2, [*WRONG, *SOUND])
    assert_all(found[: len(WRONG)], "failed", WRONG)
    assert_all(found[len(WRONG) :], "passed", SOUND)


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_a_network_loses_doubles_or_swaps_is_an_error(tmp_path: Path, ranks: int) -> None:
    """And the next run passes: the engines begin again."""
    runs = [
        run
        for base in ("accl-udp", "accl-tcp")
        for name in ("lost", "doubled", "swapped")
        for approach, more in ((BUFFERED, {}), (STREAMING, {}), (BUFFERED, OPERANDS))
        for run in (
            wish(f"faulty-{name}-{base}", approach, SEGMENTS, **more),
            wish(base, approach, BYTES, **more),
        )
    ]
    found = launch(tmp_path, ranks, runs)
    assert_all(found[::2], "error", runs[::2], "from rank")
    assert_all(found[1::2], "passed", runs[1::2])


def test_an_early_end_and_a_full_receiver_are_errors(tmp_path: Path) -> None:
    runs = [
        wish("faulty-early-end-accl-tcp", BUFFERED, RENDEZVOUS),
        # More than the socket's memory, sent while nothing is received.
        wish("faulty-stalling-accl-udp", BUFFERED, ("23", "23"), accl_credit="off"),
    ]
    ended, full = launch(tmp_path, 2, runs)
    assert_all([ended], "error", runs[:1], "ended a message after")
    assert_all([full], "error", runs[1:], "rank")


def test_kernels_of_emulated_fpgas_schedule(tmp_path: Path) -> None:
    """The port in OpenCL C, whose io channels lead to the engine."""
    runs = [
        wish("accl-tcp", BY_KERNELS, BYTES),
        wish("accl-tcp", BY_KERNELS, ("10", "11"), **OPERANDS),
        wish("accl-udp", STREAMS_OF_KERNELS, ("10", "11")),
    ]
    runs = [run | {"runtime": "opencl"} for run in runs]
    assert_all(launch(tmp_path, 2, runs), "passed", runs)


@pytest.mark.parametrize("ranks", [1, 5])
def test_it_passes_on_ranks(tmp_path: Path, ranks: int) -> None:
    runs = [
        wish(base, approach, sizes)
        for base in ("accl-udp", "accl-tcp")
        for approach in (BUFFERED, STREAMING)
        for sizes in (BYTES, RENDEZVOUS)
    ] + [wish("accl-tcp", approach, BYTES) | HLS for approach in (BY_KERNELS, STREAMS_OF_KERNELS)]
    runs += [
        wish(base, BUFFERED, sizes, **OPERANDS)
        for base in ("accl-udp", "accl-tcp")
        for sizes in (BYTES, RENDEZVOUS)
    ] + [wish("accl-tcp", BY_KERNELS, BYTES, **OPERANDS) | HLS]
    assert_all(launch(tmp_path, ranks, runs), "passed", runs)
