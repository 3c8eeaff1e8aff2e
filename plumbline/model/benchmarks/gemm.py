"""GEMM on a board: load, multiply and store a block, one after the other (eq. 3.2).

Source: Meyer 2024, section 3.2.4. b is the block's rows, u the numbers of global memory a cycle, g
the rows of the product in registers, n the inner dimension of the matrices, r the replications.
Times in seconds for one block, clocks in hertz.

*A case of a record.* On a board three pipelines one after the other (eq. 3.2), elsewhere the
roofline.

*A forecast.* Products of n x n matrices, n = ``size``, one on each device.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model import boards, roofline
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    at_least_a_launch,
    beyond,
    bitstream_of,
    device_of,
    size_of,
)
from plumbline.model.limits import MEMORY, Demand, peak_bound
from plumbline.model.prediction import Prediction
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------


def printed_block_s(
    b: ArrayLike, u: ArrayLike, g: ArrayLike, n: ArrayLike, clock: ArrayLike, memory: ArrayLike
) -> Floats:
    """Eq. 3.2: b^2/(u f_mem) + b^3/(g^3 f_k) + b^2/(u (n/b) f_mem)."""
    block, unroll, f_mem = floats(b), floats(u), floats(memory)
    load = block**2 / (unroll * f_mem)
    multiply = block**3 / (floats(g) ** 3 * floats(clock))
    return floats(load + multiply + block**2 / (unroll * (floats(n) / block) * f_mem))


def multiply_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """The second pipeline: g^3 multiply-adds a cycle of the kernel."""
    return floats(floats(b) ** 3 / (floats(g) ** 3 * floats(clock)))


def load_s(
    b: ArrayLike,
    u: ArrayLike,
    clock: ArrayLike,
    r: ArrayLike,
    number_bytes: ArrayLike,
    memory_rate: ArrayLike,
) -> Floats:
    """The first pipeline: u numbers of both factors a cycle of the *kernel's* clock.

    Replications start together and are equally long, so all load at once: no faster than memory
    delivers 2 r b^2 numbers. (f_mem is not given; the pipeline is the kernel's.)
    """
    asked = floats(b) ** 2 / (floats(u) * floats(clock))
    delivered = 2 * floats(r) * floats(b) ** 2 * floats(number_bytes) / floats(memory_rate)
    return floats(np.maximum(asked, delivered))


def store_s(load: ArrayLike, n: ArrayLike, b: ArrayLike) -> Floats:
    """The third pipeline's share of one block: once in n / b blocks, the time of a load."""
    return floats(floats(load) * floats(b) / floats(n))


def flops(b: ArrayLike, r: ArrayLike, block_s: ArrayLike) -> Floats:
    """Flops a second of r replications with ``block_s`` for 2 b^3 flops."""
    return floats(floats(r) * 2 * floats(b) ** 3 / floats(block_s))


def normalised(rate: ArrayLike, r: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 3.2.4: flops a second of one replication at 100 MHz."""
    return floats(floats(rate) / floats(r) / (floats(clock) / 100e6))


# --- a board --------------------------------------------------------------------------------------


def block_parts_s(device: DeviceTable, kernel: Bitstream, inner: int) -> dict[str, float]:
    """Seconds to load, multiply and store one block of a product (eq. 3.2, our reading)."""
    b = known(kernel.block_size, "block_size", "device.bitstreams")
    u = known(kernel.global_mem_unroll, "global_mem_unroll", "device.bitstreams")
    g = known(kernel.gemm_size, "gemm_size", "device.bitstreams")
    clock = kernel.frequency_mhz * 1e6
    rate = boards.memory_rate(device, kernel)
    load = load_s(b, u, clock, kernel.replications, boards.NUMBER_BYTES[kernel.type], rate)
    return {
        boards.LOAD: float(load),
        boards.MULTIPLY: float(multiply_s(b, g, clock)),
        "store": float(store_s(load, inner, b)),
    }


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "gemm"
NEEDS: Need = "device"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """Eq. 3.2 if the system has the board's kernels, otherwise the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "load + b^3/(g^3 f_k) + load b/n a block (Meyer 2024, eq. 3.2)"
    return f"{roofline.NAME}: {roofline.FORMULA}"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each product."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        return _roofline(record, case, figures)
    rows, columns, inner = (_size(case, name) for name in ("rows", "columns", "inner"))
    if not (rows and columns and inner):
        return Prediction.unknown("the case has no size")
    try:
        block = block_parts_s(figures.device or DeviceTable(), kernel, inner)
    except UsageError as error:
        return Prediction.unknown(str(error))
    blocks = 1
    for extent in (rows, columns, inner):
        blocks *= ceil(extent / (kernel.block_size or 1))
    rounds = blocks / kernel.replications
    parts = {name: seconds * rounds for name, seconds in block.items()}
    return Prediction.in_turn(parts)


def _roofline(record: Record, case: Case, figures: Figures) -> Prediction:
    """By vector units for float or as recorded; otherwise by matrix units, if any.

    Without matrix units kernels compute half in float; libraries may use half. Scaled by the
    kernels' measured part of the peak if a calibration has it.
    """
    number, used = roofline.type_of(record, case), str(case.facts.get("matrix_units", ""))
    own = record.ranks[0].device
    on_gpu = own is not None and own.type == "gpu"
    may_use = number != "float" and (used not in ("", "none") or (not used and on_gpu))
    if may_use and figures.device and not figures.device.knows_matrix_units(number):
        return Prediction.unknown(f"the system has no peak of matrix units for {number}")
    if number == "half" and not may_use and case.facts.get("variant") != "library":
        number = "float"
    share = 1.0
    if figures.device:
        variant = str(case.facts.get("variant", ""))
        share = figures.device.share_of_peak(BENCHMARK, number, variant, matrix=may_use)
    if own is not None and on_gpu:
        share *= _occupied(case, own.compute_units)
    demand = Demand(type=number, matrix=may_use, flops=case.work.flops / share)
    return roofline.expect(record, case, figures, demand)


def _occupied(case: Case, units: int) -> float:
    """The share of a GPU's compute units that the product's tiles can occupy; 1 if unknown.

    A tile is one unit's: a small product leaves units idle.
    """
    try:
        rows, columns = (int(extent) for extent in str(case.facts.get("tile", "")).split("x")[:2])
    except ValueError:
        return 1.0
    tiles = ceil(_size(case, "rows") / rows) * ceil(_size(case, "columns") / columns)
    return min(1.0, tiles / units) if tiles and units else 1.0


def _size(case: Case, name: str) -> int:
    value = case.labels.get(name)
    return value if isinstance(value, int) else 0


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "performance", "GFLOP/s"
EQUATION = "load + b^3/(g^3 f_k) + load b/n a block of b rows; eq. 3.2"
SIZE = "rows of a matrix"
GROWS = ""
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ("normalised",)
SENDS = False


def sizes(_system: System) -> list[float]:
    """4,096 rows, as in table 3.6."""
    return [4096.0]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """One product on each device. Operation ``normalised``: of one replication at 100 MHz."""
    n, kernel = size_of(scenario, "size"), bitstream_of(system, "gemm", scenario)
    far = beyond(system, scenario, 3 * boards.NUMBER_BYTES[scenario.type] * n**2)
    if kernel is None:
        found = _forecast_roofline(system, scenario, n)
        return Forecast(found, _rate(n, found.time_s, scenario), None, far)
    block = block_parts_s(device_of(system), kernel, int(n))
    b = kernel.block_size or 1
    if n % b:
        far = far or f"{n:g} rows are not a multiple of {b}, the rows of a block"
    rounds = ceil(n / b) ** 3 / kernel.replications
    found = Prediction.in_turn({name: rounds * seconds for name, seconds in block.items()})
    value, printed = _rate(n, found.time_s, scenario), _printed(system, kernel, n) * scenario.ranks
    unit = ""
    if scenario.operation == "normalised":
        unit = "GFLOP/s at 100 MHz"
        clock = kernel.frequency_mhz * 1e6
        value, printed = (
            float(normalised(rate, kernel.replications, clock)) for rate in (value, printed)
        )
    return Forecast(found, value, printed, far, unit)


def _rate(n: float, seconds: float, scenario: Scenario) -> float:
    return 2 * n**3 / seconds * 1e-9 * scenario.ranks


def _printed(system: System, kernel: Bitstream, n: float) -> float:
    """GFLOP/s by eq. 3.2; f_mem, which is not printed, is the memory interface's clock."""
    banks, clock = device_of(system).banks, kernel.frequency_mhz * 1e6
    memory = banks.frequency_mhz * 1e6 if banks else clock
    b, u, g = kernel.block_size or 1, kernel.global_mem_unroll or 1, kernel.gemm_size or 1
    block = printed_block_s(b, u, g, n, clock, memory)
    return float(flops(b, kernel.replications, block)) * 1e-9


def _forecast_roofline(system: System, scenario: Scenario, n: float) -> Prediction:
    """Both factors and C read, C written; by matrix units if the device has them."""
    device, flops = device_of(system), 2 * n**3
    matrix = scenario.type != "float" and device.knows_matrix_units(scenario.type)
    peak = known(device.peak_s(flops, scenario.type, matrix=matrix), scenario.type, "device.peaks")
    array = boards.NUMBER_BYTES[scenario.type] * n**2
    moved = known(device.memory_s(3 * array, array), "gb_s", "device.memory")
    rates: dict[str, float] = {peak_bound(scenario.type): flops / peak, MEMORY: flops / moved}
    return at_least_a_launch(flops, rates, device)
