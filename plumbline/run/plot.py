"""``plumb plot``: a figure of records, as a file or in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.base.paths import Home
from plumbline.record.record import load_record
from plumbline.report.animation import write_animation
from plumbline.report.figures.files import files_of, states_of
from plumbline.report.figures.shapes import Figure
from plumbline.report.page import Loaded, figures_of
from plumbline.run.accept import judged_of
from plumbline.run.compare import paths_of


def figures_in(records: Sequence[str], home: Home) -> list[Figure]:
    """All figures of the page of these records."""
    paths = paths_of(records, home)
    loaded = [Loaded(path.stem, load_record(path), judged_of(path), path.parent) for path in paths]
    loaded.sort(key=lambda one: (one.record.benchmark.name, one.record.started))
    found = [
        figure
        for _, group in groupby(loaded, key=lambda one: one.record.benchmark.name)
        for figure in figures_of(list(group))
    ]
    if not found:
        raise UsageError("these records give no figure: plumb show prints them")
    return found


def chosen(figures: Sequence[Figure], wanted: str) -> Figure:
    """The figure by number (from 1), or by a part of its title."""
    if wanted.isdigit() and 1 <= int(wanted) <= len(figures):
        return figures[int(wanted) - 1]
    fitting = [one for one in figures if wanted.lower() in one.title.lower()]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        titles = "; ".join(one.title for one in fitting[:4])
        raise UsageError(f"--figure {wanted} is of {len(fitting)} figures: {titles}")
    near = did_you_mean(wanted, [one.title for one in figures])
    raise UsageError(
        f"no figure {wanted}{near} (there are {len(figures)}; without --figure a list)"
    )


def animate(records: Sequence[str], home: Home, path: Path) -> None:
    """Write the snapshots of one record as a page of HTML."""
    paths = paths_of(records, home)
    if len(paths) != 1:
        raise UsageError(f"--output {path.name} animates one record, not {len(paths)}")
    case = next(iter(load_record(paths[0]).cases), None)
    if case is None:
        raise UsageError(f"{paths[0]} has no case")
    states = states_of(case, files_of(case, paths[0].parent))
    write_animation(f"{case.key}: level", states, path)
