"""Shallow water through the engine: any partition gives the same bits, cases, meshes of files, bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.launching import PATIENCE_S, ROOT, launch_command, program

ENGINE = program("plumb-mpi")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")
BAY = ROOT / "benchmarks/apps/shallow_water/bay-1696.14"


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none", "--preset", "smoke", "--repetitions", "2"]
    command, environment = launch_command(ranks, ENGINE, "shallow_water", *words, *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        (1, ("--order", "2")),
        (2, ("--order", "0", "--type", "double")),
        (3, ("--partitioner", "random", "--order", "1")),
        (4, ("--partitioner", "rcb", "--overlap", "off", "--friction", "linear", "--drag", "1e-4")),
        (8, ("--size", "1", "--order", "1")),
        (2, ("--transport", "staged", "--runtime", "opencl", "--order", "1")),
        (2, ("--transport", "peer", "--runtime", "opencl", "--order", "0")),
    ],
)
def test_every_partition_gives_the_same_bits(
    tmp_path: Path, ranks: int, words: tuple[str, ...]
) -> None:
    """The engine compares with the same kernels on the whole mesh, and with the reference."""
    status, record, said = run(tmp_path, ranks, *words, "--steps", "10")
    assert status == 0, said
    (case,) = record["cases"]
    facts = case["facts"]
    assert facts["compared_with_unpartitioned"] == (ranks > 1)
    assert facts["reference_steps"] == 10
    assert facts["reference_roundings_per_stage"] < 1
    parts = facts["partitions"]
    assert sum(part["elements"] for part in parts) == case["labels"]["elements"]
    assert sum(part["sent"] for part in parts) == sum(part["received"] for part in parts)


@pytest.mark.parametrize("case", ["tide", "rest", "closed", "manufactured", "annulus"])
def test_cases_pass(tmp_path: Path, case: str) -> None:
    status, record, said = run(
        tmp_path, 2, "--case", case, "--steps", "10", "--across", "8", "--type", "double"
    )
    assert status == 0, said
    facts = record["cases"][0]["facts"]
    if case in ("rest", "closed"):
        name = {"rest": "rest_roundings_per_stage", "closed": "volume_roundings_per_stage"}[case]
        assert facts[name] < 1


def test_few_steps_of_the_reference_are_said(tmp_path: Path) -> None:
    status, record, said = run(tmp_path, 2, "--steps", "20", "--reference-steps", "5")
    assert status == 0, said
    assert record["cases"][0]["facts"]["reference_steps"] == 5


def test_a_partition_of_a_file_and_its_graph(tmp_path: Path) -> None:
    """The graph is what ``plumb simulate --graph`` reads."""
    from plumbline.model.simulate.partition_graph import read_graph

    owners = tmp_path / "bay.part.2"
    owners.write_text("".join(f"{i * 2 // 1696}\n" for i in range(1696)))
    status, record, said = run(
        tmp_path, 2, "--partitioner", str(owners), "--steps", "5", "--mesh", str(BAY)
    )
    assert status == 0, said
    facts = record["cases"][0]["facts"]
    assert [part["elements"] for part in facts["partitions"]] == [848, 848]
    graph = tmp_path / "graph"
    graph.write_text(facts["graph"])
    assert len(read_graph(graph)) == 2


def test_an_unstable_step_is_an_error(tmp_path: Path) -> None:
    status, record, said = run(tmp_path, 2, "--cfl", "8", "--steps", "60", "--order", "0")
    assert status == 3, said
    outcome = record["cases"][0]["outcome"]
    assert outcome["status"] == "error"
    assert "of element" in outcome["reason"]
    assert "in step" in outcome["reason"]
    assert not record["cases"][0].get("metrics")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--mesh", "none.14"], "none.14: the file cannot be read"),
        (["--order", "3"], "--order"),
        (["--steps", "0"], "--steps"),
        (["--partitioner", "none"], "none: the file cannot be read"),
        (["--case", "annulus", "--mesh", "bay"], "--case annulus has a mesh of its own"),
        (["--tide", "M4"], "is not one of O1, K1, N2, M2, S2"),
        (["--mesh", "rectangle", "--across", "64", "--refine", "10"], "more than"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said


def test_a_line_of_a_bad_mesh_is_named(tmp_path: Path) -> None:
    lines = BAY.read_text().splitlines()
    lines[9] = "8 0 0 -1"
    bad = tmp_path / "bad.14"
    bad.write_text("\n".join(lines))
    status, _, said = run(tmp_path, 1, "--mesh", str(bad))
    assert status == 2
    assert "bad.14, line 10: the depth of vertex 8 is -1" in said
