"""Completion in the shell: benchmarks, options and their choices, from the engine's description."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from plumbline.base.errors import PlumbError, UsageError, did_you_mean
from plumbline.base.paths import find_home
from plumbline.cli.common import OWN_WORDS, app
from plumbline.engine import runtimes
from plumbline.engine.options import OptionGroup, flags_of
from plumbline.engine.program import OptionSpec, all_benchmarks, find_engine_for
from plumbline.record.store import record_files
from plumbline.run.plan import comparison_groups, option_groups
from plumbline.run.show import FORMATS
from plumbline.system.files import known_systems

_BASH = """_plumb() {
    local IFS=$'\\n'
    COMPREPLY=($(plumb _complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _plumb plumb
"""
_ZSH = """#compdef plumb
_plumb() {
    local -a found
    found=(${(f)"$(plumb _complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -- $found; else _files; fi
}
compdef _plumb plumb
"""
_FISH = """function __plumb_complete
    plumb _complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c plumb -f -a '(__plumb_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def script(shell: str) -> str:
    """The script that a shell reads to complete ``plumb``."""
    if shell not in SCRIPTS:
        known = ", ".join(SCRIPTS)
        raise UsageError(
            f"invalid shell '{shell}' (choose from {known}){did_you_mean(shell, SCRIPTS)}"
        )
    return SCRIPTS[shell]


def candidates(
    words: Sequence[str], commands: Mapping[str, Sequence[str]], environ: Mapping[str, str]
) -> list[str]:
    """What may stand for the last of ``words`` (the line after ``plumb``, the last maybe empty).

    ``commands`` has the flags of each, but for those whose options are the engine's.
    """
    *before, last = words or [""]
    try:
        found = _candidates(before, last, commands, environ)
    except PlumbError:
        found = []
    return sorted({word for word in found if word.startswith(last)})


def _candidates(
    before: Sequence[str],
    last: str,
    commands: Mapping[str, Sequence[str]],
    environ: Mapping[str, str],
) -> Sequence[str]:
    if not before:
        return list(commands)
    if before[0] in ("run", "calibrate", "compare-transports", "scale"):
        return _run(before, last, environ)
    if before == ["show"]:
        return _records(environ)
    if before[0] in ("model", "explain", "fit", "advise", "simulate"):
        return _of_systems(before, last, commands.get(before[0], []), environ)
    fixed = {
        "setup": runtimes.NAMES,
        "completion": list(SCRIPTS),
        "schema": ["record", "system"],
    }
    return FORMATS if before[-1] == "--format" else fixed.get(" ".join(before), [])


def _records(environ: Mapping[str, str]) -> list[str]:
    return ["last", *(path.stem for path in record_files(find_home(environ).records))]


def _of_systems(
    before: Sequence[str], last: str, flags: Sequence[str], environ: Mapping[str, str]
) -> Sequence[str]:
    """Commands about systems and models."""
    command = before[0]
    values: dict[str, Sequence[str]] = {
        "--system": known_systems(find_home(environ)),
        "--format": ["text", "json", *(["csv"] if command in ("model", "advise") else [])],
        "--scaling": ["weak", "strong"],
        "--type": ["half", "float", "double"],
    }
    if before[-1] in values:
        return values[before[-1]]
    if last.startswith("-"):
        return flags
    if command == "fit" or list(before) == ["explain"]:
        return _records(environ)
    return _subjects(before)


def _subjects(before: Sequence[str]) -> Sequence[str]:
    from plumbline.model.benchmarks import BENCHMARKS
    from plumbline.model.published import tables

    if list(before) == ["model", "check"]:
        return [table.name for table in tables()]
    subjects = {"model": [*BENCHMARKS, "check"], "simulate": ["hpl", "ptrans", "shallow_water"]}
    return subjects.get(" ".join(before), [])


def _run(before: Sequence[str], last: str, environ: Mapping[str, str]) -> Sequence[str]:
    names = [benchmark.name for benchmark in all_benchmarks(environ).benchmarks]
    chosen = next((word for word in before if word in names), None)
    description = find_engine_for(before, environ).description
    benchmark = description.benchmark(chosen) if chosen else None
    groups = _groups_of(before[0])
    options = [o for group in groups(description, benchmark) for o in group.options]
    previous = _option(options, before[-1])
    if previous is not None and previous.type != "flag":
        return previous.choices or []
    if last.startswith("-"):
        return ["--help", *(f"--{option.name}" for option in options)]
    return names if chosen is None and before[0] != "calibrate" else []


def _groups_of(command: str) -> Callable[..., list[OptionGroup]]:
    if command == "scale":
        from plumbline.run.scale import scaling_groups  # SciPy takes a while to import

        return scaling_groups
    return comparison_groups if command == "compare-transports" else option_groups


def _option(options: Sequence[OptionSpec], flag: str) -> OptionSpec | None:
    return next((option for option in options if flag in flags_of(option)), None)


@app.command("completion")
def completion_script(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish")],
) -> None:
    """Print a shell's completion script.

    To use it now: eval "$(plumb completion bash)".
    """
    print(script(shell), end="")


@app.command("_complete", hidden=True, context_settings=OWN_WORDS, add_help_option=False)
def _complete(context: typer.Context) -> None:
    shown: Any = typer.main.get_command(app)
    commands = {
        name: ["--help", *(flag for one in command.params for flag in one.opts if flag[:2] == "--")]
        for name, command in shown.commands.items()
        if not command.hidden
    }
    print("\n".join(candidates(context.args, commands, os.environ)))
