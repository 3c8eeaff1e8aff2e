"""The level of a simulation over time, as one page of HTML that needs no network."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plumbline.base.errors import RunError, UsageError
from plumbline.report.figures.files import States

MOST_VALUES = 4_000_000  # of all snapshots; a browser draws no more without delay


def write_animation(title: str, states: States, path: Path) -> None:
    """Write the page, with a frame a snapshot. Raises :class:`UsageError` for too large a mesh."""
    from plotly import graph_objects as go

    count, elements = states.values.shape[:2]
    if count * elements > MOST_VALUES:
        raise UsageError(
            f"{count} snapshots of {elements} elements are more than a page can animate "
            f"({MOST_VALUES} values): use a smaller mesh or fewer --snapshots"
        )
    levels = np.asarray(states.values[:, :, 0])
    most = float(np.abs(levels).max()) or 1e-9
    x, y = (states.mesh.points / 1e3).T
    i, j, k = states.mesh.corners.T
    names = [f"{seconds / 3600:.2f} h" for seconds in states.seconds]
    surface = go.Mesh3d(
        x=x,
        y=y,
        z=np.zeros(len(x)),
        i=i,
        j=j,
        k=k,
        intensity=levels[0],
        intensitymode="cell",
        colorscale="RdBu_r",
        cmin=-most,
        cmax=most,
        colorbar={"title": "level, m"},
        flatshading=True,
        lighting={"ambient": 1, "diffuse": 0, "specular": 0},
        hoverinfo="skip",
    )
    frames = [
        go.Frame(data=[go.Mesh3d(intensity=level)], name=name, traces=[0])
        for level, name in zip(levels, names, strict=True)
    ]
    figure = go.Figure(surface, frames=frames)
    figure.update_layout(
        title=title,
        scene={
            "aspectmode": "data",
            "xaxis": {"title": "x, km"},
            "yaxis": {"title": "y, km"},
            "zaxis": {"visible": False},
            "camera": {
                "eye": {"x": 0, "y": 0, "z": 1.5},
                "up": {"x": 0, "y": 1, "z": 0},
                "projection": {"type": "orthographic"},
            },
        },
        updatemenus=[
            {
                "type": "buttons",
                "buttons": [
                    {"label": "play", "method": "animate", "args": [None, _timing(200)]},
                    {"label": "stop", "method": "animate", "args": [[None], _timing(0)]},
                ],
            }
        ],
        sliders=[
            {
                "currentvalue": {"prefix": "after "},
                "steps": [
                    {"label": name, "method": "animate", "args": [[name], _timing(0)]}
                    for name in names
                ],
            }
        ],
    )
    try:
        path.write_text(figure.to_html(include_plotlyjs=True, auto_play=False), encoding="utf-8")
    except OSError as error:
        raise RunError(f"--output {path} cannot be written: {error.strerror}") from None


def _timing(milliseconds: int) -> dict[str, object]:
    return {
        "frame": {"duration": milliseconds, "redraw": True},
        "transition": {"duration": 0},
        "mode": "immediate",
    }
