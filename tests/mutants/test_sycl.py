"""Runtime ``sycl``: what is wrong with it or with its options is seen.

A SYCL plug-in with one wrong function (``sycl/plugin.cpp``) must fail in the tests of every device, which all runtimes
pass. Skipped where ``intel-sycl`` is not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.record.record import Record, load_record
from tests.launching import BUILD, PATIENCE_S, ROOT, launch_command, preloaded, program

ENGINE = program("plumb-serial")
TESTS = program("device_tests")
PLUGIN = program("libplumb-sycl-mutants.so")
NAME = runtimes.INTEL_SYCL.name

# The wrong function, and the tests that see it.
MUTANTS = {
    "queue-without-order": "CommandsOfOneQueueRunInOrder",
    "wait-for-nothing": "FinishWaitsForTheLastCommand",
    "finished-at-once": "FinishedBecomesTrueByPollingAlone",
    "follow-nothing": "AQueueFollowsAnother",
    "copy-without-last-byte": "KeepsBytesAtOddOffsetsAndSizes",
    "copy-without-a-piece": "KeepsBytesAtOddOffsetsAndSizes",
    "copy-of-whole-vectors": "KeepsBytesAtOddOffsetsAndSizes",
    "copies-started-backwards": "CopiesOfOneQueueRunInOrder",
    "copies-forgotten": "CopiesOfOneQueueRunInOrder",
    "offset-dropped": "KernelsWorkOnViews",
    "arguments-shifted": "PassesEveryTypeOfArgument",
    "last-group-left-out": "RunsKernelsOnEveryMemoryKind",
    "every-second-launch": "ArgumentsStayUntilSetAgain",
    "times-of-another": "TimedQueueTellsTimesInOrder",
    "options-dropped": "BuildOptionsReachTheKernel",
    "cached-without-options": "BuildOptionsReachTheKernel",
    "write-not-copied-back": "KernelsWorkOnSyclsMemoryObjects",
    "device-memory-of-the-host": "GivesTheHostNoPointerToSyclsDeviceMemory",
    "always-the-first-device": "SaysWhatItIs",
}
# With one device the first is the right one.
VARIABLES = {"always-the-first-device": {"PLUMBLINE_SYCL_PARTS": "2"}}

pytestmark = pytest.mark.skipif(
    not TESTS.exists() or not PLUGIN.exists(), reason="the tests are not built (make build)"
)


def sycl_environment() -> dict[str, str]:
    """What shows SYCL's device; skips where it is not installed."""
    if not runtimes.is_installed(NAME, find_home()):
        pytest.skip(f"{NAME} is not installed (ACCEPT_INTEL_EULA=1 make test installs it)")
    return runtimes.environment(NAME, find_home(), 1)


def needs_onemkl() -> None:
    plugin = Path(sycl_environment()[runtimes.PLUGIN_VARIABLE])
    if not (plugin.parent / "libplumb-sycl-mkl.so").exists():
        pytest.skip("oneMKL is not installed (plumb setup intel-sycl --onemkl)")


def needs_two_cores() -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core has no two parts")


