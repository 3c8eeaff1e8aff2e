"""The models of the NPB: classes, volumes by npb's formulas, terms, and forecasts."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from conftest import ROOT, Plumb
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.base.toml import toml_text
from plumbline.calibrate.work import applications
from plumbline.judge.judgement import judge
from plumbline.judge.promise import conditions_of
from plumbline.model.benchmarks import forecaster_of, model_of, npb_bt, npb_is, npb_lu, npb_mg
from plumbline.model.forecast import Scenario
from plumbline.model.message_cost import (
    by_barriers,
    by_form,
    by_signals,
    exposed_s,
    free,
    one_sided,
)
from plumbline.model.npb import (
    CLASSES,
    FILL,
    MESSAGES,
    OWN,
    REDUCTIONS,
    Iteration,
    NpbModel,
    Problem,
    Sent,
    parts_s,
)
from plumbline.model.own_work import undisturbed_s
from plumbline.record.record import Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.files import load_system
from plumbline.system.operations import Operation
from plumbline.system.segments import Segment
from plumbline.system.system import (
    LOCAL,
    Calibration,
    Figures,
    Identity,
    MeasuredTransfer,
    System,
)

sys.path.insert(0, str(ROOT / "bench"))

import models

NAMES = sorted(CLASSES)
FLOWS = {"npb_bt": 840, "npb_sp": 768}


def model(name: str) -> NpbModel:
    found = model_of(name)
    assert isinstance(found, NpbModel)
    return found


def line(messages: float, size: float) -> float:
    return 1e-6 + messages * size / 1e9


def test_classes_are_those_of_the_engine() -> None:
    text = (ROOT / "benchmarks" / "shmem" / "npb" / "classes.cpp").read_text()
    for name, classes in CLASSES.items():
        rows = text[text.index(f"\n{name}\n") :]
        for letter, row in classes.items():
            found = re.search(rf"\n  {letter} (\d+) (\d+) (\d+) ", rows)
            assert found, (name, letter)
            size, largest, iterations = map(int, found.groups())
            assert (row.size, row.iterations) == (size, iterations), (name, letter)
            assert name != "npb_is" or row.largest == largest


@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.parametrize("side", [2, 3, 4])
def test_squares_of_ranks_send_nas_volumes(name: str, side: int) -> None:
    """Faces 480 (q - 1) (n/q)^2 B in 6 messages, sweeps s (q - 1) (n/q)^2 B in 6 (q - 1)."""
    n, ranks = 24 * side + 2, side**2
    faces, forward, back = model(name).iteration(Problem(n, 1), ranks).sent
    assert faces.at_once == 6
    assert faces.at_once * faces.size == pytest.approx(480 * (side - 1) * (n / side) ** 2)
    assert forward.times + back.times == 6 * (side - 1)
    swept = forward.times * forward.size + back.times * back.size
    assert swept == pytest.approx(FLOWS[name] * (side - 1) * ((n - 2) / side) ** 2)


@given(st.integers(1, 40), st.integers(80, 120), st.sampled_from([2, 4, 8]))
def test_tiles_hold_every_point_and_the_largest_share_is_at_least_the_mean(
    p: int, n: int, lanes: int
) -> None:
    a, _, c = npb_bt.tiles_of(p)
    assert a * c == p
    assert a % c == 0
    for cuts in (a, c):
        assert sum(npb_bt.inner_points(n, cuts)) == n - 2
    assert npb_bt.own_points(n, p, lanes) * p >= (n - 2) ** 3


def test_lu_fills_its_pipeline() -> None:
    assert npb_lu.pencils(12) == (4, 3)
    assert npb_lu.fill_share(102, 4, 3) == pytest.approx(0.05)
    step = model("npb_lu").iteration(Problem(102, 250), 4)
    small = [one for one in step.sent if one.size < 8000]
    assert [(one.times, one.size) for one in small] == [(2 * 102, 40 * 50)] * 2
    parts = parts_s(
        step, 4, lambda _part, items, _held: items * 1e-9, lambda *_: 0.0, are_beside=True
    )
    assert parts[FILL] == pytest.approx(step.items["sweeps"] * 1e-9 * 2 / 100)


def test_is_sends_each_rank_its_part() -> None:
    step = model("npb_is").iteration(CLASSES["npb_is"]["A"], 4)
    counts, keys = step.sent
    assert (counts.at_once, counts.size, keys.at_once) == (3, 8, 3)
    assert 4 * keys.at_once * keys.size == pytest.approx(4 * 2**23 * 3 / 4)
    assert step.reduced == (4 * 1029,)
    assert npb_is.counts_bytes(19, 4) == 2**19


def test_mg_cuts_z_first_and_gathers_small_levels() -> None:
    assert npb_mg.grid_of(2, 64) == (1, 1, 2)
    assert npb_mg.grid_of(8, 64) == (1, 2, 4)  # of equal surfaces the first
    assert npb_mg.grid_of(27, 64) == (3, 3, 3)
    assert npb_mg.gathered(256, 1) == 8
    assert npb_mg.gathered(256, 2) == 3
    points = npb_mg.level_points(256, 2)
    assert points[8] == 256 * 256 * 128
    assert points[3] == 512
    whole = npb_mg.level_points(256, 1)
    assert sum(whole.values()) == pytest.approx(256**3 * 8 / 7, rel=1e-3)


def test_mg_counts_points_levels_and_the_first_residual() -> None:
    """Of an iteration of 32^3: 32^3 + 16^3 + ... + 2^3 points, and 800 for each of five levels."""
    (items,) = model("npb_mg").iteration(Problem(32, 4), 1).items.values()
    assert items == pytest.approx(37448 + 5 * 800 + 24 / 98 * 32**3 / 4)


def test_mg_sends_as_many_bytes_as_its_ranks_count() -> None:
    """Class S on two ranks, which counted 77,712 B and 13.5 messages each: levels of 32 and 16 points."""
    sent = model("npb_mg").iteration(CLASSES["npb_mg"]["S"], 2).sent
    assert sum(one.times * one.at_once for one in sent) == 13.5
    assert sum(one.times * one.at_once * one.size for one in sent) == 77712


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_what_is_covered_is_not_exposed(message: float, covered: float, more: float) -> None:
    assert 0 <= exposed_s(message, covered + more) <= exposed_s(message, covered) <= message


@given(st.integers(2, 64), st.floats(0, 1))
def test_terms_add_up(ranks: int, covered: float) -> None:
    step = Iteration(
        {"": 100.0, "s": 50.0}, 0, [Sent(3, 2, 100, covered, "s")], {"s": 0.5}, reduced=[8]
    )

    def own(part: str, items: float, _held: float) -> float:
        return items * (2 if part else 1)

    parts = parts_s(step, ranks, own, line, are_beside=True)
    assert parts[OWN] == 200
    assert parts[FILL] == 50
    assert parts[REDUCTIONS] == pytest.approx((ranks - 1).bit_length() * line(1, 8))
    message = 3 * max(0.0, line(2, 100) - covered * 100)
    assert parts.get(MESSAGES, 0.0) == pytest.approx(message)
    assert parts_s(step, 1, own, line, are_beside=True) == {OWN: 200}
    on_one_host = parts_s(step, ranks, own, line, are_beside=False)
    assert on_one_host[MESSAGES] == pytest.approx(3 * line(2, 100))


# --- a record -------------------------------------------------------------------------------------


def operation(name: str, empty: float, each: float = 0.0) -> Operation:
    return Operation(
        name=name,
        world="shmem",
        library="l",
        ranks=2,
        empty_us=empty,
        gap_per_byte_ns=each,
        source="",
    )


OPERATIONS = [
    operation("putmem", 2, 0.5),
    operation("long_g", 3),
    operation("ulong_atomic_set", 1),
]


def test_forms_cost_what_they_do() -> None:
    document = record().model_dump(by_alias=True)
    document["world"]["kind"] = "shmem"
    by = one_sided(Record.model_validate(document), figures("npb_is"))
    assert by_signals(by)(2, 1001) == pytest.approx(2 * 2.5e-6 + 1e-6)
    assert by_barriers(by, 4)(2, 1001) == pytest.approx(2 * 1e-6 + 2 * 3.5e-6)
    windows = one_sided(record(), figures("npb_is"))  # as costly as messages
    assert by_signals(windows)(2, 1001) == pytest.approx(2 * line(1, 1001) + line(1, 8))
    with pytest.raises(UsageError, match="no figures of the transport mpi"):
        one_sided(record(), Figures(None, None))


def record(name: str = "npb_is", **parameters: Any) -> Record:
    document = json.loads((ROOT / "tests" / "golden" / "npb_is_2.record.json").read_text())
    document["benchmark"]["name"] = name
    document["parameters"] |= parameters
    return Record.model_validate(document)


def figures(name: str, rate: float = 1e8) -> Figures:
    parts = [None, *model(name).phases]
    work = [OwnWork(benchmark=name, part=part, per_s=rate, source="") for part in parts]
    segments = [Segment(latency_us=1, bandwidth_gb_s=1, source="")]
    transfer = MeasuredTransfer(transport="mpi", approach="host-buffered", segments=segments)
    return Figures(None, DeviceTable(work=work), transfers=[transfer], operations=OPERATIONS)


def test_a_case_is_its_terms() -> None:
    run = record()
    found = model("npb_is").expect(run, figures("npb_is"))
    assert list(found) == ["S/two-sided", "S/signal", "S/barrier"]
    two_sided = found["S/two-sided"]
    assert two_sided.parts[OWN] == pytest.approx(2**15 / 1e8)
    keys = 4 * 2**16 / 4
    assert two_sided.parts[MESSAGES] == pytest.approx(line(1, 8) + line(1, keys))
    assert two_sided.parts[REDUCTIONS] == pytest.approx(line(1, 4116))
    assert two_sided.seconds == pytest.approx(sum(two_sided.parts.values()))
    assert found["S/signal"].time_s > two_sided.time_s
    cost = by_form(run, figures("npb_is"), "two-sided")
    assert cost(2, 8) == pytest.approx(line(2, 8))


def test_a_run_without_a_transport_has_its_reductions() -> None:
    document = record("npb_ep").model_dump(by_alias=True)
    document["transport"] = None
    document["cases"] = document["cases"][:1]
    document["cases"][0]["labels"]["form"] = "none"
    run = Record.model_validate(document)
    assert run.transport_name == "none"
    (found,) = model("npb_ep").expect(run, figures("npb_ep")).values()
    assert found.parts[REDUCTIONS] == pytest.approx(line(1, 16) + line(1, 80))


def test_a_missing_figure_is_named() -> None:
    (found, *_) = model("npb_is").expect(record(), Figures(None, None)).values()
    assert found.reason == "the system has no figures of the transport mpi"
    no_work = Figures(None, None, transfers=figures("npb_is").transfers)
    (found, *_) = model("npb_is").expect(record(), no_work).values()
    assert found.reason is not None
    assert "work of npb_is in the table [device.work]" in found.reason


def test_kernels_are_bound_by_the_device() -> None:
    document = record("npb_mg", grid=512, iterations=20).model_dump(by_alias=True)
    document["cases"] = document["cases"][:1]
    document["cases"][0]["labels"]["form"] = "device"
    run = Record.model_validate(document)
    h200 = load_system(ROOT / "systems" / "h200.toml").device
    known = figures("npb_mg")
    (found,) = model("npb_mg").expect(run, Figures(None, h200, transfers=known.transfers)).values()
    assert found.parts[OWN] == pytest.approx(110 * 512**3 / 2 / 4.8e12)
    (found,) = model("npb_mg").expect(run, known).values()
    assert found.reason == "the limits of the device that bound npb_mg are not known"


def test_rates_are_learnt_from_what_messages_leave() -> None:
    run = record()
    one = model("npb_is")
    (free_row, *_) = one.learn([run], free, "measured")
    assert free_row.per_s == pytest.approx(2**15 / undisturbed_s(run.cases[0]), rel=1e-3)
    assert free_row.held_bytes == 2**11 * 4 / 2 + 8 * 2**15
    seconds = undisturbed_s(run.cases[0])
    two_sided = run.model_copy(update={"cases": run.cases[:1]})
    (row,) = one.learn([two_sided], lambda *sent: line(*sent) / 2, "measured")
    assert row.per_s > free_row.per_s
    segments = [Segment(latency_us=0.5, bandwidth_gb_s=2, source="")]
    transfer = MeasuredTransfer(transport="mpi", approach="host-buffered", segments=segments)
    work = Figures(None, DeviceTable(work=[row]), transfers=[transfer])
    again = one.expect(run, work)["S/two-sided"]
    assert again.seconds == pytest.approx(seconds, rel=1e-3)


def test_runs_that_messages_take_most_of_teach_no_rate() -> None:
    """Of the golden record's three forms at one cost, the shortest has the least left."""
    run = record()
    shortest = min(undisturbed_s(case) for case in run.cases)

    def dear(_messages: float, _size: float) -> float:
        return shortest / 5

    rows = model("npb_is").learn([run], dear, "measured")
    assert 0 < len(rows) < len(run.cases)


