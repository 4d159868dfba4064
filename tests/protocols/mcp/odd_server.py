"""An MCP server by hand whose results are odd: each tool gives the result that stands beside its name.

Options: `--stuck` gives the same cursor for ever, `--banner` prints lines that are no messages,
`--loose` lists tools whose schemas say little, and some that are no tools; they give their arguments.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def _text(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


RESULTS: dict[str, dict[str, Any]] = {
    "a_list": {"content": _text("[1, 2]"), "structuredContent": [1, 2]},
    "a_list_of_one": {"content": _text('{"id": 1}'), "structuredContent": [{"id": 1}]},
    "a_list_in_words": {"content": _text("Two were found."), "structuredContent": [1, 2]},
    "a_list_in_parts": {"content": _text('{"id": 1}', '{"id": 2}'), "structuredContent": [{"id": 1}, {"id": 2}]},
    "a_text": {"content": _text("words"), "structuredContent": "words"},
    "a_number": {"content": _text("It is 5."), "structuredContent": 5},
    "a_truth": {"content": _text("false"), "structuredContent": False},
    "nothing": {"content": _text("null"), "structuredContent": None},
    "nothing_at_all": {"content": [], "structuredContent": None},
    "nothing_but_words": {"content": _text("words"), "structuredContent": None},
    "without_content": {"structuredContent": {"id": 1}},
    "a_list_without_content": {"structuredContent": [1], "_meta": {"cost": 3}},
    "json_in_a_text": {"content": _text('{"id": 1}'), "structuredContent": '{"id": 1}'},
    "another_text": {"content": _text('{"id": 1}'), "structuredContent": "done"},
    "an_empty_object": {"content": _text('{"id": 1}'), "structuredContent": {}},
    "an_object": {"content": _text("One was found."), "structuredContent": {"id": 1}},
    "a_failure_in_data": {"structuredContent": {"message": "out of parts"}, "isError": True},
    "a_failure_in_a_word": {"structuredContent": "out of parts", "isError": True},
    "a_failure": {"content": _text("no such part"), "structuredContent": ["no"], "isError": True},
}
TOOLS = [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in RESULTS]
SCHEMAS: dict[str, Any] = {
    "free": {"type": "object"},
    "closed": {"type": "object", "additionalProperties": False},
    "partly_free": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": True,
    },
    "numbers": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
    "without_schema": {},
    "a_text_for_a_schema": "object",
}
LOOSE = [{"name": name, "inputSchema": schema} for name, schema in SCHEMAS.items()]


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {
            "tools": LOOSE if "--loose" in sys.argv else TOOLS,
            **({"nextCursor": "same"} if "--stuck" in sys.argv else {}),
        }
    if params["name"] in SCHEMAS:
        return {"content": [], "structuredContent": params.get("arguments", {})}
    return RESULTS[params["name"]]


def main() -> None:
    """Answer the messages on stdin."""
    for line in sys.stdin:
        message = json.loads(line)
        if "--banner" in sys.argv:
            print("INFO a line for people:", message.get("method"), flush=True)
        if "id" in message:
            if message["method"] not in ("initialize", "tools/list", "tools/call"):
                reply: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
            else:
                reply = {"result": answered(message["method"], message.get("params") or {})}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


main()
