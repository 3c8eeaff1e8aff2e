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
    kernel = known(bitstream_of(system, "hpl", over), "hpl", "device.bitstreams")
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


def _too_small(n: float, b: int, torus: int) -> str:
    return (
        "" if n % (b * torus) == 0 else f"{n:g} rows are not a multiple of a block on each device"
    )