def test_lanes_of_a_host_shape_its_vectors() -> None:
    """Rows of 11 inner points fill three vectors of four numbers or two of eight."""
    document = record("npb_bt", grid=24).model_dump(by_alias=True)
    for case in document["cases"]:
        case["facts"] = {"lanes": 4}
    run = Record.model_validate(document)
    assert model("npb_bt").problem_of(run).lanes == 4
    (items,) = model("npb_bt").iteration(model("npb_bt").problem_of(run), 2).items.values()
    assert items == 2 * 12 * 11 * 22
    assert {row.lanes for row in model("npb_bt").learn([run], free, "measured")} == {4}


def test_waiting_for_cores_is_no_work() -> None:
    case = record().cases[0]
    assert case.summary is not None

    def of(best: float, facts: dict[str, float]) -> float:
        summary = case.summary.model_copy(update={"min_s": best, "mean_s": 1.0})
        return case.count * undisturbed_s(
            case.model_copy(update={"summary": summary, "facts": facts})
        )

    assert of(0.5, {"waited_share": 0.9}) == pytest.approx(0.1)
    assert of(0.05, {"waited_share": 0.9}) == 0.05
    assert of(0.002, {"waited_share": 0.999}) == 0.002  # shorter than a slice
    assert of(0.5, {}) == 0.5
    assert of(0.5, {"waited_share": 1.0}) == 0.003


