"""``plumb model check``: published measurements compared with the equations' forecasts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plumbline.base.columns import aligned, csv_text
from plumbline.base.paths import Home
from plumbline.model.benchmarks import forecaster_of
from plumbline.model.forecast import Forecast, Scenario
from plumbline.model.published import Column, PublishedTable, Row
from plumbline.report.forecast import number
from plumbline.system.files import find_system
from plumbline.system.system import System


@dataclass(frozen=True)
class Cell:
    """One measured value; ``printed`` and ``ours`` are forecasts in its unit, or None."""

    table: PublishedTable
    row: Row
    column: Column
    measured: float
    printed: float | None
    ours: float | None
    bound: str

    @property
    def note(self) -> str:
        """The reason for a large deviation, if there is one."""
        return self.row.notes.get(self.column.name, "")

    @property
    def is_input(self) -> bool:
        """Whether the system's figure derives from this value, which then tests no model."""
        return self.column.name in self.row.inputs

    @property
    def error(self) -> float | None:
        """Of our reading: measured / ours - 1."""
        return relative(self.measured, self.ours)

    @property
    def printed_error(self) -> float | None:
        """Of the equation as printed: measured / printed - 1."""
        return relative(self.measured, self.printed)


def relative(measured: float, model: float | None) -> float | None:
    """Deviation of a measurement from its model, relative to the model; negative is slower."""
    return None if model is None or model == 0 else measured / model - 1


def scenario_of(row: Row, column: Column) -> Scenario:
    """The case of a cell."""
    name = column.name
    single = row.singles.get(name)
    return Scenario(
        operation=row.operation,
        type=column.type,
        size=row.sizes.get(name, row.size if row.size is not None else column.size),
        ranks=column.ranks,
        transport=column.transport if _sends(row) else None,
        approach=column.approach if _sends(row) else None,
        kernel=row.kernels.get(name, column.kernel),
        single=(single[0], single[1]) if single else None,
    )


def _sends(row: Row) -> bool:
    return row.benchmark is not None and forecaster_of(row.benchmark).SENDS


def cells(table: PublishedTable, home: Home) -> Iterator[Cell]:
    """Every measured value of ``table`` with its forecasts."""
    systems: dict[str, System] = {}
    for row in table.rows:
        for name, measured in row.values.items():
            column = table.column(name)
            forecast: Forecast | None = None
            if row.benchmark and column.system and name not in row.no_model:
                if column.system not in systems:
                    systems[column.system] = find_system(column.system, home)
                module = forecaster_of(row.benchmark)
                forecast = module.forecast(systems[column.system], scenario_of(row, column))
            yield _cell(table, row, column, measured, forecast)


def _cell(
    table: PublishedTable, row: Row, column: Column, measured: float, forecast: Forecast | None
) -> Cell:
    if forecast is None:
        return Cell(table, row, column, measured, None, None, "")
    scale = row.scale / (column.ranks if row.per_device else 1)
    printed = None if forecast.printed is None else forecast.printed * scale
    bound = f"{forecast.bound} (extrapolated)" if forecast.extrapolated else forecast.bound
    return Cell(table, row, column, measured, printed, forecast.value * scale, bound)


def summary(found: Sequence[Cell]) -> str:
    """One line: number of figures, of those with a model, and errors. Inputs do not count."""
    tested = [cell for cell in found if not cell.is_input]
    ours = [abs(cell.error) for cell in tested if cell.error is not None]
    printed = [abs(cell.printed_error) for cell in tested if cell.printed_error is not None]
    if not ours:
        return f"{len(found)} figures, no model to test"
    line = f"{len(found)} figures, {len(ours)} test a model: error {_middle(ours)}"
    return f"{line}; as printed, {len(printed)}: {_middle(printed)}" if printed else line


def _middle(errors: Sequence[float]) -> str:
    near = sum(error <= 0.25 for error in errors)
    return f"median {median(errors):.1%}, largest {max(errors):.0%}, {near} within 25 %"


# --- forms ---------------------------------------------------------------------------------------

_HEAD = ("figure", "column", "measured", "as printed", "error", "ours", "error", "bound")
_CSV_HEAD = (
    *("table", "figure", "column", "measured", "unit", "printed", "printed_error"),
    *("expected", "error", "bound", "input", "note"),
)


def as_text(found: Sequence[Cell]) -> str:
    """Table by table: measured, as printed and ours with their errors, notes, and a summary."""
    lines: list[str] = []
    for table in dict.fromkeys(cell.table.name for cell in found):
        of_it = [cell for cell in found if cell.table.name == table]
        about = of_it[0].table
        rows = [_text_row(cell) for cell in of_it]
        lines += [f"table {about.name}: {about.title}", *aligned([_HEAD, *rows], left=2)]
        notes = dict.fromkeys(_note(cell) for cell in of_it if cell.note)
        lines += [f"  {note}" for note in notes]
        lines += [summary(of_it), ""]
    if len({cell.table.name for cell in found}) > 1:
        lines.append(f"all: {summary(found)}")
    lines.append("error = measured / model - 1; a model is what the system's figures allow")
    return "\n".join(lines)


def _text_row(cell: Cell) -> list[str]:
    unit = cell.row.unit
    figure = cell.row.figure if unit == "1" else f"{cell.row.figure}, {unit}"
    return [
        *(figure, cell.column.name, number(cell.measured)),
        *(number(cell.printed), _percent(cell.printed_error)),
        *(number(cell.ours), "input" if cell.is_input else _percent(cell.error), cell.bound),
    ]


def _note(cell: Cell) -> str:
    return f"{cell.row.figure}, {cell.column.name}: {cell.note}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def as_csv(found: Sequence[Cell]) -> str:
    """A line per measured value."""
    return csv_text(_CSV_HEAD, map(_row_of, found))


def as_json(found: Sequence[Cell]) -> str:
    """An object per measured value."""
    return json.dumps(
        [dict(zip(_CSV_HEAD, _row_of(cell), strict=True)) for cell in found], indent=2
    )


def _row_of(cell: Cell) -> list[object]:
    return [
        *(cell.table.name, cell.row.figure, cell.column.name, cell.measured, cell.row.unit),
        *(cell.printed, cell.printed_error, cell.ours, cell.error),
        *(cell.bound or None, cell.is_input, cell.note or None),
    ]
