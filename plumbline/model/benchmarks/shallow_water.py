"""Shallow water on a partitioned mesh: throughput, and communication's share of a step.

Source: Meyer 2024, section 5.2.2, eq. 5.2 and 5.3. Elements are counted in elements, which are
cycles of the pipeline too, one each; D_ext and L_pipe are cycles. l_k, l_m and L_pingpong are
measured in seconds (section 5.2.3), f in hertz.

The two equations mix both: eq. 5.3 divides l_k and l_m by f as if they were cycles, adds L_pingpong
in seconds, and eq. 5.2 takes the larger of that and of cycles. :func:`comm_cycles` has everything
in cycles, the only unit in which eq. 5.2 is a rate.

*A forecast.* Shallow water: a step of a mesh of ``size`` elements, partitioned over all devices.

Partitions of the published meshes are those of tables A.1 and A.2; others are estimated from them
and marked. The metric counts 378 flops an element: what is printed (4.5 TFLOP/s on 48 devices at
312,320 elements, section 5.2.3) divided by our steps a second; FLOP_sum itself is not printed.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import Forecast, Scenario, device_of, size_of, too_many
from plumbline.model.prediction import Prediction
from plumbline.model.published import meshes
from plumbline.model.shared import Shared
from plumbline.model.transfer import transfer_of
from plumbline.system.system import System, known

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
        "message_s": float(transfer["link"]) + command_s,
    }


def _comm_cycles(
    system: System, scenario: Scenario, transport: str, clock: float, part: Partition
) -> float:
    """L_comm."""
    found = costs(system, scenario, transport, part)
    latencies = (found["command_s"], found["copy_s"], found["message_s"])
    return float(comm_cycles(clock, part.exchanged, part.neighbours, *latencies))
