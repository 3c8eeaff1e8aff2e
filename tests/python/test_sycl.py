"""Runtime ``sycl`` as a whole: every benchmark of devices, mapping, models, OSU's tests; skipped where it is not installed.

`make test` runs a few benchmarks in one launch on two ranks, `make soak` each by itself on 1 to 4 ranks of both MPI libraries.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Plumb

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.record.record import Record, load_record
from tests.launching import PATIENCE_S, launch_command, preloaded, program
from tests.mutants.test_mutants import Run, launch
from tests.mutants.test_sycl import PLUGIN, needs_two_cores, sycl_environment, with_mutant

FOLDERS = {
    "Open MPI": Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin")),
    "MPICH": Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin")),
}
INSTALLED = find_home()
pytestmark = pytest.mark.xdist_group("ranks")

# Each rank on its own device.
APART = [
    "stream --elements 10007 --type double --replications 2",
    "stream --elements 10007 --type half",
    "stream --elements 10007 --memory svm",
    "stream --elements 1003 --variant single_work_item",
    "random_access --size 12",
    "random_access --size 12 --variant single_work_item",
    "fft --size 3,9,13 --batch 5 --type double --inverse",
    "fft --size 5,9 --data 1 --kernel gpu",
    "fft --size 3-6 --batch 3 --variant single_work_item",
    "gemm --size 99 --type half",
    "gemm --size 99 --type double",
    "gemm --size 100 --kernel gpu",
    "gemm --size 33 --variant single_work_item --block-size 16",
    "ceilings --size 12 --updates 6 --accumulators 4096",
]
# Without a transport on one rank.
TOGETHER = [
    "b_eff --max-size 10 --transport mpi --memory host",
    "b_eff --max-size 10 --part all --transport staged",
    "b_eff --min-size 18 --max-size 20 --transport pipelined --form batched",
    *(
        f"b_eff --max-size 3 --transport peer --approach {approach}"
        for approach in ("host-buffered", "device-buffered", "device-streaming")
    ),
    "links --sizes 1,4096",
    "ptrans --size 67 --block-size 5 --transport staged",
    "ptrans --size 67 --block-size 5 --transport pipelined --type double",
    "ptrans --size 67 --block-size 5 --transport peer --approach device-buffered",
    "mpi_fft --size 12 --transport staged",
    "hpl --size 100 --block 16 --transport staged",
    "hpl --size 100 --block 16 --transport staged --matrix dominant --refine half",
    "graph500 --scale 8 --roots 4 --variant device",
    "npb_is --class S --variant device --transport staged",
    "npb_mg --class S --variant device --transport peer",
    *(f"shallow_water --size 1 --order {order} --transport staged" for order in (0, 1, 2)),
    "shallow_water --size 1 --order 1 --transport peer --type double",
]
POWERS_OF_TWO = ("npb_is", "npb_mg", "mpi_fft")
# Kernels that wait for a neighbour's in each of many steps: by time slices where ranks share cores.
WAITING = ("shallow_water --size 1 --order 1 --transport peer", "npb_mg")


def words_of(run: str, ranks: int) -> list[str]:
    words = run.split()
    for option in ("--transport", "--approach"):
        if ranks == 1 and option in words:
            at = words.index(option)
            del words[at : at + 2]
    return words


def assert_all_passed(record: Record) -> None:
    """Every case, on a device of SYCL's."""
    problems = {c.key: c.outcome.reason for c in record.cases if c.outcome.status != "passed"}
    lacks = {key for key, reason in problems.items() if "matrix units" in (reason or "")}
    assert len(record.cases) > len(lacks)
    assert not problems.keys() - lacks, problems
    assert {rank.device.runtime for rank in record.ranks if rank.device} == {"sycl"}


def run(folder: Path, mpi: str, ranks: int, words: list[str], **variables: str) -> Record:
    """The record of a run that must end well."""
    engine, record = FOLDERS[mpi] / "plumb-mpi", folder / "record.json"
    if not engine.exists():
        pytest.skip(f"the engine is not built over {mpi}")
    record.unlink(missing_ok=True)
    quiet = ["--format", "none", "--progress", "none", "--record", str(record)]
    command, environment = launch_command(ranks, engine, *words, *quiet)
    if "--sub-devices" in words:
        command = unbound(command)
    environment |= sycl_environment() | variables
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, (words, done.stdout + done.stderr)
    return load_record(record)


def test_some_benchmarks_in_one_launch(tmp_path: Path) -> None:
    names = ("ptrans --size 67 --block-size 5 --transport staged", "npb_is", "fft --size 5")
    runs: list[Run] = []
    for one in [*APART, *TOGETHER]:
        if not one.startswith(names):
            continue
        benchmark, *words = one.split()
        options = dict(zip((word[2:] for word in words[::2]), words[1::2], strict=True))
        transport = options.pop("transport", "staged")
        runs.append({"benchmark": benchmark, "runtime": "sycl", "transport": transport})
        runs[-1]["options"] = options
    assert len(runs) == len(names)
    for one, found in zip(runs, launch(tmp_path, 2, runs, sycl_environment()), strict=True):
        assert found["status"] == "passed", (one, found)


