#!/usr/bin/env python3
"""Error rates of verdicts: false alarms without a change, and detection of planted slow-downs.

    bench/verdicts.py run BENCHMARK [WORDS] --runs 50 [--load]         real launches, judged by `plumb run`
    bench/verdicts.py turns ['BENCHMARK [WORDS]' ...] --runs 50 --keep FOLDER [--percent 25]    many benchmarks' launches in turn
    bench/verdicts.py ab BENCHMARK [WORDS] --runs 50 --pairs 10 [--load]    real `plumb compare --ab`, A against itself

`run` and `ab` do it once as it is (`none`), and once for each of --percent and --plant: a mutant (plumb-mpi-mutants, PLUMBLINE_MUTANT_WAITS)
waits so much longer in `one` case, in `all`, or in all of one launch in `three`; --where says in which part (queue, transport, run). --load keeps
another core busy meanwhile. `ab` ends with what it finds in pairs of those with nothing planted, drawn anew (--draws times) and times of B multiplied. `turns` makes rounds of the commands (default: each benchmark's smoke preset), first as they are, then once each with a slow-down in one
case; all launches before one that are as they are, up to forty, are its history. No launch starts after --time-limit seconds. FOLDER keeps the records of `turns` and `ab`: what is there is
not made again, only judged (`turns`: by --runs 0). Its table ends with what `plumb run` and `plumb compare` find in the launches as they are, times multiplied by each of --percent: `run` from launches
with parts, `compare` from twice --pairs launches on, of launches that follow each other (--ab) and of sets of any, B's times multiplied (--draws times); --svg draws both in each benchmark's folder.
All figures are JSON lines on stdout, a table on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.base.paths import Home  # noqa: E402
from plumbline.engine.program import find_engine  # noqa: E402
from plumbline.judge.beside import Beside, Earlier, add_launch, basis_of, beside_parts  # noqa: E402
from plumbline.judge.efficiency import Efficiency, efficiencies  # noqa: E402
from plumbline.judge.history import HISTORY  # noqa: E402
from plumbline.judge.judgement import by_parts  # noqa: E402
from plumbline.judge.levels import Level  # noqa: E402
from plumbline.judge.sequence import MOST_LAUNCHES  # noqa: E402
from plumbline.judge.sides import compare_pairs_of_records, compare_records  # noqa: E402
from plumbline.model.benchmarks import missed_by, model_of  # noqa: E402
from plumbline.model.yardsticks import LIMITS_THEMSELVES  # noqa: E402
from plumbline.record.expectations import DEFAULT_OF_PARTS, expected_path  # noqa: E402
from plumbline.record.record import Record, load_record  # noqa: E402

PERCENTS = (5, 10, 25, 50)
PLANTS = ("one", "all", "three")
FEWEST_OF_HISTORY = 6  # launches before one counted as with history
Figures = dict[str, Any]


class Tally:
    """Verdicts of cases over many runs: without, and with a planted slow-down."""

    def __init__(self) -> None:
        self.runs = self.alarmed = self.cases = self.apart = 0
        self.words: dict[bool, dict[str, int]] = {False: {}, True: {}}

    def add(self, words: dict[str, str], planted: set[str]) -> None:
        self.runs += 1
        self.alarmed += any(is_call(word) for key, word in words.items() if key not in planted)
        for key, word in words.items():
            counts = self.words[key in planted]
            counts[word] = counts.get(word, 0) + 1

    def add_apart(self, reasons: list[str]) -> None:
        """Count the cases with launches of B reported as slower than all others."""
        self.cases += len(reasons)
        self.apart += sum("launches of B take" in reason for reason in reasons)

    def figures(self) -> Figures:
        """Shares; None if there are no such cases."""

        def share(of_which: str, wanted: str) -> float | None:
            counts = self.words[of_which == "planted"]
            of = sum(counts.values())
            return sum(n for word, n in counts.items() if wanted in kind(word)) / of if of else None

        return {
            "runs": self.runs,
            "false_alarm_runs": self.alarmed / self.runs if self.runs else None,
            "false_alarm_cases": share("null", "call"),
            "undecided_cases": share("null", "undecided"),
            "detected": share("planted", "slow"),
            "planted_undecided": share("planted", "undecided"),
            "told_apart": self.apart / self.cases if self.cases else None,
        }


def kind(word: str) -> set[str]:
    if word in ("slow", "slower"):
        return {"call", "slow"}
    return (
        {"call"}
        if word in ("fast", "faster")
        else {"undecided"}
        if word in ("ambiguous", "none")
        else set()
    )


def is_call(word: str) -> bool:
    return "call" in kind(word)


# --- simulated ------------------------------------------------------------------------------------


def slowed(record: Record, keys: set[str], percent: float) -> Record:
    """The launch with longer times of some cases."""
    cases = []
    for case in record.cases:
        if case.key in keys:
            longer = [[s * (1 + percent / 100) for s in rank] for rank in case.samples.by_rank]
            samples = case.samples.model_copy(update={"by_rank": longer})
            case = case.model_copy(update={"samples": samples})
        cases.append(case)
    return record.model_copy(update={"cases": cases})


def planted_in(plants: tuple[str, ...], percents: list[int]) -> list[tuple[int, str]]:
    return [(0, "none"), *((percent, plant) for plant in plants for percent in percents)]


def simulated_comparisons(
    pairs: list[tuple[Record, Record]], wish: argparse.Namespace, *, paired: bool
) -> Iterator[Figures]:
    """`plumb compare` of some of the pairs of launches as they are, each in either order, drawn anew each time;
    nothing if they are too few. Sets are drawn from all launches, whichever pair they are of."""
    if len(pairs) < wish.pairs:
        return
    for percent, plant in planted_in(PLANTS, wish.percent):
        draw, tally = random.Random(wish.seed), Tally()
        for _ in range(wish.draws):
            sides = drawn_sides(pairs, wish.pairs, draw, paired=paired)
            keys = [case.key for case in sides[0][0].cases]
            planted = (
                {draw.choice(keys)} if plant == "one" else set(keys) if plant != "none" else set()
            )
            third = draw.randrange(3)
            sides = [
                (a, slowed(b, planted, percent) if plant != "three" or i % 3 == third else b)
                for i, (a, b) in enumerate(sides)
            ]
            found = (
                compare_pairs_of_records(sides)
                if paired
                else compare_records(*zip(*sides, strict=True))
            )
            tally.add({case.key: case.word for case in found.cases}, planted)
            tally.add_apart([case.reason for case in found.cases])
        what = "compare --ab" if paired else "compare"
        yield {"what": what, "percent": percent, "plant": plant, **tally.figures()}


def drawn_sides(
    pairs: list[tuple[Record, Record]], count: int, draw: random.Random, *, paired: bool
) -> list[tuple[Record, Record]]:
    """Launches of A and of B, ``count`` of each."""
    if paired:
        return [tuple(draw.sample(pair, 2)) for pair in draw.sample(pairs, count)]
    launches = draw.sample([one for pair in pairs for one in pair], 2 * count)
    return list(zip(launches[:count], launches[count:], strict=True))


def simulated_runs(launches: list[Record], wish: argparse.Namespace) -> Iterator[Figures]:
    """`plumb run`: each launch judged with up to forty before it as history, a slow-down planted in one case (each in
    turn) or in all. The engine's repeated measurement of outlying cases is not simulated."""
    launches = [record for record in launches if record.parts is not None]
    if not launches:
        return
    name_of = launches[0].benchmark.name
    model, missed = model_of(name_of), missed_by(name_of)
    every = [beside_parts(model, record)[0] for record in launches]
    by = basis_of(launches[0])
    for fewest, name in ((0, "run, fresh"), (FEWEST_OF_HISTORY, "run, history")):
        for percent, plant in planted_in(("one", "all"), wish.percent):
            tally = Tally()
            for number, beside in enumerate(every):
                earlier: dict[str, Earlier] = {}
                for before in every[max(0, number - HISTORY) : number] if fewest else []:
                    add_launch(earlier, before, by)
                if number < fewest:
                    continue
                plants = (
                    [{key} for key in beside]
                    if plant == "one"
                    else [set(beside) if percent else set()]
                )
                for planted in plants:
                    slow = {k: longer(o, percent) if k in planted else o for k, o in beside.items()}
                    found = efficiencies(
                        slow, earlier, by=by, tolerance=DEFAULT_OF_PARTS, missed=missed
                    )
                    tally.add({key: one.verdict for key, one in found.items()}, planted)
            yield {"what": name, "percent": percent, "plant": plant, **tally.figures()}


