"""The record: one JSON document per run, written by the engine and never modified.

Units are in the names (``_s`` seconds, ``_bytes`` bytes) or beside the values (``unit``). Numbers
are finite; a missing one is null, with a reason beside it.

Records of the same major version are accepted with any minor version: unknown keys and words, which
later minor versions may add, are ignored. Tests check the engine's records by the same schema,
closed (``tests/python/strict.py``). ``plumb schema`` prints the JSON Schema, which is also in
``schema/record.schema.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from plumbline.base.errors import UsageError
from plumbline.base.validation import first_problem

SCHEMA_VERSION = "1.4.0"
IMPORTED = "imported"  # of records that another suite measured
SCHEMA_ID = f"urn:plumbline:record:{SCHEMA_VERSION}"

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
Value = bool | int | float | str | None


def _words(*known: str) -> WithJsonSchema:
    """One of ``known``; later minor versions may add others."""
    return WithJsonSchema({"anyOf": [{"enum": list(known)}, {"type": "string"}]})


Status = Annotated[str, _words("passed", "failed", "unsupported", "skipped", "error")]
Policy = Annotated[str, _words("adaptive", "fixed", "once")]


class Part(BaseModel):
    """A part of the record: known keys have exact types, numbers are finite."""

    model_config = ConfigDict(
        extra="ignore", strict=True, frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class Timed(Part):
    """A part with times or a rate; ``emulated``: they are of no board."""

    emulated: bool = False


class Benchmark(Part):
    """The benchmark, and the source of its rules."""

    name: str
    title: str
    source: str


class Program(Part):
    """The engine's program: version, commit and build."""

    name: str
    version: str
    commit: str | None
    dirty: bool
    build_type: str
    compiler: str
    flags: str


class Host(Part):
    """A node of the run."""

    name: str
    os: str
    kernel: str
    cpu: str
    cores: Count
    memory_bytes: Count
    governor: str | None


class World(Part):
    """The participating processes, and their communication library."""

    kind: Annotated[str, _words("serial", "mpi", "shmem")]
    library: str | None
    standard: str | None
    ranks: Annotated[int, Field(ge=1)]
    nodes: Annotated[int, Field(ge=1)]


class Device(Part):
    """One device as reported by its runtime."""

    index: Count
    runtime: str
    platform: str
    name: str
    type: str
    vendor: str
    version: str
    driver: str
    compute_units: Count
    memory_bytes: Count
    local_bytes: Count = 0
    cache_bytes: Count = 0
    memory_kinds: list[str]
    features: list[str] = []


class Rank(Part):
    """One rank: its host (an index into ``hosts``), the cores it is bound to, its device."""

    rank: Count
    host: Count
    local_rank: Count
    cores: list[int]
    device: Device | None


class Memory(Part):
    """Memory of the buffers."""

    kind: str
    bank: Count | None


class Transport(Part):
    """The transport between ranks' buffers."""

    name: str
    summary: str
    scheduled_by: Annotated[str, _words("host", "device")]
    landing: Annotated[str, _words("buffered", "streaming")]
    host_leg: str | None
    emulated: str | None = None  # of layouts before 1.4.0, which lack the record's
    facts: dict[str, JsonValue] = {}


class Measuring(Part):
    """The run's rules of repetition; ``active_ranks``: the others were idle (0: all worked).

    ``kernel_build`` names the build of ``kernel_file``, ``unknown`` without a manifest.
    """

    policy: Policy
    min_repetitions: Count
    max_repetitions: Count
    time_limit_s: Seconds
    confidence: Annotated[float, Field(ge=0)]
    sync: Annotated[str, _words("clock", "barrier")]
    active_ranks: Count = 0
    seed: int
    preset: str
    validated: bool = Field(alias="validate")
    kernel_file: str | None = None
    kernel_build: str | None = None
    timeout_s: Seconds


