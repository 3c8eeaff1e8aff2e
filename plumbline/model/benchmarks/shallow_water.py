"""Shallow water on a partitioned mesh: throughput, and communication's share of a step.

Source: Meyer 2024, section 5.2.2, eq. 5.2 and 5.3. Elements are counted in elements, which are
cycles of the pipeline too, one each; D_ext and L_pipe are cycles. l_k, l_m and L_pingpong are
measured in seconds (section 5.2.3), f in hertz.

The two equations mix both: eq. 5.3 divides l_k and l_m by f as if they were cycles, adds L_pingpong
in seconds, and eq. 5.2 takes the larger of that and of cycles. :func:`comm_cycles` has everything
in cycles, the only unit in which eq. 5.2 is a rate.

*A case of a record.* Eq. 5.2 and 5.3 in seconds, for a stage on the run's own partitions: the core
at a measured rate of elements while the messages travel (commands, and the transport's transfer,
whose last leg is the copy out of a buffer), then the border. Where the border has a queue of its
own (GPUs), all of it runs beside the core. On runtime ``native`` nothing does: the cores that move
messages are those that compute. A persistent kernel (scheduled by the device) starts no kernels and
gives no commands in a stage: its groups meet instead, all at its end, and those of the border with
the kernels that brought the halo. One launch counts for a sample.

*A forecast.* Shallow water: a step of a mesh of ``size`` elements, partitioned over all devices: on
boards by the equations in cycles, on other devices as a case of p = 0 in ``float`` or ``double``,
persistent where the approach is scheduled by the device.

Partitions of the published meshes are those of tables A.1 and A.2; others are estimated from them
and marked. The metric counts 378 flops an element: what is printed (4.5 TFLOP/s on 48 devices at
312,320 elements, section 5.2.3) divided by our steps a second; FLOP_sum itself is not printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import sqrt
from typing import NamedTuple

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    device_of,
    message_of,
    size_of,
    too_many,
)
from plumbline.model.message_cost import Cost, by_transfer, by_transport, exposed_s, free
from plumbline.model.own_work import rate, undisturbed_s
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.published import meshes
from plumbline.model.shared import Shared
from plumbline.model.transfer import transfer_of
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------


def printed_throughput(
    f: ArrayLike,
    flop_total: ArrayLike,
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """Eq. 5.2: f FLOP_total / (max(E_core + D_ext, L_comm) + E_send + E_recv + L_pipe)."""
    cycles = step_cycles(e_core, d_ext, l_comm, e_exchanged, l_pipe)
    return floats(floats(f) * floats(flop_total) / cycles)


def printed_comm(
    f: ArrayLike,
    e_exchanged: ArrayLike,
    n_max: ArrayLike,
    l_k: ArrayLike,
    l_m: ArrayLike,
    l_pingpong: ArrayLike,
) -> Floats:
    """Eq. 5.3 as printed: (E_send + E_recv + 2 N_max l_k + N_max l_m) / f + L_pingpong."""
    near = floats(n_max)
    return floats(
        (floats(e_exchanged) + 2 * near * floats(l_k) + near * floats(l_m)) / floats(f)
        + floats(l_pingpong)
    )


def comm_cycles(
    f: ArrayLike,
    e_exchanged: ArrayLike,
    n_max: ArrayLike,
    l_k: ArrayLike,
    l_m: ArrayLike,
    l_pingpong: ArrayLike,
) -> Floats:
    """Eq. 5.3 in cycles, of latencies in seconds; 0 where there is no neighbour."""
    near = floats(n_max)
    latencies = 2 * near * floats(l_k) + near * floats(l_m) + floats(l_pingpong)
    return floats(np.where(near > 0, floats(e_exchanged) + floats(f) * latencies, 0.0))


def step_cycles(
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """Eq. 5.2's denominator: cycles of one step of time."""
    busy = np.maximum(floats(e_core) + floats(d_ext), floats(l_comm))
    return floats(busy + floats(e_exchanged) + floats(l_pipe))


