"""The record's model, its refusals, and the schema file."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import DATA, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from strict import faults

from plumbline.base.errors import UsageError
from plumbline.record.record import (
    SCHEMA_VERSION,
    Record,
    load_figures,
    load_record,
    parse_record,
    schema,
    schema_text,
)

DOCUMENT: dict[str, Any] = json.loads((DATA / "record.json").read_text())
# One of each layout that was ever written, kept as it was: NAME starts with its schema_version.
KEPT = sorted((DATA / "records").glob("*.json"))


def refusal(document: Any) -> str:
    with pytest.raises(UsageError) as refused:
        parse_record(json.dumps(document), "x.json")
    return str(refused.value)


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    part: Any = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return document


def test_reads_what_the_engine_writes(record: Record) -> None:
    assert record.benchmark.name == "b_eff"
    assert record.world.ranks == len(record.ranks) == 2
    assert record.devices() == ["pthread-skylake-avx512"]
    assert record.measuring.validated is True
    transfer = next(case for case in record.cases if case.key == "natural/transfer/1024")
    assert transfer.message_bytes() == 1024
    assert transfer.label("part") == "transfer"
    assert transfer.summary is not None
    assert transfer.median_s() == pytest.approx(transfer.summary.median_s / 64)
    interval = transfer.interval_s()
    assert interval is not None
    assert interval[0] <= (transfer.median_s() or 0) <= interval[1]


def test_writes_the_same_document_again(record: Record) -> None:
    again = json.loads(record.model_dump_json(by_alias=True, exclude_unset=True))
    assert again == DOCUMENT


def test_a_metric_of_a_missing_figure_has_its_reason(record: Record) -> None:
    b_eff = record.metric("b_eff")
    assert b_eff is not None
    assert b_eff.value is None
    assert b_eff.reason
    assert record.metric("nothing") is None


def test_an_unmeasured_case_has_no_median(record: Record) -> None:
    last = record.cases[-1]
    assert last.outcome.status == "unsupported"
    assert last.median_s() is None
    assert last.interval_s() is None


def test_a_benchmark_without_transport_is_read() -> None:
    record = Record.model_validate_json(json.dumps(changed("transport", to=None)))
    assert record.transport_name == "none"


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (
            changed("hosts", 0, "cores", to="2"),
            "hosts[0].cores: must be an integer, not the text",
        ),
        (
            changed("hosts", 0, "cores", to=2.5),
            "hosts[0].cores: must be an integer, not the number",
        ),
        (
            changed("clock", "overhead_s", to=None),
            "clock.overhead_s: must be a number, not null",
        ),
        (changed("clock", "overhead_s", to=-1), "clock.overhead_s: input should be greater"),
        (changed("status", to=1), "status: must be a text, not the integer 1"),
        (changed("energy", to=1.5), "energy: "),
        (
            changed("outcome", to={"status": "failed", "reason": None}),
            "the outcome failed has no reason",
        ),
        (
            changed("metrics", 0, "reason", to=None),
            "the metric b_eff has neither a value nor a reason",
        ),
        (changed("world", "ranks", to=3), "2 ranks are listed, world.ranks is 3"),
        (changed("ranks", 1, "host", to=1), "rank 1 names host 1, which is not listed"),
        (changed("started", to="yesterday"), "started: "),
    ],
)
def test_a_wrong_document_is_refused_with_key_and_reason(document: Any, sentence: str) -> None:
    assert refusal(document).startswith("x.json is not a valid record: ")
    assert sentence in refusal(document)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "x.json is not a record of Plumbline's engine"),
        (
            {"schema_version": "1.0.0"},
            "x.json is not a record of Plumbline",
        ),
        (
            {"benchmark": {}},
            "x.json is not a record of Plumbline's engine",
        ),
        (
            changed("schema_version", to="2.0.0"),
            f"has schema 2.0.0, but this plumb reads up to {SCHEMA_VERSION}",
        ),
        (changed("schema_version", to="10.0.0"), "has schema 10.0.0, but this plumb reads up to"),
    ],
)
def test_other_json_is_no_record(document: Any, sentence: str) -> None:
    assert sentence in refusal(document)


def test_a_missing_key_is_named() -> None:
    document = copy.deepcopy(DOCUMENT)
    del document["cases"][2]["samples"]["by_rank"]
    assert refusal(document).endswith("the key cases[2].samples.by_rank is missing")


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_numbers_are_finite(number: str) -> None:
    text = json.dumps(changed("clock", "overhead_s", to=12345)).replace("12345", number)
    with pytest.raises(UsageError, match=r"clock\.overhead_s: must be a finite number"):
        parse_record(text, "x.json")


def test_what_is_no_file_or_no_text_is_refused(tmp_path: Path) -> None:
    for name, content, sentence in [
        ("none.json", None, "there is no record"),
        ("empty.json", b"", "is not a record: it is not JSON"),
        ("binary.json", b"\xff\xfe\x00", "cannot be read as a record: it is not text"),
        ("half.json", (DATA / "record.json").read_bytes()[:900], "it is not JSON"),
    ]:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError, match=sentence):
            load_record(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be read as a record"):
        load_record(tmp_path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_json_is_read_or_refused_in_one_line(document: Any) -> None:
    assert "\n" not in refusal(document)


@settings(deadline=None)
@given(st.data())
def test_a_record_with_any_part_replaced_never_crashes(data: st.DataObject) -> None:
    document = copy.deepcopy(DOCUMENT)
    part: Any = document
    for _ in range(data.draw(st.integers(1, 4))):
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], dict | list) or data.draw(st.booleans()):
            part[key] = data.draw(st.none() | st.integers() | st.text() | st.just([]) | st.just({}))
            break
        part = part[key]
    with contextlib.suppress(UsageError):
        parse_record(json.dumps(document), "x.json")


def essence(part: Any) -> Any:
    """A schema without the parts that differ between versions of pydantic."""
    if isinstance(part, list):
        return [essence(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {key: essence(value) for key, value in part.items()}
    if kept.get("additionalProperties") is True:
        del kept["additionalProperties"]
    if "const" in kept:
        kept.pop("type", None)
    return kept


def test_the_schema_file_is_up_to_date() -> None:
    kept = json.loads((ROOT / "schema" / "record.schema.json").read_text())
    assert essence(kept) == essence(json.loads(schema_text())), (
        "plumb schema --output schema/record.schema.json"
    )


def test_the_schema_accepts_the_record_and_refuses_a_wrong_one() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    assert list(validator.iter_errors(DOCUMENT)) == []
    assert list(validator.iter_errors(later())) == []
    assert list(validator.iter_errors(changed("clock", "overhead_s", to="1")))
    assert list(validator.iter_errors(changed("energy", to=1)))


def later() -> Any:
    """A record of a later minor version: keys everywhere and words that are not known yet."""

    def grown(part: Any, path: str = "") -> Any:
        if isinstance(part, list):
            return [grown(item, path) for item in part]
        if not isinstance(part, dict) or path.endswith(FREE):
            return part
        return {
            **{key: grown(value, f"{path}.{key}") for key, value in part.items()},
            "of_later": {"since": "1.99.0"},
        }

    document: Any = grown(DOCUMENT)
    document["schema_version"] = "1.99.0"
    document["world"]["kind"] = "gasnet"
    document["measuring"]["policy"] = document["cases"][0]["policy"] = "until-quiet"
    document["cases"][0]["stop"]["reason"] = "energy"
    document["cases"][-1]["outcome"]["status"] = "deferred"
    document["energy"] = {"joules": 12.5, "of": [{"device": 0, "counter": "NVML"}]}
    return document


# Tables whose keys are data.
FREE = (".environment", ".parameters", ".labels", ".facts", ".phases", ".tallies")


def test_a_record_of_a_later_minor_version_is_read() -> None:
    """Existing keys are read as before, and additions are ignored."""
    record = parse_record(json.dumps(later()), "x.json")
    assert record.energy == {"joules": 12.5, "of": [{"device": 0, "counter": "NVML"}]}
    assert record.cases[-1].outcome.status == "deferred"
    known = json.loads(record.model_dump_json(by_alias=True, exclude_unset=True))
    assert "of_later" not in json.dumps(known)
    for key in ("hosts", "ranks", "transport", "clock", "metrics", "parameters"):
        assert known[key] == DOCUMENT[key]
    times = [case["samples"] for case in known["cases"]]
    assert times == [case["samples"] for case in DOCUMENT["cases"]]


def test_what_the_engine_writes_is_tested_strictly() -> None:
    """The strict form rejects what readers ignore: an unknown key, an unknown word."""
    assert faults(DOCUMENT) == []
    assert "'of_later' was unexpected" in str(faults(later()))
    for document in (
        changed("program", "comit", to=1),
        changed("cases", 0, "extra", to=1),
        changed("cases", 0, "samples", "globe", to=[]),
        changed("status", to="done"),
        changed("cases", 0, "outcome", "status", to="fine"),
        changed("world", "kind", to="gasnet"),
        changed("cases", 0, "stop", "reason", to="energy"),
    ):
        assert len(faults(document)) == 1
    assert faults(changed("energy", to={"joules": 1.5})) == []


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_record_of_each_layout_is_read_forever(path: Path) -> None:
    record = load_record(path)
    assert path.stem.startswith(record.schema_version)
    passed = [case for case in record.cases if case.outcome.status == "passed"]
    assert passed
    assert all(case.median_s() for case in passed)
    document = json.loads(path.read_text())
    assert json.loads(record.model_dump_json(by_alias=True, exclude_unset=True)) == document
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(document)) == []


def test_emulation_in_older_layouts_is_seen(tmp_path: Path) -> None:
    """Before 1.4.0 it is in the transport, or in the devices' platforms alone."""
    document = json.loads((DATA / "records" / "1.2.0.json").read_text())
    path = tmp_path / "record.json"
    for part, sentence in (
        ({"transport": {**document["transport"], "emulated": "a board of paper"}}, "of paper"),
        ({"ranks": _on_paper(document["ranks"])}, "emulates a board (Paper (Emulation))"),
        ({"ranks": _on_paper(document["ranks"]), "emulated": None}, None),
    ):
        path.write_text(json.dumps({**document, **part}))
        for found in (load_record(path), load_figures(path)):
            if sentence is None:
                assert found.emulated is None
            else:
                assert found.emulated is not None
                assert found.emulated.endswith(sentence)


def _on_paper(ranks: list[Any]) -> list[Any]:
    return [{**r, "device": {**r["device"], "platform": "Paper (Emulation)"}} for r in ranks]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "golden").glob("*.record.json")), ids=lambda path: path.name
)
def test_the_records_of_the_forms_are_what_the_engine_writes(path: Path) -> None:
    assert faults(json.loads(path.read_text())) == []
    load_record(path)


def test_a_record_of_this_layout_is_kept() -> None:
    """A new schema_version comes with its record: tests/python/data/records/VERSION.json."""
    path = DATA / "records" / f"{SCHEMA_VERSION}.json"
    assert path in KEPT
    assert faults(json.loads(path.read_text())) == []
