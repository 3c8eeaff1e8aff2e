"""`plumb fit` and the regression beneath it: figures are found again, disturbed cases bend nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, Plumb
from hypothesis import given, settings
from hypothesis import strategies as st
from test_device_models import case, record_of
from test_models import with_transport

from plumbline.base.errors import UsageError
from plumbline.fit.records import Fit, fit_records
from plumbline.fit.regression import fit_loggp, location, robust_line
from plumbline.judge.judgement import judge
from plumbline.record.record import Case, Record, load_record
from plumbline.system.files import load_system, save_system
from plumbline.system.operations import Operation
from plumbline.system.system import System

Golden = Callable[[str, str], None]
SIZES = [2**power for power in range(21)]


def transfers(record: Record, seconds_of: Callable[[int], float], **labels: Any) -> Record:
    """A record of b_eff with these times of two messages of each size."""
    cases = [
        case(
            record,
            f"natural/transfer/{size}",
            seconds_of(size),
            labels={"part": "transfer", "message_bytes": size, **labels},
            work={"messages": 2, "bytes_sent": 2 * size},
        )
        for size in SIZES
    ]
    parameters = {"form": "exchange", "replications": 1}
    return record.model_copy(update={"cases": cases, "parameters": parameters})


def figures(fit: Fit) -> dict[str, float]:
    return {
        f"{part.what}: {figure.name}": figure.estimate.value
        for part in fit.parts
        for figure in part.figures
    }


@given(st.floats(0.1, 1e3), st.floats(0.01, 500))
@settings(max_examples=30, deadline=None)
def test_a_line_is_found_again(latency_us: float, gb_s: float) -> None:
    volumes = np.array(SIZES) * 2.0
    times = latency_us * 1e-6 + volumes / (gb_s * 1e9)
    line = robust_line(volumes, times)
    assert line.seconds(volumes) == pytest.approx(times, rel=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(0, 20), st.floats(2, 50))
@settings(max_examples=30, deadline=None)
def test_one_disturbed_case_bends_no_line(seed: int, which: int, factor: float) -> None:
    volumes = np.array(SIZES) * 2.0
    times = (5e-6 + volumes / 5e9) * np.random.default_rng(seed).normal(1, 0.01, len(SIZES))
    times[which] *= factor
    line = robust_line(volumes, times)
    assert line.fixed.value == pytest.approx(5e-6, rel=0.06)
    assert line.each.value == pytest.approx(1 / 5e9, rel=0.06)


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    random = np.random.default_rng(7)
    volumes = np.array(SIZES, dtype=float)
    held = 0
    for _ in range(100):
        line = robust_line(volumes, (3e-6 + volumes / 5e9) * random.normal(1, 0.03, len(SIZES)))
        held += line.fixed.low <= 3e-6 <= line.fixed.high
        held += line.each.low <= 2e-10 <= line.each.high
    assert 180 <= held <= 198


def test_few_points_tell_little() -> None:
    alone = robust_line([5], [1e-6])
    assert (alone.fixed.value, alone.each.value) == (pytest.approx(1e-6), 0)
    assert alone.fixed.low < 1e-6 < alone.fixed.high
    one = location([3.0])
    assert (one.low, one.value, one.high) == pytest.approx((3, 3, 3))


@given(st.floats(0.5, 20), st.floats(0.01, 1), st.floats(0.5, 100))
@settings(max_examples=30, deadline=None)
def test_loggp_is_found_again(empty_us: float, gap_us: float, gb_s: float) -> None:
    sizes = np.array([2**power for power in range(27)], dtype=float)
    byte_s = 1e-9 / gb_s
    latency = empty_us * 1e-6 + (sizes - 1) * byte_s
    gap = np.maximum(gap_us * 1e-6, (sizes - 1) * byte_s)
    empty_s, gap_s, each_s = fit_loggp(sizes, latency, gap)
    assert empty_s.value == pytest.approx(empty_us * 1e-6, rel=0.05)
    assert gap_s.value == pytest.approx(gap_us * 1e-6, rel=0.05)
    assert each_s.value == pytest.approx(byte_s, rel=0.05)
    row = Operation(
        name="long_g",
        world="shmem",
        library="l",
        ranks=2,
        empty_us=empty_s.value * 1e6,
        gap_us=gap_s.value * 1e6,
        gap_per_byte_ns=each_s.value * 1e9,
        source="s",
    )
    assert [row.latency_s(size) for size in sizes] == pytest.approx(latency, rel=0.1)
    assert [row.stream_s(size) for size in sizes] == pytest.approx(gap, rel=0.1)


def test_a_leg_and_a_transport(record: Record) -> None:
    host = transfers(with_transport(record, "mpi"), lambda size: 1e-6 + 2 * size / 10e9)
    staged = transfers(record, lambda size: 9e-6 + 2 * size / 4e9)
    fit = fit_records([host, staged], "x", None, 4)
    found = figures(fit)
    assert found["leg exchange: latency"] == pytest.approx(1, rel=1e-3)
    assert found["leg exchange: bandwidth"] == pytest.approx(10, rel=1e-3)
    assert found["transport staged/host-buffered: latency"] == pytest.approx(9, rel=1e-3)
    assert fit.system.legs is not None
    assert fit.system.legs.time_s("exchange", 2, 1000) == pytest.approx(1.2e-6, rel=1e-3)
    (way,) = fit.system.transfers
    assert (way.transport, way.approach) == ("staged", "host-buffered")
    assert all(not part.misfits for part in fit.parts)


def test_where_the_model_does_not_fit_is_said(record: Record) -> None:
    """One line over a protocol switch, and a hump."""
    hump = transfers(record, lambda size: (9e-6 + 2 * size / 4e9) * (3 if size == 4096 else 1))
    (part,) = fit_records([hump], "x", None, 1).parts
    assert part.misfits[0] == ("4096 B", pytest.approx(3, rel=0.05))
    assert len(part.misfits) == 1


def test_rates_of_a_device(record: Record) -> None:
    ranks = [
        rank.model_copy(update={"device": rank.device.model_copy(update={"index": rank.rank})})
        for rank in record.ranks
        if rank.device
    ]
    own = record.model_copy(update={"ranks": ranks})

    def moved(key: str, seconds: float, read: float, written: float) -> Case:
        labels = {"operation": key}
        return case(
            own, key, seconds, labels=labels, work={"bytes_read": read, "bytes_written": written}
        )

    stream = record_of(
        own, "stream",
        moved("copy", 0.1, 1e9, 1e9), moved("scale", 0.1, 1e9, 1e9), moved("dot", 0.1, 3e9, 0),
        moved("triad", 0.2, 2e9, 1e9), moved("write", 0.5, 0, 5e9),
    )  # fmt: skip
    sizes = [
        case(
            own,
            f"float/{n}",
            1e-5 + 2 * n**3 / 1e11,
            labels={"type": "float"},
            work={"flops": 2 * n**3},
        )
        for n in (64, 256, 1024)
    ]
    updates = case(own, "updates", 0.5, work={"updates": 1e8})
    fit = fit_records(
        [stream, record_of(own, "gemm", *sizes), record_of(own, "random_access", updates, size=27)],
        "x", None, 4,
    )  # fmt: skip
    device = fit.system.device
    assert device is not None
    assert {one.access: one.gb_s for one in device.memory} == {"copy": 20, "read": 30}
    assert device.link is not None
    assert device.link.time_s("write", 10e9) == pytest.approx(1)
    assert device.peaks[0].gflop_s == pytest.approx(100, rel=1e-3)
    assert (device.random[0].table_bytes, device.random[0].gup_s) == (2**30, 0.2)
    assert figures(fit)["gemm in float, vector units: fixed time"] == pytest.approx(10, rel=1e-2)
    mixed = next(part for part in fit.parts if "mixed" in part.what)
    assert mixed.misfits == [("triad", pytest.approx(1.5))]


def test_beside_a_board_efficiency_and_clock(record: Record) -> None:
    from conftest import ROOT

    board = load_system(ROOT / "systems" / "bittware-520n.toml")
    own = {"type": "float", "rows": 4096, "columns": 4096, "inner": 4096}
    one = case(record, "float/4096", 1.0, labels=own, work={"flops": 2 * 4096**3})
    fit = fit_records([record_of(record, "gemm", one)], "x", board, 4)
    part = fit.parts[-1]
    assert part.what == "gemm, bound by multiply, beside bittware-520n"
    assert [figure.name for figure in part.figures] == ["efficiency", "clock"]


def test_the_command_writes_a_file_that_reads_again(
    plumb: Plumb, home: Path, tmp_path: Path, golden: Golden
) -> None:
    status, out, err = plumb("fit", str(DATA / "record.json"), "--name", "mine")
    assert (status, err) == (0, "")
    golden("fit.txt", out.replace(str(home), "HOME"))
    made = load_system(home / "systems" / "mine.toml")
    assert made.legs is not None
    assert made.legs.time_s("read", 2, 1024) == pytest.approx(2.249e-6, rel=0.05)
    status, out, _ = plumb("fit", str(DATA / "record.json"), "--format", "json")
    assert json.loads(out)["parts"]
    assert plumb("explain", str(DATA / "record.json"), "--system", "mine")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing"], "unknown record nothing"),
        ([str(DATA / "record.json"), "--name", "a/b"], "letters, digits"),
        ([str(DATA / "record.json"), "--name", "local"], "not local"),
        ([str(DATA / "record.json"), "--output", "/proc/none/x.toml"], "cannot be written"),
        ([str(DATA / "record.json"), "--segments", "9"], "segments"),
        ([str(DATA / "record.json"), "--system", "nowhere"], "unknown system nowhere"),
    ],
)
def test_mistakes_are_one_sentence(
    plumb: Plumb, home: Path, words: list[str], sentence: str
) -> None:
    status, out, err = plumb("fit", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_other_machines_and_silent_records_are_refused(record: Record) -> None:
    other = record.model_copy(
        update={"hosts": [one.model_copy(update={"cpu": "another"}) for one in record.hosts]}
    )
    with pytest.raises(UsageError, match="of different machines or ranks: "):
        fit_records([record, other], "x", None, 4)
    with pytest.raises(UsageError, match="the records determine no figure"):
        fit_records([record_of(record, "fft", case(record))], "x", None, 4)


def test_what_was_there_stays(record: Record, tmp_path: Path) -> None:
    from conftest import ROOT

    base = load_system(ROOT / "systems" / "noctua1-520n.toml")
    fit = fit_records([load_record(DATA / "record.json")], "x", base, 4)
    assert isinstance(fit.system, System)
    assert fit.system.channel == base.channel
    assert fit.system.device == base.device
    assert fit.system.legs != base.legs
    save_system(fit.system, tmp_path / "x.toml", "c")
    assert load_system(tmp_path / "x.toml") == fit.system


def test_a_transport_without_a_model_is_judged_by_what_was_fitted(record: Record) -> None:
    peer = transfers(with_transport(record, "peer"), lambda size: 2e-6 + 2 * size / 20e9)
    fitted = fit_records([peer], "x", None, 4).system
    judgement = judge(peer, fitted, 0.1)
    assert judgement.judged is not None
    assert set(judgement.judged.counts()) == {"ok"}
    assert judgement.judged.model == "peer, measured whole: latency + n L / bandwidth"
    slower = transfers(with_transport(record, "peer"), lambda size: 4e-6 + 2 * size / 20e9)
    again = judge(slower, fitted, 0.1).judged
    assert again is not None
    assert again.cases["natural/transfer/1"].verdict == "slow"
    other = judge(transfers(with_transport(record, "pipelined"), lambda _size: 1e-6), fitted, 0.1)
    assert other.line == "no model: there is none for the pipelined transport"
