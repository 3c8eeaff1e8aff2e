"""What is learnt of a device from the records of ``ceilings``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from test_device_models import case

from plumbline.calibrate import device
from plumbline.calibrate.calibrate import calibration, request_text
from plumbline.calibrate.device import (
    device_table,
    is_disturbed,
    measure,
    measure_updates,
    sizes,
)
from plumbline.judge import hints
from plumbline.judge.promise import conditions_of, is_covered
from plumbline.model import limits, roofline
from plumbline.model.benchmarks import gemm
from plumbline.record.expectations import JudgedCase
from plumbline.record.record import Case, Outcome, Record, Work
from plumbline.system.device import DeviceTable, Memory, RandomUpdates, joined
from plumbline.system.system import Figures, Identity, System

MIB = 2**20
GIB = 2**30


def on_device(record: Record, **figures: Any) -> Record:
    """``record`` with these figures of every rank's device."""
    device = record.ranks[0].device
    assert device is not None
    other = device.model_copy(update=figures)
    ranks = [rank.model_copy(update={"device": other}) for rank in record.ranks]
    return record.model_copy(update={"ranks": ranks})


def ceiling(record: Record, key: str, best_s: float, count: int = 1, **changes: Any) -> Case:
    """A case of ``ceilings`` whose best sample of ``count`` took ``best_s``, any other twice it."""
    measured = record.cases[0]
    assert measured.summary is not None
    times = {"min_s": best_s, "median_s": 2 * best_s, "mean_s": 2 * best_s, "max_s": 2 * best_s}
    limit, operation, *_ = key.split("/")
    interval = changes.get("interval", [2 * best_s, 2 * best_s])
    return measured.model_copy(
        update={
            "key": key,
            "count": count,
            "labels": {"limit": limit, "operation": operation, **changes.get("labels", {})},
            "work": Work(**changes.get("work", {})),
            "summary": measured.summary.model_copy(update={**times, "ci95_median_s": interval}),
            "outcome": changes.get("outcome", Outcome(status="passed", reason=None)),
        }
    )


def of_cases(record: Record, *cases: Case) -> Record:
    return record.model_copy(update={"transport": None, "cases": list(cases)})


def words_of(options: Sequence[str]) -> dict[str, int]:
    return {
        name.removeprefix("--"): int(value)
        for name, value in zip(options[::2], options[1::2], strict=True)
    }


@pytest.mark.parametrize(
    ("figures", "size", "tables"),
    [
        ({"type": "cpu", "cache_bytes": 32 * MIB, "memory_bytes": 24 * GIB}, 27, 2),
        ({"type": "cpu", "cache_bytes": 33 * MIB, "memory_bytes": 24 * GIB}, 28, 2),
        ({"type": "cpu", "cache_bytes": 1024 * MIB, "memory_bytes": 512 * GIB}, 32, 1),
        ({"type": "native", "cache_bytes": 0, "memory_bytes": 24 * GIB}, 27, 2),
        ({"type": "cpu", "cache_bytes": 32 * MIB, "memory_bytes": 4 * GIB}, 27, 1),
        ({"type": "cpu", "cache_bytes": 32 * MIB, "memory_bytes": 256 * MIB}, 24, 1),
        ({"type": "cpu", "cache_bytes": 260 * MIB, "memory_bytes": 23 * GIB}, 30, 1),
        ({"type": "gpu", "cache_bytes": 50 * MIB, "memory_bytes": 280 * GIB}, 30, 2),
    ],
)
def test_arrays_pass_the_caches_and_fit_the_memory(
    record: Record, figures: dict[str, Any], size: int, tables: int
) -> None:
    """Two ranks share the host: of its half a rank's array takes a quarter at most, and on a CPU,
    where checks hold three more, an eighth."""
    found = words_of(sizes(on_device(record, **figures)))
    assert (found["size"], found["tables"]) == (size, tables)
    longest = 2 ** (found["size"] + 3 * (found["tables"] - 1))
    assert longest <= figures["memory_bytes"] / 2 / 4
    if figures["type"] != "gpu":
        assert 5 * 2 ** found["size"] < figures["memory_bytes"] / 2


@pytest.mark.parametrize(
    ("kind", "units", "numbers"), [("cpu", 1, 16384), ("cpu", 64, 65536), ("gpu", 132, 2162688)]
)
def test_there_is_work_for_every_unit(record: Record, kind: str, units: int, numbers: int) -> None:
    found = words_of(sizes(on_device(record, type=kind, compute_units=units)))
    assert found["accumulators"] == numbers
    assert numbers % 4096 == 0


def test_without_a_device_the_defaults_serve(record: Record) -> None:
    ranks = [rank.model_copy(update={"device": None}) for rank in record.ranks]
    assert sizes(record.model_copy(update={"ranks": ranks})) == []


