"""The system file: a TOML description of a board or machine for the models.

A transfer is a sequence of *legs*: ``launch`` (an empty kernel, started and awaited), ``read``
(device memory to host), ``exchange`` (host to host), ``write`` (host to device memory): the
sub-steps of Meyer, "An OpenCL- and HLS-based Benchmark Suite for Reconfigurable Hardware in HPC"
(dissertation, Paderborn University, 2024), section 5.1.2. A leg is a list of segments by message
size, each a straight line (:mod:`plumbline.system.segments`); a device's limits are in
:mod:`plumbline.system.device`.

For b_eff n is 2r: r replications, each with both neighbours. There b(L) = 2 L / t counts the bytes
that one rank *sends*. The dissertation's eq. 4.2 also writes 2 L / t, but its eq. 4.7 sets t to the
time in which *one* message of L bytes is read, exchanged and written (n = 1) at the peak of each
leg, so its 2 L counts bytes sent and received: 6.06 GB/s for PCIe at 8 GB/s and a
network at 12.5 GB/s. With n = 2 the same legs take twice the time: b(L) is half of it, 3.03 GB/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from plumbline.base.errors import UsageError
from plumbline.base.toml import Table
from plumbline.system.device import Bytes, DeviceTable, GbPerS, Link, Mhz, Micros, joined
from plumbline.system.job import JobTable
from plumbline.system.operations import Nanos, Operation
from plumbline.system.segments import Segment, check_segments, time_of
from plumbline.system.synthesis import Preset, Synthesis, check_presets

Leg = Literal["launch", "read", "exchange", "write"]
# Legs of a transfer; a device's limits; its rate of random updates; one-sided operations of a
# world; ACCL's commands and copies; rates of applications' own loops; links between boards.
Need = Literal["legs", "device", "updates", "operations", "accl", "work", "channel"]
LOCAL = "local"
# By which a calibration is another machine's, or from before its software changed.
_ELSEWHERE = ("cpu", "devices", "driver", "platform", "library")
LEGS: tuple[Leg, ...] = ("launch", "read", "exchange", "write")


@dataclass(frozen=True)
class Point:
    """A leg measured: ``messages`` of ``message_bytes`` bytes each took ``seconds``."""

    messages: float
    message_bytes: int
    seconds: float


class Legs(Table):
    """The legs of a transfer; a leg without segments is unknown."""

    launch: list[Segment] = Field(default_factory=list)
    read: list[Segment] = Field(default_factory=list)
    exchange: list[Segment] = Field(default_factory=list)
    write: list[Segment] = Field(default_factory=list)

    @model_validator(mode="after")
    def _segments_follow_each_other(self) -> Self:
        for name in LEGS:
            check_segments(name, self.segments(name))
        return self

    def segments(self, name: Leg) -> list[Segment]:
        """The segments of one leg, by rising size."""
        segments: list[Segment] = getattr(self, name)
        return segments

    def time_s(self, name: Leg, messages: float, message_bytes: float) -> float | None:
        """Seconds that leg ``name`` takes for ``messages`` messages of ``message_bytes`` each.

        The messages are those that one rank handles at once. None if the leg is unknown.
        """
        return time_of(self.segments(name), messages, message_bytes)


class Conditions(Table):
    """Conditions of a calibration: runs under others are not compared with it.

    Conditions of transfers between ranks are ``none`` or 0 for a device's own figures.
    """

    cpu: str
    library: str
    ranks: int
    nodes: int
    cores_per_rank: int
    transport: str
    memory: str
    runtime: str = ""
    platform: str
    devices: list[str]
    driver: str
    form: str
    messages: int
    build_type: str


class CaseLaunches(Table):
    """One case of a calibration over its launches: the median of each, seconds of one count."""

    case: str
    seconds: list[Annotated[float, Field(gt=0)]]


class Commands(Table):
    """The time of one command of ACCL, scheduled by the host or by a kernel of the device."""

    host_us: Micros | None = None
    device_us: Micros | None = None
    source: str


class Copies(Table):
    """ACCL's copy from a receive buffer: fixed part and peak rate."""

    latency_us: Micros | None = None
    gb_s: GbPerS | None = None
    source: str


class Stack(Table):
    """A network stack of ACCL: a message's latency on a direct link, and peak rates.

    ``switch_us`` is the additional latency of a switch; ``switch_gb_s`` the rate through it.
    """

    name: Literal["udp", "tcp"]
    latency_us: Micros | None = None
    gb_s: GbPerS | None = None
    switch_us: Micros | None = None
    switch_gb_s: GbPerS | None = None
    relative_error: Annotated[float, Field(ge=0)] = 0.0
    source: str


