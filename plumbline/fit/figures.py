"""Parts of a fit: figures with intervals, and the deviation of the cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from plumbline.fit.regression import Estimate
from plumbline.record.record import Case

MISFIT = 0.1  # relative deviation of a case that does not fit
SOURCE = "fitted"


@dataclass(frozen=True)
class Figure:
    """One estimated figure: ``unit`` is that of the estimate."""

    name: str
    estimate: Estimate
    unit: str


@dataclass(frozen=True)
class Fitted:
    """The estimates for one part of the system, and measured / fitted of its cases."""

    what: str
    figures: list[Figure]
    ratios: list[tuple[str, float]] = field(default_factory=list)

    @property
    def misfits(self) -> list[tuple[str, float]]:
        """Cases further off than :data:`MISFIT`, the worst first."""
        off = [one for one in self.ratios if abs(one[1] - 1) > MISFIT]
        return sorted(off, key=lambda one: max(one[1], 1 / one[1]), reverse=True)


def measured(case: Case) -> float | None:
    """Seconds of one count of a case with a right result."""
    return case.median_s() if case.outcome.status == "passed" else None


def noise_of(cases: Iterable[Case]) -> float:
    """The median relative error of the medians, from their 95 % intervals."""
    errors = [
        (interval[1] - interval[0]) / 4 / seconds
        for case in cases
        if (interval := case.interval_s()) and (seconds := case.median_s())
    ]
    return max(median(errors), 1e-3) if errors else 0.005
