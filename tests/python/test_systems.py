"""System files: reading, refusing, writing, and the figures of the one that is shipped."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.base.paths import Home
from plumbline.base.units import parse_quantity
from plumbline.calibrate.calibrate import launches_of
from plumbline.judge.judgement import by_system
from plumbline.judge.promise import conditions_of, reach_of_launch, verdict_of
from plumbline.record.record import Record
from plumbline.system.files import find_system, load_system, save_system
from plumbline.system.segments import Segment
from plumbline.system.system import Calibration, CaseLaunches, Identity, Legs, System

NOCTUA = ROOT / "systems" / "noctua1-520n.toml"
STAGED = ("read", "exchange", "write")
HEAD = '[system]\nname = "x"\ndescription = "d"\nsource = "s"\n'


def staged_s(system: System, messages: int, message_bytes: int) -> float:
    assert system.legs is not None
    times = [system.legs.time_s(leg, messages, message_bytes) for leg in STAGED]  # type: ignore[arg-type]
    return sum(time for time in times if time is not None)


def test_equation_4_7_from_the_system_file() -> None:
    """6.06 GB/s is 2 L / t where one message is handled (n = 1): sent and received are counted."""
    noctua = load_system(NOCTUA)
    size = 2**40  # so long that latencies do not count
    assert 2 * size / staged_s(noctua, 1, size) == pytest.approx(6.06e9, rel=1e-3)


def test_b_eff_counts_what_is_sent_and_gets_half() -> None:
    """With both neighbours (n = 2), b(L) = 2 L / t is half of it, sent and received the same."""
    noctua = load_system(NOCTUA)
    size = 2**40  # so long that latencies do not count
    assert 2 * size / staged_s(noctua, 2, size) == pytest.approx(3.03e9, rel=1e-3)
    assert 4 * size / staged_s(noctua, 2, size) == pytest.approx(6.06e9, rel=1e-3)


def test_the_channel_of_table_4_2() -> None:
    channel = load_system(NOCTUA).channel
    assert channel is not None
    assert (channel.count, channel.latency_ns, channel.width_bytes) == (4, 520, 32)
    assert 1e3 / channel.frequency_mhz == pytest.approx(6.4)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("legs = 3\n" + HEAD, "legs: must be a table, not the integer 3"),
        (HEAD + "[leg]\n", "unknown key leg; did you mean legs?"),
        (HEAD.replace("name", "nam"), "the key system.name is missing"),
        (
            HEAD + '[[legs.read]]\nlatency_us = "2"\nsource = "s"\n',
            "legs.read[0].latency_us: must have a unit, such as '2 us', not '2'",
        ),
        (
            HEAD + '[[legs.read]]\nlatency = 2\nsource = "s"\n',
            "the key legs.read[0].latency_us is missing",
        ),
        (
            HEAD + '[[legs.read]]\nlatency_us = 2\nbandwith_gb_s = 1\nsource = "s"\n',
            "unknown key legs.read[0].bandwith_gb_s; did you mean bandwidth_gb_s?",
        ),
        (HEAD + '[[legs.read]]\nlatency_us = -2\nsource = "s"\n', "greater than or equal to 0"),
        (HEAD + '[[legs.read]]\nlatency_us = nan\nsource = "s"\n', "must be a finite number"),
        (
            HEAD + '[[legs.read]]\nlatency_us = 2\nup_to_bytes = 8\nsource = "s"\n',
            "legs: the last segment of read must not have up_to_bytes",
        ),
        (
            HEAD + '[[legs.read]]\nlatency_us = 2\nsource = "s"\n' * 2,
            "legs: up_to_bytes of the segments of read must rise",
        ),
        ("[system\n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_file_key_and_reason(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        load_system(path)
    assert str(refused.value).startswith(f"the system file {path}")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_keys_of_a_later_version_are_passed_over_where_plumb_wrote_them(tmp_path: Path) -> None:
    """In a file that people write an unknown key is a slip, and refused."""
    later = (
        "cool = 1\n[[legs.read]]\nlatency_us = 1.0\nsource = 's'\nspread = [1, 2]\n[more]\na = 1\n"
    )
    path = tmp_path / "systems" / "local.toml"
    path.parent.mkdir()
    path.write_text(HEAD + later)
    for system in (load_system(path, written_by_plumb=True), find_system("local", Home(tmp_path))):
        assert system.legs is not None
        assert [segment.latency_us for segment in system.legs.read] == [1.0]
    with pytest.raises(UsageError, match="unknown key"):
        load_system(path)
    path.write_text(HEAD + later.replace("1.0", "'x'"))
    with pytest.raises(UsageError, match=r"legs\.read\[0\]\.latency_us"):
        load_system(path, written_by_plumb=True)


def test_a_system_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert find_system("noctua1-520n", home) == find_system(str(NOCTUA), home)
    with pytest.raises(
        UsageError, match=r"unknown system noctua1-520m .*; did you mean noctua1-520n"
    ):
        find_system("noctua1-520m", home)
    with pytest.raises(UsageError, match=r"there is no system file nowhere/x\.toml"):
        find_system("nowhere/x.toml", home)


def test_segments_are_chosen_by_size() -> None:
    small = Segment(up_to_bytes=8, latency_us=1, source="s")
    large = Segment(latency_us=2, bandwidth_gb_s=1, source="s")
    legs = Legs(read=[small, large])
    assert legs.time_s("read", 2, 8) == pytest.approx(1e-6)
    assert legs.time_s("read", 2, 9) == pytest.approx(2e-6 + 18e-9)
    assert legs.time_s("write", 2, 9) is None


_numbers = st.floats(0, 1e9, allow_nan=False)
_segments = st.lists(
    st.builds(
        Segment,
        latency_us=_numbers,
        bandwidth_gb_s=st.none() | st.floats(1e-9, 1e9),
        source=st.text(),
        worst_error=st.none() | _numbers,
    ),
    max_size=3,
).map(
    lambda segments: [
        segment.model_copy(update={"up_to_bytes": 4**i if i < len(segments) else None})
        for i, segment in enumerate(segments, 1)
    ]
)


@settings(deadline=None)
@given(st.text(), st.builds(Legs, read=_segments, exchange=_segments))
def test_what_is_written_is_read_again(text: str, legs: Legs) -> None:
    system = System(system=Identity(name=text, description="a", source="b"), legs=legs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deep" / "x.toml"
        save_system(system, path, "two\nlines")
        assert load_system(path) == system
        assert [file.name for file in path.parent.iterdir()] == ["x.toml"]


def test_calibrations_stand_side_by_side_by_their_conditions(
    record: Record, tmp_path: Path
) -> None:
    here = conditions_of(record)
    there = here.model_copy(update={"ranks": 4})
    new = Calibration(
        request="-n 2", started="", program="", seconds=1, conditions=here, legs=Legs()
    )
    other = new.model_copy(update={"conditions": there, "request": "-n 4"})
    system = System(system=Identity(name="local", description="", source=""))
    for calibration in (new, other, new):
        system = system.with_calibration(calibration)
    assert len(system.calibrations) == 2
    assert system.answers("-n 4")
    assert not system.answers("-n 8")
    assert system.figures_under(here).legs == Legs()
    assert system.figures_under(here.model_copy(update={"devices": ["other"]})).legs is None
    save_system(system, tmp_path / "local.toml", "")
    assert load_system(tmp_path / "local.toml") == system


def test_a_calibration_keeps_how_its_launches_differed(record: Record, tmp_path: Path) -> None:
    here = conditions_of(record)
    launches = [
        CaseLaunches(case="memory/copy", seconds=[1.0, 1.1, 1.0, 1.1]),
        CaseLaunches(case="memory/read", seconds=[2.0, 2.0]),
    ]
    made = Calibration(
        request="-n 2", started="2026-11-22", program="", seconds=1, conditions=here,
        legs=Legs(), launches=launches,
    )  # fmt: skip
    system = System(system=Identity(name="local", description="", source=""))
    system = system.with_calibration(made)
    save_system(system, tmp_path / "local.toml", "")
    assert load_system(tmp_path / "local.toml") == system
    between = system.figures_under(here).between
    assert between is not None
    assert between.launches == 4
    assert between.deviation == pytest.approx(0.0477, abs=1e-3)
    reach = reach_of_launch(between)
    assert 0.15 < reach < 0.18
    assert verdict_of(1.3, None, 1.0, 0.25) == "slow"
    assert verdict_of(1.3, None, 1.0, 0.25, reach) == "ok"
    assert verdict_of(1.5, None, 1.0, 0.25, reach) == "slow"
    assert verdict_of(0.6, None, 1.0, 0.25, reach) == "fast"
    assert reach_of_launch(None) == 0
    assert made.model_copy(update={"launches": launches[:0]}).between is None


@pytest.mark.parametrize("name", ["local", "centre"])
def test_a_calibration_of_another_machine_is_named_and_not_used(record: Record, name: str) -> None:
    elsewhere = conditions_of(record).model_copy(update={"driver": "1.0"})
    made = Calibration(
        request="-n 2", started="2025-01-02T03", program="", seconds=1, conditions=elsewhere,
        legs=Legs(),
    )  # fmt: skip
    system = System(system=Identity(name=name, description="", source=""))
    judged = by_system(record, system.with_calibration(made), 0.25)
    assert judged.judged is None
    assert ("the system centre has no legs" in judged.line) == (name == "centre")
    assert "not used: the calibration of 2025-01-02, driver 1.0 (here " in judged.line
    assert "not used" not in by_system(record, system, 0.25).line


def test_the_launches_of_a_calibration_are_those_of_each_case(record: Record) -> None:
    found = launches_of([record, record])
    assert {one.case for one in found} == {case.key for case in record.cases if case.median_s()}
    assert all(len(one.seconds) == 2 for one in found)
    assert launches_of([record]) == []


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("520 ns", "us", 0.52),
        ("19.2 GB/s", "GB/s", 19.2),
        ("100 Gb/s", "GB/s", 12.5),
        ("2400MHz", "MHz", 2400),
        ("1.2 TFLOP/s", "GFLOP/s", 1200),
        ("245 MUP/s", "GUP/s", 0.245),
        ("8 KiB", "B", 8192),
        ("1e3 ms", "s", 1),
    ],
)
def test_a_quantity_may_have_its_unit_in_a_text(text: str, unit: str, number: float) -> None:
    assert parse_quantity(text, unit) == number


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fast", "must be a number with a unit, such as '2 GB/s', not 'fast'"),
        ("1.2.3 GB/s", "must be a number with a unit"),
        ("19.2", "must have a unit, such as '19.2 GB/s', not '19.2'"),
        ("19.2 gb/s", "unknown unit gb/s in '19.2 gb/s'; did you mean GB/s?"),
        ("19.2 furlongs", "unknown unit furlongs"),
        ("19.2 ns", "must be a rate of bytes (such as GB/s), not a time: '19.2 ns'"),
        ("1e999 GB/s", "must be a number with a unit"),
    ],
)
def test_a_unit_that_does_not_fit_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as refused:
        parse_quantity(text, "GB/s")
    assert "\n" not in str(refused.value)


def test_sizes_may_have_units_too() -> None:
    assert Segment.model_validate({"latency_us": 1, "up_to_bytes": "4 KiB", "source": ""}) == (
        Segment(latency_us=1, up_to_bytes=4096, source="")
    )
    with pytest.raises(ValueError, match="must be an integer number of bytes"):
        Segment.model_validate({"latency_us": 1, "up_to_bytes": "0.3 B", "source": ""})


@given(st.floats(1e-6, 1e6), st.sampled_from(["B/s", "kB/s", "MiB/s", "GB/s", "Gb/s", "Tbit/s"]))
def test_units_go_there_and_back(number: float, unit: str) -> None:
    there = parse_quantity(f"{number!r} {unit}", "GB/s")
    assert parse_quantity(f"{there!r} GB/s", unit) == pytest.approx(number, rel=1e-12)


def test_a_machine_stands_on_its_board(tmp_path: Path) -> None:
    link = '[[device.link.read]]\nlatency_us = 1\nbandwidth_gb_s = "8 GB/s"\nsource = "s"\n'
    stream = '[[device.bitstreams]]\nbenchmark = "stream"\nreplications = 4\nsource = "s"\n'
    (tmp_path / "board.toml").write_text(HEAD + link + stream + "frequency_mhz = 300\n")
    (tmp_path / "machine.toml").write_text(
        'board = "board"\n'
        + HEAD.replace("x", "m")
        + stream
        + "frequency_mhz = 350\n"
        + '[[legs.exchange]]\nlatency_us = 1\nsource = "s"\n'
    )
    system = load_system(tmp_path / "machine.toml")
    assert system.system.name == "m"
    assert system.device is not None
    assert [one.frequency_mhz for one in system.device.bitstreams] == [350, 300]
    assert system.legs is not None
    assert system.legs.time_s("read", 1, 8000) == pytest.approx(2e-6)
    assert system.legs.launch == []


def test_boards_that_are_not_there_or_go_in_a_ring(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('board = "b"\n' + HEAD)
    with pytest.raises(UsageError, match=r"a\.toml: unknown board b"):
        load_system(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_text('board = "a"\n' + HEAD)
    with pytest.raises(UsageError, match=r"b\.toml: the boards form a cycle: a"):
        load_system(tmp_path / "a.toml")
