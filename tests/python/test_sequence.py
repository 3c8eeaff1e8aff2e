"""Verdicts of several launches of one run, on drawn excesses and made-up records."""

from __future__ import annotations

import random
from dataclasses import replace
from math import inf, log

import pytest
from test_parts import KEY, beside, record, verdict

from plumbline.judge.beside import Earlier, add_launch, beside_parts, earlier_ratios
from plumbline.judge.judgement import Judgement, judge
from plumbline.judge.sequence import (
    AS_USUAL,
    IN_DOUBT,
    MOST_LAUNCHES,
    Excess,
    verdict_of_launches,
    verdict_of_most,
)
from plumbline.judge.usual import Usual
from plumbline.model.benchmarks import model_of
from plumbline.record.expectations import Verdict
from plumbline.run import run as runs
from plumbline.run.run import Series

TOLERANCE = 0.1


def usual(spread: float) -> Usual:
    """From 20 launches of one case."""
    return Usual(0.0, spread, 25, "launches", 20)


def decided(draw: random.Random, spread: float, planted: float) -> tuple[str, int]:
    """The verdict of a run, and its launches, if the spread between launches is known."""
    known, off = usual(spread), draw.gauss(0.0, spread / 20**0.5)  # of the earlier launches' middle
    found: list[Excess] = []
    while len(found) < MOST_LAUNCHES:
        found.append(Excess(draw.gauss(log(1 + planted), spread) - off, 0.0, known))
        word, _ = verdict_of_launches(found, TOLERANCE)
        if word != "ambiguous":
            break
    return word, len(found)


@pytest.mark.parametrize(
    ("spread", "launches", "found"), [(0.03, 1.01, 0.99), (0.05, 1.05, 0.97), (0.1, 1.8, 0.9)]
)
def test_error_rates_and_launches(spread: float, launches: float, found: float) -> None:
    """At most 1 % false alarms; steadier machines need fewer launches, and find more."""
    draw = random.Random(1)
    sound = [decided(draw, spread, 0.0) for _ in range(2000)]
    planted = [decided(draw, spread, 0.25) for _ in range(2000)]
    assert sum(word == "slow" for word, _ in sound) / 2000 <= 0.01
    assert sum(number for _, number in sound) / 2000 <= launches
    assert sum(word == "slow" for word, _ in planted) / 2000 >= found


def test_waiting_for_cores_makes_no_case_slow() -> None:
    known = usual(0.03)
    assert verdict_of_launches([Excess(0.3, 0.25, known)], TOLERANCE) == ("ambiguous", "waited")
    assert verdict_of_launches([Excess(0.3, inf, known)], TOLERANCE) == ("ambiguous", "waited")
    assert verdict_of_launches([Excess(0.3, 0.0, known)] * 2, TOLERANCE) == ("slow", None)


def test_one_slow_launch_makes_no_case_slow() -> None:
    """Not as the only one, nor beside sound ones: a moment may last as long as a launch."""
    slow, sound = Excess(0.3, 0.0, usual(0.03)), Excess(0.0, 0.0, usual(0.03))
    assert verdict_of_launches([slow], TOLERANCE) == ("ambiguous", IN_DOUBT)
    assert verdict_of_launches([slow, sound], TOLERANCE) == ("ambiguous", IN_DOUBT)
    assert verdict_of_launches([slow, sound, slow], TOLERANCE) == ("slow", None)
    assert verdict_of_launches([slow, sound, sound, sound], TOLERANCE) == ("ok", None)


def test_launches_in_other_moments_have_the_spread_of_all() -> None:
    quiet, disturbed = Excess(0.3, 0.0, usual(0.03)), Excess(0.3, 0.0, usual(0.3))
    assert verdict_of_launches([quiet, quiet], TOLERANCE)[0] == "slow"
    assert verdict_of_launches([disturbed, quiet], TOLERANCE)[0] == "ambiguous"


def test_what_many_earlier_runs_took_is_not_slow() -> None:
    """A machine of two states: in four of twelve runs a case takes 1.35 times its usual time."""
    known = replace(usual(0.05), seen=(0.0,) * 8 + (0.3,) * 4)
    assert verdict_of_launches([Excess(0.3, 0.0, known)] * 2, TOLERANCE) == ("ambiguous", AS_USUAL)
    assert verdict_of_launches([Excess(0.5, 0.0, known)] * 2, TOLERANCE) == ("slow", None)
    once = replace(known, seen=(0.0,) * 11 + (0.3,))
    assert verdict_of_launches([Excess(0.3, 0.0, once)] * 2, TOLERANCE) == ("slow", None)
    wide = replace(usual(0.14), seen=known.seen)
    assert verdict_of_launches([Excess(0.3, 0.0, wide)], TOLERANCE) == ("ok", None)


def test_launches_of_one_run_count_once() -> None:
    """They meet the machine in one state."""
    found: dict[str, Earlier] = {}
    for run, ratio in [(0, 1.1), (0, 1.3), (1, 2.0)]:
        add_launch(found, {KEY: beside(ratio, 1.0)}, run=run)
    assert found[KEY].means == pytest.approx([(log(1.1) + log(1.3)) / 2, log(2.0)])


