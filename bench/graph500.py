#!/usr/bin/env python3
"""graph500: our variants over MPI beside bare searches by the reference's algorithms, same edges and roots, two ranks, in turn.

    bench/graph500.py [--engine build/release/bin] [--kernel bfs|sssp] [--scale 16] [--rounds 3] [--roots 64] [--device]
                      [--reference FOLDER]

The peer is ``peer_mpi_graph500`` (``cmake --build build/release --target peers``); with ``--reference`` the programs
``graph500_reference_bfs`` and ``graph500_reference_bfs_sssp`` in FOLDER (reference 3.0, built by the user; newer compilers need
``make MPICC="mpicc -fcommon"``) run as well, with their 64 roots, which are ours. Printed: medians over the rounds of
the harmonic mean of TEPS, without loops, and their ratios to the peer, of put-atomic also to a bare search by the same
calls. ``--device`` adds the variant for devices, on OpenCL's. Distances must be equal to the last bit. Standard library only.
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
VARIANTS = {
    "bfs": ("put-atomic", "bucketed", "messages", "direction-optimising"),
    "sssp": ("bucketed", "messages"),
}
Found = tuple[float, list[int], list[str]]  # harmonic mean of TEPS; roots; hashes of distances


def launch(*words: object) -> str:
    """Standard output of two bound ranks."""
    command = ["mpirun", "-np", "2", "--bind-to", "core", *map(str, words)]
    done = subprocess.run(
        command, env=ENVIRONMENT, check=True, timeout=600, capture_output=True, text=True
    )
    return done.stdout


def ours(engine: Path, wish: argparse.Namespace, variant: str, folder: Path) -> Found:
    """One run; the edges are in ``folder``."""
    record = folder / "record.json"
    quiet = ["--record", record, "--format", "none", "--progress", "none"]
    words = ["--kernel", wish.kernel, "--scale", wish.scale, "--variant", variant]
    words += ["--roots", wish.roots]
    if variant == "device":
        words += ["--runtime", "opencl", "--share-devices"]
    if not (folder / "edges").exists():
        words += ["--write-edges", folder / "edges"]
    launch(engine / "plumb-mpi", "graph500", *words, *quiet)
    found = json.loads(record.read_text())
    metrics = {metric["name"]: metric["value"] for metric in found["metrics"]}
    facts = [case["facts"] for case in found["cases"]]
    hashes = [one.get("distances_hash", "0" * 16) for one in facts]
    return metrics["harmonic_mean_TEPS"], [one["root"] for one in facts], hashes


def peers(
    engine: Path, wish: argparse.Namespace, roots: list[int], folder: Path, mode: str = ""
) -> Found:
    """One run of the bare search."""
    words = [mode] if mode else ["sssp"] if wish.kernel == "sssp" else []
    program = engine / "peer_mpi_graph500"
    lines = launch(program, *words, folder / "edges", wish.scale, *roots).splitlines()
    rows = [line.split() for line in lines]
    rate = 1 / statistics.mean(float(row[0]) / float(row[1]) for row in rows)
    return rate, roots, [row[2] for row in rows]


def references(folder: Path, wish: argparse.Namespace) -> float:
    """Harmonic mean of TEPS, as printed by reference 3.0, not validated."""
    skipped, program, kernel = ["SKIP_VALIDATION=1"], "graph500_reference_bfs", ""
    if wish.kernel == "sssp":
        skipped, program, kernel = [*skipped, "SKIP_BFS=1"], f"{program}_sssp", "sssp "
    text = launch("env", *skipped, folder / program, wish.scale)
    match = re.search(rf"{kernel}\s*harmonic_mean_TEPS:\s+!\s+(\S+)", text)
    assert match is not None, text[-2000:]
    return float(match[1])


def main() -> None:
    parser = argparse.ArgumentParser(description="graph500 beside the reference's algorithm")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--kernel", choices=VARIANTS, default="bfs")
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--reference", type=Path)
    wish = parser.parse_args()
    engine = wish.engine.absolute()
    variants = (
        *VARIANTS[wish.kernel],
        *(("device",) if wish.device and wish.kernel == "bfs" else ()),
    )
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(wish.rounds):
            roots: list[int] = []
            distances: set[tuple[str, ...]] = set()
            for variant in variants:
                rate, roots, hashes = ours(engine, wish, variant, folder)
                rates.setdefault(variant, []).append(rate)
                distances.add(tuple(hashes))
            rate, _, hashes = peers(engine, wish, roots, folder)
            rates.setdefault("peer", []).append(rate)
            distances.add(tuple(hashes))
            assert len(distances) == 1, "the peer found other distances"
            if wish.kernel == "bfs":
                bare, _, _ = peers(engine, wish, roots, folder, "put-atomic")
                rates.setdefault("put-atomic, bare", []).append(bare)
            if wish.reference:
                found = references(wish.reference.absolute(), wish)
                rates.setdefault("reference 3.0", []).append(found)
    peer = statistics.median(rates["peer"])
    for what, found_rates in rates.items():
        median = statistics.median(found_rates)
        print(f"{what:<24} {median:.4g} TEPS  {median / peer:.2f} of the peer", end="")
        print(f"  {min(found_rates):.4g} to {max(found_rates):.4g}")
    for ours_of, theirs in (("put-atomic", "put-atomic, bare"), ("device", "direction-optimising")):
        if ours_of in rates and theirs in rates:
            ratios = [one / other for one, other in zip(rates[ours_of], rates[theirs], strict=True)]
            print(f"{ours_of} / {theirs}: {statistics.median(ratios):.2f}", end="")
            print(f" ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
