"""A machine's table ``[job]``: what its batch jobs need (``plumb submit``)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from plumbline.base.errors import UsageError
from plumbline.base.toml import Table

# Words that stand in a job's script as they are; a constraint has operators.
_WORD = re.compile(r"[\w.@+/:,=-]+")
_CONSTRAINT = re.compile(r"[\w.@+/:,=&|*!()\[\]-]+")
_TIME = re.compile(r"\d+(-\d+(:\d+){0,2}|(:\d+){0,2})")


def checked_word(name: str, text: str) -> str:
    """``text`` if it may stand in a job's script as ``name``. Raises :class:`UsageError`."""
    form = {"constraint": _CONSTRAINT, "time": _TIME}.get(name, _WORD)
    if not form.fullmatch(text) or text.startswith("-"):
        expected = {
            "constraint": "features with & | * ! ( ) [ ]",
            "time": "minutes, H:M:S or D-H:M:S",
        }.get(name, "a word of letters, digits and .@+/:,=-_")
        raise UsageError(f"{name} must be {expected}, not {text!r}")
    return text


def _form(name: str) -> AfterValidator:
    def check(text: str) -> str:
        try:
            return checked_word(name, text)
        except UsageError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(check)


class JobTable(Table):
    """Options of the machine's jobs; ``modules`` are loaded first, in this order.

    On FPGA machines a constraint selects nodes by the boards' support package.
    """

    partition: Annotated[str, _form("partition")] | None = None
    account: Annotated[str, _form("account")] | None = None
    constraint: Annotated[str, _form("constraint")] | None = None
    time: Annotated[str, _form("time")] | None = None
    exclusive: bool = False
    modules: list[Annotated[str, _form("module")]] = Field(default_factory=list)
