#!/usr/bin/env python3
"""Published results of HPCC FPGA beside our models' forecasts of the board, and beside our runs.

The columns of the BittWare 520N and of the CPU in tables 3.6, 3.10 and 4.8 of published/. Figures are of one board or CPU;
ours are of one rank, by its best repetition. Prints a table in Markdown. Needs the packages of plumb (.venv).

    bench/published.py [--of NAME RECORD...]...
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.base.paths import find_home  # noqa: E402
from plumbline.model.published import table_of  # noqa: E402
from plumbline.record.record import Case, Record, load_record  # noqa: E402
from plumbline.report.model_check import Cell, cells  # noqa: E402

METRICS = {
    "stream": "bandwidth",
    "random_access": "updates",
    "fft": "performance",
    "gemm": "performance",
}
BOARDS = ("520N", "520N HP", "520N SP", "520N DP", "Noctua 1")
CPU = "Noctua 1 CPU"


def published() -> list[Cell]:
    """The figures of the board and of the CPU, without derived ones."""
    return [
        cell
        for name in ("3.6", "3.10", "4.8")
        for cell in cells(table_of(name), find_home())
        if cell.column.name in (*BOARDS, CPU)
        and cell.row.benchmark in METRICS
        and cell.row.operation not in ("moved", "normalised")
    ]


def measured(cell: Cell, records: list[Record]) -> float | None:
    """Our figure of one rank, from the first record with it. FFT: of 2^17 points if present."""
    for record in records:
        if record.benchmark.name != cell.row.benchmark:
            continue
        for case in sorted(record.cases, key=lambda case: case.labels.get("points") != 2**17):
            if _fits(cell, record, case):
                values = {metric.name: metric.value for metric in case.metrics}
                name = METRICS[record.benchmark.name]  # a single rank
                return values.get(f"{name}_per_rank", values.get(name))
    return None


def _fits(cell: Cell, record: Record, case: Case) -> bool:
    if case.outcome.status != "passed":
        return False
    if cell.row.benchmark == "random_access":
        return case.label("updates") == "buffered"
    type_ = case.label("type") or record.parameters.get("type")
    return type_ == cell.column.type and cell.row.operation in ("", case.label("operation"))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", action="append", nargs="+", default=[], metavar=("NAME", "RECORD"))
    groups = [
        (name, [load_record(Path(path)) for path in paths])
        for name, *paths in parser.parse_args().of
    ]
    head = ["table", "figure", "type", "published", "our model", "published / model"]
    head += [name for name, _ in groups]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for cell in published():
        row, is_cpu = cell.row, cell.column.name == CPU
        scale = 1e-3 if row.unit == "MUOP/s" else 1.0
        model = None if is_cpu or cell.ours is None else cell.ours * scale
        is_random = row.benchmark == "random_access"
        unit = "GUP/s" if is_random else row.unit
        number = "64-bit words" if is_random else cell.column.type
        name = f"{row.benchmark} {row.operation}".strip()
        line = [f"{cell.table.name}, CPU" if is_cpu else cell.table.name, f"{name}, {unit}", number]
        line += [_cell(cell.measured * scale), _cell(model)]
        line += [f"{cell.measured * scale / model:.3f}" if model else ""]
        line += [_cell(measured(cell, records)) for _, records in groups]
        print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
