#!/usr/bin/env python3
"""How far the models of the NPB and of shallow water are from runs that no calibration has seen, on this machine.

    bench/models.py npb|water [--only npb_mg,npb_is] [--ranks 1,2] [--classes S,W,A] [--world mpi] [--rounds 3] [--json FILE]

In each round, for each number of ranks: the runs of ``plumb calibrate --only work`` for these benchmarks and for messages, then a
case of each class of another size (``water``: sizes, orders and types), in turn. Printed as they are measured: the case's seconds of an iteration,
the expected ones by terms, and expected / measured - 1; at last the medians over rounds, and for each benchmark and number of ranks
the median of their absolute values over its cases, with the one aimed at. Over MPI the form is ``two-sided``, over OpenSHMEM
(``--world shmem``) each. Seconds are those of an undisturbed repetition, in calibrations as well. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from plumb import measured

from plumbline.calibrate import work
from plumbline.model.benchmarks import model_of
from plumbline.model.npb import CLASSES
from plumbline.model.own_work import undisturbed_s
from plumbline.record.record import Record
from plumbline.system.system import Figures

AIMED = {"npb_mg": 0.15, "npb_is": 0.15, "shallow_water": 0.15}  # the others 0.2
NPB = ("npb_is", "npb_ep", "npb_mg", "npb_bt", "npb_sp", "npb_lu")
# Than what calibrations have, among which is A's grid.
LARGER = {"npb_mg": ("--grid", "512", "--iterations", "1")}
LONG = "ABC"  # classes that are run twice, not until the interval is narrow
WATER = [("float", "2468"), ("double", "58")]  # sizes that no calibration measures


@dataclass(frozen=True)
class Row:
    """A case and what its model expects."""

    benchmark: str
    ranks: int
    case: str
    measured_s: float
    expected_s: float
    terms: dict[str, float]

    @property
    def error(self) -> float:
        """Of the model."""
        return self.expected_s / self.measured_s - 1


def start(ranks: int, world: str, name: str, words: Sequence[str]) -> Record:
    """A run."""
    return measured(name, ("-n", str(ranks), "--world", world, *words))


def unseen(wish: argparse.Namespace, name: str) -> Iterator[list[str]]:
    """Options of the runs of a benchmark that no calibration has."""
    if name == "shallow_water":
        for kind, sizes in WATER:
            for size in sizes:
                for order in "012":
                    own = ["--runtime", "native", "--type", kind, "--size", size, "--order", order]
                    yield [*own, "--steps", "10", "--reference-steps", "1"]
        return
    forms = ["--form", "two-sided"] if wish.world == "mpi" and name != "npb_ep" else []
    measured_ones = {word for words in work.applications()[name].runs for word in words}
    for letter in wish.classes.split(","):
        if str(CLASSES[name][letter].size) in measured_ones:
            continue  # MG's W and A
        times = ["--repetitions", "2"] if letter in LONG else ["--min-repetitions", "6"]
        yield ["--class", letter, *forms, "--time-limit", "0.2", *times]
    if name in LARGER:
        yield [*LARGER[name], *forms, "--repetitions", "2"]


def figures(records: Sequence[Record]) -> Figures:
    """As a calibration has them."""
    device, transfers = work.device_table(records), work.transfers(records)
    return Figures(None, device, transfers=transfers, operations=work.rows(records))


def one_round(wish: argparse.Namespace, ranks: int) -> Iterator[Row]:
    """Calibrates, runs, and compares."""
    begin = partial(start, ranks, wish.world)
    loops = work.measure_loops(begin, wish.names)
    known = figures([*loops, *work.measure_messages(begin, wish.world, ranks)])
    for name in wish.names:
        model = model_of(name)
        assert model is not None
        for words in unseen(wish, name):
            record = begin(name, words)
            expected = model.expect(record, known)
            for case in record.cases:
                found = expected[case.key]
                if case.summary is None or not found.seconds:
                    print(
                        f"{name} {case.key}, {ranks} ranks: {case.outcome.reason or found.reason}"
                    )
                    continue
                key = (
                    f"{words[words.index('--size') + 1]}: {case.key}"
                    if "--size" in words
                    else case.key
                )
                yield Row(name, ranks, key, undisturbed_s(case), found.seconds, dict(found.parts))


def said(row: Row) -> str:
    """A line."""
    terms = ", ".join(f"{name} {seconds * 1e6:.4g}" for name, seconds in row.terms.items())
    times = f"measured {row.measured_s * 1e6:11.4g} us, expected {row.expected_s * 1e6:11.4g} us"
    return f"{row.benchmark:<14} {row.case:<24} {row.ranks} ranks  {times} {row.error:+6.1%}  ({terms})"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Medians over rounds, then over the cases of a benchmark."""
    errors: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        of_case = errors.setdefault((row.benchmark, row.ranks), {})
        of_case.setdefault(row.case, []).append(row.error)
    for (name, ranks), of_case in errors.items():
        middle = {case: statistics.median(several) for case, several in of_case.items()}
        off = statistics.median(abs(one) for one in middle.values())
        yield (
            f"{name}, {ranks} ranks: off by {off:.1%} (median of {len(middle)} cases, {AIMED.get(name, 0.2):.0%} aimed at): "
            + ", ".join(f"{case} {one:+.1%}" for case, one in middle.items())
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("subject", choices=("npb", "water"))
    parser.add_argument("--only", help="some of the benchmarks")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--classes", default="S,W,A")
    parser.add_argument("--world", choices=("mpi", "shmem"), default="mpi")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    names = NPB if wish.subject == "npb" else ("shallow_water",)
    wish.names = wish.only.split(",") if wish.only else names
    if unknown := set(wish.names) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(names)}")
    rows: list[Row] = []
    for _ in range(wish.rounds):
        for ranks in (int(word) for word in wish.ranks.split(",")):
            for row in one_round(wish, ranks):
                rows.append(row)
                print(said(row), flush=True)
    for line in summary(rows):
        print(line)
    if wish.json:
        wish.json.write_text(
            json.dumps([{**asdict(row), "error": row.error} for row in rows]) + "\n"
        )


if __name__ == "__main__":
    main()
