"""HPL: a blocked, right-looking LU over a t x t torus of devices; updates hide communication.

Source: Meyer 2024, section 4.1.3 and figures 4.4 to 4.8 (dependencies), section 4.2.3 (the
extrapolation from one device), eq. 3.2 with n = b (section 4.2.3: multiplications "work on smaller
matrix sizes of just a single block"). The source prints no equation for one device; this one is
ours, from its description of the kernels. N is the matrix's width, b a block's, m the blocks left
in a row of one device. Times in seconds.

In iteration m the critical path is the LU of a block, then m blocks to the right and, at the same
time, m below, each after the other, and the first row and column of the update, without which the
next iteration cannot start; the rest of the m^2 products overlaps. So

    T(m) = max(m^2 / r block, lu + exchange + m (panel + 2 block / r + exchange of a block))
    time = T(0) + t sum of T(m) for m = 1 ... N/(b t) - 1, and (t - 1) T(N/(b t))

because ceil(k / t) of the k global blocks left are one device's.

*A forecast.* The LU of an N x N matrix, N = ``size``, over a torus with P = Q.

``single``, the measured rate of one device, is the start of the weak scaling of section 4.2.3, by
the clock, in ``printed``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plumbline.model import boards
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.benchmarks import gemm
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    beyond,
    bitstream_of,
    device_of,
    side_of,
    size_of,
)
from plumbline.model.prediction import Prediction
from plumbline.model.shared import Shared
from plumbline.model.transfer import transfer_of
from plumbline.system.system import System, known

# --- equations ------------------------------------------------------------------------------------


def flops(n: ArrayLike) -> Floats:
    """Section 4.1.3: 2 N^3 / 3 for the decomposition."""
    return floats(2 * floats(n) ** 3 / 3)


def lu_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """A block's decomposition: b^3/3 multiply-adds, g^2 a cycle (unrolled in two dimensions)."""
    return floats(floats(b) ** 3 / 3 / (floats(g) ** 2 * floats(clock)))


def panel_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """A block of the row or column, solved with L or U: b^3/2 multiply-adds, g^2 a cycle."""
    return floats(floats(b) ** 3 / 2 / (floats(g) ** 2 * floats(clock)))


def total_s(
    n: ArrayLike,
    torus: ArrayLike,
    b: ArrayLike,
    r: ArrayLike,
    block: ArrayLike,
    lu: ArrayLike,
    panel: ArrayLike,
    exchange: ArrayLike = 0.0,
    block_exchange: ArrayLike = 0.0,
) -> Floats:
    """The sum above, in closed form: linear up to the crossing, quadratic beyond it.

    ``block`` is one product of blocks in one of r replications; ``exchange`` the exchange of an
    iteration independent of m, ``block_exchange`` that of each of m blocks.
    """
    t, last = floats(torus), floats(n) / (floats(b) * floats(torus))
    square = floats(block) / floats(r)
    fixed = floats(lu) + floats(exchange)
    linear = floats(panel) + 2 * square + floats(block_exchange)
    crossing = (linear + np.sqrt(linear**2 + 4 * square * fixed)) / (2 * square)

    def longest(m: Floats) -> Floats:
        return floats(np.maximum(square * m**2, fixed + linear * m))

    end = np.maximum(last - 1, 0)
    split = np.minimum(np.floor(crossing), end)
    paths = fixed * split + linear * split * (split + 1) / 2
    updates = square * (_squares(end) - _squares(split))
    return floats(fixed + t * (paths + updates) + (t - 1) * longest(last))


def shared_s(
    n: float,
    torus: int,
    b: float,
    block: float,
    exchange: float = 0.0,
    block_exchange: float = 0.0,
) -> float:
    """The same where one arithmetic unit does all, at the rate of products.

    Then LU (1/3 of a product) and solves (1/2) delay the products. ``n`` need not be a multiple of
    b: the last step is as narrow as what is left.
    """
    steps = np.arange(1, np.ceil(n / b) + 1)
    width = np.minimum(1.0, n / b - (steps - 1))
    left = np.maximum(n / b - steps, 0.0)
    m = np.minimum(left, np.ceil(left / torus))
    lu, panel, square = width**3 / 3, width**2 * m / 2, width * m**2
    work = (lu + 2 * panel + square) * block
    first = np.minimum(square, 2 * width * m)
    path = (lu + panel + first) * block + exchange + m * block_exchange
    return float(np.sum(np.maximum(work, path)))


def weak(single: ArrayLike, torus: ArrayLike) -> Floats:
    """Section 4.2.3, figure 4.14: t^2 times one device's rate at the same local size."""
    return floats(floats(single) * floats(torus) ** 2)


