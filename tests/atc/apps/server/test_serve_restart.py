"""What `atc serve` keeps when it is killed, stopped, or its disk is full."""

from __future__ import annotations

import json
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from atc.apps.server.keys import LOCAL
from atc.apps.server.requests import BadRequestError, SolveRequest
from atc.apps.server.store import RequestStore
from protocols.errors import UsageError
from tests.atc.apps.server.serving import ProgramEndpoint, start_endpoint, start_serving
from tests.local_api import Answer, LocalAPI, document

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


def options(api: LocalAPI, folder: Path) -> list[str]:
    """A server for the API that may write, with one solver process."""
    spec = folder / "weather.json"
    spec.write_text(json.dumps(document(api.url)))
    options = ["--api", str(spec), "--base-url", api.url, "--auth", "bearer:env:CITY_TOKEN", "--writes", "allow"]
    return [*options, "--model", "openai:scripted"]


def environment(model: ProgramEndpoint) -> dict[str, str]:
    """What the server finds in its environment."""
    return {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "CITY_TOKEN": "city-token-0123456789"}


def written(api: LocalAPI) -> Counter[tuple[object, object]]:
    """The alerts that the service got, by text and level."""
    bodies = [received.json() for received in api.requests if received.method == "POST"]
    return Counter((body["text"], body["level"]) for body in bodies if isinstance(body, dict))


def test_what_was_accepted_ends_once_after_a_kill(api: LocalAPI, model: ProgramEndpoint, tmp_path: Path) -> None:
    """Killed in the middle of its programs and started again, the server ends every solve, and repeats no write."""
    numbers = range(8)
    model.programs = {f"storm-{n} ": "import time\n" + ALERT.replace("TEXT", f'"storm-{n}"') for n in numbers}
    queries = [f"Send three alerts with the text storm-{n} and the levels 1, 2 and 3" for n in numbers]
    with start_serving(tmp_path, options(api, tmp_path), environment(model)) as serving:

        def waiting(number: int) -> httpx.Response | None:
            try:
                with serving.client() as client:
                    headers = {"Idempotency-Key": f"storm-{number}"}
                    return client.post("/v1/solve", json={"query": queries[number]}, headers=headers)
            except httpx.TransportError:
                return None

        with serving.client() as client, ThreadPoolExecutor(4) as pool:
            ids = [client.post("/v1/solve", json={"query": q, "background": True}).json()["id"] for q in queries[:4]]
            cut = [pool.submit(waiting, number) for number in numbers[4:]]
            deadline = time.monotonic() + 20
            while written(api).total() < 6 and time.monotonic() < deadline:
                time.sleep(0.01)
            serving.kill()
        assert [reply.result() for reply in cut] == [None] * 4
        before = written(api).total()
        serving.start()
        with ThreadPoolExecutor(4) as pool:
            replies = [reply.json() for reply in pool.map(waiting, numbers[4:]) if reply is not None]
        ends = [serving.ended(id) for id in ids]
        again = [serving.ended(id) for id in ids]

    assert 0 < before < 24
    assert len(replies) == 4 and [end["state"] for end in ends] == ["done"] * 4
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
    with start_serving(tmp_path, options(api, tmp_path), environment(model)) as serving:
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


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def test_a_full_disk_refuses_before_it_accepts(films: Path, tmp_path: Path) -> None:
    """Where nothing can be written any longer, requests are refused with a reason, and what was accepted is done.

    Without keys only this machine may ask, by its own name.
    """
    options = ["--api", str(films), "--simulate", "--mode", "plan", "--model", "openai:none"]
    local = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    with (
        start_serving(tmp_path, options, local, keyed=False, prepare=_small_files) as serving,
        serving.client(None) as client,
    ):
        foreign = client.post("/v1/solve", json={"query": "x"}, headers={"Host": "evil.example"})
        replies: list[httpx.Response] = []
        while len(replies) < 300 and (not replies or replies[-1].status_code == 202):
            replies.append(client.post("/v1/solve", json={"query": "x" * 8000, "background": True}))

    assert (foreign.status_code, foreign.json()["error"]["field"]) == (400, "Host")
    assert replies[0].status_code == 202 and replies[-1].status_code in (503, 507)
    assert "was not accepted" in replies[-1].json()["error"]["message"]


def test_a_store_counts_and_recovers(tmp_path: Path) -> None:
    """Only one server may use a folder; at its next start what nobody waits for any longer is cancelled."""
    with pytest.raises(BadRequestError) as full:
        store = RequestStore(tmp_path)
        with pytest.raises(UsageError, match="another server uses the journal folder"):
            RequestStore(tmp_path)
        request = SolveRequest(query="x")
        store.accept("a", LOCAL, request, None)
        store.accept("b", LOCAL, request, "key")
        store.accept("c", LOCAL, SolveRequest(query="x", background=True), None)
        store.finish("c", '{"answer": 1}', "answered")
        store.close()

        store = RequestStore(tmp_path)
        assert [row.id for row in store.recover()] == ["b"]
        assert [store.find(LOCAL, id)[0].state for id in "abc"] == ["cancelled", "pending", "done"]  # type: ignore[index]
        assert store.find(LOCAL, "c")[1] == '{"answer": 1}'  # type: ignore[index]
        store._base.execute("PRAGMA max_page_count = 1")
        for number in range(100):
            store.accept(f"{number}", LOCAL, SolveRequest(query="x" * 8000), None)

    assert full.value.status == 507
    assert "make room" in str(full.value)
    assert (tmp_path / "requests.sqlite").stat().st_mode & 0o777 == 0o600
