"""What `atc serve` keeps when it is killed, stopped, or its disk is full."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from atc.apps.server.app import create_app
from atc.apps.server.keys import LOCAL
from atc.apps.server.messages import ServerSettings
from atc.apps.server.requests import SolveRequest
from atc.apps.server.service import SolveService
from atc.apps.server.store import RequestStore
from atc.options import Options
from protocols.errors import UsageError
from tests.atc.apps.server.serving import ProgramEndpoint, start_endpoint, start_serving
from tests.atc.apps.server.test_serve import environment, options
from tests.local_api import Answer, LocalAPI

ALERT = """for level in (1, 2, 3):
    time.sleep(0.1)
    print(POST_alerts(text=TEXT, level=level)["level"])"""


@pytest.fixture
def model() -> Iterator[ProgramEndpoint]:
    with start_endpoint() as model:
        yield model


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.respond("POST", "/alerts", lambda received: Answer(200, received.json()))
        yield api


def written(api: LocalAPI) -> Counter[tuple[object, object]]:
    """The alerts that the service got, by text and level."""
    bodies = [received.json() for received in api.requests if received.method == "POST"]
    return Counter((body["text"], body["level"]) for body in bodies if isinstance(body, dict))


def test_what_was_accepted_ends_once_after_a_kill(api: LocalAPI, model: ProgramEndpoint, tmp_path: Path) -> None:
    """Killed in the middle of its programs and started again, the server ends every solve, and repeats no write."""
    numbers = range(4)
    model.programs = {f"storm-{n} ": "import time\n" + ALERT.replace("TEXT", f'"storm-{n}"') for n in numbers}
    queries = [f"Send three alerts with the text storm-{n} and the levels 1, 2 and 3" for n in numbers]
    with start_serving(tmp_path, [*options(api, tmp_path), "--writes", "allow"], environment(model)) as serving:

        def waiting(number: int) -> httpx.Response | None:
            try:
                with serving.client() as client:
                    headers = {"Idempotency-Key": f"storm-{number}"}
                    return client.post("/v1/solve", json={"query": queries[number]}, headers=headers)
            except httpx.TransportError:
                return None

        with serving.client() as client, ThreadPoolExecutor(2) as pool:
            ids = [client.post("/v1/solve", json={"query": q, "background": True}).json()["id"] for q in queries[:2]]
            cut = [pool.submit(waiting, number) for number in numbers[2:]]
            deadline = time.monotonic() + 20
            while written(api).total() < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            serving.kill()
        assert [reply.result() for reply in cut] == [None] * 2
        before = written(api).total()
        serving.start()
        with ThreadPoolExecutor(2) as pool:
            replies = [reply.json() for reply in pool.map(waiting, numbers[2:]) if reply is not None]
        ends = [serving.ended(id) for id in ids]
        again = [serving.ended(id) for id in ids]

    assert 0 < before < 12
    assert len(replies) == 2 and [end["state"] for end in ends] == ["done"] * 2
    assert ends == again
    counts = written(api)
    assert max(counts.values()) == 1
    for number, solution in enumerate([*(end["solution"] for end in ends), *replies]):
        done = {level for (text, level) in counts if text == f"storm-{number}"}
        uncertain = any("it is not known whether this write was done" in text for text in solution["warnings"])
        assert done == {1, 2, 3} or uncertain, solution
    assert not list((tmp_path / "journal" / "solves").iterdir())


def test_sigterm_lets_solves_end(api: LocalAPI, model: ProgramEndpoint, tmp_path: Path) -> None:
    """Who waits at a SIGTERM gets the answer; then the server ends with 0, and nothing of it is left."""
    release = model.hold("last")
    model.programs = {"last": "print(7)"}
    with start_serving(tmp_path, [*options(api, tmp_path), "--writes", "allow"], environment(model)) as serving:
        assert serving.process is not None
        solvers = serving.children()
        with serving.client() as client, ThreadPoolExecutor(1) as pool:
            reply = pool.submit(client.post, "/v1/solve", json={"query": "What is the last number?"})
            while not model.asked:
                time.sleep(0.02)
            serving.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            release.set()
            assert reply.result().json()["answer"] == "7"
        assert serving.process.wait(20) == 0
    assert solvers and not any(Path(f"/proc/{pid}").exists() for pid in solvers)


def test_a_store_counts_and_recovers(tmp_path: Path) -> None:
    """Only one server may use a folder; at its next start what nobody waits for any longer is cancelled."""
    store = RequestStore(tmp_path)
    with pytest.raises(UsageError, match="another server uses the journal folder"):
        RequestStore(tmp_path)
    store.accept("a", LOCAL, SolveRequest(query="x"), None)
    store.accept("b", LOCAL, SolveRequest(query="x"), "key")
    store.accept("c", LOCAL, SolveRequest(query="x", background=True), None)
    store.finish("c", '{"answer": 1}', "answered")
    store.close()

    with closing(RequestStore(tmp_path)) as store:
        assert [row.id for row in store.recover()] == ["b"]
        states = [store.find(LOCAL, id) for id in "abc"]
    assert states == [("cancelled", None), ("pending", None), ("done", '{"answer": 1}')]
    assert (tmp_path / "requests.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_refuses_before_it_accepts(tmp_path: Path) -> None:
    """Where nothing can be written any longer, a request is refused with a reason. Without keys only this machine may
    ask, by its own name."""
    settings = ServerSettings(("films.yaml",), Options(model="openai:none"), 1, tmp_path)

    async def ask() -> tuple[httpx.Response, httpx.Response, httpx.Response]:
        app = create_app(settings, store, None, lambda failure: None, lambda: True)
        app.state.service = SolveService(settings, store)  # its processes are not started: what it accepts waits
        body = {"query": "x" * 8000, "background": True}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            foreign = await client.post("/v1/solve", json=body, headers={"Host": "evil.example"})
            accepted = refused = await client.post("/v1/solve", json=body)
            store._base.execute("PRAGMA max_page_count = 1")
            while refused.status_code == 202:
                refused = await client.post("/v1/solve", json=body)
        await app.state.service.stop(lambda: True)
        return foreign, accepted, refused

    with closing(RequestStore(tmp_path)) as store:
        foreign, accepted, refused = asyncio.run(ask())
    assert (foreign.status_code, foreign.json()["error"]["field"]) == (400, "Host")
    assert (accepted.status_code, refused.status_code) == (202, 507)
    assert "was not accepted; make room" in refused.json()["error"]["message"]
