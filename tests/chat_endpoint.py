"""A server on localhost that speaks the chat completions format, for tests of `openai:` models."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.json_server import listening

__all__ = ["ChatEndpoint", "completion", "serve", "tool_call", "wait_for_close"]

KEY = "sk-0123456789-very-secret"


@dataclass
class ChatEndpoint:
    """A server on localhost that speaks the chat completions format.

    `replies` are used up first, as (status, headers, body); after that every request is answered with `text`.
    `refuses` are parameters that it does not support. With `pieces` it streams an answer in these, and waits for
    `pause` seconds before each; `ends` is False for a stream that breaks off. Pieces of `thoughts` come before them,
    as `thoughts_name`. A stream that `hangs` stays open after its pieces: `opened` is set then, and `closed` when
    whoever asked closes the connection.
    """

    url: str = ""
    text: str = "def add(a, b):\n    return a + b\n"
    replies: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    pieces: tuple[str, ...] = ()
    pause: float = 0.0
    ends: bool = True
    thoughts: tuple[str, ...] = ()
    thoughts_name: str = "reasoning_content"
    hangs: bool = False
    opened: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def stream(self) -> Iterator[str]:
        """The events of an answer in pieces."""
        base = {key: value for key, value in completion(None).items() if key not in ("choices", "usage")}
        for thought in self.thoughts:
            choice = {"index": 0, "delta": {self.thoughts_name: thought}, "finish_reason": None}
            yield json.dumps({**base, "choices": [choice]})
        for number, piece in enumerate(self.pieces):
            time.sleep(self.pause)
            delta = {"content": piece, **({"role": "assistant"} if number == 0 else {})}
            yield json.dumps({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if self.ends:
            yield json.dumps({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            yield json.dumps({**base, "choices": [], "usage": completion(None)["usage"]})
            yield "[DONE]"

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, str], str]:
        if self.replies:
            return self.replies.pop(0)
        for name in sorted(self.refuses & request.keys()):
            error = {"message": f"Unsupported parameter: {name}", "param": name, "code": "unsupported_parameter"}
            return 400, {}, json.dumps({"error": error})
        if "prompt" in request:
            choice = {"index": 0, "text": self.text, "finish_reason": "stop"}
            return 200, {}, json.dumps({**completion(None), "object": "text_completion", "choices": [choice]})
        return 200, {}, json.dumps(completion(self.text))

    def reply(self, content: str | None, **message: Any) -> None:
        """Answer one more request with a message, which may have `tool_calls` or `function_call`."""
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        self.replies.append((200, {}, json.dumps(completion(content, finish, **message))))


def completion(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1717243200,
        "model": "small",
        "choices": [choice],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 12,
            "total_tokens": 132,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
    }


def tool_call(id: str | None, name: str, arguments: object) -> dict[str, Any]:
    """An entry of `tool_calls`."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def wait_for_close(connection: socket.socket, opened: threading.Event, closed: threading.Event) -> None:
    """Leave a connection open until the other side closes it."""
    opened.set()
    try:
        ended = not connection.recv(1)
    except ConnectionError:
        ended = True
    if ended:
        closed.set()


@contextmanager
def serve() -> Iterator[ChatEndpoint]:
    """Serve an endpoint until the end of the block."""
    state = ChatEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.path == ("/v1/completions" if "prompt" in request else "/v1/chat/completions")
            state.requests.append(request)
            state.keys.append(self.headers.get("Authorization"))
            if state.pieces:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for event in itertools.takewhile(lambda event: not (state.hangs and '"stop"' in event), state.stream()):
                    self.wfile.write(f"data: {event}\n\n".encode())
                    self.wfile.flush()
                if state.hangs:
                    wait_for_close(self.connection, state.opened, state.closed)
                return
            status, headers, body = state.answer(request)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

    with listening(Handler) as url:
        state.url = f"{url}/v1"
        yield state
