"""OSU's tests over MPI: every one runs and is checked, by its own name and together; their text; what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plumbline.base.errors import ExitStatus
from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.record.record import load_record
from plumbline.report.figures.files import beside
from plumbline.report.figures.records import pairs
from plumbline.report.figures.shapes import Chart, Heat
from tests.launching import PATIENCE_S, ROOT, launch_command, preloaded, program

Plumb = Callable[..., tuple[int, str, str]]
PROGRAM = program("plumb-mpi")
QUICK = ["--progress", "none", "--time-limit", "0.002", "--repetitions", "3"]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="plumb-mpi is not built")

GATHERS = ["allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv"]
REDUCTIONS = ["allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"]
COLLECTIVES = [*GATHERS, *REDUCTIONS, "alltoall", "alltoallv", "alltoallw", "barrier", "bcast"]
FULL_HEADING = (
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation"
)


def run(tmp_path: Path, ranks: int, *words: str) -> tuple[int, str, str, list[dict]]:
    """Runs plumb-mpi on some ranks: its exit status, its output and the cases of its record."""
    record = tmp_path / "record.json"
    record.unlink(missing_ok=True)
    command, environment = launch_command(ranks, PROGRAM, *words, *QUICK, "--record", str(record))
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    cases = json.loads(record.read_text())["cases"] if record.exists() else []
    return done.returncode, done.stdout, done.stderr, cases


def planned(ranks: int, *words: str, **variables: str) -> tuple[int, str]:
    """What the engine says of options, in one process: the exit status and the message."""
    command = [PROGRAM, *words, "--dry-run", "--ranks", str(ranks)]
    environment = {**os.environ, **variables}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return done.returncode, done.stderr


def refused(cases: list[dict], *but: str) -> dict[str, str]:
    """The cases that have another outcome than `passed` or one of ``but``, with the reason."""
    outcomes = {c["key"]: c["outcome"] for c in cases}
    return {k: o["reason"] for k, o in outcomes.items() if o["status"] not in ("passed", *but)}


def persistent(cases: list[dict]) -> set[str]:
    """The tests of persistent collectives, which MPI 3.1 has not, and MPICH 4.0 has wrong."""
    names = {case["labels"]["test"] for case in cases}
    return {name for name in names if name.endswith("_persistent")} - {"osu_latency_persistent"}


@pytest.mark.parametrize(("ranks", "least"), [(2, 16), (3, 4096)])
def test_every_test_passes(tmp_path: Path, ranks: int, least: int) -> None:
    """At sizes whose messages lie apart, and at ones whose messages slide; only these on more ranks than cores."""
    words = ["osu", "--minsize", str(least), "--maxsize", "4096", "--size-factor", "256"]
    words += ["-i", "4" if ranks > 2 else "20"]
    status, _, err, cases = run(tmp_path, ranks, *words, "--format", "none")
    assert not refused(cases, "unsupported"), err
    lacking = {key.split("/")[0] for key in refused(cases)}
    assert lacking <= {"osu_latency_mt", "osu_partitioned_latency"} | persistent(cases)
    assert status == 0
    tests = {case["labels"]["test"] for case in cases}
    assert tests >= {f"osu_{name}" for name in COLLECTIVES} | {f"osu_i{n}" for n in COLLECTIVES}
    assert ("osu_latency" in tests) == (ranks == 2)


@pytest.mark.parametrize("operation", ["sum", "prod", "max", "bxor", "lor"])
def test_all_types(tmp_path: Path, operation: str) -> None:
    words = ["osu", "--only", "osu_allreduce"]
    words[2] += ",osu_bibw,osu_get_acc_latency,osu_cas_latency" * (operation == "sum")
    words += ["-T", "all", "-m", "64:64", "-W", "3", "--operation", operation, "-i", "5"]
    status, _, err, cases = run(tmp_path, 2, *words, "--format", "none")
    assert not refused(cases), err
    assert status == 0
    if operation != "sum":
        return
    types = {case["labels"]["type"] for case in cases if case["labels"]["test"] == "osu_bibw"}
    assert {"mpi_char", "mpi_long_double", "mpi_c_double_complex", "mpi_c_bool"} <= types
    assert len(types) == 26


@pytest.mark.soak
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("build", ["release", "mpich"])
def test_every_name_on_more_ranks(tmp_path: Path, build: str, ranks: int) -> None:
    """Over Open MPI and MPICH; tests of pairs are refused where they are not between two ranks."""
    engine = ROOT / "build" / build / "bin" / "plumb-mpi"
    if not engine.exists():
        pytest.skip(f"{engine} is not built")
    # by barriers: eight ranks on two cores take seconds a case to compare their clocks
    words = ["osu", "--sync", "barrier", "-m", "4096:4096", "-i", "4", "--format", "none"]
    words += ["--progress", "none", "--record", str(tmp_path / "record.json")]
    command, environment = launch_command(ranks, engine, *words)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    found = json.loads((tmp_path / "record.json").read_text())["cases"]
    lacking = {"osu_latency_mt", "osu_partitioned_latency"}
    wrong = {key.split("/")[0] for key in refused(found)} - lacking - persistent(found)
    assert not wrong, done.stderr
    # all but those between hosts; between two ranks, one-sided; and in pairs
    less = 2 + (ranks != 2) * (10 + 9) + (ranks == 3) * 2
    assert len({case["labels"]["test"] for case in found}) == 79 - less


def test_a_swap_by_hand(tmp_path: Path) -> None:
    """Without `plumb run`, whose variables leave out the component in which Open MPI 4 crashes."""
    command, environment = launch_command(2, PROGRAM, "osu_cas_latency", *QUICK, "-i", "4")
    environment.pop("OMPI_MCA_osc", None)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr


def test_in_place_and_all_roots(tmp_path: Path) -> None:
    names = "osu_allgather,osu_allreduce,osu_alltoall,osu_gather,osu_scatter,osu_ireduce"
    words = ["osu", "--only", names, "-l", "-k", "rotate", "-m", "64:4096", "--size-factor", "64"]
    status, _, err, cases = run(tmp_path, 3, *words, "-i", "7", "--format", "none")
    assert not refused(cases), err
    assert status == 0


@pytest.mark.parametrize("sync", ["barrier", "once"])
def test_starts(tmp_path: Path, sync: str) -> None:
    """With one clock for all operations there are no percentiles of single ones."""
    words = ["osu_allreduce", "--sync", sync, "-m", "8:8", "-i", "20", "-x", "3"]
    status, _, err, (case,) = run(tmp_path, 2, *words)
    assert status == 0, err
    assert case["count"] == 20
    names = {metric["name"] for metric in case["metrics"]}
    assert ("latency_p99" in names) == (sync == "barrier")
    assert ("slowest" in case.get("laps", {})) == (sync == "barrier")


@pytest.mark.parametrize("completion", ["lock", "flush_local", "lock_all", "pscw", "fence"])
def test_completions_and_windows(tmp_path: Path, completion: str) -> None:
    words = ["osu", "--only", "osu_put_latency,osu_get_bw,osu_put_bibw,osu_fop_latency"]
    kind = {"lock": "create", "pscw": "dynamic"}.get(completion, "allocate")
    words += ["-s", completion, "-w", kind, "-m", "16:16", "-i", "5", "--format", "none"]
    status, _, err, cases = run(tmp_path, 2, *words)
    assert not refused(cases), err
    assert status == 0


@pytest.mark.parametrize("layout", ["cont", "vect:8:3", "indx"])
def test_derived_datatypes(tmp_path: Path, layout: str) -> None:
    """In every pattern that has messages; with holes, those remain."""
    if layout == "indx":
        (tmp_path / "index").write_text("7,2\n1,3\n")
        layout = f"indx:{tmp_path / 'index'}"
    names = "osu_latency,osu_bibw,osu_bw_persistent,osu_alltoallw,osu_gather,osu_ibcast,osu_neighbor_alltoall"
    words = [
        "osu",
        "--only",
        names,
        "-D",
        layout,
        "-T",
        "mpi_short",
        "-m",
        "64:4096",
        "--size-factor",
        "64",
    ]
    status, _, err, cases = run(
        tmp_path, 2, *words, "-W", "3", "-i", "5", "-k", "rotate", "--format", "none"
    )
    assert status == 0, err
    refusals = refused(cases)
    assert all("begin with their number" in reason for reason in refusals.values()), refusals
    part = {"cont": 1, "vect:8:3": 3 / 8}.get(layout, 5 / 9)
    for case in cases:
        sent = {metric["name"]: metric["value"] for metric in case.get("metrics", [])}.get(
            "transmitted"
        )
        whole = case["labels"]["bytes"] // 18 * 18 if part == 5 / 9 else case["labels"]["bytes"]
        assert case["key"] in refusals or sent == whole * part


def test_turns_over_memory_and_its_limit(tmp_path: Path) -> None:
    words = [
        "osu",
        "--only",
        "osu_latency,osu_bw,osu_allreduce",
        "-m",
        "8:4096",
        "--size-factor",
        "512",
    ]
    status, _, err, cases = run(
        tmp_path, 2, *words, "-b", "rotate:300000", "-W", "3", "-i", "7", "--format", "none"
    )
    assert status == 0, err
    assert not refused(cases), err
    status, _, err, cases = run(
        tmp_path, 2, "osu_latency", "-m", "8:1048576", "--size-factor", "64", "-M", "1000000"
    )
    assert status == 0, err
    assert [case["labels"]["bytes"] for case in cases] == [8, 512, 32768]


def test_a_sweep_of_windows_is_two_matrices(tmp_path: Path) -> None:
    words = ["osu_mbw_mr", "-V", "-m", "8:64", "--size-factor", "8", "--format", "osu"]
    status, out, err, cases = run(tmp_path, 2, *words)
    assert status == 0, err
    assert len(cases) == 16
    lines = out.splitlines()
    assert "# [ pairs: 1 ] [ window size: varied ]" in lines
    rates = lines.index("# Message Rate Profile")
    assert [len(line.split()) for line in lines[rates + 1 : rates + 4]] == [9, 9, 9]


def named(case: dict) -> dict[str, float]:
    """A case's figures."""
    return {metric["name"]: metric["value"] for metric in case["metrics"]}


