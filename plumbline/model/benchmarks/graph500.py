"""Graph500: breadth-first searches, level by level.

A level has V vertices and D ends of edges (the sum of their degrees), of N vertices and E ends in
all. Top-down a rank follows D/p ends and sends each vertex of other ranks that it finds for the
first time, in words of 8 B; bottom-up it visits its unreached vertices, and looks through each row
until it finds a neighbour in the level; a visit, or every 16 looks, fetches a line of a row. All
ranks agree on each level's size. Numbers of words and looks are expectations for neighbours drawn
in proportion to their degrees.

*A case of a record.* Its own levels' sizes (facts ``level_vertices``, ``level_ends``).

*A forecast.* ``size`` is the scale; the levels' shares are those of Kronecker graphs measured here.

Shortest paths: :mod:`plumbline.model.delta_stepping`.

Times in seconds. Source of the algorithms: benchmarks/shmem/graph500/README.md; Beamer, Asanović,
Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from plumbline.base.errors import UsageError
from plumbline.model.benchmarks.collectives import ring_s, tree_s
from plumbline.model.delta_stepping import PART as PATHS
from plumbline.model.delta_stepping import RELAXED, Paths, paths_parts
from plumbline.model.forecast import Forecast, Scenario, device_of, message_of, size_of, too_many
from plumbline.model.message_cost import (
    Cost,
    OneSided,
    by_name,
    by_signals,
    by_transfer,
    free,
    one_sided,
)
from plumbline.model.own_work import own_s, rate, undisturbed_s
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.shared import Shared
from plumbline.model.transfer import HOST
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------

WORD_BYTES, END_BYTES, VERTEX_BYTES = 8, 4, 16
MESSAGE_WORDS = {"messages": 4094, "bucketed": 2046}
LINE_ENDS = 16  # of 64 B
ALPHA, BETA = 14.0, 24.0


@dataclass(frozen=True)
class Level:
    """Vertices of a level, and the ends of their edges."""

    vertices: float
    ends: float


def bottom_up(
    levels: Sequence[Level], vertices: float, ends: float, alpha: float, beta: float
) -> list[bool]:
    """Whether each level is searched bottom-up: by the rule of the benchmark."""
    found: list[bool] = []
    up, left = False, ends
    for level in levels:
        left -= level.ends
        up = level.vertices * beta >= vertices if up else level.ends * alpha > left
        found.append(up)
    return found


def looks(unreached: float, ends: float, share: float) -> float:
    """Neighbours looked at by ``unreached`` vertices with ``ends`` of edges together.

    Each row ends at the first neighbour in the level, which has ``share`` of all ends: of d
    neighbours (1 - (1 - share)^d) / share on average.
    """
    if unreached <= 0 or share <= 0:
        return max(ends, 0.0)
    missed = float((1 - min(share, 1.0)) ** (ends / unreached))
    return unreached * (1 - missed) / share


def words(reached: float, degree: float, followed: float, ranks: int) -> float:
    """Words that a rank has sent once ``followed`` (a share) of all ends were followed.

    A vertex of another rank is sent once; of its edges a rank has d/p.
    """
    left = float((1 - min(followed, 1.0)) ** (degree / ranks))
    return (1 - 1 / ranks) * reached * (1 - left)


def held_bytes(vertices: float, ends: float, ranks: int) -> float:
    """Rows, their begins and parents of one rank."""
    return (END_BYTES * ends + 2 * VERTEX_BYTES * vertices) / ranks


# --- a search -------------------------------------------------------------------------------------

FOLLOWED = Bound("ends followed", advice="--variant direction-optimising looks at fewer ends.")
LOOKED = Bound("rows bottom-up", advice="A larger --alpha goes bottom-up later.")
SENT = Bound("words", advice="Fewer ranks send fewer words; bottom-up levels send none.")
CLAIMED = Bound("atomics", advice="--variant bucketed collects words by owner.")
GATHERED = Bound("bitmaps gathered", advice="A smaller --alpha goes bottom-up earlier and longer.")
AGREED = Bound("reductions", advice="Each level needs one; a larger scale has more work in each.")
LAUNCHED = Bound("launch", "launch")


@dataclass(frozen=True)
class Asked:
    """A search: the graph, its levels, and the variant with its costs.

    ``by`` are the one-sided operations, for variant ``put-atomic``.
    """

    vertices: float
    ends: float
    levels: Sequence[Level]
    ranks: int
    variant: str
    cost: Cost
    alpha: float = ALPHA
    beta: float = BETA
    by: OneSided | None = None

    @property
    def held(self) -> float:
        """Bytes of a rank's graph."""
        return held_bytes(self.vertices, self.ends, self.ranks)


