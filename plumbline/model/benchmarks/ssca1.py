"""SSCA1: cells of two strings' alignments, shared by all ranks.

*A case of a record.* ``blocked``: a rank scores its rows at the speed of its vector instructions,
all steps of its lanes and those it waits for at the beginning, and sends its last row in tiles.
``put-get`` (the OpenSHMEM Benchmark Suite's): eight operations of a word for each cell and a
barrier for each anti-diagonal, by LogGP.

Times in seconds. Source of the numbers of steps: benchmarks/shmem/ssca1/README.md.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.arrays import ArrayLike, Floats, floats
from plumbline.model.prediction import Bound, Prediction
from plumbline.record.record import Case, Record
from plumbline.system.operations import BULK, GET, NOTICE, PUT, Operation
from plumbline.system.system import Figures, Need

# --- equations ------------------------------------------------------------------------------------

BLOCK = 8  # columns of a step
VECTOR_BYTES = 64  # lanes of a rank, together
INSTRUCTIONS = 17  # of a cell, in vectors: counted in the loop's assembly (AVX2), without loads
GETS, PUTS = 5, 3  # of a cell


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


def messages_s(length: ArrayLike, tile: ArrayLike, message_s: ArrayLike) -> Floats:
    """The tiles that a rank sends, in seconds: ceil(L / tile) messages."""
    return floats(np.ceil(floats(length) / floats(tile)) * floats(message_s))


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
NEEDS: Need = "operations"
TRANSPORTS = frozenset({"none"})
_CELLS = Bound("cells", advice="Scores of 16 bits (--bits 16) take half of the time.")
_FILL = Bound("pipeline fill", advice="A smaller --tile lets the next ranks begin earlier.")
_TILES = Bound("tiles", advice="A larger --tile needs fewer messages.")
_WORDS = Bound("words", advice="--variant blocked sends a row in tiles instead.")
_BARRIERS = Bound("barriers", advice="--variant blocked has none.")


def describe(_record: Record, _figures: Figures) -> str:
    """The terms of the sum."""
    return "cells by vector instructions + pipeline fill + tiles, or words and barriers (LogGP)"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of kernel 1 in each variant."""
    return {case.key: _expectation(record, case, figures) for case in record.cases}


def _operation(record: Record, figures: Figures, name: str) -> Operation | None:
    """The system's figures of an operation in the run's world, for words in caches."""
    kind = record.world.kind
    for row in figures.operations:
        if row.world == kind and row.name == name and row.spread_bytes is None:
            return row
    return None


def _expectation(record: Record, case: Case, figures: Figures) -> Prediction:
    length, variant = case.labels.get("length"), case.label("variant")
    if not isinstance(length, int):
        return Prediction.unknown("the record has no length of the strings")
    if variant == "blocked":
        return _blocked(record, case, figures, length)
    if variant == "put-get":
        return _put_get(record, figures, length)
    return Prediction.unknown(f"no model for the variant {variant}")


def _blocked(record: Record, case: Case, figures: Figures, length: int) -> Prediction:
    ranks, bits, tile = record.world.ranks, case.labels.get("bits"), case.labels.get("tile")
    if not isinstance(bits, int) or not isinstance(tile, int):
        return Prediction.unknown("the record has no bits or no tile")
    one = figures.device.peak_s(1, "float", matrix=False) if figures.device else None
    if one is None:
        return Prediction.unknown("the system has no peak for float")
    step = step_s(length, ranks, bits, cell_s(1 / one, bits))
    parts: dict[str, float] = {
        _CELLS: float(steps(length, bits) * step),
        _FILL: float(fill_steps(ranks, tile, bits) * step),
    }
    if ranks > 1:
        put, notice = (_operation(record, figures, name) for name in (BULK, NOTICE))
        if put is None or notice is None:
            return Prediction.unknown(
                f"the system has no one-sided operations over {record.world.kind}"
            )
        message = put.stream_s(tile * 2 * bits / 8) + notice.empty_s
        parts[_TILES] = float(messages_s(length, tile, message))
    return Prediction.in_turn(parts)


def _put_get(record: Record, figures: Figures, length: int) -> Prediction:
    get, put, notice = (_operation(record, figures, name) for name in (GET, PUT, NOTICE))
    if get is None or put is None or notice is None:
        return Prediction.unknown(
            f"the system has no one-sided operations over {record.world.kind}"
        )
    ranks = record.world.ranks
    words = put_get_s(length, ranks, get.empty_s, put.stream_s(8))
    parts: dict[str, float] = {_WORDS: float(words)}
    if ranks > 1:
        parts[_BARRIERS] = float(barriers_s(length, ranks, notice.empty_s))
    return Prediction.in_turn(parts)
