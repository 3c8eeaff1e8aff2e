"""Arrays in device memory for mpi4py, under libplumb-mpi-device.

Start the program with ``LD_PRELOAD`` of the library; MPI must be initialised (``from mpi4py import
MPI``). mpi4py takes an array wherever it takes a buffer, by ``__cuda_array_interface__``. CuPy's
way of making one is there, too::

    sys.modules["cupy"] = plumb_mpi   # python -m mpi4py.bench pingpong --array cupy
"""

from __future__ import annotations

import ctypes

_library = ctypes.CDLL(None)
_library.plumb_mpi_error.restype = ctypes.c_char_p


def _call(function: str, *arguments: object) -> None:
    """Raise :class:`RuntimeError` with the library's sentence where a call of plumb_mpi.h fails."""
    if getattr(_library, function)(*arguments) != 0:
        raise RuntimeError(_library.plumb_mpi_error().decode())


class DeviceArray:
    """``nbytes`` (at least 1) of the device that the library chooses; contents are undefined."""

    def __init__(self, nbytes: int) -> None:
        address = ctypes.c_void_p()
        _call("plumb_mpi_alloc", ctypes.c_size_t(nbytes), ctypes.byref(address))
        self.address, self.nbytes = address.value or 0, nbytes

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """One dimension of bytes; mpi4py hands the address to MPI and reads nothing there."""
        return {
            "version": 3,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.address, False),
        }

    def write(self, data: bytes) -> None:
        """Put ``data`` at the beginning."""
        size = ctypes.c_size_t(min(len(data), self.nbytes))
        _call("plumb_mpi_copy", ctypes.c_void_p(self.address), data, size)

    def tobytes(self) -> bytes:
        """Its contents, copied to the host."""
        data = ctypes.create_string_buffer(self.nbytes)
        _call("plumb_mpi_copy", data, ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes))
        return data.raw

    def __del__(self) -> None:
        if hasattr(self, "address"):
            _library.plumb_mpi_free(ctypes.c_void_p(self.address))


def empty(nbytes: int, dtype: str = "B") -> DeviceArray:
    """As ``cupy.empty`` of bytes; raises :class:`ValueError` for another type."""
    if dtype != "B":
        raise ValueError(f"arrays are of bytes (B), not of {dtype}")
    return DeviceArray(max(nbytes, 1))
