"""The parts that all groups of commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from plumbline.base.errors import InterruptError
from plumbline.engine.options import check
from plumbline.engine.program import OptionSpec


class Commands(TyperGroup):
    """The commands; an interrupt of one is a failure like any other, and no library's to tell."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given."""
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

# Of commands whose options are declared by the engine.
OWN_WORDS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}
Form = Annotated[str, typer.Option("--format", help="text or json")]


class ListTaker(TyperCommand):
    """A command whose usage names a list as RECORD..., without the braces of Typer's own."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage behind the command's name, in pieces."""
        return [piece.strip("{").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def wants_help(tokens: list[str]) -> bool:
    """Whether help was asked for."""
    return "--help" in tokens or "-h" in tokens


def text_or_json(form: str) -> str:
    """``--format`` of lists: text or json."""
    return choice("--format", form, ["text", "json"])


def choice(flag: str, given: str, choices: list[str]) -> str:
    """``given``, which must be one of ``choices``."""
    check(OptionSpec(name=flag, type="choice", choices=choices), given, flag)
    return given


def stderr() -> Console:
    """The console of progress and notes."""
    return Console(stderr=True)
