"""Tables of words for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], left: int | None = None) -> Iterator[str]:
    """Rows of words in columns: the first ``left`` (None: all) to the left, the rest right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    many = len(widths) if left is None else left
    for row in rows:
        cells = [
            word.ljust(width) if number < many else word.rjust(width)
            for number, (word, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
