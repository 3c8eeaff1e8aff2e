"""Acceptance: records against requirements.

A requirement names a metric of cases (or an aggregate) and its least or greatest value: a number in
the metric's unit, or a share of a reference (the model's expectation, a system's, or the median of
earlier records). A model expects times; for a rate the reference is the measured rate times
measured over expected time, both of the median.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median
from typing import Literal

from pydantic import Field, model_validator

from plumbline.base.errors import ExitStatus, UsageError, did_you_mean
from plumbline.base.toml import Table
from plumbline.base.units import parse_quantity
from plumbline.judge.comparison import is_rate
from plumbline.judge.sides import TIME, conditions
from plumbline.record.expectations import JudgedRecord
from plumbline.record.record import Case, Record

Answer = Literal["met", "missed", "wrong", "error", "skipped"]
_REFERENCE = re.compile(r"model|(?P<kind>system|records) (?P<name>\S.*)")


class Requirement(Table):
    """A ``[[require]]``: selects cases and runs, and bounds one metric.

    ``case`` and ``systems`` are shell patterns; a requirement applies to machines with a host or
    device whose name matches one of ``systems``. Without ``case`` the metric is an aggregate of
    the record. With ``of`` (``model``, ``system NAME`` or ``records SET``) the value is a share.
    """

    benchmark: str
    metric: str
    name: str = ""
    case: str | None = None
    group: str | None = None
    at_least: float | int | str | None = None
    at_most: float | int | str | None = None
    of: str | None = None
    systems: list[str] = Field(default=[])
    ranks: int | None = Field(default=None, ge=1)
    transport: str | None = None
    approach: str | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Requirement:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError(f"{self.title}: must have either at_least or at_most")
        if self.of is not None:
            if not _REFERENCE.fullmatch(self.of):
                raise ValueError(
                    f"{self.title}: of must be 'model', 'system NAME' or 'records SET', not "
                    f"'{self.of}'"
                )
            if isinstance(self.bound, str) or self.bound <= 0:
                raise ValueError(f"{self.title}: a share of {self.of} must be a number above 0")
        return self

    @property
    def bound(self) -> float | str:
        """The given value."""
        given = self.at_least if self.at_least is not None else self.at_most
        assert given is not None
        return given

    @property
    def words(self) -> str:
        """``at least 0.9 of model``."""
        sense = "at least" if self.at_least is not None else "at most"
        return f"{sense} {self.bound}{f' of {self.of}' if self.of else ''}"

    @property
    def reference(self) -> tuple[str, str] | None:
        """``("records", "baseline")``, ``("model", "")``, or None for an absolute value."""
        found = _REFERENCE.fullmatch(self.of) if self.of else None
        return (found["kind"] or "model", found["name"] or "") if found else None

    @property
    def title(self) -> str:
        """Its name, else benchmark, case and metric."""
        about = " ".join(filter(None, [self.benchmark, self.case, self.metric]))
        return self.name or about


class Requirements(Table):
    """A file of requirements."""

    name: str = "acceptance"
    require: list[Requirement] = Field(min_length=1)


@dataclass(frozen=True)
class Candidate:
    """A record to check; ``title`` is its name in messages, ``judged`` its expectations."""

    title: str
    record: Record
    judged: JudgedRecord | None


@dataclass(frozen=True)
class Check:
    """One requirement on one case of one record. ``limit`` is in the metric's unit.

    ``setting`` tells records of one benchmark apart, also on other days.
    """

    requirement: Requirement
    answer: Answer
    reason: str = ""
    record: str = ""
    host: str = ""
    case: str = ""
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    setting: str = ""


@dataclass(frozen=True)
class References:
    """References of shares: a record's expectations by a system, and the records of a set."""

    by_system: Callable[[Record, str], JudgedRecord | str]
    records: Callable[[str], Sequence[Record]]


