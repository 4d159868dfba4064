"""A server that answers without end, or not at all, costs a bounded time and memory, and is named."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
import requests

from atc import Agent
from protocols import load
from protocols.bounded_http import BoundedAdapter, TooMuchError
from sandbox import Limits
from tests.scripted import ScriptedModel
from tests.security.measured import in_process
from tests.security.raw_server import server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
OK = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/notes": {"get": {"responses": OK}}}}


def large(connection: socket.socket, over: threading.Event) -> None:
    """400 MB of a JSON text."""
    connection.sendall(HEAD + b'Content-Length: 400000000\r\n\r\n{"access_token": "')
    for _ in range(400):
        connection.sendall(b"x" * 1_000_000)


def dripping(start: bytes) -> Callable[[socket.socket, threading.Event], None]:
    def drip(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(start)
        while not over.wait(0.05):
            connection.sendall(b" ")

    return drip


def silent(connection: socket.socket, over: threading.Event) -> None:
    over.wait()


def test_a_large_answer_of_a_token_server_is_not_kept() -> None:
    """400 MB took 469 MiB; now the reading ends after the first."""
    with server(large) as url:
        text, grown = in_process(
            "from protocols.calls.auth import credential; from protocols.calls.credentials import ANY_REQUEST\n"
            "import authlib.integrations.requests_client, protocols.bounded_http",
            "credential('oauth2:env:SHOP', None).sign(ANY_REQUEST)",
            SHOP_TOKEN_URL=f"{url}/token",
            SHOP_CLIENT_ID="me",
            SHOP_CLIENT_SECRET="client-9d41c0ffee77",
        )

    assert text == f"APIError the token server {url}/token answered with more than 1 MiB, and no token has"
    assert grown < 60


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"\r\n", HEAD + b"Content-Length: 9999\r\n\r\n"]
)
def test_a_dripping_answer_ends(start: bytes) -> None:
    """In the status line, a heading, a body: the time of the request ends it, though no gap between bytes is long."""
    with server(dripping(start)) as url, requests.Session() as session:
        session.mount("http://", BoundedAdapter(0.5, 10_000))
        with pytest.raises(requests.Timeout):
            session.get(url, timeout=30)


def test_a_session_goes_on_after_an_answer_was_too_large() -> None:
    """The bounds are those of one request."""
    with server(large) as url, requests.Session() as session:
        session.mount("http://", BoundedAdapter(20, 10_000))
        for _ in range(2):
            with pytest.raises(TooMuchError):
                session.get(url, timeout=20)


@pytest.mark.parametrize("call", ["GET_notes()", "requests.get('URL/notes')"])
def test_a_service_that_never_replies_is_tried_once(call: str) -> None:
    """Four attempts waited for it; now the first one says so."""
    with server(silent) as url:
        program = f"```python\nimport requests\nprint({call.replace('URL', url)})\n```"
        with Agent(
            load(DOCUMENT), ScriptedModel(*[program] * 4), base_url=url, profile="large", limits=Limits(wall=1)
        ) as agent:
            solution = agent.solve("Which notes?")

    assert (solution.status, solution.exit_code, len(solution.attempts)) == ("api_error", 6, 1)
    assert solution.message.startswith(f"GET {url}/notes had no reply after ")


@pytest.mark.parametrize(
    "program", ["import time\ntime.sleep(0.9)\nprint(GET_notes())", "while True: pass", "GET_notes()\nwhile True: pass"]
)
def test_a_slow_program_is_no_silent_service(program: str) -> None:
    """Its own time was up, and it may be revised."""

    def reply(connection: socket.socket, over: threading.Event) -> None:
        if program.startswith("import"):
            over.wait()
        connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")

    model = ScriptedModel(f"```python\n{program}\n```", "```python\nprint('revised')\n```")
    limits = Limits(wall=1)
    with server(reply) as url, Agent(load(DOCUMENT), model, base_url=url, profile="large", limits=limits) as agent:
        assert agent.solve("Which notes?").answer == "revised"
