"""The system file: a TOML description of a board or machine, as far as the models need it.

A transfer is a row of *legs*: ``launch`` (an empty kernel, started and awaited), ``read`` (device
memory to host), ``exchange`` (host to host), ``write`` (host to device memory): the sub-steps of
Meyer, "An OpenCL- and HLS-based Benchmark Suite for Reconfigurable Hardware in HPC" (dissertation,
Paderborn University, 2024), section 5.1.2. A leg is a list of segments by message size, each a
straight line:

    time of n messages of L bytes, handled at once by one rank = latency + n * L / bandwidth

For b_eff n is 2r: r replications, each with both neighbours. There b(L) = 2 L / t counts the bytes
that one rank *sends*. The dissertation's eq. 4.2 also writes 2 L / t, but its eq. 4.7 sets t to the
time in which *one* message of L bytes is read, exchanged and written (n = 1) at the peak of each
leg, so that its 2 L counts what is sent and what is received: 6.06 GB/s for PCIe at 8 GB/s and a
network at 12.5 GB/s. With n = 2 the same legs take twice the time: b(L) is half of it, 3.03 GB/s.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from plumbline.errors import UsageError, did_you_mean
from plumbline.explain import first_problem
from plumbline.home import Home

Leg = Literal["launch", "read", "exchange", "write"]
LOCAL = "local"
LEGS: tuple[Leg, ...] = ("launch", "read", "exchange", "write")


@dataclass(frozen=True)
class Point:
    """A leg measured: ``messages`` of ``message_bytes`` bytes each took ``seconds``."""

    messages: float
    message_bytes: int
    seconds: float


class Table(BaseModel):
    """A table of a system file: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Segment(Table):
    """A leg's time for messages of at most ``up_to_bytes`` (the last segment: of any size).

    ``latency_us`` is in microseconds, ``bandwidth_gb_s`` in GB/s (1e9 B/s; absent: the time does
    not depend on the size). ``source`` names where the figures are from, ``measured`` a fit, whose
    largest relative error at a measured size is ``worst_error``.
    """

    up_to_bytes: Annotated[int, Field(ge=1)] | None = None
    latency_us: Annotated[float, Field(ge=0)]
    bandwidth_gb_s: Annotated[float, Field(gt=0)] | None = None
    source: str
    worst_error: Annotated[float, Field(ge=0)] | None = None

    def time_s(self, messages: float, message_bytes: float) -> float:
        """Seconds for ``messages`` messages of ``message_bytes`` bytes each."""
        seconds = self.latency_us * 1e-6
        if self.bandwidth_gb_s is not None:
            seconds += messages * message_bytes / (self.bandwidth_gb_s * 1e9)
        return seconds


class Legs(Table):
    """The legs of a transfer; a leg without segments is unknown."""

    launch: list[Segment] = []
    read: list[Segment] = []
    exchange: list[Segment] = []
    write: list[Segment] = []

    @model_validator(mode="after")
    def _segments_follow_each_other(self) -> Self:
        for name in LEGS:
            limits = [segment.up_to_bytes for segment in self.segments(name)]
            inner = [limit for limit in limits[:-1] if limit is not None]
            if len(inner) != len(limits[:-1]) or inner != sorted(set(inner)):
                raise ValueError(f"the segments of {name} need rising up_to_bytes")
            if limits and limits[-1] is not None:
                raise ValueError(f"the last segment of {name} has no up_to_bytes")
        return self

    def segments(self, name: Leg) -> list[Segment]:
        """The segments of one leg, by rising size."""
        segments: list[Segment] = getattr(self, name)
        return segments

    def time_s(self, name: Leg, messages: float, message_bytes: float) -> float | None:
        """Seconds that leg ``name`` takes for ``messages`` messages of ``message_bytes`` each.

        The messages are those that one rank handles at once. None where the leg is unknown.
        """
        for segment in self.segments(name):
            if segment.up_to_bytes is None or message_bytes <= segment.up_to_bytes:
                return segment.time_s(messages, message_bytes)
        return None


class Conditions(Table):
    """Under what a calibration was measured: a run under others is not compared with it."""

    cpu: str
    library: str
    ranks: int
    nodes: int
    cores_per_rank: int
    transport: str
    memory: str
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
    legs: Legs


class Identity(Table):
    """Which system, and where its figures are from."""

    name: str
    description: str
    source: str


class Channel(Table):
    """A direct link between boards: ``count`` channels of ``width_bytes`` a clock tick."""

    count: Annotated[int, Field(ge=1)]
    latency_ns: Annotated[float, Field(ge=0)]
    frequency_mhz: Annotated[float, Field(gt=0)]
    width_bytes: Annotated[int, Field(ge=1)]
    source: str


class System(Table):
    """A whole system file."""

    system: Identity
    legs: Legs | None = None
    channel: Channel | None = None
    calibrations: list[Calibration] = []

    def legs_under(self, conditions: Conditions) -> Legs | None:
        """The calibration of just these conditions, else the file's own legs, else None."""
        for calibration in self.calibrations:
            if calibration.conditions == conditions:
                return calibration.legs
        return self.legs

    def answers(self, request: str) -> bool:
        """Whether a calibration was made for this very request."""
        return any(calibration.request == request for calibration in self.calibrations)

    def with_calibration(self, new: Calibration) -> System:
        """A copy in which ``new`` takes the place of the one under the same conditions."""
        kept = [old for old in self.calibrations if old.conditions != new.conditions]
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
            file.write("\n".join(_toml(system)) + "\n")
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


def _toml(system: System) -> Iterator[str]:
    yield "[system]"
    yield from _pairs(system.system)
    if system.channel:
        yield from ("", "[channel]")
        yield from _pairs(system.channel)
    if system.legs:
        yield from _toml_legs("legs", system.legs)
    for calibration in system.calibrations:
        yield from ("", "[[calibrations]]")
        yield from _pairs(calibration)
        yield from ("", "[calibrations.conditions]")
        yield from _pairs(calibration.conditions)
        yield from _toml_legs("calibrations.legs", calibration.legs)


def _toml_legs(prefix: str, legs: Legs) -> Iterator[str]:
    yield from ("", f"[{prefix}]")
    for name in LEGS:
        for segment in legs.segments(name):
            yield from ("", f"[[{prefix}.{name}]]")
            yield from _pairs(segment)


def _pairs(table: Table) -> Iterator[str]:
    for key in type(table).model_fields:
        value = getattr(table, key)
        if isinstance(value, str | int | float) or _is_plain_list(value):
            yield f"{key} = {_literal(value)}"


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _literal(value: str | int | float | Sequence[str]) -> str:
    if isinstance(value, str):
        return f'"{"".join(_escaped(letter) for letter in value)}"'
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(_literal(item) for item in value)}]"


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
