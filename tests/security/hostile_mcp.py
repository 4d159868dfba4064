"""An MCP server that answers with the messages of a real one, altered: `hostile_mcp.py FILE SEED` over stdio, or HTTP.

FILE holds the replies of a real server by method, or by the name of a tool. The seed decides which reply is altered,
and how: a value, a key, an id, bytes, more messages, framing, or no answer at all.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

__all__ = ["MARK", "Hostile", "over_http"]

MARK = "Traceback"
"""What a server's text may say: it is no traceback of ours."""

_DEEP = "[" * 3000 + "]" * 3000
_RAW = ["NaN", "1e999", "-Infinity", "9" * 6000, _DEEP, '"\\ud800"', '"' + "x" * 300_000 + '"', "", "{", "\x00"]
_VALUES: list[Any] = [None, [], {}, "", 0, -1, True, 1e308, "\x1b[2J\r\n```", ["x"], {"x": None}, 2**63, "§raw§"]
_KEYS = ["jsonrpc", "id", "result", "error", "method", "params", "__proto__", "", "$ref", "\n"]
_ASKS = ["ping", "sampling/createMessage", "elicitation/create", "roots/list", "tools/call", "x", ""]
_TELLS = [
    "notifications/tools/list_changed",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/x",
]
_HEADERS = [
    ("Content-Encoding", "gzip"),
    ("Content-Encoding", "br"),
    ("Content-Encoding", ", ".join(["gzip"] * 9)),
    ("Content-Type", "text/html"),
    ("Content-Type", "\xff"),
    ("Content-Length", "3"),
    ("Content-Length", "-1"),
    ("Transfer-Encoding", "chunked"),
    ("Mcp-Session-Id", "\xfe" * 40),
    ("Mcp-Session-Id", "x" * 60_000),
    ("Location", "http://[::1"),
    ("Set-Cookie", "a=b; Domain=example.com"),
    ("X", "y" * 90_000),
]
_FRAMES = ["retry: 99999999999999999999\n", "retry: x\n", "id: \x00\n", "id: 7\n\n", ":\n" * 10_000, "event: x\n", "\r"]

_ENDS = [b"\r\n", b"\n\n", b"", b"\x00\n", b"\r"]
_STATUSES = [201, 206, 302, 307, 400, 401, 404, 429, 500, 999]


class Hostile:
    """The replies of a real server, of which a seed alters some."""

    def __init__(self, replies: dict[str, Any], seed: int) -> None:
        self._replies = replies
        self.random = random.Random(seed)
        self._first = self.random.randrange(9)
        """How many answers come as they were: the handshake and the list, mostly."""
        self._share = self.random.choice([0.2, 0.9])

    def chance(self, probability: float) -> bool:
        """True so often, once the first answers have been sent."""
        return self._first < 0 and self.random.random() < probability

    def messages(self, request: dict[str, Any]) -> list[bytes]:
        """What is sent for a message of the client: whole texts, mostly JSON."""
        if "id" not in request or "method" not in request:
            return []
        params = request.get("params") or {}
        reply = self._replies.get(params.get("name") or request["method"])
        reply = reply if reply is not None else {"error": {"code": -32601, "message": "no such method"}}
        answer = {"jsonrpc": "2.0", "id": request["id"], **json.loads(json.dumps(reply))}
        self._first -= 1
        if self._first >= 0 or self.random.random() > self._share:
            return [json.dumps(answer).encode()]
        return list(self._altered(answer))

    def _altered(self, answer: dict[str, Any]) -> Iterator[bytes]:
        kind = self.random.choice(["value", "value", "value", "key", "id", "bytes", "bytes", "more", "none", "both"])
        if kind == "more":
            for _ in range(self.random.choice([1, 300])):
                yield json.dumps(self._unasked(answer["id"])).encode()
        elif kind == "none":
            return
        elif kind == "id":
            answer["id"] = self.random.choice([*_VALUES, str(answer["id"]), 99])
        elif kind == "both":
            answer = {**answer, "error": self.random.choice(_VALUES), "result": self.random.choice(_VALUES)}
        elif kind in ("value", "key"):
            self._alter(answer, kind)
        text = json.dumps(answer).replace('"§raw§"', self.random.choice(_RAW)).encode("utf-8", "surrogatepass")
        yield self._damaged(text) if kind == "bytes" else text
        if self.random.random() < 0.2:
            yield text

    def _alter(self, value: Any, kind: str) -> None:
        """Change one value, or the name of one, somewhere below."""
        places = list(_places(value))
        owner, key = self.random.choice(places)
        if kind == "value":
            owner[key] = self.random.choice(_VALUES)
        elif isinstance(owner, dict):
            owner[self.random.choice(_KEYS)] = owner.pop(key)
        else:
            owner += owner * 3

    def _unasked(self, id: object) -> dict[str, Any]:
        if self.random.random() < 0.5:
            method = self.random.choice(_ASKS)
            return {"jsonrpc": "2.0", "id": self.random.choice([id, "s1", 0]), "method": method, "params": {}}
        params = {"requestId": id, "progressToken": id, "progress": 1, "level": "x", "data": MARK}
        return {"jsonrpc": "2.0", "method": self.random.choice(_TELLS), "params": params}

    def _damaged(self, text: bytes) -> bytes:
        offset = self.random.randrange(len(text))
        cut, noise = text[:offset], self.random.randbytes(self.random.choice([1, 5, 2000]))
        return self.random.choice([cut, cut + noise + text[offset:], noise, b"[" + text + b"]", b"\xef\xbb\xbf" + text])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, part in list(value.items()) if isinstance(value, dict) else list(enumerate(value)):
        yield value, key
        if isinstance(part, dict | list):
            yield from _places(part)


def on_stdio(hostile: Hostile) -> None:
    """Answer the lines on stdin, or end, or be silent."""
    out = sys.stdout.buffer
    with suppress(BrokenPipeError):
        for line in sys.stdin:
            for message in hostile.messages(json.loads(line)):
                if hostile.chance(0.01):
                    sys.exit(3)
                if hostile.chance(0.01):
                    sys.stdout.close()
                    time.sleep(60)
                out.write(message + (hostile.random.choice(_ENDS) if hostile.chance(0.2) else b"\n"))
                out.flush()


def over_http(hostile: Hostile) -> type[BaseHTTPRequestHandler]:
    """The same as answers to POST, as JSON or events, some with other headers or statuses."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            messages, chance = hostile.messages(request), hostile.random
            self.close_connection = True
            if not messages:
                self.send_response(202 if "id" not in request else chance.choice([200, 202, 204]))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            in_events = len(messages) > 1 or chance.random() < 0.5
            body = b"".join(messages)
            if in_events:
                body = b""
                for message in messages:
                    body += chance.choice(_FRAMES).encode() if hostile.chance(0.2) else b""
                    body += b"event: message\ndata: " + message
                    body += chance.choice([b"\n", b"", b"\r\r"]) if hostile.chance(0.1) else b"\n\n"
            status = chance.choice(_STATUSES) if hostile.chance(0.1) else 200
            headers = {"Content-Type": "text/event-stream" if in_events else "application/json"}
            if hostile.chance(0.1):
                name, value = chance.choice(_HEADERS)
                headers[name] = value
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_DELETE = do_GET

    return Handler


if __name__ == "__main__":
    on_stdio(Hostile(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])))
