"""The command ``plumb``: its groups of commands, and the handling of failures."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated, Any

import typer

from plumbline.base.errors import ExitStatus, PlumbError, did_you_mean, shortened
from plumbline.base.version import version as plumb_version
from plumbline.cli import boards, centre, completion, machine, mesh, models, records, running
from plumbline.cli.common import app

# Each registers its commands in ``app``; the help lists them in this order.
_GROUPS = [
    one.__name__ for one in (running, boards, centre, records, models, mesh, machine, completion)
]
app.registered_commands.sort(key=lambda one: _GROUPS.index(getattr(one.callback, "__module__", "")))

_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def start(arguments: list[str]) -> int:
    """Run a command line; returns the exit status. A failure prints one message on stderr."""
    try:
        status = app(arguments, prog_name="plumb", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else ExitStatus.PASSED
    except PlumbError as error:
        if str(error):
            print(f"plumb: {shortened(str(error))}", file=sys.stderr)
        return error.status
    except typer.Abort:
        print("plumb: aborted", file=sys.stderr)
        return ExitStatus.ERROR
    except BrokenPipeError:
        _close_stdout()
        return ExitStatus.PASSED
    except OSError as error:
        # What is printed names no file; that of files becomes a message where they are opened.
        if error.filename is not None or error.errno not in _UNWRITTEN:
            raise
        _close_stdout()
        print(f"plumb: the output cannot be written: {error.strerror}", file=sys.stderr)
        return ExitStatus.ERROR
    except Exception as error:
        # Typer's own errors share no public base class over its versions, only this method.
        if not hasattr(error, "format_message"):
            raise
        print(f"plumb: {shortened(sentence(error))}", file=sys.stderr)
        return ExitStatus.BAD_USAGE


def _close_stdout() -> None:
    """Discard what is left for stdout, which the interpreter would write at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def sentence(error: Any) -> str:
    """Typer's error as a message, with the command whose help lists the options."""
    command = getattr(error.ctx, "command_path", "plumb") if hasattr(error, "ctx") else "plumb"
    if type(error).__name__ == "NoSuchOption":
        near = did_you_mean(error.option_name, error.possibilities or [])
        text = f"unknown option {error.option_name}{near}"
    else:
        text = error.format_message().strip().rstrip(".")
    return f"{text[:1].lower()}{text[1:]} ({command} --help shows all)"


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    if version:
        print(f"plumb {plumb_version()}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