class Accl(Table):
    """ACCL, a framework for messages between FPGAs by kernels or hosts (Meyer 2024, 5.1).

    Messages above ``eager_limit_bytes`` go by rendezvous (absent: none do). ``emulated``: what
    stands in for boards, whose figures these then are not.
    """

    commands: Commands | None = None
    copies: Copies | None = None
    stacks: list[Stack] = Field(default_factory=list)
    eager_limit_bytes: Bytes | None = None
    emulated: str | None = None


class Calibration(Table):
    """The figures of one calibration. ``request`` is the launch that required it.

    ``launches`` is the distribution over launches, of cases with several.
    """

    request: str
    started: str
    program: str
    seconds: float
    conditions: Conditions
    legs: Legs | None = None
    transfers: list[MeasuredTransfer] = Field(default_factory=list)
    device: DeviceTable | None = None
    accl: Accl | None = None
    operations: list[Operation] = Field(default_factory=list)
    launches: list[CaseLaunches] = Field(default_factory=list)

    @property
    def between(self) -> Between | None:
        """How launches differed, over all cases; None where no case has two."""
        freedom = sum(len(one.seconds) - 1 for one in self.launches)
        if freedom < 1:
            return None
        squares = 0.0
        for one in self.launches:
            logs = [log(second) for second in one.seconds]
            squares += sum((each - fmean(logs)) ** 2 for each in logs)
        most = max(len(one.seconds) for one in self.launches)
        return Between(sqrt(squares / freedom), most)

    @property
    def need(self) -> Need:
        """The kind of models that use it."""
        if self.device and self.device.work:
            return "work"
        if self.legs is not None:
            return "legs"
        if self.accl is not None:
            return "accl"
        if self.operations:
            return "operations"
        return "updates" if self.device and self.device.random else "device"

    def is_replaced_by(self, new: Calibration) -> bool:
        """Whether ``new`` is of the same kind and conditions."""
        return self.need == new.need and self.conditions == new.conditions


@dataclass(frozen=True)
class Between:
    """The standard deviation between ``launches`` launches, of the logarithm of a case's time."""

    deviation: float
    launches: int


class Identity(Table):
    """The system's name, and the source of its figures."""

    name: str
    description: str
    source: str


_Port = Annotated[str, Field(pattern=r"^[^=,:\s]+:acl\d+:ch\d+$")]
_Cable = Annotated[list[_Port], Field(min_length=2, max_length=2)]


class Channel(Table):
    """Serial links between boards: ``count`` channels per board of ``width_bytes`` per cycle.

    Absent figures are unknown; ``gb_s`` is one channel's rate, if clock and width are. ``cables``
    join two ports each, ``NODE:aclD:chP``: port P (a bitstream's manifest has their io channels) of
    device D of a node, by its host's name or its number in the run (``n00``).
    """

    count: Annotated[int, Field(ge=1)]
    gb_s: GbPerS | None = None
    latency_ns: Nanos | None = None
    frequency_mhz: Mhz | None = None
    width_bytes: Bytes | None = None
    cables: list[_Cable] = Field(default_factory=list)
    source: str

    @model_validator(mode="after")
    def _ports_have_one_cable(self) -> Self:
        ports = [port for cable in self.cables for port in cable]
        for port in ports:
            if ports.count(port) > 1:
                raise ValueError(f"two cables are in {port}")
        return self

    def channel_gb_s(self) -> float:
        """The rate of one channel in one direction."""
        if self.frequency_mhz is not None and self.width_bytes is not None:
            return self.width_bytes * self.frequency_mhz * 1e-3
        return known(self.gb_s, "gb_s", "channel")


class Machine(Table):
    """Numbers of components: ``devices_per_node`` in each of ``nodes``."""

    nodes: Annotated[int, Field(ge=1)]
    devices_per_node: Annotated[int, Field(ge=1)]
    network: str
    links: str = "none"
    source: str

    @property
    def devices(self) -> int:
        """All devices of the machine."""
        return self.nodes * self.devices_per_node


class MeasuredTransfer(Table):
    """A transport and approach whose messages were measured: segments by size, one direction."""

    transport: str
    approach: str | None = None
    segments: list[Segment]

    @model_validator(mode="after")
    def _segments_follow_each_other(self) -> Self:
        check_segments(f"the transport {self.transport}", self.segments)
        return self


_Known = TypeVar("_Known")


def known(figure: _Known | None, name: str, table: str) -> _Known:
    """``figure``. Raises :class:`UsageError` naming figure and table if unknown."""
    if figure is None:
        raise UsageError(f"the system file has no figure {name} in the table [{table}]")
    return figure


