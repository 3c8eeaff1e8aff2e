"""Verdicts from the parts that a run measured beside its cases, on made-up times."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from conftest import DATA
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.paths import Home
from plumbline.engine.program import all_benchmarks
from plumbline.judge import usual
from plumbline.judge.beside import Beside, Earlier, add_launch, beside_parts, earlier_ratios
from plumbline.judge.causes import causes
from plumbline.judge.efficiency import efficiencies
from plumbline.judge.history import earlier_launches
from plumbline.judge.judgement import Judgement, judge
from plumbline.judge.levels import Level, level_of, mean_level, ranks_of_quantile
from plumbline.judge.parts import Planned, least_time, limits_within, steadying, wanted
from plumbline.judge.state import state_of
from plumbline.judge.usual import common_shift, steadied, usual_of, usual_of_peers
from plumbline.model.benchmarks import model_of
from plumbline.model.prediction import Prediction
from plumbline.model.yardsticks import LIMITS_THEMSELVES, yardstick_of
from plumbline.record.record import Record, load_record, parse_record
from plumbline.record.store import Store

DOCUMENT: dict[str, Any] = json.loads((DATA / "records" / "1.2.0.json").read_text())
PART_S = 20e-6
KEY = "natural/transfer/64"


def record(case: float = 1.0, part: float = 1.0, noise: float = 0.01) -> Record:
    """A record whose cases take ``case`` times their parts' usual time, and the parts ``part``."""
    document = copy.deepcopy(DOCUMENT)
    for one in document["cases"]:
        median = case * PART_S * one["count"]
        rank = [median * (1 + noise * (i % 5 - 2)) for i in range(30)]
        one["samples"]["by_rank"] = [rank, rank]
        one["summary"].update(
            min_s=median, max_s=median, median_s=median, mean_s=median,
            ci95_median_s=[median * (1 - noise), median * (1 + noise)],
        )  # fmt: skip
    for one in document["parts"]["cases"]:
        for visit in one["visits"]:
            visit["seconds"] = [part * PART_S * (1 + noise * (i % 5 - 2)) for i in range(11)]
    return parse_record(json.dumps(document), "made up")


def verdict(judgement: Judgement, key: str = KEY) -> tuple[str | None, str | None]:
    assert judgement.judged is not None
    case = judgement.judged.cases[key]
    return case.verdict, case.why


@pytest.mark.parametrize(
    ("case", "part", "expected"),
    [
        (1.0, 1.0, "ok"),
        (1.08, 1.0, "ok"),
        (1.25, 1.0, "slow"),
        (1.5, 1.0, "slow"),
        (1.5, 1.5, "ok"),  # the machine is slow, the transport is not
        (1.0, 1.5, "ok"),
        (2.0, 1.5, "slow"),
    ],
)
def test_a_case_is_judged_by_what_was_measured_beside_it(
    case: float, part: float, expected: str
) -> None:
    assert verdict(judge(record(case, part), None, None)) == (expected, None)


def test_what_is_not_known_well_is_ambiguous() -> None:
    assert verdict(judge(record(1.3, noise=0.3), None, None))[0] == "ambiguous"
    document = copy.deepcopy(DOCUMENT)
    document["parts"]["cases"] = []
    judged = judge(parse_record(json.dumps(document), "without"), None, None)
    assert judged.judged is None
    assert "no part of it was measured" in judged.line


def test_a_failed_part_judges_nothing() -> None:
    document = copy.deepcopy(DOCUMENT)
    for one in document["parts"]["cases"]:
        one["outcome"] = {"status": "failed", "reason": "byte 3 is wrong"}
    assert judge(parse_record(json.dumps(document), "failed"), None, None).judged is None


def test_the_state_of_the_machine() -> None:
    history = [record(part=1 + 0.01 * launch) for launch in range(5)]
    assert state_of(record(part=1.02), history).sentence == "as usual, beside 5 earlier launches"
    slow = state_of(record(part=1.65), history)
    assert slow.of_case(KEY) == "slower"
    assert "is 1.6 times slower than in 5 of 5 earlier launches" in slow.sentence
    assert state_of(record(part=1.65), history[:3]).of_case(KEY) == "new"
    assert "what is usual is known from 4 on" in state_of(record(), []).sentence
    document = copy.deepcopy(DOCUMENT)
    for one in document["parts"]["cases"]:
        one["work"]["bytes_sent"] *= 2
    other = [parse_record(json.dumps(document), "of parts of another size")] * 5
    assert state_of(record(part=0.5), other).of_case(KEY) == "new"


