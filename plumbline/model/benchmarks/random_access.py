"""RandomAccess: generators of random numbers, and updated banks.

Source: Meyer 2024, section 3.2.2 (every replication goes through the whole stream of random
numbers), section 4.1.4 (several generators a replication), section 4.2.4 (an update is a read and a
write: two cycles of a bank). Rates in updates a second, clocks in hertz.

*A case of a record.* Bound by random updates of memory, on a board by its generators and banks.

*A forecast.* 4 updates a word of a table of ``size`` bytes, distributed over all devices.
"""

from __future__ import annotations

from dataclasses import replace

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
    own_update_s,
    size_of,
)
from plumbline.model.limits import Demand
from plumbline.model.prediction import Prediction
from plumbline.model.shared import Shared
from plumbline.record.record import Case, Record
from plumbline.system.device import Bitstream, DeviceTable
from plumbline.system.system import Figures, Need, System

# --- equations ------------------------------------------------------------------------------------


def generator_rate(generators: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 3.2.2: updates of all devices, bound by one replication's random numbers."""
    return floats(floats(generators) * floats(clock))


def bank_rate(
    replications: ArrayLike, banks: ArrayLike, clock: ArrayLike, interface_clock: ArrayLike
) -> Floats:
    """Section 4.2.4: half an update a cycle in each bank in use, in the slower of both clocks."""
    slower = np.minimum(floats(clock), floats(interface_clock))
    return floats(np.minimum(floats(replications), floats(banks)) * slower / 2)


def normalised(rate: ArrayLike, banks: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 4.2.4: of one bank at 100 MHz, at most 50e6."""
    return floats(floats(rate) / floats(banks) / (floats(clock) / 100e6))


# --- a board --------------------------------------------------------------------------------------


def board_rates(device: DeviceTable, kernel: Bitstream, devices: int = 1) -> dict[str, float]:
    """Random updates a second of all devices, by the generators and by the banks (not ``svm``)."""
    clock = kernel.frequency_mhz * 1e6
    rates: dict[str, float] = {
        boards.GENERATORS: float(generator_rate(kernel.rng_count or 1, clock))
    }
    if not device.svm:
        banks = boards.banks_of(device)
        of_one = bank_rate(kernel.replications, banks.count, clock, banks.frequency_mhz * 1e6)
        rates[boards.BANKS] = devices * float(of_one)
    return rates


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "random_access"
NEEDS: Need = "updates"
TRANSPORTS = frozenset({"none"})


def describe(record: Record, figures: Figures) -> str:
    """By the board's kernels if the system has them, otherwise the roofline."""
    if roofline.bitstream(record, figures, BENCHMARK):
        return "min(generators x clock, banks x clock / 2) (Meyer 2024, sections 3.2.2, 4.2.4)"
    return f"{roofline.NAME}: updates/rate"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each kind of update."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    kernel = roofline.bitstream(record, figures, BENCHMARK)
    if kernel is None:
        size = case.labels.get("table_bytes")
        demand = Demand(
            table_bytes=size if isinstance(size, int) else 0,
            atomic=case.label("updates").startswith("atomic"),
        )
        found = roofline.expect(record, case, figures, demand)
        return replace(found, reason=_few_items(record, case) or found.reason)
    try:
        rates = board_rates(figures.device or DeviceTable(), kernel)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.slowest(case.work.updates, rates)


_ITEMS_A_UNIT = 256  # fewer leave much of a GPU's unit idle


def _few_items(record: Record, case: Case) -> str:
    """Why no rate of a GPU applies: to lose few updates, a small table is updated by few items."""
    own, items = record.ranks[0].device, case.facts.get("generators")
    if own is None or own.type != "gpu" or not own.compute_units or not isinstance(items, int):
        return ""
    if items >= own.compute_units * _ITEMS_A_UNIT:
        return ""
    return f"{items} work items, limited by a small table, leave {own.compute_units} units idle"


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "updates", "GUP/s"
EQUATION = "min(generators x clock, banks x clock / 2); sections 3.2.2, 4.1.4 and 4.2.4"
SIZE = "bytes of the table"
GROWS = "ranks"
RANKS = (1,)
OPERATIONS = ("",)
MORE: tuple[str, ...] = ()
SENDS = False
SHARED = Shared("size", 1, logarithm=True, only=("table", "shared"))
_WORD = 8
_UPDATES_A_WORD = 4


def sizes(_system: System) -> list[float]:
    """4 GiB, as in table 3.6."""
    return [2.0**32]


def forecast(system: System, scenario: Scenario) -> Forecast:
    """The whole table's updates by all devices."""
    device, table = device_of(system), size_of(scenario, "size")
    updates = _UPDATES_A_WORD * table / _WORD
    kernel = bitstream_of(system, "random_access", scenario)
    printed = None
    if kernel is not None:
        rates = board_rates(device, kernel, scenario.ranks)
        printed = rates["generators"] * 1e-9
        if (kernel.rng_count or 1) > 1 and "banks" in rates:
            banks = boards.banks_of(device).count
            one = bank_rate(banks, banks, kernel.frequency_mhz * 1e6, float("inf"))
            printed = scenario.ranks * float(one) * 1e-9
    else:
        own = int(table / scenario.ranks)
        seconds = own_update_s(device, own)
        rates = {"random updates": scenario.ranks / seconds}
    found = at_least_a_launch(updates, rates, device)
    far = beyond(system, scenario, table / scenario.ranks)
    return Forecast(found, updates / found.time_s * 1e-9, printed, far)
