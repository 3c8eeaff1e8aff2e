"""The record: one JSON document a run, written by the engine, read here, altered by nobody.

Units are in the names (``_s`` seconds, ``_bytes`` bytes) or beside the values (``unit``). Numbers
are finite; where there is none, the value is null and a reason stands beside it.

A record of the same major version is read whatever its minor version: keys and words that are
unknown are passed over, which is what a later minor version may add. What the engine writes is
tested by the same schema, closed (``tests/python/strict.py``).
``plumb schema`` prints the JSON Schema that ``schema/record.schema.json`` holds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self

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

SCHEMA_VERSION = "1.2.0"
IMPORTED = "imported"  # of records that another suite measured
SCHEMA_ID = f"urn:plumbline:record:{SCHEMA_VERSION}"

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
Value = bool | int | float | str | None


def _words(*known: str) -> WithJsonSchema:
    """A text that is one of ``known`` today; a later minor version may add others."""
    return WithJsonSchema({"anyOf": [{"enum": list(known)}, {"type": "string"}]})


Status = Annotated[str, _words("passed", "failed", "unsupported", "skipped", "error")]
Policy = Annotated[str, _words("adaptive", "fixed", "once")]


class Part(BaseModel):
    """A part of the record: known keys have exact types, no number is infinite or NaN."""

    model_config = ConfigDict(
        extra="ignore", strict=True, frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class Benchmark(Part):
    """Which benchmark, and where its rules come from."""

    name: str
    title: str
    source: str


class Program(Part):
    """The engine's program: version, commit, and how it was built."""

    name: str
    version: str
    commit: str | None
    dirty: bool
    build_type: str
    compiler: str
    flags: str


class Host(Part):
    """A node that took part."""

    name: str
    os: str
    kernel: str
    cpu: str
    cores: Count
    memory_bytes: Count
    governor: str | None


class World(Part):
    """Those who took part, and the library that joined them."""

    kind: Annotated[str, _words("serial", "mpi", "shmem")]
    library: str | None
    standard: str | None
    ranks: Annotated[int, Field(ge=1)]
    nodes: Annotated[int, Field(ge=1)]


class Device(Part):
    """One device as its runtime shows it."""

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
    """Where the buffers lay."""

    kind: str
    bank: Count | None


class Transport(Part):
    """How bytes got from one rank's buffer to another's."""

    name: str
    summary: str
    scheduled_by: Annotated[str, _words("host", "device")]
    landing: Annotated[str, _words("buffered", "streaming")]
    host_leg: str | None
    facts: dict[str, JsonValue] = {}


class Measuring(Part):
    """By which rules the run repeated and stopped; ``active_ranks``: the rest idled (0: none)."""

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
    timeout_s: Seconds


class Clock(Part):
    """The clock that timed the samples: its step, and what one reading costs."""

    resolution_s: Seconds
    overhead_s: Seconds


class ClockSync(Part):
    """How well the ranks' clocks agreed; lists are by rank."""

    reference_rank: Count
    offset_s: list[float]
    drift: list[float]
    residual_s: list[float]
    late_starts: Count
    starts: Count


class Work(Part):
    """What one count of a case must do on one rank; what a case does not do is absent."""

    bytes_read: float = 0
    bytes_written: float = 0
    bytes_sent: float = 0
    messages: float = 0
    flops: float = 0
    updates: float = 0
    edges: float = 0


class Stop(Part):
    """Why a case stopped repeating; ``half_width`` of the interval, relative to the median."""

    reason: Annotated[str, _words("confidence", "repetitions", "time", "fixed", "once")]
    half_width: float | None


class Times(Part):
    """Times by rank and repetition: ``by_rank[rank][repetition]``, in seconds."""

    unit: Literal["s"]
    by_rank: list[list[float]]


class Phase(Part):
    """A named part of a sample, ``[rank][repetition]``; null where it was left out.

    Seconds of all its lives together; begin of the first and end of the last, since the first rank
    began the repetition. Records of layout 1.0 have the first alone.
    """

    unit: Literal["s"]
    by_rank: list[list[float | None]]
    begin_by_rank: list[list[float | None]] = []
    end_by_rank: list[list[float | None]] = []


class LapSummary(Part):
    """Times of single operations, in seconds; percentiles where there are enough of them."""

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
    """Times of single operations over all repetitions, of each rank and of all together."""

    of: str
    by_rank: list[LapSummary | None]
    all: LapSummary


class SetUp(Part):
    """A phase of setting up a group of cases, in seconds on each rank; null where it was not."""

    group: str
    phase: str
    unit: Literal["s"]
    by_rank: list[float | None]


class Samples(Times):
    """Host times; ``global`` is last end minus first start on the common clock, if there is one."""

    global_s: list[float] = Field(alias="global")


class Summary(Part):
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


class Metric(Part):
    """A figure with its unit and convention; a figure that could not be had says why."""

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
    """What was compared, over all ranks, and how far off it was."""

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
    """How it ended; all but ``passed`` with a reason."""

    status: Status
    reason: str | None

    @model_validator(mode="after")
    def _failure_has_a_reason(self) -> Self:
        if self.status != "passed" and not self.reason:
            raise ValueError(f"the outcome {self.status} has no reason")
        return self


