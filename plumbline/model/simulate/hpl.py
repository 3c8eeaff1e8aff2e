"""HPL's blocked LU over P x Q ranks, block by block of the critical path.

Dependencies: Meyer 2024, section 4.1.3 and figures 4.4 to 4.8. In iteration k the rank of
the diagonal block decomposes it (LU) and sends L down its column and U along its row; the ranks
there solve their left and top blocks, one after the other, and send them along their rows and
columns; then every rank multiplies. The kernels of the communication phase run concurrently with
those that multiply, which start with the blocks of the next iteration's row and column. So the next
iteration begins during this one's products.

A device without such kernels does one thing after the other: a decomposition or solve delays the
products that are still to be done.

``barrier``: each iteration waits for the previous one's products on all ranks, as in the closed
form (:func:`plumbline.model.benchmarks.hpl.total_s`); with P = Q the two are equal.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, cast

import simpy

from plumbline.model.benchmarks.hpl import Links
from plumbline.model.simulate import Timeline


@dataclass(frozen=True)
class Kernels:
    """Seconds of a block's decomposition, of one solved, and of one product in all replications.

    ``shared``: one arithmetic unit for all of them, instead of kernels of their own.
    """

    lu_s: float
    panel_s: float
    product_s: float
    shared: bool = False


_Process = Generator[simpy.Event, Any, None]


@dataclass
class Simulation:
    """One run: ``blocks`` rows of blocks over ``rows`` x ``columns`` ranks. Call :meth:`run`."""

    blocks: int
    rows: int
    columns: int
    kernels: Kernels
    links: Links
    barrier: bool = False
    timeline: Timeline = field(default_factory=Timeline)

    def run(self) -> float:
        """Seconds until the last product is done."""
        self.env = simpy.Environment()
        count = range(self.blocks)
        self.lu = [self.env.event() for _ in count]
        self.left = [[self.env.event() for _ in range(self.rows)] for _ in count]
        self.top = [[self.env.event() for _ in range(self.columns)] for _ in count]
        self.gates = [self.env.event() for _ in range(self.blocks + 1)]
        self.gates[0].succeed()
        self.ended_s = [0.0] * self.blocks
        self._finished = [0] * self.blocks
        for p in range(self.rows):
            for q in range(self.columns):
                self.env.process(_Rank(self, p, q).work())
        self.env.run()
        return max(self.ended_s)

    def finish(self, k: int, end_s: float) -> None:
        """Record the end of a rank's products of iteration k; the last one opens the next gate."""
        self.ended_s[k] = max(self.ended_s[k], end_s)
        self._finished[k] += 1
        if self.barrier and self._finished[k] == self.rows * self.columns:
            self.env.process(self._open(k + 1, self.ended_s[k]))

    def _open(self, k: int, at_s: float) -> _Process:
        yield self.env.timeout(at_s - self.env.now)
        self.gates[k].succeed()