@dataclass(frozen=True)
class Step:
    """One level on an even rank: its direction, ends followed, lines of rows fetched, words sent.

    ``claims``: vertices that it tries, ``puts`` those that it gets, for variant ``put-atomic``.
    """

    up: bool = False
    followed: float = 0.0
    lines: float = 0.0
    words: float = 0.0
    claims: float = 0.0
    puts: float = 0.0


def steps_of(asked: Asked) -> list[Step]:
    """Every level's amounts on one of even ranks."""
    p, levels = asked.ranks, asked.levels
    switches = asked.variant in ("direction-optimising", "device")
    ups = bottom_up(levels, asked.vertices, asked.ends, asked.alpha, asked.beta)
    reached = sum(level.vertices for level in levels)
    ends = sum(level.ends for level in levels)
    degree = ends / reached if reached else 0.0
    found: list[Step] = []
    done_vertices = done_ends = followed = 0.0
    for number, level in enumerate(levels):
        done_vertices, done_ends = done_vertices + level.vertices, done_ends + level.ends
        if switches and ups[number]:
            left = max(reached - done_vertices, 0.0)
            looked = looks(left, max(ends - done_ends, 0.0), level.ends / max(ends, 1.0))
            lines = max(asked.vertices - done_vertices, 0.0) + looked / LINE_ENDS
            found.append(Step(up=True, lines=lines / p))
            continue
        before, followed = followed, followed + level.ends / max(ends, 1.0)
        sent = words(reached, degree, followed, p) - words(reached, degree, before, p)
        share = 1 - 1 / p
        claims = sent / share if share else 0.0
        following = levels[number + 1].vertices if number + 1 < len(levels) else 0.0
        found.append(Step(followed=level.ends / p, words=sent, claims=claims, puts=following / p))
    return found


def level_parts(asked: Asked, step: Step, device: DeviceTable) -> dict[str, float]:
    """The terms of one level's time, on one of even ranks."""
    p, cost = asked.ranks, asked.cost
    parts: dict[str, float] = {}
    if step.up or asked.variant == "device":
        parts[GATHERED] = float(ring_s(p, cost(1, asked.vertices / 8 / p)))
    if step.up:
        parts[LOOKED] = _own(device, asked, "bottom-up", step.lines)
    else:
        parts[FOLLOWED] = _own(device, asked, "top-down", step.followed)
        if asked.variant in ("put-atomic", "threaded") and asked.by is not None:
            parts[CLAIMED] = step.claims * asked.by.get(WORD_BYTES) + step.puts * asked.by.word_s
        elif p > 1 and asked.variant != "device":
            room = MESSAGE_WORDS.get(asked.variant, MESSAGE_WORDS["messages"])
            full = step.words / room
            parts[SENT] = full * cost(1, room * WORD_BYTES) + (p - 1) * cost(1, WORD_BYTES)
    parts[AGREED] = float(tree_s(p, cost(1, 2 * WORD_BYTES)))
    if asked.variant == "device" and device.launch is not None:
        row_us = device.launch.row_us or device.launch.wait_us
        parts[LAUNCHED] = (device.launch.wait_us + row_us) * 1e-6
    return parts


def search_parts(asked: Asked, device: DeviceTable) -> dict[str, float]:
    """The terms over all levels."""
    sums: dict[str, float] = {}
    for step in steps_of(asked):
        for name, seconds in level_parts(asked, step, device).items():
            sums[name] = sums.get(name, 0.0) + seconds
    return {name: seconds for name, seconds in sums.items() if seconds > 0}


