"""An MCP server by hand, a line of JSON for each message, for the tests of odd names, schemas, results and manners.

Options: `--pid FILE` writes its process id, and `FILE.hangs` once it hangs; `--endless` never ends the list of its
tools, `--stuck` gives the same cursor for ever, `--banner` prints lines that are no messages. `--odd` lists tools whose
results are odd, `--loose` tools whose schemas say little, and some that are none; these give their arguments.
`--reform FILE` lists another tool `last` where there is that file.
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
    [tool("reform")],
]


def text(*texts: str) -> list[dict[str, str]]:
    """The content of a result."""
    return [{"type": "text", "text": text} for text in texts]


RESULTS: dict[str, dict[str, Any]] = {
    "a_list": {"content": text("[1, 2]"), "structuredContent": [1, 2]},
    "a_list_of_one": {"content": text('{"id": 1}'), "structuredContent": [{"id": 1}]},
    "a_list_in_words": {"content": text("Two were found."), "structuredContent": [1, 2]},
    "a_list_in_parts": {"content": text('{"id": 1}', '{"id": 2}'), "structuredContent": [{"id": 1}, {"id": 2}]},
    "a_text": {"content": text("words"), "structuredContent": "words"},
    "a_number": {"content": text("It is 5."), "structuredContent": 5},
    "a_truth": {"content": text("false"), "structuredContent": False},
    "nothing": {"content": text("null"), "structuredContent": None},
    "nothing_at_all": {"content": [], "structuredContent": None},
    "nothing_but_words": {"content": text("words"), "structuredContent": None},
    "without_content": {"structuredContent": {"id": 1}},
    "a_list_without_content": {"structuredContent": [1], "_meta": {"cost": 3}},
    "json_in_a_text": {"content": text('{"id": 1}'), "structuredContent": '{"id": 1}'},
    "another_text": {"content": text('{"id": 1}'), "structuredContent": "done"},
    "an_empty_object": {"content": text('{"id": 1}'), "structuredContent": {}},
    "an_object": {"content": text("One was found."), "structuredContent": {"id": 1}},
    "a_failure_in_data": {"structuredContent": {"message": "out of parts"}, "isError": True},
    "a_failure_in_a_word": {"structuredContent": "out of parts", "isError": True},
    "a_failure": {"content": text("no such part"), "structuredContent": ["no"], "isError": True},
}
ODD = [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in RESULTS]
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
REFORMED = tool("last", {"text": TEXT})
PID = Path(sys.argv[sys.argv.index("--pid") + 1]) if "--pid" in sys.argv else None


def listed(cursor: int) -> dict[str, Any]:
    """A page of tools."""
    if "--odd" in sys.argv or "--loose" in sys.argv:
        return {
            "tools": ODD if "--odd" in sys.argv else LOOSE,
            **({"nextCursor": "0"} if "--stuck" in sys.argv else {}),
        }
    more = {"nextCursor": str(cursor + 1)} if cursor + 1 < len(PAGES) or "--endless" in sys.argv else {}
    return {"tools": PAGES[cursor % len(PAGES)], **more}


def called(name: str, arguments: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """What a tool gives."""
    if name in SCHEMAS:
        return {"content": [], "structuredContent": arguments}
    if name == "die":
        print(arguments.get("words", ""), file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        if PID is not None:
            PID.with_name(f"{PID.name}.hangs").touch()
        time.sleep(60)
    if name == "reform":  # the tool `last` is another one, and the client is told so
        PAGES[2][1] = REFORMED
        print('{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}', flush=True)
    value = dict(os.environ) if name == "variables" else params
    return RESULTS.get(name) or {"content": text(json.dumps(value))}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return listed(int(params.get("cursor", "0")))
    return called(params["name"], params.get("arguments", {}), params)


def main() -> None:
    """Answer the messages on stdin."""
    if PID is not None:
        PID.write_text(str(os.getpid()), "utf-8")
    if "--reform" in sys.argv and Path(sys.argv[sys.argv.index("--reform") + 1]).exists():
        PAGES[2][1] = REFORMED
    for line in sys.stdin:
        message = json.loads(line)
        if "--banner" in sys.argv:
            print("INFO a line for people:", message.get("method"), flush=True)
        if "id" in message and "method" in message:
            if message["method"] in ("initialize", "tools/list", "tools/call"):
                reply = {"result": result_of(message["method"], message.get("params") or {})}
            else:
                reply = {"error": {"code": -32601, "message": "Method not found"}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


main()
