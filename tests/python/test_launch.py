"""Launchers and their command lines; MPI launchers run for real where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import DATA

from plumbline.base.errors import UsageError
from plumbline.engine.program import Description, Engine
from plumbline.launch import launchers
from plumbline.launch.launchers import (
    HEAP_VARIABLES,
    LaunchRequest,
    heap_environment,
    launcher_kind,
    library_kind,
    physical_cores,
    plan_launch,
)
from plumbline.launch.placement import Placement

OPEN_MPI = "Open MPI v4.1.4, package: Debian"
MPICH = "MPICH Version: 4.0.2"
NEEDED = {
    OPEN_MPI: ["mpirun.openmpi", "mpirun"],
    MPICH: ["mpiexec.mpich", "mpiexec.hydra", "mpiexec"],
}


def engine(library: str, world: str = "mpi") -> Engine:
    description = Description.model_validate_json((DATA / "describe.json").read_text())
    described = description.model_copy(update={"world_library": library, "world": world})
    return Engine(Path("/bin/plumb-mpi"), described)


def has(library: str) -> bool:
    programs = [path for name in NEEDED[library] if (path := shutil.which(name))]
    return any(launcher_kind(path, os.environ) == library_kind(library) for path in programs)


needs_openmpi = pytest.mark.skipif(not has(OPEN_MPI), reason="there is no Open MPI here")
needs_mpich = pytest.mark.skipif(not has(MPICH), reason="there is no MPICH here")


def fake(folder: Path, name: str, says: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """A PATH of launchers that only print their version."""
    return {"PATH": str(tmp_path), "HOME": "/"}


def words(request: LaunchRequest, library: str, environ: dict[str, str], cores: int = 8) -> str:
    planned = plan_launch(request, engine(library), environ, cores)
    return " ".join([Path(planned.prefix[0]).name, *planned.prefix[1:]])


@pytest.mark.parametrize(
    ("library", "kind"),
    [
        (OPEN_MPI, "openmpi"),
        (MPICH, "mpich"),
        ("CRAY MPICH version 8", "mpich"),
        ("Intel(R) MPI Library 2021.18", "intel"),
    ],
)
def test_the_library_tells_the_kind(library: str, kind: str) -> None:
    assert library_kind(library) == kind


def test_open_mpi_binds_and_shares_the_cores(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.3")
    assert (
        words(LaunchRequest(3), OPEN_MPI, programs)
        == "mpirun -np 3 --bind-to core --map-by slot:PE=2"
    )
    planned = plan_launch(LaunchRequest(3), engine(OPEN_MPI), programs, 8)
    assert planned.cores_per_rank == 2
    assert planned.environment["POCL_MAX_PTHREAD_COUNT"] == "2"


def test_the_users_pocl_limit_stays(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.3")
    environ = {**programs, "POCL_MAX_PTHREAD_COUNT": "7"}
    planned = plan_launch(LaunchRequest(2), engine(OPEN_MPI), environ, 8)
    assert "POCL_MAX_PTHREAD_COUNT" not in planned.environment


def test_more_ranks_than_cores_are_refused_unless_allowed(
    tmp_path: Path, programs: dict[str, str]
) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.3")
    with pytest.raises(UsageError, match=r"9 ranks exceed the 8 cores .*--oversubscribe"):
        words(LaunchRequest(9), OPEN_MPI, programs)
    assert words(LaunchRequest(9, oversubscribe=True), OPEN_MPI, programs) == (
        "mpirun -np 9 --oversubscribe --mca mpi_yield_when_idle 1 --bind-to none"
    )
    assert words(LaunchRequest(8, oversubscribe=True), OPEN_MPI, programs).endswith("slot:PE=1")


def test_own_words_for_the_launcher_take_the_place_of_ours(
    tmp_path: Path, programs: dict[str, str]
) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.3")
    request = LaunchRequest(16, arguments=("--hostfile", "hosts", "--map-by", "node"))
    assert words(request, OPEN_MPI, programs) == "mpirun -np 16 --hostfile hosts --map-by node"
    planned = plan_launch(request, engine(OPEN_MPI), programs, 8)
    assert planned.cores_per_rank is None
    assert planned.command(Path("/e"), ["b_eff"], ["A"])[-4:] == ["-x", "A", "/e", "b_eff"]


def test_mpich(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpiexec.mpich", "HYDRA build details:")
    fake(tmp_path, "mpiexec", "mpirun (Open MPI) 4.1.4")
    assert words(LaunchRequest(2), MPICH, programs) == "mpiexec.mpich -np 2 -bind-to core:4"
    over = LaunchRequest(9, oversubscribe=True)
    assert words(over, MPICH, programs) == "mpiexec.mpich -np 9 -bind-to none"


def test_intel_mpi_pins_by_variable(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpiexec.hydra", "Intel(R) MPI Library for Linux* OS")
    assert words(LaunchRequest(2), "Intel(R) MPI Library 2021", programs) == "mpiexec.hydra -n 2"
    planned = plan_launch(LaunchRequest(2), engine("Intel(R) MPI Library 2021"), programs, 8)
    assert planned.environment["I_MPI_PIN_DOMAIN"] == "4"


def test_another_mpis_launcher_is_not_taken(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 4.1.4")
    with pytest.raises(UsageError, match=r"built with MPICH, .* \(mpirun is Open MPI's\): load"):
        words(LaunchRequest(2), MPICH, programs)
    with pytest.raises(UsageError, match="built with Open MPI, but there is no launcher"):
        words(LaunchRequest(2), OPEN_MPI, {**programs, "PATH": "/nowhere"})


def test_within_a_slurm_job_it_is_srun(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "srun", "slurm 23")
    job = {**programs, "SLURM_JOB_ID": "17"}
    expected = "srun -n 64 --kill-on-bad-exit=1 --cpu-bind=cores"
    assert words(LaunchRequest(64), OPEN_MPI, job) == expected
    assert words(LaunchRequest(64, launcher="srun"), OPEN_MPI, programs) == expected
    with pytest.raises(UsageError, match="there is no srun on PATH"):
        words(LaunchRequest(2, launcher="srun"), OPEN_MPI, {"PATH": "/nowhere"})


SRUN = """#!/bin/sh
echo "MPI plugin types are..."
for way in {ways}; do printf "\\t$way\\n"; done
echo "specific pmix plugin versions available: pmix_v4"
"""


def srun(folder: Path, ways: str) -> None:
    (folder / "srun").write_text(SRUN.format(ways=ways))
    (folder / "srun").chmod(0o755)


@pytest.mark.parametrize(
    ("library", "ways", "expected"),
    [
        (OPEN_MPI, "pmix none pmi2", "--mpi=pmix"),
        (MPICH, "pmix cray_shasta none pmi2", "--mpi=pmi2"),
        ("CRAY MPICH version 8", "cray_shasta none pmi2", "--mpi=cray_shasta"),
        ("Intel(R) MPI Library 2021", "none pmi2", "--mpi=pmi2"),
    ],
)
def test_srun_gets_the_librarys_pmi(
    tmp_path: Path, programs: dict[str, str], library: str, ways: str, expected: str
) -> None:
    srun(tmp_path, ways)
    request = LaunchRequest(2, launcher="srun")
    assert words(request, library, programs).split()[-1] == expected
    assert "--mpi" not in words(request, library, {**programs, "SLURM_MPI_TYPE": "x"})
    own = LaunchRequest(2, launcher="srun", arguments=("--mpi=none",))
    assert words(own, library, programs).split()[-1] == "--mpi=none"


def test_srun_without_the_librarys_pmi_is_refused(tmp_path: Path, programs: dict[str, str]) -> None:
    srun(tmp_path, "none pmi2")
    with pytest.raises(UsageError, match=r"srun has no pmix, .* of Open MPI .*: none, pmi2"):
        words(LaunchRequest(2, launcher="srun"), OPEN_MPI, programs)


JOB = {"SLURM_JOB_ID": "17", "SLURM_JOB_NODELIST": "n[01-02]", "SLURM_JOB_NUM_NODES": "2"}


def test_placement_in_each_launchers_words(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 4.1.4")
    fake(tmp_path, "mpiexec.mpich", "HYDRA build details:")
    srun(tmp_path, "pmix pmi2")
    environ = {**programs, **JOB}

    def placed(launcher: str, library: str, distribution: str) -> str:
        placement = Placement(2, 3, distribution)
        request = LaunchRequest(6, launcher=launcher, placement=placement)
        return words(request, library, environ, 1)

    openmpi = "mpirun -np 6 --bind-to core --map-by ppr:3:node --rank-by"
    assert placed("mpirun", OPEN_MPI, "block") == f"{openmpi} slot"
    assert placed("mpirun", OPEN_MPI, "cyclic") == f"{openmpi} node"
    assert placed("mpiexec", MPICH, "block") == "mpiexec.mpich -np 6 -bind-to core -ppn 3"
    assert placed("mpiexec", MPICH, "cyclic") == "mpiexec.mpich -np 6 -bind-to core -ppn 1"
    assert placed("srun", OPEN_MPI, "cyclic") == (
        "srun -n 6 --kill-on-bad-exit=1 --cpu-bind=cores --nodes=2 --ntasks-per-node=3 "
        "--distribution=cyclic --mpi=pmix"
    )


def test_more_nodes_than_there_are_is_refused(tmp_path: Path, programs: dict[str, str]) -> None:
    fake(tmp_path, "mpirun", "mpirun (Open MPI) 4.1.4")
    request = LaunchRequest(3, launcher="mpirun", placement=Placement(3, 1))
    with pytest.raises(UsageError, match="--nodes 3: this command runs on one node"):
        words(request, OPEN_MPI, programs)
    with pytest.raises(UsageError, match="--nodes 3: the job has 2"):
        words(request, OPEN_MPI, {**programs, **JOB})


def test_without_a_launcher_there_is_one_rank() -> None:
    planned = plan_launch(LaunchRequest(1, launcher="none"), engine(OPEN_MPI), {}, 8)
    assert planned.command(Path("/e"), ["b_eff"]) == ["/e", "b_eff"]
    with pytest.raises(UsageError, match="--ranks must be 1 with --launcher none, not 2"):
        plan_launch(LaunchRequest(2, launcher="none"), engine(OPEN_MPI), {}, 8)
    with pytest.raises(UsageError, match=r"--ranks must be 1 without MPI \(plumb-mpi\), not 2"):
        plan_launch(LaunchRequest(2), engine("", world="serial"), {}, 8)


def test_hardware_threads_are_not_cores(tmp_path: Path) -> None:
    for number in os.sched_getaffinity(0):
        topology = tmp_path / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_id").write_text("5\n")
    assert physical_cores(tmp_path) == 1
    assert physical_cores(tmp_path / "none") == len(os.sched_getaffinity(0))


def cores_of_ranks(request: LaunchRequest, library: str) -> list[str]:
    planned = plan_launch(request, engine(library), os.environ)
    show = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status | cut -f2"]
    command = planned.command(Path(show[0]), show[1:])
    environ = {**os.environ, **planned.environment}
    done = subprocess.run(  # MPICH's launcher may die of an open standard input
        command,
        stdin=subprocess.DEVNULL,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(done.stdout.split())


@pytest.mark.parametrize(
    "library",
    [pytest.param(OPEN_MPI, marks=needs_openmpi), pytest.param(MPICH, marks=needs_mpich)],
)
@pytest.mark.skipif(physical_cores() < 2, reason="binding needs two cores")
def test_ranks_are_bound_to_cores_of_their_own(library: str) -> None:
    cores = physical_cores()
    bound = cores_of_ranks(LaunchRequest(cores), library)
    assert len(set(bound)) == cores
    assert len(set(cores_of_ranks(LaunchRequest(1), library))) == 1
    assert len(cores_of_ranks(LaunchRequest(2 * cores, oversubscribe=True), library)) == 2 * cores


def test_pes_are_started_by_oshrun_with_the_cures(
    tmp_path: Path, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    fake(tmp_path, "oshrun", "oshrun (OpenRTE) 4.1.4")
    planned = plan_launch(LaunchRequest(2), engine("Open MPI v4.1.4", world="shmem"), programs, 8)
    assert planned.prefix[0].endswith("oshrun")
    assert planned.environment["OMPI_MCA_osc"] == "^rdma"
    assert planned.environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    kept = plan_launch(
        LaunchRequest(2),
        engine("Open MPI v4.1.4", world="shmem"),
        {**programs, "OMPI_MCA_osc": "pt2pt"},
        8,
    )
    assert "OMPI_MCA_osc" not in kept.environment


def test_another_openshmem_is_started_by_its_own_oshrun(
    tmp_path: Path, programs: dict[str, str]
) -> None:
    for folder, says in (("a", "oshrun (OpenRTE) 4.1.4"), ("b", "HYDRA build details")):
        (tmp_path / folder).mkdir()
        fake(tmp_path / folder, "oshrun", says)
    environ = {**programs, "PATH": f"{tmp_path}/a:{tmp_path}/b"}
    planned = plan_launch(LaunchRequest(4), engine("Sandia OpenSHMEM", world="shmem"), environ, 8)
    assert planned.prefix[0] == f"{tmp_path}/b/oshrun"
    assert planned.kind == "oshrun"
    assert list(planned.prefix[1:]) == ["-n", "4"]


def test_the_symmetric_heap_has_room_for_what_is_needed() -> None:
    environment = heap_environment(3 << 20, LaunchRequest(2), {})
    assert set(environment) == set(HEAP_VARIABLES)
    assert all(int(value) >= 2 * (3 << 20) for value in environment.values())
    assert heap_environment(3 << 20, LaunchRequest(2), {"SHMEM_SYMMETRIC_SIZE": "1G"}) == {}
    with pytest.raises(UsageError, match="GiB of symmetric memory each"):
        heap_environment(1 << 50, LaunchRequest(2), {})


def test_a_launcher_is_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a scheduler: within its job it starts the ranks of any library."""
    monkeypatch.setattr(launchers, "LAUNCHERS", dict(launchers.LAUNCHERS))

    class Jsrun(launchers.Launcher):
        kind = "jsrun"
        title = "LSF"
        programs = names = ("jsrun",)
        job = "LSB_JOBID"
        count = "--nrs"

    program = tmp_path / "jsrun"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environ = {"PATH": str(tmp_path), "LSB_JOBID": "1"}
    planned = plan_launch(LaunchRequest(3), engine(OPEN_MPI), environ, 2)
    assert (planned.kind, planned.prefix) == ("jsrun", (str(program), "--nrs", "3"))
    with pytest.raises(UsageError, match="no jsrun on PATH: --launcher jsrun needs LSF"):
        plan_launch(LaunchRequest(3, launcher="jsrun"), engine(OPEN_MPI), {"PATH": ""}, 2)
