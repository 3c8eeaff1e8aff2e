"""Plumbline on a cluster: Slurm, both MPI libraries, placement, jobs; bytes on the cables."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cluster
import pytest
from conftest import ROOT

BIN = Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin"))
MPICH_BIN = ROOT / "build" / "mpich" / "bin"
REASON = cluster.why_not()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.skipif(not (BIN / "plumb-mpi").exists(), reason="plumb-mpi is not built"),
    pytest.mark.xdist_group("cluster"),
]
B_EFF = (
    *("b_eff", "--runtime", "native", "--ring", "natural", "--no-model"),
    *("--min-size", "12", "--max-size", "14", "--repetitions", "6"),
)
# All nodes share this machine's cores: ranks that wait leave them to others.
SETTINGS = {"OMPI_MCA_mpi_yield_when_idle": "1", "UCX_TLS": "tcp,self"}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    shared = [ROOT, BIN, tmp_path_factory.getbasetemp()]
    with cluster.cluster(folder, 4, shared) as made:
        yield made


Done = tuple[int, str, str]


@pytest.fixture
def plumb(hosts: cluster.Cluster, home: Path) -> Callable[..., Done]:
    """Runs plumb on the login host, or behind other words there; all nodes are free at first."""
    hosts.settle()

    def call(*words: str, before: tuple[str, ...] = (), **environ: str) -> Done:
        home.mkdir(exist_ok=True)
        settings = {"PLUMBLINE_ENGINE": str(BIN), **SETTINGS, **environ}
        command = [*before, sys.executable, "-m", "plumbline", *words]
        done = hosts.run(*command, environ=settings, timeout=300)
        return done.returncode, done.stdout, done.stderr

    return call


def the_record(home: Path) -> dict[str, Any]:
    (path,) = [one for one in (home / "records").glob("*.json") if "expected" not in one.name]
    return dict(json.loads(path.read_text()))


def nodes_of(record: dict[str, Any]) -> list[str]:
    return [record["hosts"][rank["host"]]["name"] for rank in record["ranks"]]


def bytes_sent(record: dict[str, Any]) -> float:
    """Of the timed samples of each rank: what must have crossed the cable at least."""
    return sum(
        case["work"]["bytes_sent"] * case["count"] * case["repetitions"]
        for case in record["cases"]
        if case["outcome"]["status"] == "passed" and case["work"].get("bytes_sent")
    )


def test_open_mpi_by_srun(hosts: cluster.Cluster, plumb: Callable[..., Done], home: Path) -> None:
    before = hosts.sent("n01", "n02")
    words = (*B_EFF, "--launcher", "srun", "--nodes", "2", "--verbose")
    status, out, err = plumb("run", *words)
    assert status == 0, out + err
    assert "--mpi=pmix" in err
    record = the_record(home)
    assert nodes_of(record) == ["n01", "n02"]
    ports = {(record["hosts"][p["host"]]["name"], p["name"]): p for p in record["ports"]}
    assert ports.keys() == {("n01", "net0"), ("n02", "net0")}
    carried = ports["n01", "net0"]["sent_bytes"]
    assert hosts.sent("n01", "n02") - before >= bytes_sent(record) > 0
    assert carried >= bytes_sent(record)


def test_mpich_by_srun(hosts: cluster.Cluster, plumb: Callable[..., Done], home: Path) -> None:
    if not (MPICH_BIN / "plumb-mpi").exists():
        pytest.skip("plumb-mpi is not built over MPICH")
    before = hosts.sent("n01", "n02")
    words = (*B_EFF, "--launcher", "srun", "--nodes", "2", "--verbose")
    status, out, err = plumb("run", *words, PLUMBLINE_ENGINE=str(MPICH_BIN))
    assert status == 0, out + err
    assert "--mpi=pmi2" in err
    record = the_record(home)
    assert nodes_of(record) == ["n01", "n02"]
    assert hosts.sent("n01", "n02") - before >= bytes_sent(record) > 0


def test_openshmem_between_hosts(
    hosts: cluster.Cluster, plumb: Callable[..., Done], home: Path
) -> None:
    """Cores of one host beside those of the other."""
    if not (BIN / "plumb-shmem").exists():
        pytest.skip("plumb-shmem is not built")
    words = ("run", "shoms", "--launcher", "srun", "--nodes", "2", "--no-model")
    words += ("--preset", "smoke", "--time-limit", "0.02")
    before = hosts.sent("n01", "n02")
    status, out, err = plumb(*words, "--affinity", "--only", "int_put", "--cores", "0-1")
    assert status == 0, out + err
    record = the_record(home)
    assert nodes_of(record) == ["n01", "n02"]
    assert {case["outcome"]["status"] for case in record["cases"]} == {"passed"}
    assert hosts.sent("n01", "n02") > before


@pytest.mark.parametrize(
    ("launcher", "distribution", "expected"),
    [("srun", "block", [0, 0, 1, 1]), ("mpirun", "cyclic", [0, 1, 0, 1])],
)
def test_ranks_lie_as_asked(
    plumb: Callable[..., Done], home: Path, launcher: str, distribution: str, expected: list[int]
) -> None:
    words = ("--nodes", "2", "--ranks-per-node", "2", "--rank-order", distribution)
    words += ("--launcher", launcher, "--oversubscribe", "--test")
    salloc = ("salloc", "--quiet", "--nodes=2", "--ntasks=4")
    status, out, err = plumb("run", *B_EFF, *words, before=salloc)
    assert status == 0, out + err
    assert [rank["host"] for rank in the_record(home)["ranks"]] == expected


def test_a_job_is_submitted_awaited_and_its_record_indexed(
    plumb: Callable[..., Done], home: Path
) -> None:
    status, out, err = plumb("submit", *B_EFF, "--nodes", "2", "--constraint", "shaped")
    assert status == 0, out + err
    assert "outcome     passed" in out
    record = the_record(home)
    assert record["world"]["nodes"] == 2
    assert "b_eff" in plumb("records")[1]
    (folder,) = (home / "jobs").iterdir()
    assert json.loads((folder / "end-0.json").read_text())["status"] == 0
    assert "--constraint=shaped" in (folder / "script.sh").read_text()


def test_a_sweep_is_an_array_collected_later(
    plumb: Callable[..., Done], home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        '[[run]]\nbenchmark = "stream"\nruntime = "native"\nranks = 1\nno-model = true\n'
        "repetitions = 6\nelements = [1024, 2048]\n"
    )
    status, out, err = plumb("submit", str(file), "--no-wait")
    assert status == 0, out + err
    (folder,) = (home / "jobs").iterdir()
    job = json.loads((folder / "job.json").read_text())["job"]
    status, out, err = plumb("submit", "--collect", job)
    assert status == 0, out + err
    assert err.count("record: ") == 2
    assert len(list((home / "records").glob("stream-*.json"))) == 2


def test_a_rejected_job_is_a_sentence(plumb: Callable[..., Done], home: Path) -> None:
    status, out, err = plumb("submit", *B_EFF, "--partition", "nowhere")
    assert (status, out) == (2, "")
    assert err.startswith("plumb: sbatch rejects the job: ")
    assert "artition" in err
    assert not list((home / "jobs").glob("*/job.json"))


def wait_for(reached: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_jobs_that_are_ended_keep_their_finished_cases(
    hosts: cluster.Cluster, stand_in: Path, home: Path, tmp_path: Path
) -> None:
    """Three runs that measure two cases and then wait: cancelled, out of time, on a lost node."""
    home.mkdir(exist_ok=True)
    file = tmp_path / "runs.toml"
    head = '[[run]]\nbenchmark = "b_eff"\nranks = 1\nno-model = true\n'
    file.write_text(f"{head}repetitions = [10, 11, 12]\n")
    machine = tmp_path / "machine.toml"  # a node for each run
    machine.write_text(
        '[system]\nname = "m"\ndescription = "m"\nsource = "m"\n[job]\nexclusive = true\n'
    )
    words = [sys.executable, "-m", "plumbline", "submit", str(file), "--machine", str(machine)]
    environ = {"STAND_IN": "waits", "PLUMBLINE_ENGINE": str(stand_in)}
    process = subprocess.Popen(
        hosts.inside("login", words),
        env={**os.environ, **hosts.environment, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lost = ""
    try:
        wait_for(lambda: len(list((home / "records").glob("b_eff-*-?.json"))) == 3)
        (folder,) = (home / "jobs").iterdir()
        job = json.loads((folder / "job.json").read_text())["job"]
        lost = hosts.checked("login", f"squeue --noheader --jobs={job}_2 --format=%N").strip()
        hosts.checked("login", f"scancel {job}_0")
        # Not now, which may be past when the controller reads it.
        hosts.checked("login", f"scontrol update JobId={job}_1 EndTime=now+5")
        hosts.kill_daemon(lost)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
        process.communicate()
        if lost:
            hosts.start_daemon(lost)
    assert process.returncode == 3, out + err
    assert f"job {job}_0 was cancelled" in err
    assert f"job {job}_1 exceeded its time limit" in err
    assert f"a node of job {job}_2 failed" in err
    assert err.count("the record holds 2 of 14 cases") == 3


def test_two_nodes_are_measured_by_themselves_and_together(
    hosts: cluster.Cluster, plumb: Callable[..., Done], home: Path
) -> None:
    """Memory, arithmetic, the link to the device, and the pair, which cannot be told from its nodes."""
    status, out, err = plumb("find-bad", "--nodes", "2")
    assert status == 0, out + err
    (folder,) = (home / "find-bad").iterdir()
    assert {path.name for path in folder.iterdir()} == {
        *("stream@all.json", "gemm@all.json", "ceilings@all.json", "b_eff@n01+n02.json")
    }
    cases = json.loads((folder / "ceilings@all.json").read_text())["cases"]
    assert [case["key"] for case in cases] == ["link/read/67108864", "link/write/67108864"]
    assert "pairs of 2 nodes cannot separate a bad node from its link" in out
    assert "figures of fewer than 3 nodes cannot tell which of them is slow" in out


def slow_link_found(hosts: cluster.Cluster, plumb: Callable[..., Done], mbit: float) -> str:
    for one, other in itertools.combinations(hosts.nodes, 2):
        hosts.shape(one, other, 200)
    hosts.shape("n02", "n04", mbit)
    before = hosts.sent("n02", "n04")
    status, out, err = plumb("find-bad", "--nodes", "4", "--pairs-only")
    assert status == 0, out + err
    assert hosts.sent("n02", "n04") - before > 10 * 2**20
    return out


@pytest.mark.soak
def test_a_slow_link_is_found_by_measuring(
    hosts: cluster.Cluster, plumb: Callable[..., Done], home: Path
) -> None:
    out = slow_link_found(hosts, plumb, 50)
    assert "4 nodes, 0 figures of nodes, 6 times of pairs" in out
    assert re.search(r"^link n02-n04 .*  net0$", out, re.M)
    assert "\nnode " not in out
    assert len(list((home / "find-bad").glob("*/b_eff@*.json"))) == 6


@pytest.mark.soak
def test_a_link_of_half_the_speed_is_found_each_time(
    hosts: cluster.Cluster, plumb: Callable[..., Done]
) -> None:
    for _ in range(10):
        out = slow_link_found(hosts, plumb, 100)
        assert [line.split()[1] for line in out.splitlines() if line.startswith("link ")] == [
            "n02-n04"
        ]
