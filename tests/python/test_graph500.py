"""Graph500 through the engine: counts of reference 3.0, levels beside SciPy's, its text form, bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from tests.launching import PATIENCE_S, launch_command, program

ENGINE = program("plumb-mpi")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none"]
    command, environment = launch_command(ranks, ENGINE, "graph500", *words, *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("ranks", "scale", "edges"), [(1, 12, 65327), (2, 10, 16239), (3, 8, 4011), (2, 14, 261818)]
)
def test_counts_are_the_references(tmp_path: Path, ranks: int, scale: int, edges: int) -> None:
    roots = "64" if scale < 14 else "8"
    words = ["--scale", str(scale), "--roots", roots, "--variant", "all", "--threads", "2"]
    status, record, said = run(tmp_path, ranks, *words, "--format", "none")
    assert status == 0, said
    assert {case["tallies"]["edges"] for case in record["cases"]} == {edges}
    levels: dict[int, set[tuple[int, int]]] = {}
    for case in record["cases"]:
        facts = case["facts"]
        levels.setdefault(facts["root"], set()).add((facts["levels"], facts["vertices_reached"]))
    assert all(len(found) == 1 for found in levels.values()), "equal for all variants"
    assert len(levels) == int(roots)


def test_levels_are_those_of_scipy(tmp_path: Path) -> None:
    path, scale = tmp_path / "edges", 10
    words = ["--scale", str(scale), "--edgefactor", "2", "--roots", "8", "--format", "none"]
    status, record, said = run(tmp_path, 3, *words, "--write-edges", str(path))
    assert status == 0, said
    edges = numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 2)
    weights = numpy.fromfile(f"{path}.weights", dtype=numpy.float32)
    assert len(edges) == len(weights) == 2 << scale
    assert 0 <= weights.min() < weights.max() <= 1
    ones = numpy.ones(len(edges))
    graph = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(1 << scale, 1 << scale)).tocsr()
    graph.data[:] = 1
    for case in record["cases"]:
        facts = case["facts"]
        levels = dijkstra(graph, directed=False, unweighted=True, indices=facts["root"])
        reached = numpy.isfinite(levels)
        assert facts["vertices_reached"] == reached.sum()
        assert facts["levels"] == levels[reached].max() + 1
        inside = edges[reached[edges[:, 0]]]
        assert case["tallies"]["edges_and_loops"] == len(inside)
        assert case["tallies"]["edges"] == (inside[:, 0] != inside[:, 1]).sum()


def test_fewer_roots_than_asked_for_are_said(tmp_path: Path) -> None:
    status, record, _ = run(tmp_path, 2, "--scale", "4", "--roots", "20", "--format", "none")
    outcomes = [case["outcome"] for case in record["cases"]]
    assert status == 0
    assert {one["status"] for one in outcomes} == {"passed", "unsupported"}
    assert "vertices to start from" in outcomes[-1]["reason"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scale", "0"], "--scale must be 1 to 32"),
        (["--scale", "33"], "vertices of more than 32 bits"),
        (["--scale", "huge"], "vertices of more than 32 bits"),
        (["--scale", "many"], "--scale must be 1 to 32"),
        (["--scale", "32"], "memory"),
        (["--edgefactor", "0"], "--edgefactor"),
        (["--seeds", "2"], "--seeds must be two whole numbers"),
        (["--roots", "0"], "--roots"),
        (["--threads", "0"], "--threads"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said
