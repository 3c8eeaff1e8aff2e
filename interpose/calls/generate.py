"""Write the wrappers of MPI's functions, made of their table: generate.py WHAT OUT."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from mpi_table import Function, Operand, Parameter, read_functions

HEAD = "// Made of interpose/calls/mpi.toml by generate.py.\n"
BLOCKS = {"": "Elements", "equal": "Equal", "varied": "Varied", "typed": "Typed", "placed": "Typed"}
NUMBERS = ("int", "int*")  # parameters of a window that its bodies take
FORTRAN = "using namespace plumb::interpose;\nusing namespace plumb::interpose::fortran;\n"


def names_of(parameters: list[Parameter]) -> str:
    """Return names as arguments."""
    return ", ".join(it.name for it in parameters)


def returned(function: str, it: Function, given: list[str]) -> str:
    """Return the call of a body: MPI's name comes first, the request last."""
    request = ["request"] if it.has("request") else []
    arguments = ", ".join([f'"MPI_{it.name}"', *given, *request])
    return f"return {function}({arguments});"


def bound(it: Function, taken: list[str], passed: str) -> str:
    """Return a lambda that calls MPI's function; a request is the lambda's last argument."""
    taken.append("auto... request" if it.has("request") else "auto...")
    return f"[&]({', '.join(taken)}) {{ return PMPI_{it.name}({passed}); }}"


def collective(it: Function) -> str:
    """Return the call of a body with operands, and MPI's function of their staged addresses."""
    given = []
    for word in it.words:
        if isinstance(word, Operand) and word.form in BLOCKS:
            given.append(f"{BLOCKS[word.form]}{{{names_of(word.parameters)}}}")
        elif word.kind != "request":
            given.append(word.name)
    passed = ", ".join("request..." if it.kind == "request" else it.name for it in it.parameters)
    staged = [f"{operand.parameters[0].type} {operand.name}" for operand in it.operands]
    return returned(it.body, it, [*given, bound(it, staged, passed)])


def staged_operand(it: Function, operand: Operand) -> str:
    """Return the staged address of an operand; MPI_NO_OP reads nothing of its origin."""
    elements = f"{operand.name}, 1, type" if operand.form == "one" else names_of(operand.parameters)
    if operand.kind == "from" and it.has("op"):
        return f"stage_origin(call, {elements}, op)"
    return f"call.{'in' if operand.kind == 'from' else 'out'}({elements})"


def window(it: Function) -> str:
    """Return a call on a window with all operands staged."""
    staged = {operand.name: staged_operand(it, operand) for operand in it.operands}
    passed = [staged.get(each.name, each.name) for each in it.parameters]
    if it.has("request"):
        passed[-1] = "request..."
    return returned("on_window", it, ["rank", "win", bound(it, ["Call& call"], ", ".join(passed))])


def epoch(it: Function) -> str:
    """Return a call that synchronises a window, if a device takes part in it."""
    given = ["*known", *(each.name for each in it.parameters if each.type in NUMBERS)]
    given.append(f"[&] {{ return PMPI_{it.name}({it.names}); }}")
    body = f'or_abort("MPI_{it.name}", [&] {{ return {it.body}({", ".join(given)}); }})'
    return (
        "const auto known = window_of(win);\n"
        f"  if (!known) [[likely]]\n    return PMPI_{it.name}({it.names});\n  return {body};"
    )


def flat(it: Function) -> str:
    """Return the call of a body that takes MPI's function and its arguments as they are."""
    measure = f", PMPI_{it.measure}{'_c' if it.is_large else ''}" if it.measure else ""
    return f'return {it.body}<PMPI_{it.name}{measure}>("MPI_{it.name}", {it.names});'


def statements(it: Function) -> str:
    """Return what the wrapper does: without device memory all is left to MPI."""
    if it.how in ("narrow", "narrow_all"):
        return f'return {it.how}<PMPI_{it.name}, MPI_{it.of_int}>("MPI_{it.name}", {it.names});'
    if it.how == "pass":
        return f'return pass<PMPI_{it.name}>("MPI_{it.name}", {it.names});'
    if it.how == "epoch":
        return epoch(it)
    body = {"collective": collective, "window": window, "flat": flat}[it.how](it)
    on_host = [f"!is_device({name})" for name in it.buffers] + ["!peer_on"] * it.offers
    condition = " && ".join(on_host)
    return f"if ({condition}) [[likely]]\n    return PMPI_{it.name}({it.names});\n  {body}"


def wrapper(it: Function) -> str:
    """Return the definition of MPI_NAME."""
    declared = ", ".join(f"{each.type} {each.name}" for each in it.parameters)
    text = f"int MPI_{it.name}({declared}) {{\n  {statements(it)}\n}}\n"
    return f"#if MPI_VERSION >= {it.since}\n{text}#endif\n" if it.since > 3 else text


