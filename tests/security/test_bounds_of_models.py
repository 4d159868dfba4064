"""A model's endpoint that answers without end costs a bounded memory, and is named."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable

import pytest

from tests.security.measured import in_process
from tests.security.raw_server import server

HEAD = "HTTP/1.1 {} OK\r\nContent-Type: {}\r\nConnection: close\r\n{}\r\n"
DELTA = b'data: {"choices": [{"index": 0, "delta": {%s}}]}\n\n'
LARGE = [
    (200, "application/json", "", b'{"choices": [{"message": {"content": "', b"x" * 1_000_000),
    (200, "application/json", "Content-Encoding: gzip\r\n", b"", gzip.compress(b"x" * 400_000_000, 1)),
    (400, "application/json", "", b'{"error": {"message": "', b"x" * 1_000_000),
    (200, "text/event-stream", "", b"data: ", b"x" * 1_000_000),
    (200, "text/event-stream", "", b"", (DELTA % b'"content": "%s"' % (b"x" * 1000)) * 1000),
    (200, "text/event-stream", "", b"", (DELTA % b'"tool_calls": [%s{}]' % (b"{}, " * 1000)) * 200),
]
NAMES = ["whole", "packed", "error", "event", "events", "calls"]


def endless(reply: tuple[int, str, str, bytes, bytes]) -> Callable[[socket.socket, threading.Event], None]:
    """400 parts of a reply behind its beginning."""
    status, media_type, more, begin, part = reply

    def answer(connection: socket.socket, over: threading.Event) -> None:
        connection.settimeout(10)  # what nobody reads fills its buffer
        connection.sendall(HEAD.format(status, media_type, more).encode() + begin)
        for _ in range(1 if more else 400):
            connection.sendall(part)

    return answer


@pytest.mark.parametrize("layout", ["chat", "roles"])
@pytest.mark.parametrize("reply", LARGE, ids=NAMES)
def test_a_large_answer_of_a_model_is_not_kept(reply: tuple[int, str, str, bytes, bytes], layout: str) -> None:
    """400 MB took 1.2 GB."""
    with server(endless(reply)) as url:
        text, grown = in_process(
            "from atc import Endpoint; from atc.models import Message; from atc.models.base import ModelRequest\n"
            "import openai.types.chat, openai.types.completion",
            f"model = Endpoint('small', base_url='{url}/v1')\n"
            f"model.answer(ModelRequest((Message('user', 'Q'),), (), layout={layout!r}))",
        )

    assert text.startswith(f"ModelError {url}/v1 answers, but not with a chat completion: ")
    assert " has more than 4" in text or "it comes in parts" in text
    assert text.endswith("is base_url right?")
    assert grown < 150
