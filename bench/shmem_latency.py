#!/usr/bin/env python3
"""shoms' put and get latency beside a bare loop over the same calls, in turn.

    bench/shmem_latency.py [--rounds 15] [--bytes 8,4096] [--build build/release] -- oshrun -n 2 --bind-to core

In each round shoms and the bare loop (bench/peers/shmem_latency.cpp; cmake --build build/release --target
peer_shmem_latency) run one after the other, so that what disturbs the machine disturbs both. Printed: both medians in
nanoseconds, and the ratio shoms / bare by round: median, least, largest. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

OURS = (
    "shoms --only long_put,long_get --repetitions 40 --format none --progress none --minsize {0} "
    "--maxsize {0} --record {1}"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bytes", default="8,4096")
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("launcher", nargs="+")
    wish = parser.parse_args()
    print(f"{'':>9} {'bytes':>9} {'shoms ns':>10} {'bare ns':>10} {'ratio':>7} (least..largest)")
    for size in wish.bytes.split(","):
        rounds = [
            (ours(wish.launcher, wish.build, size), bare(wish.launcher, wish.build, size))
            for _ in range(wish.rounds)
        ]
        for name in ("put", "get"):
            ratios = [mine[name] / its[name] for mine, its in rounds]
            print(
                f"{name:>9} {size:>9} {statistics.median(mine[name] for mine, _ in rounds):10.2f} "
                f"{statistics.median(its[name] for _, its in rounds):10.2f} "
                f"{statistics.median(ratios):7.3f} ({min(ratios):.3f}..{max(ratios):.3f})"
            )


def ours(launcher: list[str], build: Path, size: str) -> dict[str, float]:
    """Median nanoseconds of one operation, by `put` and `get`."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        words = OURS.format(size, record).split()
        start([*launcher, str(build / "bin" / "plumb-shmem"), *words])
        cases = json.loads(record.read_text())["cases"]
    return {
        case["labels"]["kind"]: 1e9 * case["summary"]["median_s"] / case["count"] for case in cases
    }


def bare(launcher: list[str], build: Path, size: str) -> dict[str, float]:
    """The same of the bare loop."""
    said = start([*launcher, str(build / "bin" / "peer_shmem_latency"), size])
    return {name: float(value) for name, value in map(str.split, said.splitlines())}


def start(command: list[str]) -> str:
    """Output of a command. Ends this program if the command fails."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


if __name__ == "__main__":
    main()
