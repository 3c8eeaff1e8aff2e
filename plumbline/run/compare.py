"""``plumb compare``: two sets of records, or two alternating commands; tags of sets."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from plumbline.base.errors import ExitStatus, RunError, UsageError, did_you_mean
from plumbline.base.files import replace_file
from plumbline.base.paths import Home
from plumbline.judge import sides
from plumbline.judge.sides import CONDITIONS, Comparison
from plumbline.record.record import Record, load_record
from plumbline.record.store import record_files
from plumbline.report.comparison import write
from plumbline.run.show import find_record


def compare_sets(
    a: str, b: str, home: Home, *, threshold: float, metric: str, despite: str
) -> Comparison:
    """Compare the sets ``a`` and ``b``. Raises :class:`UsageError` if not comparable."""
    return sides.compare_records(
        load_side(a, home),
        load_side(b, home),
        threshold=threshold,
        metric=metric,
        despite=conditions_named(despite),
    )


def show(comparison: Comparison, form: str) -> int:
    """Print it; returns the exit status: 4 if a case is slower."""
    sys.stdout.write(write(comparison, form) + "\n")
    sys.stdout.flush()
    return ExitStatus.SLOW if comparison.count("slower") else ExitStatus.PASSED


def load_side(given: str, home: Home) -> list[Record]:
    """The records of a comma-separated list: files, folders, names, tags, ``last``."""
    return [load_record(path) for path in paths_of(given.split(","), home)]


def paths_of(words: Sequence[str], home: Home) -> list[Path]:
    """The files of the records named by ``words``, without duplicates."""
    return list(dict.fromkeys(path for word in words for path in _paths(word, home)))


def conditions_named(text: str) -> Collection[str]:
    """The conditions that may differ, as ``driver,devices``."""
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in CONDITIONS:
            raise UsageError(
                f"--despite must be some of {', '.join(CONDITIONS)}, not '{name}'"
                f"{did_you_mean(name, CONDITIONS)}"
            )
    return names


def tag(name: str, records: Sequence[str], home: Home) -> int:
    """Add records to the tag ``name``; returns the size of the set."""
    if not name.replace("-", "").replace("_", "").isalnum() or name == "last":
        raise UsageError(f"a tag must be letters, digits, - and _, and not last, not '{name}'")
    added = [path.absolute() for word in records for path in _paths(word, home)]
    every = list(dict.fromkeys([*_tagged(name, home), *added]))
    for path in added:
        load_record(path)
    try:
        replace_file(_tag_file(name, home), "".join(f"{path}\n" for path in every))
    except OSError as error:
        raise RunError(f"the tag {name} cannot be kept: {error.strerror}") from None
    return len(every)


def _paths(word: str, home: Home) -> list[Path]:
    """The records of one entry of a side."""
    path = Path(word)
    if not word:
        raise UsageError("a side must be records: files, folders, names, tags, or last")
    if path.is_dir():
        found = sorted(record_files(path))
        if not found:
            raise UsageError(f"there is no record in the folder {path}")
        return found
    if not path.exists() and any(mark in word for mark in "*?["):
        return _matching(path)
    if not path.exists() and (tagged := _tagged(word, home)):
        return tagged
    if word.startswith("last~") and not path.exists():
        return [_last(word, home)]
    return [find_record(word, home)]


def _matching(pattern: Path) -> list[Path]:
    found = sorted(set(record_files(pattern.parent)) & set(pattern.parent.glob(pattern.name)))
    if not found:
        raise UsageError(f"there is no record like {pattern}")
    return found


def _last(word: str, home: Home) -> Path:
    """``last~2``: the third newest record."""
    number = word.removeprefix("last~")
    if not number.isdigit():
        raise UsageError(f"{word} must be last~N, N launches before the last")
    newest = sorted(record_files(home.records), key=lambda p: p.stat().st_mtime_ns, reverse=True)
    if int(number) >= len(newest):
        raise UsageError(f"{word}: there are {len(newest)} records in {home.records}")
    return newest[int(number)]


def _tag_file(name: str, home: Home) -> Path:
    return home.root / "tags" / name


def _tagged(name: str, home: Home) -> list[Path]:
    return list(_lines(_tag_file(name, home))) if "/" not in name else []


def _lines(path: Path) -> Iterator[Path]:
    with suppress(OSError, UnicodeDecodeError):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Path(line)
