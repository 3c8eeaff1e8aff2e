#!/usr/bin/env python3
"""Accuracy of a calibration for other runs: for each kind of run a calibration into a fresh home, fresh
records, each case's ratio of measured to expected, and the median of |ratio - 1|.

    bench/calibration.py [--kinds stream,gemm,mpi,staged] [--rounds 3] [--records 1] [--json FILE] [-- OPTIONS OF EVERY RUN]

Kinds run in turn, so that other work of the machine affects all equally. Needs the packages of plumb (.venv) and a built
engine; an environment's PLUMBLINE_HOME is not touched.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.base.paths import Home  # noqa: E402
from plumbline.cli.running import parse_run  # noqa: E402
from plumbline.judge.judgement import judge  # noqa: E402
from plumbline.launch.execute import execute  # noqa: E402
from plumbline.run.plan import make_plan  # noqa: E402
from plumbline.run.run import calibrate_for  # noqa: E402
from plumbline.system.files import local_system  # noqa: E402
from plumbline.system.system import Need  # noqa: E402

KINDS: dict[str, tuple[Need, list[str]]] = {
    "stream": ("device", ["stream"]),
    "gemm": ("device", ["gemm", "--size", "2048"]),
    "mpi": ("legs", ["b_eff", "--transport", "mpi"]),
    "staged": ("legs", ["b_eff", "--transport", "staged"]),
}
Ratios = dict[str, list[float]]


def one_round(kind: str, records: int, options: list[str]) -> Ratios:
    """Calibrates, runs, and returns the ratios of each case with an expectation."""
    need, words = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        environ = {**os.environ, "PLUMBLINE_HOME": folder}
        plan = make_plan(parse_run([*words, *options]), environ, Console(stderr=True))
        calibrate_for(plan, need, "bench/calibration.py")
        system = local_system(Home(Path(folder)))
        ratios: Ratios = {}
        for number in range(records):
            path = Path(folder) / f"{kind}-{number}.json"
            done = execute(plan.session, plan.benchmark.name, plan.arguments, path)
            if done.record is None or done.record.status != "complete":
                raise SystemExit(f"{kind}: the run did not complete: {done.said}")
            judged = judge(done.record, system, 0.1).judged
            for key, case in judged.cases.items() if judged else ():
                ratios.setdefault(key, []).append(case.ratio)
    return ratios


def off(ratios: Ratios) -> float:
    """The median over all of |ratio - 1|."""
    every = [abs(ratio - 1) for several in ratios.values() for ratio in several]
    return statistics.median(every) if every else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("options", nargs="*")
    wish = parser.parse_args()
    found: dict[str, list[Ratios]] = {kind: [] for kind in wish.kinds.split(",")}
    for _ in range(wish.rounds):
        for kind, rounds in found.items():
            rounds.append(one_round(kind, wish.records, wish.options))
    if wish.json:
        wish.json.write_text(json.dumps(found))
    for kind, rounds in found.items():
        every: Ratios = {}
        for ratios in rounds:
            for key, several in ratios.items():
                every.setdefault(key, []).extend(several)
        print(f"{kind}: median |measured / expected - 1| {off(every):.1%}; by round ", end="")
        print(", ".join(f"{off(ratios):.1%}" for ratios in rounds))
        for key, several in every.items():
            print(f"  {key:<32} {' '.join(f'{ratio:.3f}' for ratio in several)}")


if __name__ == "__main__":
    main()
