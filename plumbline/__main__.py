"""The command ``plumb``, also as ``python -m plumbline``: from the first moment it can be ended."""

from __future__ import annotations

import signal
import sys
from types import FrameType


def main() -> None:
    """The entry point: run the command line and exit with its status.

    SIGTERM is taken like Ctrl-C, while the modules are loaded as well.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        from plumbline.cli.app import start

        status = start(sys.argv[1:])
    except KeyboardInterrupt:
        print("plumb: interrupted", file=sys.stderr)
        status = 130
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # all is done: the status is final
    sys.exit(status)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
