"""A device in a system file: its limits, each with a source.

Figures are of one device that one rank uses alone; in a calibration, of one rank while all work at
once. Rates are in SI units (1 GB/s = 1e9 B/s).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plumbline.base.toml import Table
from plumbline.base.units import count_of_bytes, quantity
from plumbline.system.segments import Segment, check_segments, time_of

NumberType = Literal["half", "float", "double", "tf32"]
Access = Literal["read", "write", "copy", "any"]
Whole = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, *count_of_bytes(), Field(ge=1)]
Micros = Annotated[float, *quantity("us"), Field(ge=0)]
GbPerS = Annotated[float, *quantity("GB/s"), Field(gt=0)]
Mhz = Annotated[float, *quantity("MHz"), Field(gt=0)]
GflopPerS = Annotated[float, *quantity("GFLOP/s"), Field(gt=0)]
GupPerS = Annotated[float, *quantity("GUP/s"), Field(gt=0)]
Watts = Annotated[float, *quantity("W"), Field(gt=0)]

# The part of the bytes that is written, for each kind of access.
_WRITTEN: dict[str, float] = {"read": 0.0, "copy": 0.5, "write": 1.0}


class Memory(Table):
    """Streaming rate of long arrays: read, written, copied (half each), or ``any``."""

    access: Access = "any"
    gb_s: GbPerS
    source: str


class Banks(Table):
    """Memory as banks with an interface each (FPGA boards).

    A bank moves at most ``width_bytes`` per cycle of its interface's clock ``frequency_mhz``.
    """

    count: Whole
    width_bytes: Bytes
    frequency_mhz: Mhz
    source: str

    @property
    def gb_s(self) -> float:
        """Peak of one bank in GB/s."""
        return self.width_bytes * self.frequency_mhz * 1e-3


class Peak(Table):
    """Arithmetic in a type, by vector units or by matrix units (tensor cores), in GFLOP/s."""

    type: NumberType
    units: Literal["vector", "matrix"] = "vector"
    gflop_s: GflopPerS
    source: str


class Kernel(Table):
    """The share of the peak of ``units`` reached by ``benchmark``'s kernels in a type.

    ``variant`` is the form of the kernels, as in the facts of cases.
    """

    benchmark: str
    type: NumberType
    variant: str
    units: Literal["vector", "matrix"] = "vector"
    share_of_peak: Annotated[float, Field(gt=0)]
    source: str


class RandomUpdates(Table):
    """Updates of random 64-bit words of a table of ``table_bytes`` (absent: any), in GUP/s."""

    table_bytes: Bytes | None = None
    atomic: bool = False
    gup_s: GupPerS
    source: str


class Launch(Table):
    """Start of an empty kernel: awaited each time, or in a row (absent: unknown).

    ``meet_us``: in which all groups of a running kernel meet, one on each compute unit.
    """

    wait_us: Micros
    row_us: Micros | None = None
    meet_us: Micros | None = None
    source: str


class Link(Table):
    """Copies between pinned host memory and the device's: segments by size, as of a leg."""

    read: list[Segment] = Field(default_factory=list)
    write: list[Segment] = Field(default_factory=list)

    @model_validator(mode="after")
    def _segments_follow_each_other(self) -> Self:
        for name in ("read", "write"):
            check_segments(name, getattr(self, name))
        return self

    def time_s(self, direction: Literal["read", "write"], size: float) -> float | None:
        """Seconds for ``size`` bytes; None if that direction is unknown."""
        segments = self.read if direction == "read" else self.write
        return time_of(segments, 1, size)


class Rate(Table):
    """A limit that is a plain rate, in ``limit``'s amount per second."""

    limit: str
    per_s: Annotated[float, Field(gt=0)]
    source: str


class Power(Table):
    """What a device draws while ``benchmark``'s kernels work (absent: at most, under any load)."""

    benchmark: str | None = None
    type: NumberType | None = None
    watts: Watts
    source: str


class OwnWork(Table):
    """Items a second (points, keys, cells) of ``benchmark``'s own loops, on one rank.

    ``part``: those with a rate of their own. ``held_bytes``: the data of a rank for which the
    rate was measured, as the model counts them (absent: any). ``lanes``: numbers of the vectors
    that the items fill whole.
    """

    benchmark: str
    part: str | None = None
    held_bytes: Bytes | None = None
    lanes: Whole | None = None
    per_s: Annotated[float, Field(gt=0)]
    source: str


Share = Annotated[str, Field(pattern=r"^<?\d+(\.\d+)?$")]


