"""A server on localhost that streams answers in the formats of providers with an API of their own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.chat_endpoint import wait_for_close
from tests.json_server import listening

__all__ = ["VARIABLES", "ProviderAPI", "serve_provider"]

VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "google": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
    "mistral": ("MISTRAL_API_BASE", "MISTRAL_API_KEY"),
    "ollama": ("OLLAMA_HOST", "OLLAMA_API_KEY"),
}
"""Where the clients of providers look for an address and a key."""


@dataclass
class ProviderAPI:
    """What the server answers with: `thoughts` first, then `text` in two parts, then a call of `function` if it is set.

    `status` and `error` are for another answer. An answer that does not `end` breaks off in its middle; one that
    `hangs` stays open there: `opened` is set then, and `closed` when whoever asked closes the connection.
    """

    provider: str
    url: str = ""
    text: str = "print(1)"
    thoughts: str = ""
    function: str = ""
    status: int = 200
    error: str = ""
    ends: bool = True
    hangs: bool = False
    refuses: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    opened: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def parts(self) -> Iterator[str]:
        """The answer as the provider streams it, in two halves of its text."""
        half = len(self.text) // 2
        yield from getattr(self, f"_{self.provider}")(self.text[:half], self.text[half:])

    def _anthropic(self, first: str, second: str) -> Iterator[str]:
        def event(kind: str, **data: Any) -> str:
            return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"

        def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> Iterator[str]:
            yield event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                yield event("content_block_delta", index=index, delta=delta)

        usage = {"input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
        yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
        thought = {"type": "thinking_delta", "thinking": self.thoughts}
        yield from block(
            0, {"type": "thinking", "thinking": "", "signature": ""}, *([thought] if self.thoughts else [])
        )
        yield event("content_block_stop", index=0)
        yield from block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": first})
        yield ""
        yield event("content_block_delta", index=1, delta={"type": "text_delta", "text": second})
        yield event("content_block_stop", index=1)
        if self.function:
            tool = {"type": "tool_use", "id": "t1", "name": self.function, "input": {}}
            yield from block(2, tool, {"type": "input_json_delta", "partial_json": '{"day": 1}'})
            yield event("content_block_stop", index=2)
        reason = "tool_use" if self.function else "end_turn"
        yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 12})
        yield event("message_stop")

    def _ollama(self, first: str, second: str) -> Iterator[str]:
        def line(message: dict[str, Any], **data: Any) -> str:
            base = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": False}
            return json.dumps({**base, "message": {"role": "assistant", "content": "", **message}, **data}) + "\n"

        yield line({"thinking": self.thoughts} if self.thoughts else {})
        yield line({"content": first})
        yield ""
        yield line({"content": second})
        if self.function:
            yield line({"tool_calls": [{"function": {"name": self.function, "arguments": {"day": 1}}}]})
        yield line({}, done=True, done_reason="stop", prompt_eval_count=120, eval_count=12)

    def _mistral(self, first: str, second: str) -> Iterator[str]:
        def event(delta: dict[str, Any], finish: str | None = None, **data: Any) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            return f"data: {json.dumps({**base, **data})}\n\n"

        if self.thoughts:
            thinking = {"type": "thinking", "thinking": [{"type": "text", "text": self.thoughts}]}
            yield event({"role": "assistant", "content": [thinking]})
        yield event({"role": "assistant", "content": first})
        yield ""
        yield event({"content": second})
        function = {"name": self.function, "arguments": '{"day": 1}'}
        calls = {"tool_calls": [{"id": "t12345678", "function": function, "index": 0}]} if self.function else {}
        usage = {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132}
        yield event({"content": "", **calls}, "tool_calls" if self.function else "stop", usage=usage)
        yield "data: [DONE]\n\n"

    def _google(self, first: str, second: str) -> Iterator[str]:
        def event(part: dict[str, Any], **data: Any) -> str:
            usage = {"promptTokenCount": 120, "candidatesTokenCount": 12, "totalTokenCount": 132}
            candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **data}
            return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\r\n\r\n"

        if self.thoughts:
            yield event({"text": self.thoughts, "thought": True})
        yield event({"text": first})
        yield ""
        yield event({"text": second}, **({} if self.function else {"finishReason": "STOP"}))
        if self.function:
            yield event({"functionCall": {"name": self.function, "args": {"day": 1}}}, finishReason="STOP")


@contextmanager
def serve_provider(provider: str) -> Iterator[ProviderAPI]:
    """Serve the API of a provider until the end of the block."""
    state = ProviderAPI(provider)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            state.requests.append({"path": self.path, **json.loads(body)})
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            refused = bool(state.refuses) and state.refuses in body.decode()
            status = 400 if refused else state.status
            self.send_response(status)
            streamed = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
            self.send_header("Content-Type", streamed if status == 200 else "application/json")
            self.end_headers()
            if status != 200:
                text = f"{state.refuses} is not supported" if refused else state.error
                self.wfile.write(json.dumps({"error": {"type": "invalid_request_error", "message": text}}).encode())
                return
            for part in state.parts():
                self.wfile.write(part.encode())
                self.wfile.flush()
                if not part and state.hangs:
                    wait_for_close(self.connection, state.opened, state.closed)
                    return
                if not part and not state.ends:
                    return

    with listening(Handler) as state.url:
        yield state