def longer(one: Beside, percent: float) -> Beside:
    """The case with longer times."""
    level, times = one.measured, 1 + percent / 100
    return replace(one, measured=Level(level.middle * times, level.low * times, level.high * times))


# --- real -----------------------------------------------------------------------------------------


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """A process that computes until ended, on the last core."""
    if not wanted:
        yield
        return
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(child.pid, {max(os.sched_getaffinity(0))})
    try:
        yield
    finally:
        child.kill()
        child.wait()


@contextmanager
def mutants() -> Iterator[str]:
    """A folder with the mutants' program as the engine."""
    build = Path(os.environ.get("PLUMBLINE_BUILD", ROOT / "build" / "release"))
    program = build.resolve() / "bin" / "plumb-mpi-mutants"
    if not program.exists():
        raise SystemExit(f"there is no {program}: build it, or set PLUMBLINE_BUILD")
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        (Path(folder) / "plumb-mpi").symlink_to(program)
        (Path(folder) / "plumb-shmem").symlink_to(program.with_name("plumb-shmem"))
        yield folder


def keys_of(words: list[str], environ: dict[str, str]) -> list[str]:
    """The keys of a run's cases, by one launch."""
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        path = Path(folder) / "record.json"
        plumb(["run", *words, "--no-model", "--record", str(path)], environ)
        return [case.key for case in load_record(path).cases if case.outcome.status == "passed"]


