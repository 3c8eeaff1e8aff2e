"""The model of shallow water's records: eq. 5.2 and 5.3 in seconds on the run's own partitions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT

from plumbline.base.errors import UsageError
from plumbline.fit.device import fit_device
from plumbline.model.benchmarks import shallow_water as water
from plumbline.model.forecast import Scenario
from plumbline.model.own_work import undisturbed_s
from plumbline.record.record import Record
from plumbline.system.device import DeviceTable, Launch, Memory, OwnWork, Peak
from plumbline.system.segments import Segment
from plumbline.system.system import Figures, Identity, MeasuredTransfer, System

WORK = OwnWork(benchmark="shallow_water", part="float/1", per_s=1e7, source="")
TRANSFER = MeasuredTransfer(
    transport="mpi",
    approach="host-buffered",
    segments=[Segment(latency_us=1, bandwidth_gb_s=1, source="")],
)


def record(runtime: str = "opencl", **facts: Any) -> Record:
    text = (ROOT / "tests" / "golden" / "shallow_water_2.record.json").read_text()
    document = json.loads(text)
    document["cases"][0]["facts"] |= facts
    for rank in document["ranks"]:
        rank["device"]["runtime"] = runtime
    return Record.model_validate(document)


def expected(run: Record, **changes: Any) -> Any:
    device = DeviceTable(**{"work": [WORK], **changes})
    (found,) = water.expect(run, Figures(None, device, transfers=[TRANSFER])).values()
    return found


def test_a_covered_exchange_costs_nothing() -> None:
    """3,398 elements, 42 of them at the border; 36 B an element and stage in one message."""
    found = expected(record())
    assert found.seconds == pytest.approx(2 * 3398 / 1e7)
    assert found.parts[water.BORDER] == pytest.approx(2 * 42 / 1e7)
    assert found.bound == water.ELEMENTS


def test_cores_that_move_messages_compute_nothing_beside_them() -> None:
    message = 1e-6 + 42 * 36 / 1e9
    found = expected(record("native"))
    assert found.parts[water.MESSAGES] == pytest.approx(2 * message)
    assert found.seconds == pytest.approx(2 * (3398 / 1e7 + message))
    run = record("native")
    (free,) = water.learn([run], lambda *_: 0.0, "measured")
    (row,) = water.learn([run], lambda *_: 1e-6, "measured")
    assert 3398 / row.per_s == pytest.approx(3398 / free.per_s - 1e-6, rel=1e-4)


def test_one_core_computes_a_short_kernel_of_native() -> None:
    """A border of 42 elements on one of four cores; a rate is learnt without that."""
    message = 1e-6 + 42 * 36 / 1e9
    run = record("native")
    for rank in run.ranks:
        rank.cores[:] = [0, 1, 2, 3]
    found = expected(run)
    assert found.seconds == pytest.approx(2 * ((3356 + 4 * 42) / 1e7 + message))
    one = water.learn([record("native")], lambda *_: 0.0, "measured")[0]
    four = water.learn([run], lambda *_: 0.0, "measured")[0]
    assert four.per_s / one.per_s == pytest.approx((3356 + 4 * 42) / 3398, rel=1e-4)
    off = record("native", overlap=False)
    off.ranks[0].cores[:] = [0, 1, 2, 3]
    assert expected(off).seconds == pytest.approx(2 * (3398 / 1e7 + message))


def test_a_border_apart_is_covered_like_its_messages() -> None:
    """A launch of the core counts; of a core of one element, border and messages beside it are what shows."""
    launch = Launch(wait_us=9, row_us=5, source="")
    found = expected(record(border_apart=True), launch=launch)
    assert found.seconds == pytest.approx(2 * (3356 / 1e7 + 5e-6))
    assert water.BORDER not in found.parts
    few = [{"elements": 43, "core": 1, "neighbours": 1}] * 2
    small = expected(record(border_apart=True, partitions=few), launch=launch)
    beside = 1e-6 + 42 * 36 / 1e9 + 3 * 5e-6 + 42e-7
    assert small.seconds == pytest.approx(2 * (beside + 5e-6))
    assert small.parts[water.BORDER] == pytest.approx(2 * 42e-7)


MEET = Launch(wait_us=9, row_us=5, meet_us=2, source="")


def test_groups_of_a_persistent_kernel_meet_instead_of_being_launched() -> None:
    """Two stages; the message and the halo's meeting are covered; 9 us of a launch for 100 steps."""
    assert expected(record(schedule="host")).seconds == expected(record()).seconds
    found = expected(record(schedule="device"), launch=MEET)
    assert found.seconds == pytest.approx(2 * (3398 / 1e7 + 2e-6) + 9e-8)
    assert found.parts[water.MEETINGS] == pytest.approx(4e-6)
    assert found.parts[water.LAUNCHES] == pytest.approx(9e-8)
    assert "meetings" in water.describe(record(schedule="device"), Figures(None, None))
    assert "launches" in water.describe(record(), Figures(None, None))