def test_launches_far_apart_are_runs() -> None:
    """Also where each follows another within a minute."""
    moments = ("00:03:00", "00:02:20", "00:01:40", "00:01:30", "00:00:10")
    history = [
        record().model_copy(update={"started": f"2026-01-01T{moment}Z"}) for moment in moments
    ]
    model = model_of("b_eff")
    now = beside_parts(model, record())[0]
    assert earlier_ratios(model, now, history)[KEY].runs == [0, 0, 1, 1, 2]
    assert earlier_ratios(model, now, history[::-1])[KEY].runs == [0, 1, 1, 1, 2]


USUALLY = (0.95, 1.0, 1.05, 0.97, 1.03)
UNSTEADY = (0.7, 0.9, 1.0, 1.1, 1.3)


def judged(case: float, earlier: tuple[float, ...], launches: list[float] | None) -> Judgement:
    """A run whose cases took ``case`` times their parts, after earlier runs and its own launches."""
    history = [record(case=times) for times in earlier]
    if launches is None:
        return judge(record(case=case), None, None, history)
    own = [judge(record(case=times), None, None, history, []).alone for times in launches]
    return judge(record(case=case), None, None, history, own)


@pytest.mark.parametrize(
    ("slower", "expected"), [(1.12, ("ambiguous", AS_USUAL)), (1.3, ("slow", None))]
)
def test_a_state_excuses_a_transport_that_bare_calls_allow(
    slower: float, expected: tuple[Verdict, str | None]
) -> None:
    """Two of ten earlier runs were as slow; beyond the tolerance of bare calls that is no excuse."""
    history = [
        record(case=times).model_copy(update={"started": f"2026-01-01T{hour:02}:00:00Z"})
        for hour, times in enumerate([0.85] * 8 + [slower] * 2)
    ]
    assert verdict(judge(record(case=slower), None, None, history)) == expected
    assert verdict(judge(record(case=slower), None, None, history[:8])) == ("slow", None)


def test_a_run_is_judged_by_all_of_its_launches() -> None:
    doubtful = judged(1.12, UNSTEADY, [])
    assert verdict(doubtful) == ("ambiguous", IN_DOUBT)
    assert KEY in doubtful.in_doubt()
    sound = judged(1.0, USUALLY, [1.05, 0.98])
    assert verdict(sound)[0] == "ok"
    assert sound.in_doubt() == []
    assert "by 3 launches of this run" in sound.line
    assert verdict(judged(1.24, USUALLY, [1.25, 1.26]))[0] == "slow"


def test_one_launch_alone_decides_as_before() -> None:
    assert verdict(judged(1.12, UNSTEADY, None))[1] != IN_DOUBT


def test_a_transport_that_was_always_slow_is_not_excused() -> None:
    first = judged(1.3, (1.3,) * 6, [])
    assert verdict(first) == ("ambiguous", IN_DOUBT)
    assert KEY in first.in_doubt()
    second = judged(1.3, (1.3,) * 6, [1.3])
    assert verdict(second) == ("slow", None)
    assert second.in_doubt() == []
    assert verdict(judged(1.3, (1.3,) * 6, None)) == ("slow", None)


@pytest.mark.parametrize(
    ("alone", "together"),
    [
        (["slow"], "ambiguous"),
        (["slow", "slow"], "slow"),
        (["slow", "ok"], "ambiguous"),
        (["slow", "ok", "ok"], "ok"),
        (["slow", "ok", "slow"], "slow"),
        (["ok", "slow"], "ambiguous"),
        (["ok", "ok", "slow"], "ok"),
        (["ok"], "ok"),
        (["ambiguous", "ok", "slow", "slow"], "ambiguous"),
    ],
)
def test_one_launch_calls_no_case_slow(alone: list[Verdict], together: Verdict) -> None:
    """Where no usual ratio of launches is known."""
    words = {"ambiguous": "spread"}
    assert verdict_of_most([(one, words.get(one)) for one in alone])[0] == together


def test_a_first_run_in_which_one_launch_is_slow_goes_on() -> None:
    disturbed = judged(1.3, (), [])
    assert verdict(disturbed) == ("ambiguous", IN_DOUBT)
    assert KEY in disturbed.in_doubt()
    undecided = judged(1.0, (), [1.3])
    assert KEY in undecided.in_doubt()
    assert verdict(judged(1.0, (), [1.3, 1.0])) == ("ok", None)
    assert verdict(judged(1.3, (), [1.3])) == ("slow", None)


def test_launches_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """In number, and in time: 40 s, or two launches that take longer."""
    doubtful, now = judged(1.12, UNSTEADY, []), 0.0
    monkeypatch.setattr(runs, "monotonic", lambda: now)

    def launches(seconds: float, judgement: Judgement) -> int:
        nonlocal now
        series = Series(begin=now)
        while True:
            now += seconds
            series.alone.append(judgement.alone)
            if not series.goes_on(judgement):
                return len(series.alone)

    assert launches(1.0, doubtful) == MOST_LAUNCHES
    assert launches(10.0, doubtful) == 4
    assert launches(100.0, doubtful) == 2
    assert launches(1.0, Judgement(None, "")) == 1
