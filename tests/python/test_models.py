"""Models, verdicts, and the expectation file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from plumbline.calibrate.calibrate import calibration
from plumbline.judge.judgement import judge
from plumbline.judge.promise import is_covered, judge_cases, verdict_of
from plumbline.model.benchmarks import b_eff, model_of
from plumbline.model.legs import leg_of
from plumbline.record.expectations import JudgedRecord, expected_path
from plumbline.record.record import Record
from plumbline.system.files import load_system
from plumbline.system.segments import Segment
from plumbline.system.system import Channel, Figures, Identity, Legs, System

LEGS = Legs(
    launch=[Segment(latency_us=3, source="s")],
    read=[Segment(latency_us=2, bandwidth_gb_s=10, source="s")],
    exchange=[Segment(latency_us=1, bandwidth_gb_s=5, source="s")],
    write=[Segment(latency_us=3, bandwidth_gb_s=8, source="s")],
)
FIGURES = Figures(LEGS, None)


def system(legs: Legs | None = LEGS) -> System:
    return System(system=Identity(name="test", description="", source=""), legs=legs)


def with_transport(record: Record, name: str) -> Record:
    assert record.transport is not None
    transport = record.transport.model_copy(update={"name": name})
    return record.model_copy(update={"transport": transport})


def test_staged_is_the_sum_of_its_legs(record: Record) -> None:
    expected = b_eff.expect(record, FIGURES)["natural/transfer/1024"]
    parts = [2e-6 + 2048 / 10e9, 1e-6 + 2048 / 5e9, 3e-6 + 2048 / 8e9]
    assert expected.seconds == pytest.approx(sum(parts))
    assert list(expected.parts.values()) == pytest.approx(parts)
    assert expected.bound == "write"
    assert b_eff.expect(record, FIGURES)["natural/transfer/65536"].bound == "exchange"


def test_a_part_is_its_own_leg(record: Record) -> None:
    expected = b_eff.expect(record, FIGURES)
    assert expected["natural/read/1024"].seconds == pytest.approx(2e-6 + 2048 / 10e9)
    assert expected["natural/launch/1"].seconds == pytest.approx(3e-6)


def test_mpi_is_the_exchange(record: Record) -> None:
    expected = b_eff.expect(with_transport(record, "mpi"), FIGURES)["natural/transfer/1024"]
    assert expected.seconds == pytest.approx(1e-6 + 2048 / 5e9)
    assert expected.bound == "exchange"


def test_a_case_that_measures_one_leg_tells_it(record: Record) -> None:
    legs = {case.key: leg_of(record, case) for case in record.cases}
    assert legs["natural/write/1"] == "write"
    assert legs["natural/transfer/1"] is None
    host = with_transport(record, "mpi")
    assert leg_of(host, next(c for c in host.cases if "transfer" in c.key)) == "exchange"


def test_what_has_no_model_says_why(record: Record) -> None:
    other = b_eff.expect(with_transport(record, "peer"), FIGURES)["natural/transfer/1"]
    assert (other.seconds, other.reason) == (None, "no model for the transport peer")
    unknown = b_eff.expect(record, Figures(Legs(), None))["natural/transfer/1"]
    assert (unknown.seconds, unknown.reason) == (None, "the system file has no leg read")
    batched = record.model_copy(update={"parameters": {"form": "batched"}})
    assert "no model for the form batched" in (
        b_eff.expect(batched, FIGURES)["natural/transfer/1"].reason or ""
    )


def test_serial_links_take_the_time_of_equation_4_4(record: Record) -> None:
    channel = load_system(ROOT / "systems" / "noctua1-520n.toml").channel
    assert channel is not None
    linked = with_transport(record, "channel")
    case = next(c for c in linked.cases if c.key == "natural/transfer/1024")
    expected = b_eff.expect(linked, Figures(None, None, channel=channel))[case.key]
    assert expected.seconds == pytest.approx((16 * 6.4 + 520) * 1e-9)
    assert expected.bound == "latency"
    assert "eq. 4.3" in b_eff.describe(linked, FIGURES)


def test_lanes_that_find_no_channel_take_turns(record: Record) -> None:
    channel = Channel(count=4, latency_ns=520, frequency_mhz=156.25, width_bytes=32, source="s")
    linked = with_transport(record, "channel")
    case = next(c for c in linked.cases if c.key == "natural/transfer/65536")
    both = case.model_copy(update={"work": case.work.model_copy(update={"messages": 4.0})})
    more = linked.model_copy(update={"cases": [both]})
    expected = b_eff.expect(more, Figures(None, None, channel=channel))[case.key]
    assert expected.parts == {
        "clock": pytest.approx(2 * 1024 * 6.4e-9),
        "latency": pytest.approx(520e-9),
    }


def test_emulated_times_are_not_judged_nor_kept_as_figures(record: Record) -> None:
    emulated = record.model_copy(update={"emulated": "a device emulates a board"})
    assert judge(record, system(), 0.25).judged is not None
    judgement = judge(emulated, system(), 0.25)
    assert judgement.judged is None
    assert judgement.line.endswith("its times are of no board: a device emulates a board")


def test_models_are_found_by_name() -> None:
    assert model_of("b_eff") is not None
    assert model_of("linpack") is None
    assert model_of("no such/thing") is None


@pytest.mark.parametrize(
    ("median", "interval", "verdict"),
    [
        (1.0, (0.99, 1.01), "ok"),
        (1.2, (1.19, 1.21), "ok"),
        (1.25, (1.2, 1.3), "ambiguous"),
        (1.3, (1.26, 1.4), "slow"),
        (0.7, (0.6, 0.79), "fast"),
        (0.8, (0.7, 0.9), "ambiguous"),
        (1.3, None, "slow"),
        (1.2, None, "ok"),
    ],
)
def test_verdicts(median: float, interval: tuple[float, float] | None, verdict: str) -> None:
    assert verdict_of(median, interval, 1.0, 0.25) == verdict


_times = st.floats(1e-9, 1e3)


@given(_times, _times, _times, st.floats(0, 2))
def test_a_verdict_never_contradicts_its_interval(
    one: float, two: float, expected: float, tolerance: float
) -> None:
    low, high = sorted((one, two))
    verdict = verdict_of((low + high) / 2, (low, high), expected, tolerance)
    assert (verdict == "slow") == (low > expected * (1 + tolerance))
    assert (verdict == "fast") == (high < expected / (1 + tolerance))


def test_the_comparison_file(record: Record, tmp_path: Path) -> None:
    judged = judge_cases(record, b_eff.expect(record, FIGURES), model="m", system="s")
    path = expected_path(tmp_path / "run.json")
    assert path.name == "run.expected.json"
    judged.write(path)
    written = json.loads(path.read_text())
    assert set(written) == {"model", "system", "cases", "without"}
    assert set(written["cases"]["natural/read/1"]) == {"expected_s", "ratio", "verdict", "bound"}
    assert "natural/transfer/1073741824" not in written["cases"]
    assert JudgedRecord.model_validate(written) == judged


def test_a_judgement_counts_its_verdicts(record: Record) -> None:
    line = judge(record, system(), 0.25).line
    assert line == (
        "model: staged = read + exchange + write (Meyer 2024, eq. 4.2); system test; "
        "verdicts within 25 %: 13 ok, 1 without"
    )
    assert "13 slow" in judge(record, system(), 0.0001).line


@pytest.mark.parametrize(
    ("transport", "legs", "line"),
    [
        ("peer", LEGS, "no model: there is none for the peer transport"),
        ("staged", None, "no model: the system test has no legs"),
        ("staged", Legs(), "no model: the system file has no leg launch"),
    ],
)
def test_without_a_model_the_line_says_why(
    record: Record, transport: str, legs: Legs | None, line: str
) -> None:
    judgement = judge(with_transport(record, transport), system(legs), 0.25)
    assert not (judgement.judged and judgement.judged.cases)
    assert judgement.line == line


def test_a_calibration_covers_its_own_conditions_only(record: Record) -> None:
    local = system(None).with_calibration(calibration("legs", [record], "-n 2", 1.0))
    assert is_covered(record, local)
    assert judge(record, local, 0.25).judged is not None
    device = record.ranks[0].device
    assert device is not None
    newer = device.model_copy(update={"driver": "3.2"})
    ranks = [rank.model_copy(update={"device": newer}) for rank in record.ranks]
    assert not is_covered(record.model_copy(update={"ranks": ranks}), local)
    assert is_covered(with_transport(record, "peer"), local)
