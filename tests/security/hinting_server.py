"""An MCP server by hand, whose list of tools is what its options make it.

`--dies N`: it ends in the middle of the Nth list, behind its first page. `change` alters a tool and says so.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

WRAPPED = {
    "type": "object",
    "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/Part"}}},
    "required": ["result"],
    "$defs": {"Part": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "x-fastmcp-wrap-result": True,
}
TOOLS: dict[str, dict[str, Any]] = {
    "look": {"annotations": {"readOnlyHint": True}},
    "purge": {"annotations": {"readOnlyHint": True, "destructiveHint": True}},
    "parts": {"annotations": {"readOnlyHint": True}, "outputSchema": WRAPPED},
    "change": {"annotations": {"readOnlyHint": True}},
    "order": {},
}
DIES = int(sys.argv[sys.argv.index("--dies") + 1]) if "--dies" in sys.argv else 0
LISTS = 0


def send(message: dict[str, Any]) -> None:
    """One message of the protocol."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def listed(cursor: str | None) -> dict[str, Any]:
    """The list in two pages."""
    global LISTS
    tools = [{"name": name, "inputSchema": {"type": "object", "properties": {}}, **TOOLS[name]} for name in TOOLS]
    if cursor is None:
        LISTS += 1
        return {"tools": tools[:2], "nextCursor": "rest"}
    if DIES == LISTS:
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(1)
    return {"tools": tools[2:]}


def called(name: str) -> dict[str, Any]:
    """The result of a tool."""
    if name == "change":
        TOOLS["order"] = {"description": "Something else.", "inputSchema": {"type": "object", "required": ["more"]}}
        send({"method": "notifications/tools/list_changed"})
    value = [{"name": "bolt"}] if name == "parts" else "done"
    wrapped = {"structuredContent": {"result": value}} if name == "parts" else {}
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}], **wrapped}


for line in sys.stdin:
    request = json.loads(line)
    params = request.get("params") or {}
    if request["method"] == "initialize":
        info = {"name": "hints", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
    elif request["method"] == "tools/list":
        result = listed(params.get("cursor"))
    else:
        result = called(params["name"]) if request["method"] == "tools/call" else {}
    if "id" in request:
        send({"id": request["id"], "result": result})
