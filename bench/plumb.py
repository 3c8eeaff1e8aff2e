"""Runs of plumb, for the scripts beside this file that compare models with measurements."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plumbline.record.record import Record, load_record


def plumb(*words: str, home: Path | None = None) -> str:
    """The output of plumb, which must succeed; ``home`` in place of the usual one."""
    environ = {**os.environ, **({"PLUMBLINE_HOME": str(home)} if home else {})}
    command = [sys.executable, "-m", "plumbline", *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"plumb {' '.join(words)}: {done.stderr}")
    return done.stdout


def measured(name: str, words: Sequence[str], home: Path | None = None) -> Record:
    """The record of a run of a benchmark, without parts beside its cases."""
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        record = Path(folder) / "record.json"
        plumb("run", name, *words, "--no-model", "--record", str(record), home=home)
        return load_record(record)