def test_sizes_are_osus(tmp_path: Path) -> None:
    """Those of latencies start with empty messages."""
    names = "osu_latency,osu_latency_persistent,osu_multi_lat,osu_bw,osu_put_latency,osu_bcast"
    words = ["osu", "--only", names, "-m", "2", "-W", "2", "-i", "3", "--format", "none"]
    status, _, err, cases = run(tmp_path, 2, *words)
    assert status == 0, err
    sizes = {
        test: [c["labels"]["bytes"] for c in cases if c["labels"]["test"] == test]
        for test in names.split(",")
    }
    assert [
        sizes.pop(f"osu_{name}") for name in ("latency", "latency_persistent", "multi_lat")
    ] == [[0, 1, 2]] * 3
    assert list(sizes.values()) == [[1, 2]] * 3


def test_injection_is_apart_from_completion(tmp_path: Path) -> None:
    """Of windows of messages: their calls take no longer than the windows, and are no figure of single messages."""
    names = "osu_bw,osu_bibw,osu_bw_persistent,osu_put_bw,osu_get_bw,osu_latency,osu_put_latency"
    words = ["osu", "--only", names, "-m", "64:64", "-W", "4", "-i", "20", "--format", "none"]
    status, _, err, cases = run(tmp_path, 2, *words)
    assert status == 0, err
    for case in cases:
        figures = named(case)
        assert ("injection" in figures) == ("bandwidth" in figures), case["key"]
        if "injection" in figures:
            window_us = 64 * 4 / figures["bandwidth"]
            assert figures["injection"] > 0
            assert "bibw" in case["key"] or 4 * figures["injection"] <= window_us * 1.01, case[
                "key"
            ]


