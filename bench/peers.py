#!/usr/bin/env python3
"""Ours beside the best peers on one device, in turn: STREAM, RandomAccess, FFT and GEMM.

    bench/peers.py [BENCHMARK...] [--only TEXT] [--rounds 7] [--build build/release] [--gpu] [--json FILE]

In each round ours and the peer run one after the other, so that what disturbs the machine disturbs both; the ratio of the two
rates is taken round by round. Printed: both medians, the median ratio, and the lowest and highest (with 7 rounds these hold the
true median with 98 % confidence). Peers: programs written here (bench/peers/*.cpp; cmake --build build/release --target peers;
*.cu by nvcc) and Debian's hpcc. A program's forms (in place, OpenMP) are tried with bound and unbound threads in the first round,
and the best of them, which is printed, is what the others measure. OpenBLAS gets the kernels of this CPU. Without --gpu each OpenCL runtime that is set up (PoCL, Intel's CPU runtime) and `native` face
the peers on all cores of the process; with it the first NVIDIA GPU does, through `opencl` and through `cuda`.
Standard library only.
"""

from __future__ import annotations

import argparse
import ctypes.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
# Binds the peers' threads to the process' cores.
BOUND = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
UNBOUND = {"OMP_PROC_BIND": "false"}


@cache
def blas_kernels() -> dict[str, str]:
    """The variable that OpenBLAS needs on a CPU younger than itself, for which it takes the kernels of Prescott."""
    name = ctypes.util.find_library("openblas")
    if name is None:
        return {}
    corename = ctypes.CDLL(name).openblas_get_corename
    corename.restype = ctypes.c_char_p
    wide = "avx512f" in Path("/proc/cpuinfo").read_text()
    return {"OPENBLAS_CORETYPE": "SkylakeX"} if corename() == b"Prescott" and wide else {}


@dataclass(frozen=True)
class Duel:
    """One of our cases and the peer's. Rates are work per second, with the work of the case's record."""

    benchmark: str
    name: str
    words: str  # arguments of our run
    case: str  # our case's key, or a part of it
    peer: tuple[str, ...]  # program and its words; or ("hpcc", key, scale, log2 of a table's bytes)
    peer_case: str
    wanted: float  # target ratio
    only: str = ""  # on this runtime only


