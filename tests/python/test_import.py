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
OSU_IBARRIER = """# OSU MPI Non-blocking Barrier Latency Test v5.7.1
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

       Overall(us)       Compute(us)        Overlap(%)
              8.50              4.25             65.50
"""
OSU_MANY = """Sat Jan  3 00:20:52 2026[1,0]<stdout>:# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.4
Sat Jan  3 00:20:52 2026[1,0]<stdout>:# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)
Sat Jan  3 00:20:52 2026[1,0]<stdout>:# Datatype: MPI_CHAR.
Sat Jan  3 00:20:52 2026[1,0]<stdout>:# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)
Sat Jan  3 00:20:52 2026[1,0]<stdout>:8                       1.25              Pass              1.50              0.75
Sat Jan  3 00:20:52 2026[1,0]<stdout>:16                      2.25              Fail              2.50              0.75
# Datatype: MPI_INT.
# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)
8                       1.75              Pass              2.00              1.25
# OSU MPI Barrier Latency Test v5.4
# Avg Latency(us)
             1.75
# OSU MPI Init Test v5.4
nprocs: 2, min: 12 ms, max: 12 ms, avg: 12 ms
# OSU MPI Non-Blocking All-to-Allv Personalized Exchange Latency Test v5.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
1                       4.25              2.50              1.75             16.25
# OSU MPI Multiple Bandwidth / Message Rate Test v5.4
# [ pairs: 2 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                      58.25       58250000.00
# OSU MPI_Compare_and_swap latency Test v5.4
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Size          Latency (us)
8                       0.25
# OSU OpenSHMEM Atomic Operation Rate Test v5.4
# Operation               Million ops/s        Latency (us)
shmem_int_fadd                     1.25                0.75
"""
IMB = """#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
            1         1000         0.75         1.25
            2 time-out.; Time limit is over
# Benchmarking Barrier
# #processes = 4
# ( 4 additional processes waiting in MPI_Barrier)
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
          100         4.25         4.75         4.50
# Benchmarking Multi-Allreduce
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0            4          100         1.25         1.75         1.50
            1            4          100         2.25         2.75         2.50
# Benchmarking Unidir_put
# #processes = 2
#    MODE: NON-AGGREGATE
       #bytes #repetitions      t[usec]   Mbytes/sec
            4          100         0.75         1.25
# Benchmarking Unidir_put
# #processes = 2
#    MODE: AGGREGATE
       #bytes #repetitions      t[usec]   Mbytes/sec
            4          100         0.25         3.25
# Benchmarking UniBandMT
# #processes = 2 (threads: 3)
# window_size = 64
       #bytes #repetitions  t_avg[usec]   Mbytes/sec      Msg/sec
            4          100         0.25         3.25        12075
"""
NCCL = """# nccl-tests version 2.17.6 nccl-headers=22602 nccl-library=22602
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid   11 on   node-1 device  0 [0000:8d:00] Some GPU 80GB
[1,0]<stdout>:#  Rank  1 Group  0 Pid   12 on   node-2 device  1 [0x91] Some GPU 80GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    12.50    0.25    0.50      0    12.25    0.25    0.50      3
[1,0]<stdout>:          16             4     float     sum      -1    12.75    0.50    0.75    N/A    12.25    0.50    0.75    N/A
# Out of bounds values : 3 FAILED
# Collective test concluded: all_reduce_perf
# Collective test starting: alltoall_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor)
    67108864      16777216     float    none      -1    10578    6.25    6.25      0    10585    6.25    6.25    N/A   2026-01-02 03:04:05
"""
# Columns of earlier versions (an error, no root, no operation), and with -I.
NCCL_OLD = """# nThread 1 nGpus 1 minBytes 8
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
        4096          1024     float     sum   120921    0.25    0.50  1e-06    93.25    0.25    0.50  1e-06
#       size         count      type     time   algbw   busbw  error     time   algbw   busbw  error
        8192          1024     int8     120921    0.75    0.50  0e+00    93.25    0.25    0.50  0e+00
       16384          1024     float     sum      -1    2.50    0.25    0.50      0    1.25    4.00    3.75   12.50    2.25    0.25    0.50      0    1.00    4.00    3.50   12.25
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
RANDOM_ACCESS = """         best         mean        GUOPS        error
  8.75000e+00  8.75500e+00  2.50000e-01  9.94317e-03
