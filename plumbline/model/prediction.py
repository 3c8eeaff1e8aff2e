"""A prediction: the expected time of a case, by parts, and the part that bounds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


class Bound(str):
    """The name of a part that may bound a case, and the properties of that bound.

    ``hint`` names the function of :mod:`plumbline.judge.hints` with the advice; ``advice`` is the
    advice itself, if a single sentence. ``in_caches``: the figure also holds for arrays within the
    caches. ``of_kernels``: a board's kernels as synthesised, by their clock.
    """

    hint: str
    advice: str
    in_caches: bool
    of_kernels: bool

    def __new__(
        cls,
        name: str,
        hint: str = "",
        *,
        advice: str = "",
        in_caches: bool = False,
        of_kernels: bool = False,
    ) -> Self:
        """The bound called ``name``."""
        made = super().__new__(cls, name)
        made.hint, made.advice = hint, advice
        made.in_caches, made.of_kernels = in_caches, of_kernels
        return made


@dataclass(frozen=True)
class Prediction:
    """Seconds of one case (of a record: of one count of it), and the part that bounds it.

    ``parts`` are the terms of the sum, or the bounds of the maximum, in seconds. ``reason`` is why
    ``seconds`` is None, or why the case cannot be judged by it.
    """

    seconds: float | None
    bound: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None

    @classmethod
    def unknown(cls, reason: str) -> Self:
        """No time, for this reason."""
        return cls(None, reason=reason)

    @classmethod
    def in_turn(cls, parts: Mapping[str, float], reason: str | None = None) -> Self:
        """Sequential parts: their sum, bound by the longest."""
        return cls(sum(parts.values()), max(parts, key=parts.__getitem__), parts, reason)

    @classmethod
    def at_once(cls, parts: Mapping[str, float], reason: str | None = None) -> Self:
        """Concurrent parts: the longest."""
        bound = max(parts, key=parts.__getitem__)
        return cls(parts[bound], bound, parts, reason)

    @classmethod
    def slowest(cls, work: float, rates: Mapping[str, float]) -> Self:
        """``work`` at the minimum of ``rates``, each in the work's unit a second."""
        return cls.at_once({name: work / rate for name, rate in rates.items()})

    @property
    def time_s(self) -> float:
        """The seconds of a prediction that has a time."""
        assert self.seconds is not None
        return self.seconds

    def properties(self) -> Bound:
        """The bound with its properties; parts without properties have a name only."""
        return self.bound if isinstance(self.bound, Bound) else Bound(self.bound or "")
