"""`atc serve` against clients that mean no good, and secrets that an API sends back."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.types import Message

from atc.apps.server import app
from atc.apps.server.requests import BadRequestError, SolveRequest
from tests.atc.apps.server.serving import ALICE, BOB, Serving, start_endpoint, start_serving
from tests.local_api import LocalAPI, document

SECRET, MODEL_KEY = "city-t0ken-0123456789", "model-k3y-0123456789"
LEAK = """reply = GET_cities(query="x")["results"][0]
print(reply["name"])
raise ValueError(str(reply))
"""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose API sends back what it is signed in with."""
    folder = tmp_path_factory.mktemp("attacks")
    with LocalAPI() as api, start_endpoint() as model:
        api.answer("GET", "/cities", {"results": [{"id": SECRET, "name": f"Oslo {SECRET}"}]})
        model.programs["leak"] = LEAK
        (folder / "weather.json").write_text(json.dumps(document(api.url)))
        options = ["--api", str(folder / "weather.json"), "--auth", "bearer:env:CITY_TOKEN", "--model", "openai:small"]
        variables = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": MODEL_KEY, "CITY_TOKEN": SECRET}
        with start_serving(folder, options, variables) as serving:
            yield serving


def test_no_secret_is_in_replies_events_figures_files_or_the_log(serving: Serving) -> None:
    """The API's credential, the model's key and the clients' keys: none leaves, though the program tries."""
    with serving.client() as client:
        texts = [
            client.post("/v1/solve", json={"query": "leak it"}).text,
            client.post("/v1/solve", json={"query": "leak it"}, headers={"Accept": "text/event-stream"}).text,
        ]
        id = client.post("/v1/solve", json={"query": "leak it", "background": True}).json()["id"]
        while "[secret]" not in (text := client.get(f"/v1/solve/{id}").text):
            time.sleep(0.05)  # its journal is there meanwhile
            texts += [file.read_bytes().decode("latin-1") for file in _files(serving.folder / "journal")]
        texts += [text, client.get("/metrics").text, serving.log]
    texts += [file.read_bytes().decode("latin-1") for file in _files(serving.folder / "journal")]

    assert all("[secret]" in text for text in texts[:2])
    for secret in (SECRET, MODEL_KEY, ALICE, BOB):
        assert not any(secret in text for text in texts)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


def test_a_client_that_leaves_within_its_body_is_no_error(serving: Serving) -> None:
    """The log stays readable."""
    host, _, port = serving.url.rpartition("/")[2].partition(":")
    head = f"POST /v1/solve HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {ALICE}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        time.sleep(0.3)
    with serving.client() as client:
        while '"499"' not in client.get("/metrics").text:
            time.sleep(0.05)

    assert "Traceback" not in serving.log


def test_a_body_has_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is sent byte by byte, or not at all, is answered with 408."""
    monkeypatch.setattr(app, "BODY_SECONDS", 0.05)

    async def receive() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    request = Request({"type": "http", "headers": [(b"content-type", b"application/json")]}, receive)
    with pytest.raises(BadRequestError) as error:
        asyncio.run(app._body(request))
    assert error.value.status == 408


def test_spellings_of_a_mode_are_one() -> None:
    """A process keeps an agent for each mode that it is asked for, and a client cannot make up new ones."""
    modes = [SolveRequest(query="x", mode=mode).mode for mode in ("react", "react@1", "react@0001", "react@03")]

    assert modes == ["react", "react", "react", "react@3"]
