"""SSCA1: cells of two strings' alignments, shared by all ranks.

*A case of a record.* ``blocked``: a rank scores its rows at a measured rate of cells (otherwise by
its vector instructions), all steps of its lanes and those it waits for at the beginning, and sends
its last row in tiles. ``put-get`` (the OpenSHMEM Benchmark Suite's): eight operations of a word for
each cell and a barrier for each anti-diagonal, by LogGP. ``device``:
:mod:`plumbline.model.device_tiles`.

*A forecast.* Strings of ``size``, the logarithm of the number of cells.

Times in seconds. Source of the numbers of steps: benchmarks/shmem/ssca1/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from plumbline.base.errors import UsageError
from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.device_tiles import (
    Tiles,
    cell_s_of,
    launch_s_of,
    strips_of,
    tiles_parts,
)
from plumbline.model.forecast import (
    Forecast,
    Scenario,
    device_of,
    message_of,
    size_of,
    too_many,
)
from plumbline.model.message_cost import (
    Cost,
    by_signals,
    by_transfer,
    by_transport,
    free,
    one_sided,
)
from plumbline.model.own_work import rate, undisturbed_s
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.shared import Shared
from plumbline.record.record import Case, Record
from plumbline.system.device import DeviceTable, OwnWork
from plumbline.system.system import Figures, Need, System, known

# --- equations ------------------------------------------------------------------------------------

BLOCK = 8  # columns of a step
VECTOR_BYTES = 64  # lanes of a rank, together
INSTRUCTIONS = 17  # of a cell, in vectors: counted in the loop's assembly (AVX2), without loads
GETS, PUTS = 5, 3  # of a cell
WORD_BYTES = 8


def lanes(bits: ArrayLike) -> Floats:
    """Lanes of a rank: 16 of 32 bits, 32 of 16."""
    return floats(8 * VECTOR_BYTES / floats(bits))


def cell_s(peak_flop_s: ArrayLike, bits: ArrayLike) -> Floats:
    """A cell of one rank: 17 vector instructions, at the rate of multiply-adds in float.

    A multiply-add is one instruction and two operations for each 32 bits of a vector.
    """
    return floats(INSTRUCTIONS * 2 / floats(peak_flop_s) * floats(bits) / 32)


def steps(length: ArrayLike, bits: ArrayLike) -> Floats:
    """Steps of one rank: the last lane is lanes - 1 blocks behind the first."""
    return floats(np.ceil(floats(length) / BLOCK) + lanes(bits) - 1)


def fill_steps(ranks: ArrayLike, tile: ArrayLike, bits: ArrayLike) -> Floats:
    """Steps before the last rank begins: each waits for the first tile of the rank above."""
    return floats((floats(ranks) - 1) * (floats(tile) / BLOCK + lanes(bits) - 1))


def step_s(length: ArrayLike, ranks: ArrayLike, bits: ArrayLike, cell: ArrayLike) -> Floats:
    """A step: 8 columns of all rows of a rank."""
    band = np.ceil(floats(length) / (lanes(bits) * floats(ranks)))
    return floats(band * lanes(bits) * BLOCK * floats(cell))


def tiles_s(
    length: ArrayLike,
    ranks: ArrayLike,
    tile: ArrayLike,
    bits: ArrayLike,
    step: ArrayLike,
    message_s: ArrayLike,
) -> Floats:
    """What the tiles' messages add to steps and fill.

    Each rank's first tile is a message later than that of the rank above, p - 1 in all. The last
    rank then waits where tiles arrive at a lower pace than its lanes' lead lasts: it has t tiles,
    and the k-th arrives k messages late.
    """
    columns, each = np.ceil(floats(length) / BLOCK), floats(tile) / BLOCK
    count = np.ceil(floats(length) / floats(tile))
    last = columns - (count - 1) * each
    before = np.where(count > 1, (count - 2) * floats(message_s) + each * floats(step), 0)
    final = (count - 1) * floats(message_s) + last * floats(step)
    first = np.minimum(each, columns)
    behind = (lanes(bits) - 1 + first) * floats(step)
    waits = np.maximum(0, np.maximum(before, final) - behind)
    others = floats(ranks) - 1
    return floats(np.where(others > 0, others * floats(message_s) + waits, 0))


def put_get_s(length: ArrayLike, ranks: ArrayLike, get_s: ArrayLike, put_s: ArrayLike) -> Floats:
    """The cells of one rank, of L^2 in all: five gets and three puts each."""
    cells = floats(length) ** 2 / floats(ranks)
    return floats(cells * (GETS * floats(get_s) + PUTS * floats(put_s)))


def barriers_s(length: ArrayLike, ranks: ArrayLike, notice_s: ArrayLike) -> Floats:
    """A barrier for each of 2 L - 1 anti-diagonals: ceil(log2 p) rounds of notices."""
    rounds = np.ceil(np.log2(floats(ranks)))
    return floats((2 * floats(length) - 1) * rounds * floats(notice_s))


# --- a case of a record ---------------------------------------------------------------------------

BENCHMARK = "ssca1"
NEEDS: Need = "work"
TRANSPORTS = frozenset({"none", "local", "staged", "pipelined", "peer"})  # of variant device
DEVICE_FORMS = ("work items", "strips")  # an array of lanes is emulated
CELLS = Bound("cells", advice="Scores of 16 bits (--bits 16) take half of the time.")
FILL = Bound("pipeline fill", advice="A smaller --tile lets the next ranks begin earlier.")
TILES = Bound("tiles", advice="A larger --tile needs fewer messages.")
WORDS = Bound("words", advice="--variant blocked sends a row in tiles instead.")
BARRIERS = Bound("barriers", advice="--variant blocked has none.")
SCORE_BYTES = 2  # numbers of a tile's column: V and F
ROW_NUMBERS = 3  # of a row between steps: V, E and its codon's scores


def describe(_record: Record, _figures: Figures) -> str:
    """The terms of the sum."""
    return "cells at their rate + pipeline fill + tiles, or words and barriers (LogGP)"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of kernel 1 in each variant."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    length, variant = case.labels.get("length"), case.label("variant")
    if not isinstance(length, int):
        return Prediction.unknown("the record has no length of the strings")
    try:
        if variant == "blocked":
            asked = _blocked_of(record, case, length)
            cell = cell_of(figures.device or DeviceTable(), asked)
            cost = free if asked.ranks == 1 else by_signals(one_sided(record, figures))
            return Prediction.in_turn(blocked_parts(asked, cell, cost))
        if variant == "put-get":
            return _put_get(record, figures, length)
        if variant == "device":
            return _by_device(record, case, figures)
    except UsageError as error:
        return Prediction.unknown(str(error))
    return Prediction.unknown(f"no model for the variant {variant}")


@dataclass(frozen=True)
class Blocked:
    """Strings of ``length`` codons over ``ranks``: scores of ``bits``, ``tile`` columns."""

    length: int
    ranks: int
    bits: int
    tile: int

    @property
    def held(self) -> float:
        """Bytes of a rank's rows, which each step goes through."""
        return self.length / self.ranks * ROW_NUMBERS * self.bits / 8

    @property
    def message_bytes(self) -> float:
        """Of one tile: V and F of each column."""
        return self.tile * SCORE_BYTES * self.bits / 8


