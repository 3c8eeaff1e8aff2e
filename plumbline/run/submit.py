"""``plumb submit``: runs as a batch job: script, submission, waiting, records.

A submission has a folder ``jobs/TIME`` in the home, claimed for it alone: the script, ``job.json``
with the runs, and from each task its output and, as its last act, ``end-N.json`` with submission,
job and exit status. A task without that file did not reach its end, whatever Slurm says of it.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console

from plumbline.base.errors import ExitStatus, InterruptError, RunError, UsageError
from plumbline.base.files import replace_file
from plumbline.base.paths import Home, find_home
from plumbline.engine.options import Given
from plumbline.engine.program import OptionSpec
from plumbline.engine.text_form import print_record
from plumbline.launch.execute import cases_left
from plumbline.launch.jobs import ENDINGS, Scheduler, State, scheduler_of
from plumbline.record import store
from plumbline.record.expectations import expected_path
from plumbline.record.record import Record, load_record
from plumbline.run.plan import Request, RunPlan, check_with_engine, make_plan
from plumbline.run.run import WEIGHT
from plumbline.run.survey import listed_requests, words_of
from plumbline.system.files import find_system, local_system
from plumbline.system.job import JobTable, checked_word

SCHEDULERS = ["slurm", "local"]
_LOOK_S = 0.2
_ASK_S = 3.0
# Until a file that a task wrote is seen on this node.
_GRACE_S = {"slurm": 10.0, "local": 0.5}
_DONE = "COMPLETED"
_ENDED_EARLY = (ExitStatus.ERROR, ExitStatus.INTERRUPTED)
_HEADS = ("partition", "account", "constraint", "time")
# Of the options of a run: those that the submission sets, or without a meaning in a job.
NOT_SUBMITTED = frozenset(("record", "output", "watch", "format", "dry-run", "verbose", "launches"))


def own_options() -> list[OptionSpec]:
    """The options of ``plumb submit`` beside those of a run."""
    machine = "system file or name whose [job] has partition, account, constraint, time, modules"
    facts: list[dict[str, object]] = [
        {"name": "scheduler", "type": "choice", "choices": SCHEDULERS, "default": "slurm",
         "help": "slurm, or local: the script runs on this node"},
        {"name": "machine", "type": "text", "help": f"{machine} (default: this machine's)"},
        {"name": "partition", "type": "text", "help": "partition of the job"},
        {"name": "account", "type": "text", "help": "account of the job"},
        {"name": "constraint", "type": "text", "help": "features of the job's nodes"},
        {"name": "time", "type": "text", "help": "time limit of the job: minutes, or H:M:S"},
        {"name": "dry-run", "type": "flag", "help": "print the script, submit nothing"},
        {"name": "no-wait", "type": "flag", "help": "end after the submission"},
    ]  # fmt: skip
    return [OptionSpec.model_validate(one) for one in facts]


def collect_options() -> list[OptionSpec]:
    """The options of ``plumb submit --collect``."""
    job = {"name": "collect", "type": "text", "help": "records of this job, once it has ended"}
    kept = [one for one in own_options() if one.name == "no-wait"]
    return [OptionSpec.model_validate(job), *kept]


class Task(BaseModel):
    """A run of a job: arguments of ``plumb run``, and its record."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    benchmark: str
    words: list[str]
    record: str


class Submitted(BaseModel):
    """``job.json``. ``token`` is the submission's own name, ``job`` the scheduler's."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    token: str
    scheduler: str
    job: str
    submitted: str
    tasks: list[Task]


class End(BaseModel):
    """``end-N.json``, written by the job's script."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    token: str
    job: str
    task: int
    status: int


class Collected(NamedTuple):
    """The outcome of a task; ``sentence`` is empty if the run itself reported all."""

    status: ExitStatus
    sentence: str
    record: Record | None


@dataclass(frozen=True)
class Wanted:
    """A checked submission: the runs with their plans, and the job's options."""

    plans: Sequence[RunPlan]
    given: Given
    job: JobTable
    home: Home

    @property
    def scheduler(self) -> str:
        """Its name."""
        return self.given.values.get("scheduler", SCHEDULERS[0])


def submit_one(asked: Request, environ: Mapping[str, str], console: Console) -> int:
    """Submit one run. Returns the exit status."""
    return _submit([asked], asked.given, environ, console)


def submit_file(path: Path, given: Given, environ: Mapping[str, str], console: Console) -> int:
    """Submit the runs of a survey's file, as an array. Returns the exit status."""
    return _submit(listed_requests(path, environ), given, environ, console)


