#!/usr/bin/env python3
"""Time of a million evaluations of each equation. Needs the packages of plumb (.venv).

bench/equations.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.model import messages  # noqa: E402
from plumbline.model.benchmarks import (  # noqa: E402
    collectives,
    fft,
    gemm,
    gups,
    hpl,
    ptrans,
    random_access,
    shallow_water,
    stream,
)
from plumbline.model.transfer import transfers_of  # noqa: E402
from plumbline.system.files import load_system  # noqa: E402

COUNT = 10**6


def main() -> None:
    x = np.random.default_rng(1).uniform(1, 1e6, COUNT)
    equations: dict[str, Callable[[], object]] = {
        "stream": lambda: stream.bank_rate(4, x, 4),
        "random_access": lambda: random_access.bank_rate(4, 4, x, 300e6),
        "fft, eq. 3.1": lambda: fft.printed_flops(17, x, 2),
        "gemm, eq. 3.2": lambda: gemm.printed_block_s(512, 16, 8, x, 160e6, 300e6),
        "gemm, our reading": lambda: gemm.load_s(512, 16, 160e6, 5, 4, x),
        "b_eff, eq. 4.3": lambda: messages.channel_s(x, 32, 156.25e6, 520e-9),
        "ptrans, eq. 4.5": lambda: ptrans.block_s(x, 512, 8, 156.25e6),
        "hpl": lambda: hpl.total_s(512 * np.ceil(x), 4, 512, 5, 1.4e-3, 3e-3, 5e-3, 1e-3, 1e-4),
        "shallow_water, eq. 5.3": lambda: shallow_water.comm_cycles(274e6, x, 8, 2.4e-7, 1.7e-6, 0),
        "shallow_water, eq. 5.2": lambda: shallow_water.step_cycles(x, 0, 5e3, 200, 687),
        "accl, eq. 5.1": lambda: messages.buffered_s(2.4e-7, x, 1e-6),
        "collectives": lambda: collectives.two_rings_s(x, 1e-6),
        "gups": lambda: gups.machine_rate(x, 1e-8, 1e-6),
    }
    for system in ("noctua1-520n", "noctua2-u280"):
        for way in transfers_of(load_system(ROOT / "systems" / f"{system}.toml")):
            equations[f"{system} {way.name}"] = lambda way=way: way.seconds(x)  # type: ignore[misc]
    for name, evaluate in equations.items():
        started = time.perf_counter()
        evaluate()
        print(f"{name:50} {time.perf_counter() - started:.4f} s")


if __name__ == "__main__":
    main()
