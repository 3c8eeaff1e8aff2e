#!/usr/bin/env python3
"""OSU's tests as measured here beside Intel's MPI Benchmarks, both over Intel MPI, in turn.

    bench/imb.py [--launches 7] [--beside 3] [--build build/mpich] [--impi FOLDER] [--json FILE]

FOLDER is a virtual environment with PyPI's `impi-rt` (python3 -m venv FOLDER; FOLDER/bin/pip install impi-rt), which has IMB. The
engine is the one built over MPICH (cmake --preset mpich), whose binary interface Intel MPI shares. Both run one loop: a barrier, then
operations back to back (`--sync once`; IMB's `-sync off`, without its barriers between collectives), from one root, with as many
operations. Printed for each operation and size: medians of the mean time of an operation in each launch, and their ratio; then the
ratios' geometric mean; and, of --beside launches, what single times (`--sync clock`) and barriers (`--sync barrier`) add to ours.

What is not alike: IMB reads its clock before and after each collective, and adds up what lies between; ours reads it once for all,
so it has about one reading (20 to 30 ns) less in each of its times. IMB's messages have one place, ours slide by 64 B with each
operation, or lie one behind the other (to 64 B; collectives to 1 KiB), so that each is proven: more of the caches is in use. IMB
checks nothing. Before the timed loop IMB runs it once more and a tenth (2,100 calls for 1,000), ours once (`-x`), and once to check.
Standard library only.
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

ROOT = Path(__file__).resolve().parent.parent
ITERATIONS = {8: 5000, 8192: 2000, 1048576: 100}
# IMB's name, the column of its time, our test, and our options.
OPERATIONS = [
    ("PingPong", 2, "osu_latency", []),
    ("Sendrecv", 4, "osu_sendrecv", []),
    ("Allreduce", 4, "osu_allreduce", ["-T", "mpi_float"]),
    ("Bcast", 4, "osu_bcast", []),
    ("Alltoall", 4, "osu_alltoall", []),
    ("Barrier", 3, "osu_barrier", []),
]


def environment(impi: Path, abi: Path) -> dict[str, str]:
    """An environment with Intel MPI's libraries, also in the place of MPICH's, over shared memory."""
    link = abi / "libmpich.so.12"
    link.symlink_to(impi / "lib" / "libmpi.so.12")
    own = {
        "LD_LIBRARY_PATH": f"{abi}:{impi / 'lib'}",
        "I_MPI_ROOT": str(impi),
        "I_MPI_FABRICS": "shm",
        "I_MPI_PIN": "1",
        "HWLOC_COMPONENTS": "-opencl",
    }
    return {**os.environ, **own}


def imb_us(impi: Path, env: dict[str, str], name: str, column: int, size: int) -> float:
    """Microseconds of one operation, by IMB."""
    words = [name, "-iter", str(ITERATIONS[size]), "-iter_policy", "off", "-time", "1000"]
    words += ["-sync", "off", "-root_shift", "off"]
    if name != "Barrier":
        words += ["-msglog", f"{size.bit_length() - 1}:{size.bit_length() - 1}"]
    command = [str(impi / "bin/mpiexec.hydra"), "-n", "2", str(impi / "bin/IMB-MPI1"), *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    pattern = r"^\s*\d+(\s+[\d.]+)+\s*$"
    rows = [line.split() for line in done.stdout.splitlines() if re.match(pattern, line)]
    wanted = [row for row in rows if name == "Barrier" or int(row[0]) == size]
    return float(wanted[-1][column if name != "Barrier" else 3])


def our_us(
    impi: Path, env: dict[str, str], build: Path, test: str, more: list[str], size: int, sync: str
) -> float:
    """Microseconds of one operation, by the engine."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        count = str(ITERATIONS[size])
        words = [test, "--sync", sync, "-i", count, "-x", count, *more]
        if test != "osu_barrier":
            words += ["-m", f"{size}:{size}"]
        words += ["--progress", "none", "--format", "none", "--record", str(record)]
        command = [str(impi / "bin/mpiexec.hydra"), "-n", "2", str(build / "bin/plumb-mpi"), *words]
        subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        (case,) = json.loads(record.read_text())["cases"]
    assert case["outcome"]["status"] == "passed", case["outcome"]
    return next(m["value"] for m in case["metrics"] if m["name"] == "latency")


def main() -> None:
    """Compares, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=7)
    parser.add_argument("--beside", type=int, default=3)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mpich")
    parser.add_argument("--impi", type=Path, default=Path("impi"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    impi = asked.impi.resolve()
    cells = []
    with tempfile.TemporaryDirectory() as abi:
        env = environment(impi, Path(abi))
        for name, column, test, more in OPERATIONS:
            for size in [8] if name == "Barrier" else list(ITERATIONS):
                theirs, ours = [], []
                for launch in range(asked.launches):
                    for turn in (launch, launch + 1):  # each is the first in every other launch
                        if turn % 2 == 0:
                            theirs.append(imb_us(impi, env, name, column, size))
                        else:
                            ours.append(our_us(impi, env, asked.build, test, more, size, "once"))
                beside = {
                    sync: [
                        our_us(impi, env, asked.build, test, more, size, sync)
                        for _ in range(asked.beside)
                    ]
                    for sync in ("clock", "barrier")
                }
                our = statistics.median(ours)
                ratio = our / statistics.median(theirs)
                cell = {"operation": name, "bytes": size, "imb_us": theirs, "ours_us": ours}
                cells.append({**cell, "ratio": ratio, "beside_us": beside})
                added = "".join(
                    f"  {sync} {statistics.median(times) - our:+.3f}"
                    for sync, times in beside.items()
                    if times
                )
                print(
                    f"{name:<10} {size:>8} B  IMB {statistics.median(theirs):10.3f} us  "
                    f"ours {our:10.3f} us  ratio {ratio:.3f}{added}",
                    flush=True,
                )
    mean = math.exp(statistics.fmean(math.log(cell["ratio"]) for cell in cells))
    print(f"geometric mean of the ratios {mean:.3f}, largest {max(c['ratio'] for c in cells):.3f}")
    if asked.json:
        asked.json.write_text(json.dumps({"cells": cells, "geometric_mean": mean}, indent=1))


if __name__ == "__main__":
    main()
