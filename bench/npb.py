#!/usr/bin/env python3
"""The NPB beside NPB 3.4-MPI and bare MPI programs of IS and MG, the same class and ranks, in turn.

    bench/npb.py [BENCHMARK...] [--npb FOLDER] [--class A] [--ranks 1,2,4] [--rounds 5] [--engine build/release/bin]
    bench/npb.py [BENCHMARK...] --worlds      # forms over OpenSHMEM beside two-sided over MPI
    bench/npb.py [BENCHMARK...] --exposed     # the share of the time that ranks wait for messages, by form
    bench/npb.py [BENCHMARK...] --phases      # each phase's work and waiting by ranks, beside copies of one rank at once

FOLDER holds programs that the user has built, as NPB's makefiles name them (``is.A.x``); nothing is built or fetched.
BT and SP of NPB run on square counts of ranks only. The bare programs are ``peer_mpi_is`` and ``peer_mpi_mg``
(``cmake --build build/release --target peers``); their results are checked, like everyone's. Printed: medians over the
rounds of Mop/s, ours in the form with the highest, the median of the rounds' ratios with their least and largest, and the
ratio aimed at; for BT, SP and LU also ours by ranks. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^rdma",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "HWLOC_COMPONENTS": "-opencl",
    "SHMEM_SYMMETRIC_HEAP_SIZE": "1G",
}
AIMED = {"is": 1.0, "mg": 1.0, "bt": 1.2, "sp": 1.5, "lu": 1.0, "ep": 1.5}  # of NPB 3.4
SQUARES = ("bt", "sp")
# Keys and their range, by their logarithms; points, iterations and norm.
KEYS = {"S": (16, 11), "W": (20, 16), "A": (23, 19), "B": (25, 21), "C": (27, 23)}
GRIDS = {
    "S": (32, 4, 0.530770700573e-4),
    "W": (128, 4, 0.646732937534e-5),
    "A": (256, 4, 0.243336530907e-5),
    "B": (256, 20, 0.180056440136e-5),
    "C": (512, 20, 0.570673228574e-6),
}
ORIGINAL = {"S": 10.8, "W": 237.9}  # SP of the OpenSHMEM suite on 4 PEs, in another run
Run = Callable[[], float]  # Mop/s of one launch


@dataclass(frozen=True)
class Wish:
    """Of the command line: folders, class, and the folder for records."""

    engine: Path
    npb: Path | None
    letter: str
    folder: Path
    validated: set[tuple[str, ...]]  # runs of ours whose results were checked


def launch(starter: str, ranks: int, *words: object) -> str:
    """Standard output of so many ranks, bound to cores if there are enough."""
    enough = ranks <= len(os.sched_getaffinity(0))
    binding = ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe"]
    command = [starter, "-np", str(ranks), *binding, *map(str, words)]
    done = subprocess.run(
        command, env=ENVIRONMENT, timeout=1800, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def metrics(wish: Wish, name: str, ranks: int, form: str, world: str = "mpi") -> dict[str, float]:
    """Of one repetition of ours. The first one of a kind is validated; a wrong one ends the run."""
    record = wish.folder / "record.json"
    words = ["--class", wish.letter, "--repetitions", "1", "--record", record]
    if name != "ep":
        words += ["--form", form]
    kind = (name, str(ranks), form, world)
    if kind in wish.validated:
        words.append("--skip-validation")
    wish.validated.add(kind)
    starter, program = ("oshrun", "plumb-shmem") if world == "shmem" else ("mpirun", "plumb-mpi")
    quiet = ["--format", "none", "--progress", "none"]
    launch(starter, ranks, wish.engine / program, f"npb_{name}", *words, *quiet)
    (case,) = json.loads(record.read_text())["cases"]
    return {metric["name"]: metric["value"] for metric in case["metrics"]}


def ours(wish: Wish, name: str, ranks: int, form: str, world: str = "mpi") -> float:
    """Mop/s of one repetition."""
    return float(metrics(wish, name, ranks, form, world)["mops_median"])


def npb_program(folder: Path, name: str, letter: str) -> Path:
    """NPB's program, or an end with the names that were looked for."""
    if not folder.is_dir():
        sys.exit(f"--npb {folder}: no such folder")
    path = folder / f"{name}.{letter}.x"
    if not path.exists():
        there = sorted(one.name for one in folder.glob("*.x"))
        sys.exit(
            f"--npb {folder} has no {path.name} (make {name} CLASS={letter} in NPB3.4-MPI); it has "
            f"{', '.join(there) or 'no program'}"
        )
    return path


