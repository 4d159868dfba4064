"""Two calls that differ in anything that the program or its document decides are two, in whatever attempt."""

from __future__ import annotations

import pytest

from atc import Agent
from protocols import load
from tests.protocols.wire.service import Service
from tests.scripted import ScriptedModel

OK = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
NAMED = [("tenant", "cookie"), ("Accept-Language", "header"), ("X-Trace-Id", "header"), ("If-None-Match", "header")]
PARAMETERS = [{"name": name, "in": place, "schema": {"type": "string"}} for name, place in NAMED]
METHODS = {method: {"parameters": PARAMETERS, "responses": OK} for method in ("get", "post")}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/notes": METHODS}}
CHANGES = [
    *(f"{{method}}_notes({name.replace('-', '_')}='{{value}}')" for name, _ in NAMED),
    "requests.{small}('{url}/notes', headers={{'User-Agent': '{value}'}})",
    "requests.{small}('{url}/notes', headers={{'Accept': 'text/{value}'}})",
    "requests.{small}('{url}/notes', cookies={{'tenant': '{value}'}})",
]


def solve(service: Service, *programs: str) -> str:
    """What is answered by programs that follow one another."""
    model = ScriptedModel(*(f"```python\nimport requests\n{program}\n```" for program in programs))
    service.handle = lambda request: (200, {}, {"number": len(service.arrived)})
    with Agent(load(DOCUMENT), model, base_url=service.url, writes="allow", profile="large") as agent:
        return agent.solve("Note it").answer or ""


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("call", CHANGES)
def test_a_later_attempt_makes_a_call_that_differs(call: str, method: str) -> None:
    """A tenant's cookie, a language, a trace id, a condition: it is sent, and nobody gets the other one's reply."""
    with Service() as service:
        first, second = (
            call.format(method=method, small=method.lower(), url=service.url, value=value) for value in ("a", "b")
        )
        answer = solve(service, f"{first}\nraise ValueError('again')", f"print(str({second}) and 'done')")

        assert (answer, len(service.arrived)) == ("done", 2)


def test_an_equal_call_is_made_once_in_either_style() -> None:
    """What is added on the way makes no other call of it: the media types, the length."""
    with Service() as service:
        first = f"requests.post('{service.url}/notes', headers={{'Accept': '*/*'}}, cookies={{'tenant': 'a'}})"
        second = "print(POST_notes(tenant='a')['number'])"
        answer = solve(service, f"{first}\nraise ValueError('again')", second)

        assert (answer, len(service.arrived)) == ("1", 1)
