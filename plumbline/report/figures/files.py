"""Figures of the files beside a record: stations, mesh, partition, level; single operations."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plumbline.base.errors import UsageError, reason_of
from plumbline.record.mesh import Mesh, read_mesh, read_owners
from plumbline.record.record import Case, Record
from plumbline.report.figures.shapes import Axis, Chart, Curve, Field, Figure

_MOST_POINTS = 400  # of a curve
_MOST_STATIONS = 8
_HOUR = 3600.0


@dataclass(frozen=True)
class States:
    """Snapshots: ``values[snapshot][element]`` are level (m), u and v (m/s)."""

    mesh: Mesh
    seconds: list[float]
    values: NDArray[np.float32]


def files_of(case: Case, folder: Path | None) -> dict[str, Path]:
    """The files that the case names and that are beside the record."""
    named = case.facts.get("files")
    if folder is None or not isinstance(named, Mapping):
        return {}
    found = {name: folder / file for name, file in named.items() if isinstance(file, str)}
    return {name: path for name, path in found.items() if path.is_file()}


def beside(record: Record, folder: Path | None) -> Iterator[Figure]:
    """The figures of the files beside ``record``, which is in ``folder``."""
    for case in record.cases:
        files = files_of(case, folder)
        if "stations.csv" in files:
            yield from _stations(case, files["stations.csv"])
        if "operations.csv" in files:
            yield _operations(case, files["operations.csv"])
        if "mesh.14" not in files:
            continue
        mesh = read_mesh(files["mesh.14"])
        depths = mesh.depths[mesh.corners].mean(axis=1)
        yield Field(f"{case.key}: mesh and depth", mesh, depths, "depth, m")
        if "part" in files:
            owners = read_owners(files["part"], len(mesh.corners))
            ranks = int(owners.max()) + 1
            of = f"{ranks} rank{'s' * (ranks != 1)}"
            yield Field(f"{case.key}: partition, {of}", mesh, owners, classes=True)
        if "states.npy" in files:
            states = states_of(case, files)
            level = states.values[-1, :, 0]
            title = f"{case.key}: level after {states.seconds[-1] / _HOUR:.3g} h"
            yield Field(title, mesh, level, "level, m", limits=_limits(level))


def states_of(case: Case, files: Mapping[str, Path]) -> States:
    """The snapshots of a case. Raises :class:`UsageError` if it has none."""
    if "states.npy" not in files or "mesh.14" not in files:
        raise UsageError(f"{case.key} has no snapshots beside its record: run with --snapshots 24")
    mesh = read_mesh(files["mesh.14"])
    try:
        values = np.load(files["states.npy"], mmap_mode="r")
    except (OSError, ValueError) as error:
        raise UsageError(f"{files['states.npy']}: cannot be read: {reason_of(error)}") from None
    steps: Any = case.facts.get("snapshot_steps")
    step_s: Any = case.facts.get("time_step_s")
    if values.shape != (len(steps), len(mesh.corners), 3):
        raise UsageError(f"{files['states.npy']}: has the shape {values.shape}: not all is there")
    return States(mesh, [step * step_s for step in steps], values)


def _limits(level: NDArray[np.float32]) -> tuple[float, float]:
    most = max(float(np.abs(level).max()), 1e-9)
    return -most, most


def _operations(case: Case, path: Path) -> Chart:
    """Times of single operations; of many, the longest of as many neighbours as share a point."""
    with path.open(encoding="utf-8", newline="") as lines:
        times = [float(row["us"]) for row in csv.DictReader(lines)]
    every = -(-len(times) // _MOST_POINTS) or 1
    points = [(i, max(times[i : i + every])) for i in range(0, len(times), every)]
    note = "" if every == 1 else f"Each point is the longest of {every} operations."
    curve = Curve("slowest rank", [(float(i), us) for i, us in points])
    axes = Axis("operation of the last sample"), Axis("us")
    return Chart(f"{case.key}: time of each operation", *axes, [curve], note)


def _stations(case: Case, path: Path) -> Iterator[Chart]:
    levels: dict[tuple[int, str], list[tuple[float, float]]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            place = levels.setdefault((int(row["station"]), row["source"]), [])
            place.append((float(row["t_s"]) / _HOUR, float(row["level_m"])))
    curves = []
    for (station, source), points in sorted(levels.items()):
        if station > _MOST_STATIONS:
            continue
        every = max(1, len(points) // _MOST_POINTS)
        is_reference = source == "reference"
        curves.append(
            Curve(
                f"station {station}{', reference' if is_reference else ''}",
                points[::every],
                station - 1,
                model=is_reference,
                joined=is_reference,
            )
        )
    note = "Marks: the device's, each hour; lines: the reference in double, each step."
    yield Chart(f"{case.key}: level at stations", Axis("time, h"), Axis("level, m"), curves, note)
