#!/usr/bin/env python3
"""Compares a staged transfer with the sum of its measured parts.

Runs b_eff with ``--part all`` several times (launches differ) and prints, for each size, the median time of each sub-step
and of the whole transfer, and the ratio transfer / (read + exchange + write), over the launches: median, least, largest.
Needs the standard library only.

    bench/parts.py [--launches 5] [--sizes 0,20] [--engine build/release/bin] [--json FILE] -- mpirun -np 2 --bind-to core
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PARTS = ("read", "exchange", "write")


def run_once(
    launcher: list[str], engine: Path, exponent: int, options: list[str]
) -> dict[str, float]:
    """Median seconds of one message by part and for the transfer, from one launch."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        size = ["--min-size", str(exponent), "--max-size", str(exponent)]
        command = [
            *launcher,
            str(engine / "plumb-mpi"),
            "b_eff",
            "--transport",
            "staged",
            "--part",
            "all",
            *size,
        ]
        command += ["--record", str(record), "--format", "none", "--progress", "none", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        cases = json.loads(record.read_text())["cases"]
    return {case["labels"]["part"]: case["summary"]["median_s"] / case["count"] for case in cases}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--sizes", default="0,20", help="log2 of the sizes in bytes")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--json", type=Path, help="write all figures here as well")
    parser.add_argument("--options", default="", help="more options for b_eff")
    parser.add_argument("launcher", nargs="+")
    wish = parser.parse_args()
    figures: dict[int, list[dict[str, float]]] = {}
    print(
        f"{'bytes':>10} {'launch us':>10} {'read us':>10} {'exch. us':>10} {'write us':>10} {'sum us':>10} {'transfer us':>12} {'ratio':>7} (least..largest of {wish.launches})"
    )
    for exponent in map(int, wish.sizes.split(",")):
        runs = [
            run_once(wish.launcher, wish.engine, exponent, wish.options.split())
            for _ in range(wish.launches)
        ]
        figures[1 << exponent] = runs
        ratios = sorted(run["transfer"] / sum(run[part] for part in PARTS) for run in runs)
        median = {part: statistics.median(run[part] for run in runs) * 1e6 for part in runs[0]}
        total = sum(median[part] for part in PARTS)
        print(
            f"{1 << exponent:>10} {median['launch']:>10.2f} {median['read']:>10.2f} {median['exchange']:>10.2f} {median['write']:>10.2f}"
            f" {total:>10.2f} {median['transfer']:>12.2f} {statistics.median(ratios):>7.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})"
        )
    if wish.json:
        wish.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
