"""HPL: the LU of an N x N matrix, N = ``size``, over a torus with P = Q.

With ``single``, what one device reached, the point starts from that figure: weak scaling of
section 4.2.3, by the clock. It stands in ``printed``.
"""

from __future__ import annotations

from plumbline.model import boards
from plumbline.model.equations import hpl
from plumbline.model.forecast import Case, Point, beyond, bitstream_of, device_of, side_of, size_of
from plumbline.model.transfer import transfer_of
from plumbline.system.device import Bitstream
from plumbline.system.system import System, known

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "sum over m of max(m^2/r block, lu + exchange + m (panel + 2 block/r)); docs/models.md"
SIZE = "rows of the whole matrix"
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = True


def sizes(system: System) -> list[float]:
    """6 to 48 blocks of 512 rows."""
    kernel = device_of(system).bitstream("hpl", "float")
    block = (kernel.block_size if kernel else None) or 512
    return [float(block * count) for count in (6, 12, 24, 48)]


def point(system: System, case: Case) -> Point:
    """The whole matrix's decomposition by all devices."""
    torus, n = side_of(case.ranks), size_of(case, "size")
    transport = case.transport or ("channel" if system.channel else "staged")
    over = Case(**{**vars(case), "transport": transport})
    kernel = known(bitstream_of(system, "hpl", over), "hpl", "device.bitstreams")
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    g = known(kernel.gemm_size, "gemm_size", "device.bitstreams")
    clock = kernel.frequency_mhz * 1e6
    block = sum(boards.block_parts_s(device_of(system), kernel, b).values())
    fixed, each = _exchange(system, over, kernel, torus)
    lu, panel = float(hpl.lu_s(b, g, clock)), float(hpl.panel_s(b, g, clock))
    seconds = float(hpl.seconds(n, torus, b, kernel.replications, block, lu, panel, fixed, each))
    alone = float(hpl.seconds(n, torus, b, kernel.replications, block, 0, 0))
    parts = {"update": alone, "not hidden": seconds - alone}
    bound = "update" if parts["update"] >= parts["not hidden"] else "communication phase"
    printed = None
    if case.single is not None:
        rate = hpl.of_clock(case.single[0], case.single[1], kernel.frequency_mhz)
        printed = float(hpl.weak(rate, torus))
    far = beyond(system, case, n**2 / case.ranks * boards.NUMBER_BYTES[case.type]) or _too_small(
        n, b, torus
    )
    return Point(seconds, float(hpl.flops(n)) / seconds * 1e-9, bound, parts, printed, far)


def _exchange(system: System, case: Case, kernel: Bitstream, torus: int) -> tuple[float, float]:
    """Seconds of an iteration that messages add: whatever m, and for each of m blocks."""
    block_bytes = (kernel.block_size or 1) ** 2 * boards.NUMBER_BYTES[kernel.type]
    if torus == 1:
        return 0.0, 0.0
    if case.transport == "channel":
        channel = known(system.channel, "count", "channel")
        hops = 2 * (torus - 1) * (channel.latency_ns or 0.0) * 1e-9
        clock, size = kernel.frequency_mhz * 1e6, kernel.gemm_size or 1
        panel = float(hpl.panel_s(kernel.block_size or 1, size, clock))
        # Blocks stream through the torus while the next is computed.
        sent = block_bytes / (channel.channel_gb_s() * 1e9)
        return hops, max(0.0, sent - panel)
    way = transfer_of(system, case.transport or "staged", case.approach)
    one, two = way.seconds([block_bytes, 2 * block_bytes])
    slope = float(two - one)
    # Three messages: a block of L and U, then left blocks, then top blocks.
    return 3 * float(one) - 2 * slope, 2 * slope


def _too_small(n: float, b: int, torus: int) -> str:
    return "" if n % (b * torus) == 0 else f"{n:g} rows are no whole number of blocks a device"
