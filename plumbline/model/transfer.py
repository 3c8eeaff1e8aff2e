"""A system's transfers of messages from one device's memory to another's.

Each :class:`Transfer` contains a system's figures and accepts arrays of sizes. The equations are
those of :mod:`plumbline.model.messages`.

=============  ==================  ============================================================
transport      approach            time of one message of L bytes, one direction
=============  ==================  ============================================================
mpi            host-buffered       exchange, between host memories (no device's memory)
staged         host-buffered       read + exchange + write (eq. 4.2)
staged-launch  host-buffered       launch + read + exchange + write + launch (section 5.1.2)
channel        device-streaming    ceil(L / (2 c_w)) / c_f + c_l (eq. 4.3, i = 1)
accl-S         H-buffered          2 l_k + l_m + l_c (eq. 5.1); S is udp or tcp, H host or device
accl-S         H-buffered          the same above the eager limit: 2 l_k + l_c(64 B) + l_c(L)
accl-S         H-streaming         l_k + l_c (section 5.1.4)
accl-S-switch  the same            l_c with what the Ethernet switch adds (section 5.1.5)
=============  ==================  ============================================================

A system's own ``[[transfers]]``, measured or fitted, precede these and replace those of the same
transport and approach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.model import messages
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.legs import LEGS_OF
from plumbline.system.operations import BOTH_WAYS, ONE_WAY
from plumbline.system.segments import Segment
from plumbline.system.system import LEGS, Accl, Legs, MeasuredTransfer, Stack, System, known

HOST, STREAM = "host-buffered", "device-streaming"


@dataclass(frozen=True)
class Transfer:
    """A transport and approach for messages between two devices' memories.

    ``smallest_bytes`` and ``largest_bytes`` (None: no limit) bound the range of its
    figures: outside, its times are extrapolated. ``relative_error`` is that of its figures, 0 for
    figures printed by the source; ``parts`` names the terms of its time; ``emulated`` figures are
    of no board.
    """

    transport: str
    approach: str | None
    smallest_bytes: int
    largest_bytes: int | None
    relative_error: float
    source: str
    parts: dict[str, Callable[[Floats], Floats]] = field(repr=False)
    emulated: str | None = None  # what stands in for boards

    @property
    def name(self) -> str:
        """Transport and approach in one word."""
        return f"{self.transport}/{self.approach}" if self.approach else self.transport

    def seconds(self, message_bytes: ArrayLike) -> Floats:
        """Seconds for one message in one direction; of the shape of ``message_bytes``."""
        size = floats(message_bytes)
        total = np.zeros_like(size)
        for part in self.parts.values():
            total = total + part(size)
        return floats(total)

    def parts_s(self, message_bytes: ArrayLike) -> dict[str, Floats]:
        """The parts that :meth:`seconds` adds up, each of the shape of ``message_bytes``."""
        size = floats(message_bytes)
        return {name: part(size) for name, part in self.parts.items()}

    def is_extrapolated(self, message_bytes: ArrayLike) -> np.ndarray:
        """Whether sizes are out of the figures' range; of the shape of ``message_bytes``."""
        size = floats(message_bytes)
        above = size > self.largest_bytes if self.largest_bytes else np.zeros_like(size, bool)
        return np.asarray((size < self.smallest_bytes) | above)


def transfers_of(system: System) -> list[Transfer]:
    """Every transfer for which ``system`` has all figures."""
    found: list[Transfer] = []
    for wanted in _makers(system):
        try:
            made = wanted.make()
        except UsageError:
            continue  # for the message if requested by name
        if all((one.transport, one.approach) != (made.transport, made.approach) for one in found):
            found.append(made)
    return found


