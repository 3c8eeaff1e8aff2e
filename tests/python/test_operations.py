"""One-sided operations: LogGP from records of shoms, their rows, and GUPS predicted from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from conftest import Plumb
from hypothesis import given, settings
from hypothesis import strategies as st
from test_device_models import case, record_of

from plumbline.calibrate.calibrate import calibration
from plumbline.calibrate.operations import is_disturbed
from plumbline.fit.operations import fit_operations
from plumbline.fit.records import fit_records
from plumbline.judge.explain import explained, write
from plumbline.judge.judgement import judge
from plumbline.judge.promise import conditions_of
from plumbline.model.benchmarks import gups
from plumbline.model.benchmarks import gups as equations
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, RandomUpdates
from plumbline.system.files import load_system, save_system
from plumbline.system.operations import Operation, scattered_s
from plumbline.system.system import Figures, Identity, System

Golden = Callable[[str, str], None]
NS = 1e-9
SIZES = [8, 64, 512, 4096, 32768, 2**18]
TABLE = 2**22


def shmem(record: Record, name: str, *cases: Case, ranks: int = 2, **parameters: object) -> Record:
    """A record over OpenSHMEM."""
    world = record.world.model_copy(update={"kind": "shmem", "library": "L", "ranks": ranks})
    made = record_of(record, name, *cases, **parameters)
    return made.model_copy(update={"world": world})


def measured_tests(
    record: Record, test: str, kind: str, seconds_of: Callable[[int], float], sizes: Iterable[int]
) -> list[Case]:
    """A case of ``shoms`` for each size; 0: of a word, without one."""
    return [
        case(
            record,
            f"{test}/{size}" if size else test,
            seconds_of(size),
            labels={"test": test, "kind": kind, **({"bytes": size} if size else {})},
        )
        for size in sizes
    ]


def row(name: str, empty_ns: float, gap_ns: float | None = None, **more: object) -> Operation:
    return Operation.model_validate(
        {
            "name": name,
            "world": "shmem",
            "library": "L",
            "ranks": 2,
            "empty_us": empty_ns * 1e-3,
            "gap_us": gap_ns * 1e-3 if gap_ns is not None else None,
            "source": "s",
            **more,
        }
    )


ROWS = [
    row("long_g", 100),
    row("long_g", 120, spread_bytes=2**16),
    row("long_g", 300, spread_bytes=2**26),
    row("long_p", 50),
    row("long_p", 60, spread_bytes=2**16),
    row("putmem", 40, 20, gap_per_byte_ns=0.1),
    row("ulong_atomic_xor", 80, 30),
    row("ulong_atomic_set", 70),
    row("gups_bucketed", 9),
]
DEVICE = DeviceTable(
    random=[
        RandomUpdates(table_bytes=2**14, gup_s=0.5, source="s"),
        RandomUpdates(table_bytes=2**21, gup_s=0.25, source="s"),
    ]
)


def updated(record: Record, **changes: object) -> Record:
    """A record of gups: every variant, 1000 updates of each rank, in caches of 2 MiB."""
    cases = [
        case(
            record,
            f"{variant}/{TABLE}",
            seconds,
            labels={"variant": variant, "table_bytes": TABLE, "threads": 4},
            work={"updates": 1000},
            facts={"updates_done": 1.0},
        )
        for variant, seconds in (
            ("get-put", 220e-6),
            ("atomic", 300e-6),
            ("bucketed", 11e-6),
            ("threaded", 30e-6),
        )
    ]
    made = shmem(record, "gups", *cases)
    own = made.ranks[0].device
    assert own is not None
    device = own.model_copy(update={"cache_bytes": TABLE // 2})
    ranks = [one.model_copy(update={"device": device, "cores": [0, 1]}) for one in made.ranks]
    return made.model_copy(update={"ranks": ranks, **changes})


def system(*rows: Operation) -> System:
    return System(
        system=Identity(name="test", description="", source=""),
        device=DEVICE,
        operations=list(rows),
    )


# --- from records to rows ------------------------------------------------------------------------


@given(st.floats(100, 5000), st.floats(10, 500), st.floats(0.01, 0.05))
@settings(max_examples=30, deadline=None)
def test_a_put_is_found_again(
    record_of_all: Record, empty_ns: float, gap_ns: float, byte_ns: float
) -> None:
    def alone(size: int) -> float:
        return (empty_ns + (size - 1) * byte_ns) * NS

    def streamed(size: int) -> float:
        return max(gap_ns, (size - 1) * byte_ns) * NS

    base = record_of_all
    single = shmem(base, "shoms", *measured_tests(base, "putmem", "put", alone, SIZES), window=1)
    many = shmem(
        base, "shoms", *measured_tests(base, "putmem", "put", streamed, SIZES), window=1024
    )
    (found,), (part,) = fit_operations([single, many])
    assert found.gap_per_byte_ns == pytest.approx(byte_ns, rel=0.02)
    assert found.gap_us == pytest.approx(gap_ns * 1e-3, rel=1e-3)
    assert found.empty_us == pytest.approx(empty_ns * 1e-3, rel=0.01)
    assert part.what == "operation putmem"
    assert (found.world, found.library, found.ranks, found.source) == ("shmem", "L", 2, "fitted")


@pytest.fixture(scope="module")
def record_of_all() -> Record:
    """The record made by hand, for tests that try many figures."""
    from conftest import DATA

    from plumbline.record.record import load_record

    return load_record(DATA / "record.json")


@given(st.floats(5, 5000), st.floats(1, 500))
@settings(max_examples=30, deadline=None)
def test_words_in_a_row_tell_their_gap(
    record_of_all: Record, empty_ns: float, gap_ns: float
) -> None:
    def seconds(size: int) -> float:
        return (empty_ns + (size // 8 - 1) * gap_ns) * NS

    cases = measured_tests(record_of_all, "long_p", "p", seconds, SIZES[:4])
    (found,), (part,) = fit_operations([shmem(record_of_all, "shoms", *cases)])
    assert found.empty_us == pytest.approx(empty_ns * 1e-3, rel=1e-3)
    assert found.gap_us == pytest.approx(gap_ns * 1e-3, rel=1e-3)
    assert found.gap_per_byte_ns is None
    assert not part.misfits


def test_atomics_scattered_words_and_more_pes(record: Record) -> None:
    """With four PEs a count is three operations; a fetching operation's gap is its own time."""
    xor = measured_tests(record, "ulong_atomic_xor", "xor", lambda _: 90 * NS, [0])
    fetching = measured_tests(record, "long_fadd", "fadd", lambda _: 60 * NS, [0])
    got = measured_tests(record, "long_g", "g", lambda _: 30 * NS, [8])
    one_by_one = shmem(record, "shoms", *xor, *fetching, ranks=4)
    far = shmem(record, "shoms", *got, ranks=4, spread=20)
    rows, parts = fit_operations([one_by_one, far])
    found = {one.name: one for one in rows}
    assert found["ulong_atomic_xor"].empty_us == pytest.approx(0.03)
    assert found["ulong_atomic_xor"].gap_us is None
    assert found["long_fadd"].gap_us == pytest.approx(0.02)
    assert found["long_g"].spread_bytes == 2**20
    assert "operation long_g, over 1048576 B" in [part.what for part in parts]


