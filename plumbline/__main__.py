"""The command ``plumb``, also as ``python -m plumbline``: from the first moment it can be ended.

Only what the interpreter has loaded already is imported before the signals are taken.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN_S = 0.01  # after which an interrupt that Python dropped is raised anew
_INTERRUPTED = 130


def main() -> None:
    """The entry point: run the command line and exit with its status.

    SIGTERM is taken like Ctrl-C, while the modules are loaded as well.
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
    """All is done: the status stands."""
    for number in (*_SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _raise_later(dropped: sys.UnraisableHookArgs) -> None:
    """An interrupt within a destructor or a callback of the interpreter is raised a bit later."""
    if dropped.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(dropped)


def _leave(status: int) -> None:
    """End at once: Python 3.11 dies of SIGINT instead where one fell into ``exec`` of a text."""
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads any more
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