@pytest.mark.parametrize(
    ("made", "kind", "only", "types"),
    [
        (measure, "cpu", ["launch", *["memory,flops,link"] * 2], ["float", "double"]),
        (measure, "gpu", ["launch", *["memory,flops,link"] * 2], ["float", "double", "half", "tf32"]),
        (measure_updates, "cpu", ["launch", "random"], []),
    ],
)  # fmt: skip
def test_the_first_launch_tells_the_sizes_and_products_lie_between(
    record: Record, made: Any, kind: str, only: list[str], types: list[str]
) -> None:
    started: list[tuple[str, Sequence[str]]] = []

    def start(benchmark: str, options: Sequence[str]) -> Record:
        started.append((benchmark, options))
        return on_device(record, type=kind)

    assert len(made(start)) == len(only) + len(types)
    limits = [words for benchmark, words in started if benchmark == "ceilings"]
    products = [words for benchmark, words in started if benchmark == "gemm"]
    assert [words[words.index("--only") + 1] for words in limits] == only
    assert [words[words.index("--type") + 1] for words in products] == types
    assert all("--size" in words for _, words in started[1:])
    assert "--size" not in started[0][1]
    if products:  # between the launches that measure limits
        assert [benchmark for benchmark, _ in started][1:3] == ["ceilings", "gemm"]
        assert started[-1][0] == "ceilings"


def test_launches_go_on_until_the_best_two_agree(record: Record) -> None:
    times = iter([0.2, 0.1, 0.15, 0.105, 0.1])
    started: list[str] = []

    def start(benchmark: str, options: Sequence[str]) -> Record:
        started.append(benchmark)
        if options[:2] == ("--only", "memory,flops,link"):
            return of_cases(record, ceiling(record, "memory/read", next(times)))
        return record

    measure(start)
    assert started.count("ceilings") == 1 + 4


def test_of_two_launches_the_better_counts(record: Record) -> None:
    launches = [
        of_cases(record, ceiling(record, "memory/read", seconds, work={"bytes_read": 1e9}))
        for seconds in (0.2, 0.1, 0.4)
    ]
    assert [entry.gb_s for entry in device_table(launches).memory] == [10]


def test_products_tell_the_part_of_the_peak_that_kernels_reach(record: Record) -> None:
    peak = {"work": {"flops": 1e11}, "labels": {"type": "float", "units": "vector"}}
    limits = of_cases(record, ceiling(record, "flops/float", 1.0, **peak))
    product = ceiling(record, "float/512", 2.0, work={"flops": 1e11}, labels={"type": "float"})
    product = product.model_copy(update={"facts": {"variant": "nd_range"}})
    about = record.benchmark.model_copy(update={"name": "gemm"})
    products = of_cases(record, product).model_copy(update={"benchmark": about})
    table = device_table([limits, products])
    assert table.share_of_peak("gemm", "float", "nd_range", matrix=False) == pytest.approx(0.5)
    assert table.share_of_peak("gemm", "float", "library", matrix=False) == 1
    (expected,) = gemm.expect(products, Figures(None, table, by_all_ranks=True)).values()
    assert expected.seconds == pytest.approx(2.0)
    assert expected.bound == "peak for float"


def test_limits_are_those_of_the_best_repetition(record: Record) -> None:
    read = {"bytes_read": 1e9}
    cases = [
        ceiling(record, "launch/wait", 50e-6, 5),
        ceiling(record, "launch/row", 20e-6, 10),
        ceiling(
            record,
            "flops/float",
            2.0,
            2,
            work={"flops": 2e11},
            labels={"type": "float", "units": "vector"},
        ),
        ceiling(
            record,
            "flops/matrix_half",
            1.0,
            work={"flops": 8e14},
            labels={"type": "half", "units": "matrix"},
        ),
        ceiling(record, "memory/read", 0.1, work=read),
        ceiling(record, "memory/copy", 0.1, work={**read, "bytes_written": 1e9}),
        ceiling(
            record,
            "memory/write",
            0.1,
            work={"bytes_written": 1e9},
            outcome=Outcome(status="failed", reason="wrong"),
        ),
        ceiling(record, "random/update/1024", 0.5, work={"updates": 1e8}, labels={"bytes": 1024}),
        ceiling(record, "random/atomic/1024", 1.0, work={"updates": 1e8}, labels={"bytes": 1024}),
    ]
    known = on_device(record, name="a CPU", cache_bytes=7)
    table = device_table([of_cases(known, *cases[:2]), of_cases(known, *cases[2:])])
    assert (table.name, table.cache_bytes) == ("a CPU", 7)
    assert table.launch is not None
    assert (table.launch.wait_us, table.launch.row_us) == (10, 2)
    assert [(peak.type, peak.units, peak.gflop_s) for peak in table.peaks] == [
        ("float", "vector", 200),
        ("half", "matrix", 8e5),
    ]
    assert [(entry.access, entry.gb_s) for entry in table.memory] == [("read", 10), ("copy", 20)]
    assert [(entry.atomic, entry.gup_s) for entry in table.random] == [(False, 0.2), (True, 0.1)]
    assert {entry.table_bytes for entry in table.random} == {1024}


