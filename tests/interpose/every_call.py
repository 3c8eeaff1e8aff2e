"""Write a call of each function in interpose/calls/mpi.toml, for every_call.cpp: every_call.py FOLDER LIBRARY OUT."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from generate import is_f08, is_fortran
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


def fortran_value(it: Function, parameter: Parameter) -> str:
    """The argument of Fortran's function."""
    given = value(it, parameter)
    if parameter.kind == "types":
        return "f.in<MPI_Datatype>(MPI_BYTE)"
    if not parameter.type.endswith("*"):
        return f"f.in<{parameter.type}>({given})"
    return f"f.{'address' if parameter.name in it.buffers else 'out'}({given})"


def entry(it: Function, form: str) -> str:
    """One element of the list of calls; form: of the name of Fortran's function, or empty."""
    arguments = ", ".join(value(it, each) for each in it.parameters)
    large = "true" if it.is_large else "false"
    reads, writes = (
        str(any(each.kind in kinds for each in it.parameters)).lower()
        for kinds in (("from",), ("to", "base"))
    )
    fortran = "nullptr"
    if form:
        given = ", ".join([*(fortran_value(it, each) for each in it.parameters), "&f.error"])
        call = f"{form.format(it.name.lower())}({given})"
        fortran = f"[](Arguments& a) {{ Fortran f; {call}; return f.finish(); }}"
    text = (
        f'    {{"MPI_{it.name}", "{it.of_int}", "{it.group}", "{it.how}", {large}, {reads}, {writes},\n'
        f"     [](Arguments& a) {{ return MPI_{it.name}({arguments}); }},\n     {fortran}}},\n"
    )
    return f"#if MPI_VERSION >= {it.since}\n{text}#endif\n" if it.since > 3 else text


def main() -> None:
    """Write the list."""
    has_fortran, form = {"open_mpi": (is_fortran, "mpi_{}_"), "mpich": (is_f08, "mpi_{}_f08_")}[
        sys.argv[2]
    ]
    functions = [it for it in read_functions() if it.group != "startup"]
    text = '// Made of interpose/calls/mpi.toml by every_call.py.\n#include "every_call.hpp"\n\nextern "C" {\n'
    for it in filter(has_fortran, functions):
        addresses = ", ".join(["void*"] * (len(it.parameters) + 1))
        text += f"void {form.format(it.name.lower())}({addresses});\n"
    text += '}  // extern "C"\n\nnamespace plumb::every_call {\n\n'
    text += "const std::vector<Entry>& entries() {\n  static const std::vector<Entry> all{\n"
    text += "".join(entry(it, form if has_fortran(it) else "") for it in functions)
    text += "  };\n  return all;\n}\n\n}  // namespace plumb::every_call\n"
    Path(sys.argv[3]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