def test_osus_own_numbers_of_operations(tmp_path: Path) -> None:
    words = ["osu", "--only", "osu_bw,osu_allreduce", "--osu-counts", "-m", "8192:16384"]
    status, _, err, cases = run(tmp_path, 2, *words, "--format", "none")
    assert status == 0, err
    counts = {case["key"]: case["count"] for case in cases}
    assert counts == {
        "osu_bw/8192": 100,
        "osu_bw/16384": 20,
        "osu_allreduce/8192": 1000,
        "osu_allreduce/16384": 100,
    }


def test_init_is_timed_from_the_processs_start(tmp_path: Path) -> None:
    status, _, err, (case,) = run(tmp_path, 2, "osu_init")
    assert status == 0, err
    assert named(case)["from_process_start"] >= named(case)["latency"] > 0


def test_several_threads(tmp_path: Path) -> None:
    status, _, err, cases = run(tmp_path, 2, "osu_latency_mt", "-t", "2:3", "-m", "8:8")
    assert status == 0, err
    assert cases[0]["count"] % 3 == 0


def on_devices(tmp_path: Path, *words: str, **variables: str) -> tuple[int, str, str, list[dict]]:
    """As ``run`` on two ranks, with MPI on device memory."""
    library = PROGRAM.parent.parent / "lib" / "libplumb-mpi-device.so"
    if not library.exists():
        pytest.skip("libplumb-mpi-device is not built")
    record = tmp_path / "record.json"
    command, environment = launch_command(2, PROGRAM, *words, *QUICK, "--record", str(record))
    environment.update({"LD_PRELOAD": preloaded(library), **variables})
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    cases = json.loads(record.read_text())["cases"] if record.exists() else []
    return done.returncode, done.stdout, done.stderr, cases


