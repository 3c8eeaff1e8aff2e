"""plumb doctor: conclusions of each probe, its limits, and a real examination of this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from plumbline.base.errors import ExitStatus
from plumbline.engine import runtimes
from plumbline.engine.program import shmem_engine
from plumbline.run import doctor
from plumbline.run.doctor import Finding, Tried
from tests.mutants.test_sycl import PLUGIN, sycl_environment, with_mutant

OK = Tried(0, "")
CRASHED = Tried(139, "Segmentation fault")
CURED = Finding("OpenSHMEM", "finalize", "cured", "it crashes", "OMPI_MCA_osc=^rdma")
BROKEN = Finding("OpenCL", "vendor files", "broken", "a.icd names nothing", "write the path")


def test_text_says_who_applies_the_cure() -> None:
    assert doctor.text([CURED, BROKEN], "text").splitlines() == [
        "cured   OpenSHMEM, finalize: it crashes",
        "        applied by plumb run: OMPI_MCA_osc=^rdma",
        "broken  OpenCL, vendor files: a.icd names nothing",
        "        remedy: write the path",
    ]


def test_json_has_a_key_for_it() -> None:
    listed = json.loads(doctor.text([CURED, BROKEN], "json"))
    assert [finding["applied"] for finding in listed] == [True, False]
    assert listed[0]["cure"] == "OMPI_MCA_osc=^rdma"


def test_only_what_the_user_must_cure_is_an_error() -> None:
    assert doctor.status_of([CURED]) is ExitStatus.PASSED
    assert doctor.status_of([CURED, BROKEN]) is ExitStatus.ERROR


@pytest.mark.parametrize(
    ("bare", "cured", "state"),
    [(OK, OK, "ok"), (CRASHED, OK, "cured"), (CRASHED, CRASHED, "broken")],
)
def test_a_crash_in_finalize(bare: Tried, cured: Tried, state: str) -> None:
    finding = doctor._finalize(bare, cured)
    assert finding.state == state
    assert state == "ok" or "SIGSEGV" in finding.found


@pytest.mark.parametrize(
    ("usual", "tcp", "state", "words"),
    [
        (OK, OK, "ok", "end normally"),
        (OK, Tried(None, ""), "ok", "with UCX's TCP alone they do not"),
        (Tried(None, ""), OK, "broken", "do not always end"),
    ],
)
def test_mpich_that_does_not_end(usual: Tried, tcp: Tried, state: str, words: str) -> None:
    finding = doctor._mpich_finalize(lambda added, *_words: tcp if added else usual)
    assert finding.state == state
    assert words in finding.found
    assert (finding.cure is not None) == (state == "broken")


def test_an_ignored_heap_variable_is_named() -> None:
    def probe(added: dict[str, str], *_words: str) -> Tried:
        return OK if "SHMEM_SYMMETRIC_HEAP_SIZE" in added else Tried(1, "")

    finding = doctor._heap(probe)
    assert finding.state == "cured"
    assert finding.found == "SHMEM_SYMMETRIC_SIZE and SMA_SYMMETRIC_SIZE are ignored"
    assert doctor._heap(lambda *_: Tried(1, "")).state == "broken"
    assert doctor._heap(lambda *_: OK).state == "ok"


def test_a_vendor_file_that_names_nothing_is_broken(tmp_path: Path) -> None:
    assert next(doctor._vendor_libraries(tmp_path)).state == "absent"
    (tmp_path / "a.icd").write_text("libpocl.so.2\n")
    assert next(doctor._vendor_libraries(tmp_path)).state == "ok"
    (tmp_path / "b.icd").write_text("/nowhere/libintelocl.so\n")
    finding = next(doctor._vendor_libraries(tmp_path))
    assert finding.state == "broken"
    assert "/nowhere/libintelocl.so" in finding.found


@pytest.mark.parametrize(
    ("tried", "state", "words"),
    [
        (OK, "ok", "runs on its device"),
        (Tried(2, "plumb-mpi: runtime sycl shows no device: a reason"), "broken", "a reason"),
        (CRASHED, "broken", "SIGSEGV"),
    ],
)
def test_a_sycl_plugin_that_does_not_work(tried: Tried, state: str, words: str) -> None:
    finding = doctor._sycl_device(tried)
    assert finding.state == state
    assert words in finding.found


def test_sycl_that_is_not_or_not_wholly_installed(home: Path) -> None:
    assert next(doctor._sycl(os.environ)).state == "absent"
    (home / "runtimes" / "intel-sycl").mkdir(parents=True)
    finding = next(doctor._sycl(os.environ))
    assert finding.state == "broken"
    assert finding.cure == "plumb setup intel-sycl --accept-eula"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [("another-libsycl", "compiled with libsycl 00000000"), ("pocl", "no device allocations")],
)
def test_what_the_engine_says_of_sycl_is_a_finding(wrong: str, words: str) -> None:
    """By its own process: a libsycl of another version, and PoCL 3.1."""
    if wrong != "pocl" and not PLUGIN.exists():
        pytest.skip("the mutants are not built (make build)")
    environ = {**os.environ, **(sycl_environment() if wrong == "pocl" else with_mutant(wrong))}
    if wrong == "pocl":
        vendors = runtimes.pocl_vendor_file()
        if vendors is None:
            pytest.skip("PoCL is not installed")
        environ["OCL_ICD_VENDORS"] = str(vendors)
    (finding,) = doctor._sycl(environ)
    assert finding.state == "broken"
    assert words in finding.found


def test_a_missing_run_time_compiler_is_named(tmp_path: Path) -> None:
    assert next(doctor._run_time_compiler(tmp_path)).state == "broken"
    (tmp_path / "libsycl-jit.so").touch()
    assert not list(doctor._run_time_compiler(tmp_path))


def test_the_wheels_own_loader_is_named(tmp_path: Path) -> None:
    environ = {"LD_LIBRARY_PATH": f":{tmp_path}"}
    assert not list(doctor._wheels_loader(environ))
    for name in ("libOpenCL.so.1", "libintelocl.so"):
        (tmp_path / name).touch()
    assert next(doctor._wheels_loader(environ)).state == "broken"


@pytest.mark.parametrize(
    ("lists", "given", "state", "words"),
    [
        ("pmix none", None, "ok", "srun --mpi=pmix starts ranks of Open MPI"),
        ("pmix none", "pmi2", "broken", "SLURM_MPI_TYPE=pmi2 overrides --mpi=pmix"),
        ("pmix none", "pmix", "ok", "starts ranks"),
        ("none pmi2", None, "broken", "srun has no pmix"),
        ("", None, "absent", "Slurm is not configured"),
        (None, None, "absent", "no srun"),
    ],
)
@pytest.mark.usefixtures("stand_in")
def test_ranks_by_srun(
    tmp_path: Path, lists: str | None, given: str | None, state: str, words: str
) -> None:
    (tmp_path / "bin").mkdir()
    if lists is not None:
        srun = tmp_path / "bin" / "srun"
        srun.write_text("#!/bin/sh\n" + "".join(f"echo {way}\n" for way in lists.split()))
        srun.chmod(0o755)
    environ = {**os.environ, "PATH": str(tmp_path / "bin")}
    environ |= {"SLURM_MPI_TYPE": given} if given else {}
    doctor.find_engine(os.environ, "mpi")  # its description is kept: the program needs a PATH
    (finding,) = doctor._slurm(environ)
    assert finding.state == state
    assert words in finding.found
    assert (finding.cure is not None) == (state == "broken")


def test_a_probe_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_LIMIT_S", 0.2)
    tried = doctor._try(["sh", "-c", "sleep 60"], os.environ)
    assert tried.status is None
    assert tried.ending == "not ended within 0.2 s"


def test_how_a_process_ended_is_said() -> None:
    assert doctor._try(["sh", "-c", "kill -SEGV $$"], os.environ).ending == "ended by SIGSEGV"
    assert doctor._try(["sh", "-c", "exit 3"], os.environ).ending == "exit status 3"
    assert doctor._try(["no-such-program"], os.environ).status == 127


@pytest.mark.skipif(shmem_engine(os.environ) is None, reason="there is no plumb-shmem")
def test_this_machines_openshmem_is_examined() -> None:
    findings = {f.probe: f for f in doctor._openshmem(os.environ)}
    assert set(findings) == {
        "finalize",
        "32-bit compare-and-swap",
        "fetching and, or, xor",
        "symmetric heap",
        "specification 1.5",
    }
    assert {finding.state for finding in findings.values()} <= {"ok", "cured"}
