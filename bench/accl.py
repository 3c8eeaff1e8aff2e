#!/usr/bin/env python3
"""Transports accl-tcp and accl-udp beside bare TCP and UDP programs with like packets and copies, in turn.

    bench/accl.py [--rounds 7] [--build build/release] -- mpirun -n 2 --bind-to core

In each round b_eff (ping-pong, host-buffered, native) and the bare program (bench/peers/packets.cpp; cmake --build
build/release --target peer_packets) run one after the other, so that what disturbs the machine disturbs both. Printed:
both medians of one message, one way, and the bare program's time over ours by round: median, least, largest. Asked for:
1 MiB over TCP 0.7, over UDP 0.5; 64 B 0.33 (three times its time). Exit status 1 if a median is below. Standard library
only. These figures bound tests: a software engine's speed is no board's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ASKED = {("tcp", 1 << 20): 0.7, ("udp", 1 << 20): 0.5, ("tcp", 64): 1 / 3, ("udp", 64): 1 / 3}
OURS = (
    "b_eff --form ping-pong --replications 1 --transport accl-{0} --approach host-buffered --runtime native "
    "--repetitions 30 --format none --progress none --min-size {1} --max-size {1} --record {2}"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("launcher", nargs="+")
    wish = parser.parse_args()
    print(
        f"{'':>4} {'bytes':>8} {'accl us':>10} {'bare us':>10} {'ratio':>7} (least..largest) asked"
    )
    missed = 0
    for (stack, size), asked in ASKED.items():
        rounds = [
            (ours(wish.launcher, wish.build, stack, size), bare(wish.build, stack, size))
            for _ in range(wish.rounds)
        ]
        ratios = [its / mine for mine, its in rounds]
        ratio = statistics.median(ratios)
        missed += ratio < asked
        print(
            f"{stack:>4} {size:>8} {1e6 * statistics.median(mine for mine, _ in rounds):10.2f} "
            f"{1e6 * statistics.median(its for _, its in rounds):10.2f} "
            f"{ratio:7.3f} ({min(ratios):.3f}..{max(ratios):.3f}) {asked:.2f}"
        )
    sys.exit(1 if missed else 0)


def ours(launcher: list[str], build: Path, stack: str, size: int) -> float:
    """Median seconds of one message, one way."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        words = OURS.format(stack, size.bit_length() - 1, record).split()
        start([*launcher, str(build / "bin" / "plumb-mpi"), *words])
        (case,) = json.loads(record.read_text())["cases"]
    if case["outcome"]["status"] != "passed":
        sys.exit(f"accl-{stack}, {size} bytes: {case['outcome']}")
    return float(case["summary"]["median_s"] / case["count"] / 2)


def bare(build: Path, stack: str, size: int) -> float:
    """The same of the bare program."""
    return float(start([str(build / "bin" / "peer_packets"), stack, str(size)]))


def start(command: list[str]) -> str:
    """Output of a command. Ends this program if the command fails."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


if __name__ == "__main__":
    main()