class _Rank:
    """The rank at row ``p`` and column ``q`` of the grid."""

    def __init__(self, run: Simulation, p: int, q: int) -> None:
        self.run, self.p, self.q = run, p, q
        self.name = f"{p},{q}"
        self.began_s = 0.0  # opening of this iteration's gate
        self.ready_s = 0.0  # end of the products needed by the next iteration
        self.busy_s = 0.0  # end of all products so far

    def work(self) -> _Process:
        """All iterations in sequence, as far as this rank takes part."""
        run = self.run
        for k in range(run.blocks):
            rows = _later(run.blocks, k, run.rows, self.p)
            columns = _later(run.blocks, k, run.columns, self.q)
            in_row, in_column = k % run.rows == self.p, k % run.columns == self.q
            if run.barrier:
                yield run.gates[k]
                self.began_s = self.ready_s = run.env.now
            elif not (rows or columns or in_row or in_column):
                return
            if in_row and in_column:
                yield from self._decompose(k)
            if (in_row and columns) or (in_column and rows):
                yield from self._solve(k, columns if in_row else 0, rows if in_column else 0)
            if rows and columns:
                yield run.left[k][self.p]
                yield run.top[k][self.q]
                self._multiply(k, rows, columns)
            elif run.barrier:
                yield run.lu[k]
                run.finish(k, _time(run.lu[k]) + run.links.panel_s + self._hops_s(k))

    def _decompose(self, k: int) -> _Process:
        run = self.run
        start = max(run.env.now, self.ready_s)
        end = start + run.kernels.lu_s
        self._take(k, start, run.kernels.lu_s)
        yield run.env.timeout(end - run.env.now)
        run.timeline.add(self.name, "LU", f"LU {k}", start, end)
        run.timeline.add(self.name, "network", f"LU {k}", end, end + run.links.lu_s)
        run.ended_s[k] = max(run.ended_s[k], end)
        run.lu[k].succeed(end + run.links.lu_s)

    def _solve(self, k: int, columns: int, rows: int) -> _Process:
        """Top blocks in the diagonal's row, left blocks in its column; at the corner both."""
        run = self.run
        yield run.lu[k]
        arrived = _time(run.lu[k]) + self._hops_s(k)
        if columns and rows:  # L and U are this rank's own
            arrived -= run.links.lu_s
        start = max(arrived, self.ready_s)
        each = run.kernels.panel_s
        blocks = rows + columns if run.kernels.shared else max(rows, columns)
        solved = start + blocks * each
        self._take(k, start, blocks * each)
        end = solved + max(rows, columns) * run.links.block_s + run.links.panel_s
        run.timeline.add(self.name, "top", f"top {k}", start, start + columns * each)
        run.timeline.add(self.name, "left", f"left {k}", start, start + rows * each)
        run.timeline.add(self.name, "network", f"panels {k}", solved, end)
        yield run.env.timeout(end - run.env.now)
        if rows:
            run.left[k][self.p].succeed(end)
        if columns:
            run.top[k][self.q].succeed(end)

    def _take(self, k: int, start_s: float, seconds: float) -> None:
        """Delays the products still to be done, if these need the same unit."""
        if self.run.kernels.shared:
            self.busy_s = max(self.busy_s, start_s) + seconds
            self.run.ended_s[k] = max(self.run.ended_s[k], self.busy_s)

    def _multiply(self, k: int, rows: int, columns: int) -> None:
        """Records the end of the products; no process waits for it here."""
        run, product_s = self.run, self.run.kernels.product_s
        left = _time(run.left[k][self.p]) + _hops(self.q, k, run.columns) * run.links.hop_s
        top = _time(run.top[k][self.q]) + _hops(self.p, k, run.rows) * run.links.hop_s
        arrived, whole = max(left, top), rows * columns * product_s
        if run.barrier and not run.kernels.shared:  # closed form: products start with the iteration
            end = max(self.began_s + whole, arrived + (rows + columns) * product_s)
            start = end - whole
        else:
            start = max(arrived, self.busy_s)
            end = start + whole
            self.ready_s = start + self._needed(k, rows, columns) * product_s
        run.timeline.add(self.name, "update", f"update {k}", start, end)
        self.busy_s = end
        run.finish(k, end)

    def _needed(self, k: int, rows: int, columns: int) -> int:
        """Products required by the next iteration's row and column of blocks."""
        in_row = (k + 1) % self.run.rows == self.p
        in_column = (k + 1) % self.run.columns == self.q
        return columns * in_row + rows * in_column - (in_row and in_column)

    def _hops_s(self, k: int) -> float:
        """From the diagonal's rank to this one, from neighbour to neighbour."""
        run = self.run
        return (_hops(self.p, k, run.rows) + _hops(self.q, k, run.columns)) * run.links.hop_s


def _time(event: simpy.Event) -> float:
    return cast(float, event.value)


def _hops(place: int, k: int, ring: int) -> int:
    return (place - k) % ring


def _later(blocks: int, k: int, ring: int, place: int) -> int:
    """Number of the blocks k + 1 ... ``blocks`` - 1 at ``place`` of a ring."""
    return _up_to(blocks, ring, place) - _up_to(k + 1, ring, place)


def _up_to(blocks: int, ring: int, place: int) -> int:
    return (blocks - place + ring - 1) // ring
