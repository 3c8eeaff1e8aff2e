"""Benchmarks: one module each, named like it, with its equations and what a system should reach.

To add a model, add a module with what :class:`Model` lists; nothing else changes.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Protocol, cast

from plumbline.model.prediction import Prediction
from plumbline.record.record import Record
from plumbline.system.system import Figures, Need


class Model(Protocol):
    """The part of a module that predicts the cases of a record."""

    NEEDS: Need  # of a system: which figures, and so which calibration
    TRANSPORTS: frozenset[
        str
    ]  # that there is a model for; "none" for a benchmark that sends nothing

    def describe(self, record: Record, figures: Figures) -> str:
        """The model's name and equation, for the user."""

    def expect(self, record: Record, figures: Figures) -> dict[str, Prediction]:
        """The prediction of every case of ``record``, by key; ``figures`` has what is needed."""


def need_of(model: Model, transport: str | None) -> Need:
    """The figures of a system that ``model`` needs for a run over ``transport``.

    Links between boards are a system file's only: no machine is calibrated for them.
    """
    return "channel" if transport == "channel" else model.NEEDS


def model_of(benchmark: str) -> Model | None:
    """The model of ``benchmark``, or None where there is none yet."""
    name = f"{__name__}.{benchmark}"
    if not benchmark.isidentifier() or importlib.util.find_spec(name) is None:
        return None
    module = importlib.import_module(name)
    return cast(Model, module) if hasattr(module, "expect") else None
