"""``plumb import``: makes records from results of other suites."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from plumbline.base.errors import RunError, UsageError
from plumbline.base.files import replace_file
from plumbline.base.paths import Home
from plumbline.record import foreign, store


def import_file(path: Path, home: Home, host: str, ranks: int, date: str | None) -> list[Path]:
    """The records from ``path``; importing a file again replaces its records."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if date is not None:
        moment = _moment(date)
    made = []
    for found in foreign.read(text, str(path)):
        document = foreign.record_of(found, path.name, moment, host, ranks)
        name = f"imported-{found.benchmark}-{foreign.fingerprint(found)}.json"
        target = home.records / name
        try:
            replace_file(target, json.dumps(document, indent=1) + "\n")
        except OSError as error:
            raise RunError(f"{target} cannot be written: {error.strerror}") from None
        store.Store(home).add(target)
        made.append(target)
    return made


def _moment(text: str) -> datetime:
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date must be a day or a moment, 2026-11-22, not '{text}'") from None
    return given if given.tzinfo else given.replace(tzinfo=UTC)
