"""What people ask for by mistake, or that a device cannot do: one sentence and the right exit status, from the engine itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from tests.launching import PATIENCE_S, ROOT, program

ENGINE = program("plumb-serial")
NATIVE = ("--runtime", "native")
ON_POCL = ("--runtime", "opencl")
PIPELINE = ("--variant", "single_work_item")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")


def environment(words: Sequence[str]) -> dict[str, str]:
    """With PoCL alone, where the words ask for OpenCL; skips where it is not there."""
    if "opencl" not in words:
        return dict(os.environ)
    if not runtimes.is_installed("pocl", find_home()):
        pytest.skip("PoCL is not installed")
    return os.environ | runtimes.environment("pocl", find_home(), devices=1)


def run(record: Path, *words: str) -> tuple[int, list[str]]:
    """Exit status, and the lines on stderr."""
    quiet = (
        "--repetitions",
        "1",
        "--progress",
        "none",
        "--format",
        "none",
        "--record",
        str(record),
    )
    done = subprocess.run(
        [str(ENGINE), *words, *quiet],
        env=environment(words),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


TOO_LARGE = [
    ("stream --elements 40000000000", "stream needs 447 GiB on the device, but "),
    ("random_access --size 36", "random_access needs 512 GiB on the device, but "),
    ("fft --size 28 --data 100000", "fft needs 318 GiB on the device, but "),
    ("gemm --size 400000", "gemm needs 2.328 TiB on the device, but "),
]
CONTRADICTIONS = [
    ("stream --type quad", "--type must be one of half, float, double"),
    (
        "stream --elements 3 --replications 4",
        "--elements 3 is too small for --replications 4",
    ),
    ("stream --kernel-file .", "--kernel-file . cannot be read: Is a directory"),
    ("stream --vector 3", "--vector must be 1, 2, 4, 8 or 16, not 3"),
    ("random_access --variant library", "has no variant library"),
    ("random_access --size 4 --replications 17", "--replications 17 exceeds the"),
    ("fft --size 9-5", "--size 9-5: 9 exceeds 5"),
    ("fft --size 2", "transforms must have 2^3 to 2^28 points"),
    ("fft --unroll 6", "--unroll must be 2, 4, 8 or 16"),
    ("fft --size 3 --batch 4 --replications 9", "--replications 9 exceeds the batch"),
    ("gemm --alpha nan", '--alpha must be a number, not "nan"'),
    ("gemm --beta inf", '--beta must be a number, not "inf"'),
    ("gemm --type half --alpha 1e5", "--alpha must be a finite number of type half"),
    ("gemm --type half --beta 60000 --alpha 9000", "they would be infinite"),
    ("gemm --alpha 0", "nothing of A B would be left to prove"),
    ("gemm --block-size 33", "--gemm-block 8 does not divide --block-size 33"),
    ("gemm --variant nd_range -r 2", "--replications requires --variant single_work_item"),
    (
        "ptrans --runtime native --kernel gpu",
        "--kernel gpu is for OpenCL devices and runtime cuda, not runtime native",
    ),
    ("ptrans --runtime native --kernel cpu", "--kernel cpu is for OpenCL devices, not runtime"),
    ("hpl --runtime native --kernel cpu", "--kernel cpu is for OpenCL devices, not runtime"),
]
LACKING = [
    ("gemm --size 8 --type tf32", NATIVE, "type tf32 needs an NVIDIA GPU's matrix units"),
    (
        "gemm --size 8 --type half --variant library",
        NATIVE,
        "OpenBLAS does not support products of half",
    ),
    ("stream --elements 99 --operation triad --type half", ON_POCL, "does not support half"),
    (
        "gemm --size 8 --variant library --memory svm",
        ON_POCL,
        "CLBlast works on OpenCL's memory objects",
    ),
    (
        "fft --size 5 --batch 2 --variant library --memory svm",
        ON_POCL,
        "clFFT works on OpenCL's memory",
    ),
]
FIXED = [  # a benchmark, its options, the definitions of its kernel file
    (
        "random_access --size 12 -g 2 -r 2",
        ("#define RNG_COUNT_LOG 3",),
        "2 replications of update_N_g2_d5_b0 are asked for",
    ),
    (
        "random_access --size 12 -g 3 -r 4",
        ("#define REPLICATION 1", "#define RNG_COUNT_LOG 3"),
        "update_1_g3_d5_b0 are there",
    ),
    (
        "stream --elements 99 --operation copy --replications 2",
        ("#define calc calc_0",),
        "must be 1, not 2",
    ),
    (
        "gemm --size 64 --block-size 32 -r 2",
        ("#define gemm gemm0",),
        "no kernel gemm1: --replications 2 exceeds its kernels",
    ),
    (
        "fft --size 4 --batch 4 --replications 2",
        ("#define REPLICATION 0",),
        "no kernel fft_1: --replications exceeds its kernels",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), TOO_LARGE)
def test_a_size_that_does_not_fit(tmp_path: Path, words: str, sentence: str) -> None:
    """Needed and available are both said."""
    status, said = run(tmp_path / "record.json", *words.split(), *NATIVE)
    assert status == 2
    (line,) = said
    assert line.startswith(f"error: {sentence}")
    assert line.endswith("iB")


@pytest.mark.parametrize(("words", "sentence"), CONTRADICTIONS)
def test_impossible_by_the_options_alone(tmp_path: Path, words: str, sentence: str) -> None:
    """Said before anything starts: no record."""
    record = tmp_path / "record.json"
    status, said = run(record, *words.split())
    assert status == 2
    (line,) = said
    assert sentence in line
    assert not record.exists()


@pytest.mark.parametrize("runtime", [NATIVE, ON_POCL])
def test_a_memory_kind_that_the_device_does_not_have(
    tmp_path: Path, runtime: tuple[str, ...]
) -> None:
    record = tmp_path / "record.json"
    words = "stream --elements 99 --operation copy --memory hbm"
    status, said = run(record, *words.split(), *runtime)
    assert status == 2
    (line,) = said
    assert "has no memory of kind hbm" in line
    assert not record.exists()


@pytest.mark.parametrize(("words", "runtime", "reason"), LACKING)
def test_what_a_device_lacks_is_unsupported(
    tmp_path: Path, words: str, runtime: tuple[str, ...], reason: str
) -> None:
    """Also as the only case: reported, recorded, and not a failure."""
    record = tmp_path / "record.json"
    status, said = run(record, *words.split(), *runtime)
    assert status == 0, said
    told = [line for line in said if " is unsupported: " in line]
    assert told
    assert all(line.startswith("warning: ") and reason in line for line in told)
    written = json.loads(record.read_text())
    assert {case["outcome"]["status"] for case in written["cases"]} == {"unsupported"}
    assert written["outcome"]["status"] == "unsupported"


@pytest.mark.parametrize(("words", "fixed", "sentence"), FIXED)
def test_options_that_contradict_a_kernel_file(
    tmp_path: Path, words: str, fixed: tuple[str, ...], sentence: str
) -> None:
    benchmark = words.split()[0]
    own = ROOT / "benchmarks" / "hpcc" / benchmark / "single_work_item.cl"
    file = tmp_path / "fixed.cl"
    names = [line.split()[1] for line in fixed]
    file.write_text("\n".join([*(f"#undef {name}" for name in names), *fixed, own.read_text()]))
    record = tmp_path / "record.json"
    status, said = run(record, *words.split(), *PIPELINE, *ON_POCL, "--kernel-file", str(file))
    assert status == 3
    assert any(line.startswith("error: ") and sentence in line for line in said), said


def test_a_kernel_that_does_not_compile_tells_its_log_once(tmp_path: Path) -> None:
    """In progress and in the record, not in the table; the run reports the error."""
    file = tmp_path / "mine.cl"
    file.write_text("kernel void copy(global int *a) { nonesuch(a); }\n")
    words = ["stream", "--elements", "1000", "--repetitions", "1", "--kernel-file", str(file)]
    record = tmp_path / "r.json"
    done = subprocess.run(
        [str(ENGINE), *words, *ON_POCL, "--record", str(record)],
        env=environment(ON_POCL),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("could not compile") == 5  # a sentence for each case that needs it
    cases = json.loads(record.read_text())["cases"]
    reasons = [case["outcome"]["reason"] for case in cases if case["outcome"]["status"] == "error"]
    assert ["nonesuch" in reason for reason in reasons] == [True, False, False, False, False]
    assert all(reason.endswith("(case copy has the log)") for reason in reasons[1:])
    assert "nonesuch" not in done.stdout
    assert "(the record has the log)" in " ".join(done.stdout.split())
    outcome = json.loads(record.read_text())["outcome"]["reason"]
    assert outcome.startswith("copy: could not compile")
    assert "\n" not in outcome


@pytest.mark.parametrize("form", ["hpcc-json", "shoms", "osu"])
def test_a_form_that_a_benchmark_lacks_is_refused_before_anything_starts(
    tmp_path: Path, form: str
) -> None:
    record = tmp_path / "r.json"
    done = subprocess.run(
        [str(ENGINE), "ceilings", *NATIVE, "--format", form, "--record", str(record)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    sentence = f"ceilings has no form {form}: --format must be one of table, csv, json"
    assert done.stderr == f"error: {sentence}\n"
    assert not record.exists()
