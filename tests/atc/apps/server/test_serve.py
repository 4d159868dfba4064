"""`atc serve`: a real server in processes of its own, a real client, a real API and a scripted model.

Some clients mean no good, and the API sends back the secret that it is signed in with.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Message

from atc.apps.server import app
from atc.apps.server.requests import BadRequestError, SolveRequest
from tests.atc.apps.server.serving import ALICE, BOB, CAROL, ProgramEndpoint, Serving, start_endpoint, start_serving
from tests.atc_command import atc
from tests.local_api import LocalAPI, document

SECRET, MODEL_KEY = "city-token-0123456789", "model-k3y-0123456789"
READ = 'print(GET_cities_city_id(city_id="oslo")["name"])'
LEAK = """reply = GET_cities(query="x")["results"][0]
print(reply["name"])
raise ValueError(str(reply))
"""


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo", "population": 700_000})
        api.answer("GET", "/cities", {"results": [{"id": SECRET, "name": f"Oslo {SECRET}"}]})
        yield api


@pytest.fixture(scope="module")
def model() -> Iterator[ProgramEndpoint]:
    with start_endpoint() as model:
        model.programs = {"leak it": LEAK, "city": READ}
        yield model


def options(api: LocalAPI, folder: Path) -> list[str]:
    """A server for the API, with one solver process."""
    spec = folder / "weather.json"
    spec.write_text(json.dumps(document(api.url)))
    return ["--api", str(spec), "--base-url", api.url, "--auth", "bearer:env:CITY_TOKEN", "--model", "openai:scripted"]


def environment(model: ProgramEndpoint) -> dict[str, str]:
    """What the server finds in its environment."""
    return {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": MODEL_KEY, "CITY_TOKEN": SECRET}


@pytest.fixture(scope="module")
def serving(api: LocalAPI, model: ProgramEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("serve")
    with start_serving(folder, options(api, folder), environment(model)) as serving:
        yield serving


def test_what_cannot_be_recorded_is_not_accepted(serving: Serving, model: ProgramEndpoint) -> None:
    """503 where the store cannot be written: no solve begins that a restart would forget."""
    assert serving.process is not None
    _, hard = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
    with serving.client() as client:
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (1, hard))  # as on a file system that fails
        reply = client.post("/v1/solve", json={"query": "What is not recorded?"})
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (hard, hard))

    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "10")
    assert "the request cannot be recorded" in reply.json()["error"]["message"]
    assert model.count("What is not recorded?") == 0


def test_a_question_is_answered_with_its_solution(serving: Serving) -> None:
    """The reply is the Solution as `atc solve --json` prints it; its Location leads to it later on."""
    with serving.client() as client:
        reply = client.post("/v1/solve", json={"query": "What is the name of the city oslo?"})
        later = client.get(reply.headers["Location"])

    solution = reply.json()
    assert (reply.status_code, solution["status"], solution["answer"]) == (200, "answered", "Oslo")
    assert solution["calls"][0]["tool"] == "GET_cities_city_id" and solution["usage"]["model_calls"] == 1
    assert later.json() == {
        "id": reply.headers["Location"].rpartition("/")[2],
        "state": "done",
        "solution": solution,
        "plan": None,
    }


def test_events_come_as_they_happen(serving: Serving) -> None:
    """With `Accept: text/event-stream` the events come one by one, the last one with the Solution."""
    events = []
    headers = {"Accept": "text/event-stream"}
    with (
        serving.client() as client,
        client.stream("POST", "/v1/solve", json={"query": "Which city is it?"}, headers=headers) as reply,
    ):
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        for line in reply.iter_lines():
            name, _, value = line.partition(": ")
            if name in ("event", "data"):
                events.append(value)

    names = events[::2]
    assert names[0] == "SolveStarted" and names[-1] == "Solution"
    assert {"ModelWaiting", "ProgramWritten", "CallMade", "RunEnded"} <= set(names)
    assert json.loads(events[-1])["answer"] == "Oslo"


def test_in_the_background_an_id_is_enough(serving: Serving, model: ProgramEndpoint) -> None:
    """202 comes at once; the solve is pending or running until it is done."""
    release = model.hold("slow city")
    with serving.client() as client:
        reply = client.post("/v1/solve", json={"query": "Which slow city is it?", "background": True})
        state = client.get(f"/v1/solve/{reply.json()['id']}").json()
        release.set()

    assert reply.status_code == 202
    assert state["state"] in ("pending", "running") and state["solution"] is None
    assert serving.ended(reply.json()["id"])["solution"]["answer"] == "Oslo"


def test_a_repeated_request_has_the_first_ones_result(serving: Serving, model: ProgramEndpoint) -> None:
    """A second POST with the same Idempotency-Key waits for the first one; the model is asked once."""
    release = model.hold("twin city")
    headers = {"Idempotency-Key": "twins"}

    def post(query: str) -> httpx.Response:
        with serving.client() as client:
            return client.post("/v1/solve", json={"query": query}, headers=headers)

    with ThreadPoolExecutor(2) as pool:
        posts = [pool.submit(post, "Which twin city is it?") for _ in range(2)]
        until(lambda: model.count("twin city") == 1)
        time.sleep(0.2)
        release.set()
        first, second = (done.result() for done in posts)
    third, differing = post("Which twin city is it?"), post("Which other city is it?")

    assert first.json() == second.json() == third.json()
    assert first.headers["Location"] == second.headers["Location"] == third.headers["Location"]
    assert model.count("twin city") == 1
    assert (differing.status_code, differing.json()["error"]["field"]) == (422, "Idempotency-Key")


def test_a_key_has_limits(serving: Serving, model: ProgramEndpoint) -> None:
    """Too many solves at a time, or in a minute, are refused with 429, and Retry-After says when to come again."""
    release = model.hold("busy city")
    with serving.client(BOB) as client:
        first = client.post("/v1/solve", json={"query": "Which busy city is it?", "background": True})
        at_once = client.post("/v1/solve", json={"query": "Which city is it?"})
        release.set()
        serving.ended(first.json()["id"], BOB)
        afterwards = client.post("/v1/solve", json={"query": "Which city is it?"})
    with serving.client(CAROL) as client:
        in_a_minute = [client.post("/v1/solve", json={"query": "Which city is it?"}) for _ in range(3)]

    assert (first.status_code, at_once.status_code, afterwards.status_code) == (202, 429, 200)
    assert at_once.headers["Retry-After"] == "1"
    assert [reply.status_code for reply in in_a_minute] == [200, 200, 429]
    assert 50 <= int(in_a_minute[-1].headers["Retry-After"]) <= 61


def test_a_key_is_needed_and_sees_its_own_solves(serving: Serving) -> None:
    """Without a key nothing but /healthz answers; the solve of another key is not found."""
    with serving.client() as client:
        mine = client.post("/v1/solve", json={"query": "Which city is it?"}).headers["Location"]
        figures = client.get("/metrics").text
    with serving.client(None) as client:
        without = [client.get(path).status_code for path in (mine, "/metrics", "/healthz")]
    with serving.client(ALICE + "x") as client:
        wrong = client.post("/v1/solve", json={"query": "Which city is it?"})
    with serving.client(BOB) as client:
        others = client.get(mine)

    assert without == [401, 401, 200]
    assert (wrong.status_code, wrong.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (others.status_code, others.json()["error"]["field"]) == (404, "id")
    assert 'atc_solves_total{status="answered"}' in figures and "atc_solver_processes 1.0" in figures


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"{", 400, None),
        (b"[]", 400, None),
        (b"{}", 422, "query"),
        (b'{"query": "  "}', 422, "query"),
        (b'{"query": 7}', 422, "query"),
        (b'{"query": "x", "model": "y"}', 422, "model"),
        (b'{"query": "x", "mode": "guess"}', 422, "mode"),
        (b'{"query": "x", "mode": "attribute@999"}', 422, "mode"),
        (b'{"query": "x", "max_reflections": 99}', 422, "max_reflections"),
        (b'{"query": "' + b"x" * 70_000 + b'"}', 413, None),
    ],
)
def test_bad_input_is_told_with_its_field(serving: Serving, body: bytes, status: int, field: str | None) -> None:
    """A body that is no request is refused with the field to blame, and nothing is recorded."""
    with serving.client() as client:
        reply = client.post("/v1/solve", content=body, headers={"Content-Type": "application/json"})

    error = reply.json()["error"]
    assert (reply.status_code, error["field"]) == (status, field)
    assert error["message"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/v1/solve", {"Content-Type": "text/plain"}, 415),  # as a browser's form could send it
        ("POST", "/v1/solve", {"Content-Type": "application/json", "Idempotency-Key": "k" * 300}, 400),
        ("PUT", "/v1/solve", {}, 405),
        ("GET", "/v1/nothing", {}, 404),
        ("GET", "/v1/solve/unknown", {}, 404),
    ],
)
def test_other_bad_requests_are_told_as_well(
    serving: Serving, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    with serving.client() as client:
        reply = client.request(method, path, content=b'{"query": "x"}', headers=headers)

    assert reply.status_code == status and reply.json()["error"]["message"]


def test_a_client_that_hangs_up_cancels_its_solve(serving: Serving, model: ProgramEndpoint, api: LocalAPI) -> None:
    """Nobody waits: the program that the model then writes is not run."""
    release, calls = model.hold("left city"), len(api.requests)
    body = '{"query": "Which left city is it?"}'
    with connected(serving, body, len(body)):
        until(lambda: model.count("left city") == 1)
    until(lambda: metric(serving, 'atc_solves_total{status="cancelled"}') >= 1)
    release.set()
    time.sleep(0.3)

    assert len(api.requests) == calls


def test_with_a_key_a_solve_goes_on_without_its_client(serving: Serving, model: ProgramEndpoint) -> None:
    """Who hangs up and asks again with the same Idempotency-Key gets the answer."""
    release, headers = model.hold("kept city"), {"Idempotency-Key": "kept"}
    body = {"query": "Which kept city is it?"}
    with serving.client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/solve", json=body, headers=headers, timeout=1)
        release.set()
        reply = client.post("/v1/solve", json=body, headers=headers)

    assert reply.json()["answer"] == "Oslo"
    assert model.count("kept city") == 1


def test_a_solver_process_that_dies_is_replaced(serving: Serving, model: ProgramEndpoint) -> None:
    """What is in the background goes on in the next process; what ends with its connection says what happened."""
    release = model.hold("lost city")
    with serving.client() as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, "/v1/solve", json={"query": "Which lost city is it?"})
        reply = client.post("/v1/solve", json={"query": "Which lost city is it, then?", "background": True})
        until(lambda: model.count("lost city") == 2)
        (solver,) = serving.children()
        os.kill(solver, signal.SIGKILL)
        release.set()
        end = serving.ended(reply.json()["id"])["solution"]
        failed = waiting.result().json()

    assert end["answer"] == "Oslo"
    assert failed["status"] == "failed" and "the process of this solve ended" in failed["message"]


def connected(serving: Serving, body: str, length: int) -> socket.socket:
    """A connection over which a body was sent that announces so many bytes."""
    host, _, port = serving.url.rpartition("/")[2].partition(":")
    connection = socket.create_connection((host, int(port)))
    head = f"POST /v1/solve HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {ALICE}\r\n"
    connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}".encode())
    return connection


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def metric(serving: Serving, name: str) -> float:
    """A figure of /metrics; 0 while there is none."""
    with serving.client() as client:
        lines = client.get("/metrics").text.splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)), 0.0)


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


def test_a_key_file_is_needed_for_other_machines(films: Path) -> None:
    """At an address that others reach, the server does not start without keys."""
    result = atc("serve", "--api", films, "--simulate", "--host", "0.0.0.0")

    assert (result.exit_code, "name who may ask with --key-file FILE" in result.output) == (2, True), result.output


def test_a_client_that_leaves_within_its_body_is_no_error(serving: Serving) -> None:
    """The log stays readable."""
    with connected(serving, "{", 100):
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
