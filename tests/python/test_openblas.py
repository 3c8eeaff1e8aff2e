"""Which kernels OpenBLAS takes: it knows no CPU younger than itself, and would take those of 2004."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

ALONE = ROOT / "build" / "release" / "bin" / "plumb-serial"
VARIABLE = "OPENBLAS_CORETYPE"


def flags() -> set[str]:
    """What the CPU can do, as the kernel lists it."""
    cpu = Path("/proc/cpuinfo").read_text()
    return next((set(line.split()) for line in cpu.splitlines() if line.startswith("flags")), set())


def library_of(tmp_path: Path, environment: dict[str, str]) -> str:
    """The library that a run of gemm names."""
    record = tmp_path / "record.json"
    words = ["gemm", "--runtime", "native", "--variant", "library", "--size", "64"]
    words += ["--repetitions", "6", "--format", "none", "--record", str(record)]
    done = subprocess.run(
        [str(ALONE), *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(record.read_text())["cases"][0]["facts"]["library"]


@pytest.mark.skipif(
    not flags() & {"avx2", "avx512f"}, reason="OpenBLAS' kernels of SSE3 are right for this CPU"
)
def test_the_cpus_vectors_are_used(tmp_path: Path) -> None:
    without = {key: value for key, value in os.environ.items() if key != VARIABLE}
    name = library_of(tmp_path, without)
    assert name.startswith("OpenBLAS")
    assert "Prescott" not in name


@pytest.mark.skipif("avx2" not in flags(), reason="this CPU has no AVX2")
def test_the_users_choice_stays(tmp_path: Path) -> None:
    assert "(Haswell)" in library_of(tmp_path, {**os.environ, VARIABLE: "Haswell"})
    assert "(Prescott)" in library_of(tmp_path, {**os.environ, VARIABLE: "Prescott"})


def test_the_second_start_keeps_the_programs_name(tmp_path: Path) -> None:
    """The program starts anew to choose the kernels; tools find ranks by name."""
    words = [
        "noise",
        "--runtime",
        "native",
        "--format",
        "none",
        "--record",
        str(tmp_path / "r.json"),
    ]
    with subprocess.Popen([str(ALONE), *words], stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            assert running.stderr.readline()  # its first line of progress: it has started for good
            assert Path(f"/proc/{running.pid}/comm").read_text().strip() == ALONE.name
        finally:
            running.terminate()
