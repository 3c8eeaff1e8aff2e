"""Problems shared by all ranks of a run, and their growth (weak and strong scaling)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plumbline.base.errors import UsageError


@dataclass(frozen=True)
class Shared:
    """A problem shared by all ranks, and the option for its size.

    In weak scaling the option's value is that of one rank, and grows by ranks^``power``; the result
    is rounded to a multiple of the option ``multiple_of``. A ``logarithm`` grows by powers of two.
    ``instead`` names other options that set the size; ``only`` an option and its value without
    which each rank has its own problem. ``of_choice``: an option whose choices have sizes of their
    own, for runs where the size itself is 0.
    """

    option: str
    power: float
    multiple_of: str = ""
    logarithm: bool = False
    instead: tuple[str, ...] = ()
    only: tuple[str, str] | None = None
    of_choice: tuple[str, Mapping[str, int]] | None = None

    def grown(self, value: int, ranks: int, multiple: int = 1) -> int:
        """The option for ``ranks`` ranks, given ``value`` for one."""
        if self.logarithm:
            return value + _log2(ranks, self.option)
        wanted = value * ranks**self.power
        return max(1, round(wanted / multiple)) * multiple if ranks > 1 else value

    def part(self, value: int, ranks: int, multiple: int = 1) -> int:
        """The option for one rank with the part that one of ``ranks`` ranks has of ``value``."""
        if self.logarithm:
            return value - _log2(ranks, self.option)
        wanted = value / ranks**self.power
        return max(1, round(wanted / multiple)) * multiple if ranks > 1 else value


def _log2(ranks: int, option: str) -> int:
    if ranks & (ranks - 1):
        raise UsageError(
            f"--{option} is a power of two and grows with the ranks: they must be powers of two, "
            f"not {ranks}"
        )
    return ranks.bit_length() - 1