class Clock(Part):
    """The clock of the samples: resolution, and cost of one reading."""

    resolution_s: Seconds
    overhead_s: Seconds


class ClockSync(Part):
    """The agreement of the ranks' clocks; lists are by rank."""

    reference_rank: Count
    offset_s: list[float]
    drift: list[float]
    residual_s: list[float]
    late_starts: Count
    starts: Count


class Work(Part):
    """The work of one count of a case on one rank; without zeros."""

    bytes_read: float = 0
    bytes_written: float = 0
    bytes_sent: float = 0
    messages: float = 0
    flops: float = 0
    updates: float = 0
    edges: float = 0


class Stop(Part):
    """The reason of stopping; ``half_width`` of the interval, relative to the median."""

    reason: Annotated[str, _words("confidence", "repetitions", "time", "fixed", "once")]
    half_width: float | None


class Times(Timed):
    """Times by rank and repetition: ``by_rank[rank][repetition]``, in seconds."""

    unit: Literal["s"]
    by_rank: list[list[float]]


class Phase(Timed):
    """A named part of a sample, ``[rank][repetition]``; null where absent.

    Seconds of all its intervals together; first begin and last end, since the first rank began the
    repetition. Records of layout 1.0 have the seconds only. Of the last repetition
    also each interval, ``[rank][interval]``, as (begin, end), at most 4,096; newer records only.
    """

    unit: Literal["s"]
    by_rank: list[list[float | None]]
    begin_by_rank: list[list[float | None]] = []
    end_by_rank: list[list[float | None]] = []
    last_spans_by_rank: list[list[tuple[float, float]]] = []


class LapSummary(Timed):
    """Times of single operations, in seconds; percentiles if there are enough."""

    operations: Count
    min_s: float
    mean_s: float
    median_s: float
    p90_s: float | None
    p95_s: float | None
    p99_s: float | None
    p999_s: float | None
    max_s: float


class Laps(Part):
    """Times of single operations over all repetitions, of each rank and of all together.

    ``slowest``: of each operation the rank that took longest for it.
    """

    of: str
    by_rank: list[LapSummary | None]
    all: LapSummary
    slowest: LapSummary | None = None


class SetUp(Timed):
    """A phase of a group's set-up, in seconds on each rank; null where absent."""

    group: str
    phase: str
    unit: Literal["s"]
    by_rank: list[float | None]


class Samples(Times):
    """Host times; ``global`` is last end minus first start on the common clock, if any."""

    global_s: list[float] = Field(alias="global")


class Summary(Timed):
    """Statistics over the repetitions, in seconds for the whole sample (``count`` operations)."""

    of: str
    min_s: Seconds
    max_s: Seconds
    median_s: Seconds
    mean_s: Seconds
    p95_s: Seconds | None
    p99_s: Seconds | None
    ci95_median_s: Annotated[list[Seconds], Field(min_length=2, max_length=2)] | None
    best_repetition: Count
    slowest_rank: Count


class Metric(Timed):
    """A figure with its unit and convention, or with the reason why it is missing."""

    name: str
    group: str | None = None
    value: float | None
    unit: str
    convention: str
    reason: str | None
    table: bool

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if self.value is None and not self.reason:
            raise ValueError(f"the metric {self.name} has neither a value nor a reason")
        return self


class Validation(Part):
    """The compared items, over all ranks, and their error."""

    performed: bool
    error: float | None
    tolerance: float | None
    reference: str
    items_checked: list[Count]
    items_expected: list[Count]
    wrong_items: Count
    repetitions_checked: Count
    detail: str | None


class Outcome(Part):
    """The outcome; all but ``passed`` with a reason."""

    status: Status
    reason: str | None

    @model_validator(mode="after")
    def _failure_has_a_reason(self) -> Self:
        if self.status != "passed" and not self.reason:
            raise ValueError(f"the outcome {self.status} has no reason")
        return self


class Warned(Part):
    """A warning of the engine; ``code`` is for programs, ``text`` for users."""

    code: str
    text: str