def test_a_calibration_without_a_transport_serves_runs_over_one() -> None:
    """The first run of a calibration (npb_ep) sends nothing; its conditions are the calibration's."""
    run, known = record(), figures("npb_is")
    own = {"transport": "none", "form": "none", "messages": 0}
    made = Calibration(
        request="work",
        started="2026-01-01T00:00:00Z",
        program="p",
        seconds=1,
        conditions=conditions_of(run).model_copy(update=own),
        transfers=list(known.transfers),
        device=known.device,
    )
    assert made.need == "work"
    system = System(system=Identity(name=LOCAL, description="", source=""), calibrations=[made])
    judged = judge(run, system, 0.25).judged
    assert judged is not None
    assert set(judged.cases) == {"S/two-sided", "S/signal", "S/barrier"}


# --- forecasts ------------------------------------------------------------------------------------


def system(name: str) -> System:
    known = figures(name)
    identity = Identity(name="s", description="", source="")
    return System(system=identity, device=known.device, transfers=list(known.transfers))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from("ABC"), st.integers(1, 32))
def test_more_ranks_have_less_work_each(name: str, letter: str, ranks: int) -> None:
    for count in (ranks, 2 * ranks):
        try:
            model(name).check(CLASSES[name][letter], count)
        except UsageError:
            return
    one, more = (
        forecaster_of(name).forecast(system(name), Scenario(operation=letter, ranks=count))
        for count in (ranks, 2 * ranks)
    )
    # Short rows fill vectors in part, so there more ranks may have as much.
    assert more.parts[OWN] <= one.parts[OWN] * (2 if name in ("npb_bt", "npb_sp", "npb_lu") else 1)
    assert one.value * one.seconds == pytest.approx(more.value * more.seconds)