"""
# A line of another rank after the end.
FFT = """                           avg           best
     Time in s:    5.25000e-07    5.12500e-07
        GFLOPS:    6.25000e+03    6.50000e+03
Validation: SUCCESS!
    3.00463e-01    1.19209e-07
"""
FIRST_STREAM = """-------------------------------------------------------------
STREAM FPGA based in STREAM version $Revision: 5.10 $
Memory per array = 381.5 MiB (= 0.4 GiB).
Device Name:   some board
fMax=269.68
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           34349.5     0.023293     0.023290     0.023298
PCI Write:       6310.5     0.190267     0.190155     0.190397
Solution Validates: avg error less than 1.000000e-06 on all three arrays
"""
FPGA_JSON = {
    "name": "GEMM",
    "version": "1.3",
    "execution_time": "Wed Dec 14 09:56:29 UTC 2022",
    "settings": {"MPI Ranks": 1},
    "results": {"gflops": {"unit": "GFLOP/s", "value": 5.5}},
}
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


def test_osu_of_many_tests_and_versions(imported) -> None:
    found = {
        (one.benchmark.name, one.parameters.get("datatype")): one for one in imported(OSU_MANY)
    }
    assert [name for name, _ in found] == [
        *("osu_bibw", "osu_bibw", "osu_barrier", "osu_ialltoallv", "osu_mbw_mr", "osu_cas_latency"),
        "osu_oshm_atomics",
    ]
    char = found["osu_bibw", "MPI_CHAR"]
    assert char.parameters["accelerator"] == "CUDA"
    assert char.parameters["buffers"] == "DEVICE (D) and Receive Buffer on HOST (H)"
    assert [case.key for case in char.cases] == ["8"]  # a wrong answer has no figure
    assert "its own validation: Fail at 16" in (char.outcome.reason or "")
    assert figures(char, "8")["p99_tail_bw"] == (0.75, "MB/s")
    assert figures(found["osu_bibw", "MPI_INT"], "8")["bandwidth"] == (1.75, "MB/s")
    assert figures(found["osu_barrier", None], "result") == {"avg_latency": (1.75, "us")}
    assert figures(found["osu_ialltoallv", None], "1")["overlap"] == (16.25, "%")
    assert figures(found["osu_mbw_mr", None], "1")["message_rate"] == (58250000, "1/s")
    assert found["osu_mbw_mr", None].parameters == {"pairs": "2", "window": "64"}
    atomics = figures(found["osu_oshm_atomics", None], "shmem_int_fadd")
    assert atomics == {"operation_rate": (1.25, "Mop/s"), "latency": (0.75, "us")}


@pytest.mark.parametrize("name", ["osu_2", "osu_2_plain", "osu_shmem_2"])
def test_osu_text_of_our_own(imported, name: str) -> None:
    """Each test by the name that it has here, so that old results stand beside new ones."""
    text = (ROOT / "tests" / "golden" / f"{name}.osu.txt").read_text()
    ours = json.loads(
        (ROOT / "tests" / "golden" / f"{name.removesuffix('_plain')}.record.json").read_text()
    )
    tests = {case["labels"].get("test") or case["group"].split("/")[0] for case in ours["cases"]}
    found = [record.benchmark.name for record in imported(text)]
    assert found
    assert set(found) <= tests


def test_osu_ibarrier(imported) -> None:
    """Its headings are no comment."""
    (record,) = imported(OSU_IBARRIER)
    assert record.benchmark.name == "osu_ibarrier"
    assert figures(record, "result") == {
        "overall": (8.5, "us"),
        "compute": (4.25, "us"),
        "overlap": (65.5, "%"),
    }


def test_imb_of_2018(imported) -> None:
    (record, *_) = imported(IMB.replace("Intel(R) MPI Benchmarks", "Intel (R) MPI Benchmarks"))
    assert record.program.version == imported(IMB)[0].program.version != ""


def test_imb(imported) -> None:
    ping, barrier, groups, alone, together, threads = imported(IMB)
    assert (ping.benchmark.name, ping.world.ranks) == ("imb_pingpong", 2)
    assert ping.parameters == {"component": "MPI-1"}
    assert figures(ping, "1") == {"t": (0.75, "us"), "bandwidth": (1.25, "MB/s")}
    assert len(ping.cases) == 2
    assert (barrier.benchmark.name, barrier.world.ranks) == ("imb_barrier", 4)
    assert figures(barrier, "result")["t_avg"] == (4.5, "us")
    assert (groups.benchmark.name, groups.world.ranks) == ("imb_multi_allreduce", 4)
    assert figures(groups, "group 1/4")["t_avg"] == (2.5, "us")
    assert figures(alone, "4")["t"] == (0.75, "us")
    assert (alone.parameters["mode"], together.parameters["mode"]) == ("NON-AGGREGATE", "AGGREGATE")
    assert (threads.parameters["threads"], threads.parameters["window"]) == ("3", "64")
    assert figures(threads, "4")["message_rate"] == (12075, "1/s")


def test_nccl(imported) -> None:
    record, other = imported(NCCL, name="all_reduce_perf.log")
    assert (record.benchmark.name, record.program.version) == ("nccl_all_reduce", "2.17.6")
    assert [host.name for host in record.hosts] == ["node-1", "node-2"]
    assert record.devices() == ["Some GPU 80GB"]
    assert figures(record, "float/16")["busbw"] == (0.75, "GB/s")
    assert figures(record, "float/16")["time_in_place"] == (12.25, "us")
    assert "time_in_place" not in figures(record, "float/8")  # three values were wrong
    assert "its own check: 3 FAILED values out of bounds" in (record.outcome.reason or "")
    assert other.benchmark.name == "nccl_alltoall"
    assert figures(other, "float/67108864")["time"] == (10578, "us")


def test_nccl_of_other_versions(imported) -> None:
    (record,) = imported(NCCL_OLD, name="x_perf.log")
    assert figures(record, "float/4096")["time"] == (120921, "us")
    assert figures(record, "int8/8192")["algbw"] == (0.75, "GB/s")
    assert figures(record, "float/16384")["i_p99_in_place"] == (3.5, "us")


def test_nccl_that_does_not_print_its_name(imported) -> None:
    for name, test in (
        ("AllReduce-8.log", "all_reduce"),
        ("nccl_reducescatter.txt", "reduce_scatter"),
    ):
        (record,) = imported(NCCL_OLD, name=name)
        assert record.benchmark.name == f"nccl_{test}"
    assert imported(NCCL_OLD, name="x.log")[0].benchmark.name == "nccl_unknown"


def test_hpcc(imported) -> None:
    record, appended = imported(HPCC + HPCC.replace("Triad=12.5", "Triad=13.5"))
    assert appended.metric("StarSTREAM_Triad").value == 13.5
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


def test_hpcc_fpga_text_of_other_versions(imported) -> None:
    old = FPGA_HEAD.format("random access").replace("Version: 2.6", 'Version: "1.0"')
    (access,) = imported(old.replace("Device     ", "Device:     ") + RANDOM_ACCESS)
    assert (access.program.version, access.devices()) == ("1.0", ["some board"])
    assert figures(access, "result")["guops"] == (0.25, "GUP/s")
    assert "error" not in figures(access, "result")
    (fft,) = imported(FPGA_HEAD.format("FFT") + FFT)
    assert [case.key for case in fft.cases] == ["Time in s", "GFLOPS"]
    (stream,) = imported(FIRST_STREAM)
    assert (stream.benchmark.name, stream.devices()) == ("hpcc_fpga_stream", ["some board"])
    assert figures(stream, "PCI Write")["best_rate"] == (6310.5, "MB/s")
    assert "avg error less than" in (stream.outcome.reason or "")


def test_hpcc_fpga_json_tells_when_it_ran(imported) -> None:
    (dated,) = imported(json.dumps(FPGA_JSON), "--date", "2020-01-02")
    assert dated.started == "2022-12-14T09:56:29Z"
    (undated,) = imported(json.dumps({**FPGA_JSON, "execution_time": "?"}), "--date", "2020-01-02")
    assert undated.started == "2020-01-02T00:00:00Z"


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
