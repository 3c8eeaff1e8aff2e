"""``plumb model``: forecasts over sizes and ranks, as text, CSV, JSON or a plot."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from plumbline.base.columns import aligned, csv_text
from plumbline.base.errors import RunError, UsageError, did_you_mean
from plumbline.base.units import duration, parse_quantity
from plumbline.model.benchmarks import Forecaster, forecaster_of
from plumbline.model.forecast import Forecast, Scenario, device_of
from plumbline.model.limits import LAUNCH, LINK
from plumbline.system.device import Power
from plumbline.system.system import System, known

ROOFLINE = "work / time, time = max(bytes/bandwidth, flops/peak, updates/rate); roofline"
_HEAD = (
    *("benchmark", "system", "operation", "type", "ranks", "size", "transport", "approach"),
    *("time_s", "value", "unit", "printed", "bound", "extrapolated"),
)
_ENERGY_HEAD = ("watts", "power_of", "joules", "value_per_watt", "unit_per_watt")


@dataclass(frozen=True)
class ForecastRequest:
    """The request of ``plumb model``; empty sizes, ranks, operations mean the benchmark's defaults.

    Sizes are of one device (``weak``), or of the whole problem (``strong``).
    """

    benchmark: str
    sizes: Sequence[float] = ()
    ranks: Sequence[int] = ()
    operations: Sequence[str] = ()
    type: str = "float"
    transport: str | None = None
    approach: str | None = None
    kernel: str | None = None
    window: int = 1
    scaling: str = "weak"
    energy: bool = False


@dataclass(frozen=True)
class Energy:
    """Energy of a row: power of all its devices, from the system file's row ``power``."""

    watts: float
    joules: float
    power: Power

    @property
    def is_limit(self) -> bool:
        """Whether the power is the devices' limit, so that the joules are an upper bound."""
        return self.power.benchmark is None


@dataclass(frozen=True)
class Entry:
    """One row: a scenario and its forecast."""

    scenario: Scenario
    forecast: Forecast
    energy: Energy | None = None


@dataclass(frozen=True)
class ForecastTable:
    """All rows of one request on one system."""

    request: ForecastRequest
    system: System
    module: Forecaster
    entries: list[Entry]


def _check(request: ForecastRequest, module: Forecaster) -> None:
    """Refuse arguments that the benchmark does not have."""
    for operation in request.operations:
        known = [name for name in (*module.OPERATIONS, *module.MORE) if name]
        if operation not in known:
            raise UsageError(
                f"unknown operation {operation} of {request.benchmark} "
                f"(choose from {', '.join(known) or 'none'}){did_you_mean(operation, known)}"
            )
    for option in ("transport", "approach"):
        if getattr(request, option) is not None and not module.SENDS:
            raise UsageError(
                f"--{option} does not apply to {request.benchmark}, which sends nothing"
            )
    if 0 in request.sizes and not module.SIZE.startswith("bytes of a message"):
        raise UsageError(f"--sizes must be positive, not 0: {module.SIZE}")
    if request.sizes and not module.SIZE:
        raise UsageError(f"--sizes does not apply to {request.benchmark}: a class has its size")


def make_table(request: ForecastRequest, system: System) -> ForecastTable:
    """Forecast every operation at every size and number of ranks.

    Raises :class:`UsageError` for arguments that the benchmark does not have, and for a figure
    missing in the system.
    """
    module = forecaster_of(request.benchmark)
    _check(request, module)
    first = Scenario(
        type=request.type,
        transport=request.transport,
        approach=request.approach,
        kernel=request.kernel,
        window=request.window,
    )
    entries: list[Entry] = []
    for operation in request.operations or module.OPERATIONS:
        sizes: Sequence[float | None] = request.sizes or module.sizes(system) or [None]
        for ranks in request.ranks or module.RANKS:
            for size in [None] if operation == "barrier" else sizes:
                whole = None if size is None else _whole(module, request, size, ranks)
                scenario = replace(first, operation=operation, size=whole, ranks=ranks)
                entries.append(Entry(scenario, module.forecast(system, scenario)))
    if request.benchmark == "b_eff" and not request.sizes:
        ranks = entries[-1].scenario.ranks
        for operation in ("", "latency"):
            scenario = replace(first, operation=operation, size=None, ranks=ranks)
            entries.append(Entry(scenario, module.forecast(system, scenario)))
    if request.energy:
        entries = [
            replace(entry, energy=_energy(request.benchmark, system, entry)) for entry in entries
        ]
    return ForecastTable(request, system, module, entries)