ON_DEVICE = "osu_bw,osu_latency_persistent,osu_bw_persistent,osu_get_acc_latency,osu_cas_latency"
ON_DEVICE += (
    ",osu_put_latency,osu_get_bw,osu_put_bibw,osu_allgather,osu_iallreduce,osu_ineighbor_alltoall"
)


@pytest.mark.parametrize("completion", ["flush", "fence"])
def test_buffers_on_a_device(tmp_path: Path, completion: str) -> None:
    """In messages, windows, and the operands of collectives; the sum of both ranks' touches is counted."""
    words = ["osu", "--only", ON_DEVICE, "--where", "D,H", "-d", "native", "-s", completion]
    words += ["-m", "64:4096", "--size-factor", "64", "-W", "3", "-i", "4", "--format", "osu"]
    status, out, err, cases = on_devices(tmp_path, *words)
    assert status == 0, err
    assert not refused(cases)
    assert {case["labels"]["test"] for case in cases} == set(ON_DEVICE.split(","))
    assert "# Window creation: MPI_Win_create" in out
    assert cases[0]["facts"]["roof_GBps"] > 0


def test_in_place_on_a_device(tmp_path: Path) -> None:
    words = ["osu", "--only", "osu_allgather,osu_allreduce,osu_ireduce,osu_scatter", "-l"]
    words += ["-d", "native", "-m", "64:4096", "--size-factor", "64", "-i", "4", "-k", "rotate"]
    status, _, err, cases = on_devices(tmp_path, *words, "--format", "none")
    assert status == 0, err
    assert len(cases) == 8
    assert not refused(cases)


def test_what_takes_no_device_memory(tmp_path: Path) -> None:
    words = ["osu", "--only", "osu_bcast_persistent,osu_partitioned_latency,osu_put_latency"]
    words += ["-d", "native", "-m", "64:64", "-w", "allocate", "--known-faults", "--format", "none"]
    status, _, err, cases = on_devices(tmp_path, *words)
    assert status == 0, err
    reasons = refused(cases)
    assert "takes no persistent collectives" in reasons["osu_bcast_persistent/64"]
    assert "MPI_Win_create" in reasons["osu_put_latency/64"]


@pytest.mark.parametrize("runtime", ["pocl", runtimes.FPGA_EMULATOR.name])
def test_each_rank_has_a_device(
    plumb: Plumb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runtime: str
) -> None:
    """Between two OpenCL devices, and a device and a host: the run's devices are those of the buffers."""
    if not runtimes.is_installed(runtime, find_home()):
        pytest.skip(f"{runtime} is not installed (plumb setup {runtime})")
    monkeypatch.setenv("POCL_DEVICES", "pthread pthread")
    record = tmp_path / "record.json"
    words = [
        "--only",
        "osu_latency,osu_put_latency",
        "--pairs",
        "all",
        "-m",
        "4096:4096",
        "-i",
        "3",
    ]
    words += ["--repetitions", "1", "--no-model", "--record", str(record)]
    status, _, err = plumb("run", "osu", "-n", "2", "--runtime", runtime, *words)
    assert status == 0, err
    done = load_record(record)
    passed = {case.key for case in done.cases if case.outcome.status == "passed"}
    assert passed >= {  # the emulator has HBM as well
        f"{pair}/{test}/4096"
        for test in ("osu_latency", "osu_put_latency")
        for pair in ("H-H", "H-D", "D-H", "D-D")
    }
    assert len({rank.device.index for rank in done.ranks if rank.device}) == 2


