"""Documents are wrong about what is required and allowed: a call is refused once, and sent when the program insists."""

from __future__ import annotations

import json
from typing import Any

from atc import Agent
from protocols import load
from tests.atc.exact.planned_orders import Approval
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service
from tests.scripted import ScriptedModel

SCHEMA = {
    "type": "object",
    "required": ["name", "ttl"],
    "properties": {
        "name": {"type": "string", "maxLength": 3},
        "ttl": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
    },
}
BODY = {"required": True, "content": {"application/json": {"schema": SCHEMA}}}
DOCUMENT = {"/records": {"patch": {"requestBody": BODY, "responses": {"200": {"description": "ok"}}}}}
TWICE = """
for _ in range(2):
    try:
        PATCH_records({})
    except ToolError as error:
        print(error)
"""


def test_a_call_is_refused_once_and_then_sent(run: Run, service: Service) -> None:
    """The refusal names the reason and what to do; the warning stays with the run."""
    for arguments, sent in (
        ("name='x'", {"name": "x"}),
        ("name='x', ttl=1, kind='c'", {"name": "x", "ttl": 1, "kind": "c"}),
        ("name='long', ttl=1", {"name": "long", "ttl": 1}),
    ):
        service.arrived.clear()
        result = run(DOCUMENT, TWICE.format(arguments), "-v")

        assert result.exit_code == 0, result.output
        assert result.stdout.count("make the same call again") == 1
        assert [json.loads(request.body) for request in service.arrived] == [sent]
        assert "sent although the document speaks against it" in result.stderr


def test_a_loop_does_not_insist(run: Run, service: Service) -> None:
    """A loop that goes on after a refusal makes other calls, and each of them is refused."""
    program = """
    for name in ("a", "b", "c"):
        try:
            PATCH_records(name=name)
        except ToolError:
            print("refused")
    """
    result = run(DOCUMENT, program)

    assert result.stdout == "refused\n" * 3
    assert service.arrived == []


def test_what_is_certain_stays_refused(run: Run, service: Service) -> None:
    """An unknown argument and a value of another type are the program's mistakes."""
    result = run(DOCUMENT, TWICE.format("name='x', ttl='soon'"))

    assert result.stdout.count("'ttl' must be an integer") == 2
    assert service.arrived == []


def test_null_in_a_patch_is_never_left_out_without_a_word(run: Run, service: Service) -> None:
    """Where the document does not say that a property may be null, it is refused once; a merge patch removes so."""
    merge = {"required": True, "content": {"application/merge-patch+json": {"schema": SCHEMA}}}
    merged = {"/merged": {"patch": {"requestBody": merge, "responses": {"200": {"description": "ok"}}}}}

    plain = run(DOCUMENT, TWICE.format("name='x', ttl=None"))
    removed = run(merged, "PATCH_merged(name='x', ttl=None)")

    assert "'ttl' is None, and the document does not say that it may be null" in plain.stdout
    assert removed.exit_code == 0, removed.output
    assert [json.loads(request.body) for request in service.arrived] == [{"name": "x", "ttl": None}] * 2


def test_a_simulated_call_is_taken_too(run: Run, service: Service) -> None:
    """Who insists is answered by the simulated API, and nothing says that it was sent."""
    for arguments in ("name='x'", "name='long', ttl=1", "name='x', ttl=1, kind='c'"):
        result = run(DOCUMENT, f"{TWICE.format(arguments)}print('done')", "--writes", "simulate", "-v")

        assert (result.exit_code, result.stdout.count("\n")) == (0, 2), result.output
        assert "simulated although the document speaks against it" in result.stderr
        assert "sent although" not in result.stderr
    assert service.lines == []


def test_a_planned_call_is_sent_after_approval(run: Run, service: Service) -> None:
    """The plan has it, and the run that carries it out makes the same calls as the one before."""
    program = TWICE.format("name='x'")
    refused = run(DOCUMENT, program, "--writes", "plan")
    assert (refused.exit_code, "The program plans 1 write" in refused.stderr) == (3, True), refused.stderr
    assert "sent although" not in refused.stderr and service.lines == []

    approval = Approval()
    options: dict[str, Any] = {"writes": "plan", "confirm_plan": approval, "mode": "naive", "ablate": ["check"]}
    with Agent(load("spec.json"), ScriptedModel(program), base_url=service.url, **options) as agent:
        solution = agent.solve("Name the record x.")

    assert approval.asked == [["PATCH_records"]]
    assert [json.loads(request.body) for request in service.arrived] == [{"name": "x"}]
    assert any("sent although" in warning for warning in solution.warnings)


def test_all_that_the_document_says_is_told_at_once(run: Run, service: Service) -> None:
    """One refusal names every argument; a certain mistake comes first."""
    result = run(DOCUMENT, TWICE.format("name='long', kind='c'"))

    (line,) = result.stdout.splitlines()
    for part in ("'name' must have at most 3", "'kind' must be one of", "missing 1 required argument: 'ttl'"):
        assert part in line
    assert line.count("PATCH_records(): ") == line.count("make the same call again") == 1
    assert [json.loads(request.body) for request in service.arrived] == [{"name": "long", "kind": "c"}]
    assert "'ttl' must be an integer" in run(DOCUMENT, TWICE.format("name='long', ttl='soon'")).stdout
