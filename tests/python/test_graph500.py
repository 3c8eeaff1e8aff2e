"""Graph500 through the engine: counts of reference 3.0, levels beside SciPy's, its text form, bad input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import shmem_engine
from plumbline.launch.launchers import LaunchRequest, plan_launch
from tests.launching import PATIENCE_S, ROOT, launch_command, program, record_of_killed

ENGINE = program("plumb-mpi")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")


def run(
    tmp_path: Path, ranks: int, *words: str, devices: bool = False
) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none"]
    command, environment = launch_command(ranks, ENGINE, "graph500", *words, *quiet)
    if devices:
        environment |= runtimes.environment("pocl", find_home(), devices=ranks)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("ranks", "scale", "edges"),
    [(1, 12, 65327), (2, 10, 16239), (3, 8, 4011), (7, 8, 4011), (8, 8, 4011), (2, 14, 261818)],
)
def test_counts_are_the_references(tmp_path: Path, ranks: int, scale: int, edges: int) -> None:
    words = ["--scale", str(scale), "--roots", "8", "--variant", "all", "--threads", "2"]
    status, record, said = run(tmp_path, ranks, *words, "--format", "none")
    assert status == 0, said
    assert {case["tallies"]["edges"] for case in record["cases"]} == {edges}
    levels: dict[int, set[tuple[int, int]]] = {}
    for case in record["cases"]:
        facts = case["facts"]
        levels.setdefault(facts["root"], set()).add((facts["levels"], facts["vertices_reached"]))
    assert all(len(found) == 1 for found in levels.values()), "equal for all variants"
    assert len(levels) == 8


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
        sizes = numpy.bincount(levels[reached].astype(int)).tolist()
        assert facts["level_vertices"] == sizes
        assert sum(facts["level_ends"]) == 2 * case["tallies"]["edges"]
        inside = edges[reached[edges[:, 0]]]
        assert case["tallies"]["edges_and_loops"] == len(inside)
        assert case["tallies"]["edges"] == (inside[:, 0] != inside[:, 1]).sum()


def lightest(edges: numpy.ndarray, weights: numpy.ndarray, vertices: int) -> Any:
    """The graph both ways, of repeated edges the lightest; SciPy takes a weight of zero as no edge."""
    ends = numpy.vstack([edges, edges[:, ::-1]])
    both = numpy.concatenate([weights, weights]).astype(numpy.float64)
    order = numpy.lexsort((both, ends[:, 1], ends[:, 0]))
    ends, both = ends[order], both[order]
    first = numpy.append(True, (ends[1:] != ends[:-1]).any(axis=1)) & (ends[:, 0] != ends[:, 1])
    assert both[first].min() > 0
    ends, both = ends[first], both[first]
    return coo_array((both, (ends[:, 0], ends[:, 1])), shape=(vertices, vertices)).tocsr()


def rounded(edges: numpy.ndarray, weights: numpy.ndarray, vertices: int, root: int) -> Any:
    """Least sums of weights, rounded to single precision after each: all edges relaxed until nothing changes."""
    distances = numpy.full(vertices, numpy.inf, dtype=numpy.float32)
    distances[root] = 0
    while True:
        before = distances.copy()
        numpy.minimum.at(distances, edges[:, 1], before[edges[:, 0]] + weights)
        numpy.minimum.at(distances, edges[:, 0], before[edges[:, 1]] + weights)
        if (distances == before).all():
            return distances


def hash_of(distances: numpy.ndarray) -> str:
    """As in the record: sum of a hash of each vertex and the bits of its distance."""
    word = numpy.arange(len(distances), dtype=numpy.uint64) << numpy.uint64(32)
    word |= distances.view(numpy.uint32).astype(numpy.uint64)
    word += numpy.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word >> numpy.uint64(shift))) * numpy.uint64(factor)
    return f"{(word ^ (word >> numpy.uint64(31))).sum():016x}"


def test_distances_are_those_of_scipy(tmp_path: Path) -> None:
    path, scale = tmp_path / "edges", 10
    words = ["--kernel", "sssp", "--variant", "all", "--scale", str(scale), "--edgefactor", "4"]
    words += ["--roots", "8", "--write-edges", str(path), "--format", "none"]
    status, record, said = run(tmp_path, 3, *words)
    assert status == 0, said
    edges = numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 2)
    weights = numpy.fromfile(f"{path}.weights", dtype=numpy.float32)
    graph = lightest(edges, weights, 1 << scale)
    for case in record["cases"]:
        root = case["facts"]["root"]
        distances = rounded(edges, weights, 1 << scale, root)
        numpy.testing.assert_allclose(distances, dijkstra(graph, indices=root), rtol=1e-5)
        assert case["facts"]["distances_hash"] == hash_of(distances), "to the last bit"
        assert case["facts"]["vertices_reached"] == numpy.isfinite(distances).sum()


def test_distances_are_equal_bits_for_any_variant_ranks_and_delta(tmp_path: Path) -> None:
    words = ["--kernel", "sssp", "--scale", "11", "--roots", "4", "--format", "none"]
    found: set[tuple[str, ...]] = set()
    for ranks, delta in ((1, "0.1"), (2, "0.03"), (4, "0.4")):
        status, record, said = run(tmp_path, ranks, *words, "--variant", "all", "--delta", delta)
        assert status == 0, said
        hashes = [case["facts"]["distances_hash"] for case in record["cases"]]
        found |= {tuple(hashes[:4]), tuple(hashes[4:])}
    assert len(found) == 1


def test_kernels_send_what_they_find(tmp_path: Path) -> None:
    """Over a port; the levels are those of exchanged bitmaps."""
    words = ["--variant", "device", "--scale", "9", "--roots", "2", "--transport", "peer"]
    levels = []
    for wanted in ("kernels", "bitmaps"):
        asked = [*words, "--discoveries", wanted, "--format", "none"]
        status, record, said = run(tmp_path, 2, *asked, devices=True)
        assert status == 0, said
        facts = [case["facts"] for case in record["cases"]]
        assert {one["discoveries"] for one in facts} == {f"by {wanted}"}
        levels.append([one["level_vertices"] for one in facts])
    assert levels[0] == levels[1]


def test_devices_have_the_hosts_rows_and_distances(tmp_path: Path) -> None:
    """Of the same roots: edges in the tree, levels, and the distances' bits."""
    words = ["--kernel", "both", "--scale", "9", "--roots", "3", "--format", "none"]
    found: set[str] = set()
    for ranks, variant in ((1, "bucketed"), (1, "device"), (2, "device")):
        status, record, said = run(
            tmp_path, ranks, *words, "--variant", variant, devices=variant == "device"
        )
        assert status == 0, said
        cases, phases = record["cases"], {one["phase"] for one in record["set_ups"]}
        assert phases == {"generation", "construction"}
        kept = ("root", "vertices_reached", "level_vertices", "level_ends", "distances_hash")
        facts = [{name: case["facts"].get(name) for name in kept} for case in cases]
        found.add(json.dumps([facts, [case["tallies"] for case in cases]]))
    assert len(found) == 1


