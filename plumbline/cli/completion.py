"""Shell completion, by typer."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.cli.common import app

SHELLS = ("bash", "zsh", "fish")
completion_init()  # typer's classes for these shells


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish", autocompletion=lambda: SHELLS)],
) -> None:
    """Print a shell's completion script.

    To use it now: eval "$(plumb completion bash)".
    """
    if shell not in SHELLS:
        raise UsageError(
            f"invalid shell '{shell}' (choose from {', '.join(SHELLS)})"
            f"{did_you_mean(shell, SHELLS)}"
        )
    script = get_completion_script(prog_name="plumb", complete_var="_PLUMB_COMPLETE", shell=shell)
    print(script)
