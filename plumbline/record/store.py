"""An SQLite index of the records, for lists and histories; the files are authoritative.

The index can be rebuilt from the files: :meth:`Store.sync` reads new and changed ones and drops
deleted ones.

Three tables: ``records`` has a row per file, ``series`` one per figure of a benchmark (a metric of
a case, or an aggregate of a group), ``points`` the value of a series in a record. Only passed cases
have points: their metrics and :data:`TIME`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from plumbline.base.errors import RunError, UsageError, reason_of
from plumbline.base.paths import Home
from plumbline.record.expectations import EXPECTED_SUFFIX
from plumbline.record.record import RecordFigures, load_figures

_Database = sqlite3.Connection
TIME = "time"  # of one count, in seconds, of every timed case
# 1: metrics by name only, which lost one of two groups; 2: no figures of cases; 3: no `emulated`
_VERSION = 4
_FACTS = (
    *("benchmark", "started", "host", "device", "transport", "ranks", "status", "metrics"),
    "emulated",
    *("seconds", "preset", "approach", "setting", "driver", "version", "library", "kernel"),
)
_COLUMNS = ("path", "mtime_ns", "bytes", *_FACTS)
_INSERT = f"insert into records ({', '.join(_COLUMNS)}) values ({', '.join('?' for _ in _COLUMNS)})"
_AT_ONCE = 1000  # records whose points are inserted together
_TABLES = (
    """create table records (
    id integer primary key, path text unique, mtime_ns integer, bytes integer, benchmark text,
    started text, host text, device text, transport text, ranks integer, status text, metrics text,
    emulated text, seconds real, preset text, approach text, setting text, driver text,
    version text, library text, kernel text)""",
    """create table series (id integer primary key, benchmark text, "case" text, metric text,
    "group" text, unit text, unique (benchmark, "case", metric, "group", unit))""",
    """create table points (series integer, record integer, value real,
    primary key (series, record)) without rowid""",
)


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
    emulated: str  # why its times are of no board; empty: they are of hardware


class Series(NamedTuple):
    """A figure that records of a benchmark have; ``case`` is empty for an aggregate.

    ``group`` is empty for a case, and for an aggregate of all cases.
    """

    benchmark: str
    case: str
    metric: str
    group: str
    unit: str

    @property
    def title(self) -> str:
        """``b_eff (random)``, ``triad/4096 bandwidth``."""
        if self.case:
            return f"{self.case} {self.metric}"
        return f"{self.metric} ({self.group})" if self.group else self.metric


class Measured(NamedTuple):
    """The value of a series in one record, with where and under what it was measured.

    ``setting`` is the benchmark's parameters as JSON; texts are empty where a record has none.
    """

    value: float
    path: str
    started: str
    host: str
    device: str
    transport: str
    approach: str
    ranks: int
    setting: str
    driver: str
    version: str
    library: str
    kernel: str
    emulated: str


class Duration(NamedTuple):
    """How long a run took, and what it ran."""

    benchmark: str
    preset: str
    ranks: int
    transport: str
    approach: str
    seconds: float


class StoreError(RunError):
    """The index cannot be read or written, for instance because the disk is full."""


class Store:
    """The index of the records of one home. Methods raise :class:`StoreError`."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(self, path: Path) -> None:
        """Index the record at ``path``, in any folder; other files are ignored."""
        with self._open("immediate") as database:
            _put(database, [path.absolute()])

    def sync(self, *, rebuild: bool = False) -> list[str]:
        """Update the index from the files; returns a message for each unreadable one.

        ``rebuild`` reads every file again, including those of other folders.
        """
        with self._open() as database:
            known = dict(_known(database))
        files = _stamps(self._home.records.absolute())
        for path in known.keys() - files.keys():
            with suppress(OSError):
                files[path] = _stamp(Path(path))
        changed = [
            Path(path)
            for path in sorted(files.keys() | known.keys())
            if rebuild or path not in files or known.get(path) != files[path]
        ]
        if not changed:
            return []
        with self._open("immediate") as database:
            return _put(database, changed)

    def entries(self, benchmark: str | None = None) -> list[Entry]:
        """The indexed records, oldest first, of one benchmark or of all."""
        columns = ", ".join(("path", *_FACTS[:9]))
        query = f"select {columns} from records order by started, path"
        with self._open() as database:
            entries = [_entry(row) for row in database.execute(query)]
        return [entry for entry in entries if benchmark in (None, entry.benchmark)]

    def series(self, benchmark: str | None = None) -> list[Series]:
        """The figures that the indexed records of ``benchmark`` (None: of all) have."""
        query = 'select benchmark, "case", metric, "group", unit from series order by id'
        with self._open() as database:
            every = [Series(*row) for row in database.execute(query)]
        return [one for one in every if benchmark in (None, one.benchmark)]

    def history(self, series: Series) -> list[Measured]:
        """The values of ``series``, oldest first."""
        columns = ", ".join(name for name in Measured._fields if name != "value")
        query = f"""select value, {columns} from points join records on records.id = record
            where series = (select id from series where benchmark = ? and "case" = ?
            and metric = ? and "group" = ? and unit = ?) order by started, path"""
        with self._open() as database:
            return [Measured(*row) for row in database.execute(query, series)]

    def durations(self) -> list[Duration]:
        """How long each indexed run that came to its end took, oldest first."""
        query = f"""select {", ".join(Duration._fields)} from records
            where seconds is not null order by started"""
        with self._open() as database:
            return [Duration(*row) for row in database.execute(query)]

    @contextmanager
    def _open(self, kind: Literal["deferred", "immediate"] = "deferred") -> Iterator[_Database]:
        """A transaction; an immediate one, for writing, waits for other writers."""
        try:
            self._home.records.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._home.index, timeout=60)) as database:
                database.isolation_level = None  # transactions are explicit
                if not _is_current(database):
                    with _transaction(database, "immediate"):
                        _migrate(database)
                with _transaction(database, kind):
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the index of the records, {self._home.index}: {reason_of(error)} "
                "(PLUMBLINE_HOME names another folder)"
            ) from None


