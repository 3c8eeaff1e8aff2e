"""Files used by several ``plumb`` processes at once, on one host or a shared home."""

from __future__ import annotations

import fcntl
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def claim(path: Path) -> Path:
    """``path``, or ``path-2``, ``path-3``, …: the first unused name, created empty.

    Atomic between processes. Raises OSError if no file can be created in the folder.
    """
    for number in itertools.count(1):
        name = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            return name
    raise AssertionError("unreachable")


def drop_empty(path: Path) -> None:
    """Remove a claimed file if it is still empty."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size == 0:
            path.unlink()


def replace_file(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically. Raises OSError.

    Creates a missing folder. A link stays one; a device or pipe (``/dev/stdout``) is written to.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of the file ``path`` within the context.

    ``on_wait`` is called before waiting for another process. The file is kept. Without effect if it
    cannot be created or the file system has no locks.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            _lock(handle, on_wait)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, on_wait: Callable[[], None]) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait()
        fcntl.flock(handle, fcntl.LOCK_EX)
