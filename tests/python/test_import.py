"""``plumb import``: other suites' results as records that are marked, and stand in lists and figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Plumb

from plumbline.record.record import load_record

OSU = """# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.25              2.00              2.50        1000
8                       2.50              2.25              2.75        1000
16                      3.00              2.50              3.50        1000
"""
OSU_OLD = "# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n0   1.25\n1   1.50\n"
IMB = """#    Intel(R) MPI Benchmarks 2021.8, MPI-1 part
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
            1         1000         0.75         1.25
# Benchmarking Allreduce
# #processes = 4
# ( 4 additional processes waiting in MPI_Barrier)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4          100         4.25         4.75         4.50
"""
NCCL = """# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid   11 on   node-1 device  0 [0x8d] Some GPU 80GB
[1,0]<stdout>:#  Rank  1 Group  0 Pid   12 on   node-2 device  1 [0x91] Some GPU 80GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    12.50    0.25    0.50      0    12.25    0.25    0.50      0
[1,0]<stdout>:          16             4     float     sum      -1    12.75    0.50    0.75    N/A    12.25    0.50    0.75    N/A
"""
FPGA_HEAD = """Implementation of the {} benchmark proposed in the HPCC benchmark suite for FPGA.
Version: 2.6

Summary:
Kernel Replications           4
MPI Ranks                     2
Device                        some board

-------------------------------------------------------------
"""
STREAM = """       Function Best Rate MB/s     Avg time s       Min time       Max time
           Copy    6.50000e+04    1.50000e-01    1.25000e-01    1.75000e-01
       PCI read    6.25000e+03    2.50000e+00    2.25000e+00    2.75000e+00
Validation: SUCCESS!
"""
B_EFF = """Validation Time: 2.50000e-06 s
          MSize        looplength          transfer               B/s
              1             65536       4.50000e-02       1.25000e+07
           1024             65536       5.00000e-02       1.00000e+10

b_eff = 2.50000e+10 B/s
Validation: SUCCESS!
"""
GEMM = """  norm. resid        resid       machep
    9.50000e-09    9.50000e-05    1.25000e-07
           best           mean         GFLOPS
    1.75000e+01    1.76000e+01    4.92500e+03