def test_causes_that_a_record_has_evidence_of() -> None:
    document = copy.deepcopy(DOCUMENT)
    cores = document["hosts"][0]["cores"]
    document["load"].update(stolen_share=0.07, average_begin=cores + 3.0, clock_begin_mhz=2600.0)
    document["load"]["clock_end_mhz"] = 1300.0
    history = [record(part=1 + 0.01 * launch) for launch in range(5)]
    slow = record(part=1.65)
    said = " ".join(causes(slow, state_of(slow, history)))
    assert "moved: 1.6 times slower than in 5 of 5" in said
    busy = parse_record(json.dumps(document), "busy")
    said = " ".join(causes(busy, state_of(busy, [])))
    assert "The hypervisor took 7.0% of the cores' time" in said
    assert "other work on the node" in said
    assert "fell from 2600 to 1300 MHz" in said
    document["load"].update(stolen_share=0.0, average_begin=0.1, clock_end_mhz=2600.0)
    document["warnings"] = []
    quiet = parse_record(json.dumps(document), "quiet")
    assert list(causes(quiet, state_of(quiet, []))) == []


def test_causes_of_cores_pages_and_gpus() -> None:
    document = copy.deepcopy(DOCUMENT)
    unbound = "the ranks on node1 are not bound to cores of their own: bind them"
    document["warnings"] = [{"code": "unbound", "text": unbound}]
    document["cases"][0]["facts"] = {"waited_share": 0.4}
    document["cases"][1]["facts"] = {"waited_share": 0.02}
    document["load"].update(stolen_share=0.0, average_begin=0.1, huge_pages="never")
    document["load"]["gpu_throttled_s"] = {"power": 0.9, "heat": 0.0}
    document["parts"]["run_s"] = 2.0
    for rank in document["ranks"]:
        rank["device"]["type"] = "cpu"
    held = parse_record(json.dumps(document), "held back")
    said = list(causes(held, state_of(held, [])))
    assert said[0].startswith("The ranks on node1 are not bound to cores of their own")
    assert "waited for a core in 40% of its time" in said[1]
    assert said[2] == (
        "A GPU was held back below its clocks by its power limit for 0.9 s of 2 s (NVML)."
    )
    assert said[3].startswith("Memory has small pages (transparent huge pages: never)")
    assert len(said) == 4
    document["warnings"] = []
    document["cases"][0]["facts"] = {}
    document["load"].update(huge_pages="madvise", gpu_throttled_s=None)
    free = parse_record(json.dumps(document), "free")
    assert list(causes(free, state_of(free, []))) == []


def test_efficiency_and_state_are_told_apart() -> None:
    history = [record(part=1 + 0.01 * launch) for launch in range(5)]
    judged = judge(record(1.65, 1.65), None, None, history).judged
    assert judged is not None
    case = judged.cases[KEY]
    assert (case.verdict, case.state, case.promise) == ("ok", "slower", None)
    assert judged.counts()["slow"] == 0


def test_the_level_is_the_lower_tenth_with_an_interval_by_order_statistics() -> None:
    assert ranks_of_quantile(5, 0.1) == (0, 2)
    assert ranks_of_quantile(16, 0.1) == (0, 4)
    assert ranks_of_quantile(100, 0.1) == (4, 16)
    assert ranks_of_quantile(100, 0.5) == (39, 60)
    level = level_of([float(number) for number in range(101)])
    assert (level.low, level.middle, level.high) == (4, 10, 16)
    disturbed = [1.0] * 20 + [3.0] * 80
    assert level_of(disturbed).middle == 1