QUICK = "--repetitions 10"
CPU = [
    Duel(
        "stream",
        "triad double",
        f"--elements 16777216 --type double --operation triad {QUICK}",
        "triad",
        ("peer_stream", "16777216", "10"),
        "triad",
        0.95,
    ),
    Duel(
        "stream",
        "dot double",
        f"--elements 16777216 --type double --operation dot {QUICK}",
        "dot",
        ("peer_stream", "16777216", "10"),
        "dot",
        0.9,
    ),
    Duel(
        "stream",
        "triad double",
        f"--elements 16777216 --type double --operation triad {QUICK}",
        "triad",
        ("hpcc", "StarSTREAM_Triad", "1e9", "25"),
        "two star ranks",
        1.0,
    ),
    Duel(
        "random_access",
        "32 MiB, buffered",
        "--size 22 --updates buffered --repetitions 3",
        "buffered",
        ("hpcc", "StarRandomAccess_GUPs", "1e9", "25"),
        "two star ranks",
        1.0,
    ),
    Duel(
        "random_access",
        "32 MiB, atomic",
        "--size 22 --updates atomic --repetitions 3",
        "atomic",
        ("hpcc", "StarRandomAccess_GUPs", "1e9", "25"),
        "two star ranks",
        1.0,
    ),
    Duel(
        "random_access",
        "1 GiB, buffered",
        "--size 27 --updates buffered --repetitions 1 --skip-validation",
        "buffered",
        ("peer_random_access", "27", "3"),
        "",
        1.0,
    ),
    Duel(
        "random_access",
        "1 GiB, atomic",
        "--size 27 --updates atomic --repetitions 1 --skip-validation",
        "atomic",
        ("peer_random_access", "27", "3"),
        "",
        1.0,
    ),
    *(
        Duel(
            "fft",
            f"{kind} 2^{size}",
            f"--size {size} --type {kind} --data 256 --repetitions 6",
            "",
            ("peer_fft", str(size), kind, "256", "6", f"wisdom-{kind}-{size}"),
            "",
            1.0,
        )
        for kind in ("float", "double")
        for size in (10, 12, 17, 20)
    ),
    Duel(
        "fft",
        "double 2^17",
        "--size 17 --type double --data 256 --repetitions 6",
        "",
        ("hpcc", "StarFFT_Gflops", "1e9", "25"),
        "two star ranks",
        2.0,
    ),
    Duel(
        "gemm",
        "float 4096",
        "--size 4096 --type float --repetitions 3 --skip-validation",
        "",
        ("peer_gemm", "4096", "float", "3"),
        "",
        0.95,
    ),
    Duel(
        "gemm",
        "double 4096",
        "--size 4096 --type double --repetitions 2 --skip-validation",
        "",
        ("peer_gemm", "4096", "double", "2"),
        "",
        0.9,
    ),
]
GPU = [
    Duel(
        "stream",
        "triad double",
        "--elements 134217728 --type double --operation triad",
        "triad",
        ("gpu_stream",),
        "triad",
        0.98,
    ),
    Duel(
        "stream",
        "write",
        "--elements 33554432 --type double --operation write",
        "write",
        ("gpu_stream",),
        "write",
        0.95,
    ),
    Duel(
        "stream",
        "read",
        "--elements 33554432 --type double --operation read",
        "read",
        ("gpu_stream",),
        "read",
        0.95,
    ),
    Duel(
        "random_access",
        "32 GiB, atomic",
        "--size 32 --updates atomic --repetitions 3 --skip-validation",
        "atomic",
        ("gpu_random_access", "32", "atomics"),
        "",
        1.0,
    ),
    *(
        Duel(
            "fft",
            f"float 2^{size}",
            f"--size {size} --type float --data 4096 --repetitions 10 --skip-validation",
            "",
            ("library",),
            "",
            wanted,
        )
        for size, wanted in ((9, 0.9), (17, 0.7))
    ),
    *(
        Duel(
            "gemm",
            f"{kind} 8192",
            f"--size 8192 --type {kind} --repetitions 6 --skip-validation",
            "",
            ("library",),
            "",
            wanted,
        )
        for kind, wanted in (("float", 0.85),)
    ),
    *(
        Duel(
            "gemm",
            f"{kind} {size}",
            f"--size {size} --type {kind} --repetitions 10 --skip-validation",
            "",
            ("library",),
            "",
            wanted,
            "cuda",
        )
        for kind, wanted in (("half", 0.85), ("bfloat16", 0.85), ("tf32", 0.85), ("double", 0.92))
        for size in (8192, 16384, 8191, 5000)
    ),
    *(
        Duel(
            "fft",
            f"{kind} 2^{size}, library",
            f"--size {size} --type {kind} --data 4096 --repetitions 10 --skip-validation --variant library",
            "",
            ("gpu_fft", str(size), kind, "4096", "10"),
            "",
            0.97,
            "cuda",
        )
        for kind, size in (("float", 9), ("float", 17), ("double", 10))
    ),
    *(
        Duel(
            "gemm",
            f"{kind} 8192, library",
            f"--size 8192 --type {kind} --repetitions 6 --skip-validation --variant library",
            "",
            ("gpu_gemm", "8192", kind, "6"),
            "",
            0.97,
            "cuda",
        )
        for kind in ("float", "double", "tf32", "half", "bfloat16")
    ),
]


def output_of(command: list[str], environment: dict[str, str], folder: Path) -> str:
    if not Path(command[0]).exists() and shutil.which(command[0]) is None:
        raise RuntimeError(f"{command[0]} is not built")
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-600:]}"
        )
    return done.stdout


