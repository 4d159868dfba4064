"""`atc serve --writes plan`: planned writes wait for a client; a solve is read again from its beginning, or stopped."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from atc.apps.server.keys import LOCAL
from atc.apps.server.requests import SolveRequest
from atc.apps.server.service import EventHistory
from atc.apps.server.store import RequestStore
from tests.atc.apps.server.serving import BOB, ProgramEndpoint, Serving, start_endpoint, start_serving
from tests.atc.apps.server.test_serve import environment, options
from tests.local_api import Answer, LocalAPI

ALERT = 'print(POST_alerts(text="storm", level=GET_cities_city_id(city_id="oslo")["level"])["text"])'


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo", "level": 3})
        api.respond("POST", "/alerts", lambda received: Answer(200, received.json()))
        yield api


@pytest.fixture(scope="module")
def model() -> Iterator[ProgramEndpoint]:
    with start_endpoint() as model:
        model.programs["storm"] = ALERT
        yield model


@pytest.fixture(scope="module")
def server(api: LocalAPI, model: ProgramEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("serve")
    with start_serving(folder, [*options(api, folder), "--writes", "plan"], environment(model)) as serving:
        yield serving


@pytest.fixture
def serving(server: Serving, api: LocalAPI, model: ProgramEndpoint) -> Serving:
    """The server, with nothing asked and nothing written."""
    assert server.process is not None
    if server.process.poll() is not None:  # a test has ended it
        server.start()
    api.requests.clear()
    model.asked.clear()
    return server


def asked(client: httpx.Client, query: str = "Send a storm alert for oslo") -> tuple[str, dict[str, Any]]:
    """A solve in the background that waits for an answer: its path, and its plan."""
    reply = client.post("/v1/solve", json={"query": query, "background": True, "events": True})
    path = reply.headers["Location"]
    return path, waiting_plan(client, path)


def waiting_plan(client: httpx.Client, path: str) -> dict[str, Any]:
    """The plan that a solve asks about."""
    deadline = time.monotonic() + 60
    while (state := client.get(path).json())["plan"] is None:
        assert state["state"] in ("pending", "running") and time.monotonic() < deadline, state
        time.sleep(0.05)
    plan: dict[str, Any] = state["plan"]
    return plan


def told(client: httpx.Client, path: str, headers: Mapping[str, str] = {}, until: str = "") -> list[dict[str, str]]:
    """The events of a solve up to the first one with a name, or to the end."""
    events: list[dict[str, str]] = [{}]
    with client.stream("GET", f"{path}/events", headers=headers) as reply:
        assert reply.status_code == 200
        for line in reply.iter_lines():
            name, _, value = line.partition(": ")
            if name:
                events[-1][name] = value
            elif events[-1].get("event") == until:
                break
            else:
                events.append({})
    return [event for event in events if "event" in event]


def writes(api: LocalAPI) -> list[object]:
    return [received.json() for received in api.requests if received.method == "POST"]


def test_two_clients_approve_a_plan_once(serving: Serving, api: LocalAPI) -> None:
    """The plan shows each value with its origin. Both approvals hold, the write is sent once; a no comes too late."""
    with serving.client() as client, ThreadPoolExecutor(2) as pool:
        path, plan = asked(client)
        before = writes(api)
        yes = {"plan": plan["plan"], "approve": True}
        answers = [pool.submit(client.post, f"{path}/plan", json=yes) for _ in range(2)]
        replies = [answer.result() for answer in answers]
        solution = serving.ended(path.rpartition("/")[2])["solution"]
        late = client.post(f"{path}/plan", json={"plan": plan["plan"], "approve": False})

    (write,) = plan["planned"]
    assert (write["number"], write["tool"], write["request"]) == (1, "POST_alerts", f"POST {api.url}/alerts")
    assert write["values"] == [["text", '"storm"', "from the question"], ["level", "3", "from call 1: level"]]
    assert before == [] and writes(api) == [{"text": "storm", "level": 3}]
    assert [reply.json() for reply in replies] == [{"plan": plan["plan"], "approved": True}] * 2
    assert (solution["status"], solution["answer"]) == ("answered", "storm")
    assert late.status_code == 409 and "is over" in late.json()["error"]["message"]


def test_declined_writes_are_not_sent(serving: Serving, api: LocalAPI) -> None:
    """A no ends the solve as refused. Who waits for a Solution alone cannot be asked, which is a no, too."""
    with serving.client() as client:
        path, plan = asked(client)
        wrong = client.post(f"{path}/plan", json={"plan": "1-other", "approve": True})
        foreign = client.post(
            f"{path}/plan", json={"plan": plan["plan"], "approve": True}, headers={"Authorization": f"Bearer {BOB}"}
        )
        form = client.post(f"{path}/plan", data={"plan": plan["plan"]})
        client.post(f"{path}/plan", json={"plan": plan["plan"], "approve": False})
        solution = serving.ended(path.rpartition("/")[2])["solution"]
        waiting = client.post("/v1/solve", json={"query": "Send another storm alert"}).json()

    assert [reply.status_code for reply in (wrong, foreign, form)] == [409, 404, 415]
    assert solution["status"] == waiting["status"] == "refused"
    assert "nobody is there to confirm" in json.dumps(waiting)
    assert writes(api) == []


def test_a_reader_comes_again(serving: Serving, model: ProgramEndpoint) -> None:
    """In the middle of a solve a new reader gets all of it, and one that names its last event the rest."""
    with serving.client() as client:
        path, plan = asked(client)
        first = told(client, path, until="PlanAsked")
        again = told(client, path, until="PlanAsked")
        with ThreadPoolExecutor(1) as pool:
            rest = pool.submit(told, client, path, {"Last-Event-ID": first[-1]["id"]})
            client.post(f"{path}/plan", json={"plan": plan["plan"], "approve": True})
            events = rest.result()
        after = told(client, path)
        solves = client.get("/v1/solve").json()["solves"]
        other = client.get("/v1/solve", headers={"Authorization": f"Bearer {BOB}"}).json()

    assert first == again and first[0]["event"] == "SolveStarted" and first[-1]["event"] == "PlanAsked"
    assert [events[0]["event"], events[-1]["event"]] == ["PlanAnswered", "Solution"]
    assert "SolveStarted" not in {event["event"] for event in events}
    assert [event["event"] for event in after] == ["Solution"]
    row = solves[0]
    assert (row["query"], row["state"], row["status"], row["asks"]) == (
        "Send a storm alert for oslo",
        "done",
        "answered",
        False,
    )
    assert other == {"solves": []}


def test_a_restarted_server_asks_again(serving: Serving, api: LocalAPI, model: ProgramEndpoint) -> None:
    """Killed while it waits, the server asks for the same plan at its next start; the model is not asked again."""
    with serving.client() as client:
        path, plan = asked(client)
        (last, *_) = reversed(told(client, path, until="PlanAsked"))
        serving.kill()
        serving.start()
    with serving.client() as client:
        renewed = waiting_plan(client, path)
        events = told(client, path, {"Last-Event-ID": last["id"]}, until="PlanAsked")
        client.post(f"{path}/plan", json={"plan": renewed["plan"], "approve": True})
        solution = serving.ended(path.rpartition("/")[2])["solution"]

    assert renewed == plan and events[0]["event"] == "SolveStarted"
    assert solution["answer"] == "storm" and len(writes(api)) == 1
    assert model.count("Send a storm alert") == 1


def test_a_waiting_plan_does_not_hold_up_the_end(serving: Serving) -> None:
    """SIGTERM waits for no answer and no reader. A solve that waits can also be stopped, and then sends nothing."""
    with serving.client() as client:
        path, _ = asked(client)
        stopped = client.delete(path)
        end = serving.ended(path.rpartition("/")[2])
        again = client.delete(path)
        path, _ = asked(client, "Send one more storm alert")
        assert serving.process is not None
        with client.stream("GET", f"{path}/events"):
            serving.process.terminate()
            status = serving.process.wait(20)  # GRACE is 30 seconds

    assert (stopped.status_code, again.status_code) == (202, 409)
    assert end["solution"]["status"] == "interrupted"
    assert status == 0


def test_a_store_of_an_earlier_version_is_taken(tmp_path: Path) -> None:
    """What an earlier server has kept stays, and is listed without a status."""
    store = RequestStore(tmp_path)
    store.accept("a", LOCAL, SolveRequest(query="x", background=True), None)
    store.close()
    with closing(sqlite3.connect(tmp_path / "requests.sqlite")) as base:
        base.executescript("ALTER TABLE solves DROP COLUMN status; PRAGMA user_version = 1;")
    store = RequestStore(tmp_path)
    (row,) = store.recent(LOCAL, 10)
    store.finish("a", "{}", "answered")

    assert (row["id"], row["query"], row["state"], row["status"]) == ("a", "x", "pending", None)
    assert [row["status"] for row in store.recent(LOCAL, 10)] == ["answered"]
    store.close()


def test_progress_is_told_and_not_kept() -> None:
    """Reports of the model's progress have no id; an id of another run is answered with everything."""
    history = EventHistory()
    history.add("SolveStarted", "{}")
    history.add("ModelProgress", "{}")
    history.add("CallMade", "{}")
    before = history.read()
    events = [before.get_nowait() for _ in range(before.qsize())]
    history.restart()
    history.add("SolveStarted", "{}")

    assert [event.name for event in events if event] == ["SolveStarted", "CallMade"]
    assert history.read(events[-1].id if events[-1] else None).qsize() == 1
