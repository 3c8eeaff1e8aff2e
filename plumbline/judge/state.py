"""The state of a machine: a launch's parts compared with those of earlier launches.

A control chart. A part's time of one count, on a logarithmic scale, is compared with earlier
launches: it is usual within the t-interval of a new observation, ``mean ± t s sqrt(1 + 1/n)``
(Student's t at 99 % with n - 1 degrees of freedom), or within :data:`SMALLEST`. With fewer than
:data:`FEWEST` launches there is no interval, and the part is ``new``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from statistics import fmean, median, stdev

from plumbline.base.distributions import student_quantile
from plumbline.judge.parts import Identity, identity_of
from plumbline.record.expectations import State
from plumbline.record.record import PartCase, Record

FEWEST = 4  # launches of a history
SMALLEST = 1.05  # ratio; smaller deviations are usual


@dataclass(frozen=True)
class Moved:
    """An unusual part: ``times`` slower (below 1: faster) than the history's mean."""

    name: str
    times: float
    beyond: int  # number of the history's launches that are faster (slower)
    launches: int


@dataclass(frozen=True)
class StateOfMachine:
    """State of a launch's parts: by case, as a sentence, and changed parts, largest first."""

    sentence: str
    cases: Mapping[str, State] = field(default_factory=dict)
    moved: Sequence[Moved] = ()

    def of_case(self, key: str) -> State:
        """The state of a case's parts."""
        return self.cases.get(key, "new")


def state_of(record: Record, history: Sequence[Record]) -> StateOfMachine:
    """The parts of ``record`` against ``history``: earlier records of the same conditions."""
    own = _medians(record)
    before: dict[Identity, list[float]] = {}
    for earlier in history:
        for key, seconds in _medians(earlier).items():
            before.setdefault(key, []).append(seconds)
    found = {key: _compared(seconds, before.get(key, [])) for key, seconds in own.items()}
    states = {key: state for key, (state, _) in found.items()}
    moved = [
        Moved(_name(key), times, _beyond(own[key], before[key]), len(before[key]))
        for key, (state, times) in found.items()
        if state in ("slower", "faster")
    ]
    moved.sort(key=lambda one: abs(log(one.times)), reverse=True)
    cases = {case.key: _of_case(record, case.key, states) for case in record.cases}
    return StateOfMachine(_sentence(states, moved, before), cases, moved)


def _parts(record: Record) -> list[PartCase]:
    if record.parts is None:
        return []
    return [one for one in record.parts.cases if one.visits and one.outcome.status == "passed"]


def _medians(record: Record) -> dict[Identity, float]:
    """Seconds of one count of each part: the median over all of its visits."""
    found = {}
    for part in _parts(record):
        samples = [second for visit in part.visits for second in visit.seconds]
        if samples and median(samples) > 0:
            found[identity_of(part)] = median(samples)
    return found


def _compared(seconds: float, before: Sequence[float]) -> tuple[State, float]:
    if len(before) < FEWEST:
        return "new", 1.0
    logs = [log(one) for one in before]
    middle = fmean(logs)
    reach = student(len(logs), 0.99) * stdev(logs) * sqrt(1 + 1 / len(logs))
    off = log(seconds) - middle
    if abs(off) <= max(reach, log(SMALLEST)):
        return "usual", exp(off)
    return ("slower" if off > 0 else "faster"), exp(off)


def student(launches: int, confidence: float) -> float:
    """Two-sided Student's t with ``launches`` - 1 degrees of freedom."""
    return student_quantile((1 + confidence) / 2, launches - 1)


def _beyond(seconds: float, before: Sequence[float]) -> int:
    slower = seconds > median(before)
    return sum(seconds > one if slower else seconds < one for one in before)


def _name(key: Identity) -> str:
    """A part in words: ``relay of 1024 B``, ``memory/copy``."""
    words = key[1].split("/")
    return f"{words[1]} of {words[2]} B" if key[0] == "links" else key[1]


def _of_case(record: Record, key: str, states: Mapping[Identity, State]) -> State:
    case = next(one for one in record.cases if one.key == key)
    own = [
        states[identity_of(part)]
        for part in _parts(record)
        if identity_of(part) in states
        and all(
            part.labels[name] == case.labels.get(name)
            for name in ("message_bytes", "ring")
            if name in part.labels
        )
    ]
    order: tuple[State, ...] = ("slower", "faster", "new")
    for state in order:
        if state in own:
            return state
    return "usual" if own else "new"


def _sentence(
    states: Mapping[Identity, State],
    moved: Sequence[Moved],
    before: Mapping[Identity, Sequence[float]],
) -> str:
    launches = max((len(before[key]) for key in states if key in before), default=0)
    if launches < FEWEST:
        return (
            f"{launches or 'no'} earlier launch{'es' * (launches != 1)} of this kind: "
            f"what is usual is known from {FEWEST} on"
        )
    if not moved:
        return f"as usual, beside {launches} earlier launches"
    first = moved[0]
    how = "slower" if first.times > 1 else "faster"
    factor = first.times if first.times > 1 else 1 / first.times
    counts = Counter("slower" if one.times > 1 else "faster" for one in moved)
    more = f"; {counts[how]} of {len(states)} parts are {how}" if len(moved) > 1 else ""
    return (
        f"this launch's {first.name} is {factor:.2g} times {how} than in {first.beyond} of "
        f"{first.launches} earlier launches{more}"
    )
