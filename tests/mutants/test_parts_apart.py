"""Parts run no code of what they judge: beside a wrong transport, queue or kernel they are right.

Whatever such code does wrong, as a slow-down, cannot be in the expectation then.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.launching import PATIENCE_S, launch_command
from tests.mutants.test_kernels import vendor_environment
from tests.mutants.test_mutants import MUTANTS

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)
MEMORY = "ceilings only=memory/copy size=12"


def beside(
    folder: Path, ranks: int, device: str, *words: str, status: str | None = "failed"
) -> dict[str, Any]:
    """The record of a run with parts, whose cases all have this status, if one is given."""
    record = folder / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    command, environment = launch_command(ranks, MUTANTS, *words, *quiet, "--time-limit", "0.02")
    environment |= vendor_environment(device, ranks) if device != "native" else {}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert record.exists(), done.stderr
    found: dict[str, Any] = json.loads(record.read_text())
    outcomes = {case["outcome"]["status"] for case in found["cases"]}
    assert status is None or outcomes == {status}, found["cases"]
    return found


def altered_kernels(folder: Path, source: str, right: str, wrong: str) -> tuple[str, str]:
    """The option for a benchmark's kernels with one alteration."""
    text = (Path(__file__).parents[2] / "benchmarks" / source).read_text()
    assert right in text
    path = folder / "wrong.cl"
    path.write_text(text.replace(right, wrong))
    return "--kernel-file", str(path)


def assert_sound(record: dict[str, Any], benchmark: str) -> None:
    """Every part was measured and its answer is right."""
    parts = record["parts"]["cases"]
    assert {part["benchmark"] for part in parts} == {benchmark}
    for part in parts:
        assert part["outcome"]["status"] == "passed", part["outcome"]
        assert part["visits"]
        assert part["validation"]["wrong_items"] == 0


@pytest.mark.parametrize("transport", ["mutant-last-byte-staged", "mutant-nothing-staged"])
def test_parts_beside_a_wrong_transport(tmp_path: Path, transport: str) -> None:
    run = ("b_eff", "--runtime", "native", "--transport", transport, "--ring", "natural")
    parts = "links part=relay ring=natural sizes=64"
    sizes = ("--min-size", "6", "--max-size", "6")
    assert_sound(beside(tmp_path, 2, "native", *run, *sizes, "--parts", parts), "links")


def test_parts_beside_a_wrong_queue(tmp_path: Path) -> None:
    run = ("mutant-queues-stream", "--runtime", "native", "--elements", "1003")
    assert_sound(beside(tmp_path, 1, "native", *run, "--parts", MEMORY), "ceilings")


def test_parts_beside_a_wrong_kernel(tmp_path: Path) -> None:
    """The case's own kernel is that of the part, with one alteration."""
    right, wrong = "from[i] + (WORD)(key)", "from[i] - (WORD)(key)"
    altered = altered_kernels(tmp_path, "device/ceilings/ceilings.cl", right, wrong)
    run = ("ceilings", "--only", "memory/copy", "--size", "12")
    assert_sound(beside(tmp_path, 1, "pocl", *run, *altered, "--parts", MEMORY), "ceilings")


@pytest.mark.parametrize("ranks", [1, 2])
def test_parts_within_a_case(tmp_path: Path, ranks: int) -> None:
    """Between its repetitions, and in as many cases as name them; another is beside them."""
    run = ("stream", "--runtime", "native", "--elements", "4096", "--repetitions", "40")
    within = "ceilings only=memory/copy size=12 within=copy,scale"
    words = (*run, "--parts", f"{within}; ceilings only=memory/read size=12")
    record = beside(tmp_path, ranks, "native", *words, status="passed")
    assert_sound(record, "ceilings")
    copy, read = record["parts"]["cases"]
    assert [visit["within"] for visit in copy["visits"]] == ["copy", "scale"]
    for visit in copy["visits"]:
        assert len(visit["seconds"]) >= 2
        places = visit["after_repetitions"]
        assert (places[0], places[-1], len(places)) == (0, 40, len(visit["seconds"]))
        assert sorted(places) == places
    assert {visit["within"] for visit in read["visits"]} == {None}
    assert all(visit["after_repetitions"] == [] for visit in read["visits"])
    costs = [visit["cost_s"] for part in record["parts"]["cases"] for visit in part["visits"]]
    assert min(costs) > 0
    assert sum(costs) < record["parts"]["spent_s"] < record["parts"]["run_s"]


def test_parts_within_a_wrong_case_end_with_it(tmp_path: Path) -> None:
    """It fails before its first repetition, so nothing was measured between any."""
    run = ("mutant-queues-stream", "--runtime", "native", "--elements", "1003")
    record = beside(tmp_path, 2, "native", *run, "--parts", f"{MEMORY} within=copy,triad")
    (part,) = record["parts"]["cases"]
    assert part["outcome"]["status"] == "passed"
    assert part["visits"] == []


def test_parts_of_a_message_size_are_within_its_cases(tmp_path: Path) -> None:
    """In repetitions of as many operations; what belongs to the case alone has no case's name."""
    run = ("b_eff", "--runtime", "native", "--transport", "staged", "--ring", "natural")
    sizes = ("--min-size", "6", "--max-size", "7")
    parts = ("--parts", "links part=relay ring=natural sizes=64,128")
    record = beside(tmp_path, 2, "native", *run, *sizes, *parts, status="passed")
    assert_sound(record, "links")
    for number, (case, part) in enumerate(
        zip(record["cases"], record["parts"]["cases"], strict=True), start=1
    ):
        for visit in part["visits"]:
            assert (visit["after_cases"], visit["within"]) == (number, None)
            assert visit["count"] == case["count"]
            assert len(visit["seconds"]) >= 2


def test_parts_within_no_case_after_a_wrong_one(tmp_path: Path) -> None:
    """They stay prepared from case to case; scale fails before any repetition."""
    right, wrong = "STORE(&b[i], (DATA_TYPE)j", "STORE(&b[i], -(DATA_TYPE)j"
    altered = altered_kernels(tmp_path, "hpcc/stream/nd_range.cl", right, wrong)
    run = ("stream", "--elements", "4096", *altered)
    parts = ("--parts", f"{MEMORY} within=copy,scale,add")
    record = beside(tmp_path, 1, "pocl", *run, *parts, status=None)
    assert [case["key"] for case in record["cases"] if case["outcome"]["status"] != "passed"] == [
        "scale"
    ]
    assert_sound(record, "ceilings")
    (part,) = record["parts"]["cases"]
    assert [visit["within"] for visit in part["visits"]] == ["copy", "add"]


@pytest.mark.parametrize("within", ["", " within=copy,scale"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_parts_that_leave_out_repetitions_are_seen(tmp_path: Path, ranks: int, within: str) -> None:
    """Whether after the first repetition, or in the third alone, which is the fastest by its clock."""
    run = ("stream", "--runtime", "native", "--elements", "4096", "--repetitions", "400")
    limits = ("memory/copy", "flops/float")
    options = f"only={','.join(limits)} size=12 accumulators=4096"
    parts = f"mutant-repetitions-ceilings {options}{within}"
    record = beside(tmp_path, ranks, "native", *run, "--parts", parts, status="passed")
    outcomes = {part["key"]: part["outcome"] for part in record["parts"]["cases"]}
    ways = ("stale", "dead", "middle") if ranks == 1 else ("stale", "dead", "middle", "rank")
    assert set(outcomes) == {f"{way}/{key}" for way in ways for key in limits}
    assert {outcome["status"] for outcome in outcomes.values()} == {"failed"}, outcomes