def plumb(words: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "plumbline", *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 4):
        raise SystemExit(
            f"plumb {' '.join(words)} ended with {done.returncode}: {done.stderr[-400:]}"
        )
    return done.stdout


def settings_of(wish: argparse.Namespace) -> list[tuple[int, str]]:
    plants = tuple(plant for plant in wish.plant if plant != "none")
    found = planted_in(plants, wish.percent)
    return found if "none" in wish.plant else found[1:]


def waits(where: str, percent: int, key: str) -> str:
    return f"PLUMBLINE_MUTANT_WAITS={where}:{percent}:{key}"


def real_runs(wish: argparse.Namespace, engine: str) -> Iterator[Figures]:
    """`plumb run` with its verdicts, on a machine without history at the start of each setting: the launches
    before one are its history."""
    environ = {**os.environ, "PLUMBLINE_ENGINE": engine}
    keys = keys_of(wish.words, environ)
    for percent, plant in settings_of(wish):
        draw, tally = random.Random(wish.seed), Tally()
        home = wish.keep / f"{percent}-{plant}"
        home.mkdir(parents=True)
        environ["PLUMBLINE_HOME"] = str(home)
        for number in range(wish.history):
            plumb(["run", *wish.words, "--record", str(home / f"before-{number:03}.json")], environ)
        for number in range(wish.runs):
            key = draw.choice(keys) if plant == "one" else ""
            waiting = plant in ("one", "all") or (plant == "three" and number % 3 == 0)
            variables = dict([waits(wish.where, percent, key).split("=", 1)]) if waiting else {}
            path = home / f"{percent}-{plant}-{number:03}.json"
            plumb(["run", *wish.words, "--record", str(path)], {**environ, **variables})
            judged = expected_path(places_of_launches(path)[-1])
            cases = json.loads(judged.read_text())["cases"] if judged.exists() else {}
            words = {name: (cases.get(name) or {}).get("verdict") or "none" for name in keys}
            planted = {name for name in keys if key in ("", name)} if waiting else set()
            tally.add(words, planted)
            progress(f"run {number + 1} of {wish.runs}, {percent} % in {plant}: {tally.figures()}")
        yield {
            "what": "run",
            "percent": percent,
            "plant": plant,
            "loaded": wish.load,
            **tally.figures(),
        }


