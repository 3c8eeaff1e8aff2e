"""Trees of sysfs with sensors whose power follows a curve in real time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

Curve = Callable[[float], float]  # watts at seconds since the epoch


@dataclass
class Counter:
    """A file that counts the joules of ``watts``, in units of ``unit`` joules, below ``limit``."""

    path: Path
    watts: Curve
    unit: float = 1e-6
    limit: int | None = None
    start: int = 0
    joules: float = 0.0
    then: float = 0.0
    form: str = "{}"

    def update(self, now: float) -> None:
        """Count up to ``now``."""
        self.joules += integral(self.watts, self.then, now) if self.then else 0.0
        self.then = now
        count = self.start + int(self.joules / self.unit)
        put(self.path, self.form.format(count % self.limit if self.limit else count))


@dataclass
class Power:
    """A file with the power of now, in units of ``unit`` watts."""

    path: Path
    watts: Curve
    unit: float = 1e-6

    def update(self, now: float) -> None:
        """Write the power of ``now``."""
        put(self.path, str(int(self.watts(now) / self.unit)))


@dataclass
class Playing:
    """Updates ``sensors`` every ``interval`` seconds within its scope."""

    sensors: Sequence[Counter | Power]
    interval: float = 0.005
    _updates: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._update()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop.set()
        assert self._thread is not None
        self._thread.join()

    def _update(self) -> None:
        for sensor in self.sensors:
            sensor.update(time.time())
        self._updates.append(time.time())

    def late(self, begin: float, end: float) -> float:
        """Seconds of this time by which updates came later than one interval after they were due."""
        within = [t for t in self._updates if begin - 1 < t < end + 1]
        gaps = pairwise(within)
        return sum(max(0.0, b - a - 2 * self.interval) for a, b in gaps if a < end and b > begin)

    def _play(self) -> None:
        while not self._stop.wait(self.interval):
            self._update()


def put(path: Path, text: str) -> None:
    """Replace the contents of ``path`` at once, as sysfs does."""
    beside = path.parent.with_name(f".{path.parent.name}-{path.name}")
    beside.write_text(text + "\n")
    beside.rename(path)


def integral(watts: Curve, begin: float, end: float, steps: int = 0) -> float:
    """Joules of a curve, by Simpson's rule in steps of at most 0.5 ms."""
    steps = steps or 2 * max(1, math.ceil((end - begin) / 1e-3))
    width = (end - begin) / steps
    weights = ((1, 4, 2)[0 if i in (0, steps) else 1 + (i % 2 == 0)] for i in range(steps + 1))
    return width / 3 * sum(w * watts(begin + i * width) for i, w in enumerate(weights))


def rapl_zone(
    root: Path, zone: str, name: str, *, range_uj: int = 262143328850, limit_uw: int | None = None
) -> Path:
    """A zone of RAPL's; returns its counter's file."""
    folder = root / "class" / "powercap" / zone
    folder.mkdir(parents=True)
    put(folder / "name", name)
    put(folder / "max_energy_range_uj", str(range_uj))
    if limit_uw is not None:
        put(folder / "constraint_0_power_limit_uw", str(limit_uw))
    put(folder / "energy_uj", "0")
    return folder / "energy_uj"