def fortran_argument(it: Function, parameter: Parameter) -> str:
    """Return the argument of enter() that becomes a parameter of C's."""
    name = parameter.name
    if name in it.buffers:
        return f"Buffer({name})"
    for operand in it.operands:
        if parameter in operand.parameters and parameter.kind == "types":
            near = "targets" if operand.kind == "from" else "sources"
            ranks = near if operand.form == "placed" else "partners"
            return f"Types({name}, {operand.name}, comm, {ranks})"
    others = {
        "requests": f"Requests({name}, count)",
        "status": f"Statuses({name})",
        "statuses": f"Statuses({name}, count)",
        "index": f"Indices({name})",
        "indices": f"Indices({name}, completed)",
    }
    return others.get(parameter.kind, f"Argument<{parameter.type}>({name})")


def open_mpi(it: Function) -> str:
    """Return mpi_name_, and by another name the function by which use mpi_f08 enters Open MPI.

    That is ompi_name_f, but pmpi_name_ where a result is of type LOGICAL.
    """
    lower = it.name.lower()
    entry, original = f"ompi_{lower}_f", f"pmpi_{lower}_"
    if it.has("flag") or it.entry == "profiling":
        entry, original = original, entry
    given = [each for each in it.parameters if each.kind not in ("argc", "argv")]
    parameters = ", ".join(f"Address {name}" for name in [*(each.name for each in given), "error"])
    alias = f'[[gnu::alias("mpi_{lower}_")]] void {entry}({parameters});\n'
    if it.group == "startup":
        startup = {"level": "integer(level)", "provided": "&integer(provided)"}
        passed = ", ".join(startup.get(each.kind, "nullptr") for each in it.parameters)
        body = f"give_code(error, MPI_{it.name}({passed}));"
        return f"void mpi_{lower}_({parameters}) {{\n  {body}\n}}\n{alias}"
    arguments = ", ".join(["error", *(fortran_argument(it, each) for each in given)])
    receives = "true" if it.group in ("receives", "probes") else "false"
    body = f"enter<{receives}>(MPI_{it.name}, {original}, {arguments});"
    weak = f"[[gnu::weak]] void {original}({parameters});\n"
    return f"{weak}void mpi_{lower}_({parameters}) {{\n  {body}\n}}\n{alias}"


def mpich(it: Function) -> str:
    """Return mpi_name_f08_, of a function without a buffer."""
    declared, passed = [], []
    for each in it.parameters:
        is_pointer = each.type.endswith("*")
        by_kind = {
            "argc": "nullptr",
            "argv": "nullptr",
            "status": f"one({each.name})",
            "statuses": f"all({each.name})",
        }
        passed.append(by_kind.get(each.kind, each.name if is_pointer else f"*{each.name}"))
        if each.kind not in ("argc", "argv"):
            declared.append(f"{each.type if is_pointer else f'const {each.type}*'} {each.name}")
    counted = ""
    if it.has("index"):
        counted = f"  {'if (*flag != 0) ' if it.has('flag') else ''}count_from_one(index);\n"
    if it.has("indices"):
        counted = "  count_from_one(indices, *completed);\n"
    parameters = ", ".join([*declared, "int* error"])
    code = f"MPI_{it.name}({', '.join(passed)})"
    return (
        f"void mpi_{it.name.lower()}_f08_({parameters}) {{\n  give(error, {code});\n{counted}}}\n"
    )


def is_collective(it: Function) -> bool:
    """Return whether a wrapper's body is one of the collectives'."""
    return it.how == "collective"


def is_call(it: Function) -> bool:
    """Return whether a wrapper is made whose body is none of the collectives'."""
    return it.how not in ("collective", "hand")


def is_fortran(it: Function) -> bool:
    """Return whether Fortran of MPI 3 has it, without an argument of type CHARACTER."""
    return it.since == 3 and not it.has("form")


def is_f08(it: Function) -> bool:
    """Return whether MPICH's mpi_f08 passes C's function by."""
    return is_fortran(it) and not it.buffers


# Header, functions, and the maker of each one's text.
SOURCES: dict[str, tuple[str, Callable[[Function], bool], Callable[[Function], str]]] = {
    "collectives": ("collectives/collectives.hpp", is_collective, wrapper),
    "calls": ("calls/calls.hpp", is_call, wrapper),
    "fortran_open_mpi": ("fortran/fortran_open_mpi.hpp", is_fortran, open_mpi),
    "fortran_mpich": ("fortran/fortran_mpich.hpp", is_f08, mpich),
}


def main() -> None:
    """Write one of SOURCES."""
    what, out = sys.argv[1:]
    header, chosen, made = SOURCES[what]
    texts = [made(it) for it in read_functions() if chosen(it)]
    namespaces = FORTRAN if what.startswith("fortran") else FORTRAN.splitlines()[0] + "\n"
    head = f'{HEAD}#include "interpose/{header}"\n\n{namespaces}\nextern "C" {{\n'
    Path(out).write_text("\n".join([head, *texts, '}  // extern "C"\n']), encoding="utf-8")


if __name__ == "__main__":
    main()
