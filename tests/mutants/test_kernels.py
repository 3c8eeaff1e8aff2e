"""Every mutant of ``kernels/*.py`` must come out ``failed``, and every sound run must pass.

`make test` runs three mutants of each file on each device, spread over its list, `make soak` all.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from tests.launching import PATIENCE_S, ROOT, launch_command, program
from tests.mutants.kernel_mutants import KernelMutant, Sound

FOLDER = Path(__file__).parent / "kernels"
BENCHMARKS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
LISTS = {name: importlib.import_module(f"tests.mutants.kernels.{name}") for name in BENCHMARKS}
FEWEST = 6  # of a file
RUN = 3  # of a file on a device


def is_spread(place: int, number: int) -> bool:
    """Whether ``place`` is one of RUN places spread evenly over ``number``, both ends included."""
    return number <= RUN or place in {round(i * (number - 1) / (RUN - 1)) for i in range(RUN)}


def listed_mutants() -> Iterator[ParameterSet]:
    """All mutants; those that only `make soak` runs are marked."""
    for name, module in LISTS.items():
        of_file: dict[tuple[str, str], list[KernelMutant]] = defaultdict(list)
        for mutant in module.MUTANTS:
            of_file[mutant.file, mutant.device].append(mutant)
        for mutants in of_file.values():
            for place, mutant in enumerate(mutants):
                marks = () if is_spread(place, len(mutants)) else pytest.mark.soak
                yield pytest.param(name, mutant, id=f"{name}-{mutant.name}", marks=marks)


MUTANTS = list(listed_mutants())
SOUND = [
    pytest.param(
        name,
        sound,
        id=f"{name}-{sound.device}-{' '.join(sound.words)}",
        marks=pytest.mark.soak if sound.soak else (),
    )
    for name, module in LISTS.items()
    for sound in module.SOUND
]
ENGINE = program("plumb-mpi")
ALONE = program("plumb-serial")  # one rank needs no launcher
RUNTIMES = {"pocl": "pocl", "fpga": "fpga-emulator", "intel": "intel-cpu"}
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")


def vendor_environment(device: str, ranks: int) -> dict[str, str]:
    """What makes OpenCL's loader show ``device`` and nothing else; skips where it is not there."""
    name = RUNTIMES[device]
    if not runtimes.is_installed(name, find_home()):
        pytest.skip(f"{name} is not installed (ACCEPT_INTEL_EULA=1 make test installs Intel's)")
    return runtimes.environment(name, find_home(), devices=ranks)


@cache
def needs_devices_of(runtime: str) -> None:
    """Skips where the engine shows no device of ``runtime``."""
    shown = subprocess.run(
        [str(ALONE), "--devices", "--format", "json"],
        capture_output=True,
        check=True,
        timeout=PATIENCE_S,
    )
    if runtime not in {device["runtime"] for device in json.loads(shown.stdout)["devices"]}:
        pytest.skip(f"runtime {runtime} has no device")


def run(tmp_path: Path, of: KernelMutant | Sound, *words: str) -> tuple[int, dict, str]:
    """One run's exit status, its record, and its output."""
    device, ranks, variables = of.device, of.ranks, of.variables
    record = tmp_path / "record.json"
    policy = ["--repetitions", "2", "--format", "none", "--progress", "none"]
    words = (*words, *policy, "--record", str(record))
    if ranks == 1:
        command, environment = [str(ALONE), *words], dict(os.environ)
    else:
        command, environment = launch_command(ranks, ENGINE, *words)
    if device in ("native", "hls", "cuda"):
        needs_devices_of(device)
        command += ["--runtime", device]
        if device == "cuda" and ranks > 1:
            command += ["--share-devices"]
    else:
        environment |= vendor_environment(device, ranks)
    done = subprocess.run(
        command,
        env=environment | dict(variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert record.exists(), done.stderr
    return done.returncode, json.loads(record.read_text()), done.stderr


@pytest.mark.parametrize(("benchmark", "mutant"), MUTANTS)
def test_wrong_kernel_fails(tmp_path: Path, benchmark: str, mutant: KernelMutant) -> None:
    kernel = ("--kernel-file", str(mutant.write(tmp_path)))
    words = (mutant.benchmark or benchmark, *mutant.words, *kernel)
    status, record, said = run(tmp_path, mutant, *words)
    if mutant.error:
        assert status == 3, record["outcome"]
        assert re.search(mutant.error, said), said
        return
    outcomes = [case["outcome"] for case in record["cases"]]
    assert status == 1, outcomes
    assert outcomes
    assert all(outcome["status"] == "failed" and outcome["reason"] for outcome in outcomes)


@pytest.mark.parametrize(("benchmark", "sound"), SOUND)
def test_sound_kernel_passes(tmp_path: Path, benchmark: str, sound: Sound) -> None:
    name = sound.benchmark or benchmark
    status, record, said = run(tmp_path, sound, name, *sound.words)
    assert status == 0, (record["outcome"], said)
    for case in record["cases"]:
        wanted = "unsupported" if case["key"] in sound.unsupported else "passed"
        assert case["outcome"]["status"] == wanted, (case["key"], case["outcome"])


def test_a_kernel_file_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    """Told before any device is touched: no record, status 2."""
    record = tmp_path / "record.json"
    words = ("--kernel-file", str(tmp_path / "none.cl"), "--record", str(record))
    done = subprocess.run(
        [str(ALONE), "stream", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "none.cl cannot be read: No such file or directory" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not record.exists()


def test_every_mutant_alters_its_file(tmp_path: Path) -> None:
    """In one place: those of `make soak`, too, whose text a change of the kernel may remove."""
    for module in LISTS.values():
        for mutant in module.MUTANTS:
            mutant.write(tmp_path)


def test_every_kernel_file_has_six_mutants() -> None:
    """Each form of each benchmark: native's functions, which no file replaces, are proven by the same validators."""
    sources = {*(ROOT / "benchmarks").rglob("*.cl"), *(ROOT / "benchmarks").rglob("*_hls.cpp")}
    # One statement, a count of launches: queues that leave launches out stand for it.
    sources.remove(ROOT / "benchmarks" / "hpcc" / "b_eff" / "launch_hls.cpp")
    for path in sorted(sources):
        lines = path.read_text().splitlines()
        if all(line.startswith(("//", "#include")) for line in lines):  # texts of others in one
            continue
        assert path.parent.name in BENCHMARKS, f"{path.parent.name} has kernels, but no mutants"
        own = [one for one in LISTS[path.parent.name].MUTANTS if ROOT / one.file == path]
        assert len(own) >= FEWEST, path