def test_a_file_is_the_graph_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "edges"
    words = ["--scale", "8", "--roots", "3", "--kernel", "both", "--format", "none"]
    for kind in ("kronecker", "erdos-renyi"):
        of_kind = [*words, "--graph", kind, "--write-edges", str(path)]
        status, made, said = run(tmp_path, 2, *of_kind)
        assert status == 0, said
        status, read, said = run(tmp_path, 3, *words, "--graph", str(path))
        assert status == 0, said
        for one, other in zip(made["cases"], read["cases"], strict=True):
            assert one["tallies"] == other["tallies"]
            assert one["facts"].get("distances_hash") == other["facts"].get("distances_hash")


def write_chain(path: Path, weights: list[float]) -> None:
    """Vertices 0 - 1 - 2 ... of a graph of scale 3, joined by edges of these weights."""
    ends = numpy.array([[i, i + 1] for i in range(len(weights))], dtype=numpy.int64)
    ends.tofile(path)
    numpy.array(weights, dtype=numpy.float32).tofile(f"{path}.weights")


def test_weights_of_nothing_are_no_circle(tmp_path: Path) -> None:
    """Zero, and weights that rounding absorbs."""
    path = tmp_path / "edges"
    write_chain(path, [0.0, 0.0, 1.0, 1e-9, 1e-9, 0.0, 0.5])
    words = ["--graph", str(path), "--scale", "3", "--kernel", "sssp", "--roots", "8"]
    for ranks, variant in ((1, "bucketed"), (2, "bucketed"), (2, "device")):
        asked = [*words, "--variant", variant, "--format", "none"]
        status, record, said = run(tmp_path, ranks, *asked, devices=variant == "device")
        assert status == 0, said
        ended = [case for case in record["cases"] if case["outcome"]["status"] == "passed"]
        assert {case["facts"]["vertices_reached"] for case in ended} == {8}


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [([0.5, -1.0], "edge 1 has weight -1"), ([float("nan")], "edge 0 has weight nan")],
)
def test_wrong_weights_are_refused(tmp_path: Path, weights: list[float], sentence: str) -> None:
    path = tmp_path / "edges"
    write_chain(path, weights)
    words = ["--graph", str(path), "--scale", "3", "--kernel", "sssp"]
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges"
    write_chain(path, [1.0] * 7)
    for words, sentence in (
        (["--scale", "2"], "edge 3 has vertex 4, and --scale gives vertices 0 to 3"),
        (["--scale", "3", "--write-edges", "x"], "--write-edges writes edges that are made"),
    ):
        status, _, said = run(tmp_path, 1, "--graph", str(path), *words)
        assert status == 2, said
        assert sentence in said
    path.write_bytes(path.read_bytes()[:-1])
    for graph, sentence in ((path, "it is cut off"), (tmp_path / "none", "No such file")):
        status, _, said = run(tmp_path, 1, "--graph", str(graph), "--scale", "3")
        assert status == 2, said
        assert sentence in said


