#!/usr/bin/env python3
"""GUPS: our variants over OpenSHMEM and over MPI windows beside hpcc's MPIRandomAccess, same table, two ranks, in turn.

    bench/gups.py [--engine build/release/bin] [--size 22] [--rounds 3]

`--size` is the log2 of a rank's words; hpcc's matrix is chosen for a table of the same size (MPIRandomAccess_N). Printed: medians
over the rounds of each run's best repetition, in GUP/s, and ratios with their targets: bucketed to get-put, atomic to get-put,
our best to hpcc's. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from peers import hpcc_figures

LAUNCHERS = {"shmem": "oshrun", "mpi": "mpirun"}
CURES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HWLOC_COMPONENTS": "-opencl",
}


def our_rates(engine: Path, world: str, size: int, folder: Path) -> dict[str, float]:
    """GUP/s of each variant, all ranks, best repetition."""
    heap = str(4 * 8 * 2**size + 2**28)
    environment = {**os.environ, **CURES, "SHMEM_SYMMETRIC_HEAP_SIZE": heap}
    environment["SHMEM_SYMMETRIC_SIZE"] = heap
    record = folder / f"{world}.json"
    words = ["gups", "--size", str(size), "--threads", "1", "--time-limit", "3"]
    quiet = ["--record", str(record), "--format", "none", "--progress", "none"]
    launcher = [LAUNCHERS[world], "-np", "2", "--bind-to", "core"]
    subprocess.run(
        [*launcher, str(engine / f"plumb-{world}"), *words, *quiet],
        env=environment,
        check=True,
        timeout=300,
    )
    cases = json.loads(record.read_text())["cases"]
    return {
        f"{world} {case['labels']['variant']}": metric["value"]
        for case in cases
        for metric in case["metrics"]
        if metric["name"] == "updates"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="GUPS beside hpcc's MPIRandomAccess")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--size", type=int, default=22)
    parser.add_argument("--rounds", type=int, default=3)
    wish = parser.parse_args()
    rates: dict[str, list[float]] = {}
    tables: set[float] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(wish.rounds):
            found = hpcc_figures(wish.size + 2.5, folder)  # gives MPIRandomAccess our table's size
            tables.add(found["MPIRandomAccess_N"])
            turn = {"hpcc MPIRandomAccess": found["MPIRandomAccess_GUPs"]}
            for world in LAUNCHERS:
                turn |= our_rates(wish.engine.absolute(), world, wish.size, folder)
            for what, rate in turn.items():
                rates.setdefault(what, []).append(rate)
    medians = {what: statistics.median(found) for what, found in rates.items()}
    print(
        f"our table: {2 ** (wish.size + 1)} words, hpcc's: {', '.join(f'{n:.0f}' for n in tables)}"
    )
    for what, median in medians.items():
        print(f"{what:<24} {median:.5f} GUP/s   {min(rates[what]):.5f} to {max(rates[what]):.5f}")
    hpcc = medians.pop("hpcc MPIRandomAccess")
    for world in LAUNCHERS:
        base = medians[f"{world} get-put"]
        print(f"{world}: bucketed / get-put {medians[f'{world} bucketed'] / base:.2f}, ", end="")
        print(f"atomic / get-put {medians[f'{world} atomic'] / base:.2f}")
    print(f"our best / hpcc {max(medians.values()) / hpcc:.2f}")


if __name__ == "__main__":
    main()
