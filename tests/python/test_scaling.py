"""``plumb scale``: the laws and their fit, the table, and a series that is taken up again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Plumb
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home
from plumbline.model.benchmarks import scaled_metric, shared_problem
from plumbline.model.scaling import Curve, Mode, Point, amdahl, fit_serial, gustafson, law
from plumbline.model.shared import Shared
from plumbline.record.record import Record, parse_record
from plumbline.report.scaling import Measured, ScalingTable, write, write_plot
from plumbline.run.series import load_series, series_path
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.segments import Segment
from plumbline.system.system import Identity, MeasuredTransfer, System

Golden = Callable[[str, str], None]
HPL = json.loads((ROOT / "tests" / "golden" / "hpl_2.record.json").read_text())


def run_of(
    ranks: int, performance: float, size: int, part_of: int | None = None, *, crowded: bool = False
) -> Measured:
    """A run of HPL, of the record that the text forms are tested with."""
    document = json.loads(json.dumps(HPL))
    document["world"]["ranks"] = ranks
    document["ranks"] = [{**HPL["ranks"][0], "rank": rank} for rank in range(ranks)]
    case = document["cases"][0]
    case["key"] = f"general/double/{size}"
    case["metrics"][0]["value"] = performance
    case["samples"]["by_rank"] = [HPL["cases"][0]["samples"]["by_rank"][0]] * ranks
    document["warnings"] = [{"code": "oversubscribed", "text": "…"}] if crowded else []
    return Measured(
        ranks, size, part_of, Path(f"{ranks}.json"), parse_record(json.dumps(document), "x")
    )


def series(mode: Mode, points: Mapping[int, float], **more: object) -> ScalingTable:
    table = ScalingTable("hpl", mode, None, [16, 64])
    table.runs += [
        run_of(p, rate, 1024 if mode == "strong" else 1024 * p) for p, rate in points.items()
    ]
    return table


def test_the_laws() -> None:
    assert amdahl(0.5, [1, 2, 1e12]) == pytest.approx([1, 1 / 0.75, 2])
    assert gustafson(0.5, [1, 2, 4]) == pytest.approx([1, 1.5, 2.5])
    for mode in ("weak", "strong"):
        assert float(law(mode, 0.1, 4, 4)) == pytest.approx(4)


@given(
    st.sampled_from(["weak", "strong"]),
    st.floats(0.001, 0.9),
    st.lists(st.integers(2, 512), min_size=2, max_size=6, unique=True),
    st.integers(1, 2),
)
def test_the_fit_finds_the_share_that_made_the_points(
    mode: Mode, serial: float, ranks: list[int], base: int
) -> None:
    ranks = [base, *sorted(p for p in ranks if p > base)]
    speedups = law(mode, serial, ranks, base)
    found = fit_serial(mode, ranks, speedups.tolist())
    if found is None:
        assert len(ranks) < 2
        return
    assert found.serial == pytest.approx(serial, rel=1e-3)
    assert found.largest_error < 1e-4


def test_the_interval_holds_the_share() -> None:
    """Points disturbed by 1 %: the 95 % interval has the share in most of many draws."""
    draws, held = np.random.default_rng(1), 0
    ranks = [1, 2, 4, 8, 16, 32]
    for _ in range(100):
        disturbed = law("strong", 0.05, ranks) * (1 + 0.01 * draws.standard_normal(6))
        found = fit_serial("strong", ranks, [1.0, *disturbed[1:].tolist()])
        assert found is not None
        assert found.half_width is not None
        held += abs(found.serial - 0.05) <= found.half_width
    assert held >= 85


def test_a_fit_needs_two_points_and_says_when_nothing_tests_it() -> None:
    assert fit_serial("weak", [1], [1.0]) is None
    alone = fit_serial("weak", [1, 2], [1.0, 1.9])
    assert alone is not None
    assert alone.half_width is None
    faster = fit_serial("strong", [1, 2, 4], [1.0, 2.2, 4.5])
    assert faster is not None
    assert faster.serial < 1e-8


@pytest.mark.parametrize(
    ("shared", "whole"),
    [
        (Shared("size", 0.5, "block"), {1: 1000, 2: 1408, 4: 1984}),
        (Shared("size", 1), {1: 1000, 2: 2000, 4: 4000}),
    ],
)
def test_sizes_grow_with_the_ranks(shared: Shared, whole: dict[int, int]) -> None:
    multiple = 64 if shared.multiple_of else 1
    assert {p: shared.grown(1000, p, multiple) for p in whole} == whole


def test_a_size_that_is_a_logarithm_grows_by_powers_of_two() -> None:
    words = Shared("size", 1, logarithm=True)
    assert [words.grown(20, p) for p in (1, 2, 8)] == [20, 21, 23]
    assert words.part(20, 8) == 17
    with pytest.raises(UsageError, match="powers of two"):
        words.grown(20, 3)


def test_each_benchmark_says_in_its_model_what_its_ranks_share() -> None:
    assert shared_problem("hpl", {}) == Shared("size", 0.5, "block")
    assert shared_problem("ptrans", {}) == Shared(
        "size", 0.5, "block-size", instead=("size-in-blocks",)
    )
    for name in ("stream", "b_eff", "gemm", "fft", "gups", "ceilings"):
        assert shared_problem(name, {}) is None
    assert shared_problem("random_access", {}) is None
    assert shared_problem("random_access", {"table": "shared"}) is not None
    assert (scaled_metric("hpl"), scaled_metric("b_eff")) == ("performance", "b_eff")
    assert scaled_metric("ceilings") is None


# --- the table ------------------------------------------------------------------------------------


def test_strong_scaling(golden: Golden) -> None:
    table = series("strong", {1: 10.0, 2: 19.0, 4: 34.5})
    table.runs += [run_of(1, 9.8, 724, 2), run_of(1, 9.0, 512, 4), run_of(1, 6.0, 256, 16)]
    table.runs.append(run_of(8, 20.0, 1024, crowded=True))
    table.left_out.append("1 rank, size 128 (one rank's part of 64): no right result")
    golden("scale-strong.txt", write(table, "text"))
    (curve,) = table.curves()
    assert curve.extrapolated(2) == pytest.approx(2 * 9.8 / 10)
    assert curve.extrapolated(16) == pytest.approx(16 * 6.0 / 10)
    assert curve.extrapolated(64) is None
    fit = curve.fit()
    assert fit is not None
    assert fit.serial == pytest.approx(0.053, abs=2e-3)  # without the crowded point


def test_weak_scaling_in_csv_and_json() -> None:
    table = series("weak", {1: 10.0, 2: 19.0, 4: 37.0})
    rows = list(csv.DictReader(io.StringIO(write(table, "csv"))))
    assert [row["ranks"] for row in rows] == ["1", "2", "4", "16", "64"]
    assert [row["note"] for row in rows] == ["", "", "", "not run", "not run"]
    assert float(rows[2]["efficiency"]) == pytest.approx(0.925)
    assert float(rows[4]["one_rank_speedup"]) == 64
    found = json.loads(write(table, "json"))
    (curve,) = found["curves"]
    assert curve["case"] == "general/double/*"
    assert curve["serial_share"] == pytest.approx(0.1)
    assert float(rows[4]["law_speedup"]) == pytest.approx(
        float(gustafson(curve["serial_share"], 64))
    )


@pytest.mark.parametrize(("mode", "line"), [("strong", 2.0), ("weak", 4.0)])
def test_a_time_is_the_better_the_less(mode: Mode, line: float) -> None:
    points = tuple(Point(p, t) for p, t in ((1, 10.0), (2, 5.5 if mode == "strong" else 11.0)))
    curve = Curve("x", "time", "us", mode, points, {4: 5.0 if mode == "strong" else 10.0}, True)
    assert curve.speedup_of(points[1]) == pytest.approx(20 / 11)
    assert curve.extrapolated(4) == pytest.approx(line)


def test_other_metrics_and_runs_that_do_not_belong_together() -> None:
    table = series("weak", {1: 10.0, 2: 19.0})
    table.metric = "performance_lu"
    assert [curve.metric for curve in table.curves()] == ["performance_lu"]
    table.metric = "nothing"
    with pytest.raises(UsageError, match="performance_lu"):
        table.curves()
    table.metric = None
    other = table.runs[1].record
    changed = other.model_copy(
        update={"program": other.program.model_copy(update={"commit": "f00"})}
    )
    table.runs[1] = Measured(2, 2048, None, Path("2.json"), changed)
    assert "warning: the runs are of 2 different builds" in write(table, "text")


def test_the_plot(tmp_path: Path) -> None:
    write_plot(series("weak", {1: 10.0, 2: 19.0, 4: 37.0}), tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text()
    for name in ("measured", "Gustafson with serial share", "p times one rank", "ideal"):
        assert name in text


# --- runs -----------------------------------------------------------------------------------------

WORDS = ("scale", "b_eff", "--launcher", "none", "--ranks", "1")


def starts(log: Path) -> int:
    lines = log.read_text().splitlines() if log.exists() else []
    return sum("--record /" in line and "--dry-run" not in line for line in lines)


@pytest.fixture
def log(stand_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "1")
    return tmp_path / "log"


def test_a_series_is_taken_up_again(plumb: Plumb, home: Path, log: Path) -> None:
    status, out, err = plumb(*WORDS)
    assert status == 0, err
    assert "b_eff, weak scaling: natural/transfer/1, time of a count in us" in out
    assert starts(log) == 1
    again = plumb(*WORDS)
    assert (again[0], again[1]) == (0, out)
    assert "kept from" in again[2]
    assert starts(log) == 1
    assert plumb(*WORDS, "--max-size", "4")[0] == 0  # another series
    assert starts(log) == 2
    for path in (home / "records").glob("b_eff-*.json"):
        path.unlink()
    assert plumb(*WORDS)[0] == 0  # its record is gone
    assert starts(log) == 3
    assert plumb(*WORDS, "--afresh")[0] == 0
    assert starts(log) == 4


def test_a_wrong_answer_is_no_point(
    plumb: Plumb, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "fails")
    status, out, _ = plumb(*WORDS)
    assert (status, out) == (3, "")
    monkeypatch.setenv("STAND_IN", "passes")
    status, out, _ = plumb(*WORDS)
    assert status == 0
    assert starts(log) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("scale b_eff --mode strong", "--mode strong is not available for b_eff"),
        ("scale b_eff --ranks 1,400", "400 ranks exceed the 2 cores"),
        ("scale b_eff --ranks 0", "--ranks must be positive integers"),
        ("scale b_eff --system x", "unknown option --system"),
        ("scale b_eff --series FILE", "is a series of hpl, weak scaling, not of b_eff, weak"),
        ("scale", "missing argument 'BENCHMARK'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    plumb: Plumb, log: Path, tmp_path: Path, words: str, sentence: str
) -> None:
    (tmp_path / "s.json").write_text('{"benchmark": "hpl", "mode": "weak", "runs": []}')
    status, _, err = plumb(*words.replace("FILE", str(tmp_path / "s.json")).split())
    assert status == 2
    assert sentence in err
    assert starts(log) == 0


def test_a_series_file(tmp_path: Path, home: Path) -> None:
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(UsageError, match="is not a series"):
        load_series(tmp_path / "bad.json", "hpl", "weak")
    empty = load_series(tmp_path / "none.json", "hpl", "weak")
    assert empty.runs == []
    one = series_path(Home(tmp_path), "hpl", "weak", {"size": "10", "block": "2"})
    assert one == series_path(Home(tmp_path), "hpl", "weak", {"block": "2", "size": "10"})
    assert one != series_path(Home(tmp_path), "hpl", "weak", {"block": "2"})


def test_a_case_has_the_models_speed_up_and_its_neighbours() -> None:
    """A record of two ranks: its best step took 13.5 ms; expected are two stages of 3,398 elements and a message."""
    text = (ROOT / "tests" / "golden" / "shallow_water_2.record.json").read_text()
    record = Record.model_validate_json(text)
    work = OwnWork(benchmark="shallow_water", part="float/1", per_s=1e7, source="")
    way = Segment(latency_us=1, bandwidth_gb_s=1, source="")
    sends = MeasuredTransfer(transport="mpi", approach="host-buffered", segments=[way])
    system = System(
        system=Identity(name="s", description="", source=""),
        device=DeviceTable(work=[work]),
        transfers=[sends],
    )
    run = Measured(2, 2, None, Path("r.json"), record)
    table = ScalingTable("shallow_water", "strong", None, [], [run], system=system)
    (curve,) = table.curves()
    (point,) = curve.points
    assert point.neighbours == 1
    stage = 3398 / 1e7 + 1e-6 + 42 * 36 / 1e9
    wanted = 2 * 1.349746265000249 / 100 / (2 * stage)
    assert curve.speedup_by_model(point) == pytest.approx(wanted)
    shown = write(table, "text")
    assert shown.splitlines()[1].split()[-2:] == ["model", "N_max"]
    assert shown.splitlines()[2].split()[-2:] == [f"{wanted:.3f}", "1"]
    (row,) = json.loads(write(table, "json"))["curves"][0]["rows"]
    assert (row["model_speedup"], row["neighbours"]) == (pytest.approx(wanted), 1)
    table.system = None
    assert "model" not in write(table, "text")