def test_all_pairs_of_memories(tmp_path: Path) -> None:
    """What the device lacks is unsupported; the rest is a matrix of `plumb plot`."""
    words = ["osu_bw", "--pairs", "all", "-d", "native", "-m", "64:64", "-W", "3", "-i", "4"]
    status, _, err, cases = on_devices(tmp_path, *words)
    assert status == 0, err
    assert len(cases) == 16
    passed = {
        (c["labels"]["from"], c["labels"]["to"])
        for c in cases
        if c["outcome"]["status"] == "passed"
    }
    assert passed == {("H", "H"), ("H", "D"), ("D", "H"), ("D", "D")}
    assert not refused(cases, "unsupported")
    figures = list(pairs(load_record(tmp_path / "record.json")))
    assert [(heat.rows, heat.unit) for heat in figures if isinstance(heat, Heat)] == [
        (["H", "D"], "MB/s")
    ]


def test_between_devices_the_roof_is_that_of_copies_within_them(tmp_path: Path) -> None:
    """Over peer no byte goes through the host's memory, and copies with the host bound nothing."""
    words = ["osu", "--only", "osu_latency,osu_bw,osu_allreduce", "-d", "native"]
    words += ["-m", "1048576:1048576", "-W", "2", "-i", "4", "--format", "none"]
    roofs = {}
    for transport in ("staged", "peer"):
        status, _, err, cases = on_devices(tmp_path, *words, PLUMB_MPI_TRANSPORT=transport)
        assert status == 0, err
        assert not refused(cases), err
        roofs[transport] = cases[0]["facts"]["roof_GBps"]
    assert min(roofs.values()) > 0


def test_a_figure_above_the_roof_is_an_error(tmp_path: Path) -> None:
    words = ["osu_latency", "D", "D", "-d", "native", "-m", "4096:4096", "--roof", "0.000001"]
    status, _, err, cases = on_devices(tmp_path, *words)
    assert status == ExitStatus.ERROR
    assert "are above the roof of the link" in cases[0]["outcome"]["reason"], err


def test_kernels_that_touch_buffers_can_be_left_out(tmp_path: Path) -> None:
    words = ["osu_latency", "D", "D", "-d", "native", "-m", "8:8", "--no-touch"]
    status, _, err, cases = on_devices(tmp_path, *words)
    assert status == 0, err
    assert cases[0]["facts"]["touched"] is False


def test_devices_are_mapped_by_variable(tmp_path: Path) -> None:
    words = ["osu_latency", "D", "D", "-d", "native", "-m", "8:8"]
    shown = subprocess.run(
        [PROGRAM, "--devices", "--format", "json"], capture_output=True, check=True
    )
    devices = json.loads(shown.stdout)["devices"]
    other = next(str(device["index"]) for device in devices if device["runtime"] != "native")
    for number, said in (("99", "unknown device; there are: 0 ("), (other, "but -d is native")):
        mapping = f"{number}:{number}"
        status, _, err, _ = on_devices(tmp_path, *words, FPGA_MAPPING=mapping)
        assert status == ExitStatus.BAD_USAGE
        assert f"FPGA_MAPPING {mapping}, {number} for rank 0: " in err
        assert said in err
    for wrong in ("0", "first:second", "0:", "0:-1"):
        status, err = planned(2, *words, FPGA_MAPPING=wrong)
        assert status == ExitStatus.BAD_USAGE
        assert f"for each of 2 ranks, with colons, not {wrong}" in err


def test_without_the_library_devices_are_unsupported(tmp_path: Path) -> None:
    status, _, _, cases = run(tmp_path, 2, "osu_latency", "D", "H", "-m", "8:8")
    assert status == 0
    assert "libplumb-mpi-device" in refused(cases)["osu_latency/8"]


