"""Finding the engine, and its description."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from conftest import ROOT

from plumbline.base.errors import RunError, UsageError
from plumbline.engine.program import describe, find_engine, find_program


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_variable_names_the_folder(stand_in: Path) -> None:
    engine = find_engine(os.environ)
    assert engine.path == stand_in / "plumb-mpi"
    assert [benchmark.name for benchmark in engine.description.benchmarks] == ["b_eff", "stream"]


def test_without_an_engine_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no engine \(plumb-mpi\) in PLUMBLINE_ENGINE=.*: build it"
    ):
        find_program({"PLUMBLINE_ENGINE": str(tmp_path), "PATH": os.environ["PATH"]})


def test_the_serial_program_is_taken_where_there_is_no_other(tmp_path: Path) -> None:
    script(tmp_path / "plumb-serial", "")
    assert find_program({"PLUMBLINE_ENGINE": str(tmp_path)}) == tmp_path / "plumb-serial"


def test_the_description_is_cached_by_time_and_size(stand_in: Path, tmp_path: Path) -> None:
    program = stand_in / "plumb-mpi"
    environ = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "own")}
    first = describe(program, environ)
    assert describe(program, {**environ, "STAND_IN_DATA": "/nowhere"}) == first
    os.utime(program, ns=(1, 1))
    with pytest.raises(RunError, match="--describe ended with 1"):
        describe(program, {**environ, "STAND_IN_DATA": "/nowhere"})


def test_a_cache_that_cannot_be_written_does_not_matter(stand_in: Path) -> None:
    environ = {**os.environ, "XDG_CACHE_HOME": "/proc/none"}
    assert describe(stand_in / "plumb-mpi", environ).program == "plumb-mpi"


def test_a_program_that_is_no_engine_is_named(tmp_path: Path, home: Path) -> None:
    program = script(tmp_path / "plumb-mpi", "echo libmpi.so.40 is missing >&2; exit 127")
    with pytest.raises(RunError, match=r"plumb-mpi --describe ended with 127: libmpi\.so\.40"):
        describe(program)


def test_an_unknown_benchmark_gets_a_suggestion(stand_in: Path) -> None:
    with pytest.raises(UsageError, match="unknown benchmark b_ef; did you mean b_eff"):
        find_engine(os.environ).description.benchmark("b_ef")


def test_devices_are_read(stand_in: Path) -> None:
    found = find_engine(os.environ).devices(os.environ)
    assert found.devices[0].platform == "Portable Computing Language"
    assert found.reason is None


def test_devices_that_cannot_be_asked_are_a_sentence(stand_in: Path) -> None:
    engine = find_engine(os.environ)
    with pytest.raises(RunError, match="--devices printed no list of devices"):
        engine.devices({**os.environ, "STAND_IN_DATA": "/nowhere"})


def test_the_architecture_names_every_transport() -> None:
    sources = (ROOT / "engine" / "transport").rglob("*.cpp")
    registered = re.compile(r'RegisteredTransport \w+\(\s*"([^"]+)"')
    names = {name for path in sources for name in registered.findall(path.read_text())}
    assert {"mpi", "staged", "nccl", "channel"} <= names
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert {name for name in names if f"\n| `{name}` |" not in text} == set()