def npb(wish: Wish, name: str, ranks: int) -> float:
    """Mop/s that NPB 3.4 prints; an unsuccessful verification ends the run."""
    assert wish.npb is not None
    text = launch("mpirun", ranks, npb_program(wish.npb, name, wish.letter))
    rate = re.search(r"Mop/s total\s*=\s*(\S+)", text)
    active = re.search(r"Active procs\s*=\s*(\d+)", text)
    if rate is None or "= SUCCESSFUL" not in re.sub(r"=\s+", "= ", text):
        sys.exit(f"NPB's {name} was not verified:\n{text}")
    if active is not None and int(active[1]) != ranks:
        sys.exit(f"NPB's {name} left ranks idle: {active[1]} of {ranks} ran")
    return float(rate[1])


def bare(wish: Wish, name: str, ranks: int) -> float:
    """Mop/s of the program in bench/peers."""
    program = wish.engine / f"peer_mpi_{name}"
    if not program.exists():
        sys.exit(f"{program} is missing: cmake --build build/release --target peers")
    if name == "is":
        log2_keys, log2_largest = KEYS[wish.letter]
        seconds, wrong = launch("mpirun", ranks, program, log2_keys, log2_largest).split()
        assert wrong == "0", "peer_mpi_is ranked keys wrong"
        return float(10 * 2**log2_keys / float(seconds) * 1e-6)
    points, iterations, official = GRIDS[wish.letter]
    seconds, norm = launch("mpirun", ranks, program, points, iterations).split()
    assert math.isclose(float(norm), official, rel_tol=1e-8), "peer_mpi_mg found another norm"
    return float(58 * iterations * points**3 / float(seconds) * 1e-6)


