"""``--format hpcc`` and ``hpcc-fpga``, parsed as by scripts for the originals."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, ROOT, Plumb

from plumbline.base.errors import UsageError
from plumbline.record.record import Record, parse_record
from plumbline.report import hpcc
from plumbline.report.hpcc_fpga import text_of

Golden = Callable[[str, str], None]
GOLDENS = ROOT / "tests" / "golden"


def document(name: str) -> dict[str, Any]:
    return json.loads((GOLDENS / f"{name}.record.json").read_text())


def record(name: str, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Record:
    found = document(name)
    change(found)
    return parse_record(json.dumps(found), name)


def read(text: str) -> dict[str, str]:
    """The summary section as most scripts read it: key=value lines between its two marks."""
    section = text.split("Begin of Summary section.\n")[1].split("End of Summary section.")[0]
    return dict(line.split("=", 1) for line in section.splitlines())


# --- hpccoutf.txt ---------------------------------------------------------------------------------


def test_every_key_of_hpcc_in_its_order() -> None:
    assert list(hpcc.KEYS) == (DATA / "hpccoutf-1.5.0.keys").read_text().split()
    assert list(read(hpcc.write([]))) == list(hpcc.KEYS)
    assert set(read(hpcc.write([])).values()) == {"-1", "-"}


def test_two_records_are_joined(golden: Golden) -> None:
    text = hpcc.write([record("hpl_2"), record("ptrans_2")])
    golden("hpcc.txt", text + "\n")
    found = read(text)
    assert float(found["HPL_Tflops"]) == pytest.approx(19.8817e-3)
    assert (found["HPL_N"], found["HPL_NB"], found["HPL_npcol"]) == ("1000", "64", "2")
    assert float(found["HPL_dMACH_EPS"]) == pytest.approx(2.0**-53, rel=1e-5)
    assert float(found["HPL_sMACH_RMAX"]) == pytest.approx(3.40282e38)
    assert (found["PTRANS_n"], found["PTRANS_nprow"], found["PTRANS_residual"]) == (
        "1000",
        "1",
        "0",
    )
    assert float(found["PTRANS_GBs"]) > 0
    for key in ("HPL_RnormI", "SingleDGEMM_Gflops", "MPIFFT_Gflops", "StarSTREAM_Triad"):
        assert found[key] == "-1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d["parameters"].update(type="float"), "it is in float, HPCC's in double"),
        (lambda d: d["parameters"].update(matrix="dominant"), "HPL's matrix is general"),
        (lambda d: d["outcome"].update(status="failed", reason="wrong"), "the run is failed"),
        (lambda d: d["benchmark"].update(name="osu_shmem"), "HPCC has no such benchmark"),
    ],
)
def test_what_is_not_hpccs_is_left_out_with_the_reason(
    change: Callable[[dict[str, Any]], None], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = read(hpcc.write([record("hpl_2", change)]))
    assert found["HPL_Tflops"] == "-1"
    assert f"left out: {reason}" in capsys.readouterr().err


def as_benchmark(name: str, case: dict[str, Any], ranks: int = 2, **parameters: Any) -> Record:
    """The golden record with another benchmark's case in it."""

    def change(found: dict[str, Any]) -> None:
        found["benchmark"]["name"] = name
        found["parameters"] = parameters
        found["world"]["ranks"] = ranks
        found["ranks"] = found["ranks"][:ranks]
        whole = copy.deepcopy(found["cases"][0])
        whole["samples"]["by_rank"] = whole["samples"]["by_rank"][:ranks]
        base = whole["metrics"][0]
        metrics = [{**base, "name": n, "value": v} for n, v in case["metrics"].items()]
        found["cases"] = [{**whole, "labels": case["labels"], "metrics": metrics}]

    return record("hpl_2", change)


