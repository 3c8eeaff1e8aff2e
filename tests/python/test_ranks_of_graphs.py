"""Graph500 and SSCA1 on every number of ranks over both MPI libraries and OpenSHMEM: one result for all of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from plumbline.engine.program import shmem_engine
from plumbline.record.record import Record, load_record
from tests.launching import PATIENCE_S, launch_command

SHMEM = shmem_engine(os.environ)
ENGINES = {
    "Open MPI": Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin"))
    / "plumb-mpi",
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin"))
    / "plumb-mpi",
    **({} if SHMEM is None else {"OpenSHMEM": SHMEM.path}),
}
pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("ranks")]
CASES = [  # without more ranks of MPICH than cores, which take too long
    (library, ranks)
    for library in ENGINES
    for ranks in (1, 2, 3, 4, 7, 8)
    if library != "MPICH" or ranks <= (os.cpu_count() or 1)
]
GRAPH = "graph500 --kernel both --variant all --threads 2 --scale 10 --roots 4"
STRINGS = "ssca1 --variant all --threads 2 --scale 10 --minimum-score 9 --repetitions 2"


def run(path: Path, engine: Path, ranks: int, words: str) -> Record:
    """The record of a run that must end well, with every case passed."""
    if not engine.exists():
        pytest.skip(f"there is no {engine}")
    quiet = ["--format", "none", "--progress", "none", "--record", str(path)]
    command, environment = launch_command(ranks, engine, *words.split(), *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = load_record(path)
    assert {case.outcome.status for case in record.cases} == {"passed"}, record.cases
    return record


@pytest.mark.parametrize(("library", "ranks"), CASES)
def test_levels_and_distances_are_those_of_one_rank(
    tmp_path: Path, library: str, ranks: int
) -> None:
    facts = ("level_vertices", "level_ends", "vertices_reached", "distances_hash")
    found: set[tuple[str, ...]] = set()
    for engine, some in ((ENGINES["Open MPI"], 1), (ENGINES[library], ranks)):
        record = run(tmp_path / "record.json", engine, some, GRAPH)
        assert {case.tallies["edges"] for case in record.cases} == {16239}
        found |= {
            (str(case.label("kernel")), *(str(case.facts.get(name)) for name in ("root", *facts)))
            for case in record.cases
        }
    assert len(found) == 2 * 4  # of each kernel and root


@pytest.mark.parametrize(("library", "ranks"), CASES)
def test_ends_are_those_of_one_rank(tmp_path: Path, library: str, ranks: int) -> None:
    results = {
        case.facts["results_hash"]
        for engine, some in ((ENGINES["Open MPI"], 1), (ENGINES[library], ranks))
        for case in run(tmp_path / "record.json", engine, some, STRINGS).cases
    }
    assert len(results) == 1
