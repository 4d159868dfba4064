"""The sample documents, and what is read from documents like them."""

from __future__ import annotations

import json
from pathlib import Path

from protocols import Tool
from protocols.calls.serialization import BoundCall

SAMPLES = Path(__file__).parents[2] / "samples"
INFO = {"title": "t", "version": "1"}


def answer_schema(tool: Tool) -> dict[str, object]:
    assert tool.success is not None
    assert tool.success.schema is not None
    return dict(tool.success.schema)


def properties(schema: object) -> dict[str, dict[str, object]]:
    assert isinstance(schema, dict)
    by_name = schema["properties"]
    assert isinstance(by_name, dict)
    return by_name


def sent_json(call: BoundCall) -> object:
    """The JSON that a call sends."""
    assert call.content is not None
    return json.loads(call.content[0])
