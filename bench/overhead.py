#!/usr/bin/env python3
"""The engine's overhead over a bare MPI loop, over many launches, because launches differ by more than the engine costs.

    bench/overhead.py [--launches 20] [--sizes 3,20] [--program build/release/bin/overhead] -- mpirun -np 2 --bind-to core

Prints for each size the median time a message of the engine and of the bare loop, and the ratio engine / bare by launch
(each the median of five alternating rounds within the launch): median, least, largest. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--sizes", default="3,20", help="log2 of the sizes in bytes")
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/overhead"))
    parser.add_argument("launcher", nargs="+")
    wish = parser.parse_args()
    print(
        f"{'bytes':>9} {'engine us':>10} {'bare us':>10} {'ratio':>7} (least..largest of {wish.launches} launches)"
    )
    for exponent in wish.sizes.split(","):
        runs = []
        for _ in range(wish.launches):
            done = subprocess.run(
                [*wish.launcher, str(wish.program), exponent],
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            )
            runs.append(json.loads(done.stdout))
        ratios = sorted(run["ratio"] for run in runs)
        engine = statistics.median(run["engine_s"] for run in runs) * 1e6
        bare = statistics.median(run["bare_s"] for run in runs) * 1e6
        print(
            f"{runs[0]['bytes']:>9} {engine:>10.3f} {bare:>10.3f} {statistics.median(ratios):>7.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})"
        )


if __name__ == "__main__":
    main()
