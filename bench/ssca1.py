#!/usr/bin/env python3
"""SSCA1: variant blocked beside as many copies of parasail's best score-only local function, in turn, by width of scores.

    bench/ssca1.py [--engine build/release/bin] [--scale 26] [--ranks 2] [--rounds 5]

Each copy of parasail compares two strings of the same length, codons and scores, made at random, with a profile made before; the
fastest of its functions (striped, scan, diag) is taken. Printed: medians over the rounds of cells a second of all ranks and of all
copies, and the median of the rounds' ratios beside its target. Needs parasail (`pip install parasail`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
AMINO_ACIDS = "KKNNRRSSTTTTIMIIEEDDGGGGAAAAVVVVQQHHRRRRPPPPLLLL**YY*WCCSSSSLLFF"
FUNCTIONS = ("striped", "scan", "diag")
TARGET = 0.5
CURES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HWLOC_COMPONENTS": "-opencl",
}


def copy_of_parasail(length: int, bits: str, core: int) -> None:
    """One copy, on one core: prints the best cells a second of each function."""
    import parasail

    os.sched_setaffinity(0, {core})
    random.seed(core)
    main, match = ("".join(random.choices(LETTERS, k=length)) for _ in range(2))
    matrix = parasail.matrix_create(LETTERS, 5, -3, case_sensitive=True)
    for a in range(64):
        for b in range(64):
            if a != b and AMINO_ACIDS[a] == AMINO_ACIDS[b]:
                matrix[a, b] = 4
    profile = getattr(parasail, f"profile_create_{bits}")(main, matrix)
    best = {}
    for name in FUNCTIONS:
        seconds = math.inf
        for _ in range(3):
            begin = time.perf_counter()
            if name == "diag":
                getattr(parasail, f"sw_diag_{bits}")(main, match, 7, 2, matrix)
            else:
                getattr(parasail, f"sw_{name}_profile_{bits}")(profile, match, 7, 2)
            seconds = min(seconds, time.perf_counter() - begin)
        best[name] = length * length / seconds
    print(json.dumps(best))


def rates_of_parasail(length: int, bits: str, copies: int) -> dict[str, float]:
    """Cells a second of all copies together, by function."""
    words = [sys.executable, __file__, "--copy", str(length), bits]
    running = [
        subprocess.Popen([*words, str(core)], stdout=subprocess.PIPE, text=True)
        for core in sorted(os.sched_getaffinity(0))[:copies]
    ]
    found = [json.loads(one.communicate(timeout=600)[0]) for one in running]
    return {name: sum(one[name] for one in found) for name in FUNCTIONS}


def our_rate(engine: Path, scale: float, bits: str, ranks: int, record: Path) -> float:
    """Cells a second, best repetition."""
    words = ["ssca1", "--scale", str(scale), "--bits", bits, "--time-limit", "2"]
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    launcher = ["mpirun", "-np", str(ranks), "--bind-to", "core"]
    subprocess.run(
        [*launcher, str(engine / "plumb-mpi"), *words, *quiet],
        env={**os.environ, **CURES},
        check=True,
        timeout=900,
    )
    (case,) = json.loads(record.read_text())["cases"]
    (rate,) = (metric["value"] for metric in case["metrics"] if metric["name"] == "CUPS")
    return float(rate)


def main() -> None:
    parser = argparse.ArgumentParser(description="SSCA1 beside parasail")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--scale", type=float, default=26)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copy", nargs=3, help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.copy:
        copy_of_parasail(int(wish.copy[0]), wish.copy[1], int(wish.copy[2]))
        return
    length = math.ceil(2 ** (wish.scale / 2)) + 79
    with tempfile.TemporaryDirectory() as name:
        for bits in ("16", "32"):
            ours, theirs, ratios = [], [], []
            chosen = ""
            for _ in range(wish.rounds):
                ours.append(
                    our_rate(
                        wish.engine.absolute(), wish.scale, bits, wish.ranks, Path(name, "r.json")
                    )
                )
                found = rates_of_parasail(length, bits, wish.ranks)
                chosen = max(found, key=found.__getitem__)
                theirs.append(found[chosen])
                ratios.append(ours[-1] / theirs[-1])
            print(
                f"{bits} bits: {statistics.median(ours) / 1e9:.2f} GCUPS on {wish.ranks} ranks, parasail {chosen} "
                f"{statistics.median(theirs) / 1e9:.2f} GCUPS; ratio {statistics.median(ratios):.2f} "
                f"({min(ratios):.2f} to {max(ratios):.2f}), target {TARGET}"
            )


if __name__ == "__main__":
    main()
