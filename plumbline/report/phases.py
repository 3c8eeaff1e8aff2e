"""Timeline of each rank's phases in the last repetition of a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plumbline.base.errors import UsageError
from plumbline.model.simulate import Span
from plumbline.record.record import Case

COLUMNS = 72
"""Of a row in :func:`text_of`."""

MOST_OUTER = 4
"""Lives that a phase around others has, at most."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class RankTime:
    """One rank's repetition, in seconds: from first phase to last, and the time in no phase.

    Phases that enclose others (HPL's factorisation) count for neither.
    """

    rank: int
    seconds: float
    uncovered_s: float


def spans_of(case: Case) -> list[Span]:
    """All spans of all phases. Raises :class:`UsageError` if the record has none."""
    spans = [
        Span(str(rank), name, name, begin, end)
        for name, phase in case.phases.items()
        for rank, lives in enumerate(phase.last_spans_by_rank)
        for begin, end in lives
    ]
    if not spans:
        raise UsageError(f"the record tells no phases of {case.key}: --timeline needs a newer run")
    return spans


def outer_phases(spans: Sequence[Span]) -> set[str]:
    """Names of phases with few spans that enclose, on one rank, spans of at least two others.

    Others may not reach beyond them: a kernel that goes on after an exchange is none.
    """
    lives = Counter((span.rank, span.name) for span in spans)
    outer = set()
    for span in spans:
        if lives[span.rank, span.name] > MOST_OUTER:
            continue
        during = [
            other
            for other in spans
            if other.rank == span.rank
            and other.name != span.name
            and other.start_s < span.end_s
            and span.start_s < other.end_s
        ]
        inside = {o.name for o in during if span.start_s <= o.start_s and o.end_s <= span.end_s}
        around = any(o.start_s < span.start_s < o.end_s < span.end_s for o in during)
        beyond = any(span.start_s < o.start_s < span.end_s < o.end_s for o in during)
        if len(inside) > 1 and not around and not beyond:
            outer.add(span.name)
    return outer


def rank_times(spans: Sequence[Span]) -> list[RankTime]:
    """The time of each rank, and the part of it outside of all inner phases."""
    outer = outer_phases(spans)
    times = []
    for rank in sorted({span.rank for span in spans}, key=int):
        own = [span for span in spans if span.rank == rank]
        whole = max(s.end_s for s in own) - min(s.start_s for s in own)
        covered = sum(
            end - begin
            for begin, end in _joined([(s.start_s, s.end_s) for s in own if s.name not in outer])
        )
        times.append(RankTime(int(rank), whole, max(0.0, whole - covered)))
    return times


def text_of(case: Case) -> str:
    """A row per phase of each rank, dark while active, and the time in no phase."""
    spans = spans_of(case)
    outer = outer_phases(spans)
    first = min(span.start_s for span in spans)
    last = max(span.end_s for span in spans)
    names = [name for name in case.phases if any(span.name == name for span in spans)]
    width = max(len(name) for name in names)
    scale = COLUMNS / ((last - first) or 1)
    lines = [f"{case.key}: last repetition, {(last - first) * 1e3:.4g} ms from edge to edge"]
    for time in rank_times(spans):
        share = time.uncovered_s / time.seconds if time.seconds else 0.0
        lines.append(
            f"rank {time.rank}: {time.seconds * 1e3:.4g} ms, in neither kernel nor exchange "
            f"{time.uncovered_s * 1e3:.4g} ms ({share:.1%})"
        )
        for name in names:
            own = [s for s in spans if s.rank == str(time.rank) and s.name == name]
            row = _row(((s.start_s - first) * scale, (s.end_s - first) * scale) for s in own)
            total = sum(s.end_s - s.start_s for s in own) * 1e3
            note = "  (around others)" if name in outer else ""
            lines.append(f"  {name:{width}} |{row}| {total:.4g} ms{note}")
    return "\n".join(lines)


def _row(intervals: Iterable[Interval]) -> str:
    """Columns; darker if more of their time is covered."""
    marks = " ░▒▓█"
    covered = [0.0] * COLUMNS
    for begin, end in _joined(list(intervals)):
        for column in range(max(0, int(begin)), min(COLUMNS, int(end) + 1)):
            covered[column] += max(0.0, min(end, column + 1) - max(begin, column))
    return "".join(marks[min(4, -int(-share * 4 // 1))] for share in covered)


def _joined(intervals: list[Interval]) -> list[Interval]:
    """The same times as disjoint intervals, in order."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined
