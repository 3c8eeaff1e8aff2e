#!/usr/bin/env python3
"""PTRANS beside Debian's hpcc, in turn: n = 8192, double, two bound ranks, a grid of 1 x 2, host memory.

    bench/hpcc_ptrans.py [--rounds 3] [--size 8192] [--blocks 64,128,256] [--build build/release] [--json FILE] [-- OPTION...]

In each round hpcc runs its PTRANS with each block size, five times each, and its best counts; then ours runs over native and mpi,
with its own block size or the OPTIONs given, and its best repetition counts. Both rates are 8 n^2 bytes over the time. Printed:
both medians, the median ratio, and the lowest and highest. Standard library only; without hpcc it stops with a message.
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

ROOT = Path(__file__).resolve().parent.parent
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "HWLOC_COMPONENTS": "-opencl",
}
LAUNCH = ["mpirun", "-np", "2", "--bind-to", "core"]
WALL = re.compile(r"^WALL\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s+1\s+2\s+([\d.]+)\s+PASSED", re.M)


def hpcc_seconds(wish: argparse.Namespace, folder: Path) -> float:
    """The best time of any block size and repetition; hpcc's other tests are as short as possible."""
    lines = HPCC_INPUT.read_text().splitlines()
    blocks = wish.blocks.split(",")
    values = {
        6: "400",  # of HPL; sizes of all other tests follow from it
        11: "1",
        12: "2",
        33: "1",
        34: str(wish.size),
        35: str(len(blocks)),
        36: " ".join(blocks),
    }
    for number, value in values.items():
        lines[number - 1] = f"{value} values"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    subprocess.run([*LAUNCH, "hpcc"], cwd=folder, env=ENVIRONMENT, check=True)
    text = (folder / "hpccoutf.txt").read_text()
    times = [float(seconds) for size, _, seconds in WALL.findall(text) if int(size) == wish.size]
    if not times:
        raise RuntimeError(f"hpcc has no PTRANS of {wish.size} rows in {folder}/hpccoutf.txt")
    return min(times)


def our_seconds(wish: argparse.Namespace, folder: Path) -> float:
    """The best repetition, by the slower rank."""
    record = folder / "record.json"
    own = ["ptrans", "--transport", "mpi", "--runtime", "native", "--type", "double"]
    own += ["--size", str(wish.size), "--grid-rows", "1", "--repetitions", "10"]
    own += ["--record", str(record), "--format", "none", "--progress", "none", *wish.options]
    engine = wish.build / "bin" / "plumb-mpi"
    subprocess.run([*LAUNCH, str(engine), *own], env=ENVIRONMENT, check=True)
    case = json.loads(record.read_text())["cases"][0]
    if case["outcome"]["status"] != "passed":
        raise RuntimeError(f"ours: {case['outcome']}")
    return float(case["summary"]["min_s"]) / float(case["count"])


def main() -> int:
    """Rounds of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--blocks", default="64,128,256")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=Path)
    parser.add_argument("options", nargs="*")
    wish = parser.parse_args()
    if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
        print("Debian's hpcc is not installed (apt install hpcc): nothing to measure beside")
        return 0
    rates: dict[str, list[float]] = {"ours": [], "hpcc": []}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(wish.rounds):
            for who, seconds_of in (("hpcc", hpcc_seconds), ("ours", our_seconds)):
                rates[who].append(8e-9 * wish.size**2 / seconds_of(wish, Path(name)))
    ratios = [ours / theirs for ours, theirs in zip(rates["ours"], rates["hpcc"], strict=True)]
    print(f"ptrans double {wish.size}, 2 ranks, 1 x 2, GB/s of 8 n^2 bytes; {wish.rounds} rounds")
    for who, list_of in rates.items():
        print(
            f"  {who:<5} {statistics.median(list_of):8.3f}  ({min(list_of):.3f}..{max(list_of):.3f})"
        )
    print(f"  ratio {statistics.median(ratios):8.3f}  ({min(ratios):.3f}..{max(ratios):.3f})")
    if wish.json:
        wish.json.write_text(json.dumps({"rates": rates, "ratios": ratios}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