@pytest.mark.parametrize(
    ("name", "ranks", "sentence"),
    [
        ("npb_bt", 199, "tiles of fewer than 2"),
        ("npb_lu", 7 * 11 * 13 * 17, "pencils of fewer than 2"),
        ("npb_mg", 4099, "too few for 4099 ranks"),
        ("npb_is", 2000, "exceed the 1024 buckets"),
    ],
)
def test_too_many_ranks_are_refused(name: str, ranks: int, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        forecaster_of(name).forecast(system(name), Scenario(operation="C", ranks=ranks))


def test_without_a_rate_limits_of_the_device_count() -> None:
    h200 = load_system(ROOT / "systems" / "h200.toml")
    found = forecaster_of("npb_mg").forecast(h200, Scenario(operation="C"))
    assert found.bound == OWN
    assert found.value == pytest.approx(4.8e12 / 110 * 58 * 1e-6)


def test_the_command(plumb: Plumb, tmp_path: Any) -> None:
    path = tmp_path / "s.toml"
    path.write_text(toml_text(system("npb_bt")))
    words = ("model", "npb_bt", "--class", "C", "--ranks", "64", "--system", str(path))
    status, out, err = plumb(*words)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].split()[:2] == ["C", "64"]
    status, _, err = plumb(*words, "--sizes", "64")
    assert status == 2
    assert "a class has its size" in err
    status, _, err = plumb(*words[:2], "--class", "D", *words[4:])
    assert "unknown operation D of npb_bt" in err


