"""Turns pydantic's list of problems into one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from plumbline.base.errors import did_you_mean

_EXPECTED = {
    "float_type": "a number",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "none_required": "null",
    "finite_number": "a finite number",
}
_KINDS: list[tuple[type, str]] = [
    (bool, "the flag"),
    (str, "the text"),
    (int, "the integer"),
    (float, "the number"),
]


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """One clause for the first problem in ``error``: key, expected value, given value.

    ``model`` is the validating model; its keys are suggested for an unknown key.
    """
    problem = error.errors(include_url=False)[0]
    where = _path(problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"unknown key {where}{did_you_mean(str(problem['loc'][-1]), known_keys(model))}"
    if problem["type"] == "missing":
        return f"the key {where} is missing"
    return f"{where}: {_reason(problem)}" if where else _reason(problem)


def known_keys(model: type[BaseModel]) -> list[str]:
    """Every key of ``model`` and of the models inside it, sorted, each once."""
    return sorted(set(_keys(model.model_json_schema())))


def _keys(schema: dict[str, Any]) -> Iterator[str]:
    for part in [schema, *schema.get("$defs", {}).values()]:
        yield from part.get("properties", {})


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _reason(problem: ErrorDetails) -> str:
    expected = _EXPECTED.get(problem["type"])
    if expected:
        return f"must be {expected}, not {_found(problem['input'])}"
    text = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return text
    return f"{text[0].lower()}{text[1:]}, not {_found(problem['input'])}"


def _found(value: object) -> str:
    if value is None:
        return "null"
    for kind, word in _KINDS:
        if isinstance(value, kind):
            return f"{word} {str(value).lower() if kind is bool else repr(value)}"
    return "a list" if isinstance(value, list) else "a table"