SHMEM = shmem_engine(os.environ)


@pytest.mark.skipif(SHMEM is None, reason="there is no plumb-shmem")
@pytest.mark.parametrize("ranks", [1, 3])
def test_over_openshmem(tmp_path: Path, ranks: int) -> None:
    """All its variants; counts and distances are those over MPI."""
    assert SHMEM is not None
    words = ["--kernel", "both", "--variant", "all", "--threads", "2", "--scale", "10"]
    words += ["--roots", "4", "--format", "none"]
    record = tmp_path / "shmem.json"
    launch = plan_launch(LaunchRequest(ranks, oversubscribe=True), SHMEM, os.environ)
    quiet = ["--record", str(record), "--progress", "none"]
    done = subprocess.run(
        launch.command(SHMEM.path, ["graph500", *words, *quiet]),
        env={**os.environ, **launch.environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cases = json.loads(record.read_text())["cases"]
    variants = {(case["labels"]["kernel"], case["labels"]["variant"]) for case in cases}
    of_bfs = {"put-atomic", "threaded", "bucketed", "direction-optimising"}
    assert variants == {*(("bfs", variant) for variant in of_bfs), ("sssp", "bucketed")}
    assert {case["tallies"]["edges"] for case in cases} == {16239}
    status, over_mpi, said = run(tmp_path, 2, *words)
    assert status == 0, said
    hashes = [
        {case["facts"].get("distances_hash") for case in some}
        for some in (cases, over_mpi["cases"])
    ]
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 1 + 4


ENGINES = {
    "Open MPI": ENGINE,
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin"))
    / "plumb-mpi",
    **({} if SHMEM is None else {"OpenSHMEM": SHMEM.path}),
}


@pytest.mark.parametrize("library", ENGINES)
def test_a_killed_rank_ends_the_run(tmp_path: Path, library: str) -> None:
    """Most of the time it is within a level; the searches before are in the record."""
    if not ENGINES[library].exists():
        pytest.skip(f"there is no {ENGINES[library]}")
    words = ("--variant", "put-atomic", "--scale", "14", "--roots", "1000")
    engine = ENGINES[library]
    record = record_of_killed(tmp_path, 2, "graph500", *words, finished=2, engine=engine)
    assert record["status"] in ("running", "aborted")
    assert {case["outcome"]["status"] for case in record["cases"]} == {"passed"}


@pytest.mark.skipif(SHMEM is None, reason="there is no plumb-shmem")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--variant messages", "--variant messages needs MPI"),
        ("--variant put-atomic --scale 22 --edgefactor 1", "give the symmetric heap more"),
    ],
)
def test_bad_input_over_openshmem(words: str, sentence: str) -> None:
    """The heap's 8 MiB are too few for the parents of 4 million vertices."""
    assert SHMEM is not None
    launch = plan_launch(LaunchRequest(1), SHMEM, os.environ)
    done = subprocess.run(
        launch.command(SHMEM.path, ["graph500", *words.split(), "--record", "none"]),
        env={**os.environ, **launch.environment, "SHMEM_SYMMETRIC_HEAP_SIZE": "8M"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr


def test_messages_need_mpi(tmp_path: Path) -> None:
    serial = program("plumb-serial")
    for words in (["--variant", "messages"], ["--kernel", "sssp", "--variant", "messages"]):
        done = subprocess.run(
            [str(serial), "graph500", *words, "--record", "none"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 2
        assert "--variant messages needs MPI" in done.stderr


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
        (["--kernel", "sssp", "--delta", "0"], "--delta"),
        (["--kernel", "sssp", "--delta", "-1"], "--delta"),
        (["--kernel", "sssp", "--variant", "put-atomic"], "--kernel sssp has the variants"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said
