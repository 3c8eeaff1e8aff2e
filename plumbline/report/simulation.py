"""``plumb simulate``: an application on a system, by the system's figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isqrt
from pathlib import Path

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.units import duration, ratio_text
from plumbline.model.simulate import Outcome
from plumbline.model.simulate.of_system import (
    SimulationRequest,
    graph500_on,
    hpl_on,
    ptrans_on,
    shallow_water_on,
    ssca1_on,
)
from plumbline.model.simulate.partition_graph import PartitionOf, parse_graph, read_graph
from plumbline.record.record import load_record
from plumbline.system.system import System

__all__ = ["SimulationRequest", "as_json", "as_text", "grid_of", "partitions_of", "simulate"]


def grid_of(ranks: int | None, rows: int | None, columns: int | None) -> tuple[int, int]:
    """P and Q as given, or the squarest grid of ``ranks``. Raises :class:`UsageError`."""
    if rows is None and columns is None:
        number = ranks or 1
        side = next(side for side in range(isqrt(number), 0, -1) if number % side == 0)
        return side, number // side
    if ranks is not None and rows is not None and columns is not None and ranks != rows * columns:
        raise UsageError(f"--ranks must be -P times -Q, {rows} x {columns}, not {ranks}")
    given = rows or columns or 1
    if rows is None or columns is None:
        if ranks is None or ranks % given:
            raise UsageError(
                "give -P and -Q, or --ranks, or --ranks and one of them that divides it"
            )
        rows, columns = (rows, ranks // given) if rows else (ranks // given, columns or 1)
    return rows, columns


def partitions_of(
    graph: str | None,
    benchmark: str,
    others: Iterable[int | None],
    find_record: Callable[[str], Path],
) -> Sequence[PartitionOf]:
    """The partitions of a graph file or a record; ``others`` are the options that it replaces.

    ``find_record`` gives the file of a record's name.
    """
    if graph is None:
        return ()
    if benchmark != "shallow_water":
        raise UsageError(
            f"--graph applies to shallow_water only; {benchmark} runs on a grid (-P, -Q)"
        )
    if any(one is not None for one in others):
        raise UsageError("--graph defines ranks and elements: omit --ranks, -P, -Q and --n")
    path = Path(graph)
    if not path.exists() and path.suffix in ("", ".json"):
        path = find_record(graph)
    return _graph_of_record(path) if path.suffix == ".json" else read_graph(path)


def _graph_of_record(path: Path) -> Sequence[PartitionOf]:
    for case in load_record(path).cases:
        if isinstance(graph := case.facts.get("graph"), str):
            return parse_graph(path, graph)
    raise UsageError(f"{path} has no graph of partitions: it must be of shallow_water")


def simulate(system: System, request: SimulationRequest) -> Outcome:
    """Run the requested simulation. Raises :class:`UsageError` if the system lacks a figure."""
    kinds: dict[str, Callable[[System, SimulationRequest], Outcome]] = {
        "hpl": hpl_on,
        "ptrans": ptrans_on,
        "shallow_water": shallow_water_on,
        "graph500": graph500_on,
        "ssca1": ssca1_on,
    }
    if request.benchmark not in kinds:
        raise UsageError(
            f"no simulation of {request.benchmark} "
            f"(choose from {', '.join(kinds)}){did_you_mean(request.benchmark, kinds)}"
        )
    outcome = kinds[request.benchmark](system, request)
    machine = system.machine
    if machine is not None and request.ranks > machine.devices:
        outcome.notes.append(f"{system.system.name} has {machine.devices} devices: extrapolated")
    return outcome


def as_text(outcome: Outcome) -> str:
    """The result in a few lines."""
    return "\n".join(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    yield outcome.title
    yield f"  time         {duration(outcome.seconds)}"
    yield f"  {outcome.metric:<12} {outcome.value:.5g} {outcome.unit}"
    if outcome.closed_s is not None:
        ratio = ratio_text(outcome.seconds / outcome.closed_s)
        yield f"  closed form  {duration(outcome.closed_s)} (simulated / closed {ratio})"
    busy = ", ".join(f"{lane} {share:.1%}" for lane, share in outcome.shares.items())
    yield f"  of all time  {busy}"
    yield from (f"  {note}" for note in outcome.notes)


def as_json(outcome: Outcome) -> str:
    """The result as JSON, without the timeline."""
    kept = {name: value for name, value in vars(outcome).items() if name != "timeline"}
    return json.dumps(kept, indent=2)
