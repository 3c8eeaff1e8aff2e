"""``plumb mesh``: a mesh in words, and its picture."""

from __future__ import annotations

import json

from plumbline.record.mesh import Integers, Mesh, MeshInfo
from plumbline.report.figures.shapes import Field


def info_text(info: MeshInfo) -> str:
    """A line for each figure."""
    outer = (
        f"{info.sea_edges + info.land_edges} outside: {info.sea_edges} sea, {info.land_edges} land"
    )
    return "\n".join(
        [
            f"elements   {info.elements}",
            f"vertices   {info.vertices}",
            f"edges      {info.inner_edges} inside, {outer}",
            f"islands    {info.islands}",
            f"area       {info.area / 1e6:.6g} km2",
            f"depths     {info.depths[0]:.4g} to {info.depths[1]:.4g} m",
            f"edges      {info.lengths[0]:.4g} to {info.lengths[1]:.4g} m long",
            f"angles     {info.angle:.3g} degrees and more",
        ]
    )


def info_json(info: MeshInfo) -> str:
    """The same as JSON: areas in m2, lengths in m, angles in degrees."""
    return json.dumps(vars(info), indent=2)


def picture_of(name: str, mesh: Mesh, owners: Integers | None = None) -> Field:
    """The mesh with the kinds of its edges, by its ranks or its depths."""
    if owners is not None:
        ranks = int(owners.max()) + 1
        return Field(
            f"{name}: {len(mesh.corners)} elements, ranks: {ranks}", mesh, owners, classes=True
        )
    depths = mesh.depths[mesh.corners].mean(axis=1)
    return Field(f"{name}: {len(mesh.corners)} elements", mesh, depths, "depth, m")
