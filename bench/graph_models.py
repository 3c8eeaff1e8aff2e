#!/usr/bin/env python3
"""Models of graph500 and ssca1 beside runs: rates are fitted to records of two sizes, and predict others.

    bench/graph_models.py [--engine build/release/bin] [--roots 8] [--only NAME]

One rank on one core; variant device on OpenCL's CPU. Printed for each size: the median of measured / expected over its cases, the
median of its deviation from 1, and the number of cases. Needs Plumbline in Python's path; an idle machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.fit.device import fit_device
from plumbline.model.benchmarks import graph500, ssca1
from plumbline.model.own_work import undisturbed_s
from plumbline.record.record import Record, load_record
from plumbline.system.device import DeviceTable
from plumbline.system.system import Figures

DEVICE = "--variant device --runtime opencl"
GRAPH = "graph500 --roots {roots}"
# Name: model, words before the scale, scales fitted to, scales predicted.
RUNS: dict[str, tuple[ModuleType, str, tuple[int, ...], tuple[int, ...]]] = {
    "ssca1-32": (ssca1, f"ssca1 {DEVICE} --bits 32 --scale", (20, 25), (22, 24, 26)),
    "ssca1-16": (ssca1, f"ssca1 {DEVICE} --bits 16 --scale", (20, 25), (22, 24, 26)),
    "bfs": (graph500, f"{GRAPH} {DEVICE} --scale", (13, 16, 18), (14, 15, 17)),
    "sssp": (
        *(graph500, f"{GRAPH} --kernel sssp --variant messages --scale"),
        *((13, 18), (14, 15, 16, 17)),
    ),
    "sssp-device": (
        *(graph500, f"{GRAPH} --kernel sssp {DEVICE} --scale"),
        *((13, 18), (14, 16, 17)),
    ),
}


def run(engine: Path, words: str, scale: int, folder: Path) -> Record:
    """The record of one run on one core."""
    path = folder / "record.json"
    on_device = "--runtime" in words
    environment = {**os.environ, "HWLOC_COMPONENTS": "-opencl", "POCL_MAX_PTHREAD_COUNT": "1"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if on_device:
        environment |= runtimes.environment("pocl", find_home(), devices=1)
    program = engine / ("plumb-serial" if on_device else "plumb-mpi")
    quiet = ["--format", "none", "--progress", "none", "--record", str(path)]
    core = str(max(os.sched_getaffinity(0)))
    command = ["taskset", "-c", core, str(program), *words.split(), str(scale), *quiet]
    subprocess.run(command, env=environment, check=True, timeout=600)
    return load_record(path)


def compare(name: str, wish: argparse.Namespace, folder: Path) -> None:
    """Fits, then predicts and prints."""
    model, words, fitted, predicted = RUNS[name]
    words = words.format(roots=wish.roots)
    records = [run(wish.engine.absolute(), words, scale, folder) for scale in fitted]
    device, _ = fit_device(records, DeviceTable())
    for scale in predicted:
        record = run(wish.engine.absolute(), words, scale, folder)
        expected = model.expect(record, Figures(None, device))
        ratios = [
            undisturbed_s(case) * case.count / expected[case.key].time_s
            for case in record.cases
            if case.has_figures and expected[case.key].parts
        ]
        off = statistics.median(abs(ratio - 1) for ratio in ratios)
        print(
            f"{name:<12} scale {scale}: measured / expected {statistics.median(ratios):.2f}, "
            f"deviation {off:.0%}, {len(ratios)} cases",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="models of graph500 and ssca1 beside runs")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--roots", type=int, default=8)
    parser.add_argument("--only", choices=RUNS)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in RUNS if wish.only is None else (wish.only,):
            compare(name, wish, Path(folder))


if __name__ == "__main__":
    main()
