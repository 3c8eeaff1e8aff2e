"""The NAS Parallel Benchmarks: what their six models share.

An iteration of the slowest rank is a sum: its own loops, at the rate of their items (points, keys,
pairs) that a calibration measured; for each message the part that no work covers; the pipeline's
fill (LU); reductions. Volumes of messages and the work they overlap are those of
benchmarks/shmem/npb (README.md, flow.md), and each benchmark's module derives them.

*A case of a record*: one iteration. *A forecast*: all iterations of a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, ClassVar, Literal

from plumbline.base.errors import UsageError
from plumbline.model.benchmarks.collectives import tree_s
from plumbline.model.forecast import Forecast, Scenario, device_of, message_of, too_many
from plumbline.model.message_cost import Cost, by_form, by_transfer, exposed_s, free
from plumbline.model.own_work import own_s, rate, undisturbed_s
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.shared import Shared
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.system import Figures, Need, System

LANES = 8  # numbers of a vector, if nothing is known: AVX-512's


@dataclass(frozen=True)
class Problem:
    """``size``: points of an axis, or the logarithm of the keys (IS) or pairs (EP).

    ``largest``: the logarithm of the range of keys (IS); ``lanes``: numbers of the host's vectors,
    which rows of points fill (BT, SP, LU).
    """

    size: int
    iterations: int = 1
    largest: int = 0
    lanes: int = LANES


# Of NPB 3.4 (benchmarks/shmem/npb/classes.cpp has them with the official values).
_ROWS: dict[str, list[tuple[int, ...]]] = {
    "npb_is": [(16, 10, 11), (20, 10, 16), (23, 10, 19), (25, 10, 21), (27, 10, 23)],
    "npb_ep": [(24,), (25,), (28,), (30,), (32,)],
    "npb_mg": [(32, 4), (128, 4), (256, 4), (256, 20), (512, 20)],
    "npb_bt": [(12, 60), (24, 200), (64, 200), (102, 200), (162, 200)],
    "npb_sp": [(12, 100), (36, 400), (64, 400), (102, 400), (162, 400)],
    "npb_lu": [(12, 50), (33, 300), (64, 250), (102, 250), (162, 250)],
}
LETTERS = "SWABC"
CLASSES = {
    name: {letter: Problem(*row) for letter, row in zip(LETTERS, rows, strict=True)}
    for name, rows in _ROWS.items()
}


TWO_SIDED = ("--form", "two-sided")  # of the calibration's runs


@dataclass(frozen=True)
class Sent:
    """Messages of an iteration: ``times`` one after the other, each time ``at_once`` of ``size`` B.

    ``covered``: the share of a part's time (None: of all own work) that each time overlaps.
    """

    times: float
    at_once: float
    size: float
    covered: float = 0.0
    part: str | None = None


@dataclass(frozen=True)
class Iteration:
    """An iteration of the slowest rank.

    ``items`` of its own loops by part ("": all that has no rate of its own), over ``held`` bytes;
    ``fill``: waiting for the ranks before it, as a share of a part's time; ``reduced``: bytes of
    each reduction.
    """

    items: Mapping[str, float]
    held: float
    sent: Sequence[Sent] = ()
    fill: Mapping[str, float] = field(default_factory=dict)
    reduced: Sequence[float] = ()


OWN = Bound("own work", advice="More ranks have less each; faster cores or memory raise the rate.")
MESSAGES = Bound(
    "messages", advice="--form compares ways of sending; larger classes send less for their work."
)
FILL = Bound("pipeline fill", advice="Fewer ranks, or a larger class, fill a smaller share of it.")
REDUCTIONS = Bound("reductions", advice="Fewer ranks, or a larger class, reduce less often.")

LEAST_OWN = 0.5  # of a calibration's run, for a rate

OwnSeconds = Callable[[str, float, float], float]  # part, items, held bytes


def parts_s(
    step: Iteration, ranks: int, own_s: OwnSeconds, cost: Cost, *, are_beside: bool
) -> dict[str, float]:
    """The terms of an iteration's time; ``are_beside``: messages travel beside work."""
    own = {part: own_s(part, items, step.held) for part, items in step.items.items()}
    total = sum(own.values())
    parts: dict[str, float] = {OWN: total}
    if ranks == 1:
        return parts

    def exposed(one: Sent) -> float:
        work = total if one.part is None else own[one.part]
        overlapped = one.covered * work if are_beside else 0.0
        return one.times * exposed_s(cost(one.at_once, one.size), overlapped)

    parts[MESSAGES] = sum(map(exposed, step.sent))
    parts[FILL] = sum(share * own[part] for part, share in step.fill.items())
    parts[REDUCTIONS] = sum(float(tree_s(ranks, cost(1, size))) for size in step.reduced)
    return {name: seconds for name, seconds in parts.items() if seconds > 0}


