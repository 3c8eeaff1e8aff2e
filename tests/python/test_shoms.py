"""shoms and osu_shmem from the command: selection, lists, forms, and errors before anything starts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plumbline.base.errors import ExitStatus
from plumbline.engine.program import shmem_engine

Plumb = Callable[..., tuple[int, str, str]]
pytestmark = pytest.mark.skipif(shmem_engine(os.environ) is None, reason="there is no plumb-shmem")
QUICK = ["--no-model", "--time-limit", "0.002", "--max-repetitions", "6"]


def run(plumb: Plumb, benchmark: str, *words: str, pes: int = 2) -> tuple[int, str, str]:
    """Runs a benchmark on some PEs, cores or not."""
    return plumb("run", benchmark, "-n", str(pes), "--oversubscribe", *QUICK, *words)


def test_a_list_of_tests_and_sizes_in_shoms_columns(plumb: Plumb, tmp_path: Path) -> None:
    (tmp_path / "tests").write_text("LONG_PUT\nbarrier_all\n")
    (tmp_path / "sizes").write_text("8\n24\n")
    lists = ["--input", str(tmp_path / "tests"), "--msglen", str(tmp_path / "sizes")]
    record, results = tmp_path / "r.json", tmp_path / "results"
    words = ["--format", "shoms", "--output", str(results), "--record", str(record)]
    status, _, err = run(plumb, "shoms", *lists, *words, "--warmup", pes=3)
    assert status == ExitStatus.PASSED, err
    blocks = results.read_text().split("# Benchmarking ")
    assert [block.split()[0] for block in blocks[1:]] == ["long_put", "barrier_all"]
    assert "#processes = 3" in blocks[1]
    cases = json.loads(record.read_text())["cases"]
    assert [case["key"] for case in cases] == ["long_put/8", "long_put/24", "barrier_all"]
    row = blocks[1].splitlines()[-3].split()
    mean_s = cases[1]["summary"]["mean_s"] / cases[1]["count"]
    assert row[0] == "24"
    assert int(row[1]) == cases[1]["count"] * cases[1]["repetitions"]
    assert float(row[4]) == pytest.approx(mean_s * 1e9, abs=0.006)
    assert float(row[5]) == pytest.approx(2 * 24 / mean_s / 1e6, rel=0.01)


def test_off_cache(plumb: Plumb) -> None:
    sizes = ["--minsize", "1048576", "--maxsize", "1048576"]
    status, _, err = run(plumb, "shoms", "--only", "local_read", *sizes, "--off_cache")
    assert status == ExitStatus.PASSED, err


def test_affinity_is_a_matrix_of_cores(plumb: Plumb, tmp_path: Path) -> None:
    record = tmp_path / "r.json"
    words = ["--affinity", "--cores", "0", "--only", "int_put,test_lock"]
    status, _, err = run(plumb, "shoms", *words, "--record", str(record))
    assert status == ExitStatus.PASSED, err
    keys = [case["key"] for case in json.loads(record.read_text())["cases"]]
    assert set(keys) == {"0-0/int_put/8", "0-0/test_lock"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "int_gut"], "int_gut"),
        (["--minsize", "64", "--maxsize", "8"], "--minsize 64 is above --maxsize 8"),
        (["--msglen", "/nowhere"], "/nowhere cannot be read"),
        (["--cores", "0"], "--cores requires --affinity"),
        (["--spread", "20", "--off-cache"], "--spread and --off-cache must not be combined"),
        (["--affinity", "--cores", "4096"], "--cores 4096"),
        (["--only", "finalize"], "finalize cannot be run here"),
        (
            ["--format", "osu"],
            "invalid value 'osu' for --format: shoms has table, csv, json, shoms",
        ),
        (["--maxsize", "68719476736", "--only", "long_put/"], "no test"),
    ],
)
def test_what_cannot_be_is_refused(plumb: Plumb, words: list[str], said: str) -> None:
    status, _, err = run(plumb, "shoms", *words)
    assert status == ExitStatus.BAD_USAGE
    assert said in err


def test_an_unknown_test_in_a_list_is_refused_by_name(plumb: Plumb, tmp_path: Path) -> None:
    (tmp_path / "tests").write_text("long_put\nlong_pat\n")
    status, _, err = run(plumb, "shoms", "--input", str(tmp_path / "tests"))
    assert status == ExitStatus.BAD_USAGE
    assert "line 2: unknown test long_pat (did you mean long_put?)" in err


def test_one_pe_is_too_few(plumb: Plumb) -> None:
    status, _, err = run(plumb, "shoms", pes=1)
    assert status == ExitStatus.BAD_USAGE
    assert "two or more" in err


def test_sizes_above_the_memory_are_refused(plumb: Plumb) -> None:
    status, _, err = run(plumb, "shoms", "--only", "long_put", "--maxsize", "68719476736")
    assert status == ExitStatus.BAD_USAGE
    assert "GiB" in err


def test_osu_in_its_columns(plumb: Plumb) -> None:
    words = [
        "--only",
        "osu_oshm_put_bw,osu_oshm_put_overlap",
        "--minsize",
        "1024",
        "--maxsize",
        "1024",
    ]
    status, out, err = run(plumb, "osu_shmem", *words, "--format", "osu")
    assert status == ExitStatus.PASSED, err
    assert "Bandwidth (MB/s)" in out
    assert "Overlap(%)" in out
    assert "memory: heap" in out


def test_osus_figures_are_means_over_pes(plumb: Plumb, tmp_path: Path) -> None:
    """Over acting PEs, or all; overlap uses PE 0's only. The slowest PE is listed as well."""
    record = tmp_path / "r.json"
    tests = ["--only", "osu_oshm_put_mr,osu_oshm_put_overlap,osu_oshm_barrier"]
    words = [*tests, "--minsize", "64", "--maxsize", "64", "--record", str(record)]
    status, _, err = run(plumb, "osu_shmem", *words, pes=4)
    assert status == ExitStatus.PASSED, err
    cases = {case["labels"]["kind"]: case for case in json.loads(record.read_text())["cases"]}
    for kind, pes in (("message rate", 2), ("overlap", 1), ("collective", 4)):
        metrics = {metric["name"]: metric["value"] for metric in cases[kind]["metrics"]}
        tallies = cases[kind]["tallies"]
        assert tallies["own_samples"] == pes * cases[kind]["repetitions"]
        mean_s = tallies["own_s"] / tallies["own_samples"]
        assert metrics["latency"] == pytest.approx(mean_s * 1e6)
        assert metrics["latency_slowest"] >= metrics["latency"] * 0.9999
    rates = cases["message rate"]
    metrics = {metric["name"]: metric["value"] for metric in rates["metrics"]}
    assert metrics["message_rate"] == pytest.approx(
        rates["tallies"]["own_rates"] / rates["repetitions"]
    )
