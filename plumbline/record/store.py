"""An SQLite index of the records, for lists; the files are authoritative.

The index can be rebuilt from the files: :meth:`Store.sync` reads new and changed ones and drops
deleted ones.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home
from plumbline.record.expectations import EXPECTED_SUFFIX
from plumbline.record.record import Record, load_record

StoreError = sqlite3.Error
_Database = sqlite3.Connection
_VERSION = 2  # 1: metrics by name only, which lost one of two groups
_COLUMNS = (
    "path, mtime_ns, bytes, benchmark, started, host, device, transport, ranks, status, metrics"
)
_TABLE = """create table if not exists records (
    path text primary key, mtime_ns integer, bytes integer, benchmark text, started text, host text,
    device text, transport text, ranks integer, status text, metrics text)"""


class IndexedMetric(NamedTuple):
    """An aggregate of a record; ``group`` is None if it is of all cases."""

    name: str
    group: str | None
    value: float | None
    unit: str

    @property
    def title(self) -> str:
        """``b_eff (random)``: its name, and its group, if any."""
        return f"{self.name} ({self.group})" if self.group else self.name


@dataclass(frozen=True)
class Entry:
    """One record in the index."""

    path: Path
    benchmark: str
    started: str
    host: str
    device: str
    transport: str
    ranks: int
    status: str
    metrics: list[IndexedMetric]


class Store:
    """The index of the records of one home. Methods raise ``StoreError`` or OSError."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(self, path: Path) -> None:
        """Index the record at ``path``, in any folder; other files are ignored."""
        with self._open("immediate") as database:
            _put(database, path.absolute())

    def sync(self, *, rebuild: bool = False) -> list[str]:
        """Update the index from the files; returns a message for each unreadable one.

        ``rebuild`` reads every file again, including those of other folders.
        """
        with self._open() as database:
            known = dict(_known(database))
        files = {path.absolute() for path in record_files(self._home.records)}
        changed = [
            path
            for path in sorted(files | known.keys())
            if rebuild or not path.is_file() or known.get(path) != _stamp(path)
        ]
        if not changed:
            return []
        with self._open("immediate") as database:
            problems = [_put(database, path) for path in changed]
        return [problem for problem in problems if problem]

    def entries(self, benchmark: str | None = None) -> list[Entry]:
        """The indexed records, oldest first, of one benchmark or of all."""
        query = f"select {_COLUMNS} from records order by started, path"
        with self._open() as database:
            entries = [_entry(row) for row in database.execute(query)]
        return [entry for entry in entries if benchmark in (None, entry.benchmark)]

    @contextmanager
    def _open(self, kind: Literal["deferred", "immediate"] = "deferred") -> Iterator[_Database]:
        """A transaction; an immediate one, for writing, waits for other writers."""
        self._home.records.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._home.index, timeout=60)) as database:
            database.isolation_level = None  # transactions are explicit
            if not _is_current(database):
                with _transaction(database, "immediate"):
                    _migrate(database)
            with _transaction(database, kind):
                yield database


@contextmanager
def _transaction(database: _Database, kind: str) -> Iterator[None]:
    database.execute(f"begin {kind}")
    try:
        yield
        database.execute("commit")
    except BaseException:
        database.execute("rollback")
        raise


def record_files(folder: Path) -> Iterator[Path]:
    """The record files in ``folder``, without expectation files.

    Empty files are names claimed by runs that have not written yet.
    """
    for path in folder.glob("*.json"):
        with suppress(FileNotFoundError):
            if not path.name.endswith(EXPECTED_SUFFIX) and path.stat().st_size > 0:
                yield path


def _is_current(database: _Database) -> bool:
    return bool(database.execute("pragma user_version").fetchone()[0] == _VERSION)


def _migrate(database: _Database) -> None:
    """Rebuild an index of another layout, from its files in all folders."""
    if _is_current(database):  # another process was first
        return
    columns = {row[1] for row in database.execute("pragma table_info(records)")}
    query = "select path from records" if "path" in columns else "select 1 where 0"
    paths = [Path(path) for (path,) in database.execute(query)]
    database.execute("drop table if exists records")
    database.execute(_TABLE)
    database.execute(f"pragma user_version = {_VERSION}")
    for path in paths:
        _put(database, path)


def _known(database: _Database) -> Iterator[tuple[Path, tuple[int, int]]]:
    for path, mtime_ns, size in database.execute("select path, mtime_ns, bytes from records"):
        yield Path(path), (mtime_ns, size)


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _put(database: _Database, path: Path) -> str | None:
    """Index ``path``, or drop it if deleted. Returns a message if unreadable, or None."""
    try:
        stamp = _stamp(path)
        record = load_record(path)
    except (UsageError, OSError) as error:
        database.execute("delete from records where path = ?", [str(path)])
        return str(error) if path.exists() else None
    row = [str(path), *stamp, *_facts(record)]
    marks = ", ".join("?" for _ in row)
    database.execute(f"insert or replace into records ({_COLUMNS}) values ({marks})", row)
    return None


def _facts(record: Record) -> list[str | int]:
    metrics = [IndexedMetric(one.name, one.group, one.value, one.unit) for one in record.metrics]
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
    listed = [IndexedMetric(*metric) for metric in json.loads(metrics)]
    return Entry(Path(path), benchmark, started, host, device, transport, ranks, status, listed)