def our_rate(
    duel: Duel, engine: Path, runtime: list[str], environment: dict[str, str], folder: Path
) -> float:
    """Work per second of our case: median repetition, one rank."""
    words = [
        duel.benchmark,
        *duel.words.split(),
        *runtime,
        "--progress",
        "none",
        "--format",
        "none",
    ]
    output_of([str(engine), *words, "--record", "ours.json"], environment, folder)
    cases = json.loads((folder / "ours.json").read_text())["cases"]
    case = next(one for one in cases if duel.case in one["key"])
    if case["summary"] is None:
        raise RuntimeError(f"{case['key']}: {case['outcome']['reason']}")
    work = case["work"]
    amount = (
        work.get("updates")
        or (work.get("flops") if duel.benchmark in ("fft", "gemm") else None)
        or work.get("bytes_read", 0) + work.get("bytes_written", 0)
    )
    return amount * case["count"] / case["summary"]["median_s"]


@dataclass(frozen=True)
class Form:
    """One way to run a peer, and what it said of itself."""

    program: str
    bound: bool
    peer: str

    def __str__(self) -> str:
        threads = "bound" if self.bound else "unbound"
        return f"{self.program}: {self.peer}, threads {threads}"


BEST: dict[Duel, Form] = {}
"""Of those tried in the first round."""


def forms_of(duel: Duel, programs: Path, folder: Path) -> dict[Form, float]:
    """Work per second of the forms, or of the best one once it is known."""
    names = [
        name for name in (duel.peer[0], f"{duel.peer[0]}_openmp") if (programs / name).exists()
    ]
    best = BEST.get(duel)
    rates = {}
    for name in names or [duel.peer[0]]:
        for bound in (True, False):
            if best is not None and (name, bound) != (best.program, best.bound):
                continue
            environment = {**(BOUND if bound else UNBOUND), **blas_kernels()}
            text = output_of([str(programs / name), *duel.peer[1:]], environment, folder)
            for one in (json.loads(line) for line in text.splitlines() if line.startswith("{")):
                if duel.peer_case in one["case"]:
                    form = Form(name, bound, str(one.get("peer", one["case"])))
                    rates[form] = one["work"] / statistics.median(one["samples_s"])
    return rates if best is None else {best: rates[best]}


def program_rate(duel: Duel, programs: Path, folder: Path) -> float:
    """Work per second of the peer in its best form."""
    rates = forms_of(duel, programs, folder)
    if not rates:
        raise RuntimeError(f"{duel.peer[0]} has no case {duel.peer_case}")
    best = max(rates, key=lambda form: rates[form])
    if duel not in BEST:
        BEST[duel] = best
        print(f"best of {len(rates)}: {best}", file=sys.stderr, flush=True)
    return rates[best]


def library_rate(duel: Duel, engine: Path, folder: Path) -> float:
    """Work per second of the vendor's library, called through our declaration on runtime cuda."""
    again = replace(duel, words=f"{duel.words} --variant library")
    return our_rate(again, engine, ["--runtime", "cuda"], {}, folder)


@cache
def hpcc_rates(log2_bytes: int, folder: Path, _turn: int) -> dict[str, float]:
    """hpcc's figures; one run per turn, shared by its duels."""
    return hpcc_figures(log2_bytes, folder)


def peer_rate(duel: Duel, engine: Path, folder: Path, turn: int) -> float:
    """Work per second of the peer."""
    if duel.peer[0] == "hpcc":
        _, key, scale, log2_bytes = duel.peer
        return 2 * float(scale) * hpcc_rates(int(log2_bytes), folder, turn)[key]  # of two ranks
    if duel.peer[0] == "library":
        return library_rate(duel, engine, folder)
    return program_rate(duel, engine.parent, folder)


def hpcc_figures(log2_bytes: float, folder: Path) -> dict[str, float]:
    if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
        raise RuntimeError("Debian's hpcc is not installed")
    # hpcc's table per rank is the largest power of two within half of the rank's part of the matrix (8 n^2 B).
    size = int((2 * 2 * 2**log2_bytes / 8) ** 0.5)
    lines = HPCC_INPUT.read_text().splitlines()
    values = {5: "1", 6: str(size), 7: "1", 8: "128", 10: "1", 11: "1", 12: "2"}
    for number, value in values.items():
        lines[number - 1] = f"{value} {lines[number - 1].split(maxsplit=1)[-1]}"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    root = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **blas_kernels(),
    }
    output_of(["mpirun", "-np", "2", "--bind-to", "core", "hpcc"], root, folder)
    text = (folder / "hpccoutf.txt").read_text()
    return {name: float(value) for name, value in re.findall(r"^(\w+)=([\d.eE+-]+)$", text, re.M)}