@dataclass(frozen=True)
class Figures:
    """A system's figures for the models under given conditions; None if unknown.

    ``by_all_ranks``: measured with all ranks at work, so that shared resources are shared.
    ``between``: differences between their launches, if there were several.
    """

    legs: Legs | None
    device: DeviceTable | None
    by_all_ranks: bool = False
    channel: Channel | None = None
    transfers: Sequence[MeasuredTransfer] = ()
    operations: Sequence[Operation] = ()
    between: Between | None = None

    def transfer(self, transport: str, approach: str | None) -> MeasuredTransfer | None:
        """The transfers of a transport measured as a whole, or None."""
        for one in self.transfers:
            if one.transport == transport and one.approach in (None, approach):
                return one
        return None

    def has(self, need: Need) -> bool:
        """Whether the figures of a need are known."""
        if need == "channel":
            return self.channel is not None
        if need == "operations":
            return bool(self.operations)
        if need == "work":
            return self.device is not None and bool(self.device.work or self.device.memory)
        if need == "legs" or self.device is None:
            return need == "legs" and self.legs is not None
        return need == "device" or bool(self.device.random or self.device.bitstreams)


class System(Table):
    """A whole system file. ``board`` names a system for figures that it lacks."""

    system: Identity
    board: str | None = None
    machine: Machine | None = None
    job: JobTable | None = None
    device: DeviceTable | None = None
    legs: Legs | None = None
    channel: Channel | None = None
    accl: Accl | None = None
    synthesis: Synthesis | None = None
    presets: list[Preset] = Field(default_factory=list)
    transfers: list[MeasuredTransfer] = Field(default_factory=list)
    operations: list[Operation] = Field(default_factory=list)
    calibrations: list[Calibration] = Field(default_factory=list)

    @model_validator(mode="after")
    def _presets_have_names(self) -> Self:
        check_presets(self.presets)
        return self

    def figures_under(self, conditions: Conditions) -> Figures:
        """The calibrations of exactly these conditions, otherwise the file's own figures."""
        # A device's own limits, and rates of own loops, are measured without a transport.
        alone = conditions.model_copy(update={"transport": "none", "form": "none", "messages": 0})
        made = [one for one in self.calibrations if one.conditions == conditions]
        made += [one for one in self.calibrations if one.conditions == alone and one not in made]
        if not made:
            own = [
                one
                for one in self.operations
                if (one.library, one.ranks) == (conditions.library, conditions.ranks)
            ]
            return Figures(
                self.legs,
                self.device,
                channel=self.channel,
                transfers=self.transfers,
                operations=own,
            )
        legs = next((one.legs for one in made if one.legs), None)
        tables = [one.device for one in made if one.device]
        table = joined(tables) if tables else None
        between = [one.between for one in made if one.between]
        return Figures(
            legs,
            table,
            between=max(between, key=lambda one: one.deviation, default=None),
            by_all_ranks=True,
            channel=self.channel,
            transfers=[transfer for one in made for transfer in one.transfers],
            operations=[row for one in made for row in one.operations],
        )

    def made_elsewhere(self, conditions: Conditions, need: Need) -> list[str]:
        """Calibrations of this kind that are not used, each with what differs in it."""
        told = []
        for one in self.calibrations:
            own, wanted = one.conditions.model_dump(), conditions.model_dump()
            differs = [name for name in _ELSEWHERE if own[name] != wanted[name]]
            if one.need == need and differs:
                name = differs[0]
                told.append(f"{one.started[:10]}, {name} {own[name]} (here {wanted[name]})")
        return told

    def on(self, board: System) -> System:
        """A copy with ``board``'s figures for those that it lacks.

        A device's tables are merged one by one; bitstreams are those of both, its own first.
        """
        own, other = self.device or DeviceTable(), board.device or DeviceTable()
        device = joined([own, other]).model_copy(
            update={"bitstreams": [*own.bitstreams, *other.bitstreams]}
        )
        changes = {
            name: getattr(self, name) or getattr(board, name)
            for name in ("channel", "accl", "synthesis", "transfers", "operations")
        }
        own_presets = {(preset.benchmark, preset.name) for preset in self.presets}
        changes["presets"] = self.presets + [
            preset for preset in board.presets if (preset.benchmark, preset.name) not in own_presets
        ]
        return self.model_copy(update={**changes, "device": device, "legs": _legs(self, device)})

    def answers(self, request: str) -> bool:
        """Whether a calibration was made for this request."""
        return any(calibration.request == request for calibration in self.calibrations)

    def with_calibration(self, new: Calibration) -> System:
        """A copy with ``new`` in place of the calibration of its kind and conditions."""
        kept = [old for old in self.calibrations if not old.is_replaced_by(new)]
        return self.model_copy(update={"calibrations": [*kept, new]})


def _legs(system: System, device: DeviceTable) -> Legs | None:
    """A machine's legs: its own, otherwise the board's link and launch."""
    if system.legs is None:
        return None
    link = device.link or Link()
    fallback = {"read": link.read, "write": link.write}
    if device.launch is not None:
        launch = Segment(latency_us=device.launch.wait_us, source=device.launch.source)
        fallback["launch"] = [launch]
    return Legs.model_validate(
        {name: system.legs.segments(name) or fallback.get(name, []) for name in LEGS}
    )
