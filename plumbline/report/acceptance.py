"""Results of requirements: a table, and JUnit's XML for CI systems."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from plumbline.base.columns import aligned, csv_text
from plumbline.base.units import duration
from plumbline.judge.acceptance import Check

FORMS = ["text", "json", "csv"]
_CSV = (
    *("requirement", "benchmark", "case", "metric", "answer", "value", "limit", "unit", "asked"),
    *("host", "record", "reason"),
)
_UNPRINTABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {"missed": "failure", "wrong": "failure", "error": "error", "skipped": "skipped"}


def write(name: str, checks: Sequence[Check], form: str) -> str:
    """The results as ``text``, ``json`` or ``csv``."""
    if form == "json":
        return json.dumps({"name": name, "checks": [_document(one) for one in checks]}, indent=2)
    if form == "csv":
        return csv_text(_CSV, [list(_document(one).values()) for one in checks])
    return "\n".join(_text(name, checks))


def junit(name: str, checks: Sequence[Check]) -> str:
    """JUnit's XML: a suite for each benchmark, a test case for each check."""
    root = ET.Element("testsuites", {"name": _clean(name), **_counts(checks)})
    for benchmark, group in groupby(sorted(checks, key=_benchmark), key=_benchmark):
        of = list(group)
        hosts = ", ".join(sorted({one.host for one in of if one.host}))
        named = {"name": _clean(benchmark), "hostname": _clean(hosts)}
        suite = ET.SubElement(root, "testsuite", {**named, **_counts(of)})
        for one, case in zip(of, _cases(of), strict=True):
            _test_case(suite, one, case)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _cases(checks: Sequence[Check]) -> list[str]:
    """Each check's case; where several records have it also their settings, else their names.

    CI systems show one test of several with the same name.
    """
    named = [one.case for one in checks]
    for parts in ([f"({one.setting})" for one in checks], [f"of {one.record}" for one in checks]):
        keys = [
            (one.requirement.title, one.requirement.words, name)
            for one, name in zip(checks, named, strict=True)
        ]
        several = Counter(keys)
        named = [
            f"{key[2]} {part}".strip() if several[key] > 1 and one.record else key[2]
            for one, key, part in zip(checks, keys, parts, strict=True)
        ]
    return named


def _test_case(suite: ET.Element, check: Check, of: str) -> None:
    title = " ".join(filter(None, [check.requirement.title, of, check.requirement.words]))
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(f"plumbline.{check.requirement.benchmark}"),
        name=_clean(title),
        time="0",
    )
    tag = _TAGS.get(check.answer)
    if tag:
        message = _clean(_sentence(check))
        ET.SubElement(case, tag, message=message, type=check.answer).text = message
    ET.SubElement(case, "system-out").text = _clean(f"{_sentence(check)}\nrecord: {check.record}")


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    tags = Counter(_TAGS.get(check.answer, "") for check in checks)
    return {
        "tests": str(len(checks)),
        "failures": str(tags["failure"]),
        "errors": str(tags["error"]),
        "skipped": str(tags["skipped"]),
    }


def _benchmark(check: Check) -> str:
    return check.requirement.benchmark


def _clean(text: str) -> str:
    """The text without characters that are invalid in XML."""
    return _UNPRINTABLE.sub("\ufffd", text)


def _sentence(check: Check) -> str:
    if check.value is None or check.limit is None:
        return check.reason or check.answer
    value, limit = _value(check.value, check.unit), _value(check.limit, check.unit)
    sense = "at least" if check.requirement.at_least is not None else "at most"
    of = check.requirement.of
    share = f" ({check.requirement.bound} of {of})" if of else ""
    return f"{check.requirement.metric} is {value}, must be {sense} {limit}{share}"


def _text(name: str, checks: Sequence[Check]) -> Iterator[str]:
    rows = [["requirement", "case", "metric", "value", "asked", "answer"]]
    for one, case in zip(checks, _cases(checks), strict=True):
        of = one.requirement.of
        limit = "-" if one.limit is None else _value(one.limit, one.unit)
        sense = ">=" if one.requirement.at_least is not None else "<="
        value = "-" if one.value is None else _value(one.value, one.unit)
        asked = f"{sense} {limit}{f' ({one.requirement.bound} of {of})' if of else ''}"
        rows.append(
            [
                *(one.requirement.name or one.requirement.benchmark, case or "-"),
                *(one.requirement.metric, value, asked),
                f"{one.answer}{f': {one.reason}' if one.reason else ''}",
            ]
        )
    yield from aligned(rows)
    counts = Counter(one.answer for one in checks)
    yield ""
    yield f"{name}: {', '.join(f'{count} {answer}' for answer, count in counts.items())}"


def _value(value: float, unit: str) -> str:
    return duration(value) if unit == "s" else f"{value:.4g} {unit}".rstrip()


def _document(check: Check) -> dict[str, object]:
    asked = check.requirement
    values: list[object] = [asked.title, asked.benchmark, check.case, asked.metric, check.answer]
    values += [check.value, check.limit, check.unit, asked.words]
    values += [check.host, check.record, check.reason]
    return dict(zip(_CSV, values, strict=True))
