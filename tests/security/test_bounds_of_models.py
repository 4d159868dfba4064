"""A model's endpoint that answers without end costs a bounded memory, and is named."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

from atc.models.chat_format import usage_of
from tests.security.measured import in_process
from tests.security.raw_server import server

HEAD = "HTTP/1.1 {} OK\r\nContent-Type: {}\r\nConnection: close\r\n{}\r\n"
DELTA = b'data: {"choices": [{"index": 0, "delta": {%s}}]}\n\n'
LARGE = [  # whole, packed, error, event, events, events of an error, capitals, another type, calls
    (200, "application/json", "", b'{"choices": [{"message": {"content": "', b"x" * 1_000_000),
    (200, "application/json", "Content-Encoding: gzip\r\n", b"", gzip.compress(b"x" * 400_000_000, 1)),
    (400, "application/json", "", b'{"error": {"message": "', b"x" * 1_000_000),
    (200, "text/event-stream", "", b"data: ", b"x" * 1_000_000),
    (200, "text/event-stream", "", b"", (DELTA % b'"content": "%s"' % (b"x" * 50_000)) * 20),
    (400, "text/event-stream", "", b'{"a": [', b"{},\n\n" * 200_000),
    (200, "Text/Event-Stream", "", b'{"a": [', b"{},\n\n" * 200_000),
    (200, "text/event-stream+json", "", b'{"a": [', b"{},\n\n" * 200_000),
    (200, "text/event-stream", "", b"", (DELTA % b'"tool_calls": [%s{}]' % (b"{}, " * 1000)) * 200),
]


def endless(reply: tuple[int, str, str, bytes, bytes]) -> Callable[[socket.socket, threading.Event], None]:
    """400 parts of a reply behind its beginning."""
    status, media_type, more, begin, part = reply

    def answer(connection: socket.socket, over: threading.Event) -> None:
        connection.settimeout(10)  # what nobody reads fills its buffer
        connection.sendall(HEAD.format(status, media_type, more).encode() + begin)
        for _ in range(1 if more else 400):
            connection.sendall(part)

    return answer


ASK = """for url in {urls}:
    for layout in ("chat", "roles"):
        model = Endpoint("small", base_url=url + "/v1")
        try:
            model.answer(ModelRequest((Message("user", "Q"),), (), layout=layout))
        except ModelError as error:
            print(error)
"""


def test_a_large_answer_of_a_model_is_not_kept() -> None:
    """400 MB took 1.2 GB. All are asked in one process, which no answer may make large."""
    with ExitStack() as servers:
        urls = [servers.enter_context(server(endless(reply))) for reply in LARGE]
        text, grown = in_process(
            "from atc import Endpoint; from atc.models import Message; from atc.models.base import ModelRequest\n"
            "from protocols.errors import ModelError\nimport openai.types.chat, openai.types.completion",
            ASK.format(urls=urls),
        )

    messages = text.splitlines()
    assert len(messages) == 2 * len(LARGE)
    for message, url in zip(messages, (url for url in urls for _ in range(2)), strict=True):
        assert message.startswith(f"{url}/v1 answers, but not with a chat completion: ")
        assert " has more than " in message or "it comes in parts" in message
        assert message.endswith("is base_url right?")
    assert grown < 150


def test_a_list_of_models_is_no_stream_of_events() -> None:
    """It is read whole; 72 MB took 1.4 GB."""
    with server(endless((200, "text/event-stream", "", b'{"a": [', b"{},\n\n" * 200_000))) as url:
        step = f"print(Endpoint('small', base_url='{url}/v1').context)"
        text, grown = in_process("from atc import Endpoint; import openai.types.chat", step)

    assert text == "None" and grown < 150


def test_counted_tokens_pay_nothing_back() -> None:
    """Neither numbers below zero nor some of 4,000 digits, which no float holds."""
    counted = SimpleNamespace(prompt_tokens=-(10**9), completion_tokens=10**4000, prompt_tokens_details=None)

    assert (usage_of(counted, 1.0).prompt_tokens, usage_of(counted, 1.0).completion_tokens) == (0, 1 << 40)
