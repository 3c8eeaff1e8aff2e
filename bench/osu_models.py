#!/usr/bin/env python3
"""How far OSU's tests over MPI are from their models (docs/models.md) on 2 ranks of this machine.

    bench/osu_models.py [--launches 3] [--json FILE]

Measures what a calibration does (single messages, one way and both ways; windows of 8 B messages) and the memory, then the tests that have a
model, all in turn. Printed for each test: the medians over launches of measured / expected, at the smallest and the largest size,
its geometric mean, and the largest factor that the two are apart; then the same of each model. Times are best repetitions, in
records and figures alike. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from plumb import measured

from plumbline.calibrate import work
from plumbline.fit.records import fit_records
from plumbline.model.benchmarks import osu
from plumbline.model.own_work import undisturbed_s
from plumbline.record.record import Record
from plumbline.system.system import Figures

TESTS = (
    "osu_latency,osu_multi_lat,osu_latency_persistent,osu_bw,osu_mbw_mr,osu_bw_persistent,"
    + ",".join(
        f"osu_{name}"
        for name in (
            *(
                "barrier",
                "bcast",
                "reduce",
                "allreduce",
                "allgather",
                "alltoall",
                "gather",
                "scatter",
            ),
            "reduce_scatter",
            *("bcast_persistent", "allreduce_persistent", "allgather_persistent"),
        )
    )
)
MODELS = {
    "Hockney": "osu_latency osu_multi_lat osu_latency_persistent",
    "LogGP": "osu_bw osu_mbw_mr osu_bw_persistent",
}


def start(name: str, words: Sequence[str]) -> Record:
    """A run on 2 ranks."""
    return measured(name, ("-n", "2", *words))


def ratios() -> dict[tuple[str, int], float]:
    """Measured / expected of each case, by test and size, of one launch of everything."""
    messages = work.measure_messages(start, "mpi", 2)
    memory = start("stream", ("--runtime", "native", "--preset", "smoke"))
    device = fit_records([memory], "memory", None, 4).system.device
    figures = Figures(
        None, device, transfers=work.transfers(messages), operations=work.rows(messages)
    )
    record = start("osu", ("--only", TESTS, "--size-factor", "8", "--maxsize", "1048576"))
    expected = osu.expect(record, figures)
    found = {}
    for case in record.cases:
        seconds = expected[case.key].seconds
        own = undisturbed_s(case) if case.summary is not None else None
        if own and seconds:
            found[case.label("test"), int(str(case.labels.get("bytes", 0)))] = own / seconds
    return found


def main() -> None:
    """Compares, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    launches = [ratios() for _ in range(asked.launches)]
    middle = {key: statistics.median(one[key] for one in launches) for key in launches[0]}
    by_model: dict[str, list[float]] = {}
    for test in dict.fromkeys(name for name, _ in middle):
        own = [ratio for (name, _), ratio in sorted(middle.items()) if name == test]
        model = next((m for m, names in MODELS.items() if test in names.split()), "collectives")
        by_model.setdefault(model, []).extend(own)
        print(f"{test:<24} {own[0]:8.2f} .. {own[-1]:6.2f}  {said(own)}")
    for model, own in by_model.items():
        print(f"{model:<24} {'':<18}{said(own)}")
    if asked.json:
        cells = [{"test": test, "bytes": size, "ratio": r} for (test, size), r in middle.items()]
        asked.json.write_text(json.dumps(cells, indent=1))


def said(own: Sequence[float]) -> str:
    """The middle of the ratios, and the largest factor."""
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in own))
    apart = max(max(ratio, 1 / ratio) for ratio in own)
    return f"mean {mean:5.2f}, at most {apart:5.2f} apart"


if __name__ == "__main__":
    main()
