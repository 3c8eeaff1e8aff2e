#!/usr/bin/env python3
"""Shallow water beside the same numerics by hand, in turn: OpenMP on this process's cores, or CUDA.

    bench/shallow_water.py [--size 9] [--orders 0,1,2] [--rounds 7] [--build build/release] [--gpu] [--runtime NAME] [--json FILE]
    bench/shallow_water.py --gpu --pair [--build build/release] [--json FILE]

1,696 * 2^SIZE elements of mesh bay, float. In each round ours and the peer run one after the other; the ratio of their element
updates a second (median samples) is taken round by round. Printed: medians, the median ratio, the lowest and highest, and the
share of the byte bound, which is STREAM Triad of the same runtime and run: state read and written, the step's first state (from
the second stage on), neighbours, geometry and bed once. The peer is `peer_shallow_water` (cmake --build build/release --target
peers), with --gpu `gpu_shallow_water` (nvcc -O3 -std=c++17 -arch=native bench/peers/shallow_water.cu -o
build/release/bin/gpu_shallow_water), its fastest form. First the states of both are compared element by element on a small
mesh, and in each round the levels' mean square. Standard library only, but for the OpenCL runtimes' names.

--pair: two GPUs of this host through mpirun, p = 0, time of a step (best of the samples) and communication share: host-scheduled over
`peer` and `nccl`, device-scheduled over `peer`, on 6,784 elements each, and the same mesh, and one of the same size each, on one GPU.
"""

from __future__ import annotations

import argparse
import array
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from peers import BOUND, ROOT, output_of, runtimes

MESHES = ROOT / "benchmarks/apps/shallow_water"
WANTED = {0: 0.95, 1: 0.9, 2: 0.9}
BASIS = {0: 1, 1: 3, 2: 6}
SMALL = 4
Runtime = tuple[str, list[str], dict[str, str]]


def ours(wish: argparse.Namespace, of: Runtime, folder: Path, *words: object) -> dict[str, Any]:
    """The case of one of our runs."""
    command = [wish.build / "bin/plumb-serial", *words, *of[1], "--progress", "none"]
    command += ["--format", "none", "--record", "ours.json"]
    output_of([str(word) for word in command], of[2], folder)
    case = json.loads((folder / "ours.json").read_text())["cases"][0]
    if case["outcome"]["status"] != "passed":
        raise RuntimeError(f"{of[0]}, {case['key']}: {case['outcome']}")
    return case


def simulated(
    wish: argparse.Namespace, of: Runtime, folder: Path, size: int, order: int, *words: object
) -> dict[str, Any]:
    usual = ["--size", size, "--order", order, "--reference-steps", 1, "--steps", wish.steps]
    return ours(wish, of, folder, "shallow_water", *usual, *words)