def turns(wish: argparse.Namespace, engine: str) -> Iterator[Figures]:
    """Rounds of `plumb run` of several commands, and their verdicts by the present rule.

    First those as they are, which are the history of the planted ones; none starts after the time limit.
    """
    draw, begun = random.Random(wish.seed), monotonic()
    commands = wish.commands or [f"{name} --preset smoke -n 2" for name in judged_benchmarks()]
    environ = {**os.environ, "PLUMBLINE_ENGINE": engine}
    rounds = [(planted, number) for planted in (False, True) for number in range(wish.runs)]
    for planted, number in rounds if wish.percent else rounds[: wish.runs]:
        for command in commands:
            folder = wish.keep / command.replace("--", "").replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            key = draw.random()  # drawn for launches that are there as well: the same in any case
            if wish.time_limit is not None and monotonic() - begun > wish.time_limit:
                break
            if planted:
                plant(wish, folder, number, command, key, environ)
            elif not (path := folder / f"as-is-{number:03}.json").exists():
                at_home = {**environ, "PLUMBLINE_HOME": str(folder)}
                plumb(["run", *command.split(), "--record", str(path)], at_home)
        else:
            what = "planted " if planted else ""
            progress(f"{what}round {number + 1} of {wish.runs}, load {os.getloadavg()[0]:.1f}")
    for folder in sorted(one for one in wish.keep.iterdir() if any(one.glob("as-is-*.json"))):
        yield from judged_turns(folder)
        yield from simulated(folder, wish)


def simulated(folder: Path, wish: argparse.Namespace) -> Iterator[Figures]:
    """What `plumb run` and `plumb compare` find in a command's launches as they are."""
    launches = [load_record(path) for path in sorted(folder.glob("as-is-???.json"))]
    launches = [record for record in launches if record.status == "complete"]
    pairs = list(zip(launches[::2], launches[1::2], strict=False))
    compared = (simulated_comparisons(pairs, wish, paired=paired) for paired in (True, False))
    for name, figures in (("run", simulated_runs(launches, wish)), ("compare", chain(*compared))):
        found = list(figures)
        if found and wish.svg:
            (folder / f"{name}.svg").write_text(svg(found, folder.name))
        yield from ({**one, "what": f"{folder.name}, {one['what']}"} for one in found)


def plant(
    wish: argparse.Namespace,
    folder: Path,
    number: int,
    command: str,
    drawn: float,
    environ: dict[str, str],
) -> None:
    """One run with a slow-down in one case (by ``drawn``, below 1) after the launches as they are."""
    path, alike = folder / f"planted-{number:03}.json", folder / f"as-is-{number:03}.json"
    if path.exists() or not alike.exists():
        return
    record = load_record(alike)
    keys = [case.key for case in record.cases if case.outcome.status == "passed"]
    if not keys:
        return
    key = keys[int(drawn * len(keys))]
    place = place_of(record) if wish.where == "auto" else wish.where
    name, value = waits(place, wish.percent[0], key).split("=", 1)
    spare = {"PLUMBLINE_HOME": str(folder / "planted"), name: value}
    share_history(folder, folder / "planted")
    plumb(["run", *command.split(), "--record", str(path)], {**environ, **spare})
    path.with_suffix(".key").write_text(key)