def _submit(
    requests: Sequence[Request], given: Given, environ: Mapping[str, str], console: Console
) -> int:
    scheduler = scheduler_of(given.values.get("scheduler", SCHEDULERS[0]), environ)
    wanted = _checked(requests, given, environ, console)
    if given.flag("dry-run"):
        token, folder = "TIME", wanted.home.root / "jobs" / "TIME"
        print(_script(wanted, _tasks(wanted, token), token, folder), end="")
        return ExitStatus.PASSED
    folder = _claimed(wanted.home)
    tasks = _tasks(wanted, folder.name)
    script = folder / "script.sh"
    script.write_text(_script(wanted, tasks, folder.name, folder), encoding="utf-8")
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    made = Submitted(
        token=folder.name,
        scheduler=wanted.scheduler,
        job=scheduler.submit(script, len(tasks)),
        submitted=now,
        tasks=tasks,
    )
    replace_file(folder / "job.json", made.model_dump_json(indent=1) + "\n")
    _say(console, f"job {made.job}: {script}")
    if given.flag("no-wait"):
        _say(console, f"plumb submit --collect {made.job} gets its records")
        return ExitStatus.PASSED
    plan = wanted.plans[0]

    def show(path: Path) -> None:
        expected = expected_path(path)
        shown = expected if expected.exists() else None
        print_record(plan.session.engine, plan.session.environ, path, shown, form="table")

    return Job(wanted.home, folder, made, scheduler, console).finish(show)


def collect(given: Given, environ: Mapping[str, str], console: Console) -> int:
    """Wait for an earlier job's end and collect its records. Returns the exit status."""
    home, name = find_home(environ), given.values["collect"]
    folder, made = _find_job(home, name)
    job = Job(home, folder, made, scheduler_of(made.scheduler, environ), console)
    return job.report() if given.flag("no-wait") else job.finish(lambda _: None)