def test_a_small_persistent_kernel_waits_for_messages() -> None:
    """A core of one element: message and halo's meeting, then 42 elements and all groups' meeting."""
    few = [{"elements": 43, "core": 1, "neighbours": 1}] * 2
    found = expected(record(schedule="device", partitions=few), launch=MEET)
    message = 1e-6 + 42 * 36 / 1e9
    assert found.parts[water.MESSAGES] == pytest.approx(2 * (message + 2e-6 - 1e-7))
    assert found.seconds == pytest.approx(2 * (message + 4e-6 + 42e-7) + 9e-8)
    off = expected(record(schedule="device", partitions=few, overlap=False), launch=MEET)
    assert off.seconds - found.seconds == pytest.approx(2 * 1e-7)


def test_without_a_meetings_time_it_has_no_expectation() -> None:
    launch = Launch(wait_us=9, row_us=5, source="")
    found = expected(record(schedule="device"), launch=launch)
    assert found.reason == "the system file has no figure meet_us in the table [device.launch]"


def forecast(approach: str | None, ranks: int, **more: Any) -> Any:
    device = DeviceTable(memory=[Memory(gb_s=1000, source="")], launch=MEET)
    transfers = [
        TRANSFER.model_copy(update={"transport": "peer", "approach": "device-streaming"}),
        TRANSFER.model_copy(update={"transport": "peer"}),
    ]
    identity = Identity(name="s", description="", source="")
    system = System(system=identity, device=device, transfers=transfers)
    wish = Scenario(size=more.pop("size", 1e6), ranks=ranks, approach=approach, **more)
    return water.forecast(system, wish)


def test_devices_without_bitstreams_have_a_forecast_of_both_forms() -> None:
    """p = 0 in float: 88 B of an element through memory."""
    alone = forecast(None, 1)
    assert alone.seconds == pytest.approx(88e6 / 1e12 + 5e-6)
    assert alone.value == pytest.approx(378e6 / alone.seconds * 1e-9)
    assert not alone.extrapolated.startswith("no published")
    stays = forecast("device-streaming", 1)
    assert stays.seconds == pytest.approx(88e6 / 1e12 + 2e-6 + 9e-9)
    two = forecast("device-streaming", 2, transport="peer", size=2e4)
    border = 3.2 * 1e2 / 8
    message = 1e-6 + border * 12 / 1e9
    core_s, border_s = (1e4 - border) * 88e-12, border * 88e-12
    assert two.seconds == pytest.approx(max(core_s, message + 2e-6) + border_s + 2e-6 + 9e-9)
    hosted = forecast("host-buffered", 2, transport="peer", size=2e4)
    assert hosted.seconds == pytest.approx(max(core_s, message + 1e-5) + border_s + 1e-5)
    stall = forecast("device-streaming", 2, transport="peer", size=2e4, operation="stall")
    waits = message + 2e-6 - core_s
    assert (stall.value, stall.unit) == (pytest.approx(100 * waits / two.seconds), "%")
    with pytest.raises(UsageError, match="float or double, not half"):
        forecast(None, 1, type="half")


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


def alone(**facts: Any) -> Record:
    """The golden record's first rank, on a mesh of its own."""
    document = json.loads(record("cuda", **facts).model_dump_json(by_alias=True))
    part = document["cases"][0]["facts"]["partitions"][0]
    part |= {"core": part["elements"], "neighbours": 0, "sent": 0, "received": 0}
    document["cases"][0]["facts"]["partitions"] = [part]
    document["ranks"], document["world"]["ranks"] = document["ranks"][:1], 1
    for case in document["cases"]:
        case["work_by_rank"] = None
        for kept in (case["samples"], case["paused"]):
            if kept:
                kept["by_rank"] = kept["by_rank"][:1]
    return Record.model_validate(document)


def test_a_fit_has_the_rate_of_elements_without_the_launch() -> None:
    launch = Launch(wait_us=10, row_us=4, source="")
    run = alone()
    device, (part,) = fit_device([run], DeviceTable(launch=launch))
    (row,) = device.work
    stage = undisturbed_s(run.cases[0]) / 2
    assert row.part == "float/1"
    assert 3398 / row.per_s == pytest.approx(stage - 4e-6, rel=1e-4)
    assert [figure.name for figure in part.figures] == ["float/1"]
    again = water.expect(run, Figures(None, device.model_copy(update={"launch": launch})))
    assert again[run.cases[0].key].seconds == pytest.approx(2 * stage, rel=1e-4)


def test_a_persistent_kernel_teaches_no_rate() -> None:
    assert not fit_device([alone(schedule="device")], DeviceTable())[0].work