@pytest.mark.parametrize(
    ("short_s", "long_s", "latency_us", "gb_s"),
    [(10e-6, 110e-6, 10, 10), (10e-6, 10e-6, 10, None), (20e-6, 10e-6, 10, None)],
)
def test_the_link_is_a_line_through_two_copies(
    record: Record, short_s: float, long_s: float, latency_us: float, gb_s: float | None
) -> None:
    """A longer copy in the same time gives no bandwidth."""
    copies = [
        ceiling(record, f"link/read/{size}", seconds, labels={"bytes": size})
        for size, seconds in ((10**6, long_s), (8, short_s))
    ]
    link = device_table([of_cases(record, *copies)]).link
    assert link is not None
    (line,) = link.read
    assert line.latency_us == pytest.approx(latency_us)
    assert line.bandwidth_gb_s == (pytest.approx(gb_s) if gb_s else None)
    assert link.write == []


def test_what_was_not_measured_is_absent(record: Record) -> None:
    table = device_table([of_cases(record, ceiling(record, "launch/wait", 1e-5))])
    assert table.launch is None
    assert table == DeviceTable(name=table.name, cache_bytes=table.cache_bytes, link=table.link)


@pytest.mark.parametrize(("wide", "disturbed"), [(0, False), (1, False), (2, True)])
def test_many_wide_intervals_are_a_disturbance(record: Record, wide: int, disturbed: bool) -> None:
    """More than a quarter of the cases, each beyond 10 % to a side; the median is 2."""
    cases = [
        ceiling(record, f"memory/{i}", 1.0, interval=[1.7, 2.3] if i < wide else [1.9, 2.1])
        for i in range(4)
    ]
    assert is_disturbed([of_cases(record, *cases)]) == disturbed


def test_a_run_calibrates_what_its_model_needs(record: Record) -> None:
    """Limits and updates are learnt apart, and joined where both are known."""
    alone = of_cases(record, ceiling(record, "memory/read", 0.1, work={"bytes_read": 1e9}))
    random = ceiling(record, "random/update/8", 1.0, work={"updates": 1e9}, labels={"bytes": 8})
    about = record.benchmark.model_copy(update={"name": "random_access"})
    asked = alone.model_copy(update={"benchmark": about})
    system = System(system=Identity(name="local", description="", source=""))
    system = system.with_calibration(calibration("device", [alone], "device -n 2", 1))
    assert not is_covered(asked, system)
    system = system.with_calibration(
        calibration("updates", [of_cases(record, random)], "updates -n 2", 1)
    )
    assert is_covered(asked, system)
    assert [made.need for made in system.calibrations] == ["device", "updates"]
    device = system.figures_under(conditions_of(asked)).device
    assert device is not None
    assert (device.memory[0].gb_s, device.random[0].gup_s) == (10, 1)
    assert request_text("updates", 2, [], {"runtime": "native"}) == "updates -n 2 --runtime native"


def test_the_first_table_that_knows_counts() -> None:
    one = DeviceTable(name="a", memory=[Memory(gb_s=1, source="s")])
    other = DeviceTable(name="b", random=[RandomUpdates(gup_s=2, source="s")], cache_bytes=3)
    both = joined([one, other])
    assert both == one.model_copy(update={"random": other.random, "cache_bytes": 3})
    assert joined([DeviceTable(), one]) == one
    assert not Figures(None, one).has("updates")
    assert Figures(None, both).has("updates")
    assert not Figures(None, both).has("legs")


def test_a_limit_is_one_entry(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a case of ceilings to the figure, the roofline's bound and the advice."""
    new = limits.rate(
        "local memory bandwidth",
        "local",
        lambda work: work.bytes_read,
        advice="Larger tiles would raise it.",
        in_caches=True,
    )
    for module in (roofline, device):
        monkeypatch.setattr(module, "LIMITS", (*limits.LIMITS, new))
    reached = ceiling(record, "local/read", 1e-3, work={"bytes_read": 5e9})
    table = device_table([of_cases(record, reached)])
    assert [(row.limit, row.per_s) for row in table.rates] == [("local memory bandwidth", 5e12)]
    assert "local" in device._first(lambda *_: record, "device")[1][1].split(",")
    demand = limits.Demand("float", amounts={new.bound(limits.Demand()): 1e13})
    one = case(record, "tiles", 4.0)
    found = roofline.expect(record, one, Figures(None, table, by_all_ranks=True), demand)
    assert (found.seconds, found.bound, found.reason) == (2.0, "local memory bandwidth", None)
    judged = JudgedCase(expected_s=2.0, ratio=2.0, verdict="slow", bound=found.bound)
    assert hints.advice(record, [hints.Member(one, found, judged)])[-1] == (
        "tiles is bound by local memory bandwidth. Larger tiles would raise it. "
        "No other bound is known."
    )
    bare = roofline.expect(record, one, Figures(None, DeviceTable()), demand)
    assert bare.reason == "the system has no local memory bandwidth"
