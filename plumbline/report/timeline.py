"""Kernels and networks over time, as in figures 4.5 and 4.7 of Meyer 2024."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go

from plumbline.base.errors import RunError
from plumbline.model.simulate import Span

# Browsers draw this many bars without delay.
MOST_SPANS = 20_000


def write_timeline(title: str, spans: list[Span], path: Path) -> None:
    """Write an HTML page with a row for each lane of each rank, plotly inline.

    Of more than :data:`MOST_SPANS` the first are drawn, with a note in the title. Raises
    :class:`RunError` if the file cannot be written.
    """
    spans = sorted(spans, key=lambda span: span.start_s)
    drawn = spans[:MOST_SPANS]
    figure = go.Figure()
    for lane in dict.fromkeys(span.lane for span in drawn):
        figure.add_trace(_bars(lane, [span for span in drawn if span.lane == lane]))
    cut = f" (the first {len(drawn)} of {len(spans)} bars)" if len(spans) > len(drawn) else ""
    rows = sorted({_row(span) for span in drawn}, reverse=True)
    figure.update_layout(
        title=f"{title}{cut}",
        barmode="overlay",
        template="plotly_white",
        height=max(320, 28 * len(rows) + 160),
        xaxis_title="time, ms",
        yaxis={"categoryorder": "array", "categoryarray": rows},
    )
    try:
        figure.write_html(path, include_plotlyjs=True)
    except OSError as error:
        raise RunError(f"--timeline {path} cannot be written: {error.strerror}") from None


def _bars(lane: str, spans: list[Span]) -> go.Bar:
    return go.Bar(
        name=lane,
        orientation="h",
        y=[_row(span) for span in spans],
        base=[span.start_s * 1e3 for span in spans],
        x=[(span.end_s - span.start_s) * 1e3 for span in spans],
        text=[span.name for span in spans],
        textposition="inside",
        hovertemplate="%{text}: %{base:.6g} ms, %{x:.6g} ms long<extra>%{y}</extra>",
    )


def _row(span: Span) -> str:
    return f"rank {span.rank}, {span.lane}"
