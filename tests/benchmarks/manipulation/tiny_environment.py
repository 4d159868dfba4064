"""A tool of three functions behind HTTP, as small as one of the suite can be."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    GoalAction,
    ManipulationTest,
    TestScore,
    f1_figures,
    failure_of,
)
from protocols import load
from protocols.model import Protocol
from sandbox import Sandbox

__all__ = ["TinyEnvironment", "TinySteps"]

_PLACES = ("Bonn", "Graz", "Lund", "Pisa", "Riga", "Vigo", "Cork", "Brno")
_FUNCTIONS = (
    FunctionDocument("POST_place", "POST_place(name: str)", "Choose the place to look at."),
    FunctionDocument("POST_limit", "POST_limit(count: int)", "Choose how many results there may be."),
    FunctionDocument("POST_search", "POST_search()", "Start the search."),
)


def _pair(place: str, count: int | None) -> GoalAction:
    limit = [] if count is None else [f"POST_limit(count={count})"]
    goal = f"Look around in {place}" + ("." if count is None else f", at most {count} hits.")
    names = ("POST_place", *["POST_limit"] * len(limit), "POST_search")
    return GoalAction(goal, "\n".join([f'POST_place(name="{place}")', *limit, "POST_search()"]), names)


def _test(number: int, place: str, count: int | None) -> ManipulationTest:
    pair = _pair(place, count)
    state = {"place": place, "searched": True} | ({} if count is None else {"limit": count})
    return ManipulationTest(str(number), pair.goal, (pair.action,), (pair.names,), state={"wanted": state})


class TinyEnvironment(Environment):
    """Remembers a place and a limit until a search."""

    name = "tiny"
    max_tokens = 64

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._state: dict[str, object] = {}
        self._result = ActionResult()
        self.resets = 0
        environment = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                parts = urlsplit(self.path)
                arguments = dict(parse_qsl(parts.query))
                environment._called.append(f"POST_{parts.path[1:]}")
                changes: dict[str, dict[str, object]] = {
                    "/place": {"place": arguments.get("name")},
                    "/limit": {"limit": int(arguments.get("count", "0"))},
                    "/search": {"searched": True},
                }
                environment._state |= changes[parts.path]
                body = json.dumps({"done": True}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output clean."""

        self._called: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self._protocol = load(_document(f"http://127.0.0.1:{self._server.server_port}"))

    @property
    def functions(self) -> Sequence[FunctionDocument]:
        return _FUNCTIONS

    @property
    def demonstrations(self) -> Sequence[GoalAction]:
        alone = [_pair(place, None) for place in ("Oslo", "Nice", "Rome", "Bari", "Lyon")]
        return [*alone, _pair("Kiel", 4), _pair("Kiel", 4)]

    @property
    def tests(self) -> Sequence[ManipulationTest]:
        return [_test(number, place, number if number % 2 else None) for number, place in enumerate(_PLACES)]

    def samples(self, count: int, seed: int) -> Sequence[GoalAction]:
        draw = random.Random(seed)
        return [_pair(f"Town {draw.randrange(1000)}", draw.choice([None, 7])) for _ in range(count)]

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        self._test, self._state, self._result = test, {}, ActionResult()
        self._called.clear()
        self.resets += 1
        return test.goal

    def protocol(self) -> Protocol:
        return self._protocol

    def act(self, text: str) -> ActionResult:
        with Sandbox(self._protocol, base_url=self._protocol.servers[0].url, track=False) as sandbox:
            run = sandbox.run(text)
        names = tuple(call.tool or "" for call in run.calls)
        self._result = ActionResult(names, run.stdout, f"{run.error.type}: {run.error.message}" if run.error else "")
        return self._result

    def score(self) -> TestScore:
        wanted: Mapping[str, Any] = self.test.state["wanted"]
        value = float(f1_figures(self._state, wanted)["f1"] == 1 and not self._result.error)
        executed = not self._result.error and bool(self._called)
        failure = "" if value else failure_of(executed, self._called, self.test)
        return TestScore(value, failure, {"calls": float(len(self._called))})

    def picture(self) -> str:
        return f"<svg><title>{self._state.get('place', 'nowhere')}</title></svg>"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class TinySteps(TinyEnvironment):
    """The same, one call an answer; what it shows counts the calls."""

    name = "tiny-steps"
    steps = 6

    def act(self, text: str) -> ActionResult:
        result = super().act(text)
        seen = f"{self.test.goal} So far: {len(self._called)} calls."
        return ActionResult(result.names, seen, result.error, done="POST_search" in self._called)


def _document(url: str) -> dict[str, object]:
    def post(summary: str, **parameters: str) -> dict[str, object]:
        listed = [
            {"name": name, "in": "query", "required": True, "schema": {"type": kind}}
            for name, kind in parameters.items()
        ]
        return {"post": {"summary": summary, "parameters": listed, "responses": {"200": {"description": "done"}}}}

    return {
        "openapi": "3.0.0",
        "info": {"title": "Tiny", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/place": post("Choose the place to look at.", name="string"),
            "/limit": post("Choose how many results there may be.", count="integer"),
            "/search": post("Start the search."),
        },
    }