def test_the_level_of_a_transfer_is_the_time_by_the_mean_rate() -> None:
    assert mean_level([2.0]) == Level(2.0, 2.0, 2.0)
    level = mean_level([1.0, 3.0] * 8)
    assert level.middle == pytest.approx(1.5)
    reach = 2.131 * sqrt(16 / 15) / 3 / 4  # Student's t of 15 degrees; the rates are 2/3 ± 1/3
    assert level.low == pytest.approx(1 / (2 / 3 + reach), rel=1e-3)
    assert level.high == pytest.approx(1 / (2 / 3 - reach), rel=1e-3)
    # Never beyond what was measured, and a disturbance of any length counts at most as its share.
    assert mean_level([1.0, 1.1]) == Level(pytest.approx(1.0476, rel=1e-3), 1.0, 1.1)
    assert mean_level([1.0] * 9 + [1e6]).middle == pytest.approx(1 / 0.9, rel=1e-3)
    # A slow-down of all repetitions is one of the level, and so is one of every second one.
    assert mean_level([1.25, 3.75] * 8).middle == pytest.approx(1.25 * level.middle)
    assert mean_level([1.0, 1.5] * 8).middle == pytest.approx(1.2)


def in_row(ratios: list[float]) -> dict[str, list[float]]:
    """Cases by name, each with the same earlier ratios."""
    return {f"case {number}": ratios for number in range(9)}


def test_what_is_usual_is_learnt_from_launches() -> None:
    assert usual_of({"a": [0.2]}, "a") is None
    known = usual_of({"a": [0.2, 0.22, 0.18, 0.2]}, "a")
    assert known is not None
    assert (known.of, known.count, known.middle) == ("launches", 4, 0.2)
    assert 0.06 < known.reach() < 0.12
    # One slow launch of many moves neither far; launches that differ widen what is usual.
    outlier = usual_of(in_row([0.2] * 15 + [0.42]), "case 4")
    spread = usual_of(in_row([0.1, 0.3] * 8), "case 4")
    assert outlier is not None
    assert spread is not None
    assert outlier.middle == pytest.approx(0.2)
    assert outlier.reach() < 0.1 < 0.2 < spread.reach()
    # Neighbours whose launches are alike make one that seems so by chance no narrower than PRIOR.
    assert outlier.reach() > usual.PRIOR


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=30), st.floats(-3, 3))
def test_usual_deviations_count_as_none(launches: list[float], value: float) -> None:
    steady, middle = steadied(value, launches), median(launches)
    assert abs(steady - middle) <= abs(value - middle)
    assert (steady - middle) * (value - middle) >= 0
    largest = max(abs(one - middle) for one in launches)
    assert steadied(middle + 100 * largest + 1, launches) > middle + 90 * largest


def test_deviations_of_few_launches_are_not_usual_yet() -> None:
    assert steadied(0.5, [0.1, 0.2, 0.3, 0.2, 0.1]) == 0.5
    assert steadied(0.25, [0.1, 0.2, 0.3, 0.2, 0.1, 0.3]) == pytest.approx(0.2)
    assert steadied(1.2, [0.1, 0.2, 0.3, 0.2, 0.1, 0.3]) == 1.2
    assert steadied(-0.8, [0.1, 0.2, 0.3, 0.2, 0.1, 0.3]) == pytest.approx(-0.55, abs=0.01)


