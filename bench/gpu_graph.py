#!/usr/bin/env python3
"""graph500 and ssca1 on NVIDIA GPUs beside kernels written by hand in CUDA, in one run: same edges and roots, same strings.

    bench/gpu_graph.py OUTPUT_FOLDER [--scale 22] [--roots 8] [--cells 34] [--gpus 2] [--rounds 3]

Compiles bench/peers/graph500.cu and ssca1.cu by nvcc (the engine's programs must be built: plumb-serial, plumb-mpi), and runs in turn: ours
through CUDA on one GPU, the peers on one, ours on 2 to GPUS over transport peer (graph500 a scale above for each doubling). The trees
must have the peer's edges, and alignments the same number and hash of ends. --cells 0 leaves out ssca1, --scale 0 graph500. Records go to the folder. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HWLOC_COMPONENTS": "-opencl",
}
HERE = Path(__file__).resolve().parent
Json = dict[str, Any]


def launch(*words: object) -> str:
    """Standard output of a program; its errors are shown."""
    done = subprocess.run(
        [*map(str, words)],
        env=ENVIRONMENT,
        check=True,
        timeout=900,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


class Bench:
    """The programs, and where records go."""

    def __init__(self, folder: Path, engine: Path) -> None:
        self.folder, self.engine = folder, engine
        folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name: str) -> Path:
        """A peer's program."""
        program = self.folder / f"gpu_{name}"
        source = HERE / "peers" / f"{name}.cu"
        launch("nvcc", "-O3", "-std=c++17", "-arch=native", source, "-o", program)
        return program

    def ours(self, gpus: int, label: str, *words: object) -> Json:
        """The record of one run, a rank a GPU."""
        path = self.folder / f"{label}.json"
        usual = ["--runtime", "cuda", "--device", "gpu", "--variant", "device"]
        quiet = ["--record", path, "--progress", "none", "--format", "none"]
        start: list[object] = [self.engine / "plumb-serial"]
        if gpus > 1:
            start = ["mpirun", "-np", gpus, "--bind-to", "none", self.engine / "plumb-mpi"]
            usual += ["--transport", "peer", "--share-devices"]
        launch(*start, *words, *usual, *quiet)
        found: Json = json.loads(path.read_text())
        return found


def lines_of(text: str) -> list[Json]:
    """A peer's lines."""
    return [json.loads(line) for line in text.splitlines()]


def harmonic(edges: list[float], seconds: list[float]) -> float:
    """Harmonic mean of edges a second, in G/s."""
    return 1e-9 / statistics.mean(s / m for s, m in zip(seconds, edges, strict=True))


def searched(record: Json) -> tuple[float, list[int], list[int]]:
    """GTEPS of a record, and its roots and vertices reached."""
    metrics = {metric["name"]: metric["value"] for metric in record["metrics"]}
    facts = [case["facts"] for case in record["cases"]]
    rate = metrics["harmonic_mean_TEPS"] * 1e-9
    return rate, [one["root"] for one in facts], [one["vertices_reached"] for one in facts]


def search(bench: Bench, wish: argparse.Namespace) -> None:
    """graph500: ratios to the peer on one GPU, and the growth over several."""
    program, edges = bench.compile("graph500"), bench.folder / "edges"
    rates: dict[str, list[float]] = {}
    for turn in range(wish.rounds):
        words: list[object] = ["--scale", wish.scale, "--roots", wish.roots]
        if not edges.exists():
            words += ["--write-edges", edges]
        record = bench.ours(1, f"graph500-1-{turn}", "graph500", *words)
        rate, roots, reached = searched(record)
        rates.setdefault("ours", []).append(rate)
        for line in lines_of(launch(program, edges, wish.scale, *roots)):
            if line["reached"] != reached:
                raise SystemExit(f"the peer's trees have {line['reached']} vertices, not {reached}")
            rates.setdefault(line["case"], []).append(harmonic(line["edges"], line["samples_s"]))
    edges.unlink()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, found in rates.items():
        print(
            f"graph500 scale {wish.scale}, {name}: {medians[name]:.1f} GTEPS "
            f"({min(found):.1f} to {max(found):.1f})"
        )
    peer = max(value for name, value in medians.items() if name != "ours")
    print(f"  ours / the better peer: {medians['ours'] / peer:.2f}, target 0.95")
    gpus, scale = 2, wish.scale + 1
    while gpus <= wish.gpus:
        for discoveries in ("kernels", "bitmaps"):
            several(bench, wish, gpus, scale, discoveries, medians["ours"])
        gpus, scale = 2 * gpus, scale + 1


def several(
    bench: Bench, wish: argparse.Namespace, gpus: int, scale: int, discoveries: str, one: float
) -> None:
    """graph500 on several GPUs: GTEPS, beside ``one``'s."""
    words = ["--scale", scale, "--roots", wish.roots, "--discoveries", discoveries]
    record = bench.ours(gpus, f"graph500-{gpus}-{discoveries}", "graph500", *words)
    rate = searched(record)[0]
    waited = statistics.median(case["facts"]["exchange_seconds"] for case in record["cases"])
    print(
        f"graph500 scale {scale}, {gpus} GPUs over peer, discoveries by {discoveries}: {rate:.1f} GTEPS, "
        f"{rate / one:.2f} times one; {waited * 1e6:.0f} us a search after the kernels"
    )


def align(bench: Bench, wish: argparse.Namespace) -> None:
    """ssca1: the same ends as the peer's, and both rates."""
    program = bench.compile("ssca1")
    for gpus in range(1, min(wish.gpus, 2) + 1):
        words = ["--scale", wish.cells, "--proof", "windows", "--repetitions", 4]
        record = bench.ours(gpus, f"ssca1-{gpus}", "ssca1", *words)
        (case,) = record["cases"]
        ours = next(one["value"] for one in case["metrics"] if one["name"] == "CUPS") * 1e-9
        print(f"ssca1 scale {wish.cells}, {gpus} GPUs: {ours:.1f} GCUPS")
        if gpus > 1:
            continue
        best = 0.0
        for line in lines_of(launch(program, wish.cells)):
            facts = case["facts"]
            if (line["ends"], line["ends_hash"]) != (facts["ends"], facts["ends_hash"]):
                raise SystemExit(f"the peer finds {line['ends']} ends, not {facts['ends']}")
            rate = line["work"] / min(line["samples_s"][1:]) * 1e-9
            best = max(best, rate)
            print(f"  peer, {line['case']} a lane: {rate:.1f} GCUPS")
        print(f"  ours / the best of them: {ours / best:.2f}, target 0.95")


def main() -> None:
    parser = argparse.ArgumentParser(description="graph500 and ssca1 beside CUDA")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--roots", type=int, default=8)
    parser.add_argument("--cells", type=int, default=34)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    wish = parser.parse_args()
    bench = Bench(wish.folder.absolute(), wish.engine.absolute())
    if wish.cells > 0:
        align(bench, wish)
    if wish.scale > 0:
        search(bench, wish)


if __name__ == "__main__":
    main()
