#!/usr/bin/env python3
"""graph500: our variants over MPI beside a bare search by the reference's algorithm, same edges and roots, two ranks, in turn.

    bench/graph500.py [--engine build/release/bin] [--scale 16] [--rounds 3] [--reference FOLDER]

The peer is ``peer_mpi_graph500`` (``cmake --build build/release --target peers``); with ``--reference`` the program
``graph500_reference_bfs`` in FOLDER (reference 3.0, built by the user) runs as well. Printed: medians over the rounds of
the harmonic mean of TEPS, without loops, and their ratios to the peer. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^rdma",
    "HWLOC_COMPONENTS": "-opencl",
}
VARIANTS = ("put-atomic", "bucketed", "messages", "direction-optimising")


def launch(*words: object) -> str:
    """Standard output of two bound ranks."""
    command = ["mpirun", "-np", "2", "--bind-to", "core", *map(str, words)]
    done = subprocess.run(
        command, env=ENVIRONMENT, check=True, timeout=600, capture_output=True, text=True
    )
    return done.stdout


def ours(engine: Path, scale: int, variant: str, folder: Path) -> tuple[float, list[int]]:
    """Harmonic mean of TEPS, and the roots; the edges are in ``folder``."""
    record = folder / "record.json"
    quiet = ["--record", record, "--format", "none", "--progress", "none"]
    words = ["--scale", scale, "--variant", variant]
    if not (folder / "edges").exists():
        words += ["--write-edges", folder / "edges"]
    launch(engine / "plumb-mpi", "graph500", *words, *quiet)
    found = json.loads(record.read_text())
    metrics = {metric["name"]: metric["value"] for metric in found["metrics"]}
    return metrics["harmonic_mean_TEPS"], [case["facts"]["root"] for case in found["cases"]]


def peers(engine: Path, scale: int, roots: list[int], folder: Path) -> float:
    """Harmonic mean of TEPS of the bare search."""
    lines = launch(engine / "peer_mpi_graph500", folder / "edges", scale, *roots).splitlines()
    return 1 / statistics.mean(float(line.split()[0]) / float(line.split()[1]) for line in lines)


def references(folder: Path, scale: int) -> float:
    """Harmonic mean of TEPS, as printed by reference 3.0."""
    match = re.search(
        r"harmonic_mean_TEPS:\s+!\s+(\S+)", launch(folder / "graph500_reference_bfs", scale)
    )
    assert match is not None
    return float(match[1])


def main() -> None:
    parser = argparse.ArgumentParser(description="graph500 beside the reference's algorithm")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference", type=Path)
    wish = parser.parse_args()
    engine = wish.engine.absolute()
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(wish.rounds):
            roots: list[int] = []
            for variant in VARIANTS:
                rate, roots = ours(engine, wish.scale, variant, folder)
                rates.setdefault(variant, []).append(rate)
            rates.setdefault("peer", []).append(peers(engine, wish.scale, roots, folder))
            if wish.reference:
                found = references(wish.reference.absolute(), wish.scale)
                rates.setdefault("reference 3.0", []).append(found)
    peer = statistics.median(rates["peer"])
    for what, found_rates in rates.items():
        median = statistics.median(found_rates)
        print(f"{what:<24} {median:.4g} TEPS  {median / peer:.2f} of the peer", end="")
        print(f"  {min(found_rates):.4g} to {max(found_rates):.4g}")


if __name__ == "__main__":
    main()
