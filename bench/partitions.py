#!/usr/bin/env python3
"""Shallow water's partitions beside those of tables A.1 and A.2, at equal sizes and numbers of devices.

    bench/partitions.py [--build build/release] [--partitioner metis] [--neighbours-max N]

A run of one step, over Open MPI, for each row of the tables whose size is 1,696 * 2^k. Of a row: elements of the core in the largest
partition, elements that a rank sends, land and sea edges (D_ext) and neighbours, each the largest of any rank, ours / printed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from math import log2
from pathlib import Path
from typing import Any

from peers import ROOT, output_of

from plumbline.model.published import meshes


def ours(wish: argparse.Namespace, ranks: int, size: int, folder: Path) -> list[dict[str, Any]]:
    """The engine's partitions, by a run of one step."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", ranks]
    command += [wish.build / "bin/plumb-mpi", "shallow_water", "--runtime", "native", "--order", 0]
    command += ["--size", size, "--partitioner", wish.partitioner, "--steps", 1]
    command += ["--repetitions", 1, "--skip-validation", "--sync", "barrier", "--timeout", 600]
    command += ["--progress", "none", "--format", "none", "--record", "run.json"]
    if wish.neighbours_max:
        command += ["--neighbours-max", wish.neighbours_max]
    output_of([str(word) for word in command], {"OMPI_MCA_mpi_yield_when_idle": "1"}, folder)
    run = json.loads((folder / "run.json").read_text())
    parts: list[dict[str, Any]] = run["cases"][0]["facts"]["partitions"]
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release"
    )
    parser.add_argument("--partitioner", default="metis")
    parser.add_argument("--neighbours-max", type=int)
    parser.add_argument("--most", type=int, default=48, help="devices of a row at most")
    wish = parser.parse_args()
    print("devices elements  E_core          sent       D_ext      N_max      imbalance")
    rows = sorted({(row[1], row[0], *row[2:5], row[6]) for row in meshes()})
    with tempfile.TemporaryDirectory() as name:
        for elements, ranks, *printed in rows:
            size = log2(elements / 1696)
            if size != int(size) or ranks > wish.most:
                continue
            parts = ours(wish, ranks, int(size), Path(name))
            most = max(parts, key=lambda part: part["elements"])
            columns = ("sent", "external_edges", "neighbours")
            found = [most["core"], *(max(part[one] for part in parts) for one in columns)]
            pairs = [f"{mine}/{theirs}" for mine, theirs in zip(found, printed, strict=True)]
            imbalance = most["elements"] * ranks / elements
            cells = f"{pairs[0]:<15} {pairs[1]:<10} {pairs[2]:<10} {pairs[3]:<10} {imbalance:.3f}"
            print(f"{ranks:>7} {elements:>8}  {cells}", flush=True)


if __name__ == "__main__":
    main()
