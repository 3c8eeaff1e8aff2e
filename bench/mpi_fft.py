#!/usr/bin/env python3
"""MPIFFT: ours beside FFTW's own transform over MPI, and beside hpcc's MPIFFT where hpcc is installed, in turn: double, forward, in order.

    bench/mpi_fft.py [--size 22] [--ranks 2] [--rounds 3] [--samples 10] [--build build/release] [--json FILE]

Ours runs over native and mpi, by its own kernels (`nd_range`) and by a library's transforms (`library`). All rates are
5 n log2 n over the best repetition's time of the slowest rank, bound ranks, one thread each. hpcc chooses its own n, which
is printed. Printed: the medians, and ours over FFTW's. Needs `cmake --build build/release --target peer_mpi_fft`, which
is left out without FFTW's MPI form (Debian's libfftw3-mpi-dev). Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from hpcc_ptrans import ENVIRONMENT, HPCC_INPUT

ROOT = Path(__file__).resolve().parent.parent


def launch(wish: argparse.Namespace, folder: Path, *words: str) -> str:
    """The output of a program on the ranks."""
    command = ["mpirun", "-np", str(wish.ranks), "--bind-to", "core", *words]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def our_rate(wish: argparse.Namespace, folder: Path, variant: str) -> float:
    """GFLOP/s of a run that passed."""
    record = folder / "record.json"
    words = ["mpi_fft", "--transport", "mpi", "--runtime", "native", "--type", "double"]
    words += ["--size", str(wish.size), "--variant", variant, "--repetitions", str(wish.samples)]
    words += ["--record", str(record), "--format", "none", "--progress", "none"]
    launch(wish, folder, str(wish.build.absolute() / "bin" / "plumb-mpi"), *words)
    case = json.loads(record.read_text())["cases"][0]
    if case["outcome"]["status"] != "passed":
        raise RuntimeError(f"ours, {variant}: {case['outcome']}")
    return next(float(m["value"]) for m in case["metrics"] if m["name"] == "performance")


def hpcc_rate(wish: argparse.Namespace, folder: Path) -> tuple[int, float]:
    """n and GFLOP/s; n follows from the memory that HPL's matrix of 2^(SIZE/2 + 2) rows needs."""
    lines = HPCC_INPUT.read_text().splitlines()
    rows = 1 << wish.size // 2 + 2
    for number, value in {6: str(rows), 11: "1", 12: str(wish.ranks), 33: "0"}.items():
        lines[number - 1] = f"{value} values"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    launch(wish, folder, "hpcc")
    found = dict(re.findall(r"^(MPIFFT_\w+)=(\S+)$", (folder / "hpccoutf.txt").read_text(), re.M))
    return int(found["MPIFFT_N"]), float(found["MPIFFT_Gflops"])


def one_round(wish: argparse.Namespace, peer: Path | None, folder: Path) -> dict[str, float]:
    """A rate of each."""
    rates = {f"ours, {variant}": our_rate(wish, folder, variant) for variant in wish.variants}
    if peer is not None:
        rates["FFTW over MPI"] = float(
            launch(wish, folder, str(peer), str(wish.size), str(wish.samples))
        )
    if shutil.which("hpcc") is not None and HPCC_INPUT.exists():
        points, rate = hpcc_rate(wish, folder)
        rates[f"hpcc, n = {points}"] = rate
    return rates


def main() -> int:
    """Rounds of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=22, help="log2 of the points")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument(
        "--variants", type=lambda given: given.split(","), default="nd_range,library"
    )
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    found = sorted(wish.build.absolute().rglob("peer_mpi_fft"))
    if not found:
        print("FFTW over MPI is left out: no peer_mpi_fft (libfftw3-mpi-dev, target peers)")
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(wish.rounds):
            for who, rate in one_round(wish, found[0] if found else None, Path(name)).items():
                rates.setdefault(who, []).append(rate)
    print(f"MPIFFT double 2^{wish.size}, {wish.ranks} ranks, GFLOP/s; {wish.rounds} rounds")
    medians = {who: statistics.median(of) for who, of in rates.items()}
    for who, of in rates.items():
        print(f"  {who:<22} {medians[who]:8.3f}  ({min(of):.3f}..{max(of):.3f})")
    for variant in wish.variants if found else ():
        ratio = medians[f"ours, {variant}"] / medians["FFTW over MPI"]
        print(f"  {variant} / FFTW over MPI {ratio:.3f}")
    if wish.json:
        wish.json.write_text(json.dumps({"rates": rates}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