class EnergyErrors(Part):
    """Largest errors in joules: the region's edges, the readings' steps, the stated accuracy."""

    edges_j: float
    quantum_j: float
    sensor_j: float | None


class EnergyState(Part):
    """Power limit, lowest clocks and reasons of throttling while a sensor was read, if known."""

    limit_w: float | None = None
    clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttled: list[str] = []


class EnergyDomain(Timed):
    """Joules of one sensor in the region of a case, or the reason why there are none.

    ``net_j``: above the idle power; ``peak_w``: the largest mean over ``peak_s`` seconds.
    """

    host: Count
    source: str
    domain: Annotated[str, _words("device", "package", "dram", "node", "part")]
    of: str
    reader: str
    kind: Annotated[str, _words("counter", "power")]
    within: str | None
    joules: float | None
    reason: str | None
    seconds: Seconds | None = None
    mean_w: float | None = None
    peak_w: float | None = None
    peak_s: Seconds | None = None
    idle_w: float | None = None
    net_j: float | None = None
    updates: Count | None = None
    interval_s: Seconds | None = None
    error_j: float | None = None
    errors: EnergyErrors | None = None
    state: EnergyState = EnergyState()

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if self.joules is None and not self.reason:
            raise ValueError(f"{self.source} has neither joules nor a reason")
        return self


class EnergySum(Part):
    """Joules of one domain, or ``together``: of disjoint domains, each thing once."""

    domain: str
    joules: float
    net_j: float | None
    error_j: float
    mean_w: float
    peak_w: float
    of: list[str]


class EnergyRegion(Timed):
    """The measured region: UNIX time of its begin, and ``count`` operations on each rank."""

    begin: float
    seconds: Seconds
    count: Count
    repetition: Annotated[str, _words("energy", "own")]


class CaseEnergy(Part):
    """Energy of a case, or the reason why there is none."""

    reason: str | None
    region: EnergyRegion | None = None
    domains: list[EnergyDomain] = []
    sums: list[EnergySum] = []
    metrics: list[Metric] = []

    def sum_of(self, domain: str) -> EnergySum | None:
        """The sum over ``domain``, if measured."""
        return next((one for one in self.sums if one.domain == domain), None)


class CaseFigures(Part):
    """The figures of one measured point."""

    key: str
    count: Count
    summary: Summary | None
    metrics: list[Metric]
    outcome: Outcome

    @property
    def has_figures(self) -> bool:
        """Whether its figures may be used: its answers were right, or another suite measured it."""
        imported = (self.outcome.reason or "").startswith(IMPORTED)
        return self.outcome.status == "passed" or imported

    def median_s(self) -> float | None:
        """Seconds of one count: the median over repetitions of each one's slowest rank."""
        return self.summary.median_s / self.count if self.summary and self.count else None


class Case(CaseFigures):
    """One measured point."""

    group: str
    labels: dict[str, Value]
    work: Work
    facts: dict[str, JsonValue] = {}
    policy: Policy
    stop: Stop | None
    repetitions: Count
    late_starts: Count
    samples: Samples
    device_samples: Times | None
    phases: dict[str, Phase]
    tallies: dict[str, Any]
    tallies_by_rank: dict[str, list[float]] = {}
    paused: Times | None = None
    laps: Laps | None = None
    work_by_rank: list[Work] | None = None
    energy: CaseEnergy | None = None
    validation: Validation | None
    warnings: list[Warned]

    def interval_s(self) -> tuple[float, float] | None:
        """The 95 % interval of :meth:`median_s`, in seconds of one count."""
        if not (self.summary and self.count and self.summary.ci95_median_s):
            return None
        low, high = self.summary.ci95_median_s
        return low / self.count, high / self.count

    def label(self, name: str) -> str:
        """The label ``name`` as text, or an empty text if the case has none."""
        return str(self.labels.get(name, ""))

    def message_bytes(self) -> int:
        """The size of one message, or 0 if the case sends none."""
        size = self.labels.get("message_bytes")
        return size if isinstance(size, int) else 0


