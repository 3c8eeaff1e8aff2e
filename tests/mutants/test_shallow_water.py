"""Shallow water: every wrong exchange and step comes out ``failed``, over right and wrong transports; what is right passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.kernel_mutants import KernelMutant
from tests.mutants.kernels.shallow_water import STAYS_TWO
from tests.mutants.test_kernels import run as run_kernel
from tests.mutants.test_mutants import MUTANTS, Run, launch

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

WRONG = (
    *("halo-one-stage-old", "halo-old-once", "message-lost-once", "last-element-not-sent"),
    *("tide-phase-dropped", "step-skipped", "stage-skipped", "border-before-wait"),
    "station-of-another-place",
)
TRANSPORTS = ("flip-50", "nothing", "stale", "last-byte")
BY_KERNELS = ("buffered", "streaming")


def run_of(name: str = "", transport: str = "mpi", approach: str = "", **options: str) -> Run:
    usual = {"steps": "12", "order": "1", "partitioner": "rcb"}
    benchmark = f"mutant-shallow-water-{name}" if name else "shallow_water"
    where = {"transport": transport, "approach": approach}
    return {"benchmark": benchmark, **where, "options": {**usual, **options}}


@pytest.mark.parametrize(
    ("ranks", "over", "approach"),
    [
        *((ranks, "mpi", "") for ranks in (2, 3)),
        (2, "staged", ""),
        (2, "peer", "host-buffered"),
        *(
            pytest.param(*one, marks=pytest.mark.soak)
            for one in (
                *((ranks, "pipelined", "") for ranks in (2, 3)),
                (3, "staged", ""),
                (3, "peer", "host-buffered"),
                *((ranks, "peer", f"device-{how}") for ranks in (2, 3) for how in BY_KERNELS),
            )
        ),
    ],
)
def test_what_is_wrong_fails(tmp_path: Path, ranks: int, over: str, approach: str) -> None:
    def of(name: str = "", transport: str = over, **options: str) -> Run:
        return run_of(name, transport, approach, **options)

    names = [*WRONG, *(["neighbours-swapped"] if ranks > 2 else [])]
    if over == "peer":  # neighbours put into this rank's memory by themselves, perhaps in time
        names.remove("border-before-wait")
    wrong = [of(name) for name in names]
    wrong += [
        of(transport=f"mutant-{one}-{over}")
        for one in TRANSPORTS[: 2 if over == "pipelined" else 4]
    ]
    wrong += [of("halo-old-once", order="0", type="double")]
    right = [of(), of(overlap="off"), of(order="2", type="double")]
    found = [one["status"] for one in launch(tmp_path, ranks, wrong + right)]
    wanted = ["failed"] * len(wrong) + ["passed"] * len(right)
    assert found == wanted, list(zip([*wrong, *right], found, strict=True))


def test_an_order_left_out_between_queues_fails(tmp_path: Path) -> None:
    """Of queues that run as late as the others allow; in the right order they give the same bits."""
    orders = ("core-beside-border", "border-beside-core", "sent-before-packed")
    names = [*orders, "late-core", "late-border"]
    runs = [run_of(name, "staged", order=order) for name in names for order in "01"]
    found = [one["status"] for one in launch(tmp_path, 2, runs)]
    wanted = ["failed"] * 2 * len(orders) + ["passed"] * 4
    assert found == wanted, list(zip(runs, found, strict=True))


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.soak)])
def test_a_border_with_its_own_queue_has_the_same_bits(tmp_path: Path, ranks: int) -> None:
    """As on GPUs, over transports that the host serves and those whose kernels precede it."""
    over = [("staged", ""), ("pipelined", ""), ("peer", "host-buffered")]
    over += [("peer", f"device-{how}") for how in BY_KERNELS]
    runs = [run_of("border-apart", *one, order=order) for one in over for order in "02"]
    found = [one["status"] for one in launch(tmp_path, ranks, runs)]
    assert found == ["passed"] * len(runs), list(zip(runs, found, strict=True))


def test_only_the_analytic_tide_sees_what_turns_late(tmp_path: Path) -> None:
    """After the reference's steps, on one rank: 384 elements may be off by 64 times 1 degree, not by 180."""
    options = {"case": "annulus", "across": "8", "cfl": "0.9", "hours": "124.3"}
    options |= {"type": "double", "reference-steps": "10"}
    names = ("tide-turned-late", "")
    found = launch(tmp_path, 1, [run_of(name, **options) for name in names])
    assert [one["status"] for one in found] == ["failed", "passed"], found


def test_waves_as_small_as_elements_pass(tmp_path: Path) -> None:
    """The start's slopes are as large as its means, so that the first stages round most."""
    small = [
        run_of(mesh="rectangle", across=across, steps="2", order=order, type=kind)
        for across in ("3", "6")
        for order in "012"
        for kind in ("float", "double")
    ]
    found = launch(tmp_path, 1, small)
    assert [one["status"] for one in found] == ["passed"] * len(small), found


# A receiver that takes a message only when the next one has arrived. The rank that sends less, so that the other never waits.
SLOW = KernelMutant(
    "slow-receiver",
    "benchmarks/apps/shallow_water/persistent.cl",
    "PORT_RECEIVE(i);",
    "PORT_RECEIVE(i);\n    if (sent < received && i + 1 < stages) {\n      AWAIT(port.flags.arrived, port.arrived + 1);\n    }",
    (
        *STAYS_TWO,
        "--partitioner",
        "random",
        "--mesh",
        "rectangle",
        "--across",
        "12",
        "--steps",
        "4",
    ),
    ranks=2,
    variables={"POCL_MAX_PTHREAD_COUNT": "2", "POCL_CPU_MAX_CU_COUNT": "2"},
)
# All messages land in the first place, and are taken from it.
ONE_PLACE = "PORT_OPEN;\n#undef PLACES\n#define PLACES 1\n  port.in.areas = 1;"


@pytest.mark.parametrize("credit", [True, False])
def test_a_persistent_kernel_needs_credit(tmp_path: Path, credit: bool) -> None:
    """The second place is the credit for the next message: with one, a slow receiver takes that instead of its own."""
    kernel = SLOW.write(tmp_path)
    if not credit:
        text = kernel.read_text()
        assert text.count("PORT_OPEN;") == 1
        kernel.write_text(text.replace("PORT_OPEN;", ONE_PLACE))
    words = ("shallow_water", *SLOW.words, "--kernel-file", str(kernel))
    status, record, said = run_kernel(tmp_path, SLOW, *words)
    (case,) = record["cases"]
    sizes = [(part["sent"], part["received"]) for part in case["facts"]["partitions"]]
    assert sizes[0] != sizes[0][::-1], "no rank sends less, so none is slow"
    assert case["outcome"]["status"] == ("passed" if credit else "failed"), (case["outcome"], said)
    assert status == (0 if credit else 1)
