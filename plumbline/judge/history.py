"""Earlier launches of a machine, for its usual figures."""

from __future__ import annotations

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home
from plumbline.judge.promise import conditions_of
from plumbline.record import store
from plumbline.record.record import Record, load_record

HISTORY = 40


def earlier_launches(home: Home, record: Record) -> list[Record]:
    """Up to :data:`HISTORY` earlier indexed records with parts and the conditions of ``record``."""
    conditions = conditions_of(record)
    found: list[Record] = []
    try:
        entries = store.Store(home).entries(record.benchmark.name)
    except store.StoreError:
        return found
    for entry in reversed(entries):
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