class PartVisit(Timed):
    """One visit of a part, ``at_s`` after the start of the run and after ``after_cases`` cases.

    ``seconds`` of one count, the slowest rank of each repetition; ``shares`` of its components.
    ``within``: the case between whose repetitions it was, if any. ``after_repetitions``: of each
    of ``seconds``, how many of the case's repetitions were kept before, in the same measurement.
    ``cost_s``: with preparation and validation.
    """

    at_s: Seconds
    after_cases: Count
    within: str | None = None
    count: Count
    seconds: list[Seconds]
    after_repetitions: list[Count] = []
    cost_s: Seconds | None = None
    shares: dict[str, float] = {}


class PartCase(Part):
    """A part, measured beside the cases: a case of another benchmark, by its visits."""

    benchmark: str
    parameters: dict[str, Value]
    key: str
    labels: dict[str, Value]
    work: Work
    validation: Validation | None
    outcome: Outcome
    visits: list[PartVisit]

    def label(self, name: str) -> str:
        """The label ``name`` as text, or an empty text if the part has none."""
        return str(self.labels.get(name, ""))


class Parts(Part):
    """The parts of a run, their cost (``spent_s``) and the run's duration (``run_s``)."""

    spent_s: Seconds
    run_s: Seconds
    cases: list[PartCase]


class HostLoad(Part):
    """The host's load during the run: shares of all cores' time, load, clock.

    ``huge_pages`` is the kernel's setting of transparent huge pages; ``gpu_throttled_s`` the
    seconds of a GPU's throttling, by cause. None: unknown.
    """

    of: str
    idle_share: float | None
    stolen_share: float | None
    average_begin: float
    average_end: float
    clock_begin_mhz: float | None
    clock_end_mhz: float | None
    huge_pages: str | None = None
    gpu_throttled_s: dict[str, float] | None = None


class Port(Part):
    """A network port of a host (``eth0``, ``mlx5_0:1``): what all programs moved in the run."""

    host: Count
    name: str
    sent_bytes: Count
    received_bytes: Count


class RecordFigures(Part):
    """A record without its samples: where and under what it was measured, and its figures."""

    schema_version: Annotated[str, Field(pattern=r"^1\.\d+\.\d+$")]
    benchmark: Benchmark
    program: Program
    started: Moment
    hosts: list[Host]
    world: World
    ranks: list[Rank]
    transport: Transport | None
    emulated: str | None = None  # why its times are of no board
    parameters: dict[str, Value]
    measuring: Measuring
    cases: Sequence[CaseFigures]
    metrics: list[Metric]
    status: Annotated[str, _words("running", "complete", "aborted")]
    finished: Moment | None
    outcome: Outcome | None

    @model_validator(mode="after")
    def _ranks_agree(self) -> Self:
        if len(self.ranks) != self.world.ranks:
            raise ValueError(
                f"{len(self.ranks)} ranks are listed, world.ranks is {self.world.ranks}"
            )
        for rank in self.ranks:
            if rank.host >= len(self.hosts):
                raise ValueError(f"rank {rank.rank} names host {rank.host}, which is not listed")
        return self

    def lifted(self) -> Self:
        """With ``emulated`` of layouts before 1.4.0: of the transport, or by devices' platforms."""
        if "emulated" in self.model_fields_set:
            return self
        devices = [rank.device for rank in self.ranks if rank.device]
        sentences = [self.transport.emulated if self.transport else None]
        sentences += [emulation_of(device.name, device.platform) for device in devices]
        said = "; ".join(dict.fromkeys(filter(None, sentences)))
        return self.model_copy(update={"emulated": said}) if said else self

    @property
    def transport_name(self) -> str:
        """The transport's name, or ``none`` for a benchmark that sends nothing."""
        return self.transport.name if self.transport else "none"

    @property
    def approach(self) -> str | None:
        """Scheduling and landing of transfers (host-buffered), or None without transfers."""
        sent = self.transport
        return f"{sent.scheduled_by}-{sent.landing}" if sent else None

    def devices(self) -> list[str]:
        """Names of the devices used, sorted, without duplicates."""
        return sorted({rank.device.name for rank in self.ranks if rank.device})


