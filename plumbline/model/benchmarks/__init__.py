"""Benchmarks: one module each, of the same name, with its equations and predictions.

To add a model, add a module with the members of :class:`Model`, or with an object ``MODEL`` that
has them; nothing else changes.
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

if TYPE_CHECKING:  # NumPy would slow the start of every command
    from plumbline.model.forecast import Forecast, Scenario


class Model(Protocol):
    """The part of a module that predicts the cases of a record."""

    NEEDS: Need  # kind of a system's figures, and of the calibration
    TRANSPORTS: frozenset[str]  # modelled transports; "none" for a benchmark without transfers

    def describe(self, record: Record, figures: Figures) -> str:
        """The model's name and equation."""

    def expect(self, record: Record, figures: Figures) -> dict[str, Prediction]:
        """The prediction of every case of ``record`` from ``figures``, by key."""


class Forecaster(Protocol):
    """The part of a module that forecasts a system."""

    METRIC: str
    UNIT: str
    EQUATION: str
    SIZE: str  # meaning and unit of a size; "" without sizes
    GROWS: Literal["", "ranks", "side"]  # growth of one problem over all devices with their number
    RANKS: Sequence[int]  # of a table where none are asked for
    OPERATIONS: tuple[str, ...]  # of a table where none are asked for
    MORE: tuple[str, ...]  # others that may be asked for
    SENDS: bool  # whether it needs a transport

    def sizes(self, system: System) -> list[float]:
        """The default sizes of a table, of one device."""

    def forecast(self, system: System, scenario: Scenario) -> Forecast:
        """The forecast of ``scenario``."""


BENCHMARKS = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def _of(benchmark: str) -> object:
    """The models of ``benchmark``: its module, or the module's ``MODEL``."""
    module = importlib.import_module(f"{__name__}.{benchmark}")
    return getattr(module, "MODEL", module)


def need_of(model: Model, transport: str | None) -> Need:
    """The figures of a system that ``model`` needs for a run over ``transport``.

    Links between boards are a system file's only: no machine is calibrated for them.
    """
    return "channel" if transport == "channel" else model.NEEDS


def model_of(benchmark: str) -> Model | None:
    """The model of ``benchmark``, or None; tests of OSU under their own names have its model."""
    if benchmark.startswith("osu_") and benchmark != "osu_shmem":
        benchmark = "osu"
    if benchmark not in BENCHMARKS:
        return None
    found = _of(benchmark)
    return cast(Model, found) if hasattr(found, "expect") else None


def missed_by(benchmark: str) -> float:
    """The factor by which right kernels of ``benchmark`` may miss its bound: ``MISSED``, else 3."""
    found = _of(benchmark) if benchmark in BENCHMARKS else None
    return float(getattr(found, "MISSED", 3.0))


def forecaster_of(benchmark: str) -> Forecaster:
    """The forecasts of ``benchmark``. Raises :class:`UsageError` if there are none."""
    found = _of(benchmark) if benchmark in BENCHMARKS else None
    if not hasattr(found, "forecast"):
        known = [name for name in BENCHMARKS if hasattr(_of(name), "forecast")]
        near = did_you_mean(benchmark, known)
        raise UsageError(f"no forecast of {benchmark} (choose from {', '.join(known)}){near}")
    return cast(Forecaster, found)


def shared_problem(benchmark: str, values: Mapping[str, str]) -> Shared | None:
    """The problem shared by the ranks of a run with these options, or None."""
    if benchmark not in BENCHMARKS:
        return None
    shared = getattr(_of(benchmark), "SHARED", None)
    if shared is None or (shared.only and values.get(shared.only[0]) != shared.only[1]):
        return None
    return cast(Shared, shared)


def scaled_metric(benchmark: str) -> str | None:
    """The metric, over all ranks, of a scaling series; None if the model defines none."""
    if benchmark not in BENCHMARKS:
        return None
    found = _of(benchmark)
    return cast("str | None", getattr(found, "SCALED", getattr(found, "METRIC", None)))
