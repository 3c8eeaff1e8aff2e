"""Kernels made wrong on purpose: what a benchmark's list in ``kernels/`` is made of.

A mutant is the benchmark's own kernel file with one place altered, run by ``--kernel-file``: it
cannot drift from what it mutates, and a place that is gone is an error here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class KernelMutant:
    """``file`` (from the repository's root) with ``old``, which occurs once, replaced by ``new``.

    ``words`` are the run's options; ``device`` is ``pocl``, ``intel`` (Intel's CPU runtime), ``fpga``
    (its FPGA emulator), ``native``, ``hls`` (HLS C++ in C simulation) or ``cuda``. Every case of the
    run must come out ``failed``; or, where ``error`` (a regular expression) is given, the run must end
    with that error, for example of kernels that wait for each other.
    """

    name: str
    file: str
    old: str
    new: str
    words: Sequence[str]
    device: str = "pocl"
    ranks: int = 1
    error: str = ""
    benchmark: str = ""  # if it is not named as the list
    variables: Mapping[str, str] = field(default_factory=dict)  # of the run's environment

    def write(self, folder: Path) -> Path:
        """The mutated kernel's file, in ``folder``."""
        text = (ROOT / self.file).read_text()
        places = text.count(self.old)
        assert places == 1, f"{self.name}: what it alters occurs {places} times in {self.file}"
        path = folder / Path(self.file).name
        path.write_text(text.replace(self.old, self.new))
        return path


@dataclass(frozen=True)
class Sound:
    """A run with right kernels, in which every case must pass."""

    words: Sequence[str]
    device: str = "pocl"
    ranks: int = 1
    benchmark: str = ""
    unsupported: Sequence[str] = field(default=())  # keys of cases that the device cannot do
    variables: Mapping[str, str] = field(default_factory=dict)
    soak: bool = False  # takes long, and shorter runs contain what it adds: `make soak` only
