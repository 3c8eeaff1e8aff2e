"""The engine's progress: one JSON object per line on stderr (``--progress json``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Start(_Event):
    """The run begins."""

    event: Literal["start"]
    benchmark: str
    cases: int
    ranks: int
    record: str | None = None


class CaseStarted(_Event):
    """Case ``index`` (from 1) of ``of`` begins."""

    event: Literal["case_started"]
    index: int
    of: int
    key: str


class CaseFinished(_Event):
    """Case ``index`` ended with an outcome."""

    event: Literal["case_finished"]
    index: int
    of: int
    key: str
    outcome: str
    reason: str | None = None
    repetitions: int | None = None


class Warned(_Event):
    """A warning of the engine."""

    event: Literal["warning"]
    code: str
    text: str


class Failed(_Event):
    """The engine ends with this error."""

    event: Literal["error"]
    text: str


class Finish(_Event):
    """The run ended by itself; ``exit`` is the engine's intended exit status."""

    event: Literal["finish"]
    outcome: str
    exit: int
    seconds: float


Event = Start | CaseStarted | CaseFinished | Warned | Failed | Finish
_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


def parse_event(line: str) -> Event | None:
    """The event in ``line``, or None for other text."""
    if not line.startswith("{") or '"event"' not in line:
        return None
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError:
        return None


_BROKEN = re.compile(r"(?P<event>\{.*?)(?P<row>-{12,}|={12,})")


class EventLines:
    """Separates events from other text in lines that a launcher may have interrupted.

    Launchers insert their own text in the middle of lines: before an event, or between two pieces
    of one that the pipe has split. Then the pieces are joined again.
    """

    def __init__(self) -> None:
        self._pieces = ""

    def take(self, line: str) -> Iterator[Event | str]:
        """The events and texts in, or completed by, ``line``."""
        before, mark, after = line.partition("{")
        event = parse_event(mark + after)
        if event is None and self._pieces:
            before, event = "", parse_event(self._pieces + line)
            self._pieces = "" if event else self._pieces
        if event is not None:
            if before:
                yield before
            yield event
        elif broken := _BROKEN.fullmatch(line):
            self._pieces = broken["event"]
            yield broken["row"]
        else:
            yield line