class Percent(Table):
    """Shares of a board's resources in percent, as printed: ``25``, ``1.90``, ``<1``."""

    luts: Share | None = None
    registers: Share | None = None
    brams: Share | None = None
    dsps: Share | None = None
    urams: Share | None = None


class Bitstream(Table):
    """A synthesis of a board's kernels: the clock and the configuration.

    Keys that do not apply to the benchmark are absent. Names are HPCC FPGA's build parameters;
    ``block_size`` and ``gemm_size`` are HPL's block in local memory and in registers too, and
    ``channel_width`` counts numbers. ``name`` distinguishes a variant from the default.
    ``transport`` is set if the kernels send by themselves or differ by it, ``banks`` if the arrays
    use fewer banks than the board has. ``preset`` names its build parameters. ``percent`` are the
    shares of the board's resources as the tool's report (or a table) prints them, ``hours`` the
    time of the synthesis, ``tool`` the compiler and its version.
    """

    benchmark: str
    name: str | None = None
    type: NumberType = "float"
    transport: str | None = None
    frequency_mhz: Mhz
    replications: Whole
    vector_count: Whole | None = None
    global_mem_unroll: Whole | None = None
    block_size: Whole | None = None
    gemm_size: Whole | None = None
    log_fft_size: Whole | None = None
    rng_count: Whole | None = None
    rng_distance: Whole | None = None
    buffer_elements: Whole | None = None
    channel_width: Whole | None = None
    banks: Whole | None = None
    luts: Whole | None = None
    registers: Whole | None = None
    brams: Whole | None = None
    dsps: Annotated[int, Field(ge=0)] | None = None
    urams: Annotated[int, Field(ge=0)] | None = None
    percent: Percent | None = None
    hours: Annotated[float, Field(gt=0)] | None = None
    tool: str | None = None
    preset: str | None = None
    source: str


class Resources(Table):
    """The resources of an FPGA that kernels may use."""

    luts: Whole | None = None
    registers: Whole | None = None
    brams: Whole | None = None
    dsps: Whole | None = None
    source: str


