"""Measures this machine's legs and keeps them in ``systems/local.toml``.

Two starts of ``b_eff --part all`` (launches differ) give launch, read, exchange and write at every
size; the middle of the medians counts. Each leg is then fitted by few straight lines. Calibrations
of several conditions (device, transport, ranks, ...) stand side by side in the file; each replaces
only its own predecessor.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plumbline.assess import conditions_of
from plumbline.errors import ExitStatus, RunError, UsageError
from plumbline.execute import Session, execute
from plumbline.home import Home
from plumbline.models.b_eff import BENCHMARK, leg_of
from plumbline.record import Record
from plumbline.systems import (
    LEGS,
    LOCAL,
    Calibration,
    Identity,
    Leg,
    Legs,
    Point,
    Segment,
    System,
    load_system,
    save_system,
)

BUDGET_S = 10
_LAUNCHES = 2
_DISTURBED_SHARE = 0.1
# Options of a run that decide which calibration fits it; the rest (sizes, repetitions) does not.
DECIDING = (
    "runtime",
    "device",
    "device-map",
    "memory",
    "transport",
    "form",
    "batch",
    "replications",
)
_FIXED = (
    *("--part", "all", "--ring", "natural", "--min-size", "0", "--max-size", "22"),
    *("--time-limit", "0.02"),
)
_HEADING = """Written by plumb calibrate, which replaces only the calibration under like conditions.
time of n messages of L bytes = latency + n * L / bandwidth, in the first segment with
L <= up_to_bytes; worst_error is the fit's largest relative error at a measured size."""


def request_text(ranks: int, launcher: Sequence[str], options: Mapping[str, str]) -> str:
    """The part of a run's request that decides which calibration fits it."""
    words = ["-n", str(ranks), *launcher]
    for name in DECIDING:
        if name in options:
            words += [f"--{name}", options[name]]
    return " ".join(words)


def calibrate(session: Session, request: str, arguments: Sequence[str], why: str) -> System:
    """Measure, fit, and write ``HOME/systems/local.toml``; returns the system.

    ``arguments`` are the engine's options that decide (see :data:`DECIDING`); ``why`` is told with
    how long it takes. Raises :class:`UsageError` where the engine refuses the options (it said
    why), :class:`RunError` where the measurement fails. A file that cannot be written is only told.
    """
    began = time.monotonic()
    asides = [f"{why}: calibrating, which takes about {BUDGET_S} s"] + [""] * (_LAUNCHES - 1)
    records = [_measure(session, [*arguments, *_FIXED], aside) for aside in asides]
    seconds = time.monotonic() - began
    system = local_system(session.home).with_calibration(calibration(records, request, seconds))
    path = session.home.local_system
    try:
        save_system(system, path, _HEADING)
        session.say(f"calibrated in {seconds:.1f} s: {path}")
    except OSError as error:
        session.say(f"calibrated in {seconds:.1f} s, but not kept: {path}: {error.strerror}")
    if disturbed_share(records) > _DISTURBED_SHARE:
        session.say("other work disturbed the calibration: plumb calibrate repeats it")
    return system


def local_system(home: Home) -> System:
    """``systems/local.toml``, or an empty system where there is none yet."""
    path = home.local_system
    if path.exists():
        return load_system(path)
    return System(
        system=Identity(name=LOCAL, description="this machine, measured", source="plumb calibrate")
    )


def calibration(records: Sequence[Record], request: str, seconds: float) -> Calibration:
    """The calibration that records of all parts give, made under the same conditions."""
    record = records[0]
    return Calibration(
        request=request,
        started=record.started,
        program=f"{record.program.name} {record.program.version} ({record.program.commit or '-'})",
        seconds=round(seconds, 1),
        conditions=conditions_of(record),
        legs=fit_legs(records),
    )


def fit_legs(records: Sequence[Record]) -> Legs:
    """Fit each leg that ``records`` have cases of."""
    from plumbline.fit import fit_segments, undisturbed  # SciPy takes half a second to import

    fitted: dict[Leg, list[Segment]] = {}
    for leg in LEGS:
        points = undisturbed(_points(records, leg))
        if points:
            fitted[leg] = fit_segments(points)
    return Legs.model_validate(fitted)


def disturbed_share(records: Sequence[Record]) -> float:
    """The part of the measured points that something else on the machine disturbed."""
    from plumbline.fit import undisturbed

    measured = [_points(records, leg) for leg in LEGS]
    kept = sum(len(undisturbed(points)) for points in measured)
    return 1 - kept / max(sum(len(points) for points in measured), 1)


def _points(records: Sequence[Record], leg: Leg) -> list[Point]:
    """The times of ``leg`` by size: the middle of the records' medians.

    A median more than twice the lowest was disturbed by something else, and does not count.
    """
    medians: dict[int, list[Point]] = {}
    for record, case in ((made, case) for made in records for case in made.cases):
        seconds = case.median_s()
        if leg_of(record, case) == leg and seconds:
            point = Point(case.work.messages, case.message_bytes(), seconds)
            medians.setdefault(point.message_bytes, []).append(point)
    return [_middle(medians[size]) for size in sorted(medians)]


def _middle(points: Sequence[Point]) -> Point:
    lowest = min(points, key=lambda point: point.seconds)
    counted = [point.seconds for point in points if point.seconds <= 2 * lowest.seconds]
    return replace(lowest, seconds=statistics.geometric_mean(counted))


def _measure(session: Session, arguments: Sequence[str], aside: str) -> Record:
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        path = Path(folder) / "calibration.json"
        done = execute(session, BENCHMARK, arguments, path, aside)
    if done.status is ExitStatus.BAD_USAGE:
        raise UsageError
    if done.record is None or done.status is not ExitStatus.PASSED:
        raise RunError("the calibration failed; --no-model runs without one")
    return done.record
