"""How long a call may take, and how many there may be: options move both, and the messages name them."""

from __future__ import annotations

import time

from atc import Agent
from protocols import load
from sandbox import Limits
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Handler, Service
from tests.scripted import ScriptedModel

OK = {"200": {"description": "OK."}}
REPORT = {"/report": {"get": {"responses": OK}}}
NUMBER = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
ITEMS = {"/items/{id}": {"get": {"parameters": [NUMBER], "responses": OK}}}

PROGRAM = 'print(GET_report()["name"])'


def slow(seconds: float) -> Handler:
    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        time.sleep(seconds)
        return 200, {}, {"name": "ready"}

    return handle


def test_a_call_that_takes_too_long_names_the_option(run: Run) -> None:
    """The message says what the limit was, and which option moves it."""
    result = run(REPORT, PROGRAM, "--call-timeout", "0.2", handle=slow(0.4))

    assert result.exit_code == 6
    assert "no whole reply within 0.2 s; --call-timeout allows more" in result.stderr


def test_a_call_may_take_as_long_as_the_program(run: Run) -> None:
    """Without the option the limit of the program is that of a call, and the message names the call."""
    result = run(REPORT, PROGRAM, "--wall", "0.4", handle=slow(0.6))

    assert result.exit_code == 4
    assert "the program ran longer than the 0.4 s allowed, and GET_report had no reply yet" in result.stderr
    assert "--wall allows more" in result.stderr and "--call-timeout" not in result.stderr
    both = run(REPORT, PROGRAM, "--wall", "1", "--call-timeout", "0.2", handle=slow(0.4))
    assert "no whole reply within 0.2 s; --call-timeout allows more" in both.stderr
    assert Limits(wall=60).call_seconds == 60


def test_a_timeout_of_the_program_itself_names_no_option(run: Run, service: Service) -> None:
    """`requests.get(…, timeout=0.2)` is what the program asked for."""
    program = f"import requests\nprint(requests.get('{service.url}/report', timeout=0.2))"
    result = run(REPORT, program, handle=slow(0.4))

    assert result.exit_code == 6
    assert "no whole reply within 0.2 s" in result.stderr
    assert "--call-timeout" not in result.stderr


def test_a_longer_call_gives_a_solve_more_time(service: Service) -> None:
    """The time of a call that is longer than that of the program is added to it, in Python as on the command line."""
    service.handle = slow(0.5)
    document = {"openapi": "3.0.3", "info": {"title": "Slow", "version": "1"}, "paths": REPORT}
    protocol = load(document)
    model = ScriptedModel(f"```python\n{PROGRAM}\n```")

    with Agent(protocol, model, base_url=service.url, limits=Limits(wall=0.3), call_timeout=3) as agent:
        solution = agent.solve("What is the name of the report?")

    assert solution.answer == "ready"
    assert Limits().adjusted(60).wall == 75
    assert Limits().adjusted(5).wall == 15


def test_too_many_calls_name_the_operation(run: Run) -> None:
    """And what to ask for instead."""
    program = "for n in range(9): GET_items_id(n)"
    result = run(ITEMS, program, "--max-calls", "4")

    assert result.exit_code == 4
    assert "more than the 4 calls allowed, most of them GET_items_id; ask for larger pages or a list" in result.stderr
    assert run(ITEMS, program, "--max-calls", "9").exit_code == 0