# Options and variables, and a part of the message.
REFUSED = [
    ("--memory hbm", {}, "has no memory of kind hbm"),
    ("--runtime native --kernel-language sycl", {}, "--kernel-language sycl is of runtime sycl"),
    ("--runtime native --sycl-memory buffer", {}, "--sycl-memory buffer is of runtime sycl"),
    ("--memory host --sycl-memory buffer", {}, "leave out --memory host"),
    ("--kernel-language sycl --sycl-memory buffer", {}, "needs --kernel-language opencl"),
    ("--device 7", {}, "--device 7: unknown device; there are: 0 (opencl cpu"),
    ("", {"PLUMBLINE_SYCL_PARTS": "9999"}, "(PLUMBLINE_SYCL_PARTS) 9999 exceeds the"),
    ("--sub-devices 9999", {}, "--sub-devices (PLUMBLINE_SYCL_PARTS) 9999 exceeds the"),
    ("", {"PLUMBLINE_SYCL_PARTS": "x"}, 'must be an integer of at least 1, not "x"'),
    ("", {"PLUMBLINE_SYCL": ""}, "PLUMBLINE_SYCL names no SYCL plug-in; plumb setup intel-sycl"),
    ("", {"PLUMBLINE_SYCL": "/nowhere/x.so"}, "could not load the SYCL plug-in: /nowhere/x.so"),
    ("", {"PLUMBLINE_SYCL": "libm.so.6"}, "libm.so.6 is not a SYCL plug-in"),
    ("", {"ONEAPI_DEVICE_SELECTOR": "level_zero:gpu"}, "=level_zero:gpu leaves none"),
    ("", {"OCL_ICD_VENDORS": "/nowhere"}, "SYCL finds none; OCL_ICD_VENDORS names"),
    # damaged: a text, a half; and those of mutants: of another version, and compiled with another libsycl
    ("", {"PLUMBLINE_SYCL": __file__}, f"could not load the SYCL plug-in: {__file__}: invalid ELF"),
    ("", {"PLUMBLINE_SYCL": "half"}, "is damaged: its end is missing; plumb setup intel-sycl"),
    ("", {"PLUMBLINE_SYCL_MUTANT": "older-interface"}, "version 1 of the interface"),
    ("", {"PLUMBLINE_SYCL_MUTANT": "another-libsycl"}, "was compiled with libsycl 00000000, but"),
]
if pocl := runtimes.pocl_vendor_file():  # Debian 12's 3.1
    REFUSED.append(("", {"OCL_ICD_VENDORS": str(pocl)}, "no device allocations of unified shared"))


