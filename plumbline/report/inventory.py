"""``plumb list``, ``devices``, ``transports``, ``records``: lists, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plumbline.base.columns import aligned
from plumbline.base.errors import PlumbError, UsageError, did_you_mean
from plumbline.base.paths import Home
from plumbline.engine import runtimes
from plumbline.engine.program import (
    Description,
    DeviceList,
    Engine,
    TransportDevice,
    TransportList,
    TransportState,
)
from plumbline.record.store import Entry

DEFAULT_LIST = "default"


def benchmarks(description: Description, form: str, family: str = "") -> str:
    """The benchmarks, a line each: name, title, source.

    A family is one line (the benchmark that runs all of it); with ``family``, its members.
    """
    listed = [b for b in description.benchmarks if b.family == family]
    if family and not listed:
        families = sorted({b.family for b in description.benchmarks} - {""})
        raise UsageError(f"there is no family {family}{did_you_mean(family, families)}")
    if form == "json":
        return _json([{"name": b.name, "title": b.title, "source": b.source} for b in listed])
    with_members = {b.family for b in description.benchmarks}
    rows = [[b.name, b.title + _more(b.name, with_members), b.source] for b in listed]
    return "\n".join(aligned([["benchmark", "title", "source"], *rows]))


def _more(name: str, families: set[str]) -> str:
    return f" (plumb list {name})" if name in families else ""


def transports(engine: Engine, home: Home, environ: Mapping[str, str]) -> dict[str, TransportList]:
    """The transports with their devices by vendor list, as for :func:`devices`."""
    lists: dict[str, TransportList] = {}
    for name, variables in _vendor_lists(home, environ):
        try:
            found = engine.transports(variables).transports
        except PlumbError as error:
            lists[name] = TransportList(transports=[], reason=str(error))
            continue
        lists[name] = TransportList(transports=[_own(t, name) for t in found])
    return lists


def transports_text(lists: Mapping[str, TransportList], form: str) -> str:
    """The transports as text: a table, then the devices of each."""
    if form == "json":
        return _json({name: found.model_dump() for name, found in lists.items()})
    named = {t.name: t for found in lists.values() for t in found.transports}
    head = ["transport", "approaches", "summary"]
    rows = [[t.name, ", ".join(t.approaches), t.summary] for t in named.values()]
    places = [["transport", "on", "device", "works"]]
    places += [[t, *_place_row(name, device)] for name, t, device in _places(lists)]
    lines = [*aligned([head, *rows]), "", *aligned(places)]
    lines += [f"--runtime {name}: {found.reason}" for name, found in lists.items() if found.reason]
    return "\n".join(lines)


def devices(engine: Engine, home: Home, environ: Mapping[str, str]) -> dict[str, DeviceList]:
    """The devices by vendor list: the default one, and that of each installed runtime.

    Each list is queried in a separate process. An unavailable list is empty, with the reason. The
    host's cores (``native``) are in the default list only.
    """
    lists: dict[str, DeviceList] = {}
    for name, variables in _vendor_lists(home, environ):
        found = _ask(engine, variables)
        own = [device for device in found.devices if _stands_in(name, device.runtime)]
        lists[name] = DeviceList(devices=own, reason=found.reason)
    return lists


def devices_text(lists: Mapping[str, DeviceList], form: str) -> str:
    """The devices as text, under the option that selects their vendor list."""
    if form == "json":
        return _json({name: found.model_dump() for name, found in lists.items()})
    return "\n".join(line for name, found in lists.items() for line in _device_lines(name, found))


def records(entries: Sequence[Entry], form: str, benchmark: str | None = None) -> str:
    """The records (of ``benchmark``), a line each, oldest first, with their aggregate metrics."""
    if form == "json":
        return _json([_record_object(entry) for entry in entries])
    if not entries:
        return f"no records{f' of {benchmark}' if benchmark else ''} yet: plumb run makes one"
    head = ["started", "benchmark", "ranks", "transport", "device", "outcome", "metrics", "record"]
    return "\n".join(aligned([head, *(_record_row(entry) for entry in entries)]))


def _vendor_lists(
    home: Home, environ: Mapping[str, str]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each vendor list with the environment of a process that uses it."""
    yield DEFAULT_LIST, environ
    for name in runtimes.WHEELS:
        if runtimes.is_installed(name, home):
            yield name, {**environ, **runtimes.environment(name, home, 1, environ)}


def _stands_in(vendor_list: str, runtime: str) -> bool:
    return vendor_list == DEFAULT_LIST or runtime == runtimes.engine_name(vendor_list)


def _own(transport: TransportState, vendor_list: str) -> TransportState:
    own = [device for device in transport.devices if _stands_in(vendor_list, device.runtime)]
    return transport.model_copy(update={"devices": own})


def _places(
    lists: Mapping[str, TransportList],
) -> Iterator[tuple[str, str, TransportDevice | str]]:
    """Vendor list, transport, and a device or the reason for none, by transport."""
    names = dict.fromkeys(t.name for found in lists.values() for t in found.transports)
    for wanted in names:
        for name, found in lists.items():
            for transport in found.transports:
                if transport.name != wanted:
                    continue
                if transport.reason:
                    if name == DEFAULT_LIST:
                        yield name, wanted, transport.reason
                    continue
                for device in transport.devices:
                    yield name, wanted, device


def _place_row(vendor_list: str, device: TransportDevice | str) -> list[str]:
    if isinstance(device, str):
        return ["any", "", f"no: {device}"]
    on = device.runtime if vendor_list == DEFAULT_LIST else vendor_list
    works = "yes" if device.reason is None else f"no: {device.reason}"
    return [on, f"{device.index} {device.name}", works]


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
        f"{metric.title} {metric.value:.4g} {metric.unit}{' (emulated)' if entry.emulated else ''}"
        for metric in entry.metrics
        if metric.value is not None
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


def _record_object(entry: Entry) -> dict[str, object]:
    metrics = [metric._asdict() for metric in entry.metrics]
    return {**vars(entry), "path": str(entry.path), "metrics": metrics}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