@pytest.mark.parametrize(("part", "times", "expected"), [
    (0.9, 1.0, "ok"), (1.1, 1.0, "ok"), (1.0, 1.25, "slow"), (1.1, 1.25, "slow"), (0.9, 1.25, "slow"),
    (1.5, 1.4, "ok"),  # a machine that is slower than it ever was
])  # fmt: skip
def test_a_kernel_steadier_than_its_limits_is_judged_by_itself(
    part: float, times: float, expected: str
) -> None:
    """Limits that vary by 10 % beside a steady kernel do not hide a slow-down of 25 %."""
    earlier: dict[str, Earlier] = {}
    launches = [0.9, 1.1, 1.0, 0.92, 1.08, 0.95, 1.05, 1.1, 0.9, 1.0]
    for launch in launches:
        add_launch(earlier, {KEY: beside(2.0, launch)})
    now = {KEY: beside(2.0 * times, part)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected


@pytest.mark.parametrize(
    ("times", "expected"), [(1.0, "ambiguous"), (0.9, "ambiguous"), (2.0, "slow")]
)
def test_a_kernel_as_fast_as_usual_is_not_slow_beside_faster_limits(
    times: float, expected: str
) -> None:
    earlier: dict[str, Earlier] = {}
    for launch in (1.0, 1.02, 0.98):
        add_launch(earlier, {KEY: beside(2.0, launch)})
    found = efficiencies(
        {KEY: beside(2.0 * times, 0.4)}, earlier, by="bounds", tolerance=0.1, missed=3.0
    )
    assert found[KEY].verdict == expected
    assert found[KEY].excess is not None
    assert found[KEY].excess.above == pytest.approx(log(times), abs=0.01)


@pytest.mark.parametrize("state", [1.0, 2.0])
@pytest.mark.parametrize(("times", "expected"), [(1.0, "ok"), (1.25, "slow")])
def test_launches_in_the_same_state_are_usual(times: float, expected: str, state: float) -> None:
    """A machine whose memory takes once or twice the time, and the kernel then 2 or 3.4 times it."""
    earlier: dict[str, Earlier] = {}
    for launch in [1.0, 2.0] * 7:
        add_launch(earlier, {KEY: beside(2.0 if launch == 1.0 else 3.4, launch)})
    case = 2.0 if state == 1.0 else 3.4
    found = efficiencies(
        {KEY: beside(case * times, state)}, earlier, by="bounds", tolerance=0.1, missed=3.0
    )
    assert found[KEY].verdict == expected
    assert earlier[KEY].alike(log(1.5)) is earlier[KEY]


@pytest.mark.parametrize(("times", "expected"), [(1.0, "ok"), (1.25, "slow")])
def test_a_launch_with_disturbed_limits_teaches_nothing(times: float, expected: str) -> None:
    earlier: dict[str, Earlier] = {}
    for launch in [1.0, 1.01, 0.99, 1.02, 0.98, 1.8, 1.0, 1.01]:
        add_launch(earlier, {KEY: beside(2.0, launch)})
    assert len(earlier[KEY].steadied().ratios) == 7
    now = {KEY: beside(2.0 * times, 1.0)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected


@pytest.mark.parametrize(("machine", "times", "expected"), [
    (1.0, 1.0, "ok"), (1.3, 1.0, "ok"), (0.8, 1.0, "ok"),
    (1.0, 1.25, "slow"), (1.3, 1.25, "slow"), (0.8, 1.25, "slow"),
])  # fmt: skip
def test_limits_within_a_case_follow_it(machine: float, times: float, expected: str) -> None:
    """A machine that is 1.3 times slower in some launches, for the kernel and for its limits."""
    earlier: dict[str, Earlier] = {}
    for launch in [1.0, 1.3, 1.1, 0.9, 1.25, 1.0, 0.85, 1.2]:
        add_launch(earlier, {KEY: beside(2.0 * launch, launch, within=True)})
    now = {KEY: beside(2.0 * machine * times, machine, within=True)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected


@pytest.mark.parametrize(
    ("times", "expected"), [(1.0, "ambiguous"), (1.04, "slow"), (1.25, "slow")]
)
def test_a_kernel_as_fast_as_ever_is_not_slow_beside_faster_limits(
    times: float, expected: str
) -> None:
    """Limits within it that are faster now, as another machine left the caches, say nothing of it."""
    earlier: dict[str, Earlier] = {}
    for launch in [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.03, 0.97]:
        add_launch(earlier, {KEY: beside(2.0, launch, within=True)})
    now = {KEY: beside(2.0 * times, 0.6, within=True)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected
    assert found[KEY].excess is not None
    assert found[KEY].excess.above == pytest.approx(log(times))


@pytest.mark.parametrize(("machine", "times", "expected"), [
    (1.0, 1.0, "ok"), (1.3, 1.0, "ok"), (1.0, 1.25, "slow"), (1.3, 1.25, "slow"), (0.8, 1.25, "slow"),
])  # fmt: skip
@pytest.mark.parametrize("memory", [0.6, 1.0])
def test_the_limit_that_follows_a_case_counts(
    memory: float, machine: float, times: float, expected: str
) -> None:
    """Memory has two states that a kernel bound by arithmetic does not meet."""

    def one(times: float, machine: float, memory: float) -> Beside:
        found = beside(2.0 * times * machine, machine, within=True)
        return replace(found, limits={**found.limits, "memory/copy": Level(memory, memory, memory)})

    earlier: dict[str, Earlier] = {}
    for i, launch in enumerate([1.0, 1.3, 1.1, 0.9, 1.25, 1.0, 0.85, 1.2]):
        add_launch(earlier, {KEY: one(1.0, launch, [0.6, 1.0, 0.6, 0.6, 1.0][i % 5])})
    now = {KEY: one(times, machine, memory)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected


@pytest.mark.parametrize(("machine", "ratio", "expected"), [
    (1.0, 2.0, "ok"), (1.0, 2.5, "slow"), (1.0, 2.7, "slow"), (1.5, 2.5, "ok"), (1.6, 3.0, "ok"),
])  # fmt: skip
def test_launches_with_limits_alike_are_usual(machine: float, ratio: float, expected: str) -> None:
    """Disturbed launches of a kernel differ by half; quiet ones little, and are judged by those."""
    earlier: dict[str, Earlier] = {}
    for i in range(16):
        disturbed = i % 2 == 1
        own, limit = (2.2 + 0.06 * i, 1.4 + 0.02 * i) if disturbed else (2.0 + 0.004 * i, 1.0)
        add_launch(earlier, {KEY: beside(own * limit, limit, within=True)})
    now = {KEY: beside(ratio * machine, machine, within=True)}
    found = efficiencies(now, earlier, by="bounds", tolerance=0.1, missed=3.0)
    assert found[KEY].verdict == expected


def test_all_limits_count_until_one_is_known_to_follow() -> None:
    names = ("flops/float", "memory/copy")
    few = Earlier(
        [0.5] * 7, limits=[{"flops/float": 0.1 * i, "memory/copy": -0.1 * i} for i in range(7)]
    )
    assert few.best_limit(names) is None
    ratios = [0.5 + 0.1 * (i % 3) for i in range(9)]
    steps = [0.1 * (i % 3) for i in range(9)]
    many = Earlier(ratios, limits=[{names[0]: step, names[1]: -step} for step in steps])
    assert many.best_limit(names) == "flops/float"
    assert many.beside_limit("flops/float").ratios == pytest.approx([0.5] * 9)
    assert many.best_limit(names[:1]) is None
    alike = Earlier(ratios, limits=[{names[0]: 0.1 * s, names[1]: -0.1 * s} for s in steps])
    assert alike.best_limit(names) is None  # hardly better than both


def test_parts_within_a_case_alone_count_for_it() -> None:
    """Other visits are of other moments; and launches without such parts are no history."""
    document = copy.deepcopy(DOCUMENT)
    for part in document["parts"]["cases"]:
        if part["key"].endswith("/64"):
            other = copy.deepcopy(part["visits"][0])
            other["within"], other["seconds"] = KEY, [2 * PART_S, 4 * PART_S]
            part["visits"].append(other)
    within = parse_record(json.dumps(document), "within")
    model = model_of("b_eff")
    one = beside_parts(model, within)[0][KEY]
    assert one.parts.middle == pytest.approx(8 / 3 * PART_S)
    assert one.expected.time_s == pytest.approx(8 / 3 * PART_S)  # by the mean rate
    assert earlier_ratios(model, {KEY: one}, [record()] * 3) == {}
    assert len(earlier_ratios(model, {KEY: one}, [within] * 3)[KEY].ratios) == 3
    assert limits_within(within, KEY)
    for part in document["parts"]["cases"]:
        part["outcome"] = {"status": "failed", "reason": "item 3 is 5, should be 4"}
    assert not limits_within(parse_record(json.dumps(document), "wrong"), KEY)


def beside(case: float, part: float, *, within: bool = False) -> Beside:
    """A case and its parts, both known within 2 %."""
    level = Level(case, case * 0.99, case * 1.01)
    parts = Level(part, part * 0.99, part * 1.01)
    expected = Prediction(part, "peak")
    own = {"flops/float": parts} if within else {}
    return Beside(level, 0.0, expected, parts.low, parts.high, "roofline", own)


def test_kernels_are_measured_long_enough_to_be_judged() -> None:
    kernel = "ceilings only=flops/float; ceilings only=memory/copy size=21"
    assert least_time(kernel, 1) == 1.5
    assert least_time(kernel, 2) == 1.5
    assert least_time(kernel, 30) == pytest.approx(0.12)
    calls = "links part=transfer sizes=1,2"
    assert least_time(calls, 2) == 0.05
    assert least_time(calls, 40) == 0.025
    assert least_time("", 3) is None


def test_peers_stand_for_launches_that_are_not_there() -> None:
    ratios = {f"case {number}": -0.15 for number in range(9)} | {"case 4": 0.1}
    known = usual_of_peers(ratios, "case 4")
    assert known is not None
    assert (known.of, known.count) == ("peers", 6)
    assert known.middle == pytest.approx(-0.15)
    assert usual_of_peers({"a": 0.0, "b": 0.0}, "a") is None
    assert common_shift(ratios, "case 4") == 0
    assert common_shift(dict.fromkeys(ratios, 0.03), "case 4") == pytest.approx(0.03)
    assert common_shift(dict.fromkeys(ratios, 0.3), "case 4") == usual.MOST_SHIFT


@pytest.mark.parametrize(
    ("times", "history", "expected"),
    [
        (1.25, [0.85] * 6, "slow"),  # by bare calls alone it would be as fast as they are
        (1.25, [], "ok"),
        (1.05, [0.85] * 6, "ok"),
        (1.25, [0.6, 1.1] * 5, "ok"),  # launches differ more
    ],
)
def test_earlier_launches_narrow_an_expectation(
    times: float, history: list[float], expected: str
) -> None:
    earlier = [record(ratio) for ratio in history]
    assert verdict(judge(record(0.85 * times), None, None, earlier))[0] == expected


def test_launches_of_another_approach_are_no_history(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for number, approach in enumerate(("device", "host", "device")):
        document = copy.deepcopy(DOCUMENT)
        document["started"] = f"2026-01-01T00:00:0{number}Z"
        document["transport"] |= {"name": "peer", "scheduled_by": approach}
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(document))
        Store(home).add(path)
    found = earlier_launches(home, load_record(path))
    assert [one.started for one in found] == ["2026-01-01T00:00:00Z"]


def test_short_runs_of_one_second_are_history_of_each_other(tmp_path: Path) -> None:
    """Not of themselves."""
    home = Home(tmp_path)
    for number in range(3):
        document = copy.deepcopy(DOCUMENT)
        document["started"] = "2026-01-01T00:00:00Z"
        document["command"] = ["plumb-mpi", "--record", str(number)]
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(document))
        Store(home).add(path)
    found = earlier_launches(home, load_record(path))
    assert sorted(one.command[-1] for one in found) == ["0", "1"]


def test_launches_of_a_comparison_are_no_history(tmp_path: Path) -> None:
    """One of its sides may be a slower program."""
    home = Home(tmp_path)
    for place in ("before.json", "comparisons/20260101T000000Z/b-001.json", "now.json"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(DOCUMENT | {"command": ["plumb-mpi", "--record", place]}))
        Store(home).add(path)
    found = earlier_launches(home, load_record(path))
    assert [one.command[-1] for one in found] == ["before.json"]


def test_history_never_excuses_a_slow_transport() -> None:
    always = [record(1.5) for _ in range(10)]
    assert verdict(judge(record(1.5), None, None, always))[0] == "slow"


def test_a_case_that_waited_for_cores_is_not_called_slow() -> None:
    slow = record(1.4)
    waited = [
        case.model_copy(update={"facts": {"waited_share": 0.5}}) if case.key == KEY else case
        for case in slow.cases
    ]
    assert verdict(judge(slow, None, None)) == ("slow", None)
    disturbed = slow.model_copy(update={"cases": waited})
    assert verdict(judge(disturbed, None, None)) == ("ambiguous", "waited")


def test_parts_for_a_transport() -> None:
    cases = [
        {"key": "a", "labels": {"ring": "natural", "message_bytes": size}, "work": {}}
        for size in (1, 1024)
    ]
    model = model_of("b_eff")
    for transport, part in (("staged", "relay"), ("pipelined", "relay"), ("mpi", "exchange")):
        text = f"links part={part} ring=natural sizes=1,1024"
        assert wanted(model, Planned(transport, cases, None), {}) == text
    assert wanted(model, Planned("staged", cases, None), {"form": "batched"}) == ""
    assert wanted(model, Planned("channel", cases, None), {}) == ""
    copies = wanted(model, Planned("peer", cases, None), {"approach": "host-buffered"})
    assert copies == "links part=copy ring=natural sizes=1,1024"
    assert wanted(None, Planned("staged", cases, None), {}) == ""


@pytest.mark.parametrize(("times", "expected"), [(1.0, "ok"), (1.5, "slow")])
def test_copies_into_a_neighbour_are_judged_without_history(times: float, expected: str) -> None:
    by_relays = record(times)
    assert by_relays.parts is not None
    parts = [
        part.model_copy(
            update={
                "labels": {**part.labels, "part": "copy"},
                "visits": [visit.model_copy(update={"shares": {}}) for visit in part.visits],
            }
        )
        for part in by_relays.parts.cases
    ]
    assert by_relays.transport is not None
    changes = {
        "transport": by_relays.transport.model_copy(update={"name": "peer"}),
        "parts": by_relays.parts.model_copy(update={"cases": parts}),
    }
    assert verdict(judge(by_relays.model_copy(update=changes), None, None))[0] == expected


def searched(case: float = 1.0, part: float = 1.0, noise: float = 0.01) -> Record:
    """The same record, of a benchmark with a yardstick."""
    one = record(case, part, noise)
    named = one.benchmark.model_copy(update={"name": "graph500"})
    return one.model_copy(update={"benchmark": named, "transport": None})


@pytest.mark.parametrize(
    ("case", "part", "expected"),
    [
        (1.0, 1.0, "ok"),
        (1.3, 1.0, "slow"),
        (1.3, 1.3, "ok"),
        (1.0, 0.75, "slow"),
        (1.0, 3.0, "ambiguous"),  # the parts were disturbed, and tell nothing
    ],
)
def test_a_yardstick_judges_by_the_usual_ratio(case: float, part: float, expected: str) -> None:
    earlier = [searched(1 + 0.01 * (launch % 3)) for launch in range(6)]
    judged = judge(searched(case, part), None, None, earlier)
    assert verdict(judged)[0] == expected
    assert judged.judged is not None
    assert judged.judged.cases[KEY].ratio == pytest.approx(case / part, rel=0.05)


def test_a_yardstick_has_no_verdict_before_its_usual_ratio_is_known() -> None:
    judged = judge(searched(), None, None, [searched()])
    assert judged.judged is None
    assert "known from 2 earlier launches on, and there is 1" in judged.line
    other = searched()
    other = other.model_copy(update={"parameters": {**other.parameters, "scale": 20}})
    assert judge(searched(), None, None, [other] * 6).judged is None  # of other options
    unlike = searched()
    assert unlike.parts is not None
    fewer = unlike.parts.model_copy(update={"cases": unlike.parts.cases[:1]})
    unlike = unlike.model_copy(update={"parts": fewer})
    assert judge(searched(), None, None, [unlike] * 6).judged is None  # beside other parts


@pytest.mark.parametrize(
    ("times", "launches", "expected"), [(9.0, 0, None), (1.0, 6, "ok"), (1.3, 6, "slow")]
)
def test_where_a_model_does_not_hold_the_usual_ratio_judges(
    times: float, launches: int, expected: str | None
) -> None:
    def one(times: float) -> Beside:
        own = beside(times, 1.0)
        return replace(own, expected=replace(own.expected, reason="few work items"))

    earlier: dict[str, Earlier] = {}
    for launch in range(launches):
        add_launch(earlier, {KEY: one(1 + 0.01 * (launch % 3))})
    found = efficiencies({KEY: one(times)}, earlier, by="bounds", tolerance=0.05, missed=3)
    assert (found[KEY].verdict if KEY in found else None) == expected


def test_many_cases_are_allowed_more_each_so_that_launches_alarm_as_seldom() -> None:
    ratios = in_row([0.2, 0.22, 0.18, 0.2])
    one, many = usual_of(ratios, "case 4", 9), usual_of(ratios, "case 4", 300)
    assert one is not None
    assert many is not None
    assert one.reach() < many.reach() < 2 * one.reach()


def test_every_benchmark_that_moves_or_computes_has_parts() -> None:
    """All but those that are parts themselves, in the engine's words."""
    for benchmark in all_benchmarks(os.environ).benchmarks:
        if benchmark.family:
            continue
        model, stick = model_of(benchmark.name), yardstick_of(benchmark.name, "none")
        by_limits = model is not None and model.NEEDS in ("legs", "device", "updates")
        assert (stick is not None or by_limits) == (benchmark.name not in LIMITS_THEMSELVES)
    planned = Planned("none", [{"key": "a", "labels": {}, "work": {}}], {"compute_units": 2})
    stick = yardstick_of("graph500", "none")
    text = "ceilings only=random/update size=18 updates=14"
    assert wanted(None, replace(planned, sends=False), {}, stick) == text
    assert wanted(None, planned, {}, stick) == f"{text}; links part=exchange beside=all sizes=1024"
    gpus = Planned("peer", planned.cases, {"type": "gpu", "compute_units": 132})
    text = "ceilings only=flops/float accumulators=1081344"
    assert wanted(None, gpus, {}, yardstick_of("b_eff", "peer")) == text
    assert yardstick_of("b_eff", "staged") is None
    assert yardstick_of("b_eff", "peer") is not None
    assert yardstick_of("b_eff", "peer", "host-buffered") is None
    assert yardstick_of("b_eff", "peer", "host-buffered", "batched") is not None
    assert yardstick_of("ptrans", "peer", "host-buffered") is not None


def test_parts_for_long_messages_and_memory() -> None:
    work = {"bytes_read": 2**23, "bytes_written": 2**22, "bytes_sent": 2**22, "messages": 2}
    cases = [{"key": "float/1024/64", "labels": {"size": 1024}, "work": work}]
    model, device = model_of("ptrans"), {"type": "cpu", "compute_units": 2, "cache_bytes": 2**23}
    memory = "ceilings only=memory/copy size=23"
    for transport, links in (
        ("staged", ["links part=relay beside=all sizes=2097152"]),
        ("mpi", ["links part=exchange beside=all sizes=2097152"]),
        ("local", []),
        ("peer", None),
    ):
        text = wanted(model, Planned(transport, cases, device), {})
        within = [f"{line} within=float/1024/64" for line in (*(links or []), memory)]
        assert text == ("" if links is None else "; ".join(within))
    on_cores = wanted(model, Planned("local", cases, {**device, "type": "native"}), {})
    assert on_cores == f"{memory} within=float/1024/64"
    text = wanted(model, Planned("local", cases, {**device, "type": "gpu"}), {})
    assert text == memory  # a GPU has no moments of its own


def test_parts_of_a_comparison_tell_states() -> None:
    """A GPU has none of its own; its host's messages have."""
    parts = "ceilings only=launch/row; links part=relay sizes=1"
    gpu, cpu = (Planned("staged", [], {"type": kind}) for kind in ("gpu", "cpu"))
    assert steadying(parts, cpu) == parts
    assert steadying(parts, gpu) == "links part=relay sizes=1"
    assert steadying("", cpu) == ""


def test_parts_for_a_device() -> None:
    device = {"type": "cpu", "compute_units": 2, "cache_bytes": 2**23}
    copied = {"bytes_read": 2**24, "bytes_written": 2**24}
    cases = [
        {"key": "copy", "labels": {"operation": "copy"}, "work": copied},
        {"key": "dot", "labels": {"operation": "dot"}, "work": {"bytes_read": 2**25, "flops": 1}},
        {"key": "read", "labels": {"operation": "read"}, "work": {"bytes_read": 2**26}},
    ]
    text = wanted(model_of("stream"), Planned("none", cases, device), {"type": "double"})
    assert text.split("; ") == [
        "ceilings only=flops/double,flops/matrix_double accumulators=16384",
        "ceilings only=memory/copy size=24 within=copy",
        "ceilings only=memory/read size=24 within=dot",
        "ceilings only=link/read size=24 within=read",
    ]
    labels = {"table_bytes": 2**23, "updates": "atomic"}
    for updates, passes in ((2**18, 1), (2**20, 1), (2**21, 2), (2**22, 4), (2**30, 4)):
        table = {"key": "t", "labels": labels, "work": {"updates": updates}}
        text = wanted(model_of("random_access"), Planned("none", [table], device), {})
        limit = f"ceilings only=random/atomic size=23 updates=20 passes={passes} within=t"
        assert text == limit
    product = {"bytes_read": 2**20, "bytes_written": 2**20, "flops": 2.0**28}
    cases = [{"key": "float/512", "labels": {"type": "float"}, "work": product}]
    text = wanted(model_of("gemm"), Planned("none", cases, device), {})
    assert text.split("; ") == [
        "ceilings only=flops/float,flops/matrix_float accumulators=16384 within=float/512",
        "ceilings only=memory/copy size=20",
    ]
    work = {"bytes_read": 2**20, "bytes_written": 2**20}
    short = {"key": "copy", "labels": {"operation": "copy"}, "work": work}
    text = wanted(model_of("stream"), Planned("none", [cases[0], short], device), {})
    assert text.startswith("ceilings only=launch/row,launch/wait; ")
