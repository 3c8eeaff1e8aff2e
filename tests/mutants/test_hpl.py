"""HPL: every mutant comes out `failed`; the right one passes, on any grid; invalid input is an error."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, launch_command
from tests.mutants.test_mutants import MUTANTS, launch, run

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


def of_hpl(name: str, grid: str, **options: str) -> dict:
    """One run for the mutants' program."""
    asked = {"size": "203", "block": "16", "grid": grid, **options}
    return {
        "benchmark": name,
        "transport": "local" if grid == "1x1" else "mpi",
        "runtime": "native",
        "options": asked,
    }


@pytest.mark.parametrize(
    ("ranks", "depth", "kind"),
    [
        *[(1, "0", "double"), (1, "1", "float"), (2, "0", "double"), (2, "1", "float")],
        (4, "1", "float"),
        pytest.param(4, "0", "double", marks=pytest.mark.soak),
    ],
)
def test_wrong_hpl_fails(tmp_path: Path, ranks: int, depth: str, kind: str) -> None:
    """Each mutant fails, and the right one passes after them."""
    runs = []
    for name, grid, matrix in WRONG:
        if ranks_of(grid) != ranks:
            continue
        # As many blocks in all rows and columns, where a rank is to take those of another.
        size = "192" if name == "grid-swapped" else "203"
        how = {"matrix": matrix, "type": kind, "depth": depth, "size": size}
        runs.append(of_hpl(f"mutant-hpl-{name}", grid, **how))
    runs.append(of_hpl("hpl", runs[-1]["options"]["grid"], depth=depth, type=kind))
    for one, found in zip(runs, launch(tmp_path, ranks, runs), strict=True):
        should = "passed" if one["benchmark"] == "hpl" else "failed"
        outcomes = found["outcomes"]
        assert found["status"] == should, (one, found)
        assert all(case["status"] == should for case in outcomes), (one, found)
        assert should == "passed" or all(case["reason"] for case in outcomes), one


@pytest.mark.parametrize(
    ("grid", "matrix"), [("1x1", DOMINANT), ("2x1", GENERAL), ("2x2", GENERAL)]
)
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
    ("--matrix", "dominant", "--type", "float", "--depth", "0", "--broadcast", "torus"),
]


@pytest.mark.parametrize(
    "grids",
    [
        ("1x1",),
        ("1x2", "2x1"),
        ("2x2",),
        ("1x5",),
        ("2x3",),
        pytest.param(("1x4", "4x1"), marks=pytest.mark.soak),
        pytest.param(("3x2", "6x1"), marks=pytest.mark.soak),
    ],
    ids=" ".join,
)
def test_hpl_passes_on_every_grid(tmp_path: Path, grids: tuple[str, ...]) -> None:
    runs = [
        of_hpl("hpl", grid, **dict(zip((w[2:] for w in words[::2]), words[1::2], strict=True)))
        for grid in grids
        for words in FORMS
    ]
    for one, found in zip(runs, launch(tmp_path, ranks_of(grids[0]), runs), strict=True):
        assert found["status"] == "passed", (one, found)


ON_A_DEVICE = [
    (),
    ("--type", "float", "--depth", "0", "--block", "14"),
    ("--matrix", "dominant", "--type", "float", "--broadcast", "tree"),
]
WRONG_ON_A_DEVICE = {
    1: [("update-skipped", GENERAL), ("displaced-lost", GENERAL), ("wrong-entry", DOMINANT)],
    2: [
        *[("stale-broadcast", GENERAL), ("last-column-left", DOMINANT), ("no-backward", GENERAL)],
        ("zero-column", GENERAL),
    ],
}


def on_a_device(one: dict) -> dict:
    """The same run with the matrix in a device's memory."""
    transport = "local" if one["transport"] == "local" else "staged"
    return {**one, "runtime": "opencl", "transport": transport}


@pytest.mark.parametrize(
    "grids",
    [("1x1",), ("1x2", "2x1"), pytest.param(("2x2",), marks=pytest.mark.soak), ("2x3",)],
    ids=" ".join,
)
def test_hpl_on_devices(tmp_path: Path, grids: tuple[str, ...]) -> None:
    """The right one passes on every grid, and what is wrong fails there too."""
    runs = []
    ranks = ranks_of(grids[0])
    for grid in grids:
        for words in ON_A_DEVICE:
            options = dict(zip((w[2:] for w in words[::2]), words[1::2], strict=True))
            runs.append(on_a_device(of_hpl("hpl", grid, **options)))
        for name, matrix in WRONG_ON_A_DEVICE.get(ranks, []):
            if name == "stale-broadcast" and grid != "1x2":
                continue
            runs.append(on_a_device(of_hpl(f"mutant-hpl-{name}", grid, matrix=matrix)))
    for one, found in zip(runs, launch(tmp_path, ranks, runs), strict=True):
        should = "passed" if one["benchmark"] == "hpl" else "failed"
        assert found["status"] == should, (one, found)
        if "zero-column" in one["benchmark"]:
            assert "column 20 has no pivot" in found["outcomes"][0]["reason"]


REFINED = [
    ("hpl", "half", DOMINANT, "passed"),
    ("hpl", "tf32", DOMINANT, "passed"),
    ("hpl", "float", GENERAL, "passed"),
    ("mutant-hpl-refined-no-further", "half", DOMINANT, "failed"),
    ("mutant-hpl-refined-no-further", "float", GENERAL, "failed"),
    ("mutant-hpl-no-backward", "half", DOMINANT, "failed"),  # corrections that correct nothing
]


@pytest.mark.parametrize(
    "grids",
    [("1x1",), ("1x2", "2x1"), pytest.param(("2x2",), marks=pytest.mark.soak)],
    ids=" ".join,
)
def test_a_solution_is_refined_or_fails(tmp_path: Path, grids: tuple[str, ...]) -> None:
    """On a device too; what does not converge says what each step left."""
    runs, wanted = [], []
    for grid in grids:
        for name, factors, matrix, should in REFINED:
            one = of_hpl(name, grid, matrix=matrix, refine=factors)
            runs += [one, on_a_device(one)]
            wanted += [should, should]
    found = launch(tmp_path, ranks_of(grids[0]), runs)
    for one, should, outcome in zip(runs, wanted, found, strict=True):
        assert outcome["status"] == should, (one, outcome)
        reason = outcome["outcomes"][0]["reason"] or ""
        assert should == "passed" or reason
        if should == "failed" and grids == ("1x1",):
            assert "refinement did not converge: scaled residuals" in reason


def test_a_refined_record_has_its_steps(tmp_path: Path) -> None:
    words = ["hpl", *SMALL, *SIZE, "--matrix", DOMINANT, "--refine", "half"]
    status, record = run(tmp_path, 1, *words)
    case = record["cases"][0]
    steps = [step["scaled_residual"] for step in case["facts"]["refinement"]]
    assert status == 0
    assert case["key"] == "dominant/half-refined/203"
    assert len(steps) > 1
    assert steps == sorted(steps, reverse=True)
    assert "refinement" in case["phases"]


def test_a_record_has_all_three_rates(tmp_path: Path) -> None:
    status, record = run(tmp_path, 2, "hpl", *SMALL, *SIZE)
    names = {metric["name"] for metric in record["cases"][0]["metrics"]}
    assert status == 0
    assert names >= {"performance", "performance_lu", "performance_solve"}


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
        (1, ["--refine", "half", "--type", "float"], "--type must be double, not float"),
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
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 2, done.stdout + done.stderr
    if "1000000" not in words:
        assert sentence in done.stderr
