"""``plumb list``, ``devices``, ``transports``, ``records``: what there is, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plumbline import runtimes
from plumbline.engine import Description, DeviceList, Engine
from plumbline.errors import PlumbError
from plumbline.home import Home
from plumbline.store import Entry

DEFAULT_LIST = "default"


def benchmarks(description: Description, form: str) -> str:
    """The benchmarks, a line each: name, title, source."""
    if form == "json":
        return _json(
            [{"name": b.name, "title": b.title, "source": b.source} for b in description.benchmarks]
        )
    rows = [[b.name, b.title, b.source] for b in description.benchmarks]
    return _columns([["benchmark", "title", "source"], *rows])


def transports(description: Description, form: str) -> str:
    """The transports, a line each."""
    if form == "json":
        return _json([t.model_dump() for t in description.transports])
    rows = [[t.name, t.summary] for t in description.transports]
    return _columns([["transport", "summary"], *rows])


def devices(engine: Engine, home: Home, environ: Mapping[str, str]) -> dict[str, DeviceList]:
    """The devices by vendor list: the default one, and that of each installed runtime.

    Each list is asked in a process of its own. A list that cannot be had is empty, with the reason.
    The host's own cores (``native``) stand in the default list only.
    """
    lists = {DEFAULT_LIST: _ask(engine, environ)}
    for name in runtimes.WHEELS:
        if runtimes.is_installed(name, home):
            added = runtimes.environment(name, home, 1, environ)
            found = _ask(engine, {**environ, **added})
            own = [device for device in found.devices if device.runtime != "native"]
            lists[name] = DeviceList(devices=own, reason=found.reason)
    return lists


def devices_text(lists: Mapping[str, DeviceList], form: str) -> str:
    """The devices as text, under the option that selects their vendor list."""
    if form == "json":
        return _json({name: found.model_dump() for name, found in lists.items()})
    return "\n".join(line for name, found in lists.items() for line in _device_lines(name, found))


def records(entries: Sequence[Entry], form: str) -> str:
    """The records, a line each, oldest first, with their aggregate metrics."""
    if form == "json":
        return _json([{**vars(entry), "path": str(entry.path)} for entry in entries])
    if not entries:
        return "no records yet: plumb run makes one"
    head = ["started", "benchmark", "ranks", "transport", "device", "outcome", "metrics", "record"]
    return _columns([head, *(_record_row(entry) for entry in entries)])


def _ask(engine: Engine, environ: Mapping[str, str]) -> DeviceList:
    try:
        return engine.devices(environ)
    except PlumbError as error:
        return DeviceList(devices=[], reason=str(error))


def _device_lines(name: str, found: DeviceList) -> Iterator[str]:
    yield "default vendor list:" if name == DEFAULT_LIST else f"--runtime {name}:"
    for device in found.devices:
        size = f"{device.memory_bytes / 2**30:.1f} GiB"
        kinds = ", ".join(device.memory_kinds)
        yield (
            f"  {device.index}  {device.type:<11} {device.name} ({device.platform}; "
            f"{device.compute_units} units, {size}; memory {kinds})"
        )
    if found.reason:
        yield f"  none: {found.reason}" if not found.devices else f"  {found.reason}"


def _record_row(entry: Entry) -> list[str]:
    metrics = ", ".join(
        f"{name} {value:.4g} {unit}"
        for name, (value, unit) in entry.metrics.items()
        if value is not None
    )
    return [
        entry.started,
        entry.benchmark,
        str(entry.ranks),
        entry.transport,
        entry.device,
        entry.status,
        metrics or "-",
        str(entry.path),
    ]


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