@pytest.mark.soak
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("mpi", FOLDERS)
def test_every_benchmark(tmp_path: Path, mpi: str, ranks: int) -> None:
    for one in [*APART, *TOGETHER]:
        if ranks == 3 and one.startswith(POWERS_OF_TWO):
            continue
        if ranks > (os.cpu_count() or 1) and one.startswith(WAITING):
            continue
        words = [*words_of(one, ranks), "--runtime", "sycl", "--repetitions", "1"]
        assert_all_passed(run(tmp_path, mpi, ranks, words))


# Those whose kernels have more than those of benchmarks without transfers: vectors, sub-arrays, sizes of groups, atomics.
IN_SYCL = [
    "ptrans --size 67 --block-size 5 --transport staged",
    "mpi_fft --size 12 --transport staged",
    "hpl --size 100 --block 16 --transport staged",
    "shallow_water --size 1 --order 0 --transport staged",
    "graph500 --variant device --scale 10 --roots 2 --transport staged",
    *(
        f"ssca1 --variant device --scale 18 --tile 64 --form {form} --transport staged"
        for form in ("tiles", "strips")
    ),
    "npb_is --class S --variant device --transport staged",
    "npb_mg --class S --variant device --transport staged",
    "shallow_water --size 1 --order 0 --schedule device",
]


@pytest.mark.soak
@pytest.mark.parametrize("one", IN_SYCL)
def test_kernels_of_exchanges_in_sycl(tmp_path: Path, one: str) -> None:
    ranks = 2 if "--transport" in one else 1
    words = [*one.split(), "--runtime", "sycl", "--kernel-language", "sycl"]
    record = run(tmp_path, "Open MPI", ranks, [*words, "--repetitions", "1"])
    assert_all_passed(record)
    assert all(case.facts["kernel_language"] == "sycl" for case in record.cases)