def transfer_of(system: System, transport: str, approach: str | None = None) -> Transfer:
    """The transfer of that name; without an approach the first of that transport.

    Raises :class:`UsageError` naming the missing figure and its table, or, with the closest one, an
    unknown transport or approach.
    """
    makers = list(_makers(system))
    names = list(dict.fromkeys(maker.transport for maker in makers))
    if transport not in names:
        raise UsageError(
            f"unknown transport {transport} "
            f"(choose from {', '.join(names)}){did_you_mean(transport, names)}"
        )
    fitting = [maker for maker in makers if maker.transport == transport]
    if approach is None:
        return fitting[0].make()
    approaches = [maker.approach or "" for maker in fitting]
    if approach not in approaches:
        raise UsageError(
            f"the transport {transport} has no approach {approach} "
            f"(choose from {', '.join(approaches)}){did_you_mean(approach, approaches)}"
        )
    return fitting[approaches.index(approach)].make()


class _Maker(NamedTuple):
    transport: str
    approach: str | None
    make: Callable[[], Transfer]


def _makers(system: System) -> Iterator[_Maker]:
    for transfer in _own_transfers(system):
        yield _Maker(transfer.transport, transfer.approach, partial(_measured, transfer))
    for transport in LEGS_OF:
        yield _Maker(transport, HOST, partial(_by_legs, system, transport))
    yield _Maker("channel", STREAM, partial(_by_channel, system))
    names = ["udp", "tcp"]
    for name, switch in product(names, (False, True)):
        transport = f"accl-{name}-switch" if switch else f"accl-{name}"
        for scheduled, lands in product(("device", "host"), ("streaming", "buffered")):
            make = partial(_by_accl, system, transport, name, switch, scheduled, lands)
            yield _Maker(transport, f"{scheduled}-{lands}", make)


def _measured(transfer: MeasuredTransfer) -> Transfer:
    return Transfer(
        transfer.transport,
        transfer.approach,
        0,
        _largest([transfer.segments]),
        _error([transfer.segments]),
        transfer.segments[0].source if transfer.segments else "",
        {transfer.transport: partial(segments_s, transfer.segments)},
    )


def _by_legs(system: System, transport: str) -> Transfer:
    legs = _own_legs(system)
    lists: list[list[Segment]] = []
    parts: dict[str, Callable[[Floats], Floats]] = {}
    for leg in LEGS_OF[transport]:
        segments = known((legs.segments(leg) if legs else None) or None, leg, "legs")
        lists.append(segments)
        parts[f"{leg} again" if leg in parts else leg] = partial(segments_s, segments)
    sources = dict.fromkeys(segment.source for segments in lists for segment in segments)
    source = "; ".join(sources)
    return Transfer(transport, HOST, 0, _largest(lists), _error(lists), source, parts)


def _own_transfers(system: System) -> list[MeasuredTransfer]:
    """The file's own transfers, otherwise those of its calibrations, the newest first.

    Without those of single messages between hosts, which are no transport's.
    """
    calibrated = [
        transfer
        for one in reversed(system.calibrations)
        for transfer in one.transfers
        if transfer.transport not in (ONE_WAY, BOTH_WAYS)
    ]
    return system.transfers or calibrated


def _own_legs(system: System) -> Legs | None:
    """The file's own legs, otherwise those of the newest calibration with the most legs."""
    if system.legs is not None:
        return system.legs
    calibrated = [one.legs for one in system.calibrations if one.legs is not None]
    return max(reversed(calibrated), key=_number_known, default=None)


def _number_known(legs: Legs) -> int:
    return sum(bool(legs.segments(leg)) for leg in LEGS)


def _by_channel(system: System) -> Transfer:
    channel = known(system.channel, "count", "channel")
    latency_s = known(channel.latency_ns, "latency_ns", "channel") * 1e-9
    width = known(channel.width_bytes, "width_bytes", "channel")
    clock = known(channel.frequency_mhz, "frequency_mhz", "channel") * 1e6
    parts: dict[str, Callable[[Floats], Floats]] = {
        "clock": lambda size: messages.channel_s(size, width, clock, 0),
        "latency": lambda size: np.full_like(size, latency_s),
    }
    return Transfer("channel", STREAM, 0, None, 0.0, channel.source, parts)