@dataclass
class Job:
    """A submitted job."""

    home: Home
    folder: Path
    made: Submitted
    scheduler: Scheduler
    console: Console

    def finish(self, show: Callable[[Path], None]) -> int:
        """Wait, then index and report all records; ``show`` prints that of a single run."""
        try:
            states = self._wait()
        except KeyboardInterrupt:
            raise InterruptError(
                f"job {self.made.job} goes on (scancel {self.made.job} ends it); "
                f"plumb submit --collect {self.made.job} gets its records"
            ) from None
        statuses = []
        for number, task in enumerate(self.made.tasks):
            done = self.collected(number, states.get(number))
            statuses.append(done.status)
            if done.record is not None:
                self._index(Path(task.record))
                if len(self.made.tasks) == 1:
                    show(Path(task.record))
            self._tell(task, done)
        return max(statuses, key=WEIGHT.index)

    def report(self) -> int:
        """The states, without waiting."""
        states = self.scheduler.states(self.made.job)
        missing = [n for n in range(len(self.made.tasks)) if self._end(n) is None]
        going = [n for n in missing if states is None or (n in states and not states[n].ended)]
        if not going:
            return self.finish(lambda _: None)
        words = {states[n].word if states else "of unknown state" for n in going}
        raise RunError(f"job {self.made.job} is {', '.join(sorted(words))}: collect it later")

    def collected(self, number: int, state: State | None) -> Collected:
        """What a task left: its end, its record, and whether both are of this job."""
        task, end = self.made.tasks[number], self._end(number)
        path = Path(task.record)
        record = _load(path)
        strange = self._why_another(task, end, record, path)
        if strange:
            return Collected(ExitStatus.ERROR, strange, None)
        if end is None or (end.status not in tuple(ExitStatus)):
            return Collected(ExitStatus.ERROR, self._without_end(number, state, record), record)
        status = ExitStatus(end.status)
        ended_by = state.word if state else _DONE
        if ended_by not in (_DONE, "FAILED", "COMPLETING", "RUNNING"):
            sentence = ENDINGS.get(ended_by, "job {job} ended").format(job=self._name(number))
            return Collected(ExitStatus.ERROR, f"{sentence}; {cases_left(record, path)}", record)
        if record is None and status not in (ExitStatus.BAD_USAGE, ExitStatus.ERROR):
            sentence = f"job {self._name(number)} left no record: {self._said(number)}"
            return Collected(ExitStatus.ERROR, sentence, None)
        worst = max(status, _of_record(record), key=WEIGHT.index)
        sentence = "" if worst is ExitStatus.PASSED else self._said(number)
        return Collected(worst, sentence, record)

    def _why_another(
        self, task: Task, end: End | None, record: Record | None, path: Path
    ) -> str | None:
        """How end or record belong to another submission, or None."""
        if end is not None and end.token != self.made.token:
            return f"{self.folder} has an end of submission {end.token}, not of {self.made.token}"
        if end is not None and self.made.scheduler == "slurm" and end.job != self.made.job:
            return f"{self.folder} has an end of job {end.job}, not of {self.made.job}"
        if record is not None and task.record not in record.command:
            return f"{path} is another run's record: it was not written by job {self.made.job}"
        return None

    def _without_end(self, number: int, state: State | None, record: Record | None) -> str:
        left = cases_left(record, Path(self.made.tasks[number].record))
        if state is None:
            return f"job {self._name(number)} ended from outside, and nothing tells how; {left}"
        sentence = ENDINGS.get(state.word, "job {job} ended").format(job=self._name(number))
        output = self._output(number)
        told = f"see {output}" if output.exists() else "its script did not start"
        return f"{sentence} before its run ended ({told}); {left}"

    def _name(self, number: int) -> str:
        """The scheduler's name of a task."""
        return f"{self.made.job}_{number}" if len(self.made.tasks) > 1 else self.made.job

    def _said(self, number: int) -> str:
        """The run's last message."""
        with suppress(OSError):
            lines = self._output(number).read_text(errors="replace").splitlines()
            said = [line for line in lines if line.startswith("plumb: ")]
            if said:
                return said[-1].removeprefix("plumb: ")
        return f"see {self._output(number)}"

    def _output(self, number: int) -> Path:
        return self.folder / f"output-{number}.txt"

    def _end(self, number: int) -> End | None:
        with suppress(OSError, ValidationError):
            return End.model_validate_json((self.folder / f"end-{number}.json").read_bytes())
        return None

    def _wait(self) -> Mapping[int, State]:
        """Wait until every task has its end, or will have none; returns the last states."""
        begin = ask_at = time.monotonic()
        states: Mapping[int, State] | None = None
        over_since: float | None = None
        told = ""
        while missing := self._missing():
            now = time.monotonic()
            if now >= ask_at:
                states, ask_at = self.scheduler.states(self.made.job), now + _ASK_S
                told = self._tell_states(states, told, now - begin)
            going = states is None or any(n in missing and not s.ended for n, s in states.items())
            over_since = None if going else over_since or now
            if over_since is not None and now - over_since > _GRACE_S[self.made.scheduler]:
                return states or {}
            time.sleep(_LOOK_S)
        return self._states_at_end()

    def _missing(self) -> set[int]:
        """Tasks without an end."""
        present = set(os.listdir(self.folder))  # noqa: PTH208 - a listing is read anew
        return {n for n in range(len(self.made.tasks)) if f"end-{n}.json" not in present}

    def _states_at_end(self) -> Mapping[int, State]:
        """The states, of failed runs only once Slurm tells why the job ended."""
        until = time.monotonic() + _GRACE_S[self.made.scheduler]
        while True:
            states = self.scheduler.states(self.made.job) or {}
            failed = [n for n in states if (end := self._end(n)) and end.status in _ENDED_EARLY]
            if all(states[n].ended for n in failed) or time.monotonic() > until:
                return states
            time.sleep(_LOOK_S)

    def _tell_states(self, states: Mapping[int, State] | None, told: str, seconds: float) -> str:
        words = sorted({f"{one.word} ({one.reason})" if one.word == "PENDING" else one.word
                        for one in (states or {}).values() if not one.ended})  # fmt: skip
        text = ", ".join(words)
        if text and text != told:
            _say(self.console, f"job {self.made.job}, {seconds:.0f} s: {text}")
        return text or told

    def _tell(self, task: Task, done: Collected) -> None:
        if done.sentence:
            _say(self.console, f"plumb: {done.sentence}")
        if len(self.made.tasks) > 1:
            word = done.status.name.lower().replace("_", " ")
            _say(self.console, f"{' '.join([task.benchmark, *task.words[1:]])}: {word}")
        if done.record is not None:
            _say(self.console, f"record: {task.record}")

    def _index(self, path: Path) -> None:
        try:
            store.Store(self.home).add(path)
        except store.StoreError as error:
            _say(self.console, f"the index of records was not updated: {error}")


def _checked(
    requests: Sequence[Request], given: Given, environ: Mapping[str, str], console: Console
) -> Wanted:
    """The plans of the runs and the job's options. Raises :class:`UsageError`."""
    home = find_home(environ)
    machine = given.values.get("machine")
    system = find_system(machine, home) if machine else local_system(home)
    job = system.job or JobTable()
    own = {
        name: checked_word(f"--{name}".removeprefix("--"), given.values[name])
        for name in _HEADS
        if name in given.values
    }
    plans = []
    for asked in requests:
        values = {n: v for n, v in asked.given.values.items() if n not in _own_names()}
        if given.values.get("scheduler", SCHEDULERS[0]) == "slurm":
            values.setdefault("launcher", "srun")
        plan = make_plan(replace(asked, given=Given(values)), environ, console)
        check_with_engine(plan)
        plans.append(plan)
    return Wanted(plans, given, job.model_copy(update=own), home)


def _own_names() -> set[str]:
    return {option.name for option in own_options()}


