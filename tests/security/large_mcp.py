"""An MCP server by hand whose answers are as large as its options say, over stdio or HTTP.

The tool `dump` answers with a line of 100 MB, `tail` with one that has its id last. FORM `list` lists tools without
end, each of 4 MB; `many` answers with 12 MB of empty objects; `noise` writes a line of 100 MB first.
"""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.json_server import JSONHandler

__all__ = ["OverHTTP"]

INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "large", "version": "1"},
}
TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in ("dump", "tail", "many", "small")
]
PART = "x" * 1_000_000
MANY = '"result": {"content": [], "structuredContent": {"a": [{}' + ", {}" * 3_000_000 + "]}}}"


def result(method: str, params: dict[str, Any], form: str) -> dict[str, Any] | None:
    """The result of a request; None for one whose answer is large."""
    if method == "initialize":
        return INFO
    if method == "tools/list" and form == "list":
        page = int(params.get("cursor", "0"))
        tool = {**TOOLS[0], "name": f"t{page}", "description": PART * 4}
        return {"tools": [tool], "nextCursor": str(page + 1)}
    if method == "tools/list":
        return {"tools": TOOLS}
    return {"content": [{"type": "text", "text": "small"}]} if params.get("name") == "small" else None


def on_stdio(form: str) -> None:
    """Answer the messages on stdin."""
    if form == "noise":
        for _ in range(100):
            sys.stdout.write(PART)
        print(flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] not in ("initialize", "tools/list", "tools/call"):
            print(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}),
                flush=True,
            )
            continue
        if form == "pings" and message["method"] == "tools/call":
            for number in range(100_000):
                print(json.dumps({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"}))
        if (value := result(message["method"], message.get("params") or {}, form)) is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}))
        else:
            is_last = message["params"]["name"] == "tail"
            if message["params"]["name"] == "many":
                print(f'{{"jsonrpc": "2.0", "id": {message["id"]}, {MANY}', flush=True)
                continue
            sys.stdout.write('{"jsonrpc": "2.0", ' + ("" if is_last else f'"id": {message["id"]}, '))
            sys.stdout.write('"result": {"content": [{"type": "text", "text": "')
            for _ in range(100):
                sys.stdout.write(PART)
            print('"}]}' + (f', "id": {message["id"]}' if is_last else "") + "}")
        sys.stdout.flush()


class OverHTTP(JSONHandler):
    """`dump` as packed JSON or, below `/events`, as an event of 100 MB; `tail` as JSON of 100 MB."""

    def do_POST(self) -> None:
        message = self.read_json()
        params = message.get("params") or {}
        if message["method"] not in ("initialize", "tools/list", "tools/call"):
            return self.reply({"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": "no"}})
        value = result(message["method"], params, self.path.removeprefix("/"))
        if value is not None:
            return self.reply({"jsonrpc": "2.0", "id": message["id"], "result": value})
        in_events = self.path == "/events"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if in_events else "application/json")
        if params["name"] == "many":
            self.end_headers()
            text = f'{{"jsonrpc": "2.0", "id": {message["id"]}, {MANY}'
            self.wfile.write((f"data: {text}\n\n" if in_events else text).encode())
            return None
        if params["name"] == "dump" and not in_events:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with suppress(ConnectionError):
            if params["name"] == "dump" and not in_events:
                self.wfile.write(gzip.compress(b"[" + b"1, " * 130_000_000, 1))
            else:
                self.wfile.write(b"data: " if in_events else b"")
                for _ in range(100):
                    self.wfile.write(PART.encode())
        return None


if __name__ == "__main__":
    on_stdio(sys.argv[1] if len(sys.argv) > 1 else "")