@pytest.mark.parametrize("name", [*models.NPB, "shallow_water"])
def test_models_are_compared_with_runs_that_no_calibration_has(name: str) -> None:
    """No size of the NPB; of shallow water no size in the same order and type."""
    keys = ("--class", "--type", "--size", "--order", "--grid", "--log2-keys", "--log2-pairs")

    def problem(words: Sequence[str]) -> list[str]:
        found = [words[at + 1] for at, word in enumerate(words) if word in keys]
        return [str(CLASSES[name][found[0]].size)] if found[0] in CLASSES.get(name, {}) else found

    wish = argparse.Namespace(classes="S,W,A", world="mpi")
    unseen = [problem(words) for words in models.unseen(wish, name)]
    assert len(unseen) >= 2
    for words in applications()[name].runs:
        assert problem(words) not in unseen


def test_errors_of_a_model_are_medians_over_rounds_and_cases() -> None:
    rows = [
        models.Row("npb_mg", 2, case, 1.0, expected, {})
        for case, several in {"S": (1.1, 1.3, 1.2), "W": (0.7, 0.5, 0.6), "A": (1, 1, 9)}.items()
        for expected in several
    ]
    (line,) = models.summary(rows)
    assert line == (
        "npb_mg, 2 ranks: off by 20.0% (median of 3 cases, 15% aimed at): S +20.0%, W -40.0%, A +0.0%"
    )