def _tasks(wanted: Wanted, token: str) -> list[Task]:
    """The runs, with records of the submission's own name."""
    tasks = []
    for number, plan in enumerate(wanted.plans):
        name = plan.benchmark.name
        record = wanted.home.records / f"{name}-{token}-{number}.json"
        values = dict(plan.given.values)
        if plan.request.placement is None:
            values["ranks"] = str(plan.request.ranks)
        words = ["run", name, *words_of(values), "--launches", "1", "--record", str(record)]
        tasks.append(Task(benchmark=name, words=words, record=str(record)))
    return tasks


def _script(wanted: Wanted, tasks: Sequence[Task], token: str, folder: Path) -> str:
    """The job's script, for bash, with Slurm's options in its head."""
    quote = shlex.quote
    modules = [f"module load {' '.join(wanted.job.modules)}"] if wanted.job.modules else []
    cases = [f"  {n}) set -- {shlex.join(task.words)} ;;" for n, task in enumerate(tasks)]
    settings = {"PLUMBLINE_HOME": str(wanted.home.root)}
    if "PLUMBLINE_ENGINE" in os.environ:
        settings["PLUMBLINE_ENGINE"] = str(Path(os.environ["PLUMBLINE_ENGINE"]).absolute())
    end = '{"token": "%s", "job": "%s", "task": %d, "status": %d}'
    lines = [
        "#!/bin/bash -l" if modules else "#!/bin/bash",
        *(f"#SBATCH {line}" for line in _heads(wanted)),
        "trap : TERM  # at the time limit: the run ends, and this script still writes how",
        "task=${PLUMBLINE_TASK:-${SLURM_ARRAY_TASK_ID:-0}}",
        "job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-local}}",
        f"folder={quote(str(folder))}",
        'exec >"$folder/output-$task.txt" 2>&1',
        *modules,
        *(f"export {name}={quote(value)}" for name, value in settings.items()),
        "case $task in",
        *cases,
        "esac",
        f'{quote(sys.executable)} -m plumbline "$@"',
        "status=$?",
        f'printf \'{end}\\n\' {quote(token)} "$job" "$task" "$status" >"$folder/.end-$task"',
        'mv "$folder/.end-$task" "$folder/end-$task.json"',
        "exit $status",
    ]
    return "\n".join(lines) + "\n"


def _heads(wanted: Wanted) -> list[str]:
    """Slurm's options: room for the largest run."""
    names = dict.fromkeys(plan.benchmark.name for plan in wanted.plans)
    placements = [one for plan in wanted.plans if (one := plan.request.placement)]
    lines = [f"--job-name=plumb-{'-'.join(names)[:60]}"]
    if len(wanted.plans) > 1:
        lines.append(f"--array=0-{len(wanted.plans) - 1}")
    lines.append(f"--ntasks={max(plan.request.ranks for plan in wanted.plans)}")
    if placements:
        lines.append(f"--nodes={max(one.nodes for one in placements)}")
    if len(placements) == len(wanted.plans):
        lines.append(f"--ntasks-per-node={max(one.per_node for one in placements)}")
    values = {name: getattr(wanted.job, name) for name in _HEADS}
    lines += [f"--{name}={value}" for name, value in values.items() if value]
    lines += ["--exclusive"] if wanted.job.exclusive else []
    return [*lines, "--no-requeue", "--output=/dev/null"]


def _claimed(home: Home) -> Path:
    """A new folder of a submission, of this one alone."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    jobs = home.root / "jobs"
    try:
        home.records.mkdir(parents=True, exist_ok=True)
        jobs.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = jobs / (stamp if number == 1 else f"{stamp}-{number}")
            with suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise UsageError(f"no job can be kept in {jobs}: {error.strerror}") from None
    raise AssertionError("unreachable")


def _find_job(home: Home, name: str) -> tuple[Path, Submitted]:
    """The newest submission with this job or folder. Raises :class:`UsageError`."""
    for path in sorted((home.root / "jobs").glob("*/job.json"), reverse=True):
        with suppress(OSError, ValidationError):
            made = Submitted.model_validate_json(path.read_bytes())
            if name in (made.job, made.token):
                return path.parent, made
    raise UsageError(f"--collect {name}: no job of this name was submitted from {home.root}")


def _load(path: Path) -> Record | None:
    with suppress(UsageError):
        return load_record(path)
    return None


def _of_record(record: Record | None) -> ExitStatus:
    """The exit status that a record's outcome means."""
    if record is None:
        return ExitStatus.ERROR
    if record.outcome is None:
        return ExitStatus.ERROR
    by = {"failed": ExitStatus.WRONG_ANSWER, "error": ExitStatus.ERROR}
    return by.get(record.outcome.status, ExitStatus.PASSED)


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
