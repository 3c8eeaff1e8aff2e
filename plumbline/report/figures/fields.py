"""Pictures of meshes, drawn by matplotlib: values of triangles or the ranks that have them."""

from __future__ import annotations

from base64 import b64encode
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plumbline.base.errors import RunError, UsageError
from plumbline.record.mesh import LAND, SEA
from plumbline.report.figures.shapes import Field

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
_EDGES = {LAND: ("#5b3a1a", "land"), SEA: ("#0b6bcb", "sea")}
_RASTER_FROM = 5000  # triangles; more are pixels in SVG and PDF too
_LINES_TO = 20000  # triangles whose edges are drawn
_DPI = 200
_COLOURS = 96


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None  # half a second to import


def draw(field: Field) -> Figure:
    """``field`` as a figure of matplotlib. Raises :class:`UsageError` without matplotlib."""
    if not is_available():
        raise UsageError("a picture of a mesh needs matplotlib: pip install matplotlib")
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    mesh, values = field.mesh, np.asarray(field.values, dtype=float)
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlabel="x, km", ylabel="y, km")
    axes.set_title(field.title, fontsize=10)
    x, y = (mesh.points / 1e3).T
    classes = int(values.max()) + 1 if field.classes else 0
    drawn = axes.tripcolor(
        x,
        y,
        mesh.corners,
        facecolors=_spread(values) if classes else values,
        cmap="turbo" if classes else "viridis",
        edgecolors="#00000030" if len(mesh.corners) <= _LINES_TO else "none",
        linewidth=0.2,
        rasterized=len(mesh.corners) > _RASTER_FROM,
        **_limits(field),
    )
    for kind, (colour, name) in _EDGES.items():
        ends = mesh.outer[kind]
        if len(ends):
            lines = LineCollection(
                list(np.stack([x[ends], y[ends]], axis=2)), colors=colour, linewidths=1.4
            )
            lines.set_label(f"{name} ({len(ends)} edges)")
            axes.add_collection(lines)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    if not classes:
        figure.colorbar(drawn, label=field.label, shrink=0.7)
    return figure


def _spread(ranks: Any) -> Any:
    """A colour's place for each rank; neighbouring numbers get distant ones."""
    golden = 0.6180339887498949
    return (ranks * golden) % 1


def _limits(field: Field) -> dict[str, Any]:
    if field.classes:
        return {"vmin": 0.0, "vmax": 1.0}
    if field.limits is None:
        return {}
    return {"vmin": field.limits[0], "vmax": field.limits[1]}


def picture(field: Field) -> tuple[str, float]:
    """``field`` as PNG in a data: address, without its title, and its height over its width."""
    figure, file = draw(field), BytesIO()
    figure.axes[0].set_title("")
    figure.savefig(file, format="png", dpi=_DPI)
    width, height = figure.get_size_inches()
    return f"data:image/png;base64,{b64encode(_paletted(file)).decode()}", float(height / width)


def _paletted(png: BytesIO) -> bytes:
    """A PNG of at most ``_COLOURS`` colours: a third of the bytes, so that a page stays small."""
    from PIL import Image  # of matplotlib's own requirements

    file = BytesIO()
    Image.open(png).convert("RGB").quantize(_COLOURS).save(file, "PNG", optimize=True)
    return file.getvalue()


def save(field: Field, path: Path) -> None:
    """Write ``field`` as SVG, PNG or PDF, by the file's suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--output must end in {', '.join(SUFFIXES)}, not '{path.name}'")
    figure = draw(field)
    import matplotlib

    try:
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": field.title}):
            figure.savefig(path, dpi=_DPI)
    except OSError as error:
        raise RunError(f"--output {path} cannot be written: {error.strerror}") from None
