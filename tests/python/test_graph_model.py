"""The models and simulations of Graph500 and SSCA1: amounts by level, terms, and the closed form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, Plumb
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.base.toml import toml_text
from plumbline.fit.device import fit_device
from plumbline.model import delta_stepping, device_tiles
from plumbline.model.benchmarks import forecaster_of, graph500, ssca1
from plumbline.model.benchmarks.graph500 import Asked, Level
from plumbline.model.delta_stepping import Paths
from plumbline.model.forecast import Scenario
from plumbline.model.message_cost import free
from plumbline.model.simulate import Timeline
from plumbline.model.simulate import graph500 as searching
from plumbline.model.simulate import ssca1 as scoring
from plumbline.record.record import Record
from plumbline.report.simulation import SimulationRequest, simulate
from plumbline.system.device import DeviceTable, Launch, Memory, OwnWork, Peak, RandomUpdates
from plumbline.system.files import load_system
from plumbline.system.segments import Segment
from plumbline.system.system import Figures, Identity, MeasuredTransfer, System

LEVELS = [Level(1, 10), Level(100, 4000), Level(2000, 20000), Level(500, 1990)]
WORK = [
    OwnWork(benchmark="graph500", part="top-down", per_s=1e8, source=""),
    OwnWork(benchmark="graph500", part="bottom-up", per_s=2e8, source=""),
    OwnWork(benchmark="ssca1", part="32", per_s=5e9, source=""),
    OwnWork(benchmark="ssca1", part="16", per_s=8e9, source=""),
]
TRANSFER = MeasuredTransfer(
    transport="mpi",
    approach="host-buffered",
    segments=[Segment(latency_us=1, bandwidth_gb_s=10, source="")],
)
SYSTEM = System(
    system=Identity(name="s", description="", source=""),
    device=DeviceTable(work=WORK),
    transfers=[TRANSFER],
)


def line(messages: float, size: float) -> float:
    return 1e-6 + messages * size / 1e10


def asked(variant: str = "direction-optimising", ranks: int = 1) -> Asked:
    cost = free if ranks == 1 else line
    return Asked(4096, 26000, LEVELS, ranks, variant, cost)


# --- Graph500 ------------------------------------------------------------------------------------


def test_it_goes_bottom_up_as_the_benchmark_does() -> None:
    assert graph500.bottom_up(LEVELS, 4096, 26000, 14, 24) == [False, True, True, True]
    assert graph500.bottom_up(LEVELS, 4096, 26001, 1e-9, 24) == [False] * 4
    assert graph500.bottom_up(LEVELS, 1e6, 26000, 14, 24) == [False, True, False, True]


@given(st.floats(1, 1e6), st.floats(1, 100), st.floats(1e-9, 1))
def test_looks_are_at_most_all_neighbours(unreached: float, degree: float, share: float) -> None:
    found = graph500.looks(unreached, unreached * degree, share)
    assert unreached * 0.999 <= found <= unreached * degree * 1.001
    assert found <= unreached / share * 1.001


@given(st.integers(1, 64), st.floats(0, 1), st.floats(0, 1))
def test_words_grow_and_never_exceed_the_others_vertices(p: int, one: float, more: float) -> None:
    few, many = (graph500.words(1000, 32, min(one + add, 1), p) for add in (0, more))
    assert 0 <= few <= many <= 1000 * (1 - 1 / p) + 1e-9


def test_a_search_is_its_levels() -> None:
    device = DeviceTable(work=WORK)
    top_down = graph500.search_parts(asked("messages"), device)
    assert top_down == {graph500.FOLLOWED: pytest.approx(26000 / 1e8)}
    both = graph500.search_parts(asked(), device)
    steps = graph500.steps_of(asked())
    assert both[graph500.FOLLOWED] == pytest.approx(10 / 1e8)
    assert both[graph500.LOOKED] == pytest.approx(sum(step.lines for step in steps) / 2e8)
    assert sum(both.values()) < sum(top_down.values())
    four = graph500.search_parts(asked(ranks=4), device)
    assert four[graph500.GATHERED] == pytest.approx(3 * 3 * line(1, 4096 / 8 / 4))
    assert four[graph500.AGREED] == pytest.approx(4 * 2 * line(1, 16))
    assert four[graph500.LOOKED] == pytest.approx(both[graph500.LOOKED] / 4)
    devices = graph500.search_parts(asked("device", 4), device)
    assert devices[graph500.GATHERED] == pytest.approx(4 * 3 * line(1, 4096 / 8 / 4))
    assert graph500.SENT in four
    assert graph500.SENT not in devices


def test_without_a_rate_the_slower_of_random_words_and_memory_counts() -> None:
    device = DeviceTable(
        memory=[Memory(gb_s=10, source="")], random=[RandomUpdates(gup_s=0.1, source="")]
    )
    (seconds,) = graph500.search_parts(asked("messages"), device).values()
    assert seconds == pytest.approx(26000 / 1e8)
    with pytest.raises(UsageError, match="gup_s in the table"):
        graph500.search_parts(asked("messages"), DeviceTable())


def record(**facts: Any) -> Record:
    document = json.loads((ROOT / "tests" / "golden" / "graph500_2.record.json").read_text())
    for case in document["cases"]:
        case["facts"] |= facts
        case["labels"] |= {"variant": "messages", "scale": 12}
    return Record.model_validate(document)


def test_a_case_takes_its_own_levels() -> None:
    figures = Figures(None, DeviceTable(work=WORK), transfers=[TRANSFER])
    sizes = {"level_vertices": [1, 100, 2000, 500], "level_ends": [10, 4000, 20000, 1990]}
    (found, *_) = graph500.expect(record(**sizes), figures).values()
    assert found.parts[graph500.FOLLOWED] == pytest.approx(26000 / 2 / 1e8)
    assert found.seconds == pytest.approx(sum(found.parts.values()))
    (older, *_) = graph500.expect(record(), figures).values()
    assert older.reason == "the record has no sizes of the levels"


def test_rates_are_learnt_from_searches() -> None:
    sizes = {"level_vertices": [1, 100, 2000, 500], "level_ends": [10, 4000, 20000, 1990]}
    run = record(**sizes)
    (row,) = graph500.learn([run], line, "measured")
    assert row.part == "top-down"
    figures = Figures(None, DeviceTable(work=[row]), transfers=[TRANSFER])
    ratios = [
        case.summary.median_s / found.time_s
        for case, found in zip(run.cases, graph500.expect(run, figures).values(), strict=True)
        if case.summary
    ]
    assert min(ratios) <= 1.001
    assert max(ratios) >= 0.999


def test_a_fit_has_the_rates_of_one_rank() -> None:
    sizes = {"level_vertices": [1, 100, 2000, 500], "level_ends": [10, 4000, 20000, 1990]}
    document = json.loads(record(**sizes).model_dump_json())
    document["ranks"] = document["ranks"][:1]
    document["world"]["ranks"] = 1
    for case in document["cases"]:
        case["facts"]["level_seconds"] = [1e-6, 4e-5, 3e-5, 1e-6]
        case["labels"]["variant"] = "device"
        for kept in (case["samples"], case["paused"]):
            kept["by_rank"] = kept["by_rank"][:1]
        del case["tallies_by_rank"]
    others = OwnWork(benchmark="graph500", part="paths", per_s=1, source="")
    device, parts = fit_device([Record.model_validate(document)], DeviceTable(work=[others]))
    assert [row.part for row in device.work] == ["paths", "top-down", "bottom-up"]
    assert device.work[1].per_s == pytest.approx(4000 / 4e-5)
    (part,) = parts
    assert [figure.name for figure in part.figures] == ["top-down", "bottom-up"]
    assert len(part.ratios) == len(document["cases"])


# --- shortest paths ------------------------------------------------------------------------------


def paths(variant: str = "messages", ranks: int = 1, **known: float) -> Paths:
    cost = free if ranks == 1 else line
    return Paths(4096, 2600, 26000, 40, 12, ranks, variant, cost, **known)


def test_a_search_for_paths_is_its_rounds() -> None:
    device = DeviceTable(
        work=[OwnWork(benchmark="graph500", part="paths", per_s=1e8, source="")],
        launch=Launch(wait_us=10, row_us=4, source=""),
    )

    def parts(asked: Paths) -> dict[str, float]:
        return graph500.parts_of_paths(asked, device)

    assert parts(paths()) == {delta_stepping.RELAXED: pytest.approx(1.1 * 26000 / 1e8)}
    two = parts(paths(ranks=2, relaxed=15000.0, sent=4094.0))
    assert two[delta_stepping.RELAXED] == pytest.approx(15000 / 1e8)
    assert two[delta_stepping.SENT] == pytest.approx(2 * line(1, 4094 * 8) + 40 * line(1, 8))
    assert two[delta_stepping.AGREED] == pytest.approx(41 * line(1, 8))
    one = parts(paths("device"))
    assert one[delta_stepping.RELAXED] == pytest.approx(2.1 * 26000 / 1e8)
    assert one[delta_stepping.LAUNCHED] == pytest.approx((54 * 14 + 82 * 4) * 1e-6)
    gathered = parts(paths("device", 2))[delta_stepping.GATHERED]
    assert gathered == pytest.approx(54 * (line(1, 256) + line(1, 8192)))


def test_relaxations_sent_are_those_measured() -> None:
    """Means of four searches each of a graph of scale 14, on two and four ranks, and of scale 18."""
    for ranks, reached, edges, sent in (
        (2, 12550, 261818, 14150),
        (4, 12550, 261818, 16812),
        (2, 173585, 4193472, 170356),
    ):
        asked = Paths(0, reached, 2 * edges, 0, 0, ranks, "messages", line)
        assert delta_stepping.sent_of(asked) == pytest.approx(sent, rel=0.15)


def test_rates_of_paths_are_learnt() -> None:
    run = record(rounds=40, buckets=12)
    for case in run.cases:
        case.labels["kernel"] = "sssp"
    (row,) = graph500.learn([run], line, "measured")
    assert row.part == "paths"
    (found, *_) = graph500.expect(run, Figures(None, DeviceTable(work=[row]))).values()
    assert found.reason == "the system has no figures of the transport mpi"
    figures = Figures(None, DeviceTable(work=[row]), transfers=[TRANSFER])
    assert all(one.parts for one in graph500.expect(run, figures).values())


# --- SSCA1 ---------------------------------------------------------------------------------------


def test_blocked_is_cells_fill_and_tiles() -> None:
    parts = ssca1.blocked_parts(ssca1.Blocked(4175, 2, 32, 128), 1e-9, line)
    step = 131 * 16 * 8 * 1e-9
    assert parts[ssca1.CELLS] == pytest.approx(537 * step)
    assert parts[ssca1.FILL] == pytest.approx(31 * step)
    assert parts[ssca1.TILES] == pytest.approx(line(1, 128 * 2 * 4))
    with pytest.raises(UsageError, match="rows for 260 ranks, not 300"):
        ssca1.scenario_of(Scenario(operation="32 bits", size=24.0, ranks=300))


def test_turns_are_those_of_all_diagonals() -> None:
    for rows, columns, at_once in ((1, 5, 2), (3, 3, 1), (4, 7, 2), (7, 4, 3), (5, 5, 8)):
        diagonals = [
            sum(1 for r in range(rows) if 0 <= d - r < columns) for d in range(rows + columns - 1)
        ]
        assert device_tiles.turns(rows, columns, at_once) == sum(
            -(-one // at_once) for one in diagonals
        )


def test_devices_score_tiles_and_strips() -> None:
    tiles = device_tiles.Tiles(4, 6, 256, 256, 2, 32, "work items", at_once=2)
    assert (tiles.behind, tiles.launches) == (3, 9)
    assert device_tiles.tiles_before(tiles) == 4 * 5 / 2
    each = 256 * 256 * 1e-9
    parts = device_tiles.tiles_parts(tiles, 1e-9, line, 5e-6)
    assert parts[device_tiles.CELLS] == pytest.approx(24 * each)
    assert parts[device_tiles.FILL] == pytest.approx((28 - 24 + 10) * each)
    assert parts[device_tiles.TILES] == pytest.approx(line(1, 256 * 2 * 4))
    assert parts[device_tiles.LAUNCHED] == pytest.approx((9 + 4) * 5e-6)
    alone = device_tiles.strips_of(131151, 1, 32)
    assert (alone.tiles, alone.strips, alone.launches) == (513, 1, 1)
    assert set(device_tiles.tiles_parts(alone, 1e-12, line, 0)) == {device_tiles.CELLS}
    pair = device_tiles.strips_of(131151, 2, 32)
    assert (pair.columns, pair.strips, pair.behind) == (8256, 16, 4)


def test_strips_are_forecast_by_the_peak() -> None:
    device = DeviceTable(peaks=[Peak(type="float", gflop_s=44000, source="")])
    system = System(system=Identity(name="s", description="", source=""), device=device)
    wanted = Scenario(operation="strips, 32 bits", size=34.0, ranks=1)
    point = ssca1.forecast(system, wanted)
    assert point.value == pytest.approx(1000, rel=0.01)  # GCUPS of 11 instructions a cell


# --- simulations ---------------------------------------------------------------------------------

_times = st.floats(1e-7, 1e-3)


@given(st.lists(st.tuples(_times, _times, _times), min_size=1, max_size=8), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_even_ranks_search_as_in_the_closed_form(
    levels: list[tuple[float, float, float]], ranks: int
) -> None:
    made = [searching.LevelTimes({"work": one, "words": two}, three) for one, two, three in levels]
    found = searching.Simulation(made, [1.0] * ranks).run()
    assert found == pytest.approx(sum(map(sum, levels)))
    slower = searching.Simulation(made, [1.5] + [1.0] * (ranks - 1)).run()
    assert slower == pytest.approx(sum(1.5 * (one + two) + three for one, two, three in levels))


@given(st.integers(1, 9), st.integers(128, 3000), st.sampled_from([8, 64, 128]), _times, _times)
@settings(max_examples=60, deadline=None)
def test_even_ranks_score_as_in_the_closed_form(
    ranks: int, length: int, tile: int, cell: float, message: float
) -> None:
    run = ssca1.Blocked(length, ranks, 32, tile)
    step = float(ssca1.step_s(length, ranks, 32, cell))
    blocks, each = -(-length // 8), tile // 8
    tiles = [float(min(each, blocks - first)) for first in range(0, blocks, each)]
    found = scoring.Simulation(tiles, 15, [step] * ranks, message).run()
    closed = ssca1.blocked_parts(run, cell, lambda *_: message if ranks > 1 else 0.0)
    assert found == pytest.approx(sum(closed.values()))


def test_a_slow_rank_delays_those_below_it() -> None:
    timeline = Timeline(frozenset({"1"}))
    even, slow = (
        scoring.Simulation([16.0] * 10, 15, [1e-6, first, 1e-6], 1e-6, timeline).run()
        for first in (1e-6, 2e-6)
    )
    assert slow > 1.5 * even
    assert {span.lane for span in timeline.spans} == {"waits", "cells", "tiles"}


@pytest.mark.parametrize("benchmark", ["graph500", "ssca1"])
def test_simulations_equal_forecasts(benchmark: str) -> None:
    operation = forecaster_of(benchmark).OPERATIONS[0]
    wanted = Scenario(operation=operation, size=26.0, ranks=16)
    point = forecaster_of(benchmark).forecast(SYSTEM, wanted)
    found = simulate(SYSTEM, SimulationRequest(benchmark, 4, 4, 26))
    assert found.seconds == pytest.approx(point.seconds)
    assert found.closed_s == pytest.approx(point.seconds)
    assert found.value == pytest.approx(point.value)
    uneven = simulate(SYSTEM, SimulationRequest(benchmark, 4, 4, 26, imbalance=0.2))
    assert uneven.closed_s is None
    assert uneven.seconds > found.seconds


def test_thousands_of_ranks_are_simulated() -> None:
    found = simulate(SYSTEM, SimulationRequest("graph500", 64, 64, 30))
    assert found.seconds == pytest.approx(found.closed_s)


def test_the_command(plumb: Plumb, tmp_path: Any) -> None:
    path = tmp_path / "s.toml"
    path.write_text(toml_text(SYSTEM))
    words = ("--system", str(path), "--ranks", "4", "--n", "20")
    for benchmark in ("graph500", "ssca1"):
        timeline = tmp_path / f"{benchmark}.html"
        status, out, err = plumb("simulate", benchmark, *words, "--timeline", str(timeline))
        assert (status, err) == (0, "")
        assert "simulated / closed 1)" in out
        assert timeline.stat().st_size > 1000
    status, _, err = plumb("simulate", "ssca1", "--system", str(ROOT / "systems" / "h200.toml"))
    assert status in (0, 2)
    assert load_system(path).device == SYSTEM.device