def place_of(record: Record) -> str:
    """Where a benchmark waits: in its transport, if that is what it measures. Applications wait in the sample: each wait
    would lengthen the flight of the messages behind it, of which the next takes a share again."""
    model = model_of(record.benchmark.name)
    sends = record.transport is not None and model is not None and model.NEEDS == "legs"
    return "transport" if sends else "run"


def judged_benchmarks() -> list[str]:
    """All over MPI that are judged by others' limits; a family is one."""
    known = find_engine().description.benchmarks
    return [one.name for one in known if not one.family and one.name not in LIMITS_THEMSELVES]


def judged_turns(folder: Path) -> Iterator[Figures]:
    before: list[Record] = []
    tallies = {"none": Tally(), "one": Tally()}
    shares: list[float] = []
    for path in sorted(folder.glob("as-is-???.json")):
        launches = launches_of(path)
        record = launches[0]
        if record.status != "complete":
            continue
        tallies["none"].add(words_by_parts(launches, before[-HISTORY:]), set())
        if record.parts is not None:
            shares.append(record.parts.spent_s / record.parts.run_s)
        before += launches
    for place in sorted(folder.glob("planted-???.key")):
        launches = launches_of(place.with_suffix(".json"))
        history = [one for one in before if one.started < launches[0].started][-HISTORY:]
        tallies["one"].add(words_by_parts(launches, history), {place.read_text()})
    for plant, tally in tallies.items():
        share = median(shares) if shares else None
        yield {
            "what": folder.name,
            "percent": None,
            "plant": plant,
            "share": share,
            **tally.figures(),
        }


def share_history(home: Path, other: Path) -> None:
    """The index of one home's records becomes that of another, whose runs then have this history."""
    if Home(home).index.exists():
        Home(other).index.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Home(home).index, Home(other).index)


def places_of_launches(path: Path) -> list[Path]:
    """The files of all launches of one run, by its first, which is there."""
    further = (path.with_stem(f"{path.stem}-{number}") for number in range(2, MOST_LAUNCHES + 1))
    return [path, *(one for one in further if one.exists())]


def launches_of(path: Path) -> list[Record]:
    """The records of all launches of one run, by its first."""
    return [load_record(one) for one in places_of_launches(path)]


def words_by_parts(launches: list[Record], history: list[Record]) -> dict[str, str]:
    """The verdicts on the cases of a run, in as many of its launches as it needs."""
    own: list[Mapping[str, Efficiency]] = []
    for record in launches:
        found = by_parts(record, DEFAULT_OF_PARTS, history, own)
        if found is None or not found.in_doubt():
            break
        own.append(found.alone)
    cases = found.judged.cases if found and found.judged else {}
    passed = [case.key for case in record.cases if case.outcome.status == "passed"]
    return {key: (cases[key].verdict or "none") if key in cases else "none" for key in passed}


def real_pairs(wish: argparse.Namespace, engine: str) -> Iterator[Figures]:
    """`plumb compare --ab`, with the same build on both sides except for the planted waits, by the present rule; at the
    end what it finds in pairs of those with nothing planted, times of B multiplied."""
    environ = {**os.environ, "PLUMBLINE_ENGINE": engine}
    keys: list[str] = []
    for percent, plant in settings_of(wish):
        if plant == "three":
            continue  # waits are per command, so in all of its launches
        draw, tally = random.Random(wish.seed), Tally()
        for number in range(wish.runs):
            home = wish.keep / f"{percent}-{plant}" / f"{number:03}"
            drawn = draw.random()  # drawn for those that are there as well: the same in any case
            if not (home / "key").exists():
                keys = keys or keys_of(wish.words, environ)
                key = keys[int(drawn * len(keys))] if plant == "one" else ""
                shutil.rmtree(home, ignore_errors=True)  # of an interrupted comparison
                home.mkdir(parents=True)
                compare_in_turn(wish, (percent, plant, key), number, home, environ)
                (home / "key").write_text(key)
            add_comparison(tally, pairs_of(home), plant, (home / "key").read_text())
            told = f"{percent} % in {plant}: {tally.figures()}"
            progress(f"comparison {number + 1} of {wish.runs}, {told}")
        what = {"what": "ab", "percent": percent, "plant": plant, "loaded": wish.load}
        yield {**what, **tally.figures()}
    kept = sorted(place.parent for place in wish.keep.glob("0-none/???/key"))
    null = [pair for home in kept for pair in pairs_of(home)]
    yield from simulated_comparisons(null, wish, paired=True)


