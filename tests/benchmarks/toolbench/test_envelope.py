"""Calls of many APIs through one endpoint of a server: how they are sent, what comes back, and what is at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from protocols import load
from protocols.calls.api_keys import APIKey
from protocols.calls.envelope import enveloped, fault_of, literal
from protocols.errors import ToolError
from protocols.model import Envelope, Protocol, Tool
from sandbox import Broker, Journal, Sandbox
from tests.local_api import Answer, LocalAPI

KEY = "k-3f9a7c1e55aa0b42"


def records(server: str) -> Protocol:
    """Two operations that a server carries; the published name of `Zip Code` is zip_code."""
    text = {"type": "string"}
    parameters = [
        {"name": "Zip Code", "in": "query", "required": True, "schema": text},
        {"name": "days", "in": "query", "schema": {"type": "integer"}},
    ]
    responses = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Records", "version": "1"},
        "servers": [{"url": "https://tools.invalid"}],
        "paths": {
            "/Weather/sky/forecast": {"get": {"parameters": parameters, "responses": responses}},
            "/Weather/sky/alarm": {"post": {"parameters": parameters, "responses": responses}},
        },
    }

    def envelope(tool: Tool) -> Envelope:
        _, category, name, api = tool.path.split("/")
        constants = {"category": category, "tool_name": name, "api_name": api, "strip": "", "toolbench_key": ""}
        names = {tool.arguments[0].argument: "zip_code"}
        return Envelope("/virtual", constants, "tool_input", names, key_field="toolbench_key")

    return enveloped(load(document), server, envelope)


@pytest.fixture
def server() -> Iterator[LocalAPI]:
    with LocalAPI() as server:
        server.answer("POST", "/virtual", {"error": "", "response": {"rain": True}})
        yield server


@pytest.fixture
def make_broker(server: LocalAPI) -> Iterator[Callable[..., Broker]]:
    brokers: list[Broker] = []

    def make(**options: object) -> Broker:
        broker = Broker(records(server.url), base_url=server.url, **options)  # type: ignore[arg-type]
        brokers.append(broker)
        return broker

    yield make
    for broker in brokers:
        broker.close()


def test_a_call_is_carried_by_the_endpoint(server: LocalAPI, make_broker: Callable[..., Broker]) -> None:
    """The arguments go under their published names; record and result are those of the operation itself."""
    broker = make_broker()
    name = broker.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150", "days": "3"})

    assert name == {"rain": True}
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/virtual")
    assert request.json() == {
        "category": "Weather",
        "tool_name": "sky",
        "api_name": "forecast",
        "strip": "",
        "toolbench_key": "",
        "tool_input": {"zip_code": "0150", "days": 3},
    }
    (record,) = broker.calls
    assert (record.method, record.status, record.response) == ("GET", 200, {"rain": True})
    assert record.arguments == {"Zip_Code": "0150", "days": 3}


def test_requests_of_a_program_are_carried_too(server: LocalAPI) -> None:
    """A program that writes its own requests gets the API's answer, not the envelope."""
    source = (
        "import requests\n"
        f"reply = requests.get('{server.url}/Weather/sky/forecast', params={{'Zip Code': '0150'}})\n"
        "print(reply.json()['rain'])\n"
    )
    with Sandbox(records(server.url), base_url=server.url) as sandbox:
        run = sandbox.run(source)

    assert run.stdout == "True\n", run.error
    assert server.requests[0].json()["tool_input"] == {"zip_code": "0150"}  # type: ignore[index]


def test_whether_a_call_writes_follows_from_the_operation(server: LocalAPI, make_broker: Callable[..., Broker]) -> None:
    """A read that is carried by a POST needs no permission; a write does."""
    broker = make_broker(writes="deny")

    assert broker.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"}) == {"rain": True}
    with pytest.raises(ToolError, match="--writes deny refuses"):
        broker.call("POST_Weather_sky_alarm", (), {"Zip_Code": "0150"})
    assert len(server.requests) == 1


def test_a_simulated_write_stays_on_this_machine(server: LocalAPI, make_broker: Callable[..., Broker]) -> None:
    """It is answered by a simulated API, which needs no envelope."""
    broker = make_broker(writes="simulate")

    broker.call("POST_Weather_sky_alarm", (), {"Zip_Code": "0150"})

    assert broker.calls[0].simulated
    assert server.requests == []


