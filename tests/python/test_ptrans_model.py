"""PTRANS's model against cases worked by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT

from plumbline.judge.promise import conditions_of
from plumbline.model.benchmarks import model_of, ptrans
from plumbline.record.record import Record
from plumbline.system.device import Bitstream, DeviceTable, Memory
from plumbline.system.segments import Segment
from plumbline.system.system import Calibration, Figures, Identity, Legs, System

N, RANKS, DOUBLE = 1000, 2, 8
SHARE = N * N / RANKS * DOUBLE  # bytes of a rank's matrix
LEGS = Legs(
    read=[Segment(latency_us=2, bandwidth_gb_s=10, source="s")],
    exchange=[Segment(latency_us=1, bandwidth_gb_s=5, source="s")],
    write=[Segment(latency_us=3, bandwidth_gb_s=8, source="s")],
)
MEMORY = DeviceTable(
    cache_bytes=1,
    memory=[
        Memory(access="read", gb_s=20, source="s"),
        Memory(access="write", gb_s=10, source="s"),
    ],
)
KNOWN = Figures(LEGS, MEMORY, by_all_ranks=True)


def golden(**changes: Any) -> Record:
    """The golden record, its device, facts or transport changed."""
    document = json.loads((ROOT / "tests" / "golden" / "ptrans_2.record.json").read_text())
    document["transport"]["name"] = changes.pop("transport", "mpi")
    for rank in document["ranks"]:
        rank["device"]["type"] = changes.get("type", rank["device"]["type"])
    document["cases"][0]["facts"] |= changes.get("facts", {})
    return Record.model_validate(document)


def expected(record: Record, figures: Figures = KNOWN) -> Any:
    (one,) = ptrans.expect(record, figures).values()
    return one


def sent(record: Record) -> float:
    return max(work.bytes_sent for work in record.cases[0].work_by_rank or [record.cases[0].work])


def test_it_is_found_by_the_benchmarks_name() -> None:
    assert model_of("ptrans") is not None


def test_on_the_host_exchange_and_memory_are_added_up() -> None:
    record = golden()
    found = expected(record)
    exchange = 1e-6 + sent(record) / 5e9
    assert found.parts["exchange"] == pytest.approx(exchange)
    # Of 16 columns of blocks of 64 rank 0 has eight whole ones, 512 of 1000 columns.
    assert found.parts["memory"] == pytest.approx(2 * SHARE / 20e9 + SHARE / 10e9, rel=0.05)
    assert found.seconds == pytest.approx(sum(found.parts.values()))


def test_staged_reads_and_writes_as_well() -> None:
    parts = expected(golden(transport="staged")).parts
    assert list(parts) == ["read", "exchange", "write", "memory"]
    assert parts["read"] == pytest.approx(2e-6 + sent(golden()) / 10e9)


def test_on_a_gpu_the_longer_covers_the_other_but_for_a_stage() -> None:
    record = golden(type="gpu", facts={"overlaps": True, "stages": 4})
    found = expected(record)
    exchange, memory = found.parts["exchange"], found.parts["memory"]
    assert found.seconds == pytest.approx(max(exchange, memory) + min(exchange, memory) / 4)


def test_a_board_runs_eq_4_5() -> None:
    kernel = Bitstream(
        benchmark="ptrans",
        type="double",
        frequency_mhz=200,
        replications=2,
        channel_width=8,
        source="s",
    )
    board = Figures(LEGS, MEMORY.model_copy(update={"bitstreams": [kernel]}), by_all_ranks=True)
    parts = expected(golden(type="accelerator"), board).parts
    # 3 n^2/p numbers, 8 a cycle in each of two replications, at 200 MHz.
    assert parts["kernels"] == pytest.approx(3 * N * N / RANKS / 8 / 2 / 200e6, rel=0.05)


def test_what_the_system_lacks_is_named() -> None:
    assert "leg exchange" in expected(golden(), Figures(None, MEMORY)).reason
    assert "memory bandwidth" in expected(golden(), Figures(LEGS, None)).reason


def test_a_calibration_of_memory_holds_for_runs_over_any_transport() -> None:
    over_mpi = golden()
    alone = over_mpi.model_copy(update={"transport": None})

    def calibration(of: Record, **found: Any) -> Calibration:
        made = {"request": "r", "started": "s", "program": "p", "seconds": 1.0, **found}
        return Calibration(conditions=conditions_of(of), **made)

    system = System(
        system=Identity(name="test", description="", source=""),
        calibrations=[calibration(over_mpi, legs=LEGS), calibration(alone, device=MEMORY)],
    )
    found = expected(over_mpi, system.figures_under(conditions_of(over_mpi)))
    assert list(found.parts) == ["exchange", "memory"]
