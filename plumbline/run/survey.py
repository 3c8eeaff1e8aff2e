"""``plumb survey``: every benchmark on a machine, or the runs of a file, as one command.

Each run equals a ``plumb run``, with a separate record and verdicts. A file in HOME/surveys lists
completed runs, so that an interrupted survey can continue (``--resume``).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console
from rich.progress import Progress

from plumbline.base.errors import (
    ExitStatus,
    PlumbError,
    UsageError,
    did_you_mean,
    reason_of,
)
from plumbline.base.files import claim
from plumbline.base.paths import Home, find_home
from plumbline.base.validation import first_problem
from plumbline.engine.options import Given, check, check_pairs
from plumbline.engine.program import all_benchmarks, find_engine_for
from plumbline.launch.progress import RunOfMany, bars
from plumbline.record.expectations import JudgedRecord
from plumbline.record.record import Record
from plumbline.record.store import Duration, Store, StoreError, seconds_of
from plumbline.report.headline import headline
from plumbline.report.survey import Row
from plumbline.run.accept import judged_of
from plumbline.run.compare_transports import ways_of
from plumbline.run.plan import (
    Request,
    RunPlan,
    check_with_engine,
    make_plan,
    option_groups,
    with_parts,
)
from plumbline.run.run import WEIGHT, Launched, Run
from plumbline.run.series import SurveyRuns, is_kept, load_survey, survey_files

PRESETS = ("smoke", "standard", "full")
# Seconds of a run without earlier records: by the engine's limit of its measuring time, otherwise
# by preset. Starts, set-up, validation and parts take as long again.
_START_S, _PER_MEASURED_S = 3.0, 2.0
_MEASURING = re.compile(r"measuring time: at most (\d+) s")
_GUESS = {"smoke": 8.0, "standard": 60.0, "full": 600.0}
_LAUNCHES = 3  # of one run at most, while one of its cases is in doubt
_OVER_TRANSPORTS = "b_eff"  # run over each transport
# Options set by the survey itself, or for runs that measure nothing.
_TAKEN = frozenset(
    ("record", "format", "output", "dry-run", "test", "launches", "verbose", "watch")
)
_BUDGET = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>s|m|min|h)?")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, None: 1}


class Listed(BaseModel):
    """A ``[[run]]`` of a survey's file: a benchmark, and options of ``plumb run``.

    If an option's value is a list, each of its values is a separate run.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, allow_inf_nan=False)

    benchmark: str