def _energy(benchmark: str, system: System, entry: Entry) -> Energy | None:
    """Power of a device under this load, times devices and time; None for copies over the link.

    Raises :class:`UsageError` if the power is unknown.
    """
    if set(entry.forecast.parts) <= {LINK, LAUNCH}:
        return None
    found = device_of(system).power_of(benchmark, entry.scenario.type)
    power = known(found, "watts", "device.power")
    watts = power.watts * entry.scenario.ranks
    return Energy(watts, watts * entry.forecast.seconds, power)


def _whole(module: Forecaster, request: ForecastRequest, size: float, ranks: int) -> float:
    """Size of the whole problem: a matrix scales by the side of the grid, others by the ranks."""
    if request.scaling == "strong" or not module.GROWS:
        return size
    return float(size * ranks**0.5) if module.GROWS == "side" else size * ranks


# --- forms ---------------------------------------------------------------------------------------


def as_text(table: ForecastTable) -> str:
    """A heading and the rows in columns."""
    module, request = table.module, table.request
    columns: dict[str, Callable[[Entry], str]] = {
        "operation": lambda entry: entry.scenario.operation or request.benchmark,
        "ranks": lambda entry: str(entry.scenario.ranks),
        "size": lambda entry: number(entry.scenario.size),
        "time": lambda entry: duration(entry.forecast.seconds),
        f"{module.METRIC}, {module.UNIT}": _value,
        "as printed": lambda entry: number(entry.forecast.printed),
        "bound": lambda entry: entry.forecast.bound,
        "power, W": lambda entry: _at_most(entry.energy, "watts"),
        "energy, J": lambda entry: _at_most(entry.energy, "joules"),
        "per watt": lambda entry: _per_watt_text(table, entry),
        "extrapolated": lambda entry: entry.forecast.extrapolated,
    }
    rows = [[cell(entry) for cell in columns.values()] for entry in table.entries]
    kept = [i for i, name in enumerate(columns) if name in _ALWAYS or any(row[i] for row in rows)]
    head = [name for i, name in enumerate(columns) if i in kept]
    body = [[row[i] for i in kept] for row in rows]
    words = list(aligned([head, *body]))
    lines = [
        f"{request.benchmark} on {table.system.system.name}: {table.system.system.description}"
    ]
    lines += [f"  {module.METRIC} = {_equation(table)}"]
    if module.SIZE:
        lines += [f"  size: {module.SIZE}"]
    sources = dict.fromkeys(entry.energy.power for entry in table.entries if entry.energy)
    notes = [f"  power of a device: {one.watts:g} W, {one.source}" for one in sources]
    return "\n".join([*lines, *notes, "", *words])


def _at_most(energy: Energy | None, name: Literal["watts", "joules"]) -> str:
    if energy is None:
        return ""
    return f"{'<= ' if energy.is_limit else ''}{number(getattr(energy, name))}"


def _per_watt(table: ForecastTable, entry: Entry) -> tuple[float, str] | None:
    """The metric per watt, for metrics that are rates: GB/(W s) is GB/J."""
    unit = entry.forecast.unit or table.module.UNIT
    if entry.energy is None or not unit.endswith("/s"):
        return None
    return entry.forecast.value / entry.energy.watts, f"{unit.removesuffix('/s')}/(W s)"


def _per_watt_text(table: ForecastTable, entry: Entry) -> str:
    found = _per_watt(table, entry)
    if found is None or entry.energy is None:
        return ""
    return f"{'>= ' if entry.energy.is_limit else ''}{number(found[0])} {found[1]}"


_ALWAYS = ("operation", "ranks", "size", "time", "bound")


def _equation(table: ForecastTable) -> str:
    """A board's equation, or the roofline for devices without synthesised kernels."""
    is_board = bool(device_of(table.system).bitstreams)
    return table.module.EQUATION if is_board or table.module.SENDS else ROOFLINE


def _value(entry: Entry) -> str:
    text = number(entry.forecast.value)
    return f"{text} {entry.forecast.unit}".rstrip()


def as_json(table: ForecastTable) -> str:
    """All data; an object per row."""
    head = _head(table)
    rows = [
        {**dict(zip(head, _cells(table, entry), strict=True)), "parts_s": entry.forecast.parts}
        for entry in table.entries
    ]
    return json.dumps(
        {
            "benchmark": table.request.benchmark,
            "system": table.system.system.name,
            "metric": table.module.METRIC,
            "unit": table.module.UNIT,
            "equation": _equation(table),
            "rows": rows,
        },
        indent=2,
    )


def as_csv(table: ForecastTable) -> str:
    """A line per row."""
    return csv_text(_head(table), (_cells(table, entry) for entry in table.entries))


def _head(table: ForecastTable) -> tuple[str, ...]:
    return (*_HEAD, *_ENERGY_HEAD) if table.request.energy else _HEAD