def test_what_is_begun_and_not_waited_for_is_a_gap(record: Record) -> None:
    (put,) = measured_tests(record, "long_put", "put", lambda _: 90 * NS, [8])
    begun = put.model_copy(update={"tallies": {"injection_s": 640 * NS, "injections": 64.0}})
    (found,), _ = fit_operations([shmem(record, "shoms", begun)])
    assert found.gap_us == pytest.approx(0.01)


def test_other_tests_and_other_ways_tell_nothing(record: Record) -> None:
    summed = measured_tests(record, "long_sum_to_all", "reduction", lambda _: 1e-6, [8])
    put = measured_tests(record, "long_put", "put", lambda _: 1e-6, [8])
    for made in (
        shmem(record, "shoms", *summed),
        shmem(record, "shoms", *put, threads=4),
        shmem(record, "shoms", *put, **{"off-cache": True}),
        shmem(record, "shoms", *put, affinity=True),
        shmem(record, "shoms", *put, window=8),
        shmem(record, "other", *put),
    ):
        assert fit_operations([made]) == ([], [])


def test_fit_writes_rows_that_read_again(record: Record, tmp_path: Path) -> None:
    cases = measured_tests(
        record, "long_p", "p", lambda size: (22 + 11 * size / 8) * NS, [8, 64, 512]
    )
    base = system(row("long_p", 1), row("long_g", 2))
    fit = fit_records([shmem(record, "shoms", *cases)], "x", base, 4)
    assert [(one.name, one.source) for one in fit.system.operations] == [
        ("long_g", "s"),
        ("long_p", "fitted"),
    ]
    save_system(fit.system, tmp_path / "x.toml", "c")
    assert load_system(tmp_path / "x.toml") == fit.system


