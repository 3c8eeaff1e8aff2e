#!/usr/bin/env python3
"""How far the simulations of HPL and PTRANS are from runs on 1, 2 and 4 ranks of this machine.

    bench/simulated.py [--runtime pocl] [--type double] [--hpl 4096] [--ptrans 8192] [--ranks 1,2,4] [--transport staged] [--json FILE]

Calibrates the device and the legs with as many ranks as are to run, into a fresh home, so that ranks share the machine as they do
in the runs; then runs each benchmark, and simulates it with the same size, block, grid and transport. Printed: measured and
simulated seconds (best repetition of the slowest rank), and simulated / measured - 1. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from plumb import measured, plumb

BLOCK = {"hpl": 128, "ptrans": 512}
OWN = {"hpl": "--block", "ptrans": "--block-size"}


@dataclass
class Row:
    """A run and its simulation."""

    benchmark: str
    grid: str
    measured_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        """Of the simulation."""
        return self.simulated_s / self.measured_s - 1


def grid_of(ranks: int) -> tuple[int, int]:
    """The squarest, as plumb simulate chooses it."""
    rows = max(rows for rows in range(1, ranks + 1) if ranks % rows == 0 and rows * rows <= ranks)
    return rows, ranks // rows


def compare(home: Path, benchmark: str, size: int, ranks: int, wish: argparse.Namespace) -> Row:
    """One run, and its simulation."""
    rows, columns = grid_of(ranks)
    block = str(BLOCK[benchmark])
    grid = ["--grid", f"{rows}x{columns}"] if benchmark == "hpl" else ["--grid-rows", str(rows)]
    own = ["--size", str(size), OWN[benchmark], block, "--type", wish.type, *grid]
    over = ["--transport", wish.transport] if ranks > 1 else []
    launch = ["-n", str(ranks), "--oversubscribe", "--runtime", wish.runtime, *over]
    case = measured(benchmark, (*launch, *own), home).cases[0]
    assert case.summary is not None
    seconds = case.summary.min_s / case.count
    asked = ["-P", str(rows), "-Q", str(columns), "--n", str(size), "--nb", block]
    asked += ["--type", wish.type, "--transport", wish.transport, "--format", "json"]
    simulated = json.loads(plumb("simulate", benchmark, "--system", "local", *asked, home=home))
    return Row(benchmark, f"{rows}x{columns}", seconds, float(simulated["seconds"]))


def main() -> None:
    """Compares all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runtime", default="pocl")
    parser.add_argument("--type", default="double")
    parser.add_argument("--hpl", type=int, default=4096)
    parser.add_argument("--ptrans", type=int, default=8192)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--transport", default="staged")
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    found = []
    for ranks in (int(word) for word in wish.ranks.split(",")):
        with tempfile.TemporaryDirectory(prefix="plumbline-") as name:
            home = Path(name)
            # Legs need a partner: those of two ranks serve one, which sends nothing.
            both = ["-n", str(max(ranks, 2)), "--oversubscribe", "--transport", wish.transport]
            alone = ["-n", str(ranks), "--oversubscribe"]
            calibrate = ("calibrate", "--runtime", wish.runtime, "--only")
            plumb(*calibrate, "legs", *both, home=home)
            plumb(*calibrate, "device", *alone, home=home)
            for benchmark, size in (("hpl", wish.hpl), ("ptrans", wish.ptrans)):
                row = compare(home, benchmark, size, ranks, wish)
                found.append(row)
                print(
                    f"{row.benchmark:<7} {row.grid}  measured {row.measured_s:8.4f} s  "
                    f"simulated {row.simulated_s:8.4f} s  {row.error:+.0%}",
                    flush=True,
                )
    if wish.json:
        wish.json.write_text(json.dumps([{**asdict(r), "error": r.error} for r in found]) + "\n")


if __name__ == "__main__":
    main()
