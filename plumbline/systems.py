"""The system file: a TOML description of a board or machine, as far as the models need it.

A transfer is a row of *legs*: ``launch`` (an empty kernel, started and awaited), ``read`` (device
memory to host), ``exchange`` (host to host), ``write`` (host to device memory): the sub-steps of
Meyer, "An OpenCL- and HLS-based Benchmark Suite for Reconfigurable Hardware in HPC" (dissertation,
Paderborn University, 2024), section 5.1.2. A leg is a list of segments by message size, each a
straight line (:mod:`plumbline.segments`); what one device can do at most is in
:mod:`plumbline.device_table`.

For b_eff n is 2r: r replications, each with both neighbours. There b(L) = 2 L / t counts the bytes
that one rank *sends*. The dissertation's eq. 4.2 also writes 2 L / t, but its eq. 4.7 sets t to the
time in which *one* message of L bytes is read, exchanged and written (n = 1) at the peak of each
leg, so that its 2 L counts what is sent and what is received: 6.06 GB/s for PCIe at 8 GB/s and a
network at 12.5 GB/s. With n = 2 the same legs take twice the time: b(L) is half of it, 3.03 GB/s.
"""

from __future__ import annotations

import math
import os
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from plumbline.device_table import DeviceTable, joined
from plumbline.errors import UsageError, did_you_mean
from plumbline.explain import first_problem
from plumbline.home import Home
from plumbline.segments import Segment, check_segments, time_of
from plumbline.tables import Table, toml_lines

Leg = Literal["launch", "read", "exchange", "write"]
# Legs of a transfer; a device's limits; how fast it updates random words; links between boards.
Need = Literal["legs", "device", "updates", "channel"]
LOCAL = "local"
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

        The messages are those that one rank handles at once. None where the leg is unknown.
        """
        return time_of(self.segments(name), messages, message_bytes)


class Conditions(Table):
    """Under what a calibration was measured: a run under others is not compared with it.

    What only transfers between ranks depend on is ``none`` or 0 for a device's own figures.
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


class Calibration(Table):
    """What one calibration found. ``request`` is the launch that asked for it."""

    request: str
    started: str
    program: str
    seconds: float
    conditions: Conditions
    legs: Legs | None = None
    device: DeviceTable | None = None

    @property
    def need(self) -> Need:
        """What it was made for."""
        if self.legs is not None:
            return "legs"
        return "updates" if self.device and self.device.random else "device"

    def is_replaced_by(self, new: Calibration) -> bool:
        """Whether ``new`` is of the same kind and conditions."""
        return self.need == new.need and self.conditions == new.conditions


class Identity(Table):
    """Which system, and where its figures are from."""

    name: str
    description: str
    source: str


class Channel(Table):
    """Serial links between boards: ``count`` channels of a board, each ``width_bytes`` a tick."""

    count: Annotated[int, Field(ge=1)]
    latency_ns: Annotated[float, Field(ge=0)]
    frequency_mhz: Annotated[float, Field(gt=0)]
    width_bytes: Annotated[int, Field(ge=1)]
    source: str

    def ticks_s(self, message_bytes: int, channels: int) -> float:
        """Seconds in which a message leaves by ``channels`` of them (Meyer 2024, eq. 4.3)."""
        ticks = math.ceil(message_bytes / (channels * self.width_bytes))
        return ticks / (self.frequency_mhz * 1e6)


@dataclass(frozen=True)
class Figures:
    """What a system offers the models under some conditions; None where it knows nothing.

    ``by_all_ranks``: measured while all ranks worked at once, so that what they share is shared.
    """

    legs: Legs | None
    device: DeviceTable | None
    by_all_ranks: bool = False
    channel: Channel | None = None

    def has(self, need: Need) -> bool:
        """Whether there is what a model needs."""
        if need == "channel":
            return self.channel is not None
        if need == "legs" or self.device is None:
            return need == "legs" and self.legs is not None
        return need == "device" or bool(self.device.random or self.device.bitstreams)


class System(Table):
    """A whole system file."""

    system: Identity
    device: DeviceTable | None = None
    legs: Legs | None = None
    channel: Channel | None = None
    calibrations: list[Calibration] = Field(default_factory=list)

    def figures_under(self, conditions: Conditions) -> Figures:
        """The calibrations of just these conditions, else the file's own figures."""
        made = [one for one in self.calibrations if one.conditions == conditions]
        if not made:
            return Figures(self.legs, self.device, channel=self.channel)
        legs = next((one.legs for one in made if one.legs), None)
        tables = [one.device for one in made if one.device]
        table = joined(tables) if tables else None
        return Figures(legs, table, by_all_ranks=True, channel=self.channel)

    def answers(self, request: str) -> bool:
        """Whether a calibration was made for this very request."""
        return any(calibration.request == request for calibration in self.calibrations)

    def with_calibration(self, new: Calibration) -> System:
        """A copy in which ``new`` takes the place of the one of its kind under its conditions."""
        kept = [old for old in self.calibrations if not old.is_replaced_by(new)]
        return self.model_copy(update={"calibrations": [*kept, new]})


def load_system(path: Path) -> System:
    """Read a system file. Raises :class:`UsageError` naming file, key and what was expected."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no system file {path}") from None
    except OSError as error:
        raise UsageError(f"the system file {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the system file {path} is not TOML: {error}") from None
    try:
        return System.model_validate(document)
    except ValidationError as error:
        raise UsageError(f"the system file {path}: {first_problem(error, System)}") from None


def find_system(given: str, home: Home) -> System:
    """The system that ``--system`` names: a file's path, or a name looked up in the folders."""
    path = Path(given).expanduser()
    if path.suffix == ".toml" or "/" in given:
        return load_system(path)
    folders = home.system_folders()
    for folder in folders:
        if (folder / f"{given}.toml").is_file():
            return load_system(folder / f"{given}.toml")
    known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")} - {LOCAL})
    raise UsageError(
        f"there is no system {given}{did_you_mean(given, known)} "
        f"(known: {', '.join(known) or 'none'}; or give the path of a .toml file)"
    )


def save_system(system: System, path: Path, comment: str) -> None:
    """Write ``system`` to ``path`` in one step, under a heading comment. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".toml")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("".join(f"# {line}\n" for line in comment.splitlines()))
            file.write("\n".join(toml_lines(system)).lstrip("\n") + "\n")
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
