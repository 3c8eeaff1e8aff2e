"""``plumb run``: validate, calibrate if necessary, launch, judge, show, store."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from plumbline.base.errors import ExitStatus, RunError, UsageError
from plumbline.calibrate import calibrate
from plumbline.engine.text_form import print_record
from plumbline.judge.efficiency import Efficiency
from plumbline.judge.history import earlier_launches
from plumbline.judge.judgement import Judgement, judge
from plumbline.judge.promise import is_covered
from plumbline.judge.sequence import MOST_LAUNCHES
from plumbline.launch.execute import Executed, Session, execute, record_place
from plumbline.model.benchmarks import model_of, need_of
from plumbline.record import store
from plumbline.record.expectations import expected_path
from plumbline.record.record import Record
from plumbline.report.figures import tty
from plumbline.report.figures.files import beside
from plumbline.report.figures.picture import save
from plumbline.report.nodes import slowest_node
from plumbline.report.sharing import shared_devices
from plumbline.run.plan import RunPlan, check_with_engine, with_heap, with_parts
from plumbline.system.files import find_system, local_system
from plumbline.system.system import Need, System

# The default system for comparison with links between boards.
LINKED_BOARDS = "noctua1-520n"
# A run is not launched again beyond this time (one that takes longer: twice at most).
SECONDS_OF_DOUBT = 40.0
# What decides the exit status of several launches, the last of them first.
WEIGHT = (
    ExitStatus.PASSED,
    ExitStatus.SLOW,
    ExitStatus.WRONG_ANSWER,
    ExitStatus.ERROR,
    ExitStatus.BAD_USAGE,
    ExitStatus.INTERRUPTED,
)


def run(plan: RunPlan) -> int:
    """Run a plan; returns the exit status."""
    engine_plan = check_with_engine(plan)
    if plan.given.flag("dry-run"):
        print(engine_plan, end="")
        return ExitStatus.PASSED
    return Run(with_parts(plan)).launch_all()


@dataclass(frozen=True)
class Launched:
    """How a launch ended, what it was judged, and whether another one is to decide."""

    executed: Executed
    status: ExitStatus
    judgement: Judgement
    again: bool = False


@dataclass
class Series:
    """Launches of one run, until none of its cases is in doubt.

    ``most``: launches; ``history``: records of earlier runs; ``alone``: the efficiencies by each of
    its own launches alone, by case.
    """

    most: int = MOST_LAUNCHES
    begin: float = field(default_factory=monotonic)
    history: Sequence[Record] | None = None
    alone: list[Mapping[str, Efficiency]] = field(default_factory=list)

    def goes_on(self, judgement: Judgement) -> bool:
        """Whether another launch is to decide what the last one, just added, left in doubt."""
        launches, spent = len(self.alone), monotonic() - self.begin
        longest = max(SECONDS_OF_DOUBT, 2 * spent / launches)
        in_time = launches < self.most and spent * (1 + 1 / launches) <= longest
        return in_time and bool(judgement.in_doubt())


class Run:
    """One planned ``plumb run``: its launches, and the system by which they are judged.

    A ``quiet`` one prints no results. Without ``calibrates`` uncalibrated runs are not judged.
    """

    def __init__(self, plan: RunPlan, *, quiet: bool = False, calibrates: bool = True) -> None:
        self.plan = plan
        self.session = plan.session
        without = ("no-model", "test", "active-ranks")  # models use figures of all ranks at work
        self._quiet = quiet
        self._modelled = not any(plan.given.flag(name) for name in without)
        self._local = self._modelled and "system" not in plan.given.values
        self._has_parts = "--parts" in plan.arguments
        # Parts replace a calibration; an engine that measures none is calibrated for.
        options = plan.session.engine.description.options
        self._calibrates = calibrates and all(option.name != "parts" for option in options)
        self._output = fresh_output(plan)
        self._system: System | None = None
        self._series: Series | None = None

    def launch_all(self) -> int:
        """Start the program the requested number of times, show each record; returns the status."""
        if "launches" not in self.plan.given.values:
            return self.launch_until_decided().status
        statuses: list[ExitStatus] = []
        records: list[Record] = []
        for launch in range(1, self.plan.launches + 1):
            launched = self.launch(launch)
            statuses.append(launched.status)
            done = launched.executed
            if done.record is not None:
                records.append(done.record)
            if done.interrupted or launched.status is ExitStatus.BAD_USAGE:
                break
        if len(records) > 1:
            self._show_spread(records)
        return max(statuses, key=WEIGHT.index)

    def launch_until_decided(self, most: int = MOST_LAUNCHES) -> Launched:
        """Start the program until no case is in doubt; returns the last launch."""
        if self._has_parts and self._modelled:
            self._series = Series(most)
        launched = self.launch()
        while launched.again and self._series:
            launched = self.launch(len(self._series.alone) + 1)
        return launched

    def launch(self, launch: int = 1) -> Launched:
        """Start the program once; judge, show and keep its record."""
        if launch == 1:
            self._system = self._first_system()
        given = self.plan.given.values.get("record")
        path, problem = record_place(self.session, self.plan.benchmark.name, given, launch)
        if problem:
            self.session.say(problem)
        done = execute(self.session, self.plan.benchmark.name, self.plan.arguments, path)
        status, judgement, again = done.status, Judgement(None, ""), False
        if done.record is not None:
            try:
                judgement = self._judge(done.record, done.interrupted)
                again = self._is_to_go_on(done, judgement)
                status = self._show(done, judgement, self._quiet or again)
            finally:  # an interrupt after the measurement loses nothing
                if not self._quiet:
                    self.session.say(f"record: {path}")
            index_record(self.session, path)
        if problem and status in (ExitStatus.PASSED, ExitStatus.SLOW):
            status = ExitStatus.ERROR
        return Launched(done, status, judgement, again)

    def _is_to_go_on(self, done: Executed, judgement: Judgement) -> bool:
        """Whether the program starts again, since launches differ and a case is in doubt."""
        series = self._series
        if series is None or done.interrupted or done.status is not ExitStatus.PASSED:
            return False
        series.alone.append(judgement.alone)
        if not series.goes_on(judgement):
            return False
        keys = judgement.in_doubt()
        named = ", ".join(keys[:3]) + (", …" if len(keys) > 3 else "")
        self.session.say(
            f"in doubt: {named}; launches differ, so another one decides (--launches 1: none)"
        )
        return True

    def _show(self, done: Executed, judgement: Judgement, quiet: bool) -> ExitStatus:
        status = done.status
        try:
            with tempfile.TemporaryDirectory(prefix="plumbline-") as spare:
                expected = write_expected(judgement, done.path, Path(spare))
                if not quiet:
                    self._present(done.path, expected)
                    self._draw(done)
        except RunError as error:
            self.session.say(str(error))
            status = ExitStatus.ERROR
        lines = [judgement.line]
        if done.record is not None:
            lines += [slowest_node(done.record) or "", *shared_devices(done.record)]
        for line in filter(None, [] if quiet else lines):
            self.session.say(line)
        slow = judgement.judged is not None and judgement.judged.counts()["slow"] > 0
        if slow and self.plan.given.flag("fail-slow") and status is ExitStatus.PASSED:
            status = ExitStatus.SLOW
        return status

    def _present(self, path: Path, expected: Path | None) -> None:
        engine, environ = self.session.engine, self.session.environ
        form = self.plan.format
        print_record(engine, environ, path, expected, form=form, output=self._output)

    def _draw(self, done: Executed) -> None:
        """The figures of ``--graph``, an option of some benchmarks."""
        kind = str(done.record.parameters.get("graph", "none")) if done.record else "none"
        if done.record is None or kind == "none":
            return
        for number, figure in enumerate(beside(done.record, done.path.parent), 1):
            if kind == "tty":
                print("", *tty.lines(figure), sep="\n")
                continue
            picture = done.path.with_name(f"{done.path.stem}.{number}.{kind}")
            save(figure, picture)
            self.session.say(f"picture: {picture}")

    def _first_system(self) -> System | None:
        """The system to compare with; calibrates this machine if necessary."""
        given = self.plan.given.values
        if not self._local:
            return find_system(given["system"], self.session.home) if self._modelled else None
        model = model_of(self.plan.benchmark.name)
        transport = given.get("transport")
        if model is None or (transport is not None and transport not in model.TRANSPORTS):
            return None
        if need_of(model, transport) == "channel":
            return find_system(LINKED_BOARDS, self.session.home)
        system = local_system(self.session.home)
        if not self._calibrates:
            return system
        asked = request_of(self.plan, model.NEEDS)
        if system.answers(asked) or not self._can_calibrate(model.NEEDS):
            return system
        return self._calibrate(
            model.NEEDS,
            "this machine is not calibrated for this kind of run yet",
            lambda known: known.answers(asked),
        )

    def _can_calibrate(self, need: Need) -> bool:
        return self._calibrates and calibrate.can_measure(need, self.session.engine)

    def _calibrate(self, need: Need, why: str, suffices: Callable[[System], bool]) -> System | None:
        try:
            return calibrate_for(self.plan, need, why, suffices)
        except RunError as error:
            self.session.say(str(error))
            return None

    def _judge(self, record: Record, interrupted: bool) -> Judgement:
        if not self._modelled:
            return Judgement(None, "")
        model = model_of(record.benchmark.name)
        covered = self._system is None or is_covered(record, self._system)
        wanted = self._local and not covered and not interrupted and self._calibrates
        if model and wanted and self._can_calibrate(model.NEEDS):
            why = "the run was under other conditions than its calibration"
            self._system = self._calibrate(
                model.NEEDS, why, lambda known: is_covered(record, known)
            )
        series = self._series or Series()
        if series.history is None:
            found = earlier_launches(self.session.home, record) if self._has_parts else []
            series.history = found
        launches = self._series.alone if self._series else None
        return judge(record, self._system, self.plan.tolerance, series.history, launches)

    def _show_spread(self, records: Sequence[Record]) -> None:
        text = spread(records)
        if self.plan.format == "table" and self._output is None:
            print(text)
        else:
            self.session.say(text)


def calibrate_for(
    plan: RunPlan, need: Need, why: str, suffices: Callable[[System], bool] = lambda _: False
) -> System:
    """Calibrate for runs like ``plan``, as :func:`plumbline.calibrate.calibrate.calibrate` does."""
    arguments = _deciding_arguments(plan, need)

    def prepare(benchmark: str, words: Sequence[str]) -> Session:
        return with_heap(plan.session, benchmark, words, plan.request)

    asked = request_of(plan, need)
    return calibrate.calibrate(plan.session, need, asked, arguments, why, prepare, suffices)


def request_of(plan: RunPlan, need: Need) -> str:
    """The part of the plan that determines its calibration."""
    launcher = [plan.request.launcher] if plan.request.launcher != "auto" else []
    words = [*launcher, *plan.request.arguments]
    return calibrate.request_text(need, plan.request.ranks, words, plan.given.values)


def write_expected(judgement: Judgement, record: Path, spare: Path) -> Path | None:
    """Write the expectation file beside ``record``, or into ``spare`` if that fails."""
    if judgement.judged is None:
        return None
    path = expected_path(record)
    try:
        judgement.judged.write(path)
    except OSError:
        path = spare / path.name
        judgement.judged.write(path)
    return path


def spread(records: Sequence[Record]) -> str:
    """Spread of each case's median over launches, in microseconds per count."""
    keys = [case.key for case in records[0].cases]
    width = max([4, *(len(key) for key in keys)])
    unit = "us, emulated" if any(record.emulated for record in records) else "us"
    lines = [
        f"median of one count over {len(records)} launches ({unit})",
        f"{'case':<{width}} {'lowest':>12} {'middle':>12} {'highest':>12} {'high/low':>9}",
    ]
    for key in keys:
        medians = [
            median * 1e6
            for record in records
            for case in record.cases
            if case.key == key and (median := case.median_s())
        ]
        if medians:
            low, middle, high = min(medians), statistics.median(medians), max(medians)
            lines.append(
                f"{key:<{width}} {low:12.3f} {middle:12.3f} {high:12.3f} {high / low:9.2f}"
            )
    return "\n".join(lines)


def _deciding_arguments(plan: RunPlan, need: Need) -> list[str]:
    words: list[str] = []
    options = iter(plan.arguments)
    for word in options:
        if word.removeprefix("--") in calibrate.DECIDING[need]:
            words += [word, next(options)]
    return words


def index_record(session: Session, path: Path) -> None:
    """Index the record at ``path``; a failure is only reported."""
    try:
        store.Store(session.home).add(path)
    except store.StoreError as error:
        session.say(f"the index of records was not updated: {error}")


def fresh_output(plan: RunPlan) -> Path | None:
    """The file for the results, emptied, or None. Raises :class:`UsageError`."""
    given = plan.given.values.get("output")
    if given is None:
        return None
    path = Path(given)
    try:
        path.write_bytes(b"")
    except OSError as error:
        raise UsageError(f"--output {given} cannot be written: {error.strerror}") from None
    return path