class Warned(Part):
    """Something that the engine doubts; ``code`` is for programs, ``text`` for people."""

    code: str
    text: str


class Case(Part):
    """One measured point."""

    key: str
    group: str
    labels: dict[str, Value]
    work: Work
    facts: dict[str, JsonValue] = {}
    count: Count
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
    summary: Summary | None
    metrics: list[Metric]
    validation: Validation | None
    outcome: Outcome
    warnings: list[Warned]

    @property
    def has_figures(self) -> bool:
        """Whether its figures may be used: its answers were right, or another suite measured it."""
        imported = (self.outcome.reason or "").startswith(IMPORTED)
        return self.outcome.status == "passed" or imported

    def median_s(self) -> float | None:
        """Seconds of one count: the median over repetitions of each one's slowest rank."""
        return self.summary.median_s / self.count if self.summary and self.count else None

    def interval_s(self) -> tuple[float, float] | None:
        """The 95 % interval of :meth:`median_s`, in seconds of one count."""
        if not (self.summary and self.count and self.summary.ci95_median_s):
            return None
        low, high = self.summary.ci95_median_s
        return low / self.count, high / self.count

    def label(self, name: str) -> str:
        """The label ``name`` as text, or an empty text where the case has none."""
        return str(self.labels.get(name, ""))

    def message_bytes(self) -> int:
        """The size of one message, or 0 where the case sends none."""
        size = self.labels.get("message_bytes")
        return size if isinstance(size, int) else 0


class PartVisit(Part):
    """One look at a part, ``at_s`` after the run began, when ``after_cases`` cases were finished.

    ``seconds`` of one count, the slowest rank of each repetition; ``shares`` of its own parts.
    """

    at_s: Seconds
    after_cases: Count
    count: Count
    seconds: list[Seconds]
    shares: dict[str, float] = {}


class PartCase(Part):
    """What cases are made of, measured beside them: a case of another benchmark, by its visits."""

    benchmark: str
    parameters: dict[str, Value]
    key: str
    labels: dict[str, Value]
    work: Work
    validation: Validation | None
    outcome: Outcome
    visits: list[PartVisit]

    def label(self, name: str) -> str:
        """The label ``name`` as text, or an empty text where the part has none."""
        return str(self.labels.get(name, ""))


class Parts(Part):
    """The parts of a run, what they cost (``spent_s``) and how long all took (``run_s``)."""

    spent_s: Seconds
    run_s: Seconds
    cases: list[PartCase]


class HostLoad(Part):
    """What else the host did during the run: shares of all cores' time, load, clock."""

    of: str
    idle_share: float | None
    stolen_share: float | None
    average_begin: float
    average_end: float
    clock_begin_mhz: float | None
    clock_end_mhz: float | None


class Record(Part):
    """The whole document."""

    schema_version: Annotated[str, Field(pattern=r"^1\.\d+\.\d+$")]
    benchmark: Benchmark
    program: Program
    command: list[str]
    started: Moment
    environment: dict[str, str]
    hosts: list[Host]
    world: World
    ranks: list[Rank]
    memory: Memory
    transport: Transport | None
    parameters: dict[str, Value]
    understood: dict[str, str] = {}
    measuring: Measuring
    clock: Clock
    planned_cases: Count
    cases: list[Case]
    clock_sync: ClockSync | None
    metrics: list[Metric]
    set_ups: list[SetUp] = []
    parts: Parts | None = None
    load: HostLoad | None = None
    warnings: list[Warned]
    energy: dict[str, JsonValue] | None
    status: Annotated[str, _words("running", "complete", "aborted")]
    reason: str | None
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
        for case in self.cases:
            if len(case.samples.by_rank) not in (0, self.world.ranks):
                raise ValueError(f"{case.key}: samples of {len(case.samples.by_rank)} ranks")
        return self

    @property
    def transport_name(self) -> str:
        """The transport's name, or ``none`` for a benchmark that sends nothing."""
        return self.transport.name if self.transport else "none"

    @property
    def approach(self) -> str | None:
        """Who starts a transfer and where it lands (host-buffered), or None without transfers."""
        sent = self.transport
        return f"{sent.scheduled_by}-{sent.landing}" if sent else None

    def metric(self, name: str, group: str | None = None) -> Metric | None:
        """The first aggregate metric called ``name``, of ``group`` where one is named."""
        fitting = (one for one in self.metrics if one.name == name and group in (None, one.group))
        return next(fitting, None)

    def devices(self) -> list[str]:
        """Names of the devices used, sorted, each once."""
        return sorted({rank.device.name for rank in self.ranks if rank.device})


def load_record(path: Path) -> Record:
    """Read a record. Raises :class:`UsageError` with one sentence for what is no record."""
    try:
        content = path.read_bytes()
        with suppress(ValidationError):
            return Record.model_validate_json(content)
        text = content.decode()
    except FileNotFoundError:
        raise UsageError(f"there is no record {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a record: {_plain(error)}") from None
    return parse_record(text, str(path))


def parse_record(text: str, name: str) -> Record:
    """Check ``text`` as a record; ``name`` is what the sentence of a refusal calls it."""
    try:
        return Record.model_validate_json(text)
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
    """The JSON Schema as the text of ``schema/record.schema.json``."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def _numbers(version: str) -> list[int]:
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


def _plain(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not text"
