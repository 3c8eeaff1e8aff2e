#!/usr/bin/env python3
"""Runs the wrong kernels of tests/mutants/kernels for one device, and its sound runs, with the engine alone.

For machines with a GPU but without the packages that the tests need: each mutant must come out
``failed`` (exit status 1), each sound run ``passed``. Runs of several ranks share the devices.
Exit status 1 when one does not.

  bench/kernel_mutants.py gemm --device cuda [--at-once 4]
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.mutants.kernel_mutants import KernelMutant, Sound  # noqa: E402


def launch(build: Path, ranks: int) -> list[str]:
    """The command of the engine on ``ranks`` ranks, which share the devices that are there."""
    if ranks == 1:
        return [str(build / "bin" / "plumb-serial")]
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
    return [*start, str(build / "bin" / "plumb-mpi")]


def status_of(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """The engine's exit status, and the end of its output."""
    quiet = ["--progress", "none", "--format", "none", "--repetitions", "2", "--time-limit", "0.05"]
    done = subprocess.run(
        [*command, *quiet], env=environment, capture_output=True, text=True, timeout=600
    )
    return done.returncode, done.stderr.strip()[-300:]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmark")
    parser.add_argument("--device", default="cuda", help="as the mutants name it: cuda or native")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    wish = parser.parse_args()
    build = wish.build.resolve()
    lists = importlib.import_module(f"tests.mutants.kernels.{wish.benchmark}")
    cores = max(1, (os.cpu_count() or 1) // wish.at_once)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(cores),
        "OPENBLAS_NUM_THREADS": str(cores),
    }

    def command(of: KernelMutant | Sound, *more: str) -> list[str]:
        words = [of.benchmark or wish.benchmark, "--runtime", wish.device, *of.words, *more]
        shared = [] if of.ranks == 1 else ["--share-devices"]
        return [*launch(build, of.ranks), *words, *shared]

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(wish.at_once) as pool:
        runs = []
        for sound in lists.SOUND:
            if sound.device == wish.device:
                run = pool.submit(status_of, command(sound), environment)
                runs.append((" ".join(sound.words), 0, run))
        for mutant in lists.MUTANTS:
            if mutant.device == wish.device:
                folder = Path(name) / mutant.name
                folder.mkdir()
                file = str(mutant.write(folder))
                run = pool.submit(status_of, command(mutant, "--kernel-file", file), environment)
                runs.append((mutant.name, 3 if mutant.error else 1, run))
        if not runs:
            sys.exit(f"{wish.benchmark} has no wrong kernels for {wish.device}")
        wrong = 0
        for what, wanted, run in runs:
            status, said = run.result()
            wrong += status != wanted
            print(
                f"{'as wanted' if status == wanted else 'NOT AS WANTED'}: {what}: exit status {status}",
                flush=True,
            )
            if status != wanted:
                print(said, flush=True)
    print(f"{len(runs) - wrong} of {len(runs)} as wanted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