def blocked_parts(asked: Blocked, cell: float, cost: Cost) -> dict[str, float]:
    """The terms of the sum, by the seconds of a cell and of a message."""
    step = float(step_s(asked.length, asked.ranks, asked.bits, cell))
    message = cost(1, asked.message_bytes)
    parts = {
        CELLS: float(steps(asked.length, asked.bits)) * step,
        FILL: float(fill_steps(asked.ranks, asked.tile, asked.bits)) * step,
        TILES: float(tiles_s(asked.length, asked.ranks, asked.tile, asked.bits, step, message)),
    }
    return {name: seconds for name, seconds in parts.items() if seconds > 0}


def _blocked_of(record: Record, case: Case, length: int) -> Blocked:
    bits, tile = case.labels.get("bits"), case.labels.get("tile")
    if not isinstance(bits, int) or not isinstance(tile, int):
        raise UsageError("the record has no bits or no tile")
    return Blocked(length, record.world.ranks, bits, min(tile, length))


def cell_of(device: DeviceTable, asked: Blocked) -> float:
    """Seconds of a cell at its measured rate, otherwise by the peak of the vector units."""
    measured = device.work_s(BENCHMARK, 1, asked.held, str(asked.bits))
    if measured is not None:
        return measured
    peak = known(device.peak_s(1, "float", matrix=False), "work of ssca1", "device.work")
    return float(cell_s(1 / peak, asked.bits))


def _by_device(record: Record, case: Case, figures: Figures) -> Prediction:
    asked, device = tiles_of(record, case), figures.device or DeviceTable()
    cost = free if asked.ranks == 1 else by_transport(record, figures)
    cell = cell_s_of(device, BENCHMARK, asked)
    return Prediction.in_turn(tiles_parts(asked, cell, cost, launch_s_of(device)))


def tiles_of(record: Record, case: Case) -> Tiles:
    """The tiles of a case on devices. Raises :class:`UsageError` if they have no model."""
    form, of_tile, number = (case.facts.get(name) for name in ("form", "tile", "tiles"))
    bits = case.labels.get("bits")
    if not (isinstance(of_tile, list) and isinstance(number, list) and isinstance(bits, int)):
        raise UsageError("the record has no tiles")
    if form not in DEVICE_FORMS:
        raise UsageError(f"no model for the form {form}")
    rows, columns, tiles, strips = (int(str(one)) for one in (*of_tile, *number))
    own = record.ranks[0].device if record.ranks else None
    units = own.compute_units if own is not None and form == "work items" else 1
    return Tiles(tiles, strips, rows, columns, record.world.ranks, bits, str(form), max(units, 1))