@pytest.mark.parametrize(
    ("name", "case", "parameters", "keys"),
    [
        ("stream", {"labels": {"operation": "triad"}, "metrics": {"bandwidth": 30.0, "bandwidth_per_rank": 15.5}},
         {"elements": 1000, "type": "double"}, {"StarSTREAM_Triad": "15.5", "STREAM_VectorSize": "1000"}),
        ("gemm", {"labels": {"rows": 256}, "metrics": {"performance": 30.0, "performance_per_rank": 16.0}},
         {"type": "double"}, {"StarDGEMM_Gflops": "16", "DGEMM_N": "256", "SingleDGEMM_Gflops": "-1"}),
        ("fft", {"labels": {"direction": "forward", "points": 1024}, "metrics": {"performance_per_rank": 3.0}},
         {"type": "double"}, {"StarFFT_Gflops": "3", "FFT_N": "1024"}),
        ("random_access", {"labels": {"updates": "atomic", "table_bytes": 8192}, "metrics": {"updates_per_rank": 0.1}},
         {"stream": "lcg"}, {"StarRandomAccess_LCG_GUPs": "0.1", "RandomAccess_LCG_N": "1024"}),
        ("gups", {"labels": {"variant": "bucketed", "table_bytes": 8192}, "metrics": {"updates": 0.2}},
         {"time-bound": 60}, {"MPIRandomAccess_GUPs": "0.2", "MPIRandomAccess_Errors": "0", "MPIRandomAccess_N": "1024"}),
        ("b_eff", {"labels": {"ring": "random", "part": "transfer", "message_bytes": 8}, "metrics": {"time_per_message": 3.0}},
         {"form": "exchange"}, {"RandomlyOrderedRingLatency_usec": "1.5", "NaturallyOrderedRingLatency_usec": "-1"}),
        ("b_eff", {"labels": {"ring": "natural", "part": "transfer", "message_bytes": 2**21},
                   "metrics": {"time_per_message": 250.0}},
         {"form": "ping-pong"}, {"MinPingPongLatency_usec": "-1", "MinPingPongBandwidth_GBytes": "8.38861"}),
    ],
)  # fmt: skip
def test_a_key_of_each_benchmark(
    name: str, case: dict[str, Any], parameters: dict[str, Any], keys: dict[str, str]
) -> None:
    found = read(hpcc.write([as_benchmark(name, case, **parameters)]))
    assert {key: found[key] for key in keys} == keys


def test_one_rank_alone_is_single() -> None:
    case = {"labels": {"operation": "copy"}, "metrics": {"bandwidth": 12.0}}
    found = read(hpcc.write([as_benchmark("stream", case, ranks=1, type="double")]))
    assert (found["SingleSTREAM_Copy"], found["StarSTREAM_Copy"]) == ("12", "-1")


# --- HPCC FPGA's tables ---------------------------------------------------------------------------

NUMBER = r"[\d.+\-e]+"


def values(text: str, head: str, row: str) -> list[float]:
    """The numbers of the row that starts with ``row`` below the line that has ``head``'s words."""
    words = r"\s+".join(re.escape(word) for word in head.split("|"))
    table = re.search(rf"^\s*{words}\s*\n(?P<rows>(?:.*\S.*\n)+)", text, re.MULTILINE)
    assert table is not None, head
    line = next(line for line in table["rows"].splitlines() if line.strip().startswith(row))
    rest = line.strip().removeprefix(row)
    return [float(word) for word in rest.split() if re.fullmatch(NUMBER, word)]


def form(name: str) -> dict[str, Any]:
    return json.loads((GOLDENS / f"{name}.hpcc.json").read_text())


def test_ptrans(golden: Golden) -> None:
    text = text_of(form("ptrans_2")) + "\n"
    golden("hpcc-fpga-ptrans.txt", text)
    head = "total time|transfer time|calc time|calc FLOPS|Memory Bandwidth|PCIe Bandwidth"
    results = form("ptrans_2")["results"]
    for row, time, rate in (("avg:", "avg", "avg"), ("best:", "min", "max")):
        names = [f"{time}_t", f"{time}_transfer_t", f"{time}_calc_t", f"{rate}_calc_flops"]
        names += [f"{rate}_mem_bandwidth", f"{rate}_transfer_bandwidth"]
        wanted = [results[name]["value"] for name in names]
        assert values(text, head, row) == pytest.approx(wanted, rel=1e-5)
    assert re.search(r"Matrix Size\s+1000\n", text)
    assert "P=1 ,Q=2" in text


def test_linpack(golden: Golden) -> None:
    text = text_of(form("hpl_2")) + "\n"
    golden("hpcc-fpga-linpack.txt", text)
    results = form("hpl_2")["results"]
    for row, part in (("total", ""), ("GEFA", "lu"), ("GESL", "sl")):
        rate = f"gflops_{part}" if part else "gflops"
        wanted = [results[name]["value"] for name in (f"t{part}_min", f"t{part}_mean", rate)]
        assert values(text, "Method|best|mean|GFLOPS", row) == pytest.approx(wanted, rel=1e-5)


def test_b_eff(golden: Golden) -> None:
    text = text_of(form("b_eff_2_passed")) + "\n"
    golden("hpcc-fpga-b_eff.txt", text)
    size, loop, seconds, rate = values(text + "\n", "MSize|looplength|time [s]|B/s", "")[:4]
    assert (size, loop) == (1, form("b_eff_2_passed")["timings"]["0"]["timings"][0]["looplength"])
    assert rate > 0 < seconds
    failed = text_of(form("b_eff_2_failed"))
    assert failed.endswith("ERROR: VALIDATION OF OUTPUT DATA FAILED!")


