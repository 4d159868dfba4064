"""Answer files: one search for one query, of both methods (trees and chains) and both dialects.

A file is checked here; what is judged is made in `benchmarks.toolbench.evaluation.convert`.

Source: ToolLLM (arXiv:2307.16789) and its released files; the later dialect has `tool_calls` and parallel calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from protocols.errors import UsageError
from protocols.json_path import readable_path

__all__ = ["read_answer", "read_response_schemas"]

_NODE = {
    "type": "object",
    "required": ["node_type", "description"],
    "properties": {
        "node_type": {"enum": ["Thought", "Action", "Action Input"]},
        "description": {"type": "string"},
        "observation": {"type": "string"},
        "observation_code": {"type": ["integer", "null"]},
        "pruned": {"type": "boolean"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
}
_MESSAGE = {
    "type": "object",
    "properties": {
        "function_call": {"type": ["object", "null"]},
        "tool_calls": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "required": ["function"],
                "properties": {"function": {"type": "object"}},
            },
        },
    },
}
_VALIDATOR = Draft202012Validator(
    {
        "$defs": {"node": _NODE, "message": _MESSAGE},
        "type": "object",
        "required": ["answer_generation"],
        "anyOf": [{"required": ["tree"]}, {"required": ["trys"]}],
        "properties": {
            "win": {"type": "boolean"},
            "tree": {"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/node"}}},
            "trys": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["chain"],
                    "properties": {"chain": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                },
            },
            "answer_generation": {
                "type": "object",
                "required": ["valid_data", "query", "function"],
                "properties": {
                    "valid_data": {"type": "boolean"},
                    "function": {"type": "array", "items": {"type": "object"}},
                    "train_messages": {
                        "type": "array",
                        "items": {"type": "array", "items": {"$ref": "#/$defs/message"}},
                    },
                },
            },
        },
    }
)


def read_answer(file: Path) -> Mapping[str, Any]:
    """One answer file, checked. Raises: UsageError: It is none, or half-written; the message has the JSON path."""
    try:
        data: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}; where it is half-written, remove it and have the query answered again"
        ) from None
    try:
        problem = best_match(_VALIDATOR.iter_errors(data))
    except RecursionError:
        raise UsageError(f"{file}: its tree is nested too deeply") from None
    if problem is not None:
        raise UsageError(f"{file}: {readable_path(tuple(problem.absolute_path))}: {problem.message[:200]}")
    return data


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
