"""An operation asks for an idempotency key: each call has one, and no program need know of it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc import Agent
from atc.apps.cli import main
from protocols import load
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Service
from tests.scripted import ScriptedModel

PAID = {"type": "object", "properties": {"paid": {"type": "integer"}}}
OK = {"responses": {"201": {"description": "Paid.", "content": {"application/json": {"schema": PAID}}}}}
AMOUNT = {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}}
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": AMOUNT}}}}
KEY = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string"}}
TRACED = {**KEY, "name": "X-Request-Id", "description": "Makes the call idempotent."}
PATHS = {
    "/payments": {"post": {"parameters": [KEY], **BODY, **OK}, "get": {"parameters": [TRACED], **OK}},
    "/refunds": {"post": {"parameters": [{**KEY, "name": "X-Idempotency-Key", "required": False}], **BODY, **OK}},
}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "Pay", "version": "1"}, "paths": PATHS}


def keys(service: Service) -> list[str]:
    """The key of each request, which is a UUID where the program passed none."""
    names = ("idempotency-key", "x-idempotency-key", "x-request-id")
    return [request.headers[name] for request in service.arrived for name in names if name in request.headers]


def once(request: Arrived) -> tuple[int, dict[str, str], object]:
    """Refuses a request without a key, as such services do."""
    has_key = any("idempotency" in name or name == "x-request-id" for name in request.headers)
    return (201, {}, {"paid": 3}) if has_key else (400, {}, {"message": "Idempotency-Key is missing"})


def test_each_call_has_a_key_of_its_own(run: Run, service: Service) -> None:
    """Without a journal too, in both styles; equal calls have different keys."""
    program = f"""
        import requests
        POST_payments(amount=3)
        POST_payments(amount=3, Idempotency_Key=None)
        POST_refunds(amount=3)
        GET_payments()
        requests.post("{service.url}/payments", json={{"amount": 3}})
    """
    done = run(PATHS, program, handle=once)

    assert done.exit_code == 0
    assert len(set(keys(service))) == len(service.arrived) == 5
    assert all(str(uuid.UUID(key)) == key for key in keys(service))


def test_the_key_of_the_program_counts(run: Run, service: Service) -> None:
    """By its name in Python, by that on the wire, and as a header."""
    program = f"""
        import requests
        POST_payments(amount=3, Idempotency_Key="mine-1")
        POST_payments(amount=3, **{{"Idempotency-Key": "mine-2"}})
        requests.post("{service.url}/payments", json={{"amount": 3}}, headers={{"idempotency-key": "mine-3"}})
    """
    done = run(PATHS, program, handle=once)

    assert (done.exit_code, keys(service)) == (0, ["mine-1", "mine-2", "mine-3"])


def test_a_call_that_is_sent_again_has_the_same_key(run: Run, service: Service) -> None:
    """After a 429, and behind a redirect."""
    replies = iter([(429, {"Retry-After": "0"}, {}), (308, {"Location": "/payments/"}, b""), (201, {}, {"paid": 3})])
    service.handle = lambda request: next(replies)
    done = run(PATHS, "print(POST_payments(amount=3)['paid'])")

    assert (done.stdout, service.lines) == ("3\n", ["POST /payments", "POST /payments", "POST /payments/"])
    assert len(set(keys(service))) == 1


# --- Saved programs

PROGRAM = """
pay = "recorded-key-1"
print(POST_payments(amount=3, Idempotency_Key=pay)["paid"])
POST_payments(amount=3, Idempotency_Key="recorded-key-2")
POST_payments(amount=3)
"""


def saved(service: Service, program: str) -> Result:
    """Solve a question and save its program as `pay.py`."""
    service.handle = once
    Path("api.json").write_text(json.dumps(DOCUMENT | {"servers": [{"url": service.url}]}))
    with Agent(load("api.json"), ScriptedModel(program), writes="allow", ablate=["check"]) as agent:
        Path("solution.json").write_text(json.dumps(agent.solve("Pay it.").to_json()))
    return CliRunner().invoke(main, ["save", "solution.json", "-o", "pay.py", "--api", "api.json"])


def test_a_saved_program_draws_its_keys_anew(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorded key would make the service repeat what it did then, and pay nothing."""
    monkeypatch.chdir(tmp_path)
    result = saved(service, PROGRAM)
    assert result.exit_code == 0, result.stderr
    of_the_solve = keys(service)

    for _ in range(2):
        again = CliRunner().invoke(main, ["run", "pay.py", "--writes", "allow"])
        assert (again.exit_code, again.stdout) == (0, "3\n")

    assert of_the_solve[:2] == ["recorded-key-1", "recorded-key-2"]
    assert len(of_the_solve) == 3
    assert len(set(keys(service))) == 9
    assert "recorded-key-2" not in Path("pay.py").read_text()