def in_turn(contenders: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Mop/s of each round."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            found[name].append(run())
    return found


def ratio(ours: list[float], others: list[float], aimed: float | None) -> str:
    """The median of the rounds' ratios, and their range."""
    all_ratios = [one / other for one, other in zip(ours, others, strict=True)]
    text = f"{statistics.median(all_ratios):5.2f} ({min(all_ratios):.2f} to {max(all_ratios):.2f})"
    return text + (f", {aimed} aimed at" if aimed is not None else "")


def beside_peers(wish: Wish, names: list[str], counts: list[int], rounds: int) -> Iterator[str]:
    """Lines of the table, as they are measured."""
    for name in names:
        by_ranks: dict[int, float] = {}
        for ranks in counts:
            forms = ["two-sided", "signal"] if name != "ep" and ranks > 1 else ["two-sided"]
            contenders: dict[str, Run] = {
                f"ours {form}": partial(ours, wish, name, ranks, form) for form in forms
            }
            if wish.npb is not None and (name not in SQUARES or math.isqrt(ranks) ** 2 == ranks):
                contenders["NPB 3.4"] = partial(npb, wish, name, ranks)
            if name in ("is", "mg"):
                contenders["bare MPI"] = partial(bare, wish, name, ranks)
            found = in_turn(contenders, rounds)
            best = max(
                (f"ours {form}" for form in forms), key=lambda f: statistics.median(found[f])
            )
            by_ranks[ranks] = statistics.median(found[best])
            yield f"{name} {wish.letter}, {ranks} ranks: {by_ranks[ranks]:9.1f} Mop/s, {best}"
            for other in ("NPB 3.4", "bare MPI"):
                if other in found:
                    aimed = AIMED[name] if other == "NPB 3.4" else 1.0
                    middle = statistics.median(found[other])
                    yield f"  {other:<9} {middle:9.1f}  ratio {ratio(found[best], found[other], aimed)}"
        if name in ("bt", "sp", "lu") and {1, 2} <= set(by_ranks):
            yield f"{name} {wish.letter}: ours on 2 ranks is {by_ranks[2] / by_ranks[1]:.2f} of ours on one"


def between_worlds(wish: Wish, names: list[str], rounds: int) -> Iterator[str]:
    """Forms over OpenSHMEM: beside two-sided over MPI on two ranks, beside barriers on four."""
    for name in (one for one in names if one != "ep"):
        pairs = [(2, "two-sided", "mpi", 0.95)]
        if name in SQUARES:
            pairs.append((4, "barrier", "shmem", 1.0))
        for ranks, form, world, aimed in pairs:
            found = in_turn(
                {
                    "signal": partial(ours, wish, name, ranks, "signal", "shmem"),
                    "other": partial(ours, wish, name, ranks, form, world),
                },
                rounds,
            )
            rate = statistics.median(found["signal"])
            yield (
                f"{name} {wish.letter}, {ranks} ranks: signal over OpenSHMEM {rate:.1f} Mop/s, "
                f"{form} over {world} {ratio(found['signal'], found['other'], aimed)}"
            )
            if name == "sp" and ranks == 4 and wish.letter in ORIGINAL:
                times = rate / ORIGINAL[wish.letter]
                yield f"  the suite's SP made {ORIGINAL[wish.letter]} Mop/s: {times:.0f} times it, 5 aimed at"


def exposed(wish: Wish, names: list[str], counts: list[int], rounds: int) -> Iterator[str]:
    """Exposed shares in percent of the time, medians over the rounds with the least and the largest."""
    forms = ("two-sided", "signal", "barrier")
    for name in (one for one in names if one != "ep"):
        for ranks in (one for one in counts if one > 1):
            found: dict[str, list[float]] = {form: [] for form in forms}
            for _ in range(rounds):
                for form, shares in found.items():
                    shares.append(float(metrics(wish, name, ranks, form)["exposed_share"]))
            cells = [
                f"{form} {statistics.median(shares):5.1f} ({min(shares):.1f} to {max(shares):.1f})"
                for form, shares in found.items()
            ]
            yield f"{name} {wish.letter}, {ranks} ranks: exposed, %: {', '.join(cells)}"


def copies(wish: Wish, name: str, number: int) -> float:
    """Mop/s of so many runs of one rank at once, together: what memory and caches allow without messages."""
    cores = sorted(os.sched_getaffinity(0))[:number]
    records = [wish.folder / f"copy{core}.json" for core in cores]
    quiet = ["--format", "none", "--progress", "none", "--skip-validation", "--repetitions", "1"]
    running = [
        subprocess.Popen(
            [
                *("taskset", "-c", str(core), "mpirun", "-np", "1", "--bind-to", "none"),
                *(str(wish.engine / "plumb-mpi"), f"npb_{name}", "--class", wish.letter),
                *("--form", "two-sided", *quiet, "--record", str(record)),
            ],
            env=ENVIRONMENT,
        )
        for core, record in zip(cores, records, strict=True)
    ]
    if any(one.wait() != 0 for one in running):
        sys.exit(f"copies of npb_{name} failed")
    rates = (json.loads(record.read_text())["cases"][0]["metrics"] for record in records)
    return sum(float(one["value"]) for of in rates for one in of if one["name"] == "mops_median")


def phases(wish: Wish, names: list[str], counts: list[int], rounds: int) -> Iterator[str]:
    """Seconds of a repetition by phase, means over the ranks: work, and waiting apart; medians over the rounds."""
    for name in names:
        alone = 0.0
        for ranks in counts:
            found = [metrics(wish, name, ranks, "signal") for _ in range(rounds)]
            middle = {key: statistics.median(one[key] for one in found) for key in found[0]}
            cells = [
                f"{key.removesuffix('_mean')} {middle[key] - waited:.3f} + {waited:.3f}"
                for key in middle
                if key.endswith("_mean")
                for waited in [middle.get(key.replace("_mean", "_exposed"), 0.0)]
            ]
            rate = middle["mops_median"]
            alone = alone or rate
            text = f"{name} {wish.letter}, {ranks} ranks: {rate:.1f} Mop/s, {rate / alone:.2f} of {counts[0]}"
            if ranks > 1:
                together = statistics.median(copies(wish, name, ranks) for _ in range(rounds))
                text += f"; {ranks} copies of one {together:.1f}, {together / alone:.2f}"
            yield f"{text}; s: {', '.join(cells)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="the NPB beside NPB 3.4-MPI and bare MPI programs")
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help="is mg bt sp lu ep")
    parser.add_argument("--npb", type=Path, help="folder with programs of NPB 3.4-MPI")
    parser.add_argument("--class", dest="letter", choices="SWABC", default="A")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--worlds", action="store_true", help="forms over OpenSHMEM beside MPI")
    parser.add_argument("--exposed", action="store_true", help="shares of waiting by form")
    parser.add_argument("--phases", action="store_true", help="work and waiting by phase")
    wish = parser.parse_args()
    names = wish.benchmarks or list(AIMED)
    if unknown := set(names) - set(AIMED):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: choose from {' '.join(AIMED)}")
    if wish.npb is not None:
        for name in names:
            npb_program(wish.npb, name, wish.letter)
    counts = [int(one) for one in wish.ranks.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = wish.npb.absolute() if wish.npb else None
        given = Wish(wish.engine.absolute(), folder, wish.letter, Path(name), set())
        if wish.worlds:
            lines = between_worlds(given, names, wish.rounds)
        else:
            table = exposed if wish.exposed else phases if wish.phases else beside_peers
            lines = table(given, names, counts, wish.rounds)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