@pytest.mark.parametrize(
    "transport",
    ["channel", *(pytest.param(x, marks=pytest.mark.soak) for x in ("nccl", "mpi-device"))],
)
def test_transports_that_sycl_lacks_say_why(transport: str) -> None:
    engine = FOLDERS["Open MPI"] / "plumb-mpi"
    if not engine.exists():
        pytest.skip("the engine is not built")
    words = ["b_eff", "--runtime", "sycl", "--transport", transport, "--record", "none"]
    done = subprocess.run(
        [str(engine), *words],
        env={**os.environ, **sycl_environment()},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert f"transport {transport} does not work" in done.stderr


def unbound(command: list[str]) -> list[str]:
    """Of a launcher's command: a rank that is bound to one core has no two parts."""
    if "--bind-to" in command:
        command[command.index("--bind-to") + 1] = "none"
    return command


def parts() -> list[int]:
    """The numbers of two parts of the CPU."""
    needs_two_cores()
    shown = subprocess.run(
        [str(program("plumb-serial")), "--devices", "--format", "json"],
        env={**os.environ, **sycl_environment(), "PLUMBLINE_SYCL_PARTS": "2"},
        capture_output=True,
        check=True,
        timeout=PATIENCE_S,
    )
    devices = json.loads(shown.stdout)["devices"]
    numbers = [device["index"] for device in devices if device["runtime"] == "sycl"]
    assert len(numbers) == 2
    return numbers


@pytest.mark.parametrize(
    "how",
    [
        "peer --approach host-buffered",
        pytest.param("staged", marks=pytest.mark.soak),
        pytest.param("pipelined", marks=pytest.mark.soak),
        pytest.param("peer --approach device-buffered", marks=pytest.mark.soak),
        pytest.param("peer --approach device-streaming", marks=pytest.mark.soak),
    ],
)
def test_parts_of_a_cpu_are_devices(tmp_path: Path, how: str) -> None:
    """From device to device on one CPU, in the order of the map; the record has what chose the devices."""
    numbers = parts()[::-1]
    words = f"b_eff --max-size 4 --sub-devices 2 --repetitions 1 --transport {how}".split()
    words += ["--device-map", ":".join(map(str, numbers)), "--runtime", "sycl"]
    variables = {"ONEAPI_DEVICE_SELECTOR": "opencl:cpu", "UR_LOG_LOADER": "level:error"}
    record = run(tmp_path, "Open MPI", 2, words, **variables)
    assert_all_passed(record)
    assert record.environment.items() >= variables.items()
    assert "SYCL_CACHE_PERSISTENT" in record.environment
    devices = [rank.device for rank in record.ranks if rank.device]
    assert [device.index for device in devices] == numbers
    assert {device.compute_units for device in devices} == {(os.cpu_count() or 2) // 2}


@pytest.mark.parametrize(
    "mutant", [pytest.param("none", marks=pytest.mark.soak), "always-the-first-device"]
)
def test_fpga_mapping_names_the_device(tmp_path: Path, mutant: str) -> None:
    """libplumb-mpi-device opens the device that has the number here: the second, which the mutant does not."""
    library = FOLDERS["Open MPI"].parent / "lib" / "libplumb-mpi-device.so"
    if not library.exists() or not PLUGIN.exists():
        pytest.skip("libplumb-mpi-device or the mutants are not built")
    number = parts()[1]
    words = ["osu_latency", "D", "D", "-d", "sycl", "-m", "8:8", "--repetitions", "1"]
    command, environment = launch_command(
        2, FOLDERS["Open MPI"] / "plumb-mpi", *words, "--record", "none"
    )
    environment |= with_mutant(mutant) | {
        "LD_PRELOAD": preloaded(library),
        "PLUMBLINE_SYCL_PARTS": "2",
    }
    environment["FPGA_MAPPING"] = f"{number}:{number}"
    done = subprocess.run(
        unbound(command),
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    said = done.stdout + done.stderr
    if mutant == "none":
        assert done.returncode == 0, said
    else:
        assert "has opened device 0 of SYCL's instead of 1" in said


@pytest.mark.soak
@pytest.mark.parametrize("mpi", FOLDERS)
@pytest.mark.parametrize(
    "words",
    [
        "osu --where D,H",
        "osu --where D,D -b multiple --only osu_bw,osu_bibw,osu_latency,osu_mbw_mr",
        "osu --where D,D -b single --only osu_bw,osu_bibw,osu_latency,osu_mbw_mr",
        "osu --where H,D --only osu_bw,osu_bibw,osu_put_bibw,osu_get_bw,osu_cas_latency -s fence",
        "osu --where D,D --no-touch --only osu_bw,osu_latency",
    ],
)
def test_osu_on_sycls_memory(tmp_path: Path, mpi: str, words: str) -> None:
    """Point to point, one-sided and collective; what MPI cannot take is unsupported, with a reason."""
    library = FOLDERS[mpi].parent / "lib" / "libplumb-mpi-device.so"
    quick = "-d sycl -m 64:4096 --size-factor 64 -W 3 -i 4 --repetitions 2 --known-faults"
    record = run(tmp_path, mpi, 2, [*words.split(), *quick.split()], LD_PRELOAD=preloaded(library))
    outcomes = {case.key: case.outcome for case in record.cases}
    assert {outcome.status for outcome in outcomes.values()} <= {"passed", "unsupported"}, outcomes
    passed = {key for key, outcome in outcomes.items() if outcome.status == "passed"}
    assert all(outcomes[key].reason for key in outcomes if key not in passed)
    if "--only" not in words and words.startswith("osu "):
        assert len(passed) > len(outcomes) / 2


@pytest.mark.soak
def test_letters_that_sycl_lacks_are_refused(tmp_path: Path) -> None:
    library = FOLDERS["Open MPI"].parent / "lib" / "libplumb-mpi-device.so"
    words = "osu_latency --pairs all -d sycl -m 64:64 -i 4 --repetitions 1"
    record = run(tmp_path, "Open MPI", 2, words.split(), LD_PRELOAD=preloaded(library))
    for case in record.cases:
        pair = {case.label("from"), case.label("to")}
        expected = "unsupported" if pair & {"B", "P"} else "passed"
        assert case.outcome.status == expected, case
        assert expected == "passed" or "SYCL gives the host no choice of a bank" in (
            case.outcome.reason or ""
        )


@pytest.fixture
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own with the runtimes that are installed, and the engine of the release tree."""
    if not runtimes.is_installed(runtimes.INTEL_SYCL.name, INSTALLED):
        pytest.skip("intel-sycl is not installed")
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(FOLDERS["Open MPI"]))
    home.mkdir()
    (home / "runtimes").symlink_to(INSTALLED.runtimes)
    return home


@pytest.mark.soak
@pytest.mark.usefixtures("installed")
def test_models_on_sycl(plumb: Plumb) -> None:
    """Calibration of the legs, expectations, and their explanation."""
    status, _, err = plumb("calibrate", "--runtime", "sycl", "-n", "2", "--only", "legs")
    assert status == 0, err
    for benchmark in ("stream --elements 1000000", "b_eff --max-size 8"):
        words = ("-n", "2", "--runtime", "sycl", "--preset", "smoke")
        status, out, err = plumb("run", *benchmark.split(), *words)
        assert status == 0, err
        assert "expected" in out, out
        status, out, err = plumb("explain", "last")
        assert status == 0, err
        assert "expected" in out, out


@pytest.mark.soak
@pytest.mark.usefixtures("installed")
def test_runtimes_side_by_side(plumb: Plumb) -> None:
    status, out, err = plumb(
        *("compare-runtimes", "stream", "-n", "1", "--elements", "16384", "--operation", "triad"),
        *("--time-limit", "0.1"),
    )
    assert status == 0, err
    rows = {row: line for line in out.splitlines() if (row := line.split("  ")[0])}
    for column in ("sycl (opencl)", "sycl (sycl)", "native"):
        assert column in out
    for row in ("triad", "launch, us", "8 B to the host, us", "8 B to the device, us"):
        assert len(re.findall(r"\d[\d.e+-]*(?= |$)", rows[row][len(row) :])) >= 4, out