def of_clock(rate: ArrayLike, measured_clock: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 4.2.3, figure 4.13: rates are normalised to a clock, and grow with it."""
    return floats(floats(rate) * floats(clock) / floats(measured_clock))


def _squares(m: Floats) -> Floats:
    """1 + 4 + ... + m^2."""
    return floats(m * (m + 1) * (2 * m + 1) / 6)


# --- messages -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Links:
    """Seconds of messages: an L or U block, a panel of left and top blocks, each of m blocks; in s.

    A message forwarded by neighbours takes ``hop_s`` per hop.
    """

    lu_s: float = 0.0
    panel_s: float = 0.0
    block_s: float = 0.0
    hop_s: float = 0.0

    def fixed_s(self, torus: int) -> float:
        """Seconds of an iteration independent of m, on a torus of that side."""
        return self.lu_s + self.panel_s + 2 * (torus - 1) * self.hop_s


def links_of(system: System, scenario: Scenario, block_bytes: int, panel: float) -> Links:
    """By serial links block by block, while the next one is solved in ``panel`` seconds.

    Over hosts three messages: a block of L and U, then left blocks, then top blocks.
    """
    if scenario.ranks == 1:
        return Links()
    if scenario.transport == "channel":
        channel = known(system.channel, "count", "channel")
        sent = block_bytes / (channel.channel_gb_s() * 1e9)
        return Links(block_s=max(0.0, sent - panel), hop_s=(channel.latency_ns or 0.0) * 1e-9)
    transfer = transfer_of(system, scenario.transport or "staged", scenario.approach)
    one, two = (float(s) for s in transfer.seconds([block_bytes, 2 * block_bytes]))
    return Links(lu_s=one, panel_s=2 * (2 * one - two), block_s=2 * (two - one))


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "sum over m of max(m^2/r block, lu + exchange + m (panel + 2 block/r)); docs/models.md"
SIZE = "rows of the whole matrix"
GROWS = "side"
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True
SHARED = Shared("size", 0.5, multiple_of="block")


def sizes(system: System) -> list[float]:
    """6 to 48 blocks of 512 rows."""
    kernel = device_of(system).bitstream("hpl", "float")
    block = (kernel.block_size if kernel else None) or 512
    return [float(block * count) for count in (6, 12, 24, 48)]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """The whole matrix's decomposition by all devices."""
    torus, n = side_of(scenario.ranks), size_of(scenario, "size")
    transport = scenario.transport or ("channel" if system.channel else "staged")
    over = Scenario(**{**vars(scenario), "transport": transport})
    kernel = bitstream_of(system, "hpl", over)
    if kernel is None:
        return _without_kernels(system, over, torus, n)
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    g = known(kernel.gemm_size, "gemm_size", "device.bitstreams")
    clock = kernel.frequency_mhz * 1e6
    block = sum(gemm.block_parts_s(device_of(system), kernel, b).values())
    lu, panel = float(lu_s(b, g, clock)), float(panel_s(b, g, clock))
    links = links_of(system, over, b * b * boards.NUMBER_BYTES[kernel.type], panel)
    fixed = links.fixed_s(torus)
    seconds = float(
        total_s(n, torus, b, kernel.replications, block, lu, panel, fixed, links.block_s)
    )
    alone = float(total_s(n, torus, b, kernel.replications, block, 0, 0))
    parts = {"update": alone, "not hidden": seconds - alone}
    bound = "update" if parts["update"] >= parts["not hidden"] else "communication phase"
    printed = None
    if scenario.single is not None:
        rate = of_clock(scenario.single[0], scenario.single[1], kernel.frequency_mhz)
        printed = float(weak(rate, torus))
    device_bytes = n**2 / scenario.ranks * boards.NUMBER_BYTES[scenario.type]
    far = beyond(system, scenario, device_bytes) or _too_small(n, b, torus)
    found = Prediction(seconds, bound, parts)
    return Forecast(found, float(flops(n)) / seconds * 1e-9, printed, far)


def _without_kernels(system: System, scenario: Scenario, torus: int, n: float) -> Forecast:
    """By the device's peak and memory, in blocks of 512 rows."""
    device, b, flop = device_of(system), 512, 2.0 * 512**3
    matrix = scenario.type != "float" and device.knows_matrix_units(scenario.type)
    peak_s = known(
        device.peak_s(flop, scenario.type, matrix=matrix),
        f"peak in {scenario.type}",
        "device.peaks",
    )
    block_bytes = boards.NUMBER_BYTES[scenario.type] * b * b
    moved_s = device.memory_s(block_bytes, block_bytes)  # C; factors stay in caches
    block = max(peak_s, moved_s or 0.0)
    links = links_of(system, scenario, block_bytes, block / 2)
    seconds = shared_s(n, torus, b, block, links.fixed_s(torus), links.block_s)
    alone = float(flops(n)) / scenario.ranks / flop * block
    parts = {"arithmetic": alone, "not hidden": seconds - alone}
    if moved_s is not None and moved_s > peak_s:
        parts = {"memory": alone, "not hidden": seconds - alone}
    bound = max(parts, key=lambda name: parts[name])
    bound = "communication phase" if bound == "not hidden" else bound
    assumed = "no kernels are described: products, solves and LU at the device's peak"
    device_bytes = n**2 / scenario.ranks * boards.NUMBER_BYTES[scenario.type]
    far = "; ".join(filter(None, (assumed, beyond(system, scenario, device_bytes))))
    return Forecast(Prediction(seconds, bound, parts), float(flops(n)) / seconds * 1e-9, None, far)


def _too_small(n: float, b: int, torus: int) -> str:
    return (
        "" if n % (b * torus) == 0 else f"{n:g} rows are not a multiple of a block on each device"
    )
