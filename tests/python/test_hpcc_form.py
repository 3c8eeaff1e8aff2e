"""``--format hpcc-json`` of real runs has HPCC FPGA's keys and shapes, its types put right."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.launching import PATIENCE_S, program

ENGINE = program("plumb-serial")
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")

OPERATIONS = ("PCI_write", "Copy", "Scale", "Add", "Triad", "Dot", "PCI_read")  # Dot is ours
ARRAYS = ("expected", "average_error", "average_relative_error")
COMMON = {
    "Communication Type": None,
    "Kernel File": None,
    "Kernel Replications": 1,
    "MPI Ranks": 1,
    "Repetitions": 2,
    "Test Mode": False,
}
FORMS = [  # options; name, results with units, timings, errors, settings
    (
        "stream --elements 1000 --type double",
        "STREAM",
        {
            f"{name}_{what}": "MB/s" if what == "best_rate" else "s"
            for name in OPERATIONS
            for what in ("best_rate", "min_t", "avg_t", "max_t")
        },
        OPERATIONS,
        {"epsilon", *(f"{array}_{what}" for array in "abc" for what in ARRAYS)},
        {"Array Size": 1000, "Data Type": "double", "Kernel Type": "Separate"},
    ),
    (
        "random_access --size 10",
        "random access",
        {"guops": "GUOP/s", "t_min": "s", "t_mean": "s"},
        ("execution",),
        {"ratio"},
        {"Array Size": 1024, "#RNGs": 32},
    ),
    (
        "fft --size 5 --batch 4",
        "FFT",
        {"gflops_avg": "GFLOP/s", "gflops_min": "GFLOP/s", "t_avg": "s", "t_min": "s"},
        ("execution",),
        {"residual", "epsilon"},
        {"FFT Size": 32, "Batch Size": 4, "Inverse": False, "Data Type": "float"},
    ),
    (
        "gemm --size 33",
        "GEMM",
        {"gflops": "GFLOP/s", "t_min": "s", "t_mean": "s"},
        ("execution",),
        {"residual", "residual_norm", "epsilon"},
        {"Matrix Size": 33, "Block Size": None, "Data Type": "float", "Replicate Inputs": False},
    ),
]


@pytest.mark.parametrize(("words", "name", "results", "timings", "errors", "settings"), FORMS)
def test_keys_and_shapes(
    words: str,
    name: str,
    results: dict[str, str],
    timings: tuple[str, ...],
    errors: set[str],
    settings: dict[str, object],
) -> None:
    quiet = "--runtime native --repetitions 2 --record none --progress none --format hpcc-json"
    command = [str(ENGINE), *words.split(), *quiet.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    form = json.loads(done.stdout)
    assert form["name"] == name
    assert form["validated"] is True
    assert {key: value["unit"] for key, value in form["results"].items()} == results
    assert all(value["value"] > 0 for value in form["results"].values())
    assert set(form["timings"]) == set(timings)
    for repetitions in form["timings"].values():
        assert [one["unit"] for one in repetitions] == ["s", "s"]
    assert set(form["errors"]) == errors
    assert all(isinstance(value, float | None) for value in form["errors"].values())
    assert form["settings"] == COMMON | settings
    heads = {"version", "git_commit", "config_time", "execution_time", "device", "environment"}
    assert heads <= set(form)