def test_text_is_osus(tmp_path: Path) -> None:
    words = ["osu_allreduce", "-m", "4:8", "-f", "-c", "--format", "osu"]
    status, out, err, _ = run(tmp_path, 2, *words)
    assert status == 0, err
    lines = out.splitlines()
    assert lines[:4] == [
        "",
        "# OSU MPI Allreduce Latency Test v7.5",
        "# Datatype: MPI_INT.",
        FULL_HEADING,
    ]
    assert [line.split()[0] for line in lines[4:]] == ["4", "8"]
    assert all(len(line) == len(lines[3]) and line.endswith("Pass") for line in lines[4:])
    assert re.search(r"^8\s+(?P<latency>\S+)", out, re.MULTILINE)  # as ReFrame's tests read it


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (3, ["osu_latency"], "osu_latency: it is between two ranks, not 3"),
        (3, ["osu_mbw_mr"], "it needs an even number of ranks, not 3"),
        (2, ["osu_mbw_mr", "-p", "2"], "--pairs 2 needs 4 ranks, not 2"),
        (2, ["osu_allreduce", "-W", "4"], "has one message under way at a time"),
        (2, ["osu_latency", "-z101"], "percentiles, whole numbers from 0 to 100, not 101"),
        (2, ["osu_latency", "-z1,2,3,4,5,6"], "must be one to five percentiles"),
        (2, ["osu_bw", "-W", "0"], "window"),
        (2, ["osu_gather", "-k", "fixed:2"], "there are 2 ranks"),
        (2, ["osu_allreduce", "-T", "mpi_nothing"], "mpi_nothing"),
        (2, ["b_eff", "--sync", "once"], "does not time single operations"),
        (2, ["osu_latency", "H", "X"], "X"),
        (2, ["osu_latency", "-V"], "it takes no --vary-window"),
        (2, ["osu_bw", "-u", "3"], "goes with --validation"),
        (2, ["osu_bw", "-clog:folder"], "--validation must be one of none, column"),
        (2, ["osu_bw", "-b", "rotate:x"], "rotate[:BYTES]"),
        (2, ["osu_bw", "-M", "10"], "leaves no size"),
        (2, ["osu_bw", "-D", "vect:2:3"], "a block has 1 to STRIDE elements"),
        (2, ["osu_bw", "-D", "indx:/nowhere"], "there is no such file"),
        (2, ["osu_allreduce", "-D", "cont"], "sends whole elements"),
        (2, ["osu_allreduce", "D", "H"], "it takes no --where"),
        (2, ["osu_latency_mt", "D", "H"], "several threads, whose buffers lie in host memory"),
        (2, ["osu_hello", "-d", "opencl"], "has its buffers in host memory"),
        (2, ["osu_bw", "-G", "gif"], "gif"),
        (2, ["osu_bw", "-P", "cycles"], "--papi must be EVENT[,EVENT…]:FILE"),
        (2, ["osu_bw", "-P", "PAPI_NOTHING:x"], "PAPI_NOTHING"),
        (2, ["osu_neighbor_alltoall", "-N", "graph:/nowhere"], "there is no such file"),
        (2, ["osu_neighbor_alltoall", "-N", "cart:9:1"], "--neighborhood must be"),
        (3, ["osu_bibw"], "osu_bibw: it is between two ranks, not 3"),
        (3, ["osu_multi_lat"], "it needs an even number of ranks, not 3"),
        (4, ["osu_put_latency"], "osu_put_latency: it is between two ranks, not 4"),
        (2, ["osu_latency", "-m", "8:4"], "--message-size must be [MIN:]MAX"),
        (2, ["osu_latency", "-y"], "-y"),
        (2, ["osu_partitioned_latency", "-q", "0"], "--partitions"),
    ],
)
def test_bad_input(ranks: int, words: list[str], sentence: str) -> None:
    status, err = planned(ranks, *words)
    assert status == ExitStatus.BAD_USAGE, err
    assert sentence in err


