"""The command ``plumb``, also as ``python -m plumbline``; interruptible from the start.

Before the signal handlers are set, only modules loaded by the interpreter are imported.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN_S = 0.01  # until an interrupt dropped by Python is raised again
_INTERRUPTED = 130


def main() -> None:
    """The entry point: run the command line and exit with its status.

    SIGTERM is handled like Ctrl-C, also during imports.
    """
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_later
    try:
        try:
            from plumbline.cli.app import start

            status = start(sys.argv[1:])
        finally:
            _ignore_signals()
    except KeyboardInterrupt:
        _ignore_signals()
        print("plumb: interrupted", file=sys.stderr)
        status = _INTERRUPTED
    if status == _INTERRUPTED:
        _leave(status)
    sys.exit(status)


def _ignore_signals() -> None:
    """Ignore further interrupts: the status is final."""
    for number in (*_SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _raise_later(dropped: sys.UnraisableHookArgs) -> None:
    """Re-raise an interrupt that fell into a destructor or a callback of the interpreter."""
    if dropped.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(dropped)


def _leave(status: int) -> None:
    """Exit at once: Python 3.11 dies of SIGINT if one fell into ``exec`` of a text."""
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the reader has closed the pipe
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
