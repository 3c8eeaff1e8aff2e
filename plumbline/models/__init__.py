"""Models: what a system should take for a case, one module a benchmark, named like it.

A module offers ``describe(record) -> str``, one line that names the model and its equation, and
``expect(record, legs) -> dict[str, Expectation]`` with an entry for every case, by key. To add a
model, add a module; nothing else changes.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import Protocol, cast

from plumbline.record import Record
from plumbline.systems import Legs


@dataclass(frozen=True)
class Expectation:
    """The time that one count of a case should take, in seconds, and the part that bounds it.

    ``parts`` are the legs' shares in seconds. Where ``seconds`` is None, ``reason`` says why.
    """

    seconds: float | None
    bound: str | None = None
    parts: dict[str, float] = field(default_factory=dict)
    reason: str | None = None


class Model(Protocol):
    """What a module of this package offers."""

    TRANSPORTS: frozenset[str]

    def describe(self, record: Record) -> str:
        """The model's name and equation, for the user."""

    def expect(self, record: Record, legs: Legs) -> dict[str, Expectation]:
        """The expectation of every case of ``record``, by key."""


def model_of(benchmark: str) -> Model | None:
    """The model of ``benchmark``, or None where there is none yet."""
    name = f"{__name__}.{benchmark}"
    if not benchmark.isidentifier() or importlib.util.find_spec(name) is None:
        return None
    return cast(Model, importlib.import_module(name))
