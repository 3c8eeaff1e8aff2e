"""Simulations: equal to the closed form if there is one, otherwise between its bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, ROOT, Plumb
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.model.benchmarks import forecaster_of
from plumbline.model.benchmarks import hpl as lu
from plumbline.model.benchmarks.shallow_water import partition
from plumbline.model.forecast import Scenario
from plumbline.model.published import meshes
from plumbline.model.simulate import Timeline, hpl, ptrans, shallow_water
from plumbline.model.simulate.partition_graph import PartitionOf, read_graph
from plumbline.report.simulation import SimulationRequest, simulate
from plumbline.system.files import load_system

Golden = Callable[[str, str], None]
NOCTUA1 = load_system(ROOT / "systems" / "noctua1-520n.toml")
NOCTUA2 = load_system(ROOT / "systems" / "noctua2-u280.toml")
XEON = load_system(ROOT / "systems" / "xeon-gold-6148.toml")
CYGNUS = load_system(ROOT / "systems" / "cygnus-520n.toml")
_seconds = st.floats(1e-6, 1e-2)
_kernels = st.builds(hpl.Kernels, _seconds, _seconds, _seconds)
_links = st.builds(hpl.Links, _seconds, _seconds, _seconds)


# --- HPL -----------------------------------------------------------------------------------------


def closed(run: hpl.Simulation) -> float:
    kernels, links = run.kernels, run.links
    fixed = links.lu_s + links.panel_s + 2 * (run.rows - 1) * links.hop_s
    times = (kernels.product_s, kernels.lu_s, kernels.panel_s, fixed, links.block_s)
    return float(lu.total_s(run.blocks, run.rows, 1, 1, *times))


@given(st.integers(1, 4), st.integers(1, 6), _kernels, _links)
@settings(max_examples=40, deadline=None)
def test_with_a_barrier_it_is_the_closed_form(
    torus: int, times: int, kernels: hpl.Kernels, links: hpl.Links
) -> None:
    used = links if torus > 1 else hpl.Links()
    run = hpl.Simulation(torus * times, torus, torus, kernels, used, barrier=True)
    assert run.run() == pytest.approx(closed(run), rel=1e-9)


@given(st.integers(1, 4), st.integers(2, 6), _kernels, _links, st.floats(0, 1e-3))
@settings(max_examples=40, deadline=None)
def test_without_it_lies_between_the_work_and_the_closed_form(
    torus: int, times: int, kernels: hpl.Kernels, links: hpl.Links, hop_s: float
) -> None:
    """What the closed form does not have is the first communication phase, beside no products."""
    used = hpl.Links(links.lu_s, links.panel_s, links.block_s, hop_s) if torus > 1 else hpl.Links()
    run = hpl.Simulation(torus * times, torus, torus, kernels, used)
    seconds = run.run()
    products = sum(
        (((run.blocks - 1 - k - torus + 1) // torus) if run.blocks - 1 - k >= torus else 0) ** 2
        for k in range(run.blocks)
    )
    first = kernels.lu_s + used.lu_s + used.panel_s + 2 * torus * hop_s
    first += times * (kernels.panel_s + used.block_s)
    assert products * kernels.product_s * (1 - 1e-9) <= seconds
    assert seconds <= (closed(run) + first) * (1 + 1e-9)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_every_product_is_made_on_any_grid(rows: int, columns: int, blocks: int) -> None:
    timeline = Timeline()
    kernels = hpl.Kernels(1e-3, 2e-3, 1e-3)
    hpl.Simulation(blocks, rows, columns, kernels, hpl.Links(), timeline=timeline).run()
    products = sum(k * k for k in range(blocks))
    assert timeline.busy_s.get("update", 0) == pytest.approx(products * 1e-3)
    assert timeline.busy_s["LU"] == pytest.approx(blocks * 1e-3)
    solved = timeline.busy_s.get("left", 0) + timeline.busy_s.get("top", 0)
    assert solved == pytest.approx(blocks * (blocks - 1) * 2e-3)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 12), _kernels, st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_shared_unit_does_all_of_the_work(
    rows: int, columns: int, blocks: int, kernels: hpl.Kernels, barrier: bool
) -> None:
    """Never faster than its peak; one rank without links is never idle."""
    shared = replace(kernels, shared=True)
    seconds = hpl.Simulation(blocks, rows, columns, shared, hpl.Links(), barrier).run()
    work = sum(
        kernels.lu_s + 2 * left * kernels.panel_s + left**2 * kernels.product_s
        for left in range(blocks)
    )
    assert seconds >= work / (rows * columns) * (1 - 1e-9)
    if rows == columns == 1:
        assert seconds == pytest.approx(work, rel=1e-9)


@pytest.mark.parametrize("barrier", [False, True])
def test_it_agrees_with_the_forecast(barrier: bool) -> None:
    for ranks, n, transport in ((25, 122880, "channel"), (25, 122880, "staged"), (1, 24576, None)):
        side = round(ranks**0.5)
        found = simulate(
            NOCTUA1, SimulationRequest("hpl", side, side, n, transport=transport, barrier=barrier)
        )
        point = forecaster_of("hpl").forecast(
            NOCTUA1, Scenario(size=n, ranks=ranks, transport=transport)
        )
        assert found.closed_s == pytest.approx(point.seconds, rel=1e-9)
        exact = 1e-4 if barrier else 0.02  # latencies of hops: not every rank is the farthest
        assert found.seconds == pytest.approx(point.seconds, rel=exact)


def test_published_scaling() -> None:
    """Table 4.10: 56.7 and 47.1 times one board; section 4.2.3: 14.3 and 20.8 TFLOP/s on 25."""

    def rate(system: Any, side: int, n: int, **more: Any) -> float:
        return simulate(system, SimulationRequest("hpl", side, side, n, **more)).value

    large = rate(CYGNUS, 8, 24576 * 8) / rate(CYGNUS, 1, 24576)
    small = rate(CYGNUS, 8, 3072 * 8) / rate(CYGNUS, 1, 3072)
    assert large == pytest.approx(48.78 / 0.86, rel=0.10)
    assert small == pytest.approx(8.48 / 0.18, rel=0.10)
    assert rate(NOCTUA1, 5, 122880) == pytest.approx(20800, rel=0.15)
    assert rate(NOCTUA1, 5, 122880, transport="staged") == pytest.approx(14300, rel=0.15)


def test_a_timeline_has_what_depends_in_order() -> None:
    """Figure 4.7: LU, then left and top beside each other, then the update over the next LU."""
    timeline = Timeline(frozenset({"0,0"}))
    kernels = hpl.Kernels(1e-3, 2e-3, 1e-3)
    hpl.Simulation(6, 1, 1, kernels, hpl.Links(), timeline=timeline).run()
    spans = {span.name: span for span in timeline.spans}
    assert spans["LU 0"].end_s == spans["left 0"].start_s == spans["top 0"].start_s
    assert spans["left 0"].end_s == spans["update 0"].start_s
    assert spans["update 0"].start_s < spans["LU 1"].start_s < spans["update 0"].end_s


# --- PTRANS --------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 4), _seconds, _seconds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_ptrans_is_its_closed_form_on_square_grids(
    side: int, times: int, memory_s: float, other_s: float, streams: bool
) -> None:
    blocks = side * times * 2  # so that links and kernels share out evenly
    costs = ptrans.Costs(
        100, memory_s, kernel_s=other_s, kernels=2, link_s=other_s, links=2,
        message_s=lambda size: 1e-3 + size * 1e-6,
    )  # fmt: skip
    seconds = ptrans.Simulation(blocks, side, side, costs, streams).run()
    number = (blocks / side) ** 2
    if streams:
        expected = max(number * memory_s, number * other_s / 2 if side > 1 else 0)
    else:
        exchange = costs.message_s(number * 100) if side > 1 else 0
        expected = exchange + number * max(memory_s, other_s / 2)
    assert seconds == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_every_block_finds_its_place(rows: int, columns: int, blocks: int) -> None:
    """Blocks on another rank than their mirror images are sent."""
    sent: list[float] = []

    def message(size: float) -> float:
        sent.append(size)
        return 1e-6

    ptrans.Simulation(blocks, rows, columns, ptrans.Costs(1, 1e-6, message_s=message), False).run()
    elsewhere = sum(
        (i % rows, j % columns) != (j % rows, i % columns)
        for i in range(blocks)
        for j in range(blocks)
    )
    assert sum(sent) == elsewhere


@pytest.mark.parametrize("transport", ["channel", "staged"])
def test_ptrans_agrees_with_the_forecast(transport: str) -> None:
    found = simulate(NOCTUA1, SimulationRequest("ptrans", 4, 4, 16384, transport=transport))
    point = forecaster_of("ptrans").forecast(
        NOCTUA1, Scenario(size=16384, ranks=16, transport=transport)
    )
    assert found.seconds == pytest.approx(found.closed_s, rel=1e-9)
    assert found.seconds == pytest.approx(point.seconds, rel=1e-3)


def test_ptrans_without_kernels_takes_the_devices_memory() -> None:
    found = simulate(XEON, SimulationRequest("ptrans", 2, 2, 8192, transport="mpi"))
    point = forecaster_of("ptrans").forecast(XEON, Scenario(size=8192, ranks=4, transport="mpi"))
    array = 4 * 8192**2 / 4
    device = XEON.device
    assert device is not None
    assert point.prediction.parts["memory"] == device.memory_s(2 * array, array)
    assert found.seconds == pytest.approx(found.closed_s, rel=1e-9)
    assert found.seconds == pytest.approx(point.seconds, rel=1e-3)


# --- shallow water -------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["accl-udp-switch", "staged-launch"])
def test_partitions_alike_give_equation_5_2(transport: str) -> None:
    for ranks, elements, *_ in meshes():
        request = SimulationRequest(
            "shallow_water", 1, ranks, int(elements), transport=transport, steps=3
        )
        found = simulate(NOCTUA2, request)
        assert found.seconds == pytest.approx(found.closed_s, rel=1e-9)
        case = Scenario(size=elements, ranks=ranks, transport=transport)
        point = forecaster_of("shallow_water").forecast(NOCTUA2, case)
        assert found.seconds / 3 == pytest.approx(point.seconds, rel=1e-9)


def test_the_published_stall_is_found() -> None:
    """Section 5.2.3: over MPI and PCIe the pipeline stalls 75 to 80 % of the time."""
    request = SimulationRequest("shallow_water", 6, 8, 312320, transport="staged-launch")
    assert 0.75 <= simulate(NOCTUA2, request).shares["stalled"] <= 0.80


@given(st.floats(0, 0.5), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_smaller_partitions_never_take_longer(imbalance: float, seed: int) -> None:
    even = simulate(NOCTUA2, SimulationRequest("shallow_water", 2, 4, 54272, steps=4))
    uneven = simulate(
        NOCTUA2,
        SimulationRequest("shallow_water", 2, 4, 54272, steps=4, imbalance=imbalance, seed=seed),
    )
    assert uneven.seconds <= even.seconds * (1 + 1e-9)
    assert uneven.closed_s is None or not imbalance


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 8))
def test_neighbours_are_mutual(rows: int, columns: int, most: int) -> None:
    near = shallow_water.grid(rows, columns, most)
    for rank, others in enumerate(near):
        assert rank not in others
        assert len(set(others)) == len(others)
        assert all(rank in near[other] for other in others)


def test_an_estimated_partition_is_told() -> None:
    assert not partition(1e6, 12).is_known
    found = simulate(NOCTUA2, SimulationRequest("shallow_water", 3, 4, 1_000_000))
    assert found.notes == ["no published mesh has this partition: estimated"]


_RING = """% four alike, each beside two
4 4 011
1000 2 50 4 50
1000 1 50 3 50
1000 2 50 4 50
1000 3 50 1 50
"""


def test_a_graph_alike_gives_equation_5_2(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "ring.graph"
    path.write_text(_RING)
    parts = read_graph(path)
    assert [part.elements for part in parts] == [1000] * 4
    assert parts[0].borders == {1: 50, 3: 50}
    found = simulate(NOCTUA2, SimulationRequest("shallow_water", 4, 1, graph=parts, steps=3))
    assert found.seconds == pytest.approx(found.closed_s, rel=1e-9)
    status, out, err = plumb(
        "simulate", "shallow_water", "--system", "noctua2-u280", "--graph", str(path)
    )
    assert (status, err) == (0, "")
    assert "a graph of 4 partitions" in out
    assert "4000 elements" in out


@given(st.integers(0, 3), st.integers(1, 5000))
@settings(max_examples=20, deadline=None)
def test_a_larger_partition_takes_longer(which: int, more: int) -> None:
    """A single slow partition holds up its neighbours, and these theirs."""
    alike = [PartitionOf(1000, {(n - 1) % 4: 50, (n + 1) % 4: 50}) for n in range(4)]
    larger = [*alike]
    larger[which] = PartitionOf(1000 + more, alike[which].borders)
    seconds = [
        simulate(NOCTUA2, SimulationRequest("shallow_water", 4, 1, graph=graph, steps=4)).seconds
        for graph in (alike, larger)
    ]
    assert seconds[0] <= seconds[1] <= seconds[0] + 4 * more / 100e6


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be the numbers of vertices"),
        ("4 4\n", "the format 011"),
        ("0 0 011\n", "at least one vertex"),
        ("2 1 011\n10 2 1\n", "the header has 2 vertices, the file 1"),
        ("2 1 011\n10 2 1\n10 1 2\n", "has another weight in the other direction"),
        ("2 2 011\n10 2 1\n10 1 1\n", "the header has 2 edges, the file 1"),
        ("2 1 011\n10 2\n10 1 1\n", "pairs of a neighbour and a weight"),
        ("2 1 011\n10 3 1\n10 1 1\n", "a neighbour must be 1 to 2, not 3"),
        ("2 1 011\n10 2 1 2 1\n10 1 1\n", "has a neighbour twice"),
        ("2 1 011\n10 2 11\n10 1 11\n", "a border exceeds the elements of its vertex"),
        ("1 1 011\n10 1 1\n", "has another weight in the other direction"),
        ("1 0 011\nten\n", "must be integers, not ten"),
    ],
)
def test_a_wrong_graph_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "wrong.graph"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read_graph(path)


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("simulate-hpl.txt", "hpl --system noctua1-520n -P 5 -Q 5 --n 61440"),
        ("simulate-hpl-grid.txt", "hpl --system cygnus-520n -P 2 -Q 8 --n 24576 --nb 256"),
        ("simulate-ptrans.txt", "ptrans --system noctua1-520n -P 2 -Q 8 --transport staged"),
        ("simulate-shallow_water.txt", "shallow_water --system noctua2-u280 --ranks 48 --n 312320"),
    ],
)
def test_texts(plumb: Plumb, home: Path, golden: Golden, name: str, words: str) -> None:
    status, out, err = plumb("simulate", *words.split())
    assert (status, err) == (0, "")
    golden(name, out)


def test_a_timeline_is_one_page_offline(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    page = tmp_path / "t.html"
    words = ["hpl", "--system", "noctua1-520n", "--ranks", "4", "--n", "8192", "--format", "json"]
    status, out, _ = plumb("simulate", *words, "--timeline", str(page), "--watch", "2")
    assert (status, json.loads(out)["unit"]) == (0, "GFLOP/s")
    text = page.read_text()
    assert "rank 0,1, update" in text
    assert "rank 1,0" not in text
    assert "<script src=" not in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("hpi --system noctua1-520n", "did you mean hpl?"),
        ("hpl --system nowhere", "unknown system nowhere"),
        ("hpl --system noctua1-520n --n 1000", "must be a multiple of the"),
        ("hpl --system noctua1-520n --ranks 6 -P 4", "one of them that divides it"),
        ("hpl --system noctua1-520n --ranks 6 -P 4 -Q 2", "must be -P times -Q, 4 x 2, not 6"),
        ("hpl --system noctua1-520n --ranks 65536 --n 524288", "give larger blocks"),
        ("hpl --system noctua2-u280", "no bitstream of hpl"),
        ("hpl --system noctua1-520n --ranks 4 --transport chanel", "has no bitstream"),
        ("hpl --system xeon-gold-6148 --ranks 4", "no figure"),
        ("ptrans --system noctua1-520n -P 2 -Q 8", "-P must equal -Q"),
        ("ptrans --system h200", "has no figure read in the table [legs]"),
        ("shallow_water --system noctua1-520n --ranks 2", "has no"),
        ("hpl --system noctua1-520n --graph x", "--graph applies to shallow_water only"),
        ("shallow_water --system noctua2-u280 --graph x --ranks 4", "omit --ranks"),
        ("shallow_water --system noctua2-u280 --graph none.graph", "cannot be read"),
        ("shallow_water --system noctua2-u280 --graph none", "unknown record none"),
        (f"shallow_water --system noctua2-u280 --graph {DATA}/record.json", "has no graph of"),
        ("hpl --system noctua1-520n --timeline /proc/none/x.html", "cannot be written"),
    ],
)
def test_mistakes_are_one_sentence(plumb: Plumb, home: Path, words: str, sentence: str) -> None:
    status, out, err = plumb("simulate", *words.split())
    assert (status in (2, 3), out, err.count("\n")) == (True, "", 1)
    assert sentence in err
