"""Shorten long replies: keep the keys that matter, by a schema for each API; cut what is still too long inside values.

A schema is a nested object of the keys to keep, with type names as leaves; a list of objects is a list of one. It is
read from released files.

Source: ToolLLM (arXiv:2307.16789), appendix on response compression; there the limit is in characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.methods.observations import render_value
from protocols.documents.tool_records import parameter_name
from protocols.errors import UsageError
from protocols.quoting import estimate

__all__ = ["keep_keys", "response_schemas", "shortened"]

_MAX_TOKENS = 1024
"""Tokens of a reply that is left as it is, estimated."""

Schema = Mapping[str, Any]


@lru_cache
def response_schemas(file: Path) -> Mapping[str, Schema]:
    """The key schemas of a tool's responses by published API name, from a file `CATEGORY/TOOL.json` of a release.

    Released files may be missing or empty, or list nothing; that is no schema. Raises: UsageError.
    """
    try:
        text = file.read_text("utf-8") if file.is_file() else ""
        listed = json.loads(text).get("api_list") or [] if text.strip() else []
        schemas = {parameter_name(str(entry["name"])): entry.get("schema") for entry in listed if entry.get("schema")}
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{file} holds no response schemas: {type(error).__name__} {error}") from None
    return {name: schema for name, schema in schemas.items() if isinstance(schema, Mapping)}


def shortened(value: object, schema: Schema | None, budget: int = _MAX_TOKENS) -> object:
    """A reply of at most `budget` tokens: as it is, with the keys of its schema, or cut inside its values.

    A list or text that is cut says how long it was.
    """
    if estimate(json.dumps(value, ensure_ascii=False, default=str)) <= budget:
        return value
    kept = keep_keys(value, schema) if schema else value
    text = render_value(kept, budget)
    try:
        return json.loads(text)
    except ValueError:  # not even its keys fit
        return text


def keep_keys(value: object, schema: object) -> object:
    """A value with the keys of a schema; what the schema does not describe stays."""
    if isinstance(value, list):
        item = schema[0] if isinstance(schema, list) and schema else schema
        return [keep_keys(entry, item) for entry in value]
    if isinstance(value, Mapping) and isinstance(schema, Mapping):
        return {key: keep_keys(part, schema[key]) for key, part in value.items() if key in schema}
    return value
