"""SSCA1 on devices: tiles or strips of cells, a launch at a time, in a pipeline of ranks.

A rank's rows are T tiles (strips) of ``rows`` each, its columns S messages of ``columns``. A launch
scores an anti-diagonal of tiles, or a message's columns of all strips, each strip ``lead`` columns
behind the one above; so S + B launches score all, where B of them pass until the first message
leaves the last row. Of p ranks the last one begins p - 1 such delays and messages later.

Times in seconds. Source: benchmarks/shmem/ssca1/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from plumbline.model.message_cost import Cost
from plumbline.model.prediction import Bound
from plumbline.system.device import DeviceTable
from plumbline.system.system import known

INSTRUCTIONS = 11  # of a cell in strips.cl, score_column: integers, not vectors
INTEGERS = 0.5  # of float's rate: 64 lanes of a unit beside 128 (H100, H200)
LEAD = 128  # columns between strips of several launches
STRIP_ROWS = 256
MESSAGE_NUMBERS = 2  # of a column: V and F

CELLS = Bound("cells")
FILL = Bound("pipeline fill", advice="A smaller --tile lets the next ranks begin earlier.")
TILES = Bound("tiles", advice="A larger --tile needs fewer messages.")
LAUNCHED = Bound("launch", "launch")


@dataclass(frozen=True)
class Tiles:
    """T x S tiles of ``rows`` x ``columns`` cells, ``at_once`` of which a device scores at once."""

    tiles: int
    strips: int
    rows: int
    columns: int
    ranks: int
    bits: int
    form: str
    at_once: int = 1

    @property
    def lead(self) -> int:
        """Columns by which a tile is behind the one above it when a launch begins."""
        if self.form != "strips":
            return self.columns
        return 0 if self.strips == 1 else LEAD

    @property
    def behind(self) -> int:
        """Launches until the first message leaves the last row."""
        return ceil((self.tiles - 1) * self.lead / self.columns)

    @property
    def launches(self) -> int:
        """Of one rank."""
        return self.strips + self.behind

    @property
    def part(self) -> str:
        """The name of its rate of cells."""
        return f"{self.form}, {self.bits}"

    @property
    def held(self) -> float:
        """Bytes of a rank's rows between launches, V and E."""
        return self.tiles * self.rows * MESSAGE_NUMBERS * self.bits / 8


def turns(rows: int, columns: int, at_once: int) -> int:
    """Turns for all anti-diagonals of rows x columns tiles, each of ``at_once`` tiles at most."""
    few, many = min(rows, columns), max(rows, columns)
    ends = sum(ceil(k / at_once) for k in range(1, few))
    return 2 * ends + (many - few + 1) * ceil(few / at_once)


def tiles_before(asked: Tiles) -> float:
    """Tiles of a rank that are scored when its first message leaves: those of B + 1 launches."""
    count, columns = asked.tiles, asked.columns
    return count * (asked.behind + 1) - asked.lead / columns * count * (count - 1) / 2


def tiles_parts(asked: Tiles, cell_s: float, cost: Cost, launch_s: float) -> dict[str, float]:
    """The terms of kernel 1's time, by the seconds of a cell of the whole device."""
    each, p = asked.rows * asked.columns * cell_s, asked.ranks
    own = asked.tiles * asked.strips
    idle = 0
    if asked.form != "strips":
        idle = turns(asked.tiles, asked.strips, asked.at_once) * asked.at_once - own
    message = cost(1, asked.columns * MESSAGE_NUMBERS * asked.bits / 8) if p > 1 else 0.0
    late = max(0.0, (asked.strips - 1) * (message - asked.tiles * each)) if p > 1 else 0.0
    launches = asked.launches + (p - 1) * (asked.behind + 1)
    parts: dict[str, float] = {
        CELLS: own * each,
        FILL: (idle + (p - 1) * tiles_before(asked)) * each,
        TILES: (p - 1) * message + late,
        LAUNCHED: launches * launch_s,
    }
    return {name: seconds for name, seconds in parts.items() if seconds > 0}


def launch_s_of(device: DeviceTable) -> float:
    """Seconds of a launch in a row; 0 where unknown."""
    launch = device.launch
    return (launch.row_us or launch.wait_us) * 1e-6 if launch is not None else 0.0


def cell_s_of(device: DeviceTable, benchmark: str, asked: Tiles) -> float:
    """Seconds of a cell at its measured rate, otherwise 11 instructions by float's peak.

    A multiply-add is one instruction and two operations. Raises :class:`UsageError`.
    """
    measured = device.work_s(benchmark, 1, asked.held, asked.part)
    if measured is not None:
        return measured
    what = f"work of {benchmark}, {asked.part}"
    return known(
        device.peak_s(2 * INSTRUCTIONS / INTEGERS, "float", matrix=False), what, "device.work"
    )


def strips_of(length: int, ranks: int, bits: int) -> Tiles:
    """The strips of a GPU's default form, for strings of ``length`` codons."""
    rows = ceil(length / (8 * ranks)) * 8
    columns = length if ranks == 1 else max(1024, min(length // (8 * ranks), 2**38 // rows))
    columns = ceil(columns / 64) * 64
    return Tiles(
        ceil(rows / STRIP_ROWS), ceil(length / columns), STRIP_ROWS, columns, ranks, bits, "strips"
    )
