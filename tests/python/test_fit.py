"""The fit of segments, and the calibration made from a record."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.calibrate.calibrate import calibration, request_text
from plumbline.calibrate.legs import fit_legs, is_disturbed
from plumbline.fit.segments import fit_segments, undisturbed
from plumbline.model.benchmarks.b_eff import describe, expect
from plumbline.model.transfer import transfer_of
from plumbline.record.record import Record
from plumbline.system.segments import Segment
from plumbline.system.system import Identity, Legs, Point, System

SIZES = [2**power for power in range(21)]


def points(segments: list[Segment], noise: list[float] | None = None) -> list[Point]:
    legs = Legs(read=segments)
    factors = noise or [1.0] * len(SIZES)
    times = [legs.time_s("read", 2, size) or 0.0 for size in SIZES]
    return [
        Point(2, size, time * factor)
        for size, time, factor in zip(SIZES, times, factors, strict=True)
    ]


def segment(latency: float, bandwidth: float, up_to: int | None = None) -> Segment:
    return Segment(up_to_bytes=up_to, latency_us=latency, bandwidth_gb_s=bandwidth, source="s")


@given(st.floats(0.1, 1e3), st.floats(0.01, 500))
@settings(max_examples=50, deadline=None)
def test_one_line_is_found_again(latency: float, bandwidth: float) -> None:
    (found,) = fit_segments(points([segment(latency, bandwidth)]))
    for point in points([segment(latency, bandwidth)]):
        assert found.time_s(2, point.message_bytes) == pytest.approx(point.seconds, rel=1e-3)


@given(st.floats(1, 5), st.floats(2, 20), st.integers(6, 14), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_protocol_switch_is_found_again_through_noise(
    latency: float, bandwidth: float, switch: int, seed: int
) -> None:
    """Twice the latency from 2^switch on, bandwidth a third of it before; 2 % noise."""
    truth = [segment(latency, bandwidth / 3, 2**switch), segment(4 * latency, bandwidth)]
    noise = list(np.random.default_rng(seed).normal(1.0, 0.02, len(SIZES)))
    found = Legs(read=fit_segments(points(truth, noise)))
    for point in points(truth):
        time = found.time_s("read", 2, point.message_bytes)
        assert time == pytest.approx(point.seconds, rel=0.15)


@given(st.lists(st.floats(1e-9, 1e2), min_size=1, max_size=21))
@settings(max_examples=100, deadline=None)
def test_any_times_give_sound_segments(times: list[float]) -> None:
    """Whatever was measured: few segments, rising, no negative or infinite figure."""
    found = fit_segments([Point(2, 2**i, time) for i, time in enumerate(times)])
    Legs(read=found)
    assert 1 <= len(found) <= 4
    for part in found:
        assert part.latency_us >= 0
        assert part.bandwidth_gb_s is None or 0 < part.bandwidth_gb_s < math.inf


def test_a_constant_time_has_no_bandwidth() -> None:
    (found,) = fit_segments([Point(2, size, 5e-6) for size in SIZES])
    assert (found.latency_us, found.bandwidth_gb_s) == (5, None)


def test_noise_alone_makes_no_segments() -> None:
    noise = list(np.random.default_rng(1).normal(1.0, 0.03, len(SIZES)))
    assert len(fit_segments(points([segment(3, 5)], noise))) == 1


def test_legs_from_a_record(record: Record) -> None:
    legs = fit_legs([record])
    assert legs.launch[0].bandwidth_gb_s is None
    for case in record.cases:
        if case.label("part") == "exchange":
            expected = legs.time_s("exchange", 2, case.message_bytes())
            assert expected == pytest.approx(case.median_s(), rel=0.01)


def test_what_took_longer_than_a_larger_message_was_disturbed() -> None:
    times = {1: 1.0, 2: 9.0, 4: 1.2, 8: 1.1, 16: 5.0}
    points = [Point(2, size, seconds) for size, seconds in times.items()]
    assert [point.message_bytes for point in undisturbed(points)] == [1, 4, 8, 16]


def slowed(record: Record, key: str, factor: float) -> Record:
    cases = []
    for case in record.cases:
        summary = case.summary
        if case.key == key and summary:
            summary = summary.model_copy(update={"median_s": summary.median_s * factor})
        cases.append(case.model_copy(update={"summary": summary}))
    return record.model_copy(update={"cases": cases})


@pytest.mark.parametrize(("factor", "counts"), [(1.5, True), (50, False)])
def test_two_launches_are_weighed(record: Record, factor: float, counts: bool) -> None:
    """The middle of the two, unless one is so far off that something disturbed it."""
    other = slowed(record, "natural/launch/1", factor)
    (launch,) = fit_legs([record, other]).launch
    expected = 3.06 * (factor**0.5 if counts else 1)
    assert launch.latency_us == pytest.approx(expected, rel=1e-3)


def test_a_disturbed_calibration_is_known(record: Record) -> None:
    assert not is_disturbed([record])
    one = slowed(record, "natural/read/1", 100)
    assert not is_disturbed([one])
    assert is_disturbed([slowed(one, "natural/write/1", 100)])


def test_a_calibration_names_its_conditions(record: Record) -> None:
    made = calibration("legs", [record], "-n 2", 3.14159)
    assert made.seconds == 3.1
    assert made.conditions.devices == ["pthread-skylake-avx512"]
    assert made.conditions.messages == 2
    assert made.program == "plumb-mpi 0.1.0 (abc1234)"


def slow_transfers(record: Record, factor: float) -> Record:
    """A record whose transfers take a multiple of their legs' time."""
    for case in record.cases:
        if case.label("part") == "transfer":
            record = slowed(record, case.key, factor)
    return record


@pytest.mark.parametrize(("factor", "hands_over"), [(1.6, True), (0.7, False)])
def test_a_transfer_is_calibrated_whole(record: Record, factor: float, hands_over: bool) -> None:
    """Expected is the time of the whole; its parts are the legs and the excess."""
    seen = slow_transfers(record, factor)
    made = calibration("legs", [seen], "-n 2", 1.0)
    assert [way.transport for way in made.transfers] == ["staged"]
    local = System(system=Identity(name="local", description="", source="")).with_calibration(made)
    figures = local.figures_under(made.conditions)
    found = expect(seen, figures)
    transfers = [
        case for case in seen.cases if case.label("part") == "transfer" and case.median_s()
    ]
    assert len(transfers) > 2
    for case in transfers:
        expectation = found[case.key]
        assert expectation.seconds == pytest.approx(case.median_s(), rel=0.05)
        assert ("handover" in expectation.parts) == hands_over
        if hands_over:
            assert sum(expectation.parts.values()) == pytest.approx(expectation.seconds)
    reads = [case for case in seen.cases if case.label("part") == "read"]
    assert all(list(found[case.key].parts) == ["read"] for case in reads)
    assert describe(seen, figures).startswith("staged, measured whole, of read, exchange, write")
    away = transfer_of(local, "staged").seconds(64.0)
    assert away == pytest.approx(made.transfers[0].segments[0].time_s(1, 64), rel=1e-6)


def test_only_what_decides_is_in_the_request() -> None:
    options = {"max-size": "10", "transport": "staged", "device": "cpu", "ranks": "2"}
    assert request_text("legs", 2, [], options) == "legs -n 2 --device cpu --transport staged"
