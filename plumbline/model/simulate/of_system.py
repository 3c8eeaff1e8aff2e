"""The inputs of a simulation from a system: kernels, links and partitions, and the closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model import boards
from plumbline.model.benchmarks import gemm
from plumbline.model.benchmarks import graph500 as graph
from plumbline.model.benchmarks import hpl as lu
from plumbline.model.benchmarks import ptrans as transposition
from plumbline.model.benchmarks import shallow_water as water
from plumbline.model.benchmarks import ssca1 as align
from plumbline.model.benchmarks.shallow_water import FLOP_AN_ELEMENT, PIPELINE, Partition, partition
from plumbline.model.benchmarks.shallow_water import costs as water_costs
from plumbline.model.benchmarks.shallow_water import sizes as water_sizes
from plumbline.model.forecast import Scenario, bitstream_of, device_of, message_of
from plumbline.model.message_cost import by_transfer, free
from plumbline.model.simulate import (
    Outcome,
    Timeline,
    graph500,
    hpl,
    ptrans,
    shallow_water,
    shares,
    ssca1,
)
from plumbline.model.simulate.partition_graph import PartitionOf
from plumbline.model.transfer import Transfer, transfer_of
from plumbline.system.device import Bitstream
from plumbline.system.system import System, known

_MOST_BLOCKS = 2**24  # of work for simpy: a few minutes


@dataclass(frozen=True)
class SimulationRequest:
    """A request. ``size`` is of the whole problem; ``block`` 0 is the kernels' own.

    ``graph``: the partitions themselves, one a rank, in place of a grid of them.
    """

    benchmark: str
    rows: int
    columns: int
    size: int | None = None
    block: int = 0
    type: str = "float"
    transport: str | None = None
    approach: str | None = None
    barrier: bool = False
    steps: int = 10
    imbalance: float = 0.0
    seed: int = 1
    graph: Sequence[PartitionOf] = ()
    watch: int = 0

    @property
    def ranks(self) -> int:
        """All ranks of the grid."""
        return self.rows * self.columns

    def scenario(self, transport: str | None) -> Scenario:
        """The same for a forecast."""
        return Scenario(
            type=self.type, ranks=self.ranks, transport=transport, approach=self.approach
        )


def _usual(system: System, request: SimulationRequest) -> str:
    return request.transport or ("channel" if system.channel else "staged")


def _blocks(request: SimulationRequest, n: int, b: int) -> int:
    if n % b:
        raise UsageError(f"--n must be a multiple of the {b} rows of a block (--nb), not {n}")
    if n // b * request.ranks > _MOST_BLOCKS:
        raise UsageError(
            f"{n // b} iterations on {request.ranks} ranks exceed {_MOST_BLOCKS} events: "
            "give larger blocks (--nb) or fewer ranks"
        )
    return n // b


def _timeline(request: SimulationRequest) -> Timeline:
    places = [f"{p},{q}" for p in range(request.rows) for q in range(request.columns)]
    if request.benchmark in ("shallow_water", "graph500", "ssca1"):
        places = [str(rank) for rank in range(request.ranks)]
    return Timeline(frozenset(places[: request.watch]))


# --- HPL -----------------------------------------------------------------------------------------


def hpl_on(system: System, request: SimulationRequest) -> Outcome:
    """HPL; with the closed form if P = Q."""
    transport = _usual(system, request)
    kernels, b, number_bytes, notes = _lu_kernels(system, request, transport)
    n = request.size or 48 * b * max(request.rows, request.columns)
    blocks = _blocks(request, n, b)
    block_bytes = b * b * number_bytes
    links = lu.links_of(system, request.scenario(transport), block_bytes, kernels.panel_s)
    timeline = _timeline(request)
    run = hpl.Simulation(
        blocks, request.rows, request.columns, kernels, links, request.barrier, timeline
    )
    seconds = run.run()
    closed = None
    if request.rows == request.columns and not kernels.shared:
        fixed = links.fixed_s(request.rows)
        parts = (kernels.product_s, kernels.lu_s, kernels.panel_s, fixed, links.block_s)
        closed = float(lu.total_s(n, request.rows, b, 1, *parts))
    return Outcome(
        title=_title(system, request, f"n = {n}, nb = {b}", transport),
        seconds=seconds,
        value=float(lu.flops(n)) / seconds * 1e-9,
        metric="performance",
        unit="GFLOP/s",
        closed_s=closed,
        shares=shares(timeline, request.ranks, seconds),
        timeline=timeline,
        notes=notes,
    )


def _lu_kernels(
    system: System, request: SimulationRequest, transport: str
) -> tuple[hpl.Kernels, int, int, list[str]]:
    """By the board's kernels, or by the device's peak; the block's rows, a number's bytes."""
    device = device_of(system)
    number_bytes = boards.NUMBER_BYTES[request.type]
    kernel = bitstream_of(system, "hpl", request.scenario(transport))
    if kernel is not None:
        own = known(kernel.block_size, "block_size", "device.bitstreams")
        b, g = request.block or own, known(kernel.gemm_size, "gemm_size", "device.bitstreams")
        clock = kernel.frequency_mhz * 1e6
        sized = kernel.model_copy(update={"block_size": b})
        block = sum(gemm.block_parts_s(device, sized, b).values())
        panel, decomposed = float(lu.panel_s(b, g, clock)), float(lu.lu_s(b, g, clock))
        made = hpl.Kernels(decomposed, panel, block / kernel.replications)
        notes = [f"the kernels were synthesised for blocks of {own}"] if b != own else []
        return made, b, number_bytes, notes
    b = request.block or 512
    seconds = known(
        device.peak_s(2.0 * b**3, request.type, matrix=True),
        f"peak in {request.type}",
        "device.peaks",
    )
    note = "no kernels are described: products, solves and LU at the device's peak"
    return hpl.Kernels(seconds / 3, seconds / 2, seconds, shared=True), b, number_bytes, [note]


# --- PTRANS --------------------------------------------------------------------------------------


def ptrans_on(system: System, request: SimulationRequest) -> Outcome:
    """PTRANS; with the closed form if P = Q and blocks divide evenly."""
    transport = _usual(system, request)
    streams = transport == "channel"
    if streams and request.rows != request.columns:
        raise UsageError(
            f"-P must equal -Q over channel, where each rank has one partner, "
            f"not {request.rows} and {request.columns}"
        )
    kernel = bitstream_of(system, "ptrans", request.scenario(transport))
    own = known(kernel.block_size, "block_size", "device.bitstreams") if kernel else 512
    b = request.block or own
    n = request.size or 16384
    blocks = _blocks(request, n, b)
    number_bytes = boards.NUMBER_BYTES[request.type]
    costs = _ptrans_costs(system, request, transport, kernel, b)
    timeline = _timeline(request)
    seconds = ptrans.Simulation(
        blocks, request.rows, request.columns, costs, streams, timeline
    ).run()
    return Outcome(
        title=_title(system, request, f"n = {n}, blocks of {b}", transport),
        seconds=seconds,
        value=float(transposition.sent_rate(n, number_bytes, seconds)) * 1e-9,
        metric="bandwidth",
        unit="GB/s",
        closed_s=_ptrans_closed(costs, blocks, request, streams),
        shares=shares(timeline, request.ranks, seconds),
        timeline=timeline,
    )


def _ptrans_costs(
    system: System, request: SimulationRequest, transport: str, kernel: Bitstream | None, b: int
) -> ptrans.Costs:
    block_bytes = b * b * boards.NUMBER_BYTES[request.type]
    memory = transposition.arrays_s(system, request.scenario(transport), b, 1)
    if transport == "channel":
        channel = known(system.channel, "count", "channel")
        return ptrans.Costs(
            block_bytes,
            memory,
            link_s=block_bytes / (channel.channel_gb_s() * 1e9),
            links=channel.count,
            latency_s=(channel.latency_ns or 0.0) * 1e-9,
        )
    message = _message(transfer_of(system, transport, request.approach))
    if kernel is None:
        return ptrans.Costs(block_bytes, memory, message_s=message)
    width = known(kernel.channel_width, "channel_width", "device.bitstreams")
    one = float(transposition.block_s(0, b, width, kernel.frequency_mhz * 1e6))
    return ptrans.Costs(block_bytes, memory, one, kernel.replications, message_s=message)


def _message(transfer: Transfer) -> Callable[[float], float]:
    return lambda size: float(transfer.seconds(size))


def _ptrans_closed(
    costs: ptrans.Costs, blocks: int, request: SimulationRequest, streams: bool
) -> float | None:
    """For P = Q and equal numbers of blocks: the slowest of link and memory, or the sum."""
    if request.rows != request.columns or blocks % request.rows:
        return None
    number, alone = (blocks / request.rows) ** 2, request.ranks == 1
    memory = number * costs.memory_s
    if streams:
        linked = 0.0 if alone else number * costs.link_s / costs.links
        return max(linked, memory) + (0.0 if alone else costs.latency_s)
    exchange = 0.0 if alone else costs.message_s(number * costs.block_bytes)
    return exchange + max(number * costs.kernel_s / costs.kernels, memory)


# --- shallow water -------------------------------------------------------------------------------


def shallow_water_on(system: System, request: SimulationRequest) -> Outcome:
    """Shallow water; with the closed form for equal partitions."""
    transport = request.transport or "accl-udp-switch"
    if request.graph:
        elements = sum(part.elements for part in request.graph)
        worst = _worst_part(request.graph)
    else:
        elements = request.size or int(water_sizes(system)[0]) * request.ranks
        worst = partition(float(elements), request.ranks)
    found = water_costs(system, request.scenario(transport), transport, worst)
    costs = shallow_water.Costs(pipeline=worst.pipeline, **found)
    timeline = _timeline(request)
    parts = [_part(part) for part in request.graph] or _parts(request, worst)
    seconds = shallow_water.Simulation(parts, costs, request.steps, timeline).run()
    alike = (
        not request.imbalance and len({(one.core, one.sent, one.messages) for one in parts}) == 1
    )
    return Outcome(
        title=_title(system, request, f"{elements} elements, {request.steps} steps", transport),
        seconds=seconds,
        value=FLOP_AN_ELEMENT * elements * request.steps / seconds * 1e-9,
        metric="throughput",
        unit="GFLOP/s",
        closed_s=request.steps * _step_s(costs, worst) if alike else None,
        shares=shares(timeline, request.ranks, seconds),
        timeline=timeline,
        notes=[] if worst.is_known else ["no published mesh has this partition: estimated"],
    )


def _worst_part(graph: Sequence[PartitionOf]) -> Partition:
    """The worst of each kind in one partition: most elements, border and neighbours."""
    exchanged = 2.0 * max(sum(part.borders.values()) for part in graph)
    core = max(part.elements - sum(part.borders.values()) for part in graph)
    near = max(len(part.borders) for part in graph)
    return Partition(max(core, 0), exchanged, 0, PIPELINE, near, is_known=True)


def _part(part: PartitionOf) -> shallow_water.Part:
    border = sum(part.borders.values())
    near = tuple(part.borders)
    return shallow_water.Part(max(part.elements - border, 0), border, border, near, len(near))


def _step_s(costs: shallow_water.Costs, part: Partition) -> float:
    """Eq. 5.2 with eq. 5.3 in cycles."""
    link_s = costs.message_s
    comm = water.comm_cycles(
        costs.clock, part.exchanged, part.neighbours, costs.command_s, costs.copy_s, link_s
    )
    cycles = water.step_cycles(part.core, part.external, comm, part.exchanged, part.pipeline)
    return float(cycles) / costs.clock


def _parts(request: SimulationRequest, worst: Partition) -> list[shallow_water.Part]:
    """All equal to the worst, or smaller by up to twice the imbalance, seeded."""
    near = shallow_water.grid(request.rows, request.columns, min(8, int(worst.neighbours)))
    drawn = np.random.default_rng(request.seed).uniform(1 - 2 * request.imbalance, 1, request.ranks)
    drawn[0] = 1.0
    core = worst.core + worst.external
    half = worst.exchanged / 2
    return [
        shallow_water.Part(core * share, half, half, beside, int(worst.neighbours))
        for share, beside in zip(drawn.tolist(), near, strict=True)
    ]


# --- graph500, ssca1 -----------------------------------------------------------------------------


def graph500_on(system: System, request: SimulationRequest) -> Outcome:
    """A search of scale ``size``; with the closed form for even ranks."""
    scale = request.size or 24
    scenario = replace(request.scenario(request.transport), size=float(scale))
    asked, device = graph.scenario_of(system, scenario), device_of(system)
    levels = []
    for step in graph.steps_of(asked):
        parts = graph.level_parts(asked, step, device)
        agreed = parts.pop(graph.AGREED)
        levels.append(graph500.LevelTimes(dict(parts), agreed))
    timeline = _timeline(request)
    seconds = graph500.Simulation(levels, _uneven(request), timeline).run()
    closed = sum(graph.search_parts(asked, device).values())
    edges = sum(level.ends for level in asked.levels) / 2
    return Outcome(
        title=_title(system, request, f"scale {scale}", request.transport or "its messages"),
        seconds=seconds,
        value=edges / seconds * 1e-9,
        metric="rate",
        unit="GTEPS",
        closed_s=None if request.imbalance else closed,
        shares=shares(timeline, request.ranks, seconds),
        timeline=timeline,
        notes=[f"the levels' shares are those of scale {graph.MEASURED_SCALE}"],
    )


def ssca1_on(system: System, request: SimulationRequest) -> Outcome:
    """Kernel 1 of scale ``size`` in scores of 32 bits; with the closed form for even ranks."""
    scale = request.size or 30
    scenario = replace(request.scenario(request.transport), size=float(scale))
    asked = align.scenario_of(scenario)
    cost = free if asked.ranks == 1 else by_transfer(message_of(system, scenario))
    cell = align.cell_of(device_of(system), asked)
    step = float(align.step_s(asked.length, asked.ranks, asked.bits, cell))
    blocks = ceil(asked.length / align.BLOCK)
    each = asked.tile // align.BLOCK
    tiles = [float(min(each, blocks - first)) for first in range(0, blocks, each)]
    timeline = _timeline(request)
    seconds = ssca1.Simulation(
        tiles,
        float(align.lanes(asked.bits)) - 1,
        [step * share for share in _uneven(request)],
        cost(1, asked.message_bytes),
        timeline,
    ).run()
    closed = sum(align.blocked_parts(asked, cell, cost).values())
    return Outcome(
        title=_title(system, request, f"scale {scale}", request.transport or "its messages"),
        seconds=seconds,
        value=asked.length**2 / seconds * 1e-9,
        metric="rate",
        unit="GCUPS",
        closed_s=None if request.imbalance else closed,
        shares=shares(timeline, request.ranks, seconds),
        timeline=timeline,
    )


def _uneven(request: SimulationRequest) -> list[float]:
    """Each rank's work over an even one's: within the imbalance, seeded; the first has the most."""
    drawn = np.random.default_rng(request.seed).uniform(-1, 1, request.ranks)
    drawn[0] = 1.0
    return [1 + request.imbalance * one for one in drawn.tolist()]


def _title(system: System, request: SimulationRequest, problem: str, transport: str) -> str:
    over = f", over {transport}" if request.ranks > 1 else ""
    grid = f"{request.rows} x {request.columns} rank{'s' * (request.ranks != 1)}"
    if request.graph:
        grid = f"a graph of {request.ranks} partition{'s' * (request.ranks != 1)}"
    return f"{request.benchmark} on {system.system.name}: {problem}, {grid}{over}"
