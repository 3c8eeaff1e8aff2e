#!/usr/bin/env python3
"""Ours beside other programs for random updates: hpcc's star RandomAccess, and the peers beside this file.

    bench/peers/random_access.py [--size 22] [--rounds 5] [--hpcc] [--engine build/release/bin] [-- OPTIONS...]

OPTIONS go to random_access (default: --runtime native); OpenCL's are chosen by the environment, as ever.
Each round runs the peers and ours once, one after the other, so that what disturbs one disturbs the
other; printed are medians of GUP/s, and medians and ranges of the rounds' ratios ours/peer.

peer: `peer_random_access` (hpcc's loop, a table a core; cmake --build build/release --target peers).
--hpcc: Debian's hpcc as well, two ranks, with a problem so large that its tables have 2^SIZE words (it
runs all of HPCC: 20 s for 2^22, some minutes for 2^27). Its figure is the sum of the star ranks. Under
other load use `chrt -f 10` before all this. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
HPCC_RANKS = 2


def run(command: list[str], folder: Path, **variables: str) -> str:
    """Output of a command; its failure ends the script."""
    environment = {**os.environ, "HWLOC_COMPONENTS": "-opencl", **variables}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}"
        )
    return done.stdout


def ours(engine: Path, size: int, options: list[str], folder: Path) -> dict[str, float]:
    """GUP/s of the median repetition by case; every case is validated."""
    words = [
        "--size",
        str(size),
        "--repetitions",
        "5",
        "--record",
        "ours.json",
        "--format",
        "none",
        "--progress",
        "none",
    ]
    run([str(engine / "plumb-mpi"), "random_access", *words, *options], folder)
    rates: dict[str, float] = {}
    for case in json.loads((folder / "ours.json").read_text())["cases"]:
        for metric in case["metrics"]:
            if metric["name"] == "updates_median":
                rates["ours " + case["labels"]["updates"]] = metric["value"]
    return rates


def peer(engine: Path, size: int, folder: Path) -> float:
    """GUP/s of hpcc's loop on all cores, median sample."""
    result = json.loads(run([str(engine / "peer_random_access"), str(size), "1"], folder))
    return result["work"] / statistics.median(result["samples_s"]) / 1e9


def write_hpcc_input(size: int, folder: Path) -> None:
    """hpcc's table is the largest power of two of words in a rank's part of the matrix."""
    order = math.ceil(1.01 * math.sqrt(HPCC_RANKS * 2**size))
    text = HPCC_INPUT.read_text()
    for what, value in (("Ns", order), ("NBs", 128), ("Ps", 1), ("Qs", HPCC_RANKS)):
        text = re.sub(rf"^\S+(\s+{what})$", rf"{value}\1", text, count=1, flags=re.M)
    (folder / "hpccinf.txt").write_text(text)


def hpcc(size: int, folder: Path) -> dict[str, float]:
    """GUP/s of hpcc's star ranks together, by stream."""
    write_hpcc_input(size, folder)
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    run(
        ["mpirun", "-np", str(HPCC_RANKS), "--bind-to", "core", "hpcc"],
        folder,
        OPENBLAS_NUM_THREADS="1",
        **root,
    )
    found = dict(re.findall(r"^(\w+)=([-+.\w]+)$", (folder / "hpccoutf.txt").read_text(), re.M))
    if int(found["RandomAccess_N"]) != 2**size:
        raise SystemExit(f"hpcc's tables have {found['RandomAccess_N']} words, not 2^{size}")
    return {
        "hpcc star": HPCC_RANKS * float(found["StarRandomAccess_GUPs"]),
        "hpcc star lcg": HPCC_RANKS * float(found["StarRandomAccess_LCG_GUPs"]),
    }


def report(rounds: list[dict[str, float]]) -> None:
    """Medians, and the ratios of ours to each peer within rounds."""
    names = list(rounds[0])
    peers = [name for name in names if not name.startswith("ours")]
    for name in names:
        print(f"{name:<16} {statistics.median(r[name] for r in rounds):8.4f} GUP/s")
    for name in names:
        for other in peers if name.startswith("ours") else ():
            ratios = [r[name] / r[other] for r in rounds]
            middle = statistics.median(ratios)
            print(
                f"{name} / {other}: {middle:.2f} ({min(ratios):.2f}..{max(ratios):.2f}, {len(ratios)} rounds)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=22)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hpcc", action="store_true")
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("options", nargs="*", default=["--runtime", "native"])
    wish = parser.parse_args()
    engine = wish.engine.resolve()
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(wish.rounds):
            result = {"hpcc's loop": peer(engine, wish.size, folder)}
            if wish.hpcc:
                result |= hpcc(wish.size, folder)
            rounds.append(result | ours(engine, wish.size, wish.options, folder))
    report(rounds)


if __name__ == "__main__":
    main()
