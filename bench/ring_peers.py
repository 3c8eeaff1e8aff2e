#!/usr/bin/env python3
"""Ours beside peers that packages install, for orientation: IMB Exchange (PyPI impi-rt) and hpcc's ring (Debian hpcc).

    bench/ring_peers.py [--imb FOLDER] [--engine build/release/bin] [--rounds 3] -- mpirun -np 2 --bind-to core

FOLDER is a virtual environment with impi-rt (python3 -m venv F; F/bin/pip install impi-rt). The programs run in turn, `rounds`
times each; medians are printed. IMB's Exchange sends to and receives from both neighbours, as b_eff does, but over Intel MPI and
from one buffer; hpcc's figures of its naturally ordered ring (8 B and 2,000,000 B) follow its own conventions. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

SIZES = (8, 1 << 20)
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}"
        )
    return done.stdout


def ours(launcher: list[str], engine: Path, folder: Path) -> dict[str, float]:
    """Median microseconds of one message to each neighbour, by size, over transport mpi."""
    times: dict[str, float] = {}
    for size in SIZES:
        exponent = str(size.bit_length() - 1)
        words = [
            "--transport",
            "mpi",
            "--min-size",
            exponent,
            "--max-size",
            exponent,
            "--record",
            "o.json",
        ]
        run(
            [
                *launcher,
                str(engine / "plumb-mpi"),
                "b_eff",
                *words,
                "--format",
                "none",
                "--progress",
                "none",
            ],
            folder,
        )
        case = json.loads((folder / "o.json").read_text())["cases"][0]
        times[f"{size} B us"] = case["summary"]["median_s"] / case["count"] * 1e6
    return times


def imb(environment: Path, folder: Path) -> dict[str, float]:
    """IMB's t_avg in microseconds by size."""
    import os

    variables = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{environment}/lib",
        "I_MPI_PIN_DOMAIN": "core",
        "FI_PROVIDER": "shm,tcp",
    }
    command = [
        f"{environment}/bin/mpiexec.hydra",
        "-n",
        "2",
        f"{environment}/bin/IMB-MPI1",
        "Exchange",
        "-msglog",
        "3:20",
    ]
    rows = re.findall(
        r"^\s+(\d+)\s+\d+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+[\d.]+\s*$",
        run(command, folder, variables),
        re.M,
    )
    return {f"{size} B us": float(average) for size, _, _, average in rows if int(size) in SIZES}


def hpcc(launcher: list[str], folder: Path) -> dict[str, float]:
    """hpcc's naturally ordered ring: latency and bandwidth as printed, by its own conventions."""
    shutil.copy(HPCC_INPUT, folder / "hpccinf.txt")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    run([*launcher, "hpcc"], folder)
    text = (folder / "hpccoutf.txt").read_text()
    latency = float(re.search(r"NaturallyOrderedRingLatency_usec=([\d.]+)", text)[1])
    bandwidth = float(re.search(r"NaturallyOrderedRingBandwidth_GBytes=([\d.]+)", text)[1])
    return {"latency us": latency, "bandwidth GB/s": bandwidth}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--imb", type=Path)
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("launcher", nargs="+")
    wish = parser.parse_args()
    results: dict[str, list[dict[str, float]]] = {
        "plumbline b_eff, mpi": [],
        "IMB Exchange": [],
        "hpcc natural ring": [],
    }
    with tempfile.TemporaryDirectory() as name:
        for _ in range(wish.rounds):
            folder = Path(name)
            results["plumbline b_eff, mpi"].append(
                ours(wish.launcher, wish.engine.resolve(), folder)
            )
            if wish.imb:
                results["IMB Exchange"].append(imb(wish.imb.resolve(), folder))
            if shutil.which("hpcc") and HPCC_INPUT.exists():
                results["hpcc natural ring"].append(hpcc(wish.launcher, folder))
    for program, rounds in results.items():
        for what in rounds[0] if rounds else ():
            values = [round_[what] for round_ in rounds]
            print(
                f"{program:<22} {what:<16} {statistics.median(values):>10.3f}  ({min(values):.3f}..{max(values):.3f})"
            )


if __name__ == "__main__":
    main()
