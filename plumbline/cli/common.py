"""The common parts of all groups of commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from plumbline.base.errors import InterruptError, UsageError
from plumbline.base.paths import find_home
from plumbline.cli.options import choice
from plumbline.record.expectations import TOLERANCE
from plumbline.record.store import record_files
from plumbline.system.files import known_systems


class Commands(TyperGroup):
    """The commands; an interrupt is handled like other failures."""

    def invoke(self, ctx: Any) -> Any:
        """Run the given command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptError("interrupted") from None


app = typer.Typer(
    name="plumb",
    cls=Commands,
    help="Measures accelerated HPC machines, proves each result right, and judges it by a model.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def record_names() -> list[str]:
    """Completions of a record."""
    return ["last", *(path.stem for path in record_files(find_home(os.environ).records))]


def system_option(help: str) -> Any:
    """The option ``--system``."""
    return typer.Option("--system", help=help, autocompletion=lambda: known_systems(find_home()))


Form = Annotated[str, choice("--format", "form of the list", ["text", "json"])]
FormOrCsv = Annotated[str, choice("--format", "form of the table", ["text", "json", "csv"])]
Scalar = Annotated[str, choice("--type", "type of the elements", ["half", "float", "double"])]
RecordName = Annotated[
    str, typer.Argument(help="a record's file or name, or: last", autocompletion=record_names)
]
Tolerance = Annotated[float | None, typer.Option(min=0, help=TOLERANCE)]


def stderr() -> Console:
    """The console of progress and notes."""
    return Console(stderr=True)


def refuse_ignored(context: typer.Context, allowed: Mapping[str, bool], why: str) -> None:
    """Refuse the given options that are of other uses of a command.

    ``allowed``: by parameter, whether this use has it. Raises :class:`UsageError`.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        given = source is not None and source.name == "COMMANDLINE"
        if given and not allowed.get(name, True):
            flag = next((one for one in parameter.opts if one.startswith("--")), parameter.opts[0])
            raise UsageError(f"{flag} does not apply to {why}")
