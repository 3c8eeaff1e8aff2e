#!/usr/bin/env python3
"""What parts cost a run: time, and the medians of the cases within which they are measured.

    bench/cost_of_parts.py RECORD_OR_FOLDER ...

reads records of ``plumb run`` (a folder: all of its records, as ``bench/verdicts.py turns --keep`` leaves them).
A repetition that follows one of a part finds other data in the caches. `median`: of all repetitions, over that without
those, geometric mean over the launches, with two standard errors; `first`, `second`, ...: the n-th after a part over the median
of the sixth and later ones of the same stretch, median over stretches. A case that was measured more than once is left out, as
places count from the begin of a measurement. `share`: of the run's time, by visits, median over launches; `other` belongs to none.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from math import exp, log, sqrt
from pathlib import Path
from statistics import mean, median, stdev

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.base.errors import PlumbError  # noqa: E402
from plumbline.record.record import Case, Record, load_record  # noqa: E402

SHOWN = 5  # repetitions after a part


def records_of(place: Path) -> Iterator[Record]:
    paths = sorted(place.rglob("*.json")) if place.is_dir() else [place]
    for path in paths:
        try:
            yield load_record(path)
        except PlumbError:  # of an expectation, or not finished
            if not place.is_dir():
                raise


def places_of_parts(record: Record, case: Case, number: int) -> list[int]:
    """How many repetitions of the case were kept before each round of parts; none if it was measured more than once."""
    assert record.parts is not None
    visits = [
        visit
        for part in record.parts.cases
        for visit in part.visits
        if visit.after_repetitions
        and (visit.within == case.key or (visit.within is None and visit.after_cases == number))
    ]
    repetitions = len(case.samples.by_rank[0])
    once = all(visit.after_repetitions[-1] == repetitions for visit in visits)
    return sorted({place for visit in visits for place in visit.after_repetitions}) if once else []


class Effect:
    """Logarithms: of a case's median over that without what follows parts, and of the n-th after a part."""

    def __init__(self) -> None:
        self.medians: list[float] = []
        self.after: dict[int, list[float]] = defaultdict(list)

    def add(self, seconds: list[float], places: list[int]) -> None:
        after = set(places)
        others = [one for number, one in enumerate(seconds) if number not in after]
        if len(others) < 3:
            return
        self.medians.append(log(median(seconds) / median(others)))
        for begin, end in zip(places, [*places[1:], len(seconds)], strict=True):
            stretch = seconds[begin:end]
            for number, one in enumerate(stretch[:SHOWN] if len(stretch) > SHOWN else []):
                self.after[number].append(log(one / median(stretch[SHOWN:])))

    def line(self) -> str:
        error = 2 * stdev(self.medians) / sqrt(len(self.medians)) if len(self.medians) > 1 else 0
        after = [f"{exp(median(self.after[number])):.3f}" for number in sorted(self.after)]
        return f"{exp(mean(self.medians)):.4f} ±{error:.4f} of {len(self.medians):>3}  {' '.join(after)}"


def add_record(record: Record, effects: dict[str, Effect], shares: dict[str, list[float]]) -> None:
    assert record.parts is not None
    spent: dict[str, float] = defaultdict(float)
    for part in record.parts.cases:
        for visit in part.visits:
            spent[f"{part.benchmark} {part.key}"] += visit.cost_s or 0
    spent["other"] = record.parts.spent_s - sum(spent.values())
    for name, seconds in spent.items():
        shares[name].append(seconds / record.parts.run_s)
    for number, case in enumerate(record.cases, start=1):
        if case.outcome.status == "passed" and (places := places_of_parts(record, case, number)):
            slowest = [max(one) for one in zip(*case.samples.by_rank, strict=True)]
            effects[case.key].add(slowest, places)


def report(records: list[Record]) -> Iterator[str]:
    effects: dict[str, Effect] = defaultdict(Effect)
    shares: dict[str, list[float]] = defaultdict(list)
    for record in records:
        add_record(record, effects, shares)
    told = {key: effect for key, effect in effects.items() if effect.medians}
    wide = max(map(len, [*told, *shares]))
    yield f"{'case':<{wide}} median"
    for key, effect in told.items():
        yield f"{key:<{wide}} {effect.line()}"
    if told:
        every = mean(mean(effect.medians) for effect in told.values())
        yield f"{'all':<{wide}} {exp(every):.4f}"
    yield f"{'part':<{wide}} share"
    for name, of_runs in sorted(shares.items(), key=lambda one: -median(one[1])):
        yield f"{name:<{wide}} {100 * median(of_runs):5.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="+", type=Path, help="records, or folders with records")
    by_benchmark: dict[str, list[Record]] = defaultdict(list)
    for place in parser.parse_args().places:
        for record in records_of(place):
            if record.parts is not None and record.status == "complete":
                by_benchmark[record.benchmark.name].append(record)
    if not by_benchmark:
        sys.exit("no record with parts was found")
    for name, records in sorted(by_benchmark.items()):
        whole = [one.parts.spent_s / one.parts.run_s for one in records if one.parts]
        print(f"\n{name}: {len(records)} launches, parts took {100 * median(whole):.1f} % of them")
        print(*report(records), sep="\n")


if __name__ == "__main__":
    main()
