"""The models of OSU's tests: Hockney, LogGP, collectives' algorithms; buffers by plumb fit and advise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from plumbline.calibrate import work
from plumbline.fit.records import fit_records
from plumbline.model.benchmarks import model_of, osu
from plumbline.model.benchmarks.collectives import algorithms
from plumbline.record.record import Record
from plumbline.report.advise import advise, write
from plumbline.system.device import DeviceTable, Memory
from plumbline.system.operations import Operation
from plumbline.system.segments import Segment
from plumbline.system.system import Figures, MeasuredTransfer

TRANSFER = MeasuredTransfer(
    transport="mpi",
    approach="host-buffered",
    segments=[Segment(latency_us=1, bandwidth_gb_s=1, source="")],
)
GAP = Operation(
    name="osu_bw", world="mpi", library="l", ranks=2, empty_us=0.1, gap_us=0.1, source=""
)


def line(size: float) -> float:
    return 1e-6 + size / 1e9


def record(factor: float = 1.0, more: dict[str, dict] | None = None, **parameters: Any) -> Record:
    """The golden record with other times, facts or labels of each case (``more``) and parameters."""
    document = json.loads((ROOT / "tests" / "golden" / "osu_2.record.json").read_text())
    document["parameters"] |= parameters
    for case in document["cases"]:
        for part, values in (more or {}).items():
            case[part] |= values
        if case["summary"]:
            for name in ("median_s", "min_s", "max_s", "mean_s"):
                case["summary"][name] *= factor
            case["summary"]["ci95_median_s"] = [case["summary"]["median_s"]] * 2
    return Record.model_validate(document)


SINGLE = [
    MeasuredTransfer(
        transport=name, segments=[Segment(latency_us=latency, bandwidth_gb_s=rate, source="")]
    )
    for name, latency, rate in (("osu_latency", 0.5, 2), ("osu_sendrecv", 0.8, 1.5))
]
START = GAP.model_copy(update={"name": "osu_bw_persistent", "gap_us": 0.3})


def expected(
    more: dict[str, dict] | None = None, single: Sequence[Any] = (), sync: str = "clock"
) -> dict[str, Any]:
    device = DeviceTable(memory=[Memory(gb_s=3, source="")])
    operations = [GAP, START] if single else [GAP]
    figures = Figures(None, device, transfers=[TRANSFER, *single], operations=operations)
    one = record(1.0, more)
    measuring = one.measuring.model_copy(update={"sync": sync})
    return dict(osu.expect(one.model_copy(update={"measuring": measuring}), figures))


def test_tests_under_their_own_names_have_the_model() -> None:
    assert model_of("osu_latency") is model_of("osu")
    assert model_of("osu_shmem") is None


def test_point_to_point() -> None:
    found = expected()
    assert found["osu_latency/16"].seconds == pytest.approx(2 * line(16))
    # 64 messages of 16 B: the first, 63 gaps of 100 ns (longer than 16 ns), the confirmation.
    assert found["osu_bw/16"].seconds == pytest.approx(line(16) + 63 * 1e-7 + line(4))
    assert osu.window_s(64, 1e-6, 1e-5, 1e-7, 1e-6) == pytest.approx(2e-6 + 63e-5)
    assert found["osu_put_latency/8"].reason == "no model for osu_put_latency"
    for more in ({"facts": {"device": "-OPENCL"}}, {"labels": {"from": "D", "to": "H"}}):
        for key in ("osu_latency/8", "osu_allreduce/8"):
            assert expected(more)[key].reason == "no model for buffers on devices"


def test_collectives_take_the_least() -> None:
    found = expected()
    assert found["osu_barrier"].seconds == pytest.approx(line(0))
    tree = line(16) + 3 * 16 / 3e9
    ring = 2 * line(8) + 3 * 8 / 3e9
    assert found["osu_allreduce/16"].seconds == pytest.approx(min(tree, ring))
    assert found["osu_iallgather/8"].reason == "no model for osu_iallgather"


def test_single_messages_and_exchanges_have_figures_of_their_own() -> None:
    """One way 0.5 us and 2 GB/s, both ways 0.8 us and 1.5 GB/s; of a persistent request 0.2 us."""
    found = expected(single=SINGLE)
    assert found["osu_latency/16"].seconds == pytest.approx(2 * (0.5e-6 + 16 / 2e9))
    assert found["osu_latency_persistent/8"].seconds == pytest.approx(2 * (0.5e-6 + 4e-9 + 0.4e-6))
    assert found["osu_barrier"].seconds == pytest.approx(0.8e-6)
    assert found["osu_allreduce/16"].seconds == pytest.approx(0.8e-6 + 16 / 1.5e9 + 3 * 16 / 3e9)


def test_a_calibration_has_single_messages_and_both_gaps() -> None:
    """Half of a round trip of `osu_latency`; no system offers them as a transport."""
    b_eff = (ROOT / "tests" / "golden" / "b_eff_2_passed.record.json").read_text()
    records = [Record.model_validate_json(b_eff), record()]
    found = {one.transport: one for one in work.transfers(records)}
    assert set(found) == {records[0].transport_name, "osu_latency"}
    (segment,) = found["osu_latency"].segments
    best = next(case.summary for case in records[1].cases if case.key == "osu_latency/8")
    assert best is not None
    assert segment.time_s(1, 8) == pytest.approx(best.min_s / 20 / 2, rel=0.01)
    persistent = record(2.0, {"labels": {"test": "osu_bw_persistent"}})
    gaps = {row.name: row.gap_us for row in work.rows([record(), persistent])}
    assert set(gaps) == {"osu_bw", "osu_bw_persistent"}


def test_a_root_that_waits_for_nobody_sends_at_the_gap() -> None:
    """Without barriers the latency of a message (0.5 us) is hidden, but not that of a start."""
    assert osu.streamed_s(5e-6, 1e-6, 1e-7) == pytest.approx(4e-6)
    streamed = expected(single=SINGLE)
    assert streamed["osu_bcast_persistent/8"].seconds == pytest.approx(0.1e-6 + 0.2e-6)
    apart = expected(single=SINGLE, sync="barrier")
    assert apart["osu_bcast_persistent/8"].seconds == pytest.approx(0.5e-6 + 4e-9 + 0.2e-6)
    unknown = expected()["osu_bcast_persistent/8"]
    assert unknown.reason == "the system has no operation osu_bw_persistent"


OPERATIONS = (
    *("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter"),
    "reduce_scatter",
)


@given(st.sampled_from(OPERATIONS), st.integers(2, 64), st.floats(0, 1e7), st.floats(1, 10))
def test_algorithms_grow_with_size_and_cost_a_message_at_least(
    operation: str, p: int, size: float, factor: float
) -> None:
    small = algorithms(operation, p, size, line)
    large = algorithms(operation, p, size * factor, line)
    for name, seconds in small.items():
        assert seconds >= 1e-6
        assert large[name] >= seconds * (1 - 1e-9)


def test_the_better_buffers_are_named_by_size() -> None:
    """Where one pair of buffers is three times as slow, advice names the other at each size."""
    fit = fit_records([record(where="H,H"), record(3.0, where="D,D")], "both", None, 2)
    names = {one.transport for one in fit.system.transfers}
    assert names == {"osu-H-H", "osu-D-D"}
    assert {one.approach for one in fit.system.transfers} == {None, "staged"}
    swept = [
        record(factor, {"labels": {"from": letter, "to": letter}})
        for factor, letter in ((1.0, "H"), (3.0, "D"))
    ]
    assert fit_records(swept, "both", None, 2).system.transfers == fit.system.transfers
    found = advise(fit.system, [8, 16], 2, [], 0.1)
    assert [choice.ways[0] for choice in found.choices] == ["osu-H-H"] * 2
    assert found.choices[0].seconds[1] == pytest.approx(3 * found.choices[0].seconds[0], rel=0.05)
    assert [one.name for one in found.between_devices] == ["osu-D-D/staged"]


def test_the_better_transport_of_device_buffers_is_named() -> None:
    """Records of both transports of libplumb-mpi-device, and of staging by hand, are figures of their own."""
    ways = {
        "staged": {},
        "peer": {"PLUMB_MPI_TRANSPORT": "peer"},
        "naive": {"PLUMB_MPI_STAGING": "naive"},
    }
    records = []
    for factor, environment in enumerate(ways.values(), 1):
        one = record(float(4 - factor), where="D,D")
        records.append(one.model_copy(update={"environment": environment}))
    fit = fit_records(records, "three", None, 2)
    assert [one.approach for one in fit.system.transfers] == list(ways)
    found = advise(fit.system, [8, 16], 2, [], 0.1)
    assert found.choices[0].ways == ["osu-D-D/naive", "osu-D-D/peer", "osu-D-D/staged"]
    assert found.between_devices == []
    text = write(found, "text")
    assert text.startswith("one message between two buffers of three, 2 ranks\n")
    assert "between devices" not in text
    assert "B its HBM" in text
