"""``plumb explain``: a record's cases compared with the model, and hints for higher rates.

Cases are grouped by verdict and bound, the worst first; failed and unmeasured cases, and those
without a model, are listed separately with their reasons.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from plumbline.base.columns import aligned
from plumbline.base.paths import Home
from plumbline.base.units import duration, ratio_text
from plumbline.judge.causes import causes
from plumbline.judge.hints import Member, advice, grouped
from plumbline.judge.history import earlier_launches
from plumbline.judge.judgement import Judgement, judge
from plumbline.judge.state import state_of
from plumbline.record.record import Case, Record
from plumbline.system.files import find_system, local_system
from plumbline.system.system import System

_SHOWN = 4  # cases per group without --all
_WIDTH = 100
_HEADS = {
    "slow": "slower than the model",
    "ambiguous": "around the limit of a verdict",
    "fast": "faster than the model",
    "ok": "as the model says",
    None: "beside the model, without a verdict",
}


@dataclass(frozen=True)
class Group:
    """Cases of one verdict and one bound, the worst first, and hints for them."""

    members: list[Member]
    advice: list[str]

    @property
    def head(self) -> str:
        """Verdict, bound, number of cases, and range of their ratios."""
        judged = self.members[0].judged
        ratios = [one.judged.ratio for one in self.members]
        span = f"ratio {ratio_text(ratios[0])}"
        if len(ratios) > 1:
            low, middle, high = map(ratio_text, (min(ratios), median(ratios), max(ratios)))
            span = f"ratios {low} to {high}, median {middle}"
        cases = f"{len(ratios)} case{'s' * (len(ratios) != 1)}"
        return f"{_HEADS[judged.verdict]}, bound by {judged.bound}: {cases}, {span}"


@dataclass(frozen=True)
class Explanation:
    """The output of ``plumb explain``. ``apart``: keys of cases without a verdict, by reason."""

    record: Record
    judgement: Judgement
    groups: list[Group]
    apart: dict[str, list[str]]
    causes: list[str] = field(default_factory=list)


def explain(record: Record, home: Home, system: str | None, tolerance: float | None) -> Explanation:
    """Judge ``record`` by ``system`` (None: this machine's calibration)."""
    chosen = find_system(system, home) if system is not None else local_system(home)
    return explained(record, chosen, tolerance, earlier_launches(home, record))


def explained(
    record: Record, system: System, tolerance: float | None, history: Sequence[Record] = ()
) -> Explanation:
    """The groups of ``record``'s cases by ``system``, and the cases without a verdict."""
    judgement = judge(record, system, tolerance, history)
    members: list[Member] = []
    apart: dict[str, list[str]] = {}
    for case in record.cases:
        member = _member(case, judgement)
        if member is not None:
            members.append(member)
        reason = _reason(case, member, judgement)
        if reason:
            apart.setdefault(reason, []).append(case.key)
    groups = [Group(group, advice(record, group)) for group in grouped(members)]
    found = list(causes(record, state_of(record, history)))
    return Explanation(record, judgement, groups, apart, found)


def write(explanation: Explanation, form: str, *, all_cases: bool) -> str:
    """The explanation as ``text`` or ``json`` (with every case)."""
    if form == "json":
        return json.dumps(_document(explanation), indent=2)
    return "\n".join(_lines(explanation, all_cases))


def _member(case: Case, judgement: Judgement) -> Member | None:
    """The case with its expectation, if it has one and passed."""
    judged = judgement.judged.cases.get(case.key) if judgement.judged else None
    if judged is None or case.outcome.status != "passed":
        return None
    return Member(case, judgement.expectations[case.key], judged)


def _reason(case: Case, member: Member | None, judgement: Judgement) -> str | None:
    if case.outcome.status != "passed":
        return f"{case.outcome.status}: {case.outcome.reason}"
    if member is not None and member.judged.verdict:
        return None
    judged = judgement.judged
    if judged is None:
        return judgement.line
    why = judged.without.get(case.key, "it was not measured")
    return f"no {'verdict' if member else 'model'}: {why}"


def _lines(explanation: Explanation, all_cases: bool) -> Iterator[str]:
    record, judged = explanation.record, explanation.judgement.judged
    devices = ", ".join(record.devices()) or "no device"
    ranks = f"{record.world.ranks} rank{'s' * (record.world.ranks != 1)}"
    transport = f", transport {record.transport_name}" if record.transport else ""
    cases = f"{len(record.cases)} case{'s' * (len(record.cases) != 1)}"
    yield f"{record.benchmark.name}: {cases}, {ranks} on {devices}{transport}"
    if judged is not None:
        yield f"model: {judged.model}; system {judged.system}"
        for name, answer in (("state", judged.state), ("promise", judged.promise)):
            if answer:
                yield from _wrapped(f"{name}: {answer}", indent="")
    for sentence in explanation.causes:
        yield from _wrapped(sentence)
    if record.status != "complete":
        yield f"the run did not complete{f': {record.reason}' if record.reason else ''}"
    said: set[str] = set()
    for group in explanation.groups:
        yield from ("", group.head)
        yield from _table(group.members if all_cases else group.members[:_SHOWN])
        if not all_cases and len(group.members) > _SHOWN:
            yield f"  and {len(group.members) - _SHOWN} more (--all)"
        for sentence in (one for one in group.advice if one not in said):
            yield from _wrapped(sentence)
        said.update(group.advice)
    for reason, keys in explanation.apart.items():
        yield from ("", *_wrapped(reason, indent=""))
        shown = keys if all_cases else keys[:_SHOWN]
        rest = f" and {len(keys) - len(shown)} more (--all)" if len(keys) > len(shown) else ""
        yield from _wrapped(", ".join(shown) + rest)


def _wrapped(sentence: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        sentence,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _table(members: Sequence[Member]) -> Iterator[str]:
    rows = [["case", "measured", "expected", "ratio"]]
    for one in members:
        measured, expected = duration(one.measured_s), duration(one.judged.expected_s)
        rows.append([one.case.key, measured, expected, ratio_text(one.judged.ratio)])
    yield from (f"    {line}" for line in aligned(rows, left=1))


def _document(explanation: Explanation) -> dict[str, Any]:
    judged = explanation.judgement.judged
    return {
        "benchmark": explanation.record.benchmark.name,
        "model": judged.model if judged else None,
        "system": judged.system if judged else None,
        "state": judged.state if judged else None,
        "promise": judged.promise if judged else None,
        "causes": explanation.causes,
        "groups": [_group_document(group) for group in explanation.groups],
        "apart": [{"reason": why, "cases": keys} for why, keys in explanation.apart.items()],
    }


def _group_document(group: Group) -> dict[str, Any]:
    judged = group.members[0].judged
    return {
        "verdict": judged.verdict,
        "bound": judged.bound,
        "advice": group.advice,
        "cases": [
            {
                "case": one.case.key,
                "measured_s": one.measured_s,
                "expected_s": one.judged.expected_s,
                "ratio": one.judged.ratio,
                "parts_s": one.expectation.parts,
            }
            for one in group.members
        ],
    }
