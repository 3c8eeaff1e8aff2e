"""Shallow water: a step of a mesh of ``size`` elements, partitioned over all devices.

Partitions of the published meshes are taken from tables A.1 and A.2; others are estimated from
them and marked. The metric counts 378 flops an element: what is printed (4.5 TFLOP/s on 48 devices
at 312,320 elements, section 5.2.3) divided by our steps a second; FLOP_sum itself is not printed.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from plumbline.model.equations import shallow_water
from plumbline.model.forecast import Case, Point, device_of, size_of, too_many
from plumbline.model.published import meshes
from plumbline.model.transfer import transfer_of
from plumbline.system.system import System, known

METRIC, UNIT = "throughput", "GFLOP/s"
EQUATION = "f FLOP / (max(E_core + D_ext, L_comm) + E_send + E_recv + L_pipe); eq. 5.2 and 5.3"
SIZE = "elements of the whole mesh"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("stall",)
SENDS = True

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
    """6,784 elements, as of table A.1."""
    return [6784.0]


def partition(elements: float, devices: int) -> Partition:
    """The partition of a mesh over so many devices, looked up or estimated."""
    for p, total, core, exchanged, external, pipeline, near in meshes():
        if (p, total) == (devices, elements):
            return Partition(core, exchanged, external, pipeline, near, is_known=True)
    own = elements / devices
    near = min(devices - 1, _NEIGHBOURS)
    border = min(own, _BORDER * sqrt(own) * near / _NEIGHBOURS)
    return Partition(own - border, border, 0, PIPELINE, near, is_known=False)


def point(system: System, case: Case) -> Point:
    """One step of time. Operation ``stall``: the share of it that waits for messages."""
    elements = size_of(case, "size")
    transport = case.transport or "accl-udp-switch"
    kernel = _kernel(system, case, transport)
    clock = known(kernel, "shallow_water", "device.bitstreams") * 1e6
    part = partition(elements, case.ranks)
    comm = _comm_cycles(system, case, transport, clock, part) if case.ranks > 1 else 0.0
    figures = (part.core, part.external, comm, part.exchanged, part.pipeline)
    cycles = float(shallow_water.step_cycles(*figures))
    parts = {
        "elements": (part.core + part.external) / clock,
        "messages": comm / clock,
        "border and pipeline": (part.exchanged + part.pipeline) / clock,
    }
    bound = "messages" if parts["messages"] > parts["elements"] else "elements"
    beyond = too_many(system, case)
    if not part.is_known:
        beyond = beyond or "no published mesh has this partition: estimated"
    value = FLOP_AN_ELEMENT * elements * clock / cycles * 1e-9
    unit = ""
    if case.operation == "stall":
        unit, value = "%", 100 * float(shallow_water.stall_share(*figures))
    return Point(cycles / clock, value, bound, parts, None, beyond, unit)


def _kernel(system: System, case: Case, transport: str) -> float | None:
    """The clock in MHz of the variant named, else of the one that was made for the transport.

    Kernels know the stack that they send by; over hosts they know none.
    """
    wanted = case.kernel or (transport.removesuffix("-switch") if "accl" in transport else None)
    found = [
        one
        for one in device_of(system).bitstreams
        if (one.benchmark, one.name) == ("shallow_water", wanted)
    ]
    return found[0].frequency_mhz if found else None


def costs(system: System, case: Case, transport: str, part: Partition) -> dict[str, float]:
    """What eq. 5.3 takes: ``clock`` in hertz; seconds of a command, a copy in and a message.

    Over hosts the whole transfer is one message; by ACCL it is streamed out and buffered in.
    """
    clock = known(_kernel(system, case, transport), "shallow_water", "device.bitstreams") * 1e6
    message = part.exchanged * ELEMENT_BYTES
    if case.ranks == 1:
        return {"clock": clock, "command_s": 0.0, "copy_s": 0.0, "message_s": 0.0}
    if not transport.startswith("accl"):
        seconds = float(transfer_of(system, transport, case.approach).seconds(message))
        return {"clock": clock, "command_s": 0.0, "copy_s": 0.0, "message_s": seconds}
    way = transfer_of(system, transport, "device-buffered").parts_s(message / part.neighbours)
    command_s = float(way["commands"]) / 2
    return {
        "clock": clock,
        "command_s": command_s,
        "copy_s": float(way["copy"]),
        "message_s": float(way["link"]) + command_s,
    }


def _comm_cycles(
    system: System, case: Case, transport: str, clock: float, part: Partition
) -> float:
    """L_comm."""
    found = costs(system, case, transport, part)
    latencies = (found["command_s"], found["copy_s"], found["message_s"])
    return float(shallow_water.comm_cycles(clock, part.exchanged, part.neighbours, *latencies))