def compare_in_turn(
    wish: argparse.Namespace,
    planted: tuple[int, str, str],
    seed: int,
    home: Path,
    environ: dict[str, str],
) -> None:
    """One comparison, whose records are kept in ``home``."""
    percent, plant, key = planted
    command = " ".join(wish.words)
    other = command if plant == "none" else f"{waits(wish.where, percent, key)} {command}"
    options = ["--pairs", str(wish.pairs), "--seed", str(seed), "--format", "json"]
    plumb(["compare", "--ab", command, other, *options], {**environ, "PLUMBLINE_HOME": str(home)})


def pairs_of(home: Path) -> list[tuple[Record, Record]]:
    """The pairs of a comparison's launches."""
    sides = [sorted(home.glob(f"comparisons/*/{side}-???.json")) for side in "ab"]
    return [(load_record(a), load_record(b)) for a, b in zip(*sides, strict=True)]


def add_comparison(tally: Tally, pairs: list[tuple[Record, Record]], plant: str, key: str) -> None:
    """Count the words on the cases, of which ``key`` (empty: each) is planted."""
    words = {case.key: case.word for case in compare_pairs_of_records(pairs).cases}
    planted = {one for one in words if key in ("", one)} if plant != "none" else set()
    tally.add(words, planted)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- shown ----------------------------------------------------------------------------------------


def table(found: list[Figures]) -> Iterator[str]:
    wide = max([14, *(len(one["what"]) for one in found)])
    yield f"{'what':<{wide}} {'planted':<16} {'runs':>5} {'alarm: runs':>12} {'cases':>8} {'detected':>9} {'undecided':>10}"
    for one in found:
        percent = f"{one['percent']} % in " if one["percent"] else ""
        planted = "nothing" if one["plant"] == "none" else f"{percent}{one['plant']}"
        undecided = (
            one["undecided_cases"]
            if one["undecided_cases"] is not None
            else one["planted_undecided"]
        )
        shares = [one["false_alarm_runs"], one["false_alarm_cases"], one["detected"], undecided]
        cells = ["-" if share is None else f"{100 * share:.1f} %" for share in shares]
        yield f"{one['what']:<{wide}} {planted:<16} {one['runs']:>5} {cells[0]:>12} {cells[1]:>8} {cells[2]:>9} {cells[3]:>10}"


