"""Benchmarks: one module each, named like it, with its equations and what a system should reach.

To add a model, add a module with what :class:`Model` lists; nothing else changes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, cast

from plumbline.base.errors import UsageError, did_you_mean
from plumbline.model.prediction import Prediction
from plumbline.model.shared import Shared
from plumbline.record.record import Record
from plumbline.system.system import Figures, Need, System

if TYPE_CHECKING:  # NumPy takes a while to import, which every command would pay
    from plumbline.model.forecast import Forecast, Scenario


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


class Forecaster(Protocol):
    """The part of a module that forecasts a system."""

    METRIC: str
    UNIT: str
    EQUATION: str
    SIZE: str  # what a size is, with its unit; "" where there is none
    GROWS: Literal["", "ranks", "side"]  # how one problem over all devices grows with them
    RANKS: Sequence[int]  # of a table where none are asked for
    OPERATIONS: tuple[str, ...]  # of a table where none are asked for
    MORE: tuple[str, ...]  # others that may be asked for
    SENDS: bool  # whether it needs a transport

    def sizes(self, system: System) -> list[float]:
        """The sizes of a table, where none are asked for: of one device."""

    def forecast(self, system: System, scenario: Scenario) -> Forecast:
        """The forecast of ``scenario``."""


BENCHMARKS = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def need_of(model: Model, transport: str | None) -> Need:
    """The figures of a system that ``model`` needs for a run over ``transport``.

    Links between boards are a system file's only: no machine is calibrated for them.
    """
    return "channel" if transport == "channel" else model.NEEDS


def model_of(benchmark: str) -> Model | None:
    """The model of ``benchmark``, or None where there is none yet."""
    if benchmark not in BENCHMARKS:
        return None
    module = importlib.import_module(f"{__name__}.{benchmark}")
    return cast(Model, module) if hasattr(module, "expect") else None


def forecaster_of(benchmark: str) -> Forecaster:
    """The forecasts of ``benchmark``. Raises :class:`UsageError` where there are none."""
    found = importlib.import_module(f"{__name__}.{benchmark}") if benchmark in BENCHMARKS else None
    if not hasattr(found, "forecast"):
        raise UsageError(
            f"no forecast of {benchmark} "
            f"(choose from {', '.join(BENCHMARKS)}){did_you_mean(benchmark, BENCHMARKS)}"
        )
    return cast(Forecaster, found)


def shared_problem(benchmark: str, values: Mapping[str, str]) -> Shared | None:
    """The problem that the ranks of a run with these options share, if they share one."""
    if benchmark not in BENCHMARKS:
        return None
    shared = getattr(importlib.import_module(f"{__name__}.{benchmark}"), "SHARED", None)
    if shared is None or (shared.only and values.get(shared.only[0]) != shared.only[1]):
        return None
    return cast(Shared, shared)


def scaled_metric(benchmark: str) -> str | None:
    """The metric of all ranks together by which a benchmark scales; None: no model names one."""
    if benchmark not in BENCHMARKS:
        return None
    module = importlib.import_module(f"{__name__}.{benchmark}")
    return cast("str | None", getattr(module, "SCALED", getattr(module, "METRIC", None)))