def travel_beside_work(record: Record) -> bool:
    """Whether messages of a run travel beside work: between hosts. On one host, ranks copy them."""
    return len(record.hosts) > 1


def own_work_s(
    record: Record, step: Iteration, case: Case, shares: Mapping[str, float], cost: Cost
) -> float:
    """The own work's time in an iteration of a case, by what the other terms leave.

    ``shares`` of its parts; at least a quarter of the whole.
    """
    ranks, are_beside, seconds = record.world.ranks, travel_beside_work(record), undisturbed_s(case)
    total = seconds
    for _ in range(8):  # what it covers depends on it

        def own(part: str, _items: float, _held: float, all_s: float = total) -> float:
            return shares[part] * all_s

        parts = parts_s(step, ranks, own, cost, are_beside=are_beside)
        total = max(seconds - sum(parts.values()) + parts[OWN], seconds / 4)
    return total


@dataclass(frozen=True)
class NpbModel:
    """The model and the forecasts of one benchmark; its module derives the functions.

    ``operations`` are the official ones of all iterations; ``check`` raises :class:`UsageError` for
    too many ranks; ``by_limits``: seconds of the items by a device's limits, if no rate of the own
    loops is known. ``runs``: options of the calibration's runs, none of a class. ``phases`` by
    part, of the record, for rates of their own.
    """

    name: str
    operations: Callable[[Problem], float]
    iteration: Callable[[Problem, int], Iteration]
    check: Callable[[Problem, int], None]
    EQUATION: str
    SHARED: Shared
    runs: Sequence[Sequence[str]]
    by_limits: Callable[[DeviceTable, Problem, int], float | None] = lambda *_: None
    phases: Mapping[str, Sequence[str]] = field(default_factory=dict)

    NEEDS: ClassVar[Need] = "work"
    TRANSPORTS: ClassVar[frozenset[str]] = frozenset({"none", "mpi", "shmem"})
    METRIC: ClassVar[str] = "rate"
    UNIT: ClassVar[str] = "Mop/s"
    SIZE: ClassVar[str] = ""
    GROWS: ClassVar[Literal["", "ranks", "side"]] = ""
    RANKS: ClassVar[Sequence[int]] = (1,)
    OPERATIONS: ClassVar[tuple[str, ...]] = tuple(LETTERS)
    MORE: ClassVar[tuple[str, ...]] = ()
    SENDS: ClassVar[bool] = True
    SCALED: ClassVar[str] = "mops_total"

    # --- a case of a record

    def describe(self, _record: Record, _figures: Figures) -> str:
        """The terms of the sum."""
        return "own work + max(0, message - overlapped) + pipeline fill + reductions"

    def expect(self, record: Record, figures: Figures) -> dict[str, Prediction]:
        """The time of one iteration in each form."""
        return {case.key: self._expected(record, case, figures) for case in record.cases}

    def _expected(self, record: Record, case: Case, figures: Figures) -> Prediction:
        ranks, form = record.world.ranks, case.label("form")
        step = self.iteration(self.problem_of(record), ranks)
        device = figures.device or DeviceTable()
        try:
            cost = free if ranks == 1 else by_form(record, figures, form)
            own = self._own(device) if form != "device" else self._limited(record, device)
            beside = travel_beside_work(record)
            return Prediction.in_turn(parts_s(step, ranks, own, cost, are_beside=beside))
        except UsageError as error:
            return Prediction.unknown(str(error))

    def problem_of(self, record: Record) -> Problem:
        """The problem of a run: its class, with the run's own sizes."""
        given: Mapping[str, Any] = record.parameters
        row = CLASSES[self.name][str(given.get("class", "A"))]
        return Problem(
            int(given.get(self.SHARED.option) or row.size),
            int(given.get("iterations") or row.iterations),
            int(given.get("log2-max-key") or row.largest),
            _lanes_of(record) or LANES,
        )

    def _own(self, device: DeviceTable) -> OwnSeconds:
        return lambda part, items, held: own_s(device, self.name, part, items, held)

    def _limited(self, record: Record, device: DeviceTable) -> OwnSeconds:
        """Of kernels, by the device's limits. Raises :class:`UsageError` for a missing one."""
        limited = self.by_limits(device, self.problem_of(record), record.world.ranks)
        if limited is None:
            raise UsageError(f"the limits of the device that bound {self.name} are not known")
        return lambda *_: limited

    # --- a calibration

    def learn(self, records: Sequence[Record], cost: Cost, source: str) -> list[OwnWork]:
        """The rates of the own loops in each run: items over the time that messages leave.

        An undisturbed repetition counts; parts with a rate of their own have their phases' share.
        Of a run that messages take most of, what they leave is as wrong as their cost: it counts
        only where no run has less of them.
        """
        rows: list[tuple[float, list[OwnWork]]] = []
        for record, case in ((one, case) for one in records for case in one.cases):
            if case.summary is None or case.outcome.status != "passed":
                continue
            step = self.iteration(self.problem_of(record), record.world.ranks)
            shares = {part: _share(case, names) for part, names in self.phases.items()}
            shares[""] = 1 - sum(shares.values())
            total = own_work_s(record, step, case, shares, cost)
            rates = [
                rate(
                    *(self.name, part, items, total * shares[part], source, step.held),
                    lanes=_lanes_of(record),
                )
                for part, items in step.items.items()
            ]
            rows.append((total / undisturbed_s(case), rates))
        most = max((share for share, _ in rows), default=0.0)
        return [one for share, rates in rows if share >= min(LEAST_OWN, most) for one in rates]

    # --- a forecast

    def sizes(self, _system: System) -> list[float]:
        """None: a class has its size."""
        return []

    def forecast(self, system: System, scenario: Scenario) -> Forecast:
        """All iterations of a class (``scenario.operation``)."""
        row, ranks = CLASSES[self.name][scenario.operation or "C"], scenario.ranks
        self.check(row, ranks)
        device = device_of(system)
        lanes = (one.lanes for one in device.work if one.benchmark == self.name and one.lanes)
        step = self.iteration(replace(row, lanes=next(lanes, LANES)), ranks)
        cost = free if ranks == 1 else by_transfer(message_of(system, scenario))
        limited = None
        if not any(entry.benchmark == self.name for entry in device.work):
            limited = self.by_limits(device, row, ranks)
        own = self._own(device) if limited is None else (lambda *_: limited)
        each = parts_s(step, ranks, own, cost, are_beside=True)
        parts = {name: seconds * row.iterations for name, seconds in each.items()}
        found = Prediction.in_turn(parts)
        value = self.operations(row) / found.time_s * 1e-6
        return Forecast(found, value, None, too_many(system, scenario))


def _lanes_of(record: Record) -> int | None:
    facts = (case.facts["lanes"] for case in record.cases if "lanes" in case.facts)
    return next((int(str(lanes)) for lanes in facts), None)


def _share(case: Case, phases: Sequence[str]) -> float:
    """The share of ``phases`` in the medians of all, over the ranks."""
    medians = {
        name: sum(median(one for one in times if one is not None) for times in phase.by_rank)
        for name, phase in case.phases.items()
    }
    return sum(medians[name] for name in phases) / sum(medians.values())


def grid_shared(name: str, option: str, power: float, *, logarithm: bool = False) -> Shared:
    """The problem shared by the ranks: ``option``, or the class's size where it is not given."""
    of_class = {letter: row.size for letter, row in CLASSES[name].items()}
    return Shared(option, power, logarithm=logarithm, of_choice=("class", of_class))
