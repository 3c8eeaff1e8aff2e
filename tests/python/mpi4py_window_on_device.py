"""Puts, gets and sums between windows over device memory, and a neighbourhood's exchange, from mpi4py on two ranks."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import plumb_mpi
from mpi4py import MPI

SIZE = 64  # bytes


def filled(value: int) -> plumb_mpi.DeviceArray:
    """A device array of ``SIZE`` bytes of one value."""
    array = plumb_mpi.DeviceArray(SIZE)
    array.write(bytes([value] * SIZE))
    return array


def expect(array: plumb_mpi.DeviceArray, value: int, what: str) -> None:
    """Raise :class:`AssertionError` where any byte is another."""
    assert array.tobytes() == bytes([value] * SIZE), what


def main() -> None:
    own = MPI.COMM_WORLD.rank
    other = 1 - own
    memory, origin, result = filled(0), filled(own + 1), filled(0)
    window = MPI.Win.Create(memory, 1, comm=MPI.COMM_WORLD)
    window.Fence()
    window.Put([origin, SIZE, MPI.BYTE], other)
    window.Fence()
    expect(memory, other + 1, "what the other rank put")
    window.Get([result, SIZE, MPI.BYTE], other)
    window.Fence()
    expect(result, own + 1, "what was got back")
    window.Accumulate([origin, SIZE, MPI.UINT8_T], other, op=MPI.SUM)
    window.Fence()
    expect(memory, 2 * (other + 1), "the sum")
    window.Free()
    ring = MPI.COMM_WORLD.Create_graph([1, 2], [1, 0])
    ring.Neighbor_allgather([origin, SIZE, MPI.BYTE], [result, SIZE, MPI.BYTE])
    expect(result, other + 1, "what the neighbour gave")
    print("all is as it should be")


if __name__ == "__main__":
    main()
