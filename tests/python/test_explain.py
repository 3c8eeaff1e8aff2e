"""`plumb explain` for records of CPUs (PoCL), GPUs and boards, and without a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, ROOT, Plumb
from hypothesis import given
from hypothesis import strategies as st
from test_device_models import DEVICE, case, record_of
from test_models import LEGS, with_transport

from plumbline.judge.explain import Explanation, explained, write
from plumbline.judge.hints import advice
from plumbline.record.record import Case, Outcome, Record, Samples, Warned
from plumbline.system.files import load_system
from plumbline.system.segments import Segment
from plumbline.system.system import Channel, Identity, System

Golden = Callable[[str, str], None]
GIB = 2**30


def system(**tables: Any) -> System:
    return System(system=Identity(name="test", description="", source=""), **tables)


def on(record: Record, **device: Any) -> Record:
    """``record`` on such a device, of which each rank has one."""
    own = record.ranks[0].device
    assert own is not None
    ranks = [
        rank.model_copy(update={"device": own.model_copy(update={**device, "index": rank.rank})})
        for rank in record.ranks
    ]
    return record.model_copy(update={"ranks": ranks})


def moving(record: Record, key: str, seconds: float, **facts: Any) -> Case:
    return case(record, key, seconds, work={"bytes_read": GIB}, facts=facts)


def text(explanation: Explanation, *, all_cases: bool = False) -> str:
    return write(explanation, "text", all_cases=all_cases)


def said(record: Record, **tables: Any) -> str:
    """All advice in one line."""
    groups = explained(record, system(**tables), 0.25).groups
    return " ".join(sentence for group in groups for sentence in group.advice)


def test_a_staged_record(record: Record, golden: Golden) -> None:
    """Reads a third as fast as they are here: launches apart, all that reads is slow."""
    legs = LEGS.model_copy(
        update={"read": [Segment(latency_us=1, bandwidth_gb_s=30, source="s")], "launch": []}
    )
    golden("explain-staged.txt", text(explained(record, system(legs=legs), 0.25)) + "\n")


def test_a_gpu_record(record: Record, golden: Golden) -> None:
    gpu = on(record, name="NVIDIA H200", type="gpu", runtime="cuda", cache_bytes=0)
    shape = {"variant": "nd_range", "vector": 4, "group_size": 256}
    cases = [
        case(gpu, "triad", 1e-3, work={"bytes_read": GIB, "bytes_written": GIB / 2}, facts=shape),
        case(gpu, "copy", 0.46e-3, work={"bytes_read": GIB, "bytes_written": GIB}, facts=shape),
        case(gpu, "scale", 0.48e-3, work={"bytes_read": GIB, "bytes_written": GIB}, facts=shape),
    ]
    run = record_of(gpu, "stream", *cases)
    golden(
        "explain-gpu.txt",
        text(explained(run, load_system(ROOT / "systems/h200.toml"), 0.25)) + "\n",
    )


def test_groups_stand_worst_first_and_are_cut(record: Record) -> None:
    cpu = on(record, type="cpu", cache_bytes=0)
    slow = [moving(cpu, f"slow{index}", 0.1 + index / 100) for index in range(9)]
    run = record_of(cpu, "stream", moving(cpu, "good", 0.0537), *slow, moving(cpu, "fast", 0.01))
    found = explained(run, system(device=DEVICE), 0.25)
    assert [group.members[0].judged.verdict for group in found.groups] == ["slow", "fast", "ok"]
    assert found.groups[0].members[0].case.key == "slow8"
    shown = text(found)
    assert "and 5 more (--all)" in shown
    assert "slow0" not in shown
    assert "slow0" in text(found, all_cases=True)
    assert len(json.loads(write(found, "json", all_cases=False))["groups"][0]["cases"]) == 9


def test_what_stands_apart_says_why(record: Record) -> None:
    wrong = record.cases[0].model_copy(
        update={"outcome": Outcome(status="failed", reason="3 of 8 bytes are wrong")}
    )
    run = record.model_copy(update={"cases": [wrong, *record.cases[1:]]})
    apart = explained(run, system(legs=LEGS), 0.25).apart
    assert apart["failed: 3 of 8 bytes are wrong"] == [wrong.key]
    peer = explained(with_transport(record, "peer"), system(legs=LEGS), 0.25)
    assert not peer.groups
    assert next(iter(peer.apart)) == "no model: there is none for the peer transport"
    assert "no model: there is none for the peer transport" in text(peer)


def test_disturbance_is_told_by_the_best_repetitions(record: Record) -> None:
    cpu = on(record, type="cpu", cache_bytes=0)
    measured = moving(cpu, "read", 0.1)
    assert measured.summary is not None
    off = measured.model_copy(
        update={"summary": measured.summary.model_copy(update={"min_s": 0.054})}
    )
    assert "what slows the others comes and goes" in said(
        record_of(cpu, "stream", off), device=DEVICE
    )
    run = record_of(cpu, "stream", measured)
    assert "comes and goes" not in said(run, device=DEVICE)


def test_the_rank_that_is_slow_is_named(record: Record) -> None:
    cpu = on(record, type="cpu", cache_bytes=0)
    samples = Samples.model_validate({"unit": "s", "by_rank": [[0.05], [0.1]], "global": []})
    uneven = moving(cpu, "read", 0.1).model_copy(update={"samples": samples})
    assert "Rank 1 takes 2.00 times" in said(record_of(cpu, "stream", uneven), device=DEVICE)


def test_a_device_that_waits_is_told(record: Record) -> None:
    gpu = on(record, type="gpu", cache_bytes=0)
    measured = moving(gpu, "read", 0.1)
    half = {
        "unit": "s",
        "by_rank": [[time / 2 for time in times] for times in measured.samples.by_rank],
    }
    waiting = Case.model_validate({**measured.model_dump(by_alias=True), "device_samples": half})
    assert "The device works 50% of the time" in said(
        record_of(gpu, "stream", waiting), device=DEVICE
    )


def test_warnings_of_the_run_are_told(record: Record) -> None:
    cpu = on(record, type="cpu", cache_bytes=0)
    run = record_of(cpu, "stream", moving(cpu, "read", 0.1)).model_copy(
        update={"warnings": [Warned(code="unbound", text="ranks are not bound")]}
    )
    assert "The run was warned: ranks are not bound." in said(run, device=DEVICE)


@pytest.mark.parametrize(
    ("name", "label", "work", "seconds", "sentence"),
    [
        ("gemm", {}, {"flops": 2e11}, 3.0, "c reaches 66.67 GFLOP/s, 33% of its peak."),
        ("gemm", {}, {"flops": 2e11, "bytes_read": 2e9}, 1.0, "Raised 10 times, memory bandwidth"),
        ("stream", {}, {"bytes_read": 100}, 9e-6, "A count is 9 us, of which a launch in a row takes 2 us"),
        ("stream", {"operation": "write"}, {"bytes_written": 1e10}, 3.0, "carries 3.333 GB/s"),
        ("random_access", {}, {"updates": 1e8}, 3.0, "c makes 0.0333 GUP/s"),
    ],
)  # fmt: skip
def test_each_bound_has_a_sentence(
    record: Record,
    name: str,
    label: dict[str, Any],
    work: dict[str, float],
    seconds: float,
    sentence: str,
) -> None:
    gpu = on(record, type="gpu", runtime="opencl", cache_bytes=0)
    one = case(gpu, "c", seconds, work=work, labels=label, facts={"matrix_units": "none"})
    run = record_of(gpu, name, one, size=24)
    assert sentence in said(run, device=DEVICE.model_copy(update={"cache_bytes": 0}))


def test_links_have_latency_and_clock(record: Record) -> None:
    channel = Channel(count=4, latency_ns=520, frequency_mhz=156.25, width_bytes=32, source="s")
    words = said(with_transport(record, "channel"), channel=channel)
    assert "the links' latency counts" in words
    assert "the links' width times clock counts" in words


def test_boards_say_what_binds_next(record: Record) -> None:
    board = load_system(ROOT / "systems" / "bittware-520n.toml")
    run = record_of(record, "stream", moving(record, "copy", 0.02))
    (group,) = explained(run, board, 0.25).groups
    assert group.advice[-1].startswith("The memory banks count")


def test_the_command_reads_names_and_refuses_others(
    plumb: Plumb, home: Path, golden: Golden
) -> None:
    path = DATA / "record.json"
    status, out, err = plumb("explain", str(path), "--system", "noctua1-520n", "--all")
    assert (status, err) == (0, "")
    golden("explain-noctua1.txt", out)
    status, out, _ = plumb("explain", str(path))
    assert (status, "no model: this machine is not calibrated" in out) == (0, True)
    for words in (["nothing"], [str(path), "--system", "noctua"], [str(path), "--format", "xml"]):
        status, out, err = plumb("explain", *words)
        assert (status, out, err.count("\n")) == (2, "", 1)


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=6))
def test_any_times_are_explained(times: list[float]) -> None:
    """Every case is in one group, or listed separately; each group has a sentence."""
    from plumbline.record.record import load_record

    record = load_record(DATA / "record.json")
    cases = [moving(record, f"c{index}", seconds) for index, seconds in enumerate(times)]
    found = explained(record_of(record, "stream", *cases), system(device=DEVICE), 0.25)
    keys = [one.case.key for group in found.groups for one in group.members]
    assert sorted(keys) == sorted(case.key for case in cases)
    assert all(group.advice for group in found.groups)
    assert text(found, all_cases=True)


def test_no_advice_without_grounds(record: Record) -> None:
    """A leg alone says nothing of overlap."""
    members = explained(record, system(legs=LEGS), 0.25).groups
    alone = [one for group in members for one in group.members if len(one.expectation.parts) == 1]
    assert "overlapped" not in " ".join(advice(record, alone[:1]))