def _own(device: DeviceTable, asked: Asked, part: str, items: float) -> float:
    """Ends or lines at their measured rate; else random words of a bitmap, or memory if slower."""
    if any(entry.benchmark == BENCHMARK for entry in device.work):
        return own_s(device, BENCHMARK, part, items, asked.held)
    random = device.updates_s(items, round(asked.vertices / 8), atomic=False)
    if random is None:
        random = device.updates_s(items, round(asked.vertices / 8), atomic=True)
    line = END_BYTES * (LINE_ENDS if part == "bottom-up" else 1)
    memory = device.memory_s(items * line, 0)
    return max(known(random, "gup_s", "device.random"), known(memory, "gb_s", "device.memory"))


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "graph500"
NEEDS: Need = "work"
TRANSPORTS = frozenset({"none", "local", "staged"})  # a transport is for variant device
MODELLED = ("messages", "bucketed", "direction-optimising", "put-atomic", "device")


def describe(_record: Record, _figures: Figures) -> str:
    """The terms of the sum."""
    return (
        "per level: ends followed or rows at their rate + words or bitmaps + a reduction; "
        "of shortest paths per round"
    )


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of each search."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    try:
        device = figures.device or DeviceTable()
        if case.label("kernel") == "sssp":
            paths = paths_of(record, case, _cost_of(record, case, figures)[0])
            return Prediction.in_turn(parts_of_paths(paths, device))
        return Prediction.in_turn(search_parts(asked_of(record, case, figures), device))
    except UsageError as error:
        return Prediction.unknown(str(error))


def asked_of(record: Record, case: Case, figures: Figures) -> Asked:
    """The search of a case. Raises :class:`UsageError` if it has no model, or lacks a figure."""
    variant, ranks = case.label("variant"), record.world.ranks
    if variant not in MODELLED:
        raise UsageError(f"no model for {case.label('kernel')} by {variant}")
    vertices, ends, levels = graph_of(case)
    cost, by = _cost_of(record, case, figures)
    alpha, beta = (
        float(str(record.parameters.get(name, default)))
        for name, default in (("alpha", ALPHA), ("beta", BETA))
    )
    return Asked(vertices, ends, levels, ranks, variant, cost, alpha, beta, by)


def _cost_of(record: Record, case: Case, figures: Figures) -> tuple[Cost, OneSided | None]:
    """A message of the variant, and the world's one-sided operations; none of a single rank."""
    if record.world.ranks == 1:
        return free, None
    by = one_sided(record, figures)
    sends = case.label("variant") != "bucketed" and record.world.kind == "mpi"
    return by_name(figures, "mpi", HOST) if sends else by_signals(by), by


def paths_of(record: Record, case: Case, cost: Cost) -> Paths:
    """The search for shortest paths of a case. Raises :class:`UsageError` for older records."""
    facts, found = case.facts, {}
    for name in ("rounds", "buckets", "vertices_reached"):
        if not isinstance(facts.get(name), int):
            raise UsageError(f"the record has no {name} of the search")
        found[name] = float(str(facts[name]))
    relaxed, sent = (
        float(str(facts[name])) if name in facts else None
        for name in ("ends_relaxed", "relaxations_sent")
    )
    return Paths(
        vertices=2.0 ** int(str(case.labels["scale"])),
        reached=found["vertices_reached"],
        ends=2 * (case.tallies or {}).get("edges", 0.0),
        rounds=found["rounds"],
        buckets=found["buckets"],
        ranks=record.world.ranks,
        variant=case.label("variant"),
        cost=cost,
        relaxed=relaxed,
        sent=sent,
    )


def parts_of_paths(asked: Paths, device: DeviceTable) -> dict[str, float]:
    """The terms of a search for shortest paths."""
    room = MESSAGE_WORDS.get(asked.variant, MESSAGE_WORDS["messages"])
    return paths_parts(asked, device, BENCHMARK, room)


