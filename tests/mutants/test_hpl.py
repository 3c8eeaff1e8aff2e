"""HPL: what is wrong comes out `failed`; the right one passes, on any grid; what cannot be is refused in a sentence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.launching import launch_command
from tests.mutants.test_mutants import MUTANTS, assert_all_failed, run

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SMALL = ["--runtime", "native", "--block", "16", "--repetitions", "2"]
SIZE = ["--size", "203"]
GENERAL, DOMINANT = "general", "dominant"
WRONG = [
    *[
        (name, "1x2", matrix)
        for name in ("stale-broadcast", "missing-wait")
        for matrix in (GENERAL, DOMINANT)
    ],
    *[
        (name, grid, matrix)
        for name in ("update-skipped", "last-column-left", "tile-of-other-sign")
        for grid, matrix in (("1x1", GENERAL), ("2x2", DOMINANT), ("2x2", GENERAL))
    ],
    *[
        (name, grid, GENERAL)
        for name in ("half-of-the-row", "displaced-lost", "right-side-not-exchanged")
        for grid in ("1x1", "2x1", "2x2")
    ],
    *[
        (name, "1x2", matrix)
        for name in ("no-forward", "no-backward")
        for matrix in (GENERAL, DOMINANT)
    ],
    *[("digit-of-x", grid, matrix) for grid, matrix in (("1x2", GENERAL), ("2x1", DOMINANT))],
    *[("wrong-entry", grid, matrix) for grid, matrix in (("2x2", GENERAL), ("1x1", DOMINANT))],
    ("block-row-repeated", "1x2", GENERAL),
    ("block-row-repeated", "1x2", DOMINANT),
    ("grid-swapped", "2x2", GENERAL),
    ("grid-swapped", "2x2", DOMINANT),
]


def ranks_of(grid: str) -> int:
    rows, columns = grid.split("x")
    return int(rows) * int(columns)


@pytest.mark.parametrize(("depth", "kind"), [("0", "double"), ("1", "float")])
@pytest.mark.parametrize(("name", "grid", "matrix"), WRONG)
def test_wrong_hpl_fails(
    tmp_path: Path, name: str, grid: str, matrix: str, depth: str, kind: str
) -> None:
    words = [f"mutant-hpl-{name}", *SMALL, "--grid", grid, "--matrix", matrix, "--type", kind]
    # As many blocks in all rows and columns, where a rank is to take those of another.
    words += ["--size", "192"] if name == "grid-swapped" else SIZE
    assert_all_failed(*run(tmp_path, ranks_of(grid), *words, "--depth", depth))


@pytest.mark.parametrize("grid", ["1x1", "1x2", "2x1", "2x2"])
@pytest.mark.parametrize("matrix", [GENERAL, DOMINANT])
def test_a_singular_matrix_fails_with_its_column(tmp_path: Path, grid: str, matrix: str) -> None:
    words = ["mutant-hpl-zero-column", *SMALL, *SIZE, "--grid", grid, "--matrix", matrix]
    if matrix == DOMINANT:
        words += ["--variant", "library"]
    status, record = run(tmp_path, ranks_of(grid), *words)
    assert status == 1
    case = record["cases"][0]
    assert "the matrix is singular: column 20 has no pivot" in case["outcome"]["reason"]
    assert case["metrics"] == []


FORMS = [
    (),
    ("--depth", "0", "--broadcast", "tree"),
    ("--type", "float", "--variant", "library"),
    ("--matrix", "dominant", "--variant", "library", "--broadcast", "tree"),
    ("--matrix", "dominant", "--type", "float", "--depth", "0"),
]


@pytest.mark.parametrize("words", FORMS, ids=" ".join)
@pytest.mark.parametrize("grid", ["1x1", "1x2", "2x1", "2x2", "2x3", "1x5"])
def test_hpl_passes(tmp_path: Path, grid: str, words: tuple[str, ...]) -> None:
    right = ["hpl", *SMALL, *SIZE, "--grid", grid, *words]
    status, record = run(tmp_path, ranks_of(grid), *right)
    case = record["cases"][0]
    assert status == 0, case["validation"]
    assert {metric["name"] for metric in case["metrics"]} >= {
        "performance",
        "performance_lu",
        "performance_solve",
    }


@pytest.mark.parametrize(
    ("ranks", "size", "block"),
    [(1, 1, 1), (1, 1, 128), (1, 7, 128), (2, 2, 1), (4, 65, 32), (3, 64, 16)],
)
def test_sizes_at_the_edges_pass(tmp_path: Path, ranks: int, size: int, block: int) -> None:
    words = ["--runtime", "native", "--size", str(size), "--block", str(block)]
    status, record = run(tmp_path, ranks, "hpl", *words, "--repetitions", "2")
    assert status == 0, record["cases"][0]["validation"]


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (
            2,
            ["--grid", "2x2"],
            "--grid 2x2 needs 4 ranks, but there are 2: grids of so many are 1 x 2, 2 x 1",
        ),
        (2, ["--grid", "two"], "--grid must be rows x columns of ranks, such as 2x3"),
        (2, ["--size", "64", "--block", "64"], "needs 2, one for each rank: give a larger --size"),
        (1, ["--size", "1000000"], "--size"),
    ],
)
def test_bad_input_is_refused(ranks: int, words: list[str], sentence: str) -> None:
    command, environment = launch_command(
        ranks, MUTANTS, "hpl", "--runtime", "native", *words, "--record", "none"
    )
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2, done.stdout + done.stderr
    if "1000000" not in words:
        assert sentence in done.stderr