def test_an_index_file_with_overlaps_or_rubbish(tmp_path: Path) -> None:
    index = tmp_path / "index"
    for text, sentence in {
        "0,4\n2,3\n": "elements at 2 overlap",
        "0;4\n": "a line must be DISPLACEMENT,LENGTH, not 0;4",
        "": "it has 1 to 100 lines",
        "3,0\n": "a line must be DISPLACEMENT,LENGTH, not 3,0",
    }.items():
        index.write_text(text)
        status, err = planned(2, "osu_latency", "-D", f"indx:{index}")
        assert status == ExitStatus.BAD_USAGE
        assert sentence in err
    index.write_text("0,2\n")
    status, err = planned(2, "osu_neighbor_allgather", "-N", f"graph:{index}")
    assert status == ExitStatus.BAD_USAGE
    assert "a line must be FROM,TO of 2 ranks, not 0,2" in err


LETTERS = "abcdfiklmpqrstuwxzDGINPRTVWM"  # OSU's, and -M
TAKEN = [  # each letter where it has a use; -I and -q need MPI 4
    "osu_bw -m 8:64 -i 5 -x 2 -c -u 3 -W 4 -b single -T mpi_int -D cont -z50,99 -G svg -M 1000000",
    "osu_mbw_mr -V -p 1 -R 0",
    "osu_put_latency -s fence -w create -d native",
    "osu_iallreduce -t 3 -a 64 -r gpu -f -l",
    "osu_gather -k rotate -P cycles:counts",
    "osu_neighbor_alltoall -N cart:1:1",
]


def test_each_letter_of_osus_is_taken() -> None:
    described = subprocess.run([PROGRAM, "--describe"], capture_output=True, text=True, check=True)
    known = next(b for b in json.loads(described.stdout)["benchmarks"] if b["name"] == "osu")
    letters = {a[1] for p in known["parameters"] for a in p.get("aliases", []) if len(a) == 2}
    assert set(LETTERS) <= letters
    for words in TAKEN:
        status, err = planned(2, *words.split())
        assert status == 0, (words, err)


def test_congestion_needs_two_hosts(tmp_path: Path) -> None:
    status, _, err, cases = run(tmp_path, 2, "osu_bw_fan_in")
    assert status == ExitStatus.BAD_USAGE
    assert "all are on one" in err
    assert not cases


def test_collectives_of_nccl_need_it(tmp_path: Path) -> None:
    status, _, err, cases = run(tmp_path, 2, "osu_allreduce", "--library", "nccl", "-m", "8:8")
    reason = refused(cases).get("osu_allreduce/8", "")
    assert "NCCL could not be loaded" in reason or "NCCL needs a GPU of runtime cuda" in reason, err
    assert status == 0
    status, err = planned(2, "osu_latency", "--library", "nccl")
    assert status == ExitStatus.BAD_USAGE
    assert "it takes no --library" in err


def test_neighbours_of_a_graph(tmp_path: Path) -> None:
    """A path of three ranks: that in the middle has two neighbours, and the others have it."""
    (tmp_path / "graph").write_text("0,1\n2,1\n")
    words = ["osu", "--only", "osu_neighbor_allgather,osu_ineighbor_alltoallv", "-m", "8:4096"]
    words += ["-N", f"graph:{tmp_path / 'graph'}", "--size-factor", "512", "-i", "4"]
    status, _, err, cases = run(tmp_path, 3, *words, "--format", "none")
    assert status == 0, err
    assert not refused(cases)
    assert len(cases) == 4


