"""Models: what a system should take for a case, one module a benchmark, named like it.

A module offers what :class:`Model` says: what it needs of a system, one line that names the model
and its equation, and an expectation for every case. To add a model, add a module; nothing else
changes.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from plumbline.record.record import Record
from plumbline.system.system import Figures, Need


@dataclass(frozen=True)
class Expectation:
    """The time that one count of a case should take, in seconds, and the part that bounds it.

    ``parts`` are what the model adds up, or the bounds of which it takes the longest, in seconds.
    Where ``seconds`` is None, ``reason`` says why. A ``reason`` beside a time says why the case
    cannot be judged by it.
    """

    seconds: float | None
    bound: str | None = None
    parts: dict[str, float] = field(default_factory=dict)
    reason: str | None = None


def slowest(work: float, rates: Mapping[str, float]) -> Expectation:
    """``work`` at the least of ``rates``, each in the work's unit a second."""
    parts = {name: work / rate for name, rate in rates.items()}
    bound = max(parts, key=parts.__getitem__)
    return Expectation(parts[bound], bound=bound, parts=parts)


class Model(Protocol):
    """What a module of this package offers."""

    NEEDS: Need  # of a system: which figures, and so which calibration
    TRANSPORTS: frozenset[str]  # that there is a model for; "none" for what sends nothing

    def describe(self, record: Record, figures: Figures) -> str:
        """The model's name and equation, for the user."""

    def expect(self, record: Record, figures: Figures) -> dict[str, Expectation]:
        """The expectation of every case of ``record``, by key; ``figures`` has what is needed."""


def need_of(model: Model, transport: str | None) -> Need:
    """What ``model`` needs to know of a system for a run over ``transport``.

    Links between boards are a system file's only: no machine is calibrated for them.
    """
    return "channel" if transport == "channel" else model.NEEDS


def model_of(benchmark: str) -> Model | None:
    """The model of ``benchmark``, or None where there is none yet."""
    name = f"{__name__}.{benchmark}"
    if not benchmark.isidentifier() or importlib.util.find_spec(name) is None:
        return None
    return cast(Model, importlib.import_module(name))
