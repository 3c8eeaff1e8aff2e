"""Measures the models' figures of this machine and stores them in ``systems/local.toml``.

There are six kinds: legs of transfers (:mod:`plumbline.calibrate.legs`), ACCL's commands and copies
(:mod:`plumbline.calibrate.accl`), limits of a device and
its rates of random updates (:mod:`plumbline.calibrate.device`), one-sided operations
(:mod:`plumbline.calibrate.operations`), and rates of applications' own loops
(:mod:`plumbline.calibrate.work`); a run makes only the one required by its model. The file
holds calibrations of several conditions (device, transport, ranks, ...); each replaces only its own
predecessor.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import ExitStatus, InterruptError, RunError, UsageError
from plumbline.base.files import locked
from plumbline.calibrate import accl, device, legs, operations, work
from plumbline.engine.program import Engine
from plumbline.judge.promise import conditions_of
from plumbline.launch.execute import Session, execute
from plumbline.record.record import Record
from plumbline.system.device import DeviceTable
from plumbline.system.files import local_system, save_system
from plumbline.system.operations import Operation
from plumbline.system.system import (
    LOCAL,
    Calibration,
    CaseLaunches,
    MeasuredTransfer,
    Need,
    System,
)

Start = Callable[[str, Sequence[str]], Record]  # runs a benchmark with options
Prepare = Callable[[str, Sequence[str]], Session]  # the session of a benchmark with options


@dataclass(frozen=True)
class Kind:
    """``deciding``: options of a run that select its calibration.

    ``benchmark`` must be provided by the engine; ``measure`` returns the records to derive from, in
    about ``budget_s`` seconds; ``is_disturbed``: whether other work disturbed them.
    """

    deciding: tuple[str, ...]
    benchmark: str
    budget_s: int
    measure: Callable[[Start], list[Record]]
    is_disturbed: Callable[[Sequence[Record]], bool]


_KINDS: dict[Need, Kind] = {
    "legs": Kind(
        legs.DECIDING,
        legs.BENCHMARK,
        10,
        legs.measure,
        legs.is_disturbed,
    ),
    "device": Kind(
        device.DECIDING,
        device.BENCHMARK,
        12,
        device.measure,
        device.is_disturbed,
    ),
    "updates": Kind(
        device.DECIDING,
        device.BENCHMARK,
        8,
        device.measure_updates,
        device.is_disturbed,
    ),
    "operations": Kind(
        operations.DECIDING,
        operations.BENCHMARK,
        10,
        operations.measure,
        operations.is_disturbed,
    ),
    "accl": Kind(
        accl.DECIDING,
        accl.BENCHMARK,
        10,
        accl.measure,
        device.is_disturbed,
    ),
    "work": Kind(
        work.DECIDING,
        work.BENCHMARK,
        70,
        work.measure,
        device.is_disturbed,
    ),
}
NEEDS = tuple(_KINDS)
DECIDING = {need: kind.deciding for need, kind in _KINDS.items()}
_HEADING = """Written by plumb calibrate, which replaces only the calibration under like conditions.
Segments: time of n messages of L bytes = latency + n * L / bandwidth, in the first segment with
L <= up_to_bytes; worst_error is the fit's largest relative error at a measured size.
Limits of a device are of one rank while all ranks work."""


def request_text(
    need: Need, ranks: int, launcher: Sequence[str], options: Mapping[str, str]
) -> str:
    """The part of a run's request that selects its calibration."""
    words = [need, "-n", str(ranks), *launcher]
    for name in DECIDING[need]:
        if name in options:
            words += [f"--{name}", options[name]]
    return " ".join(words)


def can_measure(need: Need, engine: Engine, transport: str | None = None) -> bool:
    """Whether ``engine`` has the calibration's benchmark (``shoms``: OpenSHMEM only).

    ACCL's figures are measured over its transports, and nothing else over these.
    """
    if (need == "accl") != (transport or "").startswith(accl.PREFIX):
        return False
    return any(one.name == _KINDS[need].benchmark for one in engine.description.benchmarks)


