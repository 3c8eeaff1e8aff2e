"""Verdicts from the parts that a run measured beside its cases, on made-up times."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from conftest import DATA

from plumbline.judge.causes import causes
from plumbline.judge.judgement import Judgement, judge
from plumbline.judge.parts import Planned, interval_of_median, wanted
from plumbline.judge.state import state_of
from plumbline.model.benchmarks import model_of
from plumbline.record.record import Record, parse_record

DOCUMENT: dict[str, Any] = json.loads((DATA / "records" / "1.2.0.json").read_text())
PART_S = 20e-6
KEY = "natural/transfer/64"


def record(case: float = 1.0, part: float = 1.0, noise: float = 0.01) -> Record:
    """A record whose cases take ``case`` times their parts' usual time, and the parts ``part``."""
    document = copy.deepcopy(DOCUMENT)
    for one in document["cases"]:
        median = case * PART_S * one["count"]
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
    quiet = parse_record(json.dumps(document), "quiet")
    assert list(causes(quiet, state_of(quiet, []))) == []


def test_efficiency_and_state_are_told_apart() -> None:
    history = [record(part=1 + 0.01 * launch) for launch in range(5)]
    judged = judge(record(1.65, 1.65), None, None, history).judged
    assert judged is not None
    case = judged.cases[KEY]
    assert (case.verdict, case.state, case.promise) == ("ok", "slower", None)
    assert judged.counts()["slow"] == 0


def test_the_interval_of_a_median() -> None:
    assert interval_of_median(list(range(5))) == (0, 4)
    assert interval_of_median(list(range(6))) == (0, 5)
    assert interval_of_median(list(range(10))) == (1, 8)
    assert interval_of_median(list(range(25))) == (7, 17)


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
    assert wanted(None, Planned("staged", cases, None), {}) == ""


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
        "ceilings only=launch,flops/double,flops/matrix_double accumulators=16384",
        "ceilings only=memory size=24",
        "ceilings only=link size=24",
    ]
    table = {"key": "t", "labels": {"table_bytes": 2**23, "updates": "atomic"}, "work": {}}
    text = wanted(model_of("random_access"), Planned("none", [table], device), {})
    assert text == "ceilings only=random/atomic size=23 updates=20"
