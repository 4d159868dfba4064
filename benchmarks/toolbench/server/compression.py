"""Shorten long replies: keep the keys that matter, by a schema for each API; cut what is still too long inside values.

A schema is a nested object of the keys to keep, with type names as leaves; a list of objects is a list of one. It is
read from released files.

Source: ToolLLM (arXiv:2307.16789), appendix on response compression; there the limit is in characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.methods.observations import render_value
from benchmarks.toolbench.server.address import APIAddress
from protocols.documents.record_names import parameter_name
from protocols.errors import UsageError
from protocols.text.prose import estimate

__all__ = ["MAX_TOKENS", "ResponseSchemas", "keep_keys", "read_response_schemas", "shortened"]

MAX_TOKENS = 1024
"""Tokens of a reply that is left as it is, estimated."""

Schema = Mapping[str, Any]


def read_response_schemas(file: Path) -> dict[str, Mapping[str, Any]]:
    """The key schemas of a tool's responses by API name: the keys to keep, with type names as leaves.

    Released files may be empty, or list nothing; that is no schema. Raises: UsageError.
    """
    try:
        text = file.read_text("utf-8")
        data = json.loads(text) if text.strip() else {}
        listed = data.get("api_list") or []
        return {str(entry["name"]): entry["schema"] for entry in listed if isinstance(entry.get("schema"), Mapping)}
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{file} holds no response schemas: {type(error).__name__} {error}") from None


class ResponseSchemas:
    """The schemas in a folder, `CATEGORY/TOOL.json` as in the releases."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = cache(self._read_file)

    def get(self, address: APIAddress) -> Schema | None:
        """The schema of an API; None without one. Raises: UsageError: Its file cannot be read."""
        return self._read(address.category, address.tool).get(address.api)

    def _read_file(self, category: str, tool: str) -> dict[str, Schema]:
        file = self._folder / category / f"{tool}.json"
        schemas = read_response_schemas(file) if file.is_file() else {}
        return {parameter_name(name): schema for name, schema in schemas.items() if schema}


def shortened(value: object, schema: Schema | None, budget: int = MAX_TOKENS) -> object:
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
