"""Shallow water through the engine: any partition gives the same bits, cases, meshes of files, bad input."""

from __future__ import annotations

import csv
import itertools
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Plumb

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.record.mesh import read_mesh, read_owners
from tests.launching import PATIENCE_S, ROOT, launch_command, program, record_of_killed

ENGINE, SHMEM = program("plumb-mpi"), program("plumb-shmem")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")
BAY = ROOT / "benchmarks/apps/shallow_water/bay-1696.14"


def run(
    tmp_path: Path,
    ranks: int,
    *words: str,
    keep: bool = True,
    patience_s: float = PATIENCE_S,
    repetitions: int = 2,
    engine: Path = ENGINE,
    **variables: str,
) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = [
        "--record",
        str(path) if keep else "none",
        "--progress",
        "none",
        "--preset",
        "smoke",
        "--repetitions",
        str(repetitions),
    ]
    command, environment = launch_command(ranks, engine, "shallow_water", *words, *quiet)
    done = subprocess.run(
        command,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=patience_s,
        check=False,
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
        (3, ("--size", "2", "--order", "1", "--coarse-elements", "500")),
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


# Every partition, and way of messages, of the soak test below; the last is a METIS .part file.
WAYS = {
    "mpi": ("--runtime", "native", "--transport", "mpi"),
    **({"shmem": ("--runtime", "native", "--transport", "shmem")} if SHMEM.exists() else {}),
    **{
        f"{transport} {runtime}": ("--runtime", runtime, "--transport", transport)
        for transport in ("staged", "pipelined")
        for runtime in ("native", "opencl")
    },
    **{
        f"peer {approach}": (
            *("--runtime", "opencl", "--transport", "peer"),
            *("--approach", approach),
        )
        for approach in ("host-buffered", "device-buffered", "device-streaming")
    },
}
FACTORS: tuple[tuple[Any, ...], ...] = (
    (1, 2, 3, 4, 8),
    ("metis", "rcb", "random", "file"),
    tuple(WAYS),
    ("0", "1", "2"),
    ("float", "double"),
)


def pairs_of(row: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    """Every two of the row's values, with their places."""
    return set(itertools.combinations(enumerate(row), 2))


def covering() -> list[tuple[Any, ...]]:
    """Rows of one value of each factor, so that every two values of different factors share a row."""
    rows = list(itertools.product(*FACTORS))
    random.Random(1).shuffle(rows)
    left, chosen = set().union(*map(pairs_of, rows)), []
    while left:
        chosen.append(max(rows, key=lambda row: len(pairs_of(row) & left)))
        left -= pairs_of(chosen[-1])
    return chosen


@pytest.mark.soak
@pytest.mark.parametrize(("order", "type_"), list(itertools.product(*FACTORS[3:])))
def test_partitions_and_transports_have_the_same_states(
    tmp_path: Path, order: str, type_: str
) -> None:
    """Ranks, partitioners and transports of a covering choice: all elements of a runtime bit for bit."""
    owners = tmp_path / "bay.part"
    states: dict[str, set[bytes]] = {}
    for number, (ranks, partitioner, way, *form) in enumerate(covering()):
        if form != [order, type_]:
            continue
        owners.write_text("".join(f"{i * ranks // 1696}\n" for i in range(1696)))
        folder = tmp_path / str(number)
        folder.mkdir()
        words = (*WAYS[way], "--order", order, "--type", type_, "--steps", "10")
        words += ("--partitioner", str(owners) if partitioner == "file" else partitioner)
        words += ("--snapshots", "1", "--timeout", str(PATIENCE_S))
        engine = SHMEM if way == "shmem" else ENGINE
        status, record, said = run(folder, ranks, *words, repetitions=1, engine=engine)
        assert status == 0, (words, said)
        facts = record["cases"][0]["facts"]
        assert facts["compared_with_unpartitioned"] == (ranks > 1)
        assert len(facts["partitions"]) == ranks
        runtime = WAYS[way][1]
        states.setdefault(runtime, set()).add((folder / facts["files"]["states.npy"]).read_bytes())
    assert states
    assert all(len(seen) == 1 for seen in states.values())


def test_parts_that_ranks_refine_are_those_of_the_whole_mesh(tmp_path: Path) -> None:
    """The mesh, the partition and all states, beside one rank that partitions all elements."""
    found = []
    for ranks, coarse in ((1, "100000"), (3, "500")):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        words = ("--size", "3", "--order", "1", "--steps", "4", "--snapshots", "1")
        status, record, said = run(folder, ranks, *words, "--coarse-elements", coarse)
        assert status == 0, said
        facts = record["cases"][0]["facts"]
        found.append(
            [(folder / facts["files"][name]).read_bytes() for name in ("states.npy", "mesh.14")]
        )
        assert facts["partitioned_elements"] == (13568 if ranks == 1 else 3392)
        assert 0 < facts["ready_s"] < PATIENCE_S
    assert found[0] == found[1]
    owners = read_owners(folder / facts["files"]["part"], 13568)
    assert [part["elements"] for part in facts["partitions"]] == np.bincount(owners).tolist()
    assert (owners.reshape(-1, 4) == owners[::4, None]).all()


def test_schedules_and_layouts_have_the_same_elements(tmp_path: Path) -> None:
    """Level and velocities of each element after ten steps: all within roundings, those of one layout bit for bit."""
    units = {"POCL_MAX_PTHREAD_COUNT": "4", "POCL_CPU_MAX_CU_COUNT": "4"}
    states: dict[str, list[Any]] = {"apart": [], "together": []}
    for layout, found in states.items():
        for schedule in ("host", "device"):
            folder = tmp_path / f"{layout}-{schedule}"
            folder.mkdir()
            words = (
                "--layout",
                layout,
                "--schedule",
                schedule,
                "--steps",
                "10",
                "--snapshots",
                "1",
            )
            words += ("--runtime", "opencl", "--transport", "peer", "--order", "1")
            status, record, said = run(folder, 2, *words, repetitions=1, **units)
            assert status == 0, said
            facts = record["cases"][0]["facts"]
            assert (facts["layout"], facts["schedule"]) == (layout, schedule)
            assert facts["compared_with_unpartitioned"]
            found.append(np.load(folder / facts["files"]["states.npy"])[-1])
        assert np.abs(found[0]).max() > 0.1
        assert (found[0] == found[1]).all(), layout
    assert np.abs(states["apart"][0] - states["together"][0]).max() < 1e-5


# Stream out, buffer in.
OUT_OF_STREAMS = ("--approach", "device-buffered", "--accl-operands", "streams")
SMALL = ("--mesh", "rectangle", "--across", "6", "--steps", "2")


@pytest.mark.parametrize(
    ("runtime", "ranks", "words"),
    [
        ("fpga-emulator", 2, (*SMALL, "--transport", "staged", "--order", "1", "--overlap", "off")),
        ("fpga-emulator", 2, (*SMALL, "--transport", "channel", "--order", "0")),
        ("hls", 4, ("--transport", "channel", "--order", "2", "--type", "double")),
        ("hls", 3, ("--transport", "staged", "--order", "1")),
        ("hls", 3, (*OUT_OF_STREAMS, "--transport", "accl-udp", "--order", "1")),
        ("fpga-emulator", 2, (*SMALL, *OUT_OF_STREAMS, "--transport", "accl-tcp", "--order", "0")),
        ("hls", 2, (*SMALL, "--transport", "channel", "--order", "1", "--case", "manufactured")),
        *(
            pytest.param(
                *("fpga-emulator", ranks),
                ("--transport", transport, "--order", order, "--type", type_),
                marks=pytest.mark.soak,
            )
            for ranks in (1, 2, 3, 4)
            for transport in ("staged", "channel")
            for order in "012"
            for type_ in ("float", "double")
        ),
    ],
)
def test_kernels_joined_by_channels_give_the_same_bits(
    tmp_path: Path, runtime: str, ranks: int, words: tuple[str, ...]
) -> None:
    """The form for FPGAs: the whole mesh without messages, and parts with them."""
    variables, name = {}, runtime
    if runtime == "fpga-emulator":
        if not runtimes.is_installed(runtime, find_home()):
            pytest.skip(f"{runtime} is not installed (plumb setup {runtime})")
        variables, name = runtimes.environment(runtime, find_home(), ranks), "opencl"
    status, record, said = run(
        tmp_path, ranks, "--steps", "6", *words, "--runtime", name, **variables
    )
    assert status == 0, said
    (case,) = record["cases"]
    facts = case["facts"]
    assert facts["variant"] == "single_work_item"
    assert facts["streamed"] == (ranks > 1 and ("channel" in words or "--approach" in words))
    (share,) = (one["value"] for one in case["metrics"] if one["name"] == "communication")
    assert 0 <= share < 100
    if facts["streamed"]:
        assert facts["without_exchange_s"] > 0
    assert facts["compared_with_unpartitioned"] == (ranks > 1)
    assert facts["reference_roundings_per_stage"] < 1


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


def test_figures_follow_from_the_step_and_the_mesh(tmp_path: Path) -> None:
    """Rates of all elements without redundant work; bytes of both stages; a step of one's own."""
    words = ("--order", "1", "--time-step", "2", "--steps", "10")
    status, record, said = run(tmp_path, 2, *words)
    assert status == 0, said
    (case,) = record["cases"]
    facts = case["facts"]
    found = {one["name"]: one["value"] for one in case["metrics"]}
    step_s = case["summary"]["min_s"] / 10
    assert (facts["time_step_s"], facts["stages"]) == (2, 2)
    assert found["time_step"] == pytest.approx(1e6 * step_s)
    assert found["steps"] == pytest.approx(1 / step_s)
    assert found["updates"] == pytest.approx(1696 * 2 / step_s / 1e6)
    flops = facts["flops_per_element_and_step"]
    assert found["flops"] == pytest.approx(1696 * flops / step_s / 1e9)
    assert found["flops_printed"] == pytest.approx(found["flops"] * 378 / flops)
    assert found["simulated"] == pytest.approx(2 / step_s)
    assert found["bytes"] == 2 * 9 * 4 * sum(part["sent"] for part in facts["partitions"])
    waits = np.array(case["phases"]["wait"]["by_rank"]).max(axis=1).max()
    assert 0 < found["communication"] <= 100 * waits / case["summary"]["min_s"]


def test_degrees_are_projected(tmp_path: Path) -> None:
    """A square of a degree at the equator: its sides, and so its steps, are those of 111 km."""
    square = (
        "title\n2 4\n1 0 0 5\n2 {side} 0 5\n3 {side} {side} 5\n4 0 {side} 5\n1 3 1 2 3\n2 3 1 3 4\n"
        "1\n2\n2\n1\n2\n1\n4\n4 0\n2\n3\n4\n1\n"
    )
    steps = []
    for side, words in ((1, ("--degrees",)), (6378206.4 * np.pi / 180, ())):
        path = tmp_path / "square.14"
        path.write_text(square.format(side=side))
        few = ("--mesh", str(path), "--refine", "3", "--steps", "3")
        status, record, said = run(tmp_path, 1, *few, *words)
        assert status == 0, said
        steps.append(record["cases"][0]["facts"]["time_step_s"])
    assert steps[0] == pytest.approx(steps[1], rel=1e-4)


def test_a_persistent_kernel_needs_to_know_what_is_resident(tmp_path: Path) -> None:
    words = ("--schedule", "device", "--runtime", "native", "--steps", "3")
    _, record, said = run(tmp_path, 2, *words)
    outcome = record["cases"][0]["outcome"]
    assert outcome["status"] == "unsupported", said
    assert "a persistent kernel is OpenCL C" in outcome["reason"]


def test_messages_over_openshmem(tmp_path: Path) -> None:
    """The world whose transport puts into the neighbour's places."""
    if not SHMEM.exists():
        pytest.skip("plumb-shmem is not built: no OpenSHMEM was found")
    words = ("--transport", "shmem", "--order", "1", "--steps", "6", "--partitioner", "random")
    status, record, said = run(tmp_path, 3, *words, engine=SHMEM)
    assert status == 0, said
    (case,) = record["cases"]
    assert record["transport"]["name"] == "shmem"
    assert case["facts"]["compared_with_unpartitioned"]


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


@pytest.mark.parametrize(("ranks", "type_", "limit"), [(2, "float", 1e-4), (1, "double", 1e-10)])
def test_stations_see_the_tide_of_a_day(
    tmp_path: Path, ranks: int, type_: str, limit: float
) -> None:
    """Each simulated hour, beside the reference in each step, as files beside the record."""
    words = ["--case", "tide", "--hours", "24", "--cfl", "0.9", "--order", "0", "--type", type_]
    status, record, said = run(
        tmp_path, ranks, *words, "--reference-steps", "100000", "--snapshots", "6"
    )
    assert status == 0, said
    (case,) = record["cases"]
    facts, steps = case["facts"], case["labels"]["steps"]
    files = {name: tmp_path / file for name, file in facts["files"].items()}
    assert set(files) == {"stations.csv", "graph", "mesh.14", "part", "states.npy"}
    with files["stations.csv"].open() as lines:
        rows = list(csv.DictReader(lines))
    tide = 0.07 + 0.09 + 0.10 + 0.39 + 0.06
    for station in "1234":
        of = [row for row in rows if row["station"] == station]
        reference = {row["step"]: row for row in of if row["source"] == "reference"}
        device = [row for row in of if row["source"] == "device"]
        assert len(reference) == steps + 1
        hours = {int(float(row["t_s"]) // 3600) for row in device}
        assert hours == set(range(25))
        for row in device:
            assert (
                abs(float(row["level_m"]) - float(reference[row["step"]]["level_m"])) < limit * tide
            )
        levels = [float(row["level_m"]) for row in device]
        assert max(levels) - min(levels) > 0.1
    assert 0 <= facts["stations_off_tide"] <= limit
    states = np.load(files["states.npy"])
    assert states.shape == (7, 1696, 3)
    assert len(facts["snapshot_steps"]) == 7
    element = facts["stations"][0]["element"] - 1
    last = [row for row in rows if (row["station"], row["source"]) == ("1", "device")][-1]
    seen = [float(last[name]) for name in ("level_m", "u_m_s", "v_m_s")]
    assert states[-1, element] == pytest.approx(seen, rel=1e-5)
    mesh = read_mesh(files["mesh.14"])
    assert (mesh.corners == read_mesh(BAY).corners).all()
    owners = read_owners(files["part"], 1696)
    assert [part["elements"] for part in facts["partitions"]] == np.bincount(owners).tolist()
    assert files["graph"].read_text() == facts["graph"]


def test_a_station_of_ones_own_and_no_record(tmp_path: Path) -> None:
    status, record, said = run(tmp_path, 2, "--station", "30000,40000;60000,20000", "--steps", "4")
    assert status == 0, said
    facts = record["cases"][0]["facts"]
    assert [(one["x_m"], one["y_m"]) for one in facts["stations"]] == [
        (30000, 40000),
        (60000, 20000),
    ]
    assert set(facts["files"]) == {"stations.csv", "graph"}
    before = set(tmp_path.iterdir())
    status, _, said = run(tmp_path, 2, "--steps", "4", "--snapshots", "2", keep=False)
    assert status == 0, said
    assert set(tmp_path.iterdir()) == before


def test_a_run_is_simulated_by_its_graph(tmp_path: Path, home: Path, plumb: Plumb) -> None:
    status, record, said = run(tmp_path, 3, "--steps", "4")
    assert status == 0, said
    words = ("simulate", "shallow_water", "--system", "noctua2-u280", "--graph")
    graph = tmp_path / record["cases"][0]["facts"]["files"]["graph"]
    by_record, by_file = (plumb(*words, str(path)) for path in (tmp_path / "record.json", graph))
    assert by_record == by_file
    assert "1696 elements, 10 steps, a graph of 3 partitions" in by_record[1]


@pytest.mark.parametrize(
    ("across", "amplitude", "degrees"),
    [(12, 0.02, 1), pytest.param(64, 0.002, 0.1, marks=pytest.mark.soak)],
)
def test_a_tide_in_a_ring_is_the_analytic_one(
    tmp_path: Path, across: int, amplitude: float, degrees: float
) -> None:
    """Lynch and Gray 1979, p = 1, over 10 periods. The engine allows 24,576 elements 2 % and 1 degree."""
    words = ["--case", "annulus", "--across", str(across), "--cfl", "0.9", "--hours", "124.3"]
    words += ["--runtime", "native", "--type", "double", "--reference-steps", "10"]
    status, record, said = run(
        tmp_path, 1, *words, "--timeout", "3600", patience_s=3600, repetitions=1
    )
    assert status == 0, said
    facts = record["cases"][0]["facts"]
    assert record["cases"][0]["labels"]["elements"] == 6 * across**2
    assert 0 < facts["tide_amplitude_off"] < amplitude
    assert 0 < facts["tide_phase_off_degrees"] < degrees


@pytest.mark.parametrize(
    "words",
    [
        ("--runtime", "native", "--transport", "mpi"),
        ("--runtime", "opencl", "--transport", "peer"),
    ],
)
def test_a_killed_rank_ends_the_run(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Its neighbour waits for a message that never comes, in a sample of many steps."""
    long = ("--steps", "10000000", "--reference-steps", "1")
    record = record_of_killed(tmp_path, 2, "shallow_water", *long, *words)
    assert record["cases"] == []


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
        (
            ["--variant", "single_work_item", "--max-elements", "1000"],
            "rank 0 has 1696 elements and 0 of its neighbours, above --max-elements 1000",
        ),
        (["--partitioner", "none"], "none: the file cannot be read"),
        (["--case", "annulus", "--mesh", "bay"], "--case annulus has a mesh of its own"),
        (["--tide", "M4"], "is not one of O1, K1, N2, M2, S2"),
        (["--tide", "none.toml"], "--tide none.toml: the file cannot be read"),
        (
            [
                *("--ranks", "40", "--dry-run", "--partitioner", "random"),
                "--variant",
                "single_work_item",
            ],
            "neighbours, above the 32 of --variant single_work_item",
        ),
        (["--mesh", "rectangle", "--across", "64", "--refine", "10"], "more than"),
        (["--station", "57000,35000"], "57000,35000 is in no element: on land, or outside"),
        (["--station", "1;2"], '"1" must be x,y in metres'),
        (["--ranks", "2000", "--dry-run"], "2000 ranks are more than the mesh's 1696 elements"),
        (
            [*("--ranks", "8", "--dry-run", "--partitioner", "random"), "--neighbours-max", "2"],
            "rank 0 has 7 neighbours, above --neighbours-max 2",
        ),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said


@pytest.mark.parametrize(
    ("owner", "count", "sentence"),
    [
        ("0", 1696, "the partition leaves rank 1 without elements"),
        ("2", 1696, 'line 1: "2" is not a rank from 0 to 1'),
        ("1", 1695, "it has 1695 lines, but the mesh 1696 elements"),
        ("1", 1697, "line 1697: the mesh has only 1696 elements"),
    ],
)
def test_a_bad_partition_is_refused(tmp_path: Path, owner: str, count: int, sentence: str) -> None:
    part = tmp_path / "bad.part"
    part.write_text(f"{owner}\n" * count)
    words = ("--partitioner", str(part), "--ranks", "2", "--dry-run")
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said


def test_metis_asked_for_and_absent_is_refused(tmp_path: Path) -> None:
    absent = str(tmp_path / "libmetis.so")
    words = ("--ranks", "2", "--dry-run", "--partitioner")
    status, _, said = run(tmp_path, 1, *words, "metis", PLUMBLINE_METIS=absent)
    assert status == 2, said
    assert "--partitioner metis needs METIS 5" in said
    assert run(tmp_path, 1, *words, "default", PLUMBLINE_METIS=absent)[0] == 0


def test_a_line_of_a_bad_mesh_is_named(tmp_path: Path) -> None:
    lines = BAY.read_text().splitlines()
    lines[9] = "8 0 0 -1"
    bad = tmp_path / "bad.14"
    bad.write_text("\n".join(lines))
    status, _, said = run(tmp_path, 1, "--mesh", str(bad))
    assert status == 2
    assert "bad.14, line 10: the depth of vertex 8 is -1" in said
