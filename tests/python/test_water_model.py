"""The model of shallow water's records: eq. 5.2 and 5.3 in seconds on the run's own partitions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from plumbline.model.benchmarks import shallow_water as water
from plumbline.record.record import Record
from plumbline.system.device import DeviceTable, Launch, Memory, OwnWork, Peak
from plumbline.system.segments import Segment
from plumbline.system.system import Figures, MeasuredTransfer

WORK = OwnWork(benchmark="shallow_water", part="float/1", per_s=1e7, source="")
TRANSFER = MeasuredTransfer(
    transport="mpi",
    approach="host-buffered",
    segments=[Segment(latency_us=1, bandwidth_gb_s=1, source="")],
)
_times = st.floats(0, 1)


def record(**facts: Any) -> Record:
    text = (ROOT / "tests" / "golden" / "shallow_water_2.record.json").read_text()
    document = json.loads(text)
    document["cases"][0]["facts"] |= facts
    return Record.model_validate(document)


def expected(run: Record, **changes: Any) -> Any:
    device = DeviceTable(**{"work": [WORK], **changes})
    (found,) = water.expect(run, Figures(None, device, transfers=[TRANSFER])).values()
    return found


@given(_times, _times, _times, _times)
def test_a_stage_covers_the_smaller(core: float, comm: float, border: float, rest: float) -> None:
    found = float(water.stage_s(core, comm, border, rest))
    assert found == pytest.approx(max(core, comm) + border + rest)


def test_a_covered_exchange_costs_nothing() -> None:
    """3,398 elements, 42 of them at the border; 36 B an element and stage in one message."""
    found = expected(record())
    assert found.seconds == pytest.approx(2 * 3398 / 1e7)
    assert found.parts[water.BORDER] == pytest.approx(2 * 42 / 1e7)
    assert found.bound == water.ELEMENTS


def test_a_persistent_kernel_has_no_model() -> None:
    assert expected(record(schedule="host")).seconds == expected(record()).seconds
    assert expected(record(schedule="device")).seconds is None


def test_without_overlap_or_core_it_counts() -> None:
    message = 1e-6 + 42 * 36 / 1e9
    off = expected(record(overlap=False))
    assert off.parts[water.MESSAGES] == pytest.approx(2 * message)
    assert off.seconds == pytest.approx(2 * (3398 / 1e7 + message))
    few = [
        {"elements": 43, "core": 1, "neighbours": 1},
        {"elements": 43, "core": 1, "neighbours": 1},
    ]
    small = expected(record(partitions=few))
    assert small.parts[water.MESSAGES] == pytest.approx(2 * (message - 1e-7))


def test_launches_are_the_exchanges_and_the_kernels() -> None:
    launch = Launch(wait_us=9, row_us=5, source="")
    found = expected(record(overlap=False), launch=launch)
    plain = expected(record(overlap=False))
    assert found.seconds - plain.seconds == pytest.approx(2 * 4 * 5e-6)


def test_without_a_rate_the_roofline_counts() -> None:
    memory = [Memory(gb_s=10, source="")]
    found = expected(record(), work=[], memory=memory)
    each = (2 * 9 + 10) * 4 + 12 + 9 * 4
    assert found.seconds == pytest.approx(2 * 3398 * each / 1e10)
    peak = [Peak(type="float", gflop_s=1, source="")]
    bound = expected(record(), work=[], memory=memory, peaks=peak)
    assert bound.seconds == pytest.approx(3398 * 1774 / 1e9)
    missing = expected(record(), work=[])
    assert "gb_s in the table [device.memory]" in (missing.reason or "")


def test_records_without_partitions_have_no_expectation() -> None:
    assert expected(record(partitions=None)).reason == "the record has no partitions"


def test_rates_are_learnt() -> None:
    run = record()
    (row,) = water.learn([run], lambda *_: 0.0, "measured")
    assert row.part == "float/1"
    assert run.cases[0].summary is not None
    assert row.per_s >= 2 * 3398 * 100 / run.cases[0].summary.min_s * 0.999
