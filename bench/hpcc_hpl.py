#!/usr/bin/env python3
"""HPL: ours beside HPL in Debian's hpcc: the same matrix, two ranks bound to cores, one BLAS thread a rank, the same grid, in turn.

    bench/hpcc_hpl.py [--engine build/release/bin] [--size 8192] [--grid 1x2] [--rounds 3] [--blocks 96,128,192]

hpcc tries all of `--blocks`, and its best counts; ours runs by OpenBLAS (`library`, blocks of 128) and by its own kernels
(`nd_range`, of 256), and `gemm` runs in both forms for comparison. Printed: medians over the rounds, in GFLOP/s by HPL's count, and ratios
with their targets: library 0.97 of hpcc, own kernels 0.95 times the ratio of own gemm to OpenBLAS's. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import HPCC_INPUT, blas_kernels

MPIRUN = ["mpirun", "-np", "2", "--bind-to", "core"]
CURES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HWLOC_COMPONENTS": "-opencl",
    "OPENBLAS_NUM_THREADS": "1",
    **blas_kernels(),
}
OF_HPCC, OF_GEMM = 0.97, 0.95
"""The target ratios."""


def hpcc_rates(
    size: int, blocks: list[str], grid: tuple[str, str], folder: Path
) -> dict[str, float]:
    """GFLOP/s of hpcc's HPL by block size; the rest of hpcc cannot be switched off and runs as well."""
    lines = HPCC_INPUT.read_text().splitlines()
    values = {
        5: "1",
        6: str(size),
        7: str(len(blocks)),
        8: " ".join(blocks),
        10: "1",
        11: grid[0],
        12: grid[1],
    }
    for number, value in values.items():
        lines[number - 1] = f"{value}   values"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    subprocess.run(
        [*MPIRUN, "hpcc"], cwd=folder, env={**os.environ, **CURES}, check=True, timeout=3000
    )
    text = (folder / "hpccoutf.txt").read_text()
    rows = re.findall(r"^W\w+\s+(\d+)\s+(\d+)\s+\d+\s+\d+\s+\S+\s+(\S+)$", text, re.M)
    return {block: float(rate) for n, block, rate in rows if int(n) == size}


def our_rate(engine: Path, folder: Path, metric: str, *words: str) -> float:
    """A metric of a run's only case."""
    record = folder / "record.json"
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    command = [*MPIRUN, str(engine / "plumb-mpi"), *words, "--runtime", "native", *quiet]
    subprocess.run(command, env={**os.environ, **CURES}, check=True, timeout=1000)
    case = json.loads(record.read_text())["cases"][0]
    return next(found["value"] for found in case["metrics"] if found["name"] == metric)


def main() -> None:
    parser = argparse.ArgumentParser(description="hpl beside hpcc's HPL")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--grid", default="1x2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", default="96,128,192")
    parser.add_argument("--library-block", default="128")
    parser.add_argument("--own-block", default="256", help="the longest of our tiles in double")
    wish = parser.parse_args()
    if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
        sys.exit("Debian's hpcc is not installed: apt-get install hpcc")
    engine = wish.engine.absolute()
    grid = tuple(wish.grid.split("x"))
    hpl = ["hpl", "--size", str(wish.size), "--grid", wish.grid]
    block_of = {"library": wish.library_block, "nd_range": wish.own_block}
    gemm = ["gemm", "--type", "double", "--size", "2048", "--time-limit", "2"]
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(wish.rounds):
            by_block = hpcc_rates(wish.size, wish.blocks.split(","), grid, folder)
            turn = {f"hpcc, block {block}": rate for block, rate in by_block.items()}
            turn["hpcc, its best"] = max(by_block.values())
            for form, block in block_of.items():
                form_of = ["--variant", form]
                once = [*hpl, *form_of, "--block", block, "--repetitions", "2"]
                turn[f"ours, {form}"] = our_rate(engine, folder, "performance", *once)
                turn[f"gemm, {form}"] = our_rate(engine, folder, "performance", *gemm, *form_of)
            for what, rate in turn.items():
                rates.setdefault(what, []).append(rate)
    medians = {what: statistics.median(found) for what, found in rates.items()}
    for what, median in medians.items():
        print(
            f"{what:<18} {median:8.2f} GFLOP/s   {min(rates[what]):.2f} to {max(rates[what]):.2f}"
        )
    library = medians["ours, library"] / medians["hpcc, its best"]
    own = medians["ours, nd_range"] / medians["hpcc, its best"]
    wanted = OF_GEMM * medians["gemm, nd_range"] / medians["gemm, library"]
    print(f"library / hpcc {library:.3f}, wanted {OF_HPCC}")
    print(f"own kernels / hpcc {own:.3f}, wanted {wanted:.3f} ({OF_GEMM} of own gemm / OpenBLAS's)")


if __name__ == "__main__":
    main()
