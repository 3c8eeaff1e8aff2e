"""Equations against hand-computed cases, and properties for any figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.model.benchmarks import (
    b_eff,
    collectives,
    fft,
    gemm,
    gups,
    hpl,
    ptrans,
    random_access,
    shallow_water,
    ssca1,
    stream,
)

# --- as printed ----------------------------------------------------------------------------------


def test_equation_3_1() -> None:
    """5 x 17 x 300e6 x 2 x 8 = 85 x 4.8e9 = 408e9; 5 x 9 x 248e6 x 1 x 8 = 89.28e9."""
    assert fft.printed_flops([17, 9], [300e6, 248e6], [2, 1]).tolist() == [408e9, 89.28e9]


def test_the_clock_of_equation_3_1_behind_a_narrow_interface() -> None:
    """32 B of the 64 B that eight points have: half of 400 MHz; 64 B and more: all of it."""
    assert fft.usable_clock(395.84e6, 400e6, 32, 8) == 200e6
    assert fft.usable_clock(395.84e6, 400e6, 128, 8) == 395.84e6


def test_equation_3_2() -> None:
    """b = 512, u = 16, g = 8, n = 4096, f_k = 160 MHz, f_mem = 256 MHz.

    262,144 / (16 x 256e6) = 64 us; 134,217,728 / (512 x 160e6) = 1,638.4 us;
    262,144 / (16 x 8 x 256e6) = 8 us: 1,710.4 us.
    """
    found = gemm.printed_block_s(512, 16, 8, 4096, 160e6, 256e6)
    assert found == pytest.approx(1710.4e-6, rel=1e-12)
    assert gemm.flops(512, 5, 1710.4e-6) == pytest.approx(5 * 2 * 512**3 / 1710.4e-6)


def test_our_reading_of_equation_3_2() -> None:
    """All load at once: 2 x 5 x 262,144 x 4 B at 76.8 GB/s are 136.53 us, more than 64 us asked."""
    assert gemm.load_s(512, 16, 256e6, 5, 4, 76.8e9) == pytest.approx(136.5333e-6, rel=1e-6)
    assert gemm.load_s(512, 16, 256e6, 1, 4, 76.8e9) == pytest.approx(64e-6)
    assert gemm.store_s(64e-6, 4096, 512) == pytest.approx(8e-6)


def test_normalised_figures() -> None:
    """Table 3.6: 708.95 / 5 / 1.6042 = 88.39. Section 4.2.4: 600 MUP/s of 4 banks at 300 MHz: 50."""
    assert gemm.normalised(708.95e9, 5, 160.42e6) == pytest.approx(88.39e9, rel=1e-4)
    assert random_access.normalised(600e6, 4, 300e6) == pytest.approx(50e6)
    assert fft.moved_rate(349.45e9, 17, 8) == pytest.approx(65.78e9, rel=1e-4)


def test_random_access() -> None:
    """32 numbers a cycle of 325 MHz; 4 banks at the slower clock, 300 MHz, two cycles an update."""
    assert random_access.generator_rate(32, 325e6) == 10.4e9
    assert random_access.bank_rate(4, 4, 325e6, 300e6) == 600e6
    assert random_access.bank_rate(2, 4, 200e6, 300e6) == 200e6


def test_stream() -> None:
    assert stream.printed_rate(4, 19.2e9) == 76.8e9
    assert stream.bank_rate(4, 19.2e9, 2) == 38.4e9
    assert stream.kernel_rate(4, 64, 280e6) == pytest.approx(71.68e9)
    assert stream.duplex_rate([1, 2], 1, 16e9).tolist() == [32e9, 24e9]


def test_equation_4_1() -> None:
    assert b_eff.message_sizes()[[0, -1]].tolist() == [1, 2**20]
    assert b_eff.effective_bandwidth([[1, 2, 6], [3, 3, 3]]).tolist() == [3, 3]


def test_equation_4_5_and_what_it_must_be() -> None:
    """b = 512, c_w = 8: 3 x 262,144 / 8 = 98,304 cycles; at 156.25 MHz 629.1456 us.

    As printed they are multiplied: 98,304 x 156.25e6 = 1.536e13 "seconds".
    """
    assert ptrans.printed_block_s(0, 512, 8, 156.25e6) == 98304 * 156.25e6
    assert ptrans.block_s(1e-3, 512, 8, 156.25e6) == pytest.approx(1.6291456e-3)


def test_equation_4_6_and_the_peak() -> None:
    """3 x 4 x 32 x 156.25e6 = 60e9; 16 x 4 x 32 x 156.25e6 = 320e9, bytes a second."""
    assert ptrans.needed_memory_rate(4, 32, 156.25e6) == 60e9
    assert ptrans.printed_peak(16, 4, 32, 156.25e6) == 320e9
    assert ptrans.exchanged_bytes(1024, [1, 4], 4).tolist() == [0, 2**20]
    assert ptrans.transposed_s(1024, 4, 4, 3 * 2**20) == pytest.approx(1)
    assert ptrans.overlapped_s(3, 2, 4) == 3.5
    assert ptrans.overlapped_s(2, 3, 1) == 5


def test_equation_5_2() -> None:
    """274 MHz, 378 x 54,272 flops, max(3420 + 0, 4000) + 201 + 687 = 4,888 cycles."""
    found = shallow_water.printed_throughput(274e6, 378 * 54272, 3420, 0, 4000, 201, 687)
    assert found == pytest.approx(274e6 * 378 * 54272 / 4888)


def test_equation_5_3() -> None:
    """As printed, (201 + 14 x 0.24e-6 + 7 x 1.7e-6) / 274e6 + 2.5e-6: all but 201 / f vanishes.

    In cycles: 201 + 274e6 x (3.36e-6 + 11.9e-6 + 2.5e-6) = 201 + 274 x 17.76 = 5,067.24.
    """
    figures = (274e6, 201, 7, 0.24e-6, 1.7e-6, 2.5e-6)
    printed = shallow_water.printed_comm(*figures)
    assert printed == pytest.approx((201 + 15.26e-6) / 274e6 + 2.5e-6)
    assert shallow_water.comm_cycles(*figures) == pytest.approx(5067.24)
    assert shallow_water.comm_cycles(274e6, 0, 0, 0.24e-6, 1.7e-6, 2.5e-6) == 0


def test_the_stall_share() -> None:
    """Section 5.2.3: 6,000 cycles of work in 25,000 to 30,000 of communication: 76 to 80 %."""
    found = shallow_water.stall_share(6000, 0, [25000, 30000, 5000], 0, 0)
    assert found == pytest.approx([0.76, 0.8, 0])


# --- ours ----------------------------------------------------------------------------------------


def hpl_sum(n: int, t: int, b: int, r: int, block: float, lu: float, panel: float) -> float:
    """The sum over all iterations, one by one; ceil(k / t) of k blocks are one device's."""
    total = 0.0
    for k in range(n // b):
        m = -(-k // t)
        total += max(m * m / r * block, lu + m * (panel + 2 * block / r))
    return total


@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.integers(1, 5),
    st.floats(1e-6, 1e-2),
    st.floats(0, 1e-1),
    st.floats(0, 1e-1),
)
def test_hpl_in_closed_form_is_its_sum(
    t: int, blocks: int, r: int, block: float, lu: float, panel: float
) -> None:
    n = 256 * t * blocks
    found = hpl.total_s(n, t, 256, r, block, lu, panel)
    # The last k is n/b - 1, of which a device has ceil((n/b - 1) / t): the whole, unless t = 1.
    assert found == pytest.approx(hpl_sum(n, t, 256, r, block, lu, panel), rel=1e-9)


@pytest.mark.parametrize("n", [100, 512, 5120, 5000])
def test_hpl_on_one_unit_of_one_device_is_its_work(n: int) -> None:
    """2 n^3 / 3 at the rate of products, 2 b^3 each, also if blocks do not divide n."""
    assert hpl.shared_s(n, 1, 512, 1e-3) == pytest.approx(n**3 / 3 / 512**3 * 1e-3, rel=1e-9)


def test_hpl_on_one_unit_of_four_devices() -> None:
    alone, four = hpl.shared_s(8192, 1, 512, 1e-3), hpl.shared_s(8192, 2, 512, 1e-3)
    assert alone / 4 < four < alone
    assert four < hpl.shared_s(8192, 2, 512, 1e-3, 1e-2) <= four + 16 * 1e-2  # of 16 steps


def test_hpl_of_one_block_and_its_kernels() -> None:
    """512^3/3 multiply-adds, 64 a cycle of 225 MHz: 3.107 ms; a block beside it 4.660 ms."""
    assert hpl.lu_s(512, 8, 225e6) == pytest.approx(3.1069e-3, rel=1e-4)
    assert hpl.panel_s(512, 8, 225e6) == pytest.approx(4.6603e-3, rel=1e-4)
    assert hpl.total_s(512, 1, 512, 5, 1e-3, 3e-3, 5e-3) == pytest.approx(3e-3)
    assert hpl.flops(3) == 18


def test_weak_scaling_from_one_device() -> None:
    """0.86 TFLOP/s at 225 MHz are 0.9326 at 244 MHz, 23.316 of 25 devices; measured: 20.8."""
    assert hpl.weak(hpl.of_clock(0.86, 225, 244), 5) == pytest.approx(23.316, rel=1e-4)


def test_collectives_of_eight() -> None:
    """L = 3, o = 1, G = 0.5 (LogGP): an empty message takes 5, one of 10 B 5 + 9 x 0.5."""
    assert collectives.tree_s([1, 2, 5, 8], 5).tolist() == [0, 5, 15, 15]
    assert collectives.ring_s(8, 9.5) == pytest.approx(66.5)
    assert collectives.two_rings_s(8, 9.5) == pytest.approx(133)
    assert collectives.doubling_s(8, 5, 35) == pytest.approx(50)
    assert collectives.scattered_s(8, 5, 35, 9.5) == pytest.approx(15 + 35 + 66.5)


def test_gups() -> None:
    """Of 4 ranks' updates a quarter is local: 0.25 x 10 ns + 0.75 x 1 us = 752.5 ns."""
    assert gups.update_s(4, 10e-9, 1e-6) == pytest.approx(752.5e-9)
    assert gups.update_s(4, 10e-9, 1e-6, window=10) == pytest.approx(77.5e-9)
    assert gups.machine_rate(1, 10e-9, 1e-6) == pytest.approx(1e8)
    assert gups.machine_rate(4, 10e-9, 1e-12) == pytest.approx(4e8)


def test_ssca1() -> None:
    """L = 4175 on 2 ranks, 16 lanes of 32 bits, bands of 131 rows, 102.4 GFLOP/s.

    A cell: 17 x 2 / 102.4e9 = 332 ps, half of it in 16 bits. 522 blocks + 15 = 537 steps of
    131 x 16 x 8 = 16,768 cells; the second rank begins 128/8 + 15 = 31 steps later.
    33 tiles, of which the lanes' lead of 15 steps covers all but the first; 8 operations for each of 4175^2 / 2 = 8,715,312.5 cells; 8,349 anti-diagonals.
    """
    cell = ssca1.cell_s(102.4e9, 32)
    assert cell == pytest.approx(332.03125e-12)
    assert ssca1.cell_s(102.4e9, 16) == pytest.approx(cell / 2)
    assert ssca1.steps(4175, 32) == 537
    assert ssca1.steps(4175, 16) == 553
    assert ssca1.fill_steps(2, 128, 32) == 31
    assert ssca1.fill_steps(1, 128, 32) == 0
    assert ssca1.step_s(4175, 2, 32, 1e-9) == pytest.approx(16.768e-6)
    assert ssca1.tiles_s(4175, 2, 128, 32, 0, 1e-6) == pytest.approx(33e-6)
    assert ssca1.tiles_s(4175, 3, 128, 32, 0, 1e-6) == pytest.approx(34e-6)
    assert ssca1.tiles_s(4175, 2, 128, 32, 16e-6, 1e-6) == pytest.approx(1e-6)  # the lanes' lead
    assert ssca1.tiles_s(4175, 1, 128, 32, 0, 1e-6) == 0
    assert ssca1.put_get_s(4175, 2, 100e-9, 50e-9) == pytest.approx(8715312.5 * 650e-9)
    assert ssca1.barriers_s(4175, 2, 1e-6) == pytest.approx(8349e-6)
    assert ssca1.barriers_s(4175, 8, 1e-6) == pytest.approx(3 * 8349e-6)


# --- whatever the figures are --------------------------------------------------------------------

positive = st.floats(1e-3, 1e3)


@given(positive, positive, st.floats(1, 100))
def test_rates_grow_with_clocks_and_banks(clock: float, interface: float, more: float) -> None:
    for one, other in (
        (
            random_access.bank_rate(4, 4, clock, interface),
            random_access.bank_rate(4, 4, clock * more, interface * more),
        ),
        (stream.kernel_rate(4, 64, clock), stream.kernel_rate(4, 64, clock * more)),
        (fft.printed_flops(17, clock, 2), fft.printed_flops(17, clock * more, 2)),
        (stream.bank_rate(4, interface, 4), stream.bank_rate(4 * more, interface, 4 * more)),
    ):
        assert other >= one


@given(st.integers(1, 64), positive, positive, st.floats(1, 100))
def test_blocks_take_longer_with_slower_memory(
    r: int, clock: float, rate: float, slower: float
) -> None:
    assert gemm.load_s(512, 8, clock, r, 4, rate / slower) >= gemm.load_s(512, 8, clock, r, 4, rate)


@given(st.integers(0, 9000), st.floats(0, 1e5), st.floats(0, 1e5))
def test_a_step_is_never_shorter_than_its_parts(core: int, comm: float, more: float) -> None:
    cycles = shallow_water.step_cycles(core, 10, comm, 100, 687)
    assert cycles >= core + 10 + 100 + 687
    assert cycles >= comm
    assert shallow_water.step_cycles(core, 10, comm + more, 100, 687) >= cycles
    assert 0 <= shallow_water.stall_share(core, 10, comm, 100, 687) < 1


@given(st.integers(1, 4096), st.integers(1, 4096), st.floats(0, 1), st.floats(0, 1))
def test_collectives_take_longer_with_more_ranks(p: int, more: int, one: float, add: float) -> None:
    for algorithm in (collectives.tree_s, collectives.ring_s, collectives.two_rings_s):
        assert algorithm(p + more, one) >= algorithm(p, one)
        assert algorithm(p, one + add) >= algorithm(p, one)


@given(st.integers(1, 8), st.integers(1, 20), st.floats(0, 1e-2))
def test_hpl_takes_longer_the_larger_and_the_more_is_exchanged(
    t: int, blocks: int, exchange: float
) -> None:
    def seconds(blocks: int, exchange: float) -> float:
        return float(hpl.total_s(512 * t * blocks, t, 512, 5, 1e-3, 3e-3, 5e-3, exchange, exchange))

    assert seconds(blocks + 1, exchange) > seconds(blocks, exchange)
    assert seconds(blocks, exchange) >= seconds(blocks, 0)


def test_arrays_go_through_every_equation() -> None:
    ones = np.ones((2, 3))
    assert gemm.printed_block_s(ones, 1, 1, 1, 1, 1).shape == (2, 3)
    assert hpl.total_s(512 * ones, 1, 512, 5, 1, 1, 1).shape == (2, 3)
    assert shallow_water.comm_cycles(ones, 1, 1, 1, 1, 1).shape == (2, 3)
    assert fft.passes(10 * ones, 4).shape == (2, 3)
