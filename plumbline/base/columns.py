"""Text in columns, and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], left: int | None = None) -> Iterator[str]:
    """Rows of cells in columns: the first ``left`` (None: all) left-aligned, others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    many = len(widths) if left is None else left
    for row in rows:
        cells = [
            word.ljust(width) if number < many else word.rjust(width)
            for number, (word, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV without the last newline; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return text.getvalue().rstrip("\n")
