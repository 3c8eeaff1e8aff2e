"""An SQLite index of the records, for lists; the files are what counts.

The index is made anew from the files at any time: :meth:`Store.sync` reads those that are new or
changed and forgets those that are gone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from plumbline.errors import UsageError
from plumbline.home import Home
from plumbline.record import Record, load_record
from plumbline.verdict import EXPECTED_SUFFIX

StoreError = sqlite3.Error
_VERSION = 1
_COLUMNS = (
    "path, mtime_ns, bytes, benchmark, started, host, device, transport, ranks, status, metrics"
)
_TABLE = """create table if not exists records (
    path text primary key, mtime_ns integer, bytes integer, benchmark text, started text, host text,
    device text, transport text, ranks integer, status text, metrics text)"""


@dataclass(frozen=True)
class Entry:
    """One record in the index; ``metrics`` maps a name to (value or None, unit)."""

    path: Path
    benchmark: str
    started: str
    host: str
    device: str
    transport: str
    ranks: int
    status: str
    metrics: dict[str, tuple[float | None, str]]


class Store:
    """The index of the records of one home. Methods raise ``StoreError`` or OSError."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(self, path: Path) -> None:
        """Index the record at ``path``, wherever it lies; one that is no record is left out."""
        with self._open() as database:
            _put(database, path.absolute())

    def sync(self, *, rebuild: bool = False) -> list[str]:
        """Bring the index up to date with the files; returns a sentence for each unreadable one.

        ``rebuild`` reads every file again, those known from elsewhere too.
        """
        problems: list[str] = []
        with self._open() as database:
            known = dict(_known(database))
            files = {path.absolute() for path in record_files(self._home.records)}
            for path in sorted(files | known.keys()):
                if not path.is_file():
                    database.execute("delete from records where path = ?", [str(path)])
                elif rebuild or known.get(path) != _stamp(path):
                    problem = _put(database, path)
                    problems += [problem] if problem else []
        return problems

    def entries(self, benchmark: str | None = None) -> list[Entry]:
        """The indexed records, oldest first, of one benchmark or of all."""
        query = f"select {_COLUMNS} from records order by started, path"
        with self._open() as database:
            entries = [_entry(row) for row in database.execute(query)]
        return [entry for entry in entries if benchmark in (None, entry.benchmark)]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._home.records.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._home.index, timeout=10)) as database:
            if database.execute("pragma user_version").fetchone()[0] != _VERSION:
                database.execute("drop table if exists records")
                database.execute(_TABLE)
                database.execute(f"pragma user_version = {_VERSION}")
            with database:
                yield database


def record_files(folder: Path) -> Iterator[Path]:
    """The record files in ``folder``, without the expectation files beside them."""
    for path in folder.glob("*.json"):
        if not path.name.endswith(EXPECTED_SUFFIX):
            yield path


def _known(database: sqlite3.Connection) -> Iterator[tuple[Path, tuple[int, int]]]:
    for path, mtime_ns, size in database.execute("select path, mtime_ns, bytes from records"):
        yield Path(path), (mtime_ns, size)


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _put(database: sqlite3.Connection, path: Path) -> str | None:
    try:
        stamp = _stamp(path)
        record = load_record(path)
    except (UsageError, OSError) as error:
        database.execute("delete from records where path = ?", [str(path)])
        return str(error)
    row = [str(path), *stamp, *_facts(record)]
    marks = ", ".join("?" for _ in row)
    database.execute(f"insert or replace into records ({_COLUMNS}) values ({marks})", row)
    return None


def _facts(record: Record) -> list[str | int]:
    metrics = {metric.name: (metric.value, metric.unit) for metric in record.metrics}
    status = record.outcome.status if record.outcome else record.status
    return [
        record.benchmark.name,
        record.started,
        ", ".join(sorted({host.name for host in record.hosts})),
        ", ".join(record.devices()),
        record.transport_name,
        record.world.ranks,
        status,
        json.dumps(metrics),
    ]


def _entry(row: tuple[str, int, int, str, str, str, str, str, int, str, str]) -> Entry:
    path, _, _, benchmark, started, host, device, transport, ranks, status, metrics = row
    pairs = {name: (value, unit) for name, (value, unit) in json.loads(metrics).items()}
    return Entry(
        Path(path), benchmark, started, host, device, transport, ranks, status, metrics=pairs
    )