def test_the_help_of_fit_names_its_argument(plumb: Plumb, home: Path) -> None:
    status, out, _ = plumb("fit", "--help")
    assert status == 0
    assert out.split("\n")[0].endswith("plumb fit [OPTIONS] RECORD...")
    assert "{" not in out


@given(st.lists(st.tuples(st.integers(1, 2**30), st.floats(0, 1e3)), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_scattered_words_take_what_lies_between(points: list[tuple[int, float]]) -> None:
    known = dict(zip(sorted(n for n, _ in points), sorted(more for _, more in points), strict=True))
    rows = [row("a", 5), *(row("a", 5 + more, spread_bytes=n) for n, more in known.items())]
    for length, extra in known.items():
        assert scattered_s(rows, "a", length) == pytest.approx(extra * NS, abs=1e-15)
    for size in (1, 2**15, 2**40):
        found = scattered_s(rows, "a", size)
        assert found is not None
        assert min(known.values()) * NS - 1e-15 <= found <= max(known.values()) * NS + 1e-15
    disturbed = [*rows, row("a", 1e6, spread_bytes=1)]
    assert scattered_s(disturbed, "a", 1) == pytest.approx(min(known.values()) * NS, abs=1e-15)
    assert scattered_s(rows, "b", 8) is None
    assert scattered_s(rows[:1], "a", 8) is None


# --- from rows to GUPS ---------------------------------------------------------------------------


def test_shares_worked_by_hand() -> None:
    assert equations.held_share(100, 1000) == 1
    assert equations.held_share(100, 50) == pytest.approx(0.5)
    assert equations.bucket_updates(2) == pytest.approx(512 / 3)
    assert equations.bucket_updates(1) == equations.POOL
    assert equations.in_a_row_s(1.0, 1.0) == 1.0
    assert equations.bucket_share_s(2, 512 / 3) == pytest.approx(0.5)
    assert equations.look_ahead_s(2, 768.0) == pytest.approx(0.5)


def test_each_variant_worked_by_hand(record: Record) -> None:
    """The table is twice as long as the caches."""
    made = updated(record)
    found = gups.expect(made, Figures(None, DEVICE, operations=ROWS))
    extra = 20 + (200 - 20) * 0.6  # 2^22 between 2^16 and 2^26, in the logarithm
    parts = {key.split("/")[0]: one.parts for key, one in found.items()}
    assert parts["get-put"]["latency of messages"] == pytest.approx(150e-6)
    assert parts["get-put"]["scattered words"] == pytest.approx((extra + 0.5 * 10) * 1e-6)
    each = 30 + 50 / 1024
    assert parts["atomic"]["gap of messages"] == pytest.approx(each * 1e-6)
    assert parts["atomic"]["scattered words"] == pytest.approx(extra * 1e-6)
    # Four threads on two cores: the plain operation, because none in a context is known.
    assert parts["threaded"]["gap of messages"] == pytest.approx(each * 1e-6 / 2)
    buckets = 0.5 * ((8 * (1 + 512 / 3) - 1) * 0.1 + 140) / (512 / 3)
    assert parts["bucketed"]["buckets"] == pytest.approx(buckets * 1e-6)
    assert parts["bucketed"]["own updates"] == pytest.approx((9 - buckets + 2) * 1e-6)
    assert found[f"bucketed/{TABLE}"].bound == "own updates"
    assert all(one.seconds == pytest.approx(sum(one.parts.values())) for one in found.values())


def test_a_long_round_trip_is_bounded_by_the_look_ahead(record: Record) -> None:
    far = [one for one in ROWS if one.name != "putmem"] + [row("putmem", 1e6, 20)]
    found = gups.expect(updated(record), Figures(None, DEVICE, operations=far))
    assert found[f"bucketed/{TABLE}"].bound == "look-ahead"
    assert found[f"bucketed/{TABLE}"].seconds == pytest.approx(0.5 * 1e6 * 1e-6 / 768, rel=0.01)


def test_the_time_bound_leaves_fewer_updates(record: Record) -> None:
    whole, part = updated(record), updated(record)
    part = part.model_copy(
        update={
            "cases": [
                one.model_copy(update={"facts": {"updates_done": 0.25}}) for one in part.cases
            ]
        }
    )
    figures = Figures(None, DEVICE, operations=ROWS)
    all_of_it, some = gups.expect(whole, figures), gups.expect(part, figures)
    for key, one in all_of_it.items():
        assert some[key].seconds == pytest.approx(0.25 * (one.seconds or 0))


@pytest.mark.parametrize(
    ("without", "reason"),
    [
        ("long_g", "the system has no operation long_g"),
        ("long_p", "the system has no operation long_p"),
        (2**16, "the system has no operation long_g over scattered words"),
    ],
)
def test_what_is_unknown_is_named(record: Record, without: object, reason: str) -> None:
    rows = [
        one
        for one in ROWS
        if (one.name != without if isinstance(without, str) else one.spread_bytes is None)
    ]
    found = gups.expect(updated(record), Figures(None, DEVICE, operations=rows))
    assert found[f"get-put/{TABLE}"].reason == reason


def test_over_windows_of_mpi_there_is_a_reason(record: Record) -> None:
    """Rows of one world say nothing of another, though the library has the same name."""
    made = updated(record)
    over_mpi = made.model_copy(
        update={"world": made.world.model_copy(update={"kind": "mpi", "library": "L"})}
    )
    line = judge(over_mpi, system(*ROWS), 0.25).line
    assert line == "no model: the system has no one-sided operations over mpi"
    local = System(system=Identity(name="local", description="", source=""))
    assert "shoms measures one-sided operations" in judge(over_mpi, local, 0.25).line
    assert (
        judge(made, system(), 0.25).line == "no model: the system test has no one-sided operations"
    )
    own = [one.model_copy(update={"world": "mpi"}) for one in ROWS]
    assert judge(over_mpi, system(*own), 0.25).judged is not None


def test_one_rank_sends_nothing(record: Record) -> None:
    made = updated(record)
    alone = made.model_copy(update={"world": made.world.model_copy(update={"ranks": 1})})
    found = gups.expect(alone, Figures(None, DEVICE, operations=ROWS))
    assert {one.reason for one in found.values()} == {"a single rank sends nothing"}


def test_explained_with_what_would_raise_it(record: Record, golden: Golden) -> None:
    golden(
        "explain-gups.txt",
        write(explained(updated(record), system(*ROWS), 0.25), "text", all_cases=True),
    )


def test_a_calibration_is_its_worlds_and_knows_its_need(record: Record) -> None:
    cases = measured_tests(record, "long_p", "p", lambda size: size * NS, [8, 64])
    made = calibration("operations", [shmem(record, "shoms", *cases)], "operations -n 2", 1)
    assert made.need == "operations"
    assert made.operations[0].source == "measured"
    local = system().with_calibration(made)
    under = local.figures_under(conditions_of(shmem(record, "gups")))
    assert under.has("operations")
    assert not under.has("legs")
    assert not local.figures_under(conditions_of(shmem(record, "gups", ranks=3))).has("operations")
    assert json.loads(made.model_dump_json())["operations"][0]["name"] == "long_p"


@pytest.mark.parametrize(("later", "disturbed"), [(1.1, False), (2.0, True)])
def test_two_launches_tell_a_disturbance(record: Record, later: float, disturbed: bool) -> None:
    def launched(factor: float) -> Record:
        cases = measured_tests(record, "long_p", "p", lambda size: factor * size * NS, [8, 64])
        return shmem(record, "shoms", *cases)

    assert is_disturbed([launched(1), launched(later)]) == disturbed