def graph_of(case: Case) -> tuple[float, float, list[Level]]:
    """Vertices, ends and levels of a case. Raises :class:`UsageError` for older records."""
    sizes, ends = case.facts.get("level_vertices"), case.facts.get("level_ends")
    if not isinstance(sizes, list) or not isinstance(ends, list):
        raise UsageError("the record has no sizes of the levels")
    levels = [
        Level(float(str(size)), float(str(end))) for size, end in zip(sizes, ends, strict=True)
    ]
    vertices = 2.0 ** int(str(case.labels["scale"]))
    factor = float(str(case.labels.get("edge_factor", 16)))
    return vertices, 2 * factor * vertices, levels


# --- a calibration --------------------------------------------------------------------------------

runs = tuple(
    ("--scale", scale, "--variant", variant, "--roots", "8")
    for scale in ("13", "18")
    for variant in ("messages", "direction-optimising")
) + tuple(
    ("--scale", scale, "--kernel", "sssp", "--variant", "messages", "--roots", "4")
    for scale in ("13", "18")
)


def learn(records: Sequence[Record], cost: Cost, source: str) -> list[OwnWork]:
    """Rates of ends (variant ``messages``), and of rows in what they leave of the other's time."""
    rows: list[OwnWork] = []
    for scale in dict.fromkeys(str(record.parameters.get("scale")) for record in records):
        found = [one for one in records if str(one.parameters.get("scale")) == scale]
        for part, variant in (("top-down", "messages"), ("bottom-up", "direction-optimising")):
            each: list[float] = []
            held = 0.0
            for record in found:
                for case in record.cases:
                    kind = (case.label("kernel"), case.label("variant"))
                    if kind == ("bfs", variant) and case.has_figures:
                        item_s, held = _item_s(record, case, cost, part, rows)
                        each.append(item_s)
            if each:
                rows.append(rate(BENCHMARK, part, 1, median(each), source, held))
    return [*rows, *_rates_on_devices(records, source), *_rates_of_paths(records, cost, source)]


def _rates_on_devices(records: Sequence[Record], source: str) -> list[OwnWork]:
    """Rates of ends and of lines in the longest level of each direction of variant ``device``."""
    found: dict[tuple[str, float], list[float]] = {}  # by part and bytes held: seconds of an item
    for record, case in ((one, case) for one in records for case in one.cases):
        seconds = case.facts.get("level_seconds")
        if case.label("variant") != "device" or not case.has_figures or not seconds:
            continue
        if case.label("kernel") != "bfs" or not isinstance(seconds, list):
            continue
        vertices, ends, levels = graph_of(case)
        asked = Asked(vertices, ends, levels, record.world.ranks, "device", free)
        pairs = [
            (step, float(str(spent))) for step, spent in zip(steps_of(asked), seconds, strict=False)
        ]
        for part, up in (("top-down", False), ("bottom-up", True)):
            own = [(spent, step) for step, spent in pairs if step.up == up]
            if own:
                spent, step = max(own, key=lambda one: one[0])
                item_s = spent / max(step.lines if up else step.followed, 1.0)
                found.setdefault((part, asked.held), []).append(item_s)
    return [
        rate(BENCHMARK, part, 1, median(each), source, held) for (part, held), each in found.items()
    ]


def _rates_of_paths(records: Sequence[Record], cost: Cost, source: str) -> list[OwnWork]:
    """Rates of ends relaxed, by what messages leave (a quarter of the whole at least)."""
    found: dict[str, list[tuple[float, float]]] = {}  # by scale: seconds of an end, bytes held
    unit = DeviceTable(work=[OwnWork(benchmark=BENCHMARK, part=PATHS, per_s=1.0, source="")])
    for record, case in ((one, case) for one in records for case in one.cases):
        if case.label("kernel") != "sssp" or not case.has_figures:
            continue
        asked = paths_of(record, case, cost)
        parts = parts_of_paths(asked, unit)
        items, spent = parts.pop(RELAXED), undisturbed_s(case)
        end_s = max(spent - sum(parts.values()), spent / 4) / items
        found.setdefault(str(case.labels["scale"]), []).append((end_s, asked.held))
    return [
        rate(BENCHMARK, PATHS, 1, median(end for end, _ in each), source, each[0][1])
        for each in found.values()
    ]


