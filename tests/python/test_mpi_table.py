"""The table of the MPI functions that libplumb-mpi-device wraps, beside the headers of MPI libraries."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "interpose" / "calls"))
from mpi_table import TABLE, Function, read_functions

# MPICH's wrapper links programs with its own library, so that the header is MPICH's.
COMPILERS = {"Open MPI": "mpicc.openmpi", "MPICH": "mpicc.mpich"}
EXCUSED = {
    name if name.startswith("MPIX_") else f"MPI_{name}"
    for names in TABLE["excused"].values()
    for name in names
}


def header_of(mpi: str) -> tuple[int, dict[str, list[str]]]:
    """The version in a library's mpi.h, and its functions with their parameters' types."""
    compiler = shutil.which(COMPILERS[mpi])
    if compiler is None:
        pytest.skip(f"{mpi} is not installed")
    source = "#include <mpi.h>\nversion = MPI_VERSION;\n"
    text = subprocess.run(
        [compiler, "-E", "-P", "-x", "c", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    declared = re.findall(
        r"\b(MPIX?_[A-Z]\w*)\s*\(([^(){};]*)\)[^(){};]*(?:\(\(.*?\)\)\s*)?;", text, re.S
    )
    version = re.search(r"version = (\d+);", text)
    assert version is not None
    return int(version[1]), {
        name: [type_of(it) for it in split(parameters)] for name, parameters in declared
    }


def split(parameters: str) -> list[str]:
    """One parameter each; none of ``void``."""
    return [] if parameters.strip() == "void" else parameters.split(",")


def type_of(parameter: str) -> str:
    """A parameter's type, without its name and with arrays as pointers."""
    parameter = " ".join(parameter.split())
    pointers = parameter.count("*") + parameter.count("[")
    words = re.sub(r"\[.*?\]|\*", " ", parameter).split()
    return " ".join(words[:-1] if len(words) > 1 else words) + "*" * pointers


def differences(functions: list[Function], version: int, header: dict[str, list[str]]) -> list[str]:
    """Missing and differing functions of the table, against the header."""
    wrapped = {f"MPI_{it.name}": it for it in functions} | {
        f"MPI_{name}": None for name in TABLE["others"]["functions"]
    }
    found = [
        f"{name} has a parameter of type void*, and is neither wrapped nor excused"
        for name, types in header.items()
        if any(it.endswith("void*") for it in types) and name not in wrapped and name not in EXCUSED
    ]
    for name, function in wrapped.items():
        if function is None or function.since > version:
            continue
        if name not in header:
            found.append(f"{name} is not in mpi.h")
        elif header[name] != [it.type for it in function.parameters]:
            found.append(
                f"{name} has {header[name]}, and in the table {[it.type for it in function.parameters]}"
            )
    return found


@pytest.mark.parametrize("mpi", COMPILERS)
def test_table_agrees_with_header(mpi: str) -> None:
    version, header = header_of(mpi)
    assert len(header) > 300
    assert differences(read_functions(), version, header) == []


def test_functions_with_buffers_are_not_left_to_mpi() -> None:
    """Each either works on device memory or refuses it; with large counts, too."""
    files = [it for it in read_functions() if it.name.startswith("File_")]
    assert {it.how for it in files} == {"pass"}
    assert sum(it.is_large for it in files) == 28
    assert all(it.buffers for it in read_functions() if it.how == "pass")


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        (
            "MPI_New",
            ["const void*", "int"],
            "MPI_New has a parameter of type void*, and is neither",
        ),
        (
            "MPI_Send",
            ["const void*", "long"],
            "MPI_Send has ['const void*', 'long'], and in the table",
        ),
        ("MPI_Send", None, "MPI_Send is not in mpi.h"),
    ],
)
def test_difference_is_found(name: str, parameters: list[str] | None, said: str) -> None:
    functions = read_functions()
    header = {f"MPI_{it.name}": [each.type for each in it.parameters] for it in functions}
    assert differences(functions, 4, header) == []
    header.pop(name, None)
    if parameters is not None:
        header[name] = parameters
    (found,) = differences(functions, 4, header)
    assert found.startswith(said)


ROOMS = ("memory", "types", "peer", "staging", "collectives", "windows", "calls", "fortran", "api")


def test_rooms_include_only_those_before_them() -> None:
    """But for the program's interface, whose types all may use."""
    for path in (ROOT / "interpose").glob("*/*.[ch]pp"):
        text = path.read_text(encoding="utf-8")
        included = re.findall(r'#include "interpose/(\w+)/(?!plumb_mpi\.h")', text)
        assert all(ROOMS.index(room) <= ROOMS.index(path.parent.name) for room in included), path


def test_excused_functions_exist() -> None:
    """An excuse that no library needs is to be deleted."""
    known = set(header_of("Open MPI")[1]) | set(header_of("MPICH")[1])
    assert known >= EXCUSED