def test_single_operations_and_counters_are_reported(tmp_path: Path) -> None:
    """A file beside the record with each operation of the slowest rank, and one with a line for each rank's sample."""
    words = ["osu_allreduce", "-m", "8:8", "-i", "9", "-G", "tty"]
    words += ["-P", f"task-clock,page-faults:{tmp_path / 'counts'}", "--format", "none"]
    status, _, err, (case,) = run(tmp_path, 2, *words)
    assert status == 0, err
    if case["outcome"]["status"] == "unsupported":
        pytest.skip(case["outcome"]["reason"])
    lines = (tmp_path / case["facts"]["files"]["operations.csv"]).read_text().splitlines()
    assert lines[0] == "operation,us"
    assert [line.split(",")[0] for line in lines[1:]] == [str(i) for i in range(9)]
    assert all(float(line.split(",")[1]) > 0 for line in lines[1:])
    heading, *rows = [line.split() for line in (tmp_path / "counts").read_text().splitlines()]
    assert heading[-2:] == ["task-clock", "page-faults"]
    assert [row[4] for row in rows] == ["0", "1"] * (len(rows) // 2)
    assert all(row[0] == "osu_allreduce" and row[5] == "9" and float(row[6]) > 0 for row in rows)
    figures = list(beside(load_record(tmp_path / "record.json"), tmp_path))
    assert [len(one.curves[0].points) for one in figures if isinstance(one, Chart)] == [9]


def test_a_run_draws_single_operations(plumb: Plumb, tmp_path: Path) -> None:
    words = ["-m", "8:8", "-i", "5", "-G", "svg", "--no-model"]
    record = tmp_path / "record.json"
    status, _, err = plumb("run", "osu_latency", "-n", "2", *words, "--record", str(record))
    assert status == 0, err
    picture = tmp_path / "record.1.svg"
    assert f"picture: {picture}" in err
    assert "time of each operation" in picture.read_text()


def over_mpich_5(*words: str) -> tuple[list[str], dict[str, str]]:
    """The command line of the engine that is built over MPICH, over PyPI's MPICH 5, whose binary interface it shares."""
    mpich, engine = ROOT / "build" / "mpich-5", ROOT / "build" / "mpich" / "bin" / "plumb-mpi"
    if not (mpich / "lib" / "libmpich.so.12").exists() or not engine.exists():
        pytest.skip(
            "MPICH 5 or the engine over MPICH is missing (make test installs and builds them)"
        )
    command = [str(mpich / "bin" / "mpiexec.hydra"), "-n", "2", str(engine), *words]
    return command, {**os.environ, "LD_LIBRARY_PATH": str(mpich / "lib")}


@pytest.fixture(scope="module")
def of_mpi_4(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The record of what MPI 4 adds."""
    record = tmp_path_factory.mktemp("mpi4") / "record.json"
    words = ["osu", "--only", "osu_*_persistent,osu_partitioned_latency", "-I", "-m", "16:4096"]
    words += ["--size-factor", "256", "-i", "5", "-W", "3", "-q", "4", "--repetitions", "1"]
    words += ["--format", "none"]
    command, environment = over_mpich_5(*words, "--progress", "none", "--record", str(record))
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(record.read_text())


def own_s(case: dict) -> float:
    """The seconds of all operations, by the case's figure."""
    (latency,) = (m["value"] for m in case["metrics"] if m["name"] == "latency")
    return 2e-6 * latency * case["count"] * case["repetitions"]


def test_a_defect_of_osus_o14_times_of_earlier_sizes(of_mpi_4: dict) -> None:
    """A size's figure is within its own samples, by the engine's clock; with the size before, as OSU's, it is not."""
    cases = [c for c in of_mpi_4["cases"] if c["labels"]["test"] == "osu_partitioned_latency"]
    assert [case["labels"]["bytes"] for case in cases] == [16, 4096]
    small, large = ((own_s(case), sum(case["samples"]["by_rank"][0])) for case in cases)
    assert small[0] <= small[1]
    assert large[0] <= large[1] < large[0] + small[0]


def test_what_mpi_4_adds_passes(of_mpi_4: dict) -> None:
    """Persistent collectives, partitioned messages, a session."""
    found = of_mpi_4
    assert found["world"]["library"].startswith("MPICH 5")
    assert not refused(found["cases"])
    assert len({case["labels"]["test"] for case in found["cases"]}) == 3 + 14 + 1


def test_list_has_one_line_of_the_family(plumb: Plumb) -> None:
    _, out, _ = plumb("list")
    assert [line.split()[0] for line in out.splitlines() if line.startswith("osu")] in (
        ["osu"],
        ["osu", "osu_shmem"],
    )
    _, out, _ = plumb("list", "osu")
    names = {line.split()[0] for line in out.splitlines()[1:]}
    assert {"osu_latency", "osu_alltoallw", "osu_ibarrier", "osu_bw_persistent"} <= names
    assert plumb("list", "oso")[0] == ExitStatus.BAD_USAGE
