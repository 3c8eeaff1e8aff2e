"""Runtime ``sycl``: what is wrong with it or with its options is seen.

A SYCL plug-in with one wrong function (``sycl/plugin.cpp``) must fail in the tests of every device, which all runtimes
pass. Skipped where ``intel-sycl`` is not installed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.record.record import load_record
from tests.launching import PATIENCE_S, program

ENGINE = program("plumb-serial")
TESTS = program("device_tests")
PLUGIN = program("libplumb-sycl-mutants.so")
NAME = runtimes.INTEL_SYCL.name

# The wrong function, and the tests that see it.
MUTANTS = {
    "queue-without-order": "CommandsOfOneQueueRunInOrder",
    "wait-for-nothing": "CommandsOfOneQueueRunInOrder",
    "finished-at-once": "FinishedBecomesTrueByPollingAlone",
    "follow-nothing": "AQueueFollowsAnother",
    "copy-without-last-byte": "KeepsBytesAtOddOffsetsAndSizes",
    "offset-dropped": "KernelsWorkOnViews",
    "arguments-shifted": "PassesEveryTypeOfArgument",
    "last-group-left-out": "RunsKernelsOnEveryMemoryKind",
    "every-second-launch": "ArgumentsStayUntilSetAgain",
    "times-of-another": "TimedQueueTellsTimesInOrder",
    "options-dropped": "BuildOptionsReachTheKernel",
    "cached-without-options": "BuildOptionsReachTheKernel",
}

pytestmark = pytest.mark.skipif(
    not TESTS.exists() or not PLUGIN.exists(), reason="the tests are not built (make build)"
)


def sycl_environment() -> dict[str, str]:
    """What shows SYCL's device; skips where it is not installed."""
    if not runtimes.is_installed(NAME, find_home()):
        pytest.skip(f"{NAME} is not installed (ACCEPT_INTEL_EULA=1 make test installs it)")
    return runtimes.environment(NAME, find_home(), 1)


# Options and variables, and a part of the message.
REFUSED = [
    ("--memory hbm", {}, "has no memory of kind hbm"),
    ("--runtime native --kernel-language sycl", {}, "--kernel-language sycl is of runtime sycl"),
    ("--device 7", {}, "--device 7: unknown device; there are: 0 (opencl cpu"),
    ("", {"PLUMBLINE_SYCL_PARTS": "9999"}, "PLUMBLINE_SYCL_PARTS=9999 exceeds the"),
    ("", {"PLUMBLINE_SYCL_PARTS": "x"}, 'must be an integer of at least 1, not "x"'),
    ("", {"PLUMBLINE_SYCL": ""}, "PLUMBLINE_SYCL names no SYCL plug-in; plumb setup intel-sycl"),
    ("", {"PLUMBLINE_SYCL": "/nowhere/x.so"}, "could not load the SYCL plug-in: /nowhere/x.so"),
    ("", {"PLUMBLINE_SYCL": "libm.so.6"}, "libm.so.6 is not a SYCL plug-in"),
    ("", {"ONEAPI_DEVICE_SELECTOR": "level_zero:gpu"}, "see ONEAPI_DEVICE_SELECTOR"),
    ("", {"OCL_ICD_VENDORS": "/nowhere"}, "SYCL shows no device"),
]


@pytest.mark.parametrize(("words", "variables", "said"), REFUSED)
def test_bad_input(words: str, variables: dict[str, str], said: str, tmp_path: Path) -> None:
    """One sentence and status 2, before a record is made."""
    environ = os.environ | sycl_environment() | variables
    record = tmp_path / "record.json"
    command = [str(ENGINE), "fft", "--runtime", "sycl", *words.split(), "--record", str(record)]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not record.exists()


# Benchmarks whose kernels the run-time compiler builds from the same text, with options of a short run.
IN_SYCL = {
    "stream": "--elements 16384",
    "random_access": "--size 14",
    "gemm": "--size 200",
    "fft": "--size 8",
}


@pytest.mark.parametrize("name", IN_SYCL)
def test_kernels_in_sycl(name: str, tmp_path: Path) -> None:
    """`--kernel-language sycl` computes the same; the record tells the language and the time of the build."""
    path = tmp_path / "record.json"
    words = [str(ENGINE), name, "--runtime", "sycl", "--kernel-language", "sycl"]
    words += ["--repetitions", "1", *IN_SYCL[name].split(), "--record", str(path)]
    done = subprocess.run(
        words,
        env=os.environ | sycl_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = load_record(path)
    assert all(case.facts["kernel_language"] == "sycl" for case in record.cases)
    assert any(case.facts.get("kernel_build_s") for case in record.cases)


def run(mutant: str, tests: str) -> subprocess.CompletedProcess[str]:
    """The tests of this name on runtime ``sycl``, with the mutant."""
    environ = os.environ | sycl_environment()
    environ["PLUMBLINE_SYCL_SERVED"] = environ[runtimes.PLUGIN_VARIABLE]
    environ |= {runtimes.PLUGIN_VARIABLE: str(PLUGIN), "PLUMBLINE_SYCL_MUTANT": mutant}
    words = [str(TESTS), "--gtest_brief=1", f"--gtest_filter=*.{tests}/sycl_cpu_*"]
    return subprocess.run(
        words, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_plugin_is_seen(mutant: str) -> None:
    """In one of several starts: on a loaded machine a command that is not awaited may have ended."""
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