class DeviceTable(Table):
    """A device's limits; absent ones are unknown.

    ``memory_bytes`` is all its memory. ``cache_bytes`` is the size of the last caches, all
    together: shorter arrays are not judged by the memory's figures. ``fast_bytes`` is the memory
    for a transform's points: a group's local memory on GPUs, half of the last caches on CPUs. With
    ``svm`` kernels use the host's memory, over the link, which reads and writes at once.
    """

    name: str | None = None
    memory_bytes: Bytes | None = None
    cache_bytes: Annotated[int, *count_of_bytes(), Field(ge=0)] | None = None
    fast_bytes: Bytes | None = None
    svm: bool | None = None
    memory: list[Memory] = Field(default_factory=list)
    banks: Banks | None = None
    peaks: list[Peak] = Field(default_factory=list)
    kernels: list[Kernel] = Field(default_factory=list)
    random: list[RandomUpdates] = Field(default_factory=list)
    launch: Launch | None = None
    link: Link | None = None
    rates: list[Rate] = Field(default_factory=list)
    power: list[Power] = Field(default_factory=list)
    work: list[OwnWork] = Field(default_factory=list)
    resources: Resources | None = None
    bitstreams: list[Bitstream] = Field(default_factory=list)

    def memory_s(self, read_bytes: float, written_bytes: float) -> float | None:
        """Seconds to read and write long arrays; None if memory is unknown.

        Reads and writes share the memory: the time per byte is interpolated between reading,
        copying and writing by the written share of the bytes. A CPU's core that only reads, or only
        writes, may not saturate memory, because each has its own buffers; so both rates bound
        separately, and no mixture is assumed slower than the copy.
        """
        every = next((entry.gb_s for entry in self.memory if entry.access == "any"), None)
        if every is None and self.banks and not self.memory:
            every = self.banks.count * self.banks.gb_s
        total = read_bytes + written_bytes
        byte_s = {entry.access: 1e-9 / entry.gb_s for entry in self.memory if entry.access != "any"}
        if total == 0 or not (byte_s or every):
            return 0.0 if total == 0 else None
        if not byte_s:
            return total / (every or 1) * 1e-9
        copy_s = byte_s.get("copy", max(byte_s.values()))
        shared = sorted((_WRITTEN[access], min(s, copy_s)) for access, s in byte_s.items())
        return max(
            total * _interpolated(shared, written_bytes / total),
            read_bytes * byte_s.get("read", 0.0),
            written_bytes * byte_s.get("write", 0.0),
        )

    def peak_s(self, flops: float, type: str, *, matrix: bool) -> float | None:
        """Seconds for ``flops`` in ``type``; None if the peak is unknown.

        Half may be computed in float, so its peak is at least float's. With ``matrix`` the units
        are matrix units if the device has them.
        """
        types = ("half", "float") if type == "half" else (type,)
        rates = [
            peak.gflop_s
            for peak in self.peaks
            if peak.type in types and (matrix or peak.units == "vector")
        ]
        return flops / (max(rates) * 1e9) if rates else None

    def knows_matrix_units(self, type: str) -> bool:
        """Whether a peak of matrix units is known for ``type``."""
        return any(peak.type == type and peak.units == "matrix" for peak in self.peaks)

    def share_of_peak(self, benchmark: str, type: str, variant: str, *, matrix: bool) -> float:
        """The share of the peak that the kernels reach, 1 if not measured."""
        wanted = (benchmark, type, variant, "matrix" if matrix else "vector")
        for entry in self.kernels:
            if (entry.benchmark, entry.type, entry.variant, entry.units) == wanted:
                return entry.share_of_peak
        return 1.0

    def updates_s(self, updates: float, table_bytes: int, *, atomic: bool) -> float | None:
        """Seconds for updates of random words of a table of that length; None if unknown.

        Between known tables the rate is interpolated over the length's logarithm; outside, it is
        that of the nearest.
        """
        rates = [entry for entry in self.random if entry.atomic == atomic]
        known = sorted((entry.table_bytes, entry.gup_s) for entry in rates if entry.table_bytes)
        fixed = next((entry.gup_s for entry in rates if entry.table_bytes is None), None)
        rate = _interpolated_log(known, table_bytes) if known else fixed
        return updates / (rate * 1e9) if rate else None

    def rate_s(self, limit: str, amount: float) -> float | None:
        """Seconds for ``amount`` of ``limit``; None if its rate is unknown."""
        rate = next((entry.per_s for entry in self.rates if entry.limit == limit), None)
        return amount / rate if rate else None

    def power_of(self, benchmark: str, type: str) -> Power | None:
        """The power of ``benchmark`` in ``type``, otherwise the device's limit, otherwise None."""
        of_it = [entry for entry in self.power if entry.benchmark == benchmark]
        limit = [entry for entry in self.power if entry.benchmark is None]
        fits = [entry for entry in of_it if entry.type in (None, type)]
        return next(iter([*fits, *limit]), None)

    def work_s(
        self, benchmark: str, items: float, held_bytes: float, part: str | None = None
    ) -> float | None:
        """Seconds of ``items`` of a benchmark's own loops on one rank; None if unknown.

        Interpolated between the measured lengths as the rates of random updates are.
        """
        rates = [entry for entry in self.work if (entry.benchmark, entry.part) == (benchmark, part)]
        known = sorted((entry.held_bytes, entry.per_s) for entry in rates if entry.held_bytes)
        fixed = next((entry.per_s for entry in rates if entry.held_bytes is None), None)
        rate = _interpolated_log(known, round(held_bytes)) if known else fixed
        return items / rate if rate else None

    def bitstream(
        self, benchmark: str, type: str, transport: str | None = None, name: str | None = None
    ) -> Bitstream | None:
        """The first bitstream of ``benchmark`` in ``type`` (and for ``transport``), or None.

        Variants are found by their name alone.
        """
        for entry in self.bitstreams:
            fits = transport is None or entry.transport in (None, transport)
            if (entry.benchmark, entry.type, entry.name) == (benchmark, type, name) and fits:
                return entry
        return None


def joined(tables: Sequence[DeviceTable]) -> DeviceTable:
    """The merged figures of ``tables``; the first of each figure."""
    return DeviceTable.model_validate(
        {
            name: next(
                (value for table in tables if (value := getattr(table, name))), about.default
            )
            for name, about in DeviceTable.model_fields.items()
            if any(getattr(table, name) for table in tables)
        }
    )


def _interpolated(known: Sequence[tuple[float, float]], at: float) -> float:
    """The value at ``at`` on the line through ``known`` (sorted); flat outside."""
    if at <= known[0][0]:
        return known[0][1]
    for (left, low), (right, high) in pairwise(known):
        if at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return known[-1][1]


def _interpolated_log(known: Sequence[tuple[int, float]], at: int) -> float:
    return _interpolated([(log(size), rate) for size, rate in known], log(max(at, 1)))