def check_all(
    requirements: Sequence[Requirement], candidates: Sequence[Candidate], references: References
) -> list[Check]:
    """Checks every requirement on every case that it selects.

    Raises :class:`UsageError`, with the nearest names, for a requirement that selects no case, and
    if no requirement applies to this machine.
    """
    checks = []
    for requirement in requirements:
        ours = [one for one in candidates if _is_for(requirement, one.record)]
        if not ours:
            patterns = ", ".join(requirement.systems)
            checks.append(Check(requirement, "skipped", f"it is for the systems {patterns}"))
            continue
        for candidate in _of_runs(requirement, ours):
            checks += _on(requirement, candidate, references)
    if all(check.answer == "skipped" for check in checks):
        hosts = sorted({host.name for one in candidates for host in one.record.hosts})
        raise UsageError(f"no requirement is for this machine ({', '.join(hosts)})")
    return checks


def status_of(checks: Sequence[Check]) -> ExitStatus:
    """The exit status: 3 for an error, else 1 for a wrong answer, else 4 for a missed value."""
    answers = {check.answer for check in checks}
    if "error" in answers:
        return ExitStatus.ERROR
    if "wrong" in answers:
        return ExitStatus.WRONG_ANSWER
    return ExitStatus.SLOW if "missed" in answers else ExitStatus.PASSED


# --- which cases ----------------------------------------------------------------------------------


def _is_for(requirement: Requirement, record: Record) -> bool:
    names = [*(host.name for host in record.hosts), *record.devices()]
    patterns = requirement.systems
    return not patterns or any(fnmatchcase(name, one) for name in names for one in patterns)