def test_a_key_is_filled_in_and_taken_out_of_replies(server: LocalAPI, make_broker: Callable[..., Broker]) -> None:
    """The program never sees the key of the server, not even in a reply that repeats it."""
    server.answer("POST", "/virtual", {"error": "", "response": f"your key is {KEY}"})
    broker = make_broker(credentials=[APIKey(KEY, "header", "toolbench_key")])

    result = broker.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"})

    assert result == "your key is [secret]"
    assert server.requests[0].json()["toolbench_key"] == KEY  # type: ignore[index]
    assert server.requests[0].headers["toolbench_key"] == KEY


FAULTS = [
    ("API temporarily not working error...", "timeout", 504, True),
    ("API not working error...", "not working", 503, True),
    ("Unauthorized error...", "unauthorized", 401, True),
    ("Unsubscribed error...", "unsubscribed", 402, True),
    ("Too many requests error...", "too many requests", 429, True),
    ("Rate limit per minute error...", "too many requests", 429, True),
    ("Gateway error...", "gateway", 502, True),
    ("Blocked error...", "blocked", 403, True),
    ("Timeout error...", "timeout", 504, True),
    ("No answer error... nothing is recorded", "no answer", 501, True),
    ("Tool input parse error...\n", "wrong arguments", 422, False),
    ("Unknown API error... there is no `a`", "unknown API", 404, False),
    ("Message error...", "message", 400, False),
    ("City not in our list", "message", 400, False),
]


@pytest.mark.parametrize(("text", "name", "status", "environment"), FAULTS)
def test_errors_are_typed(
    server: LocalAPI, make_broker: Callable[..., Broker], text: str, name: str, status: int, environment: bool
) -> None:
    """A server answers 200 to all; its error text becomes a status that tells whose fault it is."""
    server.answer("POST", "/virtual", {"error": text, "response": ""})

    with pytest.raises(ToolError, match=f"GET_Weather_sky_forecast: {name} — the service said") as caught:
        make_broker().call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"})

    assert (caught.value.status, caught.value.tool) == (status, "GET_Weather_sky_forecast")
    assert fault_of(text).environment is environment


TEXTS = [
    ("{'rain': True, 'mm': None}", {"rain": True, "mm": None}),
    ('{"rain": true}', {"rain": True}),
    ("[(1, 2), 'x']", [[1, 2], "x"]),
    ("{'rain': True, 'mm': [1, 2", "{'rain': True, 'mm': [1, 2"),
    ("it rains", "it rains"),
    ("{1, 2}", "{1, 2}"),
    ("2024-10-11", "2024-10-11"),
    ("", ""),
    ("[" * 5000, "[" * 5000),
]


@pytest.mark.parametrize(("text", "value"), TEXTS)
def test_texts_that_are_values_are_read(text: str, value: object) -> None:
    """Such servers answer with the text of a Python value, often cut; a cut one stays text."""
    assert literal(text) == value


@pytest.mark.parametrize("body", ["<html>", [1], {"detail": "x"}])
def test_a_reply_without_an_envelope_is_said_to_be_one(
    server: LocalAPI, make_broker: Callable[..., Broker], body: object
) -> None:
    """A wrong URL is named as the likely reason."""
    server.answer("POST", "/virtual", body)

    with pytest.raises(ToolError, match=r"the server's reply is not an object with `error`.*is its URL right\?"):
        make_broker().call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"})


def test_failures_of_the_server_itself_keep_their_status(server: LocalAPI, make_broker: Callable[..., Broker]) -> None:
    """A 422 or 500 of the server is no answer of an API."""
    server.answer("POST", "/virtual", {"detail": "field required"}, status=422)

    with pytest.raises(ToolError, match=r"422 .*field required") as caught:
        make_broker().call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"})
    assert caught.value.status == 422


def test_the_journal_replays_carried_calls(
    server: LocalAPI, make_broker: Callable[..., Broker], tmp_path: Path
) -> None:
    """A call that was answered once is not sent again, and equal calls are those with equal arguments."""
    server.script(
        "POST",
        "/virtual",
        Answer(body={"error": "", "response": "{'rain': True}"}),
        Answer(body={"error": "Unsubscribed error...", "response": ""}),
    )
    with Journal(tmp_path / "journal.db") as journal:
        first = make_broker(journal=journal.attempt())
        assert first.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"}) == {"rain": True}
        again = make_broker(journal=journal.attempt())
        assert again.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0150"}) == {"rain": True}
        with pytest.raises(ToolError, match="unsubscribed"):
            again.call("GET_Weather_sky_forecast", (), {"Zip_Code": "0151"})

    assert [call.replayed for call in again.calls] == [True, False]
    assert len(server.requests) == 2
