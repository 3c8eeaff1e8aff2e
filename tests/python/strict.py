"""What the engine of this commit writes, strictly: the record's schema without its openness.

Readers pass over keys and words that they do not know; the writer may use none but those that the
schema names.
"""

from __future__ import annotations

from typing import Any

import jsonschema

from plumbline.record.record import schema


def closed(part: Any) -> Any:
    """``part`` of a schema in which objects have no keys, and texts no words, but those named."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    options = part.get("anyOf", [])
    if len(options) == 2 and "enum" in options[0] and options[1] == {"type": "string"}:
        return options[0]
    kept = {key: closed(value) for key, value in part.items()}
    if "properties" in part:
        kept["additionalProperties"] = False
    return kept


def faults(document: Any) -> list[str]:
    """What is wrong with ``document`` as a record that this commit's engine wrote."""
    found = jsonschema.Draft202012Validator(closed(schema())).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in found]
