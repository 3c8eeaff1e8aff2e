"""Write a call of each function in interpose/calls/mpi.toml, for every_call.cpp: every_call.py TABLE_FOLDER FORTRAN OUT."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from mpi_table import Function, Parameter, read_functions

VALUES = {
    "assertion": "0",
    "base": "a.to",
    "completed": "&a.completed",
    "count": "elements",
    "displacement": "0",
    "file": "MPI_FILE_NULL",
    "flag": "&a.flag",
    "form": '"external32"',
    "from": "a.from",
    "given": "a.request",
    "group": "a.group",
    "index": "&a.index",
    "indices": "&a.index",
    "info": "MPI_INFO_NULL",
    "level": "MPI_LOCK_SHARED",
    "message": "&a.message",
    "offset": "0",
    "op": "MPI_BOR",
    "partition": "elements",
    "rank": "0",
    "request": "&a.request",
    "requests": "&a.request",
    "root": "0",
    "size": "elements",
    "status": "&a.status",
    "statuses": "&a.status",
    "tag": "tag",
    "to": "a.to",
    "type": "MPI_BYTE",
    "types": "a.types.data()",
    "unit": "1",
    "wide_size": "elements",
    "win": "a.win",
    "window": "&a.win",
    "window_size": "elements",
}


def value(it: Function, parameter: Parameter) -> str:
    """The argument for a parameter."""
    pointed = parameter.type.removeprefix("const ").rstrip("*")
    if parameter.kind == "comm":
        return "a.graph" if "eighbor" in it.name else "MPI_COMM_SELF"
    if parameter.kind in ("counts", "offsets"):
        return f"list_of<{pointed}>({'elements' if parameter.kind == 'counts' else '0'})"
    if parameter.kind.endswith("position"):
        return f"list_of<{pointed}>(0)"
    if (it.group == "requests" and parameter.kind == "count") or parameter.name == "partitions":
        return "1"
    return VALUES[parameter.kind]


def entry(it: Function, with_fortran: bool) -> str:
    """One element of the list of calls."""
    arguments = ", ".join(value(it, each) for each in it.parameters)
    large = "true" if it.is_large else "false"
    reads, writes = (
        str(any(each.kind in kinds for each in it.parameters)).lower()
        for kinds in (("from",), ("to", "base"))
    )
    fortran = "nullptr"
    if with_fortran and it.how == "pass" and it.since == 3:
        given = ", ".join(
            f"const_cast<void*>({value(it, each)})" if each.name in it.buffers else "a.zeros.data()"
            for each in it.parameters
        )
        fortran = f"[](Arguments& a) {{ mpi_{it.name.lower()}_({given}, a.zeros.data()); }}"
    text = (
        f'    {{"MPI_{it.name}", "{it.of_int}", "{it.group}", "{it.how}", {large}, {reads}, {writes},\n'
        f"     [](Arguments& a) {{ return MPI_{it.name}({arguments}); }}, {fortran}}},\n"
    )
    return f"#if MPI_VERSION >= {it.since}\n{text}#endif\n" if it.since > 3 else text


def main() -> None:
    """Write the list."""
    with_fortran = sys.argv[2] == "1"
    functions = [it for it in read_functions() if it.group != "startup"]
    text = '// Made of interpose/calls/mpi.toml by every_call.py.\n#include "every_call.hpp"\n\n'
    if with_fortran:
        text += 'extern "C" {\n'
        for it in functions:
            if it.how == "pass" and it.since == 3:
                text += f"void mpi_{it.name.lower()}_({', '.join(['void*'] * (len(it.parameters) + 1))});\n"
        text += '}  // extern "C"\n\n'
    text += "namespace plumb::every_call {\n\nconst std::vector<Entry>& entries() {\n  static const std::vector<Entry> all{\n"
    text += "".join(entry(it, with_fortran) for it in functions)
    text += "  };\n  return all;\n}\n\n}  // namespace plumb::every_call\n"
    Path(sys.argv[3]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