def runtimes(gpu: bool) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """Name, our options and the environment of each available runtime."""
    if gpu:
        yield "opencl", ["--runtime", "opencl", "--device", "gpu"], {}
        yield "cuda", ["--runtime", "cuda"], {}
        return
    from plumbline.base.paths import find_home
    from plumbline.engine import runtimes as known  # needs the Python package

    for name in ("pocl", "intel-cpu"):
        if known.is_installed(name, find_home()):
            yield name, ["--runtime", "opencl"], known.environment(name, find_home(), 1)
    yield "native", ["--runtime", "native"], {}


@dataclass
class Result:
    """Rates of both, by round."""

    duel: Duel
    runtime: str
    ours: list[float]
    peers: list[float]

    def row(self) -> str:
        ratios = [ours / peer for ours, peer in zip(self.ours, self.peers, strict=True)]
        middle = statistics.median(ratios)
        name = f"{self.duel.benchmark} {self.duel.name}"
        peer = f"{self.duel.peer[0]} {self.duel.peer_case}".strip()
        return (
            f"{name:<32} {self.runtime:<10} {peer:<22} {statistics.median(self.ours) / 1e9:>10.4g} "
            f"{statistics.median(self.peers) / 1e9:>10.4g}  {middle:>6.3f} ({min(ratios):.3f}..{max(ratios):.3f}) "
            f"{self.duel.wanted:>6} {'' if middle >= self.duel.wanted else 'short'}"
        )


def fight(duel: Duel, wish: argparse.Namespace, folder: Path) -> Iterator[Result]:
    """A duel on every runtime, in turn; unsupported ones are omitted, with the reason."""
    engine = wish.build / "bin" / "plumb-serial"
    results = {
        name: Result(duel, name, [], [])
        for name, _, _ in runtimes(wish.gpu)
        if name == (duel.only or wish.runtime or name)
    }
    for turn in range(min(wish.rounds, 3) if duel.peer[0] == "hpcc" else wish.rounds):
        for name, words, environment in runtimes(wish.gpu):
            if name not in results:
                continue
            try:
                results[name].ours.append(our_rate(duel, engine, words, environment, folder))
            except RuntimeError as problem:
                print(f"{duel.benchmark} {duel.name} on {name}: {problem}", file=sys.stderr)
                del results[name]
                continue
            results[name].peers.append(peer_rate(duel, engine, folder, turn))
    yield from results.values()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "benchmarks",
        nargs="*",
        metavar="BENCHMARK",
        help="stream, random_access, fft, gemm; default: all",
    )
    parser.add_argument("--only", default="", help="what contains this text, such as 'float 2^12'")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build" / "release"
    )
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument(
        "--runtime", help="on this one alone: pocl, intel-cpu, native; opencl, cuda"
    )
    parser.add_argument("--json", type=Path, help="all rates by round, as JSON")
    wish = parser.parse_args()
    duels = [
        duel
        for duel in (GPU if wish.gpu else CPU)
        if duel.benchmark in (wish.benchmarks or [duel.benchmark]) and wish.only in duel.name
    ]
    print(
        f"{'what':<32} {'runtime':<10} {'peer':<22} {'ours, G/s':>10} {'peer, G/s':>10}  {'ratio (lowest..highest)'} wanted"
    )
    kept = []
    with tempfile.TemporaryDirectory() as name:
        for duel in duels:
            try:
                for result in fight(duel, wish, Path(name)):
                    print(result.row(), flush=True)
                    kept.append(
                        {
                            "duel": vars(duel),
                            "runtime": result.runtime,
                            "ours": result.ours,
                            "peer": result.peers,
                        }
                    )
            except RuntimeError as problem:
                print(f"{duel.benchmark} {duel.name}: {problem}", file=sys.stderr)
    if wish.json:
        wish.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