def _energy_cells(table: ForecastTable, entry: Entry) -> list[object]:
    if not table.request.energy:
        return []
    if entry.energy is None:
        return [None] * len(_ENERGY_HEAD)
    rate, unit = _per_watt(table, entry) or (None, None)
    of = entry.energy.power.benchmark or "limit"
    return [entry.energy.watts, of, entry.energy.joules, rate, unit]


def _cells(table: ForecastTable, entry: Entry) -> list[object]:
    asked, found = entry.scenario, entry.forecast
    unit = found.unit or table.module.UNIT
    return [
        *(
            table.request.benchmark,
            table.system.system.name,
            asked.operation,
            asked.type,
            asked.ranks,
        ),
        *(asked.size, asked.transport, asked.approach, found.seconds, found.value, unit),
        *(found.printed, found.bound, found.extrapolated or None),
        *_energy_cells(table, entry),
    ]


def write_plot(table: ForecastTable, path: Path) -> None:
    """The metric over sizes (over ranks if there is one size), as a self-contained page.

    Hollow marks are extrapolated. Raises :class:`RunError` if the page cannot be written.
    """
    from plotly import graph_objects as go

    by_ranks = len({entry.scenario.ranks for entry in table.entries}) > 1
    by_size = len({entry.scenario.size for entry in table.entries}) > 1 and not (
        by_ranks and bool(table.module.GROWS)
    )
    figure = go.Figure()
    series: dict[tuple[str, int | None], list[Entry]] = {}
    for entry in table.entries:
        if by_size and entry.scenario.size is None:
            continue
        other = entry.scenario.ranks if by_size else None
        series.setdefault((entry.scenario.operation, other), []).append(entry)
    for (operation, other), entries in series.items():
        words = [
            operation or table.request.benchmark,
            f"{other} ranks" if other and by_ranks else "",
        ]
        figure.add_scatter(
            x=[entry.scenario.size if by_size else entry.scenario.ranks for entry in entries],
            y=[entry.forecast.value for entry in entries],
            mode="lines+markers",
            name=", ".join(word for word in words if word),
            text=[entry.forecast.extrapolated or entry.forecast.bound for entry in entries],
            marker={
                "symbol": ["circle-open" if e.forecast.extrapolated else "circle" for e in entries]
            },
        )
    module, unit = table.module, table.entries[0].forecast.unit or table.module.UNIT
    figure.update_layout(
        title=f"{table.request.benchmark} on {table.system.system.name}",
        xaxis={"title": module.SIZE if by_size else "ranks", "type": "log"},
        yaxis={"title": f"{module.METRIC}, {unit}", "rangemode": "tozero"},
        template="simple_white",
    )
    try:
        path.write_text(figure.to_html(include_plotlyjs=True), encoding="utf-8")
    except OSError as error:
        raise RunError(f"--plot {path} cannot be written: {error.strerror}") from None


# --- numbers -------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """Five digits, integers in full; an empty text for None."""
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e12:
        return str(int(value))
    return f"{value:.5g}"


_POWER = re.compile(r"(\d+)\^(\d+)")


def numbers(text: str, flag: str) -> list[float]:
    """The numbers of ``1,64,4KiB,2^20`` or ``1:1MiB`` (doubling). Raises :class:`UsageError`."""
    found: list[float] = []
    for word in text.split(","):
        first, colon, last = word.partition(":")
        start, end = _number(first, flag), _number(last or first, flag)
        if colon and not 0 < start <= end:
            raise UsageError(
                f"{flag}: a range must rise from a positive number, as 1:1MiB, not {word}"
            )
        while start < end:
            found.append(start)
            start *= 2
        found.append(end)
    return found


def whole_numbers(text: str, flag: str) -> list[int]:
    """Like :func:`numbers`, for integers from 1."""
    found = numbers(text, flag)
    wrong = next((value for value in found if value != int(value) or value < 1), None)
    if wrong is not None:
        raise UsageError(f"{flag} must be positive integers, not {wrong:g}")
    return [int(value) for value in found]


def _number(text: str, flag: str) -> float:
    word = text.strip()
    power = _POWER.fullmatch(word)
    try:
        if power:
            return math.pow(float(power[1]), float(power[2]))
        value = parse_quantity(word, "B") if word[-1:].isalpha() else float(word)
    except (ValueError, OverflowError) as error:
        why = f": {error}" if word[-1:].isalpha() else ""
        raise UsageError(
            f"{flag} must be numbers, as 64, 4KiB or 2^20, not {word!r}{why}"
        ) from None
    if not 0 <= value < float("inf"):
        raise UsageError(f"{flag} must be finite and not negative, not {word}")
    return value