def peers(
    wish: argparse.Namespace, folder: Path, size: int, order: int, *words: object
) -> list[dict[str, Any]]:
    """All forms of the peer."""
    program = wish.build / "bin" / ("gpu_shallow_water" if wish.gpu else "peer_shallow_water")
    mesh = MESHES / f"bay-{(1696, 3392)[size % 2]}.14"
    command = [program, mesh, size // 2, order, wish.steps, *(words or [wish.samples])]
    lines = output_of([str(word) for word in command], BOUND, folder).splitlines()
    return [json.loads(line) for line in lines]


def compare(wish: argparse.Namespace, of: Runtime, folder: Path, order: int) -> None:
    """Ends with an error unless both have the same state, within roundings."""
    case = simulated(wish, of, folder, SMALL, order, "--snapshots", 1, "--repetitions", 1)
    peers(wish, folder, SMALL, order, 1, folder / "peer.states")
    state, right = array.array("f"), array.array("f")
    right.frombytes((folder / "peer.states").read_bytes())
    state.frombytes((folder / case["facts"]["files"]["states.npy"]).read_bytes()[-4 * len(right) :])
    off = max(abs(one - other) for one, other in zip(state, right, strict=True))
    print(
        f"p = {order}, {of[0]}: {len(right) // 3} elements' levels and velocities differ by {off:.2g} m, m/s"
    )
    if not off < 2e-5:
        raise RuntimeError(f"{of[0]} and the peer have different states")


def bound(wish: argparse.Namespace, of: Runtime, folder: Path, order: int) -> float:
    """Element updates a second that Triad's bytes would allow."""
    elements = 1 << 28 if wish.gpu else 1 << 25
    words = ["--operation", "triad", "--type", "float", "--elements", elements]
    case = ours(wish, of, folder, "stream", *words, "--repetitions", 10)
    moved = (case["work"]["bytes_read"] + case["work"]["bytes_written"]) * case["count"]
    state, stages = 12 * BASIS[order], order + 1
    return moved / case["summary"]["median_s"] / (2 * state + state * order / stages + 12 + 16 + 12)


# Elements are 1,696 * 2^size in all.
PAIR = (
    ("6,784 each", 3, 2, 2000),
    ("6,784 alone", 2, 1, 2000),
    ("868,352 on one", 9, 1, 200),
    ("868,352 on two", 9, 2, 200),
    ("3,473,408 on one", 11, 1, 50),
    ("3,473,408 each", 12, 2, 50),
)
FORMS = (
    ("device-scheduled", "peer", "device"),
    ("host-scheduled", "peer", "host"),
    ("host-scheduled", "nccl", "host"),
)


def pair(wish: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Each form on each mesh, one line at a time."""
    kept = []
    for name, size, ranks, steps in PAIR:
        for form, transport, schedule in FORMS if ranks > 1 else FORMS[:2]:
            command = ["mpirun", "-np", ranks, "--bind-to", "core", wish.build / "bin/plumb-mpi"]
            command += ["shallow_water", "--runtime", "cuda", "--order", 0, "--size", size]
            command += ["--steps", steps, "--reference-steps", 1, "--schedule", schedule]
            command += ["--transport", transport] if ranks > 1 else []
            command += ["--repetitions", wish.samples, "--progress", "none", "--format", "none"]
            try:
                output_of([str(word) for word in [*command, "--record", "pair.json"]], {}, folder)
            except RuntimeError as problem:
                print(f"{name:<17} {form} over {transport}: {str(problem)[-600:]}", flush=True)
                continue
            case = json.loads((folder / "pair.json").read_text())["cases"][0]
            values = {one["name"]: one["value"] for one in case["metrics"]}
            over = f" over {transport}" if ranks > 1 else ""
            known = values.get("time_step") or 0
            print(
                f"{name:<17} {form + over:<26} {known:>9.2f} us a step {values.get('communication') or 0:>5.1f} % "
                f"communication, {case['outcome']['status']} {case['outcome']['reason'] or ''}",
                flush=True,
            )
            kept.append({"mesh": name, "form": form, "transport": transport, **values})
    return kept


def duel(wish: argparse.Namespace, order: int, folder: Path) -> list[dict[str, Any]]:
    known = [one for one in runtimes(wish.gpu) if one[0] == (wish.runtime or one[0])]
    for of in known:
        compare(wish, of, folder, order)
    rates: dict[str, tuple[list[float], list[float], list[float]]] = {
        one[0]: ([], [], []) for one in known
    }
    for _ in range(wish.rounds):
        for of in known:
            mine, theirs, bounds = rates[of[0]]
            case = simulated(wish, of, folder, wish.size, order, "--repetitions", wish.samples)
            updates = case["labels"]["elements"] * (order + 1) * case["count"]
            mine.append(updates / case["summary"]["median_s"])
            found = peers(wish, folder, wish.size, order)
            theirs.append(max(one["work"] / statistics.median(one["samples_s"]) for one in found))
            for one in found:
                if abs(one["level_rms"] / case["facts"]["level_rms_m"] - 1) > 1e-5:
                    raise RuntimeError(f"{of[0]}: {case['facts']['level_rms_m']} m, but {one}")
            bounds.append(bound(wish, of, folder, order))
    kept = []
    for name, (mine, theirs, bounds) in rates.items():
        ratios = [one / other for one, other in zip(mine, theirs, strict=True)]
        shares = [one / other for one, other in zip(mine, bounds, strict=True)]
        middle = statistics.median(ratios)
        print(
            f"p = {order} {name:<10} {statistics.median(mine) / 1e6:>9.1f} {statistics.median(theirs) / 1e6:>9.1f}  "
            f"{middle:.3f} ({min(ratios):.3f}..{max(ratios):.3f}), wanted {WANTED[order]}"
            f"{'' if middle >= WANTED[order] else ', short'}; {statistics.median(shares):.3f} of the bytes' "
            f"{statistics.median(bounds) / 1e6:.1f}",
            flush=True,
        )
        kept.append(
            {"order": order, "runtime": name, "ours": mine, "peer": theirs, "bytes": bounds}
        )
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--orders", default="0,1,2")
    parser.add_argument("--steps", type=int, default=20, help="time steps of a sample")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release"
    )
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--pair", action="store_true", help="two GPUs of this host; with --gpu")
    parser.add_argument(
        "--runtime", help="on this one alone: pocl, intel-cpu, native; opencl, cuda"
    )
    parser.add_argument("--json", type=Path, help="all rates by round, as JSON")
    wish = parser.parse_args()
    kept = []
    with tempfile.TemporaryDirectory() as name:
        if wish.pair:
            kept = pair(wish, Path(name))
        else:
            print("M updates/s: ours, the peer's; ratio")
        for order in map(int, [] if wish.pair else wish.orders.split(",")):
            try:
                kept += duel(wish, order, Path(name))
            except RuntimeError as problem:
                sys.exit(f"p = {order}: {problem}")
    if wish.json:
        wish.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
