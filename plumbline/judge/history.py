"""Earlier launches of a machine, for its usual figures."""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home
from plumbline.judge.promise import conditions_of
from plumbline.record import store
from plumbline.record.record import Record, load_record

HISTORY = 40


def earlier_launches(home: Home, record: Record) -> list[Record]:
    """Up to :data:`HISTORY` earlier indexed records with parts and the conditions of ``record``.

    Launches of ``plumb compare --ab`` are none of them: one side may be the slower one.
    """
    conditions = conditions_of(record)
    found: list[Record] = []
    for entry in reversed(_entries(home, record.benchmark.name)):
        if len(found) == HISTORY:
            break
        if entry.started > record.started:  # by whole seconds, of which short runs share one
            continue
        if (entry.ranks, entry.transport) != (record.world.ranks, record.transport_name):
            continue
        try:
            earlier = load_record(entry.path)
        except UsageError:  # gone, or no longer a record
            continue
        if earlier.parts is None or earlier.approach != record.approach:
            continue
        if (earlier.started, earlier.command) == (record.started, record.command):
            continue  # itself: each command names its own record
        if conditions_of(earlier) == conditions:
            found.append(earlier)
    return found


def _entries(home: Home, benchmark: str) -> list[store.Entry]:
    """The index's entries of single runs, oldest first; none if it cannot be read."""
    try:
        entries = store.Store(home).entries(benchmark)
    except store.StoreError:
        return []
    compared = home.comparisons.absolute()
    return [entry for entry in entries if compared not in entry.path.parents]
