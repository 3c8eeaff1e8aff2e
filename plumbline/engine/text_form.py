"""Prints a record by the engine, with the model's columns, to stdout or a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from plumbline.base.errors import ExitStatus, PlumbError, RunError, UsageError
from plumbline.engine.program import Engine


def print_record(
    engine: Engine,
    environ: Mapping[str, str],
    record: Path,
    expected: Path | None,
    *,
    form: str,
    output: Path | None = None,
) -> None:
    """Print ``record`` in the form ``form``, or append it to ``output``.

    Raises :class:`RunError` if the output cannot be written (then the results are on stdout) or the
    engine cannot print the record, :class:`UsageError` if the record has no such form.
    """
    command = [str(engine.path), "--show", str(record), "--format", form]
    if expected is not None:
        command += ["--expected", str(expected)]
    done = subprocess.run(command, env=dict(environ), stdout=subprocess.PIPE, check=False)
    problem = _write(done.stdout, output)
    if done.returncode != 0:
        raise _failure(engine, done.returncode)
    if problem:
        raise RunError(problem)


def form_of(engine: Engine, environ: Mapping[str, str], record: Path, form: str) -> str:
    """``record`` in the form ``form``. Raises as :func:`print_record`."""
    command = [str(engine.path), "--show", str(record), "--format", form]
    done = subprocess.run(command, env=dict(environ), stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise _failure(engine, done.returncode)
    return done.stdout.decode()


def _failure(engine: Engine, status: int) -> PlumbError:
    """Bad usage the engine has told in a sentence; of other failures the status is told, too."""
    if status == ExitStatus.BAD_USAGE:
        return UsageError("")
    return RunError(f"{engine.path.name} --show ended with status {status}")


def _write(text: bytes, output: Path | None) -> str | None:
    if output is not None:
        try:
            with output.open("ab") as file:
                file.write(text)
            return None
        except OSError as error:
            problem = f"the results cannot be written to {output}: {error.strerror}"
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return problem if output is not None else None
