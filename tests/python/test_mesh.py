"""Meshes: read, described, converted and drawn; what is wrong with one is a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Plumb

from plumbline.base.errors import UsageError
from plumbline.record.mesh import LAND, SEA, info_of, read_mesh, read_owners, write_mesh
from plumbline.report.figures import fields
from plumbline.report.mesh import picture_of

BAY = ROOT / "benchmarks/apps/shallow_water/bay-1696.14"
# A square of two elements; the same as tests/engine/shallow_water_test.cpp has.
SQUARE = (
    "title\n2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n2 3 1 3 4\n1\n2\n2\n1\n2\n1\n4\n4 0\n"
    "2\n3\n4\n1\n"
)


def test_the_bay_in_words(plumb: Plumb, home: Path) -> None:
    status, out, err = plumb("mesh", "info", str(BAY))
    assert (status, err) == (0, "")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert lines[0] == ["elements", "1696"]
    assert ["islands", "2"] in lines
    assert ["edges", "2471 inside, 146 outside: 30 sea, 116 land"] in lines


def test_info_of_a_square(tmp_path: Path) -> None:
    path = tmp_path / "square.14"
    path.write_text(SQUARE)
    info = info_of(read_mesh(path))
    assert (info.inner_edges, info.sea_edges, info.land_edges, info.islands) == (1, 1, 3, 0)
    assert info.area == pytest.approx(1)
    assert info.lengths == pytest.approx((1, 2**0.5))
    assert info.angle == pytest.approx(45)


def test_degrees_are_projected(tmp_path: Path) -> None:
    path = tmp_path / "square.14"
    path.write_text(SQUARE)
    east, north = np.ptp(read_mesh(path, degrees=True).points, axis=0)
    assert north == pytest.approx(6378206.4 * np.pi / 180)
    assert east == pytest.approx(north * np.cos(np.radians(0.5)))


def test_fort14_and_msh_hold_the_same(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    gmsh, again = tmp_path / "bay.msh", tmp_path / "bay.14"
    assert plumb("mesh", "convert", str(BAY), str(gmsh))[0] == 0
    assert plumb("mesh", "convert", str(gmsh), str(again))[0] == 0
    one, other = read_mesh(BAY), read_mesh(again)
    assert (one.points == other.points).all()
    assert (one.depths == other.depths).all()
    assert (one.corners == other.corners).all()
    for kind in (SEA, LAND):
        assert set(map(tuple, one.outer[kind])) == set(map(tuple, other.outer[kind]))


@pytest.mark.parametrize("name", ["bay.svg", "bay.png", "bay.pdf"])
def test_pictures(plumb: Plumb, home: Path, tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    output, part = tmp_path / name, tmp_path / "bay.part"
    part.write_text("".join(f"{e % 3}\n" for e in range(1696)))
    words = ["mesh", "draw", str(BAY), "--output", str(output)]
    if name != "bay.pdf":
        words += ["--partition", str(part)]
    assert plumb(*words) == (0, "", "")
    begin = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[output.suffix]
    assert output.read_bytes().startswith(begin)
    if name == "bay.svg":
        assert "1696 elements, ranks: 3" in output.read_text()
        assert "land (116 edges)" in output.read_text()


def test_a_picture_has_the_values_colours() -> None:
    pytest.importorskip("matplotlib")
    mesh = read_mesh(BAY)
    axes = fields.draw(picture_of("bay", mesh)).axes[0]
    drawn = axes.collections[0].get_array()
    assert np.allclose(drawn, mesh.depths[mesh.corners].mean(axis=1))
    assert [len(lines.get_segments()) for lines in axes.collections[1:]] == [116, 30]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("2 3 1 3 4\n1\n", "2 3 1 3 9\n1\n", "line 8: vertex 9 is missing"),
        ("2 4\n", "2 x\n", 'line 2: "x" is not a number'),
        ("2 1 0 5", "2 1 x 5", 'line 4: "x" is not a number'),
        ("2 1 0 5", "1 1 0 5", "line 3: a vertex occurs twice"),
        ("4 0 1 5", "4 0 1 0", "line 6: the depth of vertex 4 is 0, but must be positive"),
        ("4 0 1 5", "4 0.5 0.5 5", "line 8: element 2 has no area"),
        (
            "2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n",
            "2 5\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n5 3 3 5\n",
            "line 7: vertex 5 is in no element",
        ),
        ("2 4\n1 0 0 5", "3 4\n1 0 0 5", "line 9: an element needs 5 numbers, not 1"),
        (
            "2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n",
            "3 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n3 3 1 3 2\n",
            "is in three elements",
        ),
        ("1\n4\n4 0\n2\n3\n4\n1\n", "1\n3\n3 0\n2\n3\n4\n", "line 8: the outer edge between "),
        (
            "1\n2\n2\n1\n2\n",
            "1\n2\n2\n1\n3\n",
            "line 13: vertices 1 and 3 are not the ends of an outer edge",
        ),
        (
            "4 0\n2\n",
            "5 0\n1\n2\n",
            "line 18: vertices 1 and 2 are the ends of an edge that is both sea and land",
        ),
        ("4 0\n", "4 24\n", "line 16: boundary type 24 is unknown"),
        ("1 3 1 2 3", "1 4 1 2 3", "line 7: an element has 4 vertices, not 3"),
        ("3\n4\n1\n", "3\n4\n", "the file ends before"),
    ],
)
def test_a_bad_fort14_names_the_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in SQUARE
    path = tmp_path / "bad.14"
    path.write_text(SQUARE.replace(old, new, 1))
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read_mesh(path)


LABELLED = (
    SQUARE.replace("4 0 1 5", "9 0 1 5").replace("1 3 4\n", "1 3 9\n").replace("3\n4\n", "3\n9\n")
)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("9 0 1 5", "9 0 1 0", "line 6: the depth of vertex 9 is 0"),
        ("4 0\n2\n3\n9\n1\n", "3 0\n2\n3\n9\n", "between vertices 1 and 9 has no kind"),
        ("2\n3\n9\n1\n", "2\n9\n3\n1\n", "line 18: vertices 2 and 9 are not the ends"),
    ],
)
def test_sentences_name_vertices_by_their_labels(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert old in LABELLED
    path = tmp_path / "bad.14"
    path.write_text(LABELLED)
    assert len(read_mesh(path).corners) == 2
    path.write_text(LABELLED.replace(old, new, 1))
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read_mesh(path)


def test_a_mesh_in_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "parts.14"
    path.write_text(
        "parts\n2 6\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 5 0 5\n5 6 0 5\n6 6 1 5\n1 3 1 2 3\n2 3 4 5 6\n"
        "0\n0\n2\n8\n4 1\n1\n2\n3\n1\n4 1\n4\n5\n6\n4\n"
    )
    with pytest.raises(UsageError, match="line 10: the mesh is in several parts"):
        read_mesh(path)


MSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
1 1 "{group}"
$EndPhysicalNames
$Nodes
3
1 0 0 5
2 1 0 5
3 0 1 5
$EndNodes
$Elements
{count}
1 2 2 3 1 1 2 3
{lines}$EndElements
"""
LINES = "2 1 2 1 1 1 2\n3 1 2 1 1 2 3\n4 1 2 1 1 3 1\n"