def svg(found: list[Figures], title: str) -> str:
    """Operating curves: detected share over planted slow-down, a line for each plant; at 0 the false alarms."""
    width, height, left, top = 560, 340, 60, 40
    colours = {"one": "#1f77b4", "all": "#d62728", "three": "#2ca02c"}

    def at(percent: float, share: float) -> tuple[float, float]:
        return left + percent / 50 * (width - left - 130), top + (1 - share) * (height - top - 50)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="20" font-size="14">{title}</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 0.95, 1):
        (x0, y), (x1, _) = at(0, share), at(50, share)
        dash = ' stroke-dasharray="4 3"' if share == 0.95 else ""
        lines.append(
            f'<line x1="{x0}" y1="{y:.1f}" x2="{x1:.1f}" y2="{y:.1f}" stroke="#ccc"{dash}/>'
        )
        lines.append(
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{share * 100:.0f} %</text>'
        )
    for percent in (0, *PERCENTS):
        x, y = at(percent, 0)
        lines.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{percent}</text>')
    x, y = at(25, 0)
    lines.append(
        f'<text x="{x:.1f}" y="{y + 38:.1f}" text-anchor="middle">planted slow-down, %</text>'
    )
    names = {"one": "in one case", "all": "in all cases", "three": "one launch in three"}
    dashes = dict(
        zip(dict.fromkeys(f["what"] for f in found), ("", ' stroke-dasharray="6 4"'), strict=False)
    )
    for what, dash in dashes.items():
        null = next(
            (f["false_alarm_cases"] for f in found if f["what"] == what and f["plant"] == "none"),
            None,
        )
        for plant, colour in colours.items():
            points = [
                (f["percent"], f["detected"])
                for f in found
                if (f["what"], f["plant"]) == (what, plant)
            ]
            points = [(p, d) for p, d in [(0, null), *points] if d is not None]
            if len(points) < 2:
                continue
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(p, d) for p, d in points))
            lines.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
            )
    drawn = [plant for plant in colours if any(f["plant"] == plant for f in found)]
    for number, plant in enumerate(drawn):
        y = top + 20 + 18 * number
        lines.append(
            f'<text x="{width - 122}" y="{y}" fill="{colours[plant]}">{names[plant]}</text>'
        )
    for number, (what, dash) in enumerate(dashes.items()):
        kind_of_line = "dashed" if dash else "solid"
        lines.append(
            f'<text x="{width - 122}" y="{top + 84 + 18 * number}">{kind_of_line}: {what}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("run", "ab"):
        one = kinds.add_parser(name)
        one.add_argument("words", nargs="+", help="benchmark and options (behind --)")
        one.add_argument("--runs", type=int, default=50)
        one.add_argument("--pairs", type=int, default=10)
        one.add_argument("--load", action="store_true")
        one.add_argument("--where", default="run", choices=["queue", "transport", "kernel", "run"])
        one.add_argument("--percent", type=int, nargs="*", default=PERCENTS)
        one.add_argument("--plant", nargs="*", default=["none", *PLANTS], choices=["none", *PLANTS])
        one.add_argument("--seed", type=int, default=1)
        one.add_argument(
            "--history",
            type=int,
            default=0,
            help="launches with nothing planted before each setting",
        )
        one.add_argument("--draws", type=int, default=50, help="simulated comparisons of each kind")
        one.add_argument("--keep", type=Path, help="a folder for the records (run: a new one)")
    one = kinds.add_parser("turns")
    one.add_argument("commands", nargs="*", help="benchmark and options, quoted")
    one.add_argument("--runs", type=int, default=50)
    one.add_argument("--load", action="store_true")
    places = ["auto", "queue", "transport", "kernel", "run"]
    one.add_argument("--where", default="auto", choices=places, help="auto: transport or run")
    one.add_argument("--percent", type=int, nargs="*", default=[25])
    one.add_argument("--time-limit", type=float, help="seconds after which no launch starts")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--keep", type=Path, required=True, help="a folder for the records")
    one.add_argument("--pairs", type=int, default=10, help="of a simulated comparison")
    one.add_argument("--draws", type=int, default=50, help="simulated comparisons of each kind")
    one.add_argument("--svg", action="store_true", help="operating curves, in each folder")
    wish = parser.parse_args()
    found: list[Figures] = []

    def take(figures: Iterator[Figures]) -> None:
        for one in figures:
            found.append(one)
            print(json.dumps(one), flush=True)

    wish.keep = wish.keep or Path(tempfile.mkdtemp(prefix="plumbline-verdicts-"))
    with mutants() as engine, load(wish.load):
        real = {"run": real_runs, "turns": turns, "ab": real_pairs}
        take(real[wish.kind](wish, engine))
    print("\n".join(table(found)), file=sys.stderr)


if __name__ == "__main__":
    main()