def stall_share(
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """The share of a step in which the pipeline waits for messages (section 5.2.3: 75 to 80 %)."""
    waits = np.maximum(0.0, floats(l_comm) - floats(e_core) - floats(d_ext))
    return floats(waits / step_cycles(e_core, d_ext, l_comm, e_exchanged, l_pipe))


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "shallow_water"
NEEDS: Need = "work"
TRANSPORTS = frozenset(
    ("none", "local", "mpi", "shmem", "staged", "pipelined", "peer", "nccl", "mpi-device")
)
ELEMENTS = Bound("elements", advice="More ranks have fewer elements each.")
BORDER = Bound("border", advice="--partitioner metis makes borders shorter.")
MESSAGES = Bound("messages", advice="The core is too small to cover them: fewer ranks.")
LAUNCHES = Bound("launch", "launch")
MEETINGS = Bound("meetings", advice="Groups wait for each other each stage: fewer ranks.")
KERNELS = 4  # of a stage: packing, core, unpacking, border
COMMANDS = 2  # of them for the exchange (l_k)
WORTH_SHARING = 2048  # elements of a kernel of `native`; a shorter one is one core's
_NUMBER_BYTES = {"float": 4, "double": 8}
_GEOMETRY, _INDEX_BYTES = 10, 3 * 4  # numbers and neighbours of an element


@dataclass(frozen=True)
class Own:
    """A rank's partition in a run: elements of core and border, neighbours, bytes of a message.

    ``cores`` share a kernel's elements, if it has :data:`WORTH_SHARING`.
    """

    core: float
    border: float
    neighbours: float
    message_bytes: float
    cores: int = 1

    def weighed(self, elements: float) -> float:
        """Elements of a kernel; of a short one as many as the cores could have computed."""
        return elements * self.cores if elements < WORTH_SHARING else elements

    @property
    def elements(self) -> float:
        """Core and border."""
        return self.core + self.border


@dataclass(frozen=True)
class Numerics:
    """What an element costs in a stage: its operations, and bytes read and written."""

    part: str
    flops: float
    read: float
    written: float

    @property
    def held(self) -> float:
        """Bytes of an element."""
        return self.read + self.written


def describe(record: Record, _figures: Figures) -> str:
    """The equation."""
    fixed = "meetings" if any(_stays(case) for case in record.cases) else "launches"
    return f"stages (max(core, messages) + border + {fixed}); eq. 5.2 and 5.3 in seconds"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of a step."""
    return {case.key: _expected(record, case, figures) for case in record.cases}


def _expected(record: Record, case: Case, figures: Figures) -> Prediction:
    try:
        own, numerics = partitions_of(record, case), numerics_of(case)
        device = figures.device or DeviceTable()
        cost = free if len(own) == 1 else by_transport(record, figures)
        fixed = _fixed(device, None if not _stays(case) else case.count)
        stages = float(str(case.facts["stages"]))
        return _step(own, numerics, device, cost, fixed, stages, _beside(record, case))
    except UsageError as error:
        return Prediction.unknown(str(error))


class Beside(Enum):
    """What a stage does while the core is computed."""

    NOTHING = 0
    MESSAGES = 1
    BORDER = 2  # with packing, messages and unpacking


def _beside(record: Record, case: Case) -> Beside:
    if case.facts.get("overlap") is False or _is_native(record):
        return Beside.NOTHING
    return Beside.BORDER if case.facts.get("border_apart") else Beside.MESSAGES


def _is_native(record: Record) -> bool:
    """Whether the cores that move messages are those that compute."""
    return any(rank.device and rank.device.runtime == "native" for rank in record.ranks)


def _stays(case: Case) -> bool:
    """Whether one kernel ran all steps."""
    return case.facts.get("schedule") == "device"


@dataclass(frozen=True)
class Fixed:
    """Seconds of a launch, or of a meeting of groups, and a step's share of a sample's start.

    ``stays``: the kernel is persistent, so its groups meet, and nothing is started in a stage.
    """

    stays: bool
    each_s: float
    step_s: float = 0.0


def _fixed(device: DeviceTable, steps: int | None) -> Fixed:
    """Of launches; of meetings for the number of ``steps`` of a persistent kernel."""
    launch = device.launch
    if steps is None:
        return Fixed(stays=False, each_s=((launch.row_us or 0.0) if launch else 0.0) * 1e-6)
    meet_us = known(launch.meet_us if launch else None, "meet_us", "device.launch")
    assert launch is not None
    return Fixed(stays=True, each_s=meet_us * 1e-6, step_s=launch.wait_us * 1e-6 / steps)


def _step(
    own: Sequence[Own],
    numerics: Numerics,
    device: DeviceTable,
    cost: Cost,
    fixed: Fixed,
    stages: float,
    beside: Beside,
) -> Prediction:
    """A step on the slowest rank."""
    each = [_parts(one, numerics, device, cost, fixed, beside) for one in own]
    slowest = max(each, key=lambda parts: sum(parts.values()))
    parts = {name: stages * one for name, one in slowest.items()}
    parts[LAUNCHES] = parts.get(LAUNCHES, 0.0) + fixed.step_s
    return Prediction.in_turn({name: seconds for name, seconds in parts.items() if seconds})


def partitions_of(record: Record, case: Case) -> list[Own]:
    """The partitions of a run. Raises :class:`UsageError` for a record without them."""
    given, stages = case.facts.get("partitions"), case.facts.get("stages")
    if not isinstance(given, list) or not isinstance(stages, int):
        raise UsageError("the record has no partitions")
    works = case.work_by_rank or [case.work] * record.world.ranks
    found: list[Own] = []
    for one, work, rank in zip(given, works, record.ranks, strict=True):
        assert isinstance(one, dict)
        elements, core = float(str(one["elements"])), float(str(one["core"]))
        near = float(str(one["neighbours"]))
        message = work.bytes_sent / stages / near if near else 0.0
        cores = len(rank.cores) if _is_native(record) else 1
        if case.facts.get("overlap") is False:  # one kernel computes all
            core = elements
        found.append(Own(core, elements - core, near, message, max(cores, 1)))
    return found


def numerics_of(case: Case) -> Numerics:
    """An element's work in a stage: own state read (and an earlier one) and written, geometry."""
    flops = float(str(case.facts["flops_per_element_and_step"])) / float(str(case.facts["stages"]))
    return _numerics(case.label("type"), int(str(case.labels["order"])), flops)


def _numerics(kind: str, order: int, flops: float) -> Numerics:
    size, state = _NUMBER_BYTES[kind], 3 * (order + 1) * (order + 2) / 2
    read = (2 * state + _GEOMETRY) * size + _INDEX_BYTES
    return Numerics(f"{kind}/{order}", flops, read, state * size)


def _parts(
    own: Own, numerics: Numerics, device: DeviceTable, cost: Cost, fixed: Fixed, beside: Beside
) -> dict[str, float]:
    """The terms of a stage on one rank."""
    each = elements_s(device, numerics, own.elements) / own.elements
    core_s, border_s = own.weighed(own.core) * each, own.weighed(own.border) * each
    sends = own.neighbours > 0
    handed_s = (1 if fixed.stays else COMMANDS) * fixed.each_s
    comm_s = cost(own.neighbours, own.message_bytes) + handed_s if sends else 0.0
    rest_s = (KERNELS - COMMANDS if sends and not fixed.stays else 1) * fixed.each_s
    name = MEETINGS if fixed.stays else LAUNCHES
    if sends and beside is Beside.BORDER:  # whose kernel starts beside the core's
        rest_s = fixed.each_s
        waits = exposed_s(comm_s + border_s + rest_s, core_s)
        shown = min(border_s, waits)
        return {ELEMENTS: core_s, BORDER: shown, MESSAGES: waits - shown, name: rest_s}
    exposed = exposed_s(comm_s, 0.0 if beside is Beside.NOTHING else core_s)
    return {ELEMENTS: core_s, BORDER: border_s, MESSAGES: exposed, name: rest_s}


def elements_s(device: DeviceTable, numerics: Numerics, elements: float) -> float:
    """Seconds of a stage's elements at their measured rate, otherwise by the roofline."""
    measured = device.work_s(BENCHMARK, elements, elements * numerics.held, numerics.part)
    if measured is not None:
        return measured
    read, written = elements * numerics.read, elements * numerics.written
    memory = known(device.memory_s(read, written), "gb_s", "device.memory")
    kind = numerics.part.partition("/")[0]
    return max(memory, device.peak_s(elements * numerics.flops, kind, matrix=False) or 0.0)


# --- a calibration --------------------------------------------------------------------------------

runs = tuple(
    (
        *("--runtime", "native", "--size", size, "--order", order, "--type", kind),
        *("--steps", "10", "--reference-steps", "1"),
    )
    for kind, sizes_of in (("float", "357"), ("double", "37"))
    for size in sizes_of
    for order in "012"
)


def learn(
    records: Sequence[Record], cost: Cost, source: str, device: DeviceTable | None = None
) -> list[OwnWork]:
    """Rates of elements, by what messages and ``device``'s launch leave of a stage.

    Of the slowest rank; persistent kernels, which launch nothing, teach none.
    """
    launch_s = _fixed(device or DeviceTable(), None).each_s
    rows: list[OwnWork] = []
    for record, case in ((one, case) for one in records for case in one.cases):
        if case.summary is None or not case.has_figures or _stays(case):
            continue
        own = max(partitions_of(record, case), key=lambda one: one.elements)
        numerics = numerics_of(case)
        weighed = own.weighed(own.core) + own.weighed(own.border)
        whole = undisturbed_s(case) / float(str(case.facts["stages"]))
        stage = element = max(whole - launch_s, whole / 4) / weighed
        comm = cost(own.neighbours, own.message_bytes) if own.neighbours else 0.0
        for _ in range(8):
            exposed = comm if _is_native(record) else exposed_s(comm, own.core * element)
            element = max(stage - exposed / weighed, stage / 4)
        held = own.elements * numerics.held
        rows.append(rate(BENCHMARK, numerics.part, 1, element, source, held))
    return rows


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "throughput", "GFLOP/s"
EQUATION = "f FLOP / (max(E_core + D_ext, L_comm) + E_send + E_recv + L_pipe); eq. 5.2 and 5.3"
SIZE = "elements of the whole mesh"
GROWS = "ranks"
RANKS = (2,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("stall",)
SENDS = True
SHARED = Shared("size", 1, logarithm=True)  # 1,696 elements times a power of two
SCALED = "updates"

FLOP_AN_ELEMENT = 378
ELEMENT_BYTES = 64  # one word of ACCL's stream, 512 bit (section 5.2.1)
# Of the published partitions with two neighbours and more: elements of the border are about 3.2
# times the square root of a partition's, and none has more than 9 neighbours.
_BORDER, _NEIGHBOURS, PIPELINE = 3.2, 8, 687
STEPS = 1000  # of a persistent kernel


class Partition(NamedTuple):
    """The slowest partition of a mesh, as in tables A.1 and A.2."""

    core: float
    exchanged: float
    external: float
    pipeline: float
    neighbours: float
    is_known: bool


def sizes(_system: System) -> list[float]:
    """6,784 elements, as in table A.1."""
    return [6784.0]


def partition(elements: float, devices: int) -> Partition:
    """The partition of a mesh over ``devices`` devices, looked up or estimated."""
    for p, total, core, exchanged, external, pipeline, near in meshes():
        if (p, total) == (devices, elements):
            return Partition(core, exchanged, external, pipeline, near, is_known=True)
    own = elements / devices
    near = min(devices - 1, _NEIGHBOURS)
    border = min(own, _BORDER * sqrt(own) * near / _NEIGHBOURS)
    return Partition(own - border, border, 0, PIPELINE, near, is_known=False)


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One step of time. Operation ``stall``: the share of it that waits for messages."""
    elements = size_of(scenario, "size")
    if not device_of(system).bitstreams and scenario.kernel is None:
        return _forecast_of_kernels(system, scenario, elements)
    transport = scenario.transport or "accl-udp-switch"
    kernel = _kernel(system, scenario, transport)
    clock = known(kernel, "shallow_water", "device.bitstreams") * 1e6
    part = partition(elements, scenario.ranks)
    comm = _comm_cycles(system, scenario, transport, clock, part) if scenario.ranks > 1 else 0.0
    figures = (part.core, part.external, comm, part.exchanged, part.pipeline)
    cycles = float(step_cycles(*figures))
    parts = {
        "elements": (part.core + part.external) / clock,
        "messages": comm / clock,
        "border and pipeline": (part.exchanged + part.pipeline) / clock,
    }
    bound = "messages" if parts["messages"] > parts["elements"] else "elements"
    beyond = too_many(system, scenario)
    if not part.is_known:
        beyond = beyond or "no published mesh has this partition: estimated"
    value = FLOP_AN_ELEMENT * elements * clock / cycles * 1e-9
    unit = ""
    if scenario.operation == "stall":
        unit, value = "%", 100 * float(stall_share(*figures))
    return Forecast(Prediction(cycles / clock, bound, parts), value, None, beyond, unit)


def _forecast_of_kernels(system: System, scenario: Scenario, elements: float) -> Forecast:
    """A step of p = 0 on devices other than boards."""
    size = _NUMBER_BYTES.get(scenario.type)
    if size is None:
        raise UsageError(f"shallow_water computes in float or double, not {scenario.type}")
    part, device = partition(elements, scenario.ranks), device_of(system)
    cost: Cost = free
    border = 0.0
    stays = (scenario.approach or "").startswith("device")
    if scenario.ranks > 1:
        transfer = message_of(system, scenario)
        stays = (transfer.approach or "").startswith("device")
        cost, border = by_transfer(transfer), part.exchanged
    near = part.neighbours if scenario.ranks > 1 else 0
    message = 3 * size * border / near if near else 0.0
    own = Own(max(elements / scenario.ranks - border, 0), border, near, message)
    numerics = _numerics(scenario.type, 0, FLOP_AN_ELEMENT)
    fixed = _fixed(device, STEPS if stays else None)
    found = _step([own], numerics, device, cost, fixed, 1, Beside.MESSAGES)
    beyond = too_many(system, scenario)
    if not part.is_known and near:
        beyond = beyond or "no published mesh has this partition: estimated"
    unit, value = "", FLOP_AN_ELEMENT * elements / found.time_s * 1e-9
    if scenario.operation == "stall":
        unit, value = "%", 100 * found.parts.get(MESSAGES, 0.0) / found.time_s
    return Forecast(found, value, None, beyond, unit)


def _kernel(system: System, scenario: Scenario, transport: str) -> float | None:
    """The clock in MHz of the named variant, otherwise of the one for the transport.

    Kernels are synthesised for a network stack; over hosts for none.
    """
    wanted = scenario.kernel or (transport.removesuffix("-switch") if "accl" in transport else None)
    found = [
        one
        for one in device_of(system).bitstreams
        if (one.benchmark, one.name) == ("shallow_water", wanted)
    ]
    return found[0].frequency_mhz if found else None


def costs(system: System, scenario: Scenario, transport: str, part: Partition) -> dict[str, float]:
    """The inputs of eq. 5.3: ``clock`` in hertz; seconds of a command, a copy in and a message.

    Over hosts the whole transfer is one message; by ACCL it is streamed out and buffered in.
    """
    clock = known(_kernel(system, scenario, transport), "shallow_water", "device.bitstreams") * 1e6
    message = part.exchanged * ELEMENT_BYTES
    if scenario.ranks == 1:
        return {"clock": clock, "command_s": 0.0, "copy_s": 0.0, "message_s": 0.0}
    if not transport.startswith("accl"):
        seconds = float(transfer_of(system, transport, scenario.approach).seconds(message))
        return {"clock": clock, "command_s": 0.0, "copy_s": 0.0, "message_s": seconds}
    transfer = transfer_of(system, transport, "device-buffered").parts_s(message / part.neighbours)
    command_s = float(transfer["commands"]) / 2
    return {
        "clock": clock,
        "command_s": command_s,
        "copy_s": float(transfer["copy"]),
        "message_s": float(transfer["link"]) + float(transfer.get("address", 0.0)) + command_s,
    }


def _comm_cycles(
    system: System, scenario: Scenario, transport: str, clock: float, part: Partition
) -> float:
    """L_comm."""
    found = costs(system, scenario, transport, part)
    latencies = (found["command_s"], found["copy_s"], found["message_s"])
    return float(comm_cycles(clock, part.exchanged, part.neighbours, *latencies))