@pytest.mark.parametrize(
    ("group", "lines", "sentence"),
    [
        ("dam", LINES, 'the physical group "dam" of lines must be one of sea, open'),
        ("land", LINES[:28], "the outer edge between vertices 1 and 3 has no kind"),
        ("land", "", "the outer edge between vertices 1 and 2 has no kind"),
        ("land", "2 3 2 1 1 1 2 3 1\n", "elements must be triangles, not quad"),
    ],
)
def test_a_bad_msh_is_one_sentence(tmp_path: Path, group: str, lines: str, sentence: str) -> None:
    pytest.importorskip("meshio")
    path = tmp_path / "bad.msh"
    path.write_text(MSH.format(group=group, count=1 + lines.count("\n"), lines=lines))
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read_mesh(path)


def test_a_good_msh_has_its_depth_in_z(tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    path = tmp_path / "good.msh"
    path.write_text(MSH.format(group="land", count=4, lines=LINES))
    assert read_mesh(path).depths == pytest.approx([5, 5, 5])
    assert read_mesh(path, depth=7).depths == pytest.approx([7, 7, 7])
    assert info_of(read_mesh(path)).land_edges == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["look", "x.14"], "mesh must be followed by info, convert, draw, not look"),
        (["info", "none.14"], "none.14: there is no such file"),
        (["convert", str(BAY)], "mesh convert needs two files"),
        (["info", str(BAY), "b.14"], "mesh convert needs two files"),
        (["draw", str(BAY)], "mesh draw needs --output"),
        (["draw", str(BAY), "--output", "x.gif"], "--output must end in .svg, .png, .pdf"),
        (
            ["draw", str(BAY), "--output", "x.png", "--partition", str(BAY)],
            "the rank of an element",
        ),
    ],
)
def test_bad_usage(plumb: Plumb, home: Path, words: list[str], sentence: str) -> None:
    status, out, err = plumb("mesh", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_partition_of_another_mesh_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.part"
    path.write_text("0\n1\n")
    with pytest.raises(UsageError, match="the ranks of the mesh's 1696 elements"):
        read_owners(path, 1696)
    assert list(read_owners(path, 2)) == [0, 1]


def test_a_file_that_is_no_mesh_of_gmsh_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    path = tmp_path / "text.msh"
    path.write_text("no mesh\n")
    with pytest.raises(UsageError, match="meshio cannot read it"):
        read_mesh(path)
    square = tmp_path / "square.14"
    square.write_text(SQUARE)
    with pytest.raises(UsageError, match="there is no such file"):
        read_mesh(tmp_path / "none.msh")
    write_mesh(read_mesh(square), square, "again")
    assert read_mesh(square).outer[SEA].tolist() == [[0, 1]]
