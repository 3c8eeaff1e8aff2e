"""`plumb advise`: the fastest transport by size, changes, and indistinguishable ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Plumb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plumbline.report.advise import advise, write
from plumbline.system.segments import Segment
from plumbline.system.system import Identity, MeasuredTransfer, System

Golden = Callable[[str, str], None]


def way(name: str, latency_us: float, gb_s: float, error: float | None = None) -> MeasuredTransfer:
    line = Segment(
        latency_us=latency_us,
        bandwidth_gb_s=gb_s,
        source="s",
        worst_error=error,
        largest_bytes=2**24,
    )
    return MeasuredTransfer(transport=name, approach="host-buffered", segments=[line])


def system(*ways: MeasuredTransfer) -> System:
    return System(system=Identity(name="test", description="", source=""), transfers=list(ways))


@given(st.floats(0.1, 10), st.floats(1.5, 50), st.floats(0.1, 10), st.floats(1.5, 50))
@settings(max_examples=50, deadline=None)
def test_the_crossover_is_where_two_lines_meet(
    latency: float, more: float, rate: float, faster: float
) -> None:
    """latency + L/rate = more latency + L/(faster rate)."""
    meet = latency * (more - 1) * 1e-6 / (1e-9 / rate - 1e-9 / (rate * faster))
    assume(16 < meet < 2**23)
    two = system(way("short", latency, rate), way("long", latency * more, rate * faster))
    found = advise(two, [1, 2**24], 2, [], 0.05).stretches
    assert [stretch.name.split("/")[0] for stretch in found] == ["short", "long"]
    assert found[1].first_bytes == pytest.approx(meet, abs=2)
    assert found[1].low_bytes <= found[1].first_bytes <= found[1].high_bytes


def test_who_cannot_be_told_apart_is_said() -> None:
    near = system(way("one", 1.0, 10, 0.1), way("two", 1.15, 10, 0.1), way("slow", 9, 10, 0.1))
    (choice,) = advise(near, [1], 2, [], 0.1).choices
    assert choice.alike == ["two/host-buffered"]
    sure = system(way("one", 1.0, 10, 0.01), way("two", 1.15, 10, 0.01))
    assert advise(sure, [1], 2, [], 0.1).choices[0].alike == []


def test_the_interval_of_a_crossover_is_where_both_are_alike() -> None:
    """1 us + L/1 GB/s meets 2 us + L/2 GB/s at 2000 B; with 10 % each the ratio must pass 1.21."""
    two = system(way("one", 1, 1, 0.1), way("two", 2, 2, 0.1))
    _, change = advise(two, [1, 2**20], 2, [], 0).stretches
    assert change.first_bytes == pytest.approx(2000, abs=1)
    low = (2 - 1.21) / (1.21 - 0.5) * 1000  # 1.21 (1 + x) = 2 + x/2, in KB
    high = (1.21 * 2 - 1) / (1 - 1.21 / 2) * 1000
    assert change.low_bytes == pytest.approx(low, rel=0.03)
    assert change.high_bytes == pytest.approx(high, rel=0.03)


def test_beyond_what_was_measured_is_extrapolated() -> None:
    choices = advise(system(way("one", 1, 1)), [2**24, 2**25], 2, [], 0.1).choices
    assert [choice.extrapolated for choice in choices] == [[], ["one/host-buffered"]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("advise-noctua1.txt", ["--system", "noctua1-520n", "--ranks", "8"]),
        ("advise-noctua2.txt", ["--system", "noctua2-u280", "--transports", "accl-udp,staged-launch",
                                "--sizes", "64,4KiB,1MiB"]),
    ],
)  # fmt: skip
def test_texts(plumb: Plumb, home: Path, golden: Golden, name: str, words: list[str]) -> None:
    status, out, err = plumb("advise", *words)
    assert (status, err) == (0, "")
    golden(name, out)


def test_every_form_has_every_way(plumb: Plumb, home: Path) -> None:
    words = ["advise", "--system", "noctua2-u280", "--sizes", "64,1MiB"]
    document = json.loads(plumb(*words, "--format", "json")[1])
    ways = len(document["sources"])
    assert [len(choice["ways"]) for choice in document["sizes"]] == [ways, ways]
    assert len(plumb(*words, "--format", "csv")[1].splitlines()) == 1 + 2 * ways


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--system", "h200"], "has no figures of a transport between devices"),
        (["--system", "noctua1-520n", "--transports", "chanel"], "did you mean channel?"),
        (["--system", "noctua1-520n", "--transports", "accl-udp"], "has no figure"),
        (["--system", "noctua1-520n", "--sizes", "4 KiBs"], "unknown unit KiBs"),
        (["--system", "noctua1-520n", "--ranks", "1"], "ranks"),
        ([], "the system local has no figures"),
    ],
)
def test_mistakes_are_one_sentence(
    plumb: Plumb, home: Path, words: list[str], sentence: str
) -> None:
    status, out, err = plumb("advise", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_more_ranks_than_devices_are_told() -> None:
    from conftest import ROOT

    from plumbline.system.files import load_system

    noctua = load_system(ROOT / "systems" / "noctua1-520n.toml")
    assert "extrapolated" in write(advise(noctua, [1], 4096, [], 0.1), "text")