class Record(RecordFigures):
    """The whole document."""

    command: list[str]
    environment: dict[str, str]
    memory: Memory
    understood: dict[str, str] = {}
    clock: Clock
    planned_cases: Count
    cases: list[Case]
    clock_sync: ClockSync | None
    set_ups: list[SetUp] = []
    parts: Parts | None = None
    load: HostLoad | None = None
    ports: list[Port] = []
    warnings: list[Warned]
    energy: dict[str, JsonValue] | None
    reason: str | None

    @model_validator(mode="after")
    def _samples_are_of_all_ranks(self) -> Self:
        for case in self.cases:
            if len(case.samples.by_rank) not in (0, self.world.ranks):
                raise ValueError(f"{case.key}: samples of {len(case.samples.by_rank)} ranks")
        return self

    def metric(self, name: str, group: str | None = None) -> Metric | None:
        """The first aggregate metric ``name``, of ``group`` if given."""
        fitting = (one for one in self.metrics if one.name == name and group in (None, one.group))
        return next(fitting, None)


_Kind = TypeVar("_Kind", bound=RecordFigures)


def emulation_of(device: str, platform: str) -> str | None:
    """How the engine says that a device stands in for a board, or None."""
    return f"{device} emulates a board ({platform})" if "Emulation" in platform else None


def option_text(name: str, value: Value) -> str:
    """A parameter as an option: ``--size 4``; a flag ``--mesh`` or ``without --mesh``."""
    if value is False or value == "":
        return f"without --{name}"
    return f"--{name}" if value is True else f"--{name} {value}"


def load_record(path: Path) -> Record:
    """Read a record. Raises :class:`UsageError` for other files."""
    return _load(path, Record)


def load_figures(path: Path) -> RecordFigures:
    """Read a record's figures, which takes a third of the time of all of it.

    Raises :class:`UsageError` for other files; samples are not validated.
    """
    return _load(path, RecordFigures)


def parse_record(text: str, name: str) -> Record:
    """Validate ``text`` as a record; ``name`` is used in messages."""
    return _parse(text, name, Record)


def _load(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        content = path.read_bytes()
        with suppress(ValidationError):
            return kind.model_validate_json(content).lifted()
        text = content.decode()
    except FileNotFoundError:
        raise UsageError(f"there is no record {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a record: {_plain(error)}") from None
    return _parse(text, str(path), kind)


def _parse(text: str, name: str, kind: type[_Kind]) -> _Kind:
    try:
        return kind.model_validate_json(text).lifted()
    except ValidationError as error:
        raise UsageError(_refusal(text, name, error)) from None


def _refusal(text: str, name: str, error: ValidationError) -> str:
    try:
        document = json.loads(text)
    except ValueError as why:
        return f"{name} is not a record: it is not JSON ({why})"
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, str) or "benchmark" not in document:
        return f"{name} is not a record of Plumbline's engine"
    if _numbers(version)[:1] > _numbers(SCHEMA_VERSION)[:1]:
        return (
            f"{name} has schema {version}, but this plumb reads up to {SCHEMA_VERSION}: "
            "update plumbline"
        )
    return f"{name} is not a valid record: {first_problem(error, Record)}"


def schema() -> dict[str, Any]:
    """The record's JSON Schema (draft 2020-12)."""
    body = Record.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **body,
        "title": "Plumbline record",
    }


def schema_text() -> str:
    """The contents of ``schema/record.schema.json``."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def _numbers(version: str) -> list[int]:
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


def _plain(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not text"