def quantities(**values: float) -> dict[str, Any]:
    return {
        name: {"unit": "s" if "_t" in name or name.startswith("t_") else "GFLOP/s", "value": v}
        for name, v in values.items()
    }


COMMON = {
    "name": "",
    "version": "0.1.0",
    "git_commit": "abc",
    "device": "a board",
    "validated": True,
}


def test_the_benchmarks_of_one_device() -> None:
    settings = {"MPI Ranks": 2, "Kernel Replications": 1, "Communication Type": None}
    ops = ("PCI_write", "PCI_read", "Copy", "Scale", "Add", "Triad")
    results = quantities(
        **{
            f"{o}_{w}": float(i + j)
            for i, o in enumerate(ops, 1)
            for j, w in enumerate(("best_rate", "avg_t", "min_t", "max_t"))
        }
    )
    stream = (
        text_of(
            {
                **COMMON,
                "name": "STREAM",
                "results": results,
                "errors": {"epsilon": 1e-16},
                "settings": {
                    **settings,
                    "Array Size": 10,
                    "Data Type": "double",
                    "Kernel Type": "Separate",
                },
            }
        )
        + "\n"
    )
    assert re.search(rf"Array Size\s+10 \({NUMBER} Byte \)", stream)
    for i, op in enumerate(ops, 1):
        assert values(stream, "Function|Best Rate|Avg time|Min time|Max time", op) == [
            i,
            i + 1,
            i + 2,
            i + 3,
        ]
    errors = {"residual": 1.0, "residual_norm": 0.5, "epsilon": 1e-16}
    gemm = (
        text_of(
            {
                **COMMON,
                "name": "GEMM",
                "results": quantities(t_min=1.0, t_mean=2.0, gflops=3.0),
                "errors": errors,
                "settings": {**settings, "Matrix Size": 64, "Data Type": "float"},
            }
        )
        + "\n"
    )
    assert values(gemm, "best|mean|GFLOPS", "") == [1, 2, 3]
    assert values(gemm, "norm. residual|res. error|mach. eps", "") == [0.5, 1, 1e-16]
    updates = (
        text_of(
            {
                **COMMON,
                "name": "random access",
                "results": quantities(t_min=1.0, t_mean=2.0, guops=3.0),
                "errors": {"ratio": 0.0},
                "settings": {**settings, "Array Size": 1024, "#RNGs": 32},
            }
        )
        + "\n"
    )
    assert values(updates, "best|mean|GUOPS", "") == [1, 2, 3]
    assert "1024 (1.63840e+04 Byte )" in updates
    transforms = (
        text_of(
            {
                **COMMON,
                "name": "FFT",
                "results": quantities(t_avg=2.0, t_min=1.0, gflops_avg=3.0, gflops_min=4.0),
                "errors": errors,
                "settings": {
                    **settings,
                    "FFT Size": 64,
                    "Batch Size": 8,
                    "Data Type": "float",
                    "Inverse": False,
                },
            }
        )
        + "\n"
    )
    assert values(transforms, "avg|best", "Time in s:") == [2, 1]
    assert values(transforms, "avg|best", "GFLOPS:") == [3, 4]
    # HPCC FPGA's script requires one line between these two.
    assert re.search(r"Batch Size\s+8\n.*\nFFT Size\s+64\n", transforms)


def test_a_row_begins_with_its_number_and_none_is_nan() -> None:
    gemm = {
        **COMMON,
        "name": "GEMM",
        "results": quantities(t_min=0.5, t_mean=2.0),
        "errors": {"residual": None, "residual_norm": None, "epsilon": 1e-16},
        "settings": {"MPI Ranks": 1},
    }
    lines = text_of(gemm).splitlines()
    row = lines[next(i for i, line in enumerate(lines) if "GFLOPS" in line) + 1]
    assert row.startswith("5.00000e-01 s")
    assert row.split()[-1] == "nan"
    with pytest.raises(UsageError, match="not for X"):
        text_of({**gemm, "name": "X"})


@pytest.mark.usefixtures("stand_in")
def test_show_joins_records_for_hpcc_alone(plumb: Plumb, tmp_path: Path) -> None:
    names = [str(GOLDENS / f"{name}.record.json") for name in ("hpl_2", "ptrans_2")]
    status, out, err = plumb("show", *names, "--format", "hpcc")
    assert (status, err) == (0, "")
    assert read(out)["PTRANS_n"] == "1000"
    status, printed, err = plumb(
        "show", *names, "--format", "hpcc", "--output", str(tmp_path / "x")
    )
    assert (status, printed) == (0, "")
    assert (tmp_path / "x").read_text() == out
    status, out, err = plumb("show", *names)
    assert (status, err) == (2, "plumb: --format table takes one record: hpcc joins several\n")