@contextmanager
def _transaction(database: _Database, kind: str) -> Iterator[None]:
    database.execute(f"begin {kind}")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:  # on a full disk SQLite has ended it already
            database.execute("rollback")
        raise


def record_files(folder: Path) -> Iterator[Path]:
    """The record files in ``folder``, without expectation files.

    Empty files are names claimed by runs that have not written yet.
    """
    for path in _stamps(folder):
        yield Path(path)


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """When each record file in ``folder`` was written, and its bytes, by absolute path."""
    found: dict[str, tuple[int, int]] = {}
    with suppress(FileNotFoundError), os.scandir(folder) as listed:
        for one in listed:
            if not one.name.endswith(".json") or one.name.endswith(EXPECTED_SUFFIX):
                continue
            with suppress(FileNotFoundError):
                facts = one.stat()
                if facts.st_size > 0 and not one.name.startswith("."):
                    found[one.path] = facts.st_mtime_ns, facts.st_size
    return found


def _is_current(database: _Database) -> bool:
    return bool(database.execute("pragma user_version").fetchone()[0] == _VERSION)


def _migrate(database: _Database) -> None:
    """Rebuild an index of another layout, from its files in all folders."""
    if _is_current(database):  # another process was first
        return
    columns = {row[1] for row in database.execute("pragma table_info(records)")}
    query = "select path from records" if "path" in columns else "select 1 where 0"
    paths = [Path(path) for (path,) in database.execute(query)]
    for table in ("records", "series", "points"):
        database.execute(f"drop table if exists {table}")
    for statement in _TABLES:
        database.execute(statement)
    database.execute(f"pragma user_version = {_VERSION}")
    _put(database, paths)