@pytest.mark.parametrize(("words", "variables", "said"), REFUSED)
def test_bad_input(words: str, variables: dict[str, str], said: str, tmp_path: Path) -> None:
    """One sentence and status 2, before a record is made."""
    mutant = variables.get("PLUMBLINE_SYCL_MUTANT")
    environ = with_mutant(mutant) if mutant else sycl_environment() | variables
    if variables.get("PLUMBLINE_SYCL") == "half":
        whole = Path(sycl_environment()[runtimes.PLUGIN_VARIABLE]).read_bytes()
        (tmp_path / "half.so").write_bytes(whole[: len(whole) // 2])
        environ["PLUMBLINE_SYCL"] = str(tmp_path / "half.so")
    record = tmp_path / "record.json"
    done = start(f"fft --runtime sycl {words} --record {record}", environ)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not record.exists()


# Benchmarks whose kernels the run-time compiler builds from the same text, with options of a short run.
IN_SYCL = [
    "random_access --size 14",
    "gemm --size 200",
    "fft --size 8",
    "fft --size 4 --variant single_work_item",
]


Done = subprocess.CompletedProcess[str]


def start(words: str, environ: dict[str, str], ranks: int = 1, preload: Path | None = None) -> Done:
    """The engine with some variables; its ranks load ``preload`` first."""
    command, added = [str(ENGINE), *words.split()], dict(os.environ)
    if ranks > 1:
        command, added = launch_command(ranks, program("plumb-mpi"), *words.split())
    if preload:
        at = command.index(str(program("plumb-mpi")))
        command[at:at] = ["env", f"LD_PRELOAD={preloaded(preload)}"]
    return subprocess.run(
        command,
        env=added | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def measure(
    words: str, folder: Path, environ: dict[str, str] | None = None, ranks: int = 1
) -> tuple[Record, Done]:
    """The record of one repetition on runtime ``sycl``."""
    path = folder / "record.json"
    words += f" --repetitions 1 --record {path}"
    done = start(words, environ or sycl_environment(), ranks)
    assert path.exists(), done.stderr
    return load_record(path), done


@pytest.mark.parametrize("one", IN_SYCL)
def test_kernels_in_sycl(one: str, tmp_path: Path) -> None:
    """`--kernel-language sycl` computes the same; the record tells the language and the time of the build."""
    words = f"{one} --runtime sycl --kernel-language sycl"
    record, done = measure(words, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(case.facts["kernel_language"] == "sycl" for case in record.cases)
    assert any(case.facts.get("kernel_build_s") for case in record.cases)


def test_the_second_start_compiles_nothing(tmp_path: Path) -> None:
    words = "stream --operation triad --elements 16384 --runtime sycl --kernel-language sycl"
    environ = sycl_environment() | {"SYCL_CACHE_DIR": str(tmp_path / "cache")}
    for cached in (False, True):
        record, _ = measure(words, tmp_path, environ)
        assert [case.facts["kernel_cached"] for case in record.cases] == [cached]


def test_pocl_among_the_vendors(tmp_path: Path) -> None:
    """PoCL 3.1 is SYCL's device too, but not the engine's; the other one keeps its number among SYCL's."""
    pocl = runtimes.pocl_vendor_file()
    if pocl is None:
        pytest.skip("PoCL is not installed")
    environ = sycl_environment()
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    for file in (pocl, *Path(environ["OCL_ICD_VENDORS"]).glob("*.icd")):
        shutil.copy(file, vendors)
    environ["OCL_ICD_VENDORS"] = str(vendors)
    record, done = measure("stream --elements 16384 --runtime sycl", tmp_path, environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(case.facts["kernel_language"] == "opencl" for case in record.cases)
    assert record.ranks[0].device is not None
    assert "Intel" in record.ranks[0].device.platform


@pytest.mark.parametrize("language", ["opencl", "sycl"])
def test_a_kernel_that_does_not_compile(language: str, tmp_path: Path) -> None:
    """The message has the compiler's log, the language and the options."""
    file = tmp_path / "wrong.cl"
    file.write_text("__kernel void copy(__global int* a) { a[0] = not_declared; }\n")
    words = f"stream --operation copy --elements 16384 --runtime sycl --kernel-file {file}"
    done = start(f"{words} --kernel-language {language} --record none", sycl_environment())
    named = {"opencl": "OpenCL C", "sycl": "SYCL"}[language]
    assert done.returncode == 3, done.stdout + done.stderr
    for said in ("not_declared", f"{file} as {named} for", "-DVECTOR_COUNT="):
        assert said in done.stdout + done.stderr


@pytest.mark.soak
def test_lambda_kernels_are_none_of_ours(tmp_path: Path) -> None:
    """They need a SYCL compiler of the host's code; here they are only unknown names."""
    file = tmp_path / "lambda.cpp"
    call = "q.parallel_for(sycl::range<1>(8), [=](sycl::id<1> i) { a[i] = 1; });"
    file.write_text(f"void copy(sycl::queue& q, float* a) {{ {call} }}\n")
    words = f"stream --operation copy --elements 16384 --runtime sycl --kernel-file {file}"
    done = start(f"{words} --kernel-language sycl --record none", sycl_environment())
    assert done.returncode == 3, done.stdout + done.stderr
    assert "unknown kernel in" in done.stdout + done.stderr


@pytest.mark.xdist_group("ranks")
@pytest.mark.parametrize(
    ("words", "ranks"),
    [
        ("stream --elements 16384", 1),
        ("b_eff --transport staged --min-size 0 --max-size 12", 2),
    ],
)
def test_memory_objects(words: str, ranks: int, tmp_path: Path) -> None:
    """`--sycl-memory buffer`: the same results with sycl::buffer and accessors."""
    words += " --runtime sycl --sycl-memory buffer"
    record, done = measure(words, tmp_path, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(case.facts["sycl_memory"] == "buffer" for case in record.cases)


def test_kernels_in_spirv(tmp_path: Path) -> None:
    """`--kernel-file` with SPIR-V of STREAM's kernels, by Debian's compiler and translator."""
    tools = [shutil.which(name) for name in ("clang-15", "llvm-spirv-15")]
    if None in tools:
        pytest.skip("clang-15 or llvm-spirv-15 is not installed")
    source = ROOT / "benchmarks" / "hpcc" / "stream" / "nd_range.cl"
    options = "-DDATA_TYPE=float -DWIDE_TYPE=float -DVECTOR_COUNT=8 -DGROUP_SIZE=1 -DOWN_RUNS=1"
    compiler = f"{tools[0]} -c -target spir64 -emit-llvm -cl-std=CL2.0 -O2 -x cl {options}"
    compiler += f" -Xclang -finclude-default-header {source} -o {tmp_path / 's.bc'}"
    translator = f"{tools[1]} {tmp_path / 's.bc'} -o {tmp_path / 's.spv'}"
    for command in (compiler, translator):
        subprocess.run(command.split(), check=True, timeout=PATIENCE_S)
    words = f"stream --runtime sycl --elements 16384 --kernel-file {tmp_path / 's.spv'}"
    _, done = measure(words, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["gemm --size 200", "gemm --size 200 --type half", "fft --size 8"])
def test_library_of_sycl(name: str, tmp_path: Path) -> None:
    """oneMKL where it is installed; the plug-in alone says how to get it."""
    environ = sycl_environment()
    plugin = Path(environ[runtimes.PLUGIN_VARIABLE])
    alone = tmp_path / plugin.name
    shutil.copy(plugin, alone)
    words = f"{name} --runtime sycl --variant library"
    record, _ = measure(words, tmp_path, environ | {runtimes.PLUGIN_VARIABLE: str(alone)})
    assert all(case.outcome.status == "unsupported" for case in record.cases)
    assert "plumb setup intel-sycl --onemkl" in (record.cases[0].outcome.reason or "")
    needs_onemkl()
    record, done = measure(words, tmp_path, environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(case.outcome.status == "passed" for case in record.cases)


@pytest.mark.soak
def test_the_plugin_alone(tmp_path: Path) -> None:
    """Compiled like the plug-in itself, whose source it includes."""
    environ = sycl_environment()
    folder = find_home().runtimes / NAME
    command = ["g++", "-std=c++17", "-w", str(ROOT / "tests/mutants/sycl/plugin_alone.cpp")]
    command += ["-o", str(tmp_path / "alone"), f"-I{folder / 'venv' / 'include'}"]
    command += [f"-I{ROOT / 'engine'}", f"-L{folder / 'lib'}", "-lsycl", "-lOpenCL"]
    subprocess.run([*command, "-Wl,--allow-shlib-undefined"], check=True, timeout=PATIENCE_S)
    done = subprocess.run(
        [str(tmp_path / "alone")],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == "right\n", done.stderr


def with_mutant(mutant: str) -> dict[str, str]:
    """What loads the plug-in with the mutant."""
    environ = sycl_environment() | VARIABLES.get(mutant, {})
    environ["PLUMBLINE_SYCL_SERVED"] = environ[runtimes.PLUGIN_VARIABLE]
    return environ | {runtimes.PLUGIN_VARIABLE: str(PLUGIN), "PLUMBLINE_SYCL_MUTANT": mutant}


def run(mutant: str, tests: str) -> Done:
    """The tests of this name on runtime ``sycl``, with the mutant."""
    words = [str(TESTS), "--gtest_brief=1", f"--gtest_filter=*.{tests}/sycl_cpu_*"]
    return subprocess.run(
        words,
        env=os.environ | with_mutant(mutant),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_benchmark_sees_writes_that_are_not_copied_back(tmp_path: Path) -> None:
    words = "stream --elements 16384 --operation triad --runtime sycl --sycl-memory buffer"
    record, done = measure(words, tmp_path, with_mutant("write-not-copied-back"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert [case.outcome.status for case in record.cases] == ["failed"]


@pytest.mark.xdist_group("ranks")
@pytest.mark.parametrize("mutant", ["none", "no-launch"])
def test_a_placeholder_kernel_that_is_not_launched_is_seen(mutant: str) -> None:
    """OSU's tests on SYCL's memory count the kernels that touch it, on the device."""
    library = BUILD / "lib" / "libplumb-mpi-device.so"
    if not library.exists():
        pytest.skip("libplumb-mpi-device is not built")
    words = "osu_latency -d sycl D D -m 64:64 --repetitions 1 --record none"
    done = start(words, with_mutant(mutant), 2, library)
    if mutant == "none":
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        assert done.returncode != 0
        assert "kernels touched the device's buffers" in done.stdout + done.stderr


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_plugin_is_seen(mutant: str) -> None:
    """In one of several starts: on a loaded machine a command that is not awaited may have ended."""
    if "PLUMBLINE_SYCL_PARTS" in VARIABLES.get(mutant, {}):
        needs_two_cores()
    for _ in range(5):
        done = run(mutant, MUTANTS[mutant])
        if done.returncode != 0:
            break
    assert done.returncode != 0
    assert "[  FAILED  ] Present/" in done.stdout, done.stdout + done.stderr


def test_the_right_one_passes() -> None:
    """Every test of a device, on SYCL's."""
    done = run("none", "*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ]" in done.stdout