"""
HPCC = """Begin of Summary section.
VersionMajor=1
VersionMinor=5
VersionMicro=0
CommWorldProcs=4
Success=1
HPL_Tflops=0.005
HPL_N=1000
StarSTREAM_Triad=12.5
MPIRandomAccess_GUPs=-1
RandomlyOrderedRingLatency_usec=1.5
End of Summary section.
"""


@pytest.fixture
def imported(plumb: Plumb, home: Path, tmp_path: Path):
    def call(text: str, *words: str, name: str = "file.txt"):
        path = tmp_path / name
        path.write_text(text)
        status, out, err = plumb("import", str(path), *words)
        assert status == 0, err
        return [load_record(Path(line)) for line in out.splitlines()]

    return call


def figures(record, key: str) -> dict[str, tuple[float, str]]:
    (case,) = [case for case in record.cases if case.key == key]
    return {metric.name: (metric.value, metric.unit) for metric in case.metrics}


def test_osu(imported) -> None:
    (record,) = imported(OSU, "--host", "node1", "--ranks", "4", "--date", "2020-01-02")
    assert (record.benchmark.name, record.program.version) == ("osu_allreduce", "7.3")
    assert (record.world.ranks, record.hosts[0].name) == (4, "node1")
    assert record.started == "2020-01-02T00:00:00Z"
    assert figures(record, "8") == {
        "avg_latency": (2.5, "us"),
        "min_latency": (2.25, "us"),
        "max_latency": (2.75, "us"),
    }
    assert [warned.code for warned in record.warnings] == ["imported"]
    assert record.cases[0].outcome.status == "skipped"
    assert "imported from file.txt" in (record.cases[0].outcome.reason or "")
    (old,) = imported(OSU_OLD)
    assert old.benchmark.name == "osu_latency"
    assert figures(old, "1") == {"latency": (1.5, "us")}


def test_imb(imported) -> None:
    ping, reduce = imported(IMB)
    assert (ping.benchmark.name, ping.world.ranks) == ("imb_pingpong", 2)
    assert figures(ping, "1") == {"t": (0.75, "us"), "bandwidth": (1.25, "MB/s")}
    assert (reduce.benchmark.name, reduce.world.ranks) == ("imb_allreduce", 4)
    assert figures(reduce, "4")["t_avg"] == (4.5, "us")


def test_nccl(imported) -> None:
    (record,) = imported(NCCL, name="all_reduce_perf.log")
    assert record.benchmark.name == "nccl_all_reduce"
    assert [host.name for host in record.hosts] == ["node-1", "node-2"]
    assert record.devices() == ["Some GPU 80GB"]
    assert figures(record, "float/16")["busbw"] == (0.75, "GB/s")
    assert figures(record, "float/8")["time_in_place"] == (12.25, "us")


def test_hpcc(imported) -> None:
    (record,) = imported(HPCC)
    values = {metric.name: (metric.value, metric.unit) for metric in record.metrics}
    assert values == {
        "HPL_Tflops": (0.005, "TFLOP/s"),
        "StarSTREAM_Triad": (12.5, "GB/s"),
        "RandomlyOrderedRingLatency_usec": (1.5, "us"),
    }
    assert (record.world.ranks, record.parameters) == (4, {"HPL_N": "1000"})


def test_hpcc_fpga_text(imported) -> None:
    (stream,) = imported(FPGA_HEAD.format("STREAM") + STREAM)
    assert (stream.benchmark.name, stream.world.ranks) == ("hpcc_fpga_stream", 2)
    assert stream.devices() == ["some board"]
    assert figures(stream, "Copy")["best_rate"] == (65000.0, "MB/s")
    assert figures(stream, "PCI read")["avg_time"] == (2.5, "s")
    (b_eff,) = imported(FPGA_HEAD.format("effective bandwidth") + B_EFF)
    assert b_eff.benchmark.name == "hpcc_fpga_b_eff"
    assert figures(b_eff, "1024")["bandwidth"] == (1e10, "B/s")
    assert b_eff.metric("b_eff") is not None
    (gemm,) = imported(FPGA_HEAD.format("GEMM") + GEMM)
    assert figures(gemm, "result")["gflops"] == (4925.0, "GFLOP/s")
    assert len(gemm.cases) == 1


@pytest.mark.parametrize("name", ["b_eff_2_passed", "b_eff_2_failed", "ptrans_2", "hpl_2"])
def test_hpcc_fpga_json(imported, name: str) -> None:
    text = (ROOT / "tests" / "golden" / f"{name}.hpcc.json").read_text()
    (record,) = imported(text)
    assert record.world.ranks == 2
    assert record.metrics or record.cases
    if name == "b_eff_2_passed":
        assert record.metrics[0].value == json.loads(text)["results"]["b_eff"]["value"]
        assert figures(record, "1")["bandwidth"][1] == "B/s"


def test_they_stand_beside_others(imported, plumb: Plumb, tmp_path: Path) -> None:
    imported(OSU, "--date", "2020-01-02")
    imported(OSU, "--date", "2020-01-03")  # the same results again: the same record
    status, out, _ = plumb("records", "--format", "json")
    assert (status, len(json.loads(out))) == (0, 1)
    status, out, err = plumb("history", "osu_allreduce", "--metric", "avg_latency", "--case", "8")
    assert (status, "2.5 us" in out) == (0, True), err
    status, out, _ = plumb("plot", "last", "--figure", "avg", "--plot", "tty")
    assert plumb("report", "last", "--output", str(tmp_path / "x.html"))[0] == 0
    assert "imported from file.txt" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("text", ["", "hello\n1 2 3\n", "{}", '{"results": 1}', "# OSU x v1\n"])
def test_what_is_of_no_suite(plumb: Plumb, home: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    status, _, err = plumb("import", str(tmp_path / "x"))
    assert (status, "is no result of a known suite" in err) == (2, True)
    assert plumb("import", str(tmp_path / "nowhere"))[0] == 2
    (tmp_path / "y").write_text(OSU)
    assert plumb("import", str(tmp_path / "y"), "--date", "yesterday")[0] == 2