def _known(database: _Database) -> Iterator[tuple[str, tuple[int, int]]]:
    for path, mtime_ns, size in database.execute("select path, mtime_ns, bytes from records"):
        yield path, (mtime_ns, size)


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _put(database: _Database, paths: Sequence[Path]) -> list[str]:
    """Index ``paths``, or drop deleted ones.

    Returns messages for unreadable ones.
    """
    _forget(database, paths)
    ids = {Series(*row[1:]): row[0] for row in database.execute("select * from series")}
    problems: list[str] = []
    for begin in range(0, len(paths), _AT_ONCE):
        points: list[tuple[int, int, float]] = []
        for path in paths[begin : begin + _AT_ONCE]:
            try:
                row = [str(path), *_stamp(path)]
                record = load_figures(path)
            except (UsageError, OSError) as error:
                if path.exists():
                    problems.append(str(error))
                continue
            number = database.execute(_INSERT, [*row, *_facts(record)]).lastrowid
            for series, value in values_of(record):
                known = ids.get(series)
                one = _new_series(database, ids, series) if known is None else known
                points.append((one, number or 0, value))
        points.sort()  # the order of the table, which is several times as fast
        database.executemany("insert or ignore into points values (?, ?, ?)", points)
    return problems


def _new_series(database: _Database, ids: dict[Series, int], series: Series) -> int:
    query = 'insert into series (benchmark, "case", metric, "group", unit) values (?, ?, ?, ?, ?)'
    ids[series] = database.execute(query, series).lastrowid or 0
    return ids[series]


def _forget(database: _Database, paths: Iterable[Path]) -> None:
    """Drop the rows of ``paths``; points are searched only for known paths."""
    database.execute("create temp table if not exists gone (id integer primary key)")
    database.execute("delete from gone")
    database.executemany(
        "insert or ignore into gone select id from records where path = ?",
        [(str(path),) for path in paths],
    )
    if database.execute("select count(*) from gone").fetchone()[0]:
        database.execute("delete from points where record in (select id from gone)")
        database.execute("delete from records where id in (select id from gone)")


def values_of(record: RecordFigures) -> Iterator[tuple[Series, float]]:
    """Every figure of a record with a value: its aggregates, and those of passed cases."""
    name = record.benchmark.name
    for metric in record.metrics:
        if metric.value is not None:
            yield Series(name, "", metric.name, metric.group or "", metric.unit), metric.value
    for case in record.cases:
        if not case.has_figures:
            continue
        median = case.median_s()
        if median is not None:
            yield Series(name, case.key, TIME, "", "s"), median
        for metric in case.metrics:
            if metric.value is not None:
                yield Series(name, case.key, metric.name, "", metric.unit), metric.value


def seconds_of(record: RecordFigures) -> float | None:
    """Duration of a finished run, or None."""
    if record.finished is None:
        return None
    begin, end = (datetime.fromisoformat(moment) for moment in (record.started, record.finished))
    return (end - begin).total_seconds()


def _facts(record: RecordFigures) -> list[str | int | float | None]:
    metrics = [IndexedMetric(one.name, one.group, one.value, one.unit) for one in record.metrics]
    status = record.outcome.status if record.outcome else record.status
    devices = [rank.device for rank in record.ranks if rank.device]
    program = record.program
    commit = f" ({program.commit[:10]}{'+' if program.dirty else ''})" if program.commit else ""
    return [
        record.benchmark.name,
        record.started,
        ", ".join(sorted({host.name for host in record.hosts})),
        ", ".join(record.devices()),
        record.transport_name,
        record.world.ranks,
        status,
        json.dumps(metrics),
        record.emulated or "",
        seconds_of(record),
        record.measuring.preset,
        record.approach or "",
        json.dumps(record.parameters, sort_keys=True),
        ", ".join(sorted({device.driver for device in devices})),
        f"{program.version}{commit}",
        record.world.library or "",
        ", ".join(sorted({host.kernel for host in record.hosts})),
    ]


def _entry(row: tuple[str, str, str, str, str, str, int, str, str, str]) -> Entry:
    path, benchmark, started, host, device, transport, ranks, status, metrics, emulated = row
    listed = [IndexedMetric(*metric) for metric in json.loads(metrics)]
    facts = (benchmark, started, host, device, transport, ranks, status)
    return Entry(Path(path), *facts, listed, emulated)
