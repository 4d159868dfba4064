"""Programs that run with a journal, and the service that counts what they write."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

from protocols import Protocol, load
from sandbox import CallRecord, Journal, Sandbox
from tests.local_api import PREFIX, Answer, LocalAPI, Received, document

STORM = 'POST_alerts(text="Storm")'


class Orders:
    """Counts the alerts that were posted, and numbers them."""

    def __init__(self, api: LocalAPI, wait: Callable[[], float] = lambda: 0.0) -> None:
        self.made: list[object] = []
        self._wait = wait
        self._lock = threading.Lock()
        api.respond("POST", "/alerts", self.post)

    def post(self, received: Received) -> Answer:
        wait = self._wait()
        time.sleep(wait)
        with self._lock:
            self.made.append(received.json())
            return Answer(body={"text": "Storm", "level": len(self.made)})


def more(api: LocalAPI) -> Protocol:
    """The protocol with more writes: an item that can be put and patched, a payment with an idempotency key."""
    text = document(api.url)
    paths = text["paths"]
    assert isinstance(paths, dict)
    city = {"type": "object", "properties": {"name": {"type": "string"}, "population": {"type": "integer"}}}
    body = {"content": {"application/json": {"schema": city}}}
    ok = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
    key = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string", "format": "uuid"}}
    paths["/cities/{city_id}"] |= {
        "put": {"requestBody": body, "responses": ok},
        "patch": {"requestBody": body, "responses": ok},
    }
    paths["/payments"] = {"post": {"parameters": [key], "requestBody": body, "responses": ok}}
    return load(text)


def specification(api: LocalAPI, folder: Path) -> Path:
    """The API's document as a file."""
    file = folder / "api.json"
    file.write_text(json.dumps(document(api.url)))
    return file


def sent(api: LocalAPI, *methods: str) -> list[str]:
    """What arrived: `POST /alerts`."""
    requests = [f"{request.method} {request.path.removeprefix(PREFIX)}" for request in api.requests]
    return [text for text in requests if not methods or text.partition(" ")[0] in methods]


def runs(protocol: Protocol, journal: Journal | None, *programs: str) -> list[str]:
    """Run programs one after the other, as attempts at the same thing: what each printed, or its error."""
    outputs = []
    with Sandbox(protocol, journal=journal) as sandbox:
        for program in programs:
            run = sandbox.run(program)
            outputs.append(run.stdout.strip() if run.outcome == "ok" else f"{run.error and run.error.message}")
    return outputs


RECORD = CallRecord(0, "POST_alerts", "POST", "http://api/alerts", {}, 1, None, 0.0, 0, "function")