def calibrate(
    session: Session,
    need: Need,
    request: str,
    arguments: Sequence[str],
    why: str,
    prepare: Prepare,
    suffices: Callable[[System], bool] = lambda _: False,
) -> System:
    """Measure, and write ``HOME/systems/local.toml``; returns the system.

    ``arguments`` are the engine's deciding options (see :data:`DECIDING`); ``why`` is printed with
    the expected duration. One plumb at a time measures on a host; if another's result ``suffices``
    meanwhile, nothing is measured. Raises :class:`UsageError` if the engine refuses the options (it
    prints the reason), :class:`RunError` if the measurement fails, :class:`InterruptError`. A file
    that cannot be written gives a message only.
    """

    def waits() -> None:
        session.say("waiting for another plumb that calibrates on this host")

    with locked(session.home.lock(f"calibrating-{socket.gethostname()}"), waits):
        known = local_system(session.home)
        if suffices(known):
            return known
        return _calibrate(session, need, request, arguments, why, prepare)


def _calibrate(
    session: Session,
    need: Need,
    request: str,
    arguments: Sequence[str],
    why: str,
    prepare: Prepare,
) -> System:
    began = time.monotonic()
    asides = iter([f"{why}: calibrating, which takes about {_KINDS[need].budget_s} s"])

    def start(benchmark: str, words: Sequence[str]) -> Record:
        options = [*arguments, *words]
        found = _measure(prepare(benchmark, options), benchmark, options, next(asides, ""))
        if found.emulated and need != "accl":  # whose table says that it is
            raise UsageError(f"no calibration, as its times are of no board: {found.emulated}")
        return found

    records = _KINDS[need].measure(start)
    seconds = time.monotonic() - began
    made = calibration(need, records, request, seconds)
    path = session.home.local_system
    try:
        with locked(session.home.lock(LOCAL)):  # keeps others' measurements
            system = local_system(session.home).with_calibration(made)
            save_system(system, path, _HEADING)
        session.say(f"calibrated in {seconds:.1f} s: {path}")
    except OSError as error:
        session.say(f"calibrated in {seconds:.1f} s, but not kept: {path}: {error.strerror}")
    if _KINDS[need].is_disturbed(records):
        session.say("other work disturbed the calibration: repeat it with plumb calibrate")
    return system


def calibration(need: Need, records: Sequence[Record], request: str, seconds: float) -> Calibration:
    """The calibration from records of the same conditions."""
    record = records[0]
    return Calibration(
        request=request,
        started=record.started,
        program=f"{record.program.name} {record.program.version} ({record.program.commit or '-'})",
        seconds=round(seconds, 1),
        conditions=conditions_of(record),
        legs=legs.fit_legs(records) if need == "legs" else None,
        transfers=_transfers(need, records),
        device=_device(need, records),
        accl=accl.table(records) if need == "accl" else None,
        operations=_operations(need, records),
        launches=launches_of(records),
    )


def launches_of(records: Sequence[Record]) -> list[CaseLaunches]:
    """Each case measured by several launches: its medians, in their order."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for record in records:
        for case in record.cases:
            median = case.median_s()
            if median and case.outcome.status == "passed":
                work = case.work.model_dump_json() + str(record.parameters.get("type", ""))
                seconds.setdefault((case.key, work), []).append(median)
    return [
        CaseLaunches(case=key, seconds=[float(f"{one:.4g}") for one in each])
        for (key, _), each in seconds.items()
        if len(each) > 1
    ]


def _device(need: Need, records: Sequence[Record]) -> DeviceTable | None:
    if need == "operations":
        return operations.updates(records)
    if need == "work":
        return work.device_table(records)
    return device.device_table(records) if need not in ("legs", "accl") else None


def _operations(need: Need, records: Sequence[Record]) -> list[Operation]:
    if need == "work":
        return work.rows(records)
    return operations.rows(records) if need == "operations" else []


def _transfers(need: Need, records: Sequence[Record]) -> list[MeasuredTransfer]:
    if need == "work":
        return work.transfers(records)
    return legs.fit_transfers(records) if need == "legs" else []


def _measure(session: Session, benchmark: str, arguments: Sequence[str], aside: str) -> Record:
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        path = Path(folder) / "calibration.json"
        done = execute(session, benchmark, arguments, path, aside)
    if done.interrupted:
        raise InterruptError
    if done.status is ExitStatus.BAD_USAGE:
        raise UsageError
    if done.record is None or done.status is not ExitStatus.PASSED:
        raise RunError("the calibration failed; --no-model runs without one")
    return done.record