def _item_s(
    record: Record, case: Case, cost: Cost, part: str, rows: Sequence[OwnWork]
) -> tuple[float, float]:
    """Seconds of an end or a line in a case (a quarter of the whole at least), and bytes held."""
    vertices, ends, levels = graph_of(case)
    variant, ranks = case.label("variant"), record.world.ranks
    asked = Asked(vertices, ends, levels, ranks, variant, cost)
    unit = OwnWork(benchmark=BENCHMARK, part=part, per_s=1.0, source="")
    near = [row for row in rows if row.held_bytes == round(asked.held) and row.part != part]
    parts = search_parts(asked, DeviceTable(work=[unit, *near]))
    items = parts.pop(FOLLOWED if part == "top-down" else LOOKED)
    spent = undisturbed_s(case)
    return max(spent - sum(parts.values()), spent / 4) / items, asked.held


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "rate", "GTEPS"
EQUATION = "edges / sum over levels (ends or rows at their rate + words or bitmaps + reduction)"
SIZE = "scale: the logarithm of the number of vertices"
GROWS = ""
RANKS = (1,)
OPERATIONS = ("direction-optimising", "messages")
MORE: tuple[str, ...] = ("bucketed", "sssp")
SENDS = True
SHARED = Shared("scale", 1, logarithm=True)
SCALED = "harmonic_mean_TEPS"
EDGE_FACTOR = 16
# Shares of N and of all ends by level: means of the searches of a graph of seeds 2 and 3.
MEASURED_SCALE = 18
SHARES = (
    (4e-6, 1.2e-5),
    (0.000329, 0.015374),
    (0.072438, 0.462251),
    (0.439934, 0.478657),
    (0.140121, 0.042897),
    (0.009287, 0.000609),
    (6.2e-5, 2e-6),
)


# Of searches for shortest paths on the same graph, delta 0.1: means.
ROUNDS, BUCKETS, REACHED = 71.0, 21.0, 0.662


def sizes(_system: System) -> list[float]:
    """Scales 20, 24 and 28."""
    return [20.0, 24.0, 28.0]


def levels_of(scale: float) -> list[Level]:
    """The levels of an average search."""
    vertices = 2.0**scale
    return [Level(v * vertices, e * 2 * EDGE_FACTOR * vertices) for v, e in SHARES]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """A search by ``scenario.operation``; the edges are those of the component, without loops."""
    asked = scenario_of(system, scenario)
    ends = sum(level.ends for level in asked.levels)
    if scenario.operation == "sssp":
        paths = Paths(
            asked.vertices,
            REACHED * asked.vertices,
            ends,
            ROUNDS,
            BUCKETS,
            asked.ranks,
            "messages",
            asked.cost,
        )
        found = Prediction.in_turn(parts_of_paths(paths, device_of(system)))
    else:
        found = Prediction.in_turn(search_parts(asked, device_of(system)))
    value = ends / 2 / found.time_s * 1e-9
    far = too_many(system, scenario)
    if size_of(scenario, "scale") != MEASURED_SCALE:
        far = far or f"the levels' shares are those of scale {MEASURED_SCALE}"
    return Forecast(found, value, None, far)


def scenario_of(system: System, scenario: Scenario) -> Asked:
    """The search of a scenario. Raises :class:`UsageError` for a scale out of range."""
    scale = size_of(scenario, "scale")
    if not 1 <= scale <= 48:
        raise UsageError(f"the scale must be 1 to 48, not {scale:g}")
    cost = free if scenario.ranks == 1 else by_transfer(message_of(system, scenario))
    vertices = 2.0**scale
    return Asked(
        vertices,
        2 * EDGE_FACTOR * vertices,
        levels_of(scale),
        scenario.ranks,
        scenario.operation or OPERATIONS[0],
        cost,
    )
