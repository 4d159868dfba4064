"""An MCP server by hand, a line of JSON for each message, for the tests of odd names, bad schemas and bad manners.

Options: `--pid FILE` writes its process id, `--endless` never ends the list of its tools.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TEXT = {"type": "string"}
TREE = {"type": "object", "properties": {"name": TEXT, "parts": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
READS = {"readOnlyHint": True}


def tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A tool as it is listed."""
    return {"name": name, "inputSchema": {"type": "object", "properties": properties or {}}, **more}


PAGES = [
    [tool("files/read", {"file-path": TEXT}, title="Read a file"), tool("files.read"), tool("print")],
    [
        tool("slow", {"text": {"type": "string", "pattern": "^(a+)+$"}}),
        tool("elsewhere", {"file": {"$ref": "file:///etc/passwd"}}),
        {
            "name": "tree",
            "inputSchema": {
                "type": "object",
                "properties": {"root": {"$ref": "#/$defs/Tree"}},
                "required": ["root"],
                "$defs": {"Tree": TREE},
            },
            "annotations": {"readOnlyHint": True, "title": "A tree"},
        },
    ],
    [tool("2nd"), tool("last", annotations={"readOnlyHint": False})],
    [tool("die", {"words": TEXT}), tool("hang", annotations=READS), tool("variables", annotations=READS)],
]


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        page = int(params.get("cursor", "0"))
        more = {"nextCursor": str(page + 1)} if page + 1 < len(PAGES) or "--endless" in sys.argv else {}
        return {"tools": PAGES[page % len(PAGES)], **more}
    if params["name"] == "die":
        print(params["arguments"].get("words", ""), file=sys.stderr, flush=True)
        os._exit(3)
    if params["name"] == "hang":
        time.sleep(60)
    value = dict(os.environ) if params["name"] == "variables" else params
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def main() -> None:
    """Answer the messages on stdin."""
    if "--pid" in sys.argv:
        Path(sys.argv[sys.argv.index("--pid") + 1]).write_text(str(os.getpid()), "utf-8")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] in ("initialize", "tools/list", "tools/call"):
                reply["result"] = result_of(message["method"], message.get("params") or {})
            else:
                reply["error"] = {"code": -32601, "message": "Method not found"}
            print(json.dumps(reply), flush=True)


main()
