"""The command on meshes of shallow_water: mesh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plumbline.base.errors import UsageError
from plumbline.cli.common import Form, app
from plumbline.cli.options import PlainUsage

ACTIONS = ("info", "convert", "draw")


@app.command(cls=PlainUsage)
def mesh(
    action: Annotated[str, typer.Argument(help=", ".join(ACTIONS), autocompletion=lambda: ACTIONS)],
    file: Annotated[Path, typer.Argument(help="a mesh: ADCIRC's fort.14, or Gmsh's .msh")],
    to: Annotated[
        Path | None, typer.Argument(metavar="[TO]", help="convert: the file to write, .14 or .msh")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="draw: the file, .svg, .png or .pdf")
    ] = None,
    partition: Annotated[
        Path | None, typer.Option(help="draw: colour by the ranks of this METIS .part file")
    ] = None,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="coordinates are longitude and latitude")
    ] = False,
    depth: Annotated[
        float | None,
        typer.Option(min=1e-6, help="depth of all vertices, in place of the file's, m"),
    ] = None,
    form: Form = "text",
) -> None:
    """Describe, convert or draw a mesh of shallow_water.

    In .msh a physical group of lines is named sea or land, and the depth is the data "depth" of
    points, or z.
    """
    from plumbline.record.mesh import info_of, read_mesh, read_owners, write_mesh
    from plumbline.report.figures.fields import save
    from plumbline.report.mesh import info_json, info_text, picture_of

    if action not in ACTIONS:
        raise UsageError(f"mesh must be followed by {', '.join(ACTIONS)}, not {action}")
    if (to is not None) != (action == "convert"):
        raise UsageError("mesh convert needs two files, mesh info and mesh draw one")
    if (output is not None) != (action == "draw"):
        raise UsageError("mesh draw needs --output FILE.svg (or .png, .pdf), which no other takes")
    found = read_mesh(file, degrees=degrees, depth=depth)
    if action == "info":
        info = info_of(found)
        print(info_json(info) if form == "json" else info_text(info))
    elif to is not None:
        write_mesh(found, to, file.name)
    elif output is not None:
        owners = read_owners(partition, len(found.corners)) if partition is not None else None
        save(picture_of(file.name, found, owners), output)