class SurveyFile(BaseModel):
    """A survey's file: name, default preset, and runs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str = ""
    preset: str = "standard"
    run: list[Listed]


@dataclass(frozen=True)
class Wanted:
    """The options of the command line. ``budget_s`` None: unlimited."""

    preset: str = "standard"
    file: Path | None = None
    resume: bool = False
    budget_s: float | None = None
    fail_slow: bool = False
    starts: bool = True


@dataclass(frozen=True)
class Step:
    """One run: a benchmark with options by name; ``plan`` is None if it cannot run.

    ``measuring_s`` is the engine's limit of its measuring time, if known.
    ``otherwise`` makes the replacement for a run without a case supported by the device.
    """

    benchmark: str
    values: Mapping[str, str]
    plan: RunPlan | None
    reason: str = ""
    measuring_s: int | None = None
    otherwise: Callable[[], Step] | None = None

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.plan.request.ranks if self.plan else 0

    @property
    def words(self) -> list[str]:
        """The equivalent arguments of ``plumb run``."""
        return [self.benchmark, *words_of(self.values)]

    @property
    def shown(self) -> list[str]:
        """Its options except for the preset."""
        own = {name: value for name, value in self.values.items() if name != "preset"}
        return replace(self, values=own).words[1:]

    def __str__(self) -> str:
        return " ".join([self.benchmark, *self.shown])


@dataclass
class Survey:
    """A survey in progress: its steps, and the results so far."""

    name: str
    steps: Sequence[Step]
    home: Home
    console: Console
    wanted: Wanted
    path: Path
    runs: SurveyRuns
    durations: Sequence[Duration] = ()
    rows: list[Row] = field(default_factory=list)

    def run_all(self) -> ExitStatus:
        """Run all remaining steps; returns the worst exit status."""
        begin = time.monotonic()
        statuses: list[ExitStatus] = []
        with bars(self.console) as shared:
            whole = shared.add_task("", title="survey", total=len(self.steps))
            for number, step in enumerate(self.steps):
                shared.update(whole, completed=number, description=self._ends(number))
                row = self._done_before(step) or self._too_long(step, begin)
                if row is None:
                    self._announce(number, step, begin)
                    row = self._interruptible(step, shared)
                self.rows.append(row)
                if row.status is not None:
                    statuses.append(ExitStatus(row.status))
                if row.status == ExitStatus.INTERRUPTED:
                    self._say("interrupted: the same command with --resume goes on from here")
                    break
        return max(statuses, key=WEIGHT.index, default=ExitStatus.PASSED)

    def planned(self) -> str:
        """The planned runs, a line each."""
        lines = []
        for step in self.steps:
            seconds, known = self.expected_s(step)
            about = f"about {seconds:.0f} s{'' if known else ', guessed'}"
            lines.append(f"{step}: {about if step.plan else f'left out: {step.reason}'}")
        return "\n".join(lines)

    def expected_s(self, step: Step) -> tuple[float, bool]:
        """Expected seconds of a run, and whether they derive from earlier records."""
        preset = step.values.get("preset", "standard")
        alike = [
            one.seconds
            for one in self.durations
            if (one.benchmark, one.preset, one.ranks) == (step.benchmark, preset, step.ranks)
            and step.values.get("transport", one.transport) == one.transport
            and step.values.get("approach", one.approach) == one.approach
        ]
        if alike:
            return median(alike[-5:]) + 1, True
        if step.measuring_s is not None:
            return _START_S + _PER_MEASURED_S * step.measuring_s, False
        return _GUESS.get(preset, 60.0), False

    def _ends(self, number: int) -> str:
        ahead = [step for step in self.steps[number:] if self._expected_to_run(step)]
        end = datetime.now().astimezone() + timedelta(seconds=sum(map(self._seconds, ahead)))
        return f"ends about {end:%H:%M:%S}"

    def _expected_to_run(self, step: Step) -> bool:
        return step.plan is not None and self.runs.found(step.ranks, step.words) is None

    def _seconds(self, step: Step) -> float:
        return self.expected_s(step)[0]

    def _announce(self, number: int, step: Step, begin: float) -> None:
        if self.console.is_terminal:
            return
        seconds, known = self.expected_s(step)
        about = f"about {seconds:.0f} s" if known else "no record tells how long"
        elapsed = timedelta(seconds=round(time.monotonic() - begin))
        self._say(
            f"[{number + 1:>{len(str(len(self.steps)))}}/{len(self.steps)}] {step}: {about}; "
            f"{elapsed} elapsed, {self._ends(number)}"
        )

    def _done_before(self, step: Step) -> Row | None:
        if step.plan is None:
            return Row(step.benchmark, step.shown, left_out=step.reason)
        kept = self.runs.found(step.ranks, step.words)
        if kept is None:
            return None
        path, record = kept
        judged = judged_of(path)
        status = self._slow(judged, ExitStatus.PASSED)
        return _row(step, path, record, judged, status, kept=True)

    def _too_long(self, step: Step, begin: float) -> Row | None:
        if self.wanted.budget_s is None:
            return None
        left = self.wanted.budget_s - (time.monotonic() - begin)
        seconds, _ = self.expected_s(step)
        if seconds <= left:
            return None
        reason = f"about {seconds:.0f} s, and {max(left, 0):.0f} s of the budget are left"
        return Row(step.benchmark, step.shown, left_out=reason)

    def _interruptible(self, step: Step, shared: Progress) -> Row:
        try:
            return self._run(step, shared)
        except KeyboardInterrupt:  # between two launches
            status = int(ExitStatus.INTERRUPTED)
            return Row(step.benchmark, step.shown, ranks=step.ranks, status=status)

    def _run(self, step: Step, shared: Progress, instead_of: Step | None = None) -> Row:
        plan = step.plan
        assert plan is not None
        session = replace(plan.session, view=partial(RunOfMany, shared=shared))
        plan = replace(plan, session=session)
        calibrates = step.values.get("preset") != "smoke"
        begin = time.monotonic()
        try:
            run = Run(with_parts(plan), quiet=True, calibrates=calibrates)
            launched = run.launch_until_decided(_LAUNCHES)
        except PlumbError as error:
            self._say(f"plumb: {error}")
            status = int(error.status)
            return Row(step.benchmark, step.shown, ranks=step.ranks, status=status)
        record = launched.executed.record
        if record is not None and is_kept(record, step.ranks) and not _measured(record):
            other = step.otherwise() if step.otherwise else None
            if other is not None and other.plan is not None:
                return self._run(other, shared, step)
        if record is not None:
            self._keep(instead_of or step, launched.executed.path)
        return self._row_of(step, launched, time.monotonic() - begin)

    def _row_of(self, step: Step, launched: Launched, seconds: float) -> Row:
        record, judged = launched.executed.record, launched.judgement.judged
        status = self._slow(judged, launched.status)
        if launched.executed.interrupted:
            status = ExitStatus.INTERRUPTED
        if record is None:
            said = launched.executed.said or ""
            return Row(*(step.benchmark, step.shown), ranks=step.ranks, status=status, reason=said)
        return _row(step, launched.executed.path, record, judged, status, seconds=seconds)

    def _slow(self, judged: JudgedRecord | None, status: ExitStatus) -> ExitStatus:
        slow = judged is not None and judged.counts()["slow"] > 0
        if slow and self.wanted.fail_slow and status is ExitStatus.PASSED:
            return ExitStatus.SLOW
        return status

    def _keep(self, step: Step, record: Path) -> None:
        try:
            self.runs.add(self.path, step.ranks, step.words, record)
        except OSError as error:
            self._say(f"the survey cannot be written to {self.path}: {error.strerror}")

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def prepare(wanted: Wanted, environ: Mapping[str, str], console: Console) -> Survey:
    """A checked survey, not yet started. Raises :class:`UsageError` for invalid requests."""
    home = find_home(environ)
    if wanted.file is None:
        name, steps = wanted.preset, list(_everything(wanted.preset, environ, console))
    else:
        listed = load_file(wanted.file)
        name = listed.name or wanted.file.stem
        steps = [_step(*one, environ, console) for one in _listed(listed)]
    if not any(step.plan for step in steps):
        reasons = "; ".join(f"{step}: {step.reason}" for step in steps[:3])
        raise UsageError(f"nothing of the survey can be run here: {reasons}")
    path, runs = _survey_runs(home, name, steps, wanted)
    survey = Survey(name, steps, home, console, wanted, path, runs, _durations(home))
    if wanted.budget_s is not None:
        survey.steps = _that_fit(survey, wanted.budget_s)
    return survey


def words_of(values: Mapping[str, str]) -> list[str]:
    """Options by name as words, in the names' order."""
    pairs = sorted(values.items())
    return [
        word
        for name, value in pairs
        for word in ([f"--{name}"] if value == "true" else [f"--{name}", value])
    ]


