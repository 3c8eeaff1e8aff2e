"""Options of typer, generated from the engine's (``--describe``) or declared here.

typer parses, completes and prints them. Hand-written, as typer lacks them: options that depend on
other arguments (the world and the benchmark), and sizes such as 2Ki.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from plumbline.base.errors import PlumbError, UsageError
from plumbline.engine.options import Given, OptionGroup, check, check_pairs, flags_of, value_text
from plumbline.engine.program import (
    BenchmarkSpec,
    Description,
    OptionSpec,
    all_benchmarks,
    find_engine_for,
)
from plumbline.run.plan import Request

Sections = Mapping[str, Sequence[tuple[str, str]]]


def choice(flag: str, help: str, choices: Sequence[str], alias: str | None = None) -> Any:
    """An option that takes one of ``choices``, by either name."""
    spec = OptionSpec(name=flag.removeprefix("--"), type="choice", choices=list(choices))
    return typer.Option(
        *filter(None, (flag, alias)),
        help=help,
        metavar="|".join(choices),
        parser=lambda text: check(spec, text),
        autocompletion=lambda: list(choices),
    )


@dataclass(frozen=True)
class Kind:
    """A command whose options the engine declares.

    ``groups`` selects them, ``fixed`` is the benchmark if the arguments name none, ``help`` the
    text above the options. ``more`` are benchmarks that only this command has.
    """

    groups: Callable[[Description, BenchmarkSpec | None], list[OptionGroup]]
    act: Callable[[Request], Any]
    help: str = ""
    fixed: str | None = None
    more: Sequence[BenchmarkSpec] = ()


class Declared(TyperCommand):
    """Builds the command from the arguments; subclasses define its kind."""

    kind: Kind

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the command with the options selected by the arguments."""
        try:
            command: Any = command_for(self.name or "", args, self.kind)
        except PlumbError:
            if not extra.get("resilient_parsing"):  # as completion does
                raise
            command = super()
        return command.make_context(info_name, args, parent, **extra)


def command_for(name: str, words: Sequence[str], kind: Kind) -> TyperCommand:
    """The command ``name`` for ``words``. Raises :class:`UsageError` for an unknown benchmark."""
    engine = find_engine_for(words, os.environ)
    names = {known.name for known in [*engine.description.benchmarks, *kind.more]}
    found = kind.fixed or next((word for word in words if word in names), None)
    description = engine.description if found else all_benchmarks()
    if found is None and words and words[0][:1] not in ("-", ""):
        found = words[0]
    if kind.more:
        every = [*description.benchmarks, *kind.more]
        description = description.model_copy(update={"benchmarks": every})
    benchmark = description.benchmark(found) if found is not None else None
    groups = kind.groups(description, benchmark)

    def act(values: dict[str, str]) -> Any:
        check_pairs(values, groups)
        assert benchmark is not None
        return kind.act(Request(engine, benchmark, Given(values)))

    text, lists = _texts(kind, description, benchmark)
    return command_of(name, groups, act, None if kind.fixed else description, text, lists)


def command_of(
    name: str,
    groups: Sequence[OptionGroup],
    act: Callable[[dict[str, str]], Any],
    argument: Description | None = None,
    help: str = "",
    lists: Sections | None = None,
) -> TyperCommand:
    """A command with the options of ``groups``; ``act`` receives the given texts by name.

    Its argument is a benchmark of ``argument``; ``lists`` are part of its help.
    """
    specs = {f"option_{n}": o for n, o in enumerate(o for group in groups for o in group.options)}
    titles = {id(option): group.title for group in groups for option in group.options}

    def run(**words: Any) -> Any:
        given = [(specs[key], value) for key, value in words.items() if key in specs and value]
        return act({spec.name: _value(spec, value) for spec, value in given})

    parameters = [_parameter(key, spec, titles[id(spec)]) for key, spec in specs.items()]
    if argument is not None:
        parameters.append(_benchmark(argument))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    bare = {flag: f"--{o.name}={o.bare}" for o in specs.values() if o.bare for flag in flags_of(o)}
    words = {word: o.name for o in specs.values() for word in o.words}
    shape = type("_Shape", (_InGroups,), {"lists": lists or {}, "bare": bare, "words": words})
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    settings = {"help_option_names": ["--help", "-h"], "max_content_width": 120}
    app.command(name, cls=shape, help=help, context_settings=settings)(run)
    made: TyperCommand = typer.main.get_command(app)  # type: ignore[assignment]
    return made


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


class PlainUsage(TyperCommand):
    """A command whose usage shows an argument as RECORD..., without typer's braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The pieces of the usage after the command's name."""
        return [piece.strip("{").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


class _InGroups(PlainUsage):
    """A command whose help lists its options in groups, between ``lists``."""

    lists: Sections
    bare: Mapping[str, str]  # flags that stand without a value, with the one that they then have
    words: Mapping[str, str]  # words that stand alone, with the option whose values they are

    def parse_args(self, ctx: Any, args: Any) -> Any:
        """Read the words."""
        gathered: dict[str, list[str]] = {}
        for word in args:
            if word in self.words:
                gathered.setdefault(self.words[word], []).append(word)
        rest = [self.bare.get(word, word) for word in args if word not in self.words]
        rest += [f"--{name}={','.join(values)}" for name, values in gathered.items()]
        return super().parse_args(ctx, rest)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups, and the lists after those."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if parameter.name != "benchmark" else None
            if record:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                groups.setdefault(title, []).append(record)
        for title, rows in {**self.lists, **groups}.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _parameter(key: str, spec: OptionSpec, title: str) -> inspect.Parameter:
    shown: dict[str, Any] = {"help": value_text(spec), "rich_help_panel": title}
    if spec.type == "flag":
        option = typer.Option(*flags_of(spec), **shown)
        return inspect.Parameter(key, _KEYWORD, default=False, annotation=Annotated[bool, option])
    kinds = {"integer": "N", "number": "X", "text": "TEXT", "choice": "|".join(spec.choices or [])}
    option = typer.Option(
        *flags_of(spec),
        metavar=kinds[spec.type],
        show_default=False,
        autocompletion=lambda: spec.choices or [],
        **shown,
    )
    every = Annotated[list[str] | None, option]  # a list, to detect a second value
    return inspect.Parameter(key, _KEYWORD, default=None, annotation=every)


def _benchmark(description: Description) -> inspect.Parameter:
    argument = typer.Argument(
        metavar="BENCHMARK",
        parser=lambda text: description.benchmark(text).name,
        autocompletion=lambda: [one.name for one in description.benchmarks],
    )
    return inspect.Parameter("benchmark", _KEYWORD, annotation=Annotated[str, argument])


def _value(spec: OptionSpec, given: bool | list[str]) -> str:
    if isinstance(given, bool):
        return "true"
    if len(given) > 1:
        raise UsageError(f"--{spec.name} must be given once, not {len(given)} times")
    return check(spec, given[0])


def _texts(
    kind: Kind, description: Description, benchmark: BenchmarkSpec | None
) -> tuple[str, Sections]:
    """The text above the options, and the lists in the help."""
    if benchmark is None:
        known = [(one.name, one.title) for one in description.benchmarks if not one.family]
        return kind.help, {"Benchmarks": known}
    if kind.fixed:
        return kind.help, {}
    presets = [
        (name, " ".join(f"--{option} {value}" for option, value in settings.items()))
        for name, settings in benchmark.presets.items()
    ]
    title = f"{benchmark.title}\n\nSource: {benchmark.source}"
    return "\n\n".join(filter(None, [title, kind.help])), {"Presets": presets} if presets else {}
