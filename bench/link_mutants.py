#!/usr/bin/env python3
"""Runs the wrong transports between GPUs, and the wrapped ones, with the engine's mutants alone.

For machines with GPUs but without the packages that the tests need: b_eff over each mutant of nccl, mpi-device and peer
(on cuda) must come out ``failed``, over what it wraps ``passed``. Exit status 1 when one does not.

    bench/link_mutants.py [--ranks 2] [--build build/release]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPROACHES = {
    "nccl": ["host-buffered"],
    "mpi-device": ["host-buffered"],
    "peer": ["host-buffered", "device-buffered", "device-streaming"],
}
SIZES = {"small": ("0", "3"), "middle": ("15", "15"), "large": ("20", "20")}
# Effective only for messages in pieces, or for late ones.
LARGE_ONLY = {"not-awaited", "token-before-data", "piece-swapped", "piece-missing"}
GROUPS_ONLY = "stream-neighbours-ignored"  # if a message has several groups
FOUR_RANKS = "stream-credit-ignored"


def run_of(transport: str, base: str, approach: str, size: str) -> dict:
    smallest, largest = SIZES[size]
    options = {"form": "exchange", "min-size": smallest, "max-size": largest}
    options |= {"loop-lower": "100", "loop-upper": "100"}
    runtime = {"runtime": "cuda"} if base == "peer" else {}
    return {
        "benchmark": "b_eff",
        "transport": transport,
        "approach": approach,
        "options": options,
        **runtime,
    }


def runs_of(listed: list[dict], base: str, approach: str) -> list[dict]:
    runs = []
    for entry in listed:
        name = entry["name"].removeprefix("mutant-").removesuffix(f"-{base}")
        mutant = entry["name"] == f"mutant-{name}-{base}"
        if not mutant or approach not in entry["approaches"] or name == FOUR_RANKS:
            continue
        sizes = ["large"] if name in LARGE_ONLY or "piece" in name else list(SIZES)
        if name == GROUPS_ONLY:
            sizes = ["middle", "large"]
        runs += [run_of(entry["name"], base, approach, size) for size in sizes]
    return runs + [run_of(base, base, approach, size) for size in SIZES]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--base", choices=[*APPROACHES], help="only these (all)")
    parser.add_argument("--approach", help="only this one (all)")
    wish = parser.parse_args()
    program = str((wish.build / "bin" / "plumb-mpi-mutants").resolve())
    words = [program, "--transports", "--format", "json"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    listed = json.loads(text)["transports"]
    wrong = 0
    for base, approaches in APPROACHES.items():
        for approach in approaches:
            if wish.base not in (None, base) or wish.approach not in (None, approach):
                continue
            runs = runs_of(listed, base, approach)
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(runs, file)
                file.flush()
                command = ["mpirun", "-np", str(wish.ranks), "--bind-to", "core", program]
                done = subprocess.run(
                    [*command, "--many", file.name], capture_output=True, text=True, timeout=500
                )
            found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode != 0 or len(found) != len(runs):
                print(f"{base} {approach}: ended with {done.returncode}: {done.stderr[-800:]}")
                wrong += 1
            if found and found[0]["status"] == "skipped":
                print(f"{base} {approach}: skipped: {found[0]['reason']}")
                continue
            for run, one in zip(runs, found, strict=False):
                should = "passed" if run["transport"] == base else "failed"
                if any(case["status"] != should for case in one["outcomes"]):
                    wrong += 1
                    print(f"{run['transport']} {approach} {run['options']}: {one['outcomes']}")
            mutants = len({run["transport"] for run in runs}) - 1
            print(f"{base} {approach}: {mutants} mutants, {len(runs)} runs of {wish.ranks} ranks")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