def listed_requests(path: Path, environ: Mapping[str, str]) -> list[Request]:
    """The runs of a survey's file. Raises :class:`UsageError`."""
    return [_request(*one, environ) for one in _listed(load_file(path))]


def seconds_of_budget(text: str) -> float:
    """``90``, ``90s``, ``10m``, ``1.5h`` in seconds."""
    found = _BUDGET.fullmatch(text.strip())
    if found is None or float(found["number"]) <= 0:
        raise UsageError(f"--budget must be a time such as 90s, 10m or 2h, not '{text}'")
    return float(found["number"]) * _SECONDS[found["unit"]]


def load_file(path: Path) -> SurveyFile:
    """A survey's file. Raises :class:`UsageError` for an invalid one."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        listed = SurveyFile.model_validate(document)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the survey {path} cannot be read: {reason_of(error)}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error, SurveyFile)}") from None
    if listed.preset not in PRESETS:
        near = did_you_mean(listed.preset, PRESETS)
        raise UsageError(f"{path}: preset must be {', '.join(PRESETS)}, not {listed.preset}{near}")
    return listed


# --- which runs -----------------------------------------------------------------------------------


def _everything(preset: str, environ: Mapping[str, str], console: Console) -> Iterator[Step]:
    """Every benchmark on the default device; last, one of them over the other transports.

    A family (``osu``) is one run, its members are not run again.
    """
    others = []
    for benchmark in all_benchmarks(environ).benchmarks:
        if benchmark.family:
            continue
        step = _step(benchmark.name, {"preset": preset}, environ, console)
        native = {"preset": preset, "runtime": "native"}
        yield replace(step, otherwise=partial(_step, benchmark.name, native, environ, console))
        if benchmark.name == _OVER_TRANSPORTS and step.plan is not None:
            others = list(_over_transports(step.plan))
    for transport, approach in others:
        values = {"preset": preset, "transport": transport, "approach": approach}
        yield _step(_OVER_TRANSPORTS, values, environ, console)


def _over_transports(plan: RunPlan) -> Iterator[tuple[str, str]]:
    """Transports that work on the device, except for the default one."""
    with suppress(PlumbError, ValueError, KeyError):  # other engines may print no JSON
        as_json = replace(plan, arguments=[*plan.arguments, "--format", "json"])
        usual = json.loads(check_with_engine(as_json))["transport"]
        for transport, approach in ways_of(plan):
            if transport != usual:
                yield transport, approach


def _listed(listed: SurveyFile) -> Iterator[tuple[str, dict[str, str]]]:
    for run in listed.run:
        options: dict[str, object] = {"preset": listed.preset, **(run.model_extra or {})}
        names = list(options)
        choices = [one if isinstance(one, list) else [one] for one in options.values()]
        for values in itertools.product(*choices):
            given = dict(zip(names, values, strict=True))
            yield (
                run.benchmark,
                {n: _text(run, n, v) for n, v in given.items() if v is not False},
            )


def _text(run: Listed, name: str, value: object) -> str:
    if value is True:
        return "true"
    if isinstance(value, (int, float, str)):
        return str(value)
    raise UsageError(f"{run.benchmark}: {name} must be a value or a list of values, not {value}")


def _step(
    benchmark: str, values: dict[str, str], environ: Mapping[str, str], console: Console
) -> Step:
    """A run, with the checks of ``plumb run``. Raises :class:`UsageError` for a bad option.

    A run that the engine refuses on this machine is a step without a plan, with the reason.
    """
    request = _request(benchmark, values, environ)
    try:
        plan = make_plan(request, environ, console)
        told = _MEASURING.search(check_with_engine(plan))
    except UsageError as error:
        return Step(benchmark, values, None, str(error))
    return Step(benchmark, values, plan, measuring_s=int(told[1]) if told else None)


def _request(benchmark: str, values: dict[str, str], environ: Mapping[str, str]) -> Request:
    words = [benchmark, *(["--world", values["world"]] if "world" in values else [])]
    engine = find_engine_for(words, environ)
    spec = engine.description.benchmark(benchmark)
    groups = option_groups(engine.description, spec)
    known = {
        option.name: option
        for group in groups
        for option in group.options
        if option.name not in _TAKEN
    }
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{benchmark}: unknown option {name}{did_you_mean(name, known)}")
        check(known[name], value)
    check_pairs(values, groups)
    return Request(engine, spec, Given(dict(values)))


def _that_fit(survey: Survey, budget_s: float) -> list[Step]:
    """The steps within the budget, in order; steps that exceed it are marked as omitted."""
    chosen, left = [], budget_s
    for step in survey.steps:
        kept = step.plan is not None and survey.runs.found(step.ranks, step.words) is not None
        seconds = 0.0 if kept or step.plan is None else survey.expected_s(step)[0]
        if seconds <= left:
            left -= seconds
            chosen.append(step)
        else:
            reason = f"about {seconds:.0f} s, and {left:.0f} s of the budget would be left"
            chosen.append(replace(step, plan=None, reason=reason))
    return chosen


# --- what is remembered ---------------------------------------------------------------------------


def _survey_runs(
    home: Home, name: str, steps: Sequence[Step], wanted: Wanted
) -> tuple[Path, SurveyRuns]:
    """The newest survey of the same runs, for ``--resume``; else a new one."""
    text = json.dumps([[step.words, step.ranks] for step in steps])
    plan = hashlib.sha256(text.encode()).hexdigest()[:16]
    for path in survey_files(home) if wanted.resume else ():
        with suppress(UsageError):
            runs = load_survey(path)
            if runs.plan == plan:
                return path, runs
    now = datetime.now(UTC)
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
    path = home.root / "surveys" / f"{now:%Y%m%dT%H%M%SZ}-{plain}.json"
    runs = SurveyRuns(name=name, started=f"{now:%Y-%m-%dT%H:%M:%SZ}", plan=plan)
    if not wanted.starts:
        return path, runs
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path = claim(path)
        runs.write(path)
    except OSError as error:
        raise UsageError(f"no survey can be kept in {path.parent}: {error.strerror}") from None
    return path, runs


def _durations(home: Home) -> list[Duration]:
    try:
        store = Store(home)
        store.sync()
        return store.durations()
    except StoreError:
        return []


def _measured(record: Record) -> bool:
    return any(case.outcome.status == "passed" for case in record.cases)


def _row(
    step: Step,
    path: Path,
    record: Record,
    judged: JudgedRecord | None,
    status: ExitStatus,
    *,
    seconds: float | None = None,
    kept: bool = False,
) -> Row:
    outcome = record.outcome
    return Row(
        benchmark=step.benchmark,
        words=step.shown,
        ranks=step.ranks,
        status=int(status),
        seconds=seconds_of(record) if seconds is None else seconds,
        outcomes=dict(Counter(case.outcome.status for case in record.cases)),
        reason=(outcome.reason if outcome else record.reason) or "",
        figure=headline(record),
        verdicts=dict(judged.counts()) if judged else {},
        warnings=len(record.warnings) + sum(len(case.warnings) for case in record.cases),
        record=path,
        kept=kept,
    )