def _put_get(record: Record, figures: Figures, length: int) -> Prediction:
    by, ranks = one_sided(record, figures), record.world.ranks
    words = put_get_s(length, ranks, by.get(WORD_BYTES), by.word_s)
    parts: dict[str, float] = {WORDS: float(words)}
    if ranks > 1:
        parts[BARRIERS] = float(barriers_s(length, ranks, by.notice_s))
    return Prediction.in_turn(parts)


# --- a calibration --------------------------------------------------------------------------------

runs = tuple(
    ("--scale", scale, "--variant", "blocked", "--bits", bits)
    for scale in ("22", "27")
    for bits in ("32", "16")
)


def learn(records: Sequence[Record], cost: Cost, source: str) -> list[OwnWork]:
    """The rate of cells, by what fill and tiles leave."""
    rows: list[OwnWork] = []
    for record, case in ((one, case) for one in records for case in one.cases):
        length = case.labels.get("length")
        if case.summary is None or not isinstance(length, int) or not case.has_figures:
            continue
        if case.label("variant") == "device":
            rows.append(_rate_of_tiles(record, case, cost, source))
        if case.label("variant") != "blocked":
            continue
        asked = _blocked_of(record, case, length)
        cells = sum(blocked_parts(asked, 1.0, free).values())  # of a rank, waiting included
        spent = cell = undisturbed_s(case) / cells
        for _ in range(8):  # how much the tiles add depends on the cells' time
            tiles = blocked_parts(asked, cell, cost).get(TILES, 0.0)
            cell = max(spent - tiles / cells, spent / 4)
        rows.append(rate(BENCHMARK, str(asked.bits), 1, cell, source, asked.held))
    return rows


def _rate_of_tiles(record: Record, case: Case, cost: Cost, source: str) -> OwnWork:
    """The rate of a device's cells, idle units and ranks included; launches as if unknown."""
    asked = tiles_of(record, case)
    of_cell, others = tiles_parts(asked, 1.0, free, 0.0), tiles_parts(asked, 0.0, cost, 0.0)
    spent = undisturbed_s(case)
    seconds = max(spent - sum(others.values()), spent / 4) / sum(of_cell.values())
    return rate(BENCHMARK, asked.part, 1, seconds, source, asked.held)


# --- a forecast -----------------------------------------------------------------------------------

METRIC, UNIT = "rate", "GCUPS"
EQUATION = "L^2 / (steps + fill of 8 columns of a rank's rows + tiles); docs/models.md"
SIZE = "scale: the logarithm of the number of cells"
GROWS = ""
RANKS = (1,)
OPERATIONS = ("32 bits", "16 bits")
MORE: tuple[str, ...] = ("strips, 32 bits", "strips, 16 bits")
SENDS = True
SHARED = Shared("scale", 1, logarithm=True)
SCALED = "CUPS"
TILE, PLANTS = 128, 79


def sizes(_system: System) -> list[float]:
    """Scales 26, 30 and 34."""
    return [26.0, 30.0, 34.0]


def length_of(scale: float) -> int:
    """Codons of a string: ceil(2^(scale/2)) + 79."""
    return ceil(2 ** (scale / 2)) + PLANTS


def forecast(system: System, scenario: Scenario) -> Forecast:
    """Kernel 1, blocked or in a GPU's strips, in 32 or 16 bits (``scenario.operation``)."""
    cost = free if scenario.ranks == 1 else by_transfer(message_of(system, scenario))
    device, length = device_of(system), length_of(size_of(scenario, "scale"))
    if scenario.operation.startswith("strips"):
        strips = strips_of(length, scenario.ranks, _bits_of(scenario))
        cell = cell_s_of(device, BENCHMARK, strips)
        parts = tiles_parts(strips, cell, cost, launch_s_of(device))
    else:
        asked = scenario_of(scenario)
        parts = blocked_parts(asked, cell_of(device, asked), cost)
    found = Prediction.in_turn(parts)
    value = length**2 / found.time_s * 1e-9
    return Forecast(found, value, None, too_many(system, scenario))


def _bits_of(scenario: Scenario) -> int:
    return 16 if "16" in scenario.operation else 32


def scenario_of(scenario: Scenario) -> Blocked:
    """Strings and ranks of a scenario. Raises :class:`UsageError` for more ranks than rows."""
    length = length_of(size_of(scenario, "scale"))
    bits = _bits_of(scenario)
    if scenario.ranks * float(lanes(bits)) > length:
        most = int(length / float(lanes(bits)))
        raise UsageError(
            f"strings of {length} codons have rows for {most} ranks, not {scenario.ranks}"
        )
    return Blocked(length, scenario.ranks, bits, TILE)
