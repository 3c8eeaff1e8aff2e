"""mpi4py's collectives with counts by rank, datatypes, packing, Isendrecv: on three ranks, on device memory as the host's.

Over MPICH it calls what has counts of type MPI_Count, constructors of datatypes among them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import plumb_mpi
from mpi4py import MPI

SIZE = 128  # bytes of an operand
TYPE = MPI.INT16_T
WORLD = MPI.COMM_WORLD
OWN, RANKS = WORLD.rank, range(WORLD.size)
GRID = WORLD.Create_cart([WORLD.size])

# Counts in elements: what rank r gives to all (rank 0: nothing), and to each.
GIVEN = [3 * rank for rank in RANKS]
TO, FROM = [(OWN + 2 * rank) % 4 for rank in RANKS], [(rank + 2 * OWN) % 4 for rank in RANKS]
# On the grid those below and above; at its edges one of them is not there.
NEAR_GIVEN = [max(OWN - 1, 0), OWN + 1]
TO_NEAR, FROM_NEAR = [OWN + 1, OWN + 2], [OWN + 1, OWN + 2]
# Offsets, with gaps between the parts.
AT = [40, 20, 1]
AT_BYTES = [TYPE.size * place for place in AT]

# Communicator, what stands beside the buffer that is read and beside the one that is written (None: no buffer on this
# rank), and further arguments.
Message = tuple[Any, ...] | None
VECTORS: dict[str, tuple[Any, Message, Message, dict[str, Any]]] = {
    "Allgatherv": (WORLD, (GIVEN[OWN], TYPE), ((GIVEN, AT), TYPE), {}),
    "Gatherv": (
        WORLD,
        (GIVEN[OWN], TYPE),
        ((GIVEN, AT), TYPE) if OWN == 1 else None,
        {"root": 1},
    ),
    "Scatterv": (
        WORLD,
        ((GIVEN, AT), TYPE) if OWN == 1 else None,
        (GIVEN[OWN], TYPE),
        {"root": 1},
    ),
    "Alltoallv": (WORLD, ((TO, AT), TYPE), ((FROM, AT), TYPE), {}),
    "Alltoallw": (WORLD, ((TO, AT_BYTES), [TYPE] * 3), ((FROM, AT_BYTES), [TYPE] * 3), {}),
    "Reduce_scatter": (WORLD, (sum(GIVEN), TYPE), (GIVEN[OWN], TYPE), {"recvcounts": GIVEN}),
    "Neighbor_allgatherv": (GRID, (OWN, TYPE), ((NEAR_GIVEN, AT[:2]), TYPE), {}),
    "Neighbor_alltoallv": (GRID, ((TO_NEAR, AT[:2]), TYPE), ((FROM_NEAR, AT[:2]), TYPE), {}),
    "Neighbor_alltoallw": (
        GRID,
        ((TO_NEAR, AT_BYTES[:2]), [TYPE] * 2),
        ((FROM_NEAR, AT_BYTES[:2]), [TYPE] * 2),
        {},
    ),
}
Call = Callable[[Any, Any], MPI.Request | None]


def beside(buffer: Any, message: Message) -> Any:
    """What mpi4py takes for a buffer."""
    return None if message is None else [buffer, *message]


def vector(comm: Any, name: str, sent: Message, received: Message, more: dict[str, Any]) -> Call:
    return lambda a, b: getattr(comm, name)(beside(a, sent), beside(b, received), **more)


def packing(a: Any, b: Any) -> None:
    """By way of a buffer of the same memory, behind bytes that stay."""
    packed = (
        on_device(bytes(2 * SIZE)) if isinstance(a, plumb_mpi.DeviceArray) else bytearray(2 * SIZE)
    )
    end = TYPE.Pack(a, packed, 6, WORLD)
    assert TYPE.Unpack(packed, 6, b, WORLD) == end == 6 + SIZE
    end = TYPE.Pack_external("external32", b, packed, 8)
    assert TYPE.Unpack_external("external32", packed, 8, b) == end == 8 + SIZE


def sendrecv(a: Any, b: Any) -> MPI.Request:
    to, come = (OWN + 1) % WORLD.size, (OWN - 1) % WORLD.size
    return WORLD.Isendrecv([a, OWN + 1, TYPE], to, 0, [b, come + 2, TYPE], come, 0)


def sendrecv_replace(_: Any, b: Any) -> MPI.Request:
    return WORLD.Isendrecv_replace([b, SIZE // 2, TYPE], OWN ^ 1 if OWN < 2 else OWN)


def types() -> Iterator[MPI.Datatype]:
    yield TYPE.Create_contiguous(5)
    yield TYPE.Create_vector(3, 2, 5)
    yield TYPE.Create_hvector(3, 2, 10)
    yield TYPE.Create_indexed([3, 1, 2], [9, 4, 0])
    yield TYPE.Create_hindexed([3, 1, 2], [18, 10, 0])
    yield TYPE.Create_indexed_block(2, [7, 0, 3])
    yield TYPE.Create_hindexed_block(2, [14, 2, 8])
    yield MPI.Datatype.Create_struct([1, 2], [4, 16], [TYPE, MPI.DOUBLE])
    yield TYPE.Create_subarray([4, 6], [2, 3], [1, 2], order=MPI.ORDER_F)
    yield TYPE.Create_vector(2, 1, 3).Create_resized(0, 20)


def bcast(datatype: MPI.Datatype) -> Call:
    return lambda _, b: WORLD.Bcast([b, 2, datatype.Commit()], root=1)


def calls() -> Iterator[tuple[str, Call]]:
    for name, (comm, sent, received, more) in VECTORS.items():
        for form in (name, "I" + name.lower()):
            yield form, vector(comm, form, sent, received, more)
    yield "in place", lambda _, b: WORLD.Allgatherv(MPI.IN_PLACE, [b, (GIVEN, AT), TYPE])
    for at, datatype in enumerate(types()):
        yield f"datatype {at}", bcast(datatype)
    yield "packing", packing
    if MPI.VERSION >= 4:
        yield "Isendrecv", sendrecv
        yield "Isendrecv_replace", sendrecv_replace


def on_device(data: bytes) -> plumb_mpi.DeviceArray:
    array = plumb_mpi.DeviceArray(len(data))
    array.write(data)
    return array


def main() -> None:
    read = bytes((7 * i + OWN) % 100 for i in range(SIZE))
    written = bytes(200 + OWN for _ in range(SIZE))
    for name, call in calls():
        host, device = (bytearray(read), bytearray(written)), (on_device(read), on_device(written))
        for operands in (host, device):
            request = call(*operands)
            if request is not None:
                request.Wait()
        assert device[0].tobytes() == read, f"{name} has changed what it reads"
        assert device[1].tobytes() == host[1], f"{name} differs on the device"
        assert WORLD.allreduce(host[1] != written, MPI.LOR), f"{name} does nothing"
    WORLD.Barrier()
    print("all is as it should be")


if __name__ == "__main__":
    main()
