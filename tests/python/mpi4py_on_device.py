"""mpi4py_on_device.py BENCHMARK ARGUMENTS: ``python -m mpi4py.bench`` with its messages in device memory.

Only the allocation is another: the modules that the benchmarks make their messages by, ``cupy`` and ``array``, are
replaced. The second benchmark compares what came with what was sent, in a warning: run this with ``-W error``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import plumb_mpi
from mpi4py import bench


class Message(plumb_mpi.DeviceArray):
    """As ``array.array`` of bytes, of which the ring is made."""

    def __init__(self, typecode: str, values: list[int]) -> None:
        super().__init__(len(values))
        self.write(bytes(values))

    def __mul__(self, times: int) -> Message:
        return Message("B", list(self.tobytes()) * times)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.tobytes() == other.tobytes()

    __hash__ = None  # type: ignore[assignment]


def main() -> None:
    modules: dict[str, Any] = sys.modules
    modules["cupy"] = plumb_mpi
    modules["array"] = SimpleNamespace(array=Message)
    bench.main(sys.argv[1:])


if __name__ == "__main__":
    main()