def _of_runs(requirement: Requirement, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of the requirement's benchmark, ranks, transport and approach."""
    found = list(candidates)
    facts: list[tuple[str, str | int | None, Callable[[Record], str | int | None]]] = [
        ("benchmark", requirement.benchmark, lambda record: record.benchmark.name),
        ("ranks", requirement.ranks, lambda record: record.world.ranks),
        ("transport", requirement.transport, lambda record: record.transport_name),
        ("approach", requirement.approach, lambda record: record.approach),
    ]
    for what, wanted, of in facts:
        known = [str(of(one.record)) for one in found]
        if wanted is not None:
            found = [one for one in found if of(one.record) == wanted]
        if not found:
            raise _names_none(requirement, what, str(wanted), known)
    return found


def _names_none(
    requirement: Requirement, what: str, wanted: str, known: Sequence[str]
) -> UsageError:
    every = list(dict.fromkeys(known))
    near = did_you_mean(wanted, every)
    if not near and every:
        more = f" and {len(every) - 6} more" if len(every) > 6 else ""
        near = f"; the records have {', '.join(every[:6])}{more}"
    return UsageError(f"requirement {requirement.title}: no {what} {wanted}{near}")


def _on(requirement: Requirement, candidate: Candidate, references: References) -> Iterator[Check]:
    record = candidate.record
    hosts = ", ".join(host.name for host in record.hosts)
    if requirement.case is None:
        figures = [
            (one.group or "", one.value, one.unit, one.reason)
            for one in record.metrics
            if one.name == requirement.metric and requirement.group in (None, one.group)
        ]
        if not figures:
            known = [one.name for one in record.metrics]
            raise _names_none(requirement, "aggregate", requirement.metric, known)
        for group, value, unit, reason in figures:
            found = _Found(group, None, value, unit, reason or "")
            yield _checked(requirement, candidate, references, found, hosts)
        return
    cases = [one for one in record.cases if fnmatchcase(one.key, requirement.case)]
    if not cases:
        keys = [one.key for one in record.cases]
        raise _names_none(requirement, "case", requirement.case, keys)
    names = [TIME, *(metric.name for case in cases for metric in case.metrics)]
    measured = [case for case in cases if case.outcome.status == "passed"]
    if measured and requirement.metric not in names:
        raise _names_none(requirement, "metric", requirement.metric, names)
    for case in cases:
        yield _checked(requirement, candidate, references, _of_case(case, requirement), hosts)


@dataclass(frozen=True)
class _Found:
    """A value, or the reason for none; ``answer`` if already decided."""

    title: str
    case: Case | None
    value: float | None
    unit: str
    reason: str = ""
    answer: Answer | None = None


def _of_case(case: Case, requirement: Requirement) -> _Found:
    status, reason = case.outcome.status, case.outcome.reason or ""
    if status != "passed":
        answers: dict[str, Answer] = {"failed": "wrong", "error": "error"}
        answer = answers.get(status, "missed")
        return _Found(case.key, case, None, "", f"{status}: {reason}", answer)
    if requirement.metric == TIME:
        return _Found(case.key, case, case.median_s(), "s", "it was not timed")
    for metric in case.metrics:
        if metric.name == requirement.metric:
            return _Found(case.key, case, metric.value, metric.unit, metric.reason or "")
    return _Found(case.key, case, None, "", f"it has no {requirement.metric}")


# --- the limit ------------------------------------------------------------------------------------


def _checked(
    requirement: Requirement,
    candidate: Candidate,
    references: References,
    found: _Found,
    hosts: str,
) -> Check:
    def answer(what: Answer, reason: str = "", limit: float | None = None) -> Check:
        return Check(
            *(requirement, what, reason, candidate.title, hosts, found.title),
            *(found.value, limit, found.unit, _setting(candidate.record)),
        )

    if found.answer is not None:
        return answer(found.answer, found.reason)
    if candidate.record.emulated:
        return answer("missed", f"its times are of no board: {candidate.record.emulated}")
    if found.value is None:
        return answer("missed", found.reason)
    limit = _limit(requirement, candidate, references, found)
    if isinstance(limit, str):
        return answer("error", limit)
    at_least = requirement.at_least is not None
    met = found.value >= limit if at_least else found.value <= limit
    return answer("met" if met else "missed", "", limit)


def _setting(record: Record) -> str:
    count = record.world.ranks
    sent = f"{record.transport_name} {record.approach}, " if record.transport else ""
    return f"{sent}{count} rank{'s' * (count != 1)}"


def _limit(
    requirement: Requirement, candidate: Candidate, references: References, found: _Found
) -> float | str:
    """The limit in the metric's unit, or the reason for none."""
    bound = requirement.bound
    reference = requirement.reference
    if reference is None:
        return bound_in(bound, found.unit, requirement.title)
    kind, name = reference
    if kind == "records":
        base: float | str = _earlier(requirement, candidate, references.records(name), found)
    elif kind == "system":
        base = _by_model(references.by_system(candidate.record, name), found)
    else:
        base = _by_model(candidate.judged or "no model has judged the record", found)
    return base if isinstance(base, str) else base * float(bound)


def bound_in(bound: float | str, unit: str, title: str) -> float:
    """A bound as a number of ``unit``. Raises :class:`UsageError` for any other text."""
    if not isinstance(bound, str):
        return float(bound)
    number, _, given = bound.strip().partition(" ")
    try:
        return float(number) if given.strip() == unit else parse_quantity(bound, unit)
    except KeyError:
        raise UsageError(f"requirement {title}: {bound} must be in {unit}") from None
    except ValueError as error:
        raise UsageError(f"requirement {title}: {error}") from None


def _by_model(judged: JudgedRecord | str, found: _Found) -> float | str:
    if isinstance(judged, str):
        return judged
    if found.case is None:
        return "models expect times of cases, and this is an aggregate"
    case = judged.cases.get(found.case.key)
    if case is None:
        return judged.without.get(found.case.key, "the model expects nothing of this case")
    assert found.value is not None
    return found.value * case.ratio if is_rate(found.unit) else found.value / case.ratio


def _earlier(
    requirement: Requirement, candidate: Candidate, records: Sequence[Record], found: _Found
) -> float | str:
    """The median over earlier records of the same conditions."""
    ours = _like(candidate.record)
    alike = [record for record in records if _like(record) == ours]
    if not alike:
        return "none of those records is of these ranks, devices, transport and parameters"
    values = [value for record in alike if (value := _value_in(record, requirement, found))]
    return median(values) if values else "it is in none of those records"


def _like(record: Record) -> dict[str, str]:
    own = {**conditions(record), "transport": f"{record.transport_name} {record.approach}"}
    del own["driver"]  # may differ: updates are the subject of the check
    return {**own, "benchmark": record.benchmark.name, "parameters": repr(record.parameters)}


def _value_in(record: Record, requirement: Requirement, found: _Found) -> float | None:
    if found.case is None:
        metric = record.metric(requirement.metric, found.title or None)
        return metric.value if metric else None
    case = next((one for one in record.cases if one.key == found.title), None)
    return _of_case(case, requirement).value if case else None
