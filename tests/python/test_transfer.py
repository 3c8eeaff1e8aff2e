"""Ways of getting a message from one device to another: equations 4.2 to 4.7 and 5.1, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.model import messages
from plumbline.model.benchmarks import b_eff
from plumbline.model.transfer import Transfer, segments_s, transfer_of, transfers_of
from plumbline.system.files import load_system
from plumbline.system.segments import Segment, time_of
from plumbline.system.system import (
    Accl,
    Channel,
    Commands,
    Copies,
    Identity,
    Legs,
    MeasuredTransfer,
    Stack,
    System,
)

NOCTUA = load_system(ROOT / "systems" / "noctua1-520n.toml")
BARE = System(system=Identity(name="bare", description="", source=""))


def leg(latency_us: float, gb_s: float) -> list[Segment]:
    return [Segment(latency_us=latency_us, bandwidth_gb_s=gb_s, source="s")]


FULL = System(
    system=Identity(name="full", description="", source=""),
    legs=Legs(launch=leg(30, 1e6), read=leg(10, 8), exchange=leg(1, 12.5), write=leg(20, 8)),
    channel=Channel(
        count=4, latency_ns=520, frequency_mhz=156.25, width_bytes=32, source="table 4.2"
    ),
    accl=Accl(
        commands=Commands(host_us=30, device_us=0.24, source="c"),
        copies=Copies(latency_us=1.7, gb_s=14, source="m"),
        stacks=[
            Stack(name="udp", latency_us=1.26, gb_s=12.5, switch_us=1, source="u"),
            Stack(name="tcp", latency_us=2, gb_s=12.5, switch_us=1, switch_gb_s=8.5, source="t"),
        ],
    ),
)


def test_equation_4_7() -> None:
    """2 / (1/12.5 + 2/8) = 2 / (0.08 + 0.25) = 2 / 0.33 = 6.0606."""
    assert messages.staged_peak(12.5e9, 8e9) == pytest.approx(6.0606e9, rel=1e-5)


def test_equation_4_3() -> None:
    """1,000 B over 2 channels of 32 B: ceil(15.625) = 16 ticks of 6.4 ns, and 520 ns: 622.4 ns."""
    found = messages.channel_s([1, 64, 65, 1000], 32, 156.25e6, 520e-9)
    assert found * 1e9 == pytest.approx([526.4, 526.4, 532.8, 622.4])
    assert messages.channel_s(1000, 32, 156.25e6, 520e-9, messages=3) == pytest.approx(1867.2e-9)


def test_equation_4_4_and_the_sum_that_the_source_does_not_get() -> None:
    """Over 21 sizes 7.77 GB/s a pair; 8.16 where the same sum is divided by 20; never 8.17."""
    bandwidths = b_eff.printed_channel_bandwidth(b_eff.message_sizes())
    assert bandwidths[10] == pytest.approx(2 * 1024 / 622.4e-9)
    assert b_eff.effective_bandwidth(bandwidths) == pytest.approx(7.7718e9, rel=1e-4)
    assert bandwidths.sum() / 20 == pytest.approx(8.1604e9, rel=1e-4)
    times = messages.channel_s(b_eff.message_sizes(), 32, 156.25e6, 520e-9)
    assert b_eff.bandwidth(b_eff.message_sizes(), times) == pytest.approx(bandwidths)


def test_equation_5_1_and_the_peak_of_buffered_messages() -> None:
    """2 x 0.24 + 1.7 + 1.26 = 3.44 us; 1 / (1/14 + 1/12.5) = 6.604 GB/s."""
    assert messages.buffered_s(0.24e-6, 1.7e-6, 1.26e-6) == pytest.approx(3.44e-6)
    assert messages.streaming_s(0.24e-6, 1.26e-6) == pytest.approx(1.5e-6)
    assert messages.buffered_peak(14e9, 12.5e9) == pytest.approx(6.604e9, rel=1e-4)


@pytest.mark.parametrize(
    ("transport", "approach", "microseconds"),
    [
        ("mpi", None, 1 + 0.08),
        ("staged", "host-buffered", 31 + 0.08 + 0.25),
        ("staged-launch", None, 91 + 0.08 + 0.25),
        ("channel", None, 0.6224),
        ("accl-udp", None, 0.24 + 1.26 + 0.08),
        ("accl-udp", "host-streaming", 30 + 1.26 + 0.08),
        ("accl-udp", "device-buffered", 0.48 + 1.7 + 1 / 14 + 1.26 + 0.08),
        ("accl-udp-switch", "device-streaming", 0.24 + 2.26 + 0.08),
        ("accl-tcp", "host-buffered", 60 + 1.7 + 1 / 14 + 2 + 0.08),
        ("accl-tcp-switch", "device-streaming", 0.24 + 3 + 1 / 8.5),
    ],
)
def test_a_thousand_bytes(transport: str, approach: str | None, microseconds: float) -> None:
    found = transfer_of(FULL, transport, approach)
    assert found.seconds(1000) == pytest.approx(microseconds * 1e-6)
    assert found.seconds([1000, 1000]).shape == (2,)


def test_above_the_eager_limit_an_address_comes_first_and_nothing_is_copied() -> None:
    """2 l_k + l_c(64 B) + l_c(L)."""
    assert FULL.accl is not None
    limited = FULL.accl.model_copy(update={"eager_limit_bytes": 32 << 10})
    with_limit = FULL.model_copy(update={"accl": limited})
    at, above = 32 << 10, (32 << 10) + 1
    for approach, command_s in (("device-buffered", 0.24e-6), ("host-buffered", 30e-6)):
        eager = transfer_of(FULL, "accl-udp", approach)
        found = transfer_of(with_limit, "accl-udp", approach)
        assert found.seconds(at) == pytest.approx(eager.seconds(at))
        link_s = [messages.link_s(size, 1.26e-6, 12.5e9) for size in (64, above)]
        assert found.seconds(above) == pytest.approx(messages.rendezvous_s(command_s, *link_s))
        assert found.seconds([at, above])[1] == found.seconds(above)


def test_all_ways_of_a_system() -> None:
    assert len(transfers_of(FULL)) == 3 + 1 + 2 * 2 * 4
    assert transfers_of(BARE) == []
    names = {way.name for way in transfers_of(NOCTUA)}
    assert {"mpi/host-buffered", "staged/host-buffered", "channel/device-streaming"} <= names


@pytest.mark.parametrize(
    ("system", "words", "sentence"),
    [
        (BARE, ("staged",), r"no figure read in the table \[legs\]"),
        (BARE, ("channel",), r"no figure count in the table \[channel\]"),
        (BARE, ("accl-udp",), r"no figure commands in the table \[accl\]"),
        (FULL, ("chanel",), r"unknown transport chanel .*; did you mean channel\?"),
        (
            FULL,
            ("accl-udp", "host-bufered"),
            r"no approach host-bufered .*; did you mean host-buff",
        ),
        (
            BARE.model_copy(update={"channel": Channel(count=4, gb_s=12.5, source="s")}),
            ("channel",),
            r"no figure latency_ns in the table \[channel\]",
        ),
        (
            FULL.model_copy(update={"accl": Accl(commands=Commands(host_us=1, source=""))}),
            ("accl-tcp", "device-buffered"),
            r"no figure tcp in the table \[accl.stacks\]",
        ),
    ],
)
def test_what_is_unknown_is_named(system: System, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        transfer_of(system, *words)


def test_what_a_system_measured_comes_first() -> None:
    measured = Segment(latency_us=2, source="run", worst_error=0.1, largest_bytes=4096)
    own = MeasuredTransfer(transport="staged", approach="host-buffered", segments=[measured])
    system = FULL.model_copy(update={"transfers": [own]})
    found = transfer_of(system, "staged")
    assert found.seconds([1, 1e6]) == pytest.approx([2e-6, 2e-6])
    assert (found.relative_error, found.largest_bytes, found.source) == (0.1, 4096, "run")
    assert found.is_extrapolated([1, 4096, 4097]).tolist() == [False, False, True]
    assert len(transfers_of(system)) == len(transfers_of(FULL))


_segment = st.builds(
    Segment,
    latency_us=st.floats(0, 1e6),
    bandwidth_gb_s=st.none() | st.floats(1e-3, 1e3),
    source=st.just("s"),
)


@given(st.lists(_segment, min_size=1, max_size=4), st.integers(0, 2**40))
def test_segments_over_arrays_are_those_one_by_one(segments: list[Segment], size: int) -> None:
    bounded = [
        one.model_copy(update={"up_to_bytes": 8**number if number < len(segments) else None})
        for number, one in enumerate(segments, 1)
    ]
    assert segments_s(bounded, [size])[0] == pytest.approx(time_of(bounded, 1, size))


_ways: list[Transfer] = transfers_of(FULL)


@given(st.sampled_from(_ways), st.lists(st.floats(0, 1e12), min_size=2, max_size=9))
def test_time_grows_with_size_and_is_never_less_than_a_part(
    way: Transfer, sizes: list[float]
) -> None:
    seconds = way.seconds(np.sort(sizes))
    assert (np.diff(seconds) >= 0).all()
    for part in way.parts_s(np.sort(sizes)).values():
        assert (seconds >= part).all()


@given(st.floats(1, 1e9), st.floats(1e6, 1e12), st.floats(1, 100))
def test_time_falls_with_bandwidth(size: float, rate: float, faster: float) -> None:
    assert messages.line_s(size, 1e-6, rate * faster) <= messages.line_s(size, 1e-6, rate)
    assert messages.staged_peak(rate * faster, rate) >= messages.staged_peak(rate, rate)