def _by_accl(
    system: System, transport: str, name: str, switch: bool, scheduled: str, lands: str
) -> Transfer:
    table = known(_own_accl(system, name), "commands", "accl")
    stack = _stack(table, name)
    link: Callable[[Floats], Floats] = partial(messages.link_s, **_link_figures(stack, switch))
    commands = known(table.commands, "commands", "accl")
    by_host = scheduled == "host"
    command_us = commands.host_us if by_host else commands.device_us
    command_s = known(command_us, f"{scheduled}_us", "accl.commands") * 1e-6
    number = 1 if lands == "streaming" else 2
    parts: dict[str, Callable[[Floats], Floats]] = {
        "commands": lambda size: np.full_like(size, number * command_s),
        "link": link,
    }
    sources = [commands.source, stack.source]
    if lands == "buffered":
        copies = known(table.copies, "copies", "accl")
        latency_s = known(copies.latency_us, "latency_us", "accl.copies") * 1e-6
        rate = known(copies.gb_s, "gb_s", "accl.copies") * 1e9
        limit = table.eager_limit_bytes or np.inf
        parts["copy"] = lambda size: np.where(
            size > limit, 0.0, messages.copy_s(size, latency_s, rate)
        )
        if table.eager_limit_bytes:
            parts["address"] = lambda size: np.where(
                size > limit, link(np.full_like(size, messages.HEADER_BYTES)), 0.0
            )
        sources.append(copies.source)
    return Transfer(
        transport,
        f"{scheduled}-{lands}",
        0,
        None,
        stack.relative_error,
        "; ".join([*dict.fromkeys(sources), *([table.emulated] if table.emulated else [])]),
        parts,
        table.emulated,
    )


def _own_accl(system: System, stack: str) -> Accl | None:
    """The file's own figures, otherwise those of its newest calibration over that stack."""
    calibrated = [one.accl for one in reversed(system.calibrations) if one.accl is not None]
    fitting = (one for one in calibrated if any(each.name == stack for each in one.stacks))
    return system.accl or next(fitting, None)


def _stack(table: Accl, name: str) -> Stack:
    found = next((stack for stack in table.stacks if stack.name == name), None)
    return known(found, name, "accl.stacks")


def _link_figures(stack: Stack, switch: bool) -> dict[str, float]:
    of = f"accl.stacks.{stack.name}"
    latency_us = known(stack.latency_us, "latency_us", of)
    if not switch:
        return {"latency_s": latency_us * 1e-6, "rate": known(stack.gb_s, "gb_s", of) * 1e9}
    rate = stack.switch_gb_s or stack.gb_s
    return {
        "latency_s": latency_us * 1e-6,
        "switch_s": known(stack.switch_us, "switch_us", of) * 1e-6,
        "rate": known(rate, "switch_gb_s", of) * 1e9,
    }


def segments_s(segments: Sequence[Segment], message_bytes: ArrayLike) -> Floats:
    """Seconds for one message of each size by the segment that the size falls into."""
    size = floats(message_bytes)
    if len(segments) == 1:
        return floats(segments[0].time_s(1, size) + np.zeros_like(size))
    limits = floats([one.up_to_bytes for one in segments if one.up_to_bytes is not None])
    which = np.searchsorted(limits, size, side="left")
    found = np.empty_like(size)
    for number, segment in enumerate(segments):
        here = which == number
        found[here] = segment.time_s(1, size[here])
    return found


def _largest(lists: Sequence[Sequence[Segment]]) -> int | None:
    limits = [segments[-1].largest_bytes for segments in lists if segments]
    return min((limit for limit in limits if limit is not None), default=None)


def _error(lists: Sequence[Sequence[Segment]]) -> float:
    """The maximum over the fits, which bounds the relative error of the sum."""
    return max((one.worst_error or 0.0 for segments in lists for one in segments), default=0.0)
