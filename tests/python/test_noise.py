"""``plumb noise``: the report of launches of the benchmark; and a short real run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import DATA, ROOT, Plumb

from plumbline.record.record import Record, load_record
from plumbline.report.noise import steadiness, write
from plumbline.run.noise import core_times, next_share, shares, shortened

Golden = Callable[[str, str], None]


@pytest.fixture
def launched() -> Record:
    """A launch of two ranks, on cores that others used most of the time."""
    return load_record(DATA / "noise.json")


def slower(record: Record, factor: float) -> Record:
    """The launch with all its samples longer."""
    cases = [
        case.model_copy(
            update={
                "samples": case.samples.model_copy(
                    update={"by_rank": [[s * factor for s in r] for r in case.samples.by_rank]}
                )
            }
        )
        for case in record.cases
    ]
    return record.model_copy(update={"cases": cases})


def test_the_text(launched: Record, golden: Golden) -> None:
    launches = [slower(launched, factor) for factor in (1, 1.02, 0.99)]
    golden("noise.txt", write(steadiness(launches, 60.0, 0.01, 0.9), "text") + "\n")


def test_one_launch_says_nothing_of_how_launches_differ(launched: Record) -> None:
    text = write(steadiness([launched], 20.0), "text")
    assert "one launch says nothing of how launches differ: --launches 3 or more" in text
    assert "stolen" not in text


def test_what_takes_too_many_launches_is_said(launched: Record) -> None:
    wild = [slower(launched, factor) for factor in (1, 2, 4)]
    text = write(steadiness(wild, 60.0), "text")
    assert "a verdict of 10 % is not possible here now: " in text
    found = json.loads(write(steadiness(wild, 60.0), "json"))
    core = found["parts"][0]
    assert core["key"] == "core"
    assert core["launches_for"]["0.01"] >= core["launches_for"]["0.1"] > 10
    assert sum(one["quanta"] for one in core["detours"]) == 3 * 2 * 64 * 10


def test_launches_that_take_long_leave_less_for_later_ones() -> None:
    assert next_share(20, 4, 4, 4) == 1
    assert next_share(20, 6, 6, 4) == pytest.approx(14 / 24)
    assert next_share(20, 13, 13, 4) is None
    words = ["--ranks", "2", "--time-limit", "1.500"]
    assert shortened(words, 0.5) == ["--ranks", "2", "--time-limit", "0.750"]


def test_shares_of_the_cores_time(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1\n")
    before = core_times(stat)
    stat.write_text("cpu  150 0 120 710 110 0 0 10 0 0\ncpu0 1\n")
    assert shares(before, core_times(stat)) == (0.1, pytest.approx(0.7))
    assert shares(before, before) == (None, None)
    assert core_times(tmp_path / "none") is None
    stat.write_text("intr 5\n")
    assert core_times(stat) is None


@pytest.mark.skipif(
    not (ROOT / "build/release/bin/plumb-mpi").exists(), reason="the engine is not built"
)
def test_the_real_benchmark(plumb: Plumb, home: Path) -> None:
    status, out, err = plumb("noise", "--seconds", "1", "--launches", "2", "--format", "json")
    assert status == 0, err
    found = json.loads(out)
    assert found["launches"] == 2
    assert "core" in [part["key"] for part in found["parts"]]
    assert len(list((home / "records").glob("*.json"))) == 2
