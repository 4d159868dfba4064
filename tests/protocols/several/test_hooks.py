"""Hooks: a function of the user's own before each call, which may refuse it, and one after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc import Agent, CallRecord
from protocols import UsageError, combine
from tests.local_api import LocalAPI
from tests.protocols.several.apis import CRM, document
from tests.protocols.several.conftest import CRM_TOKEN, TwoAPIs
from tests.scripted import ScriptedModel

LIST = "print(GET_alerts())"
WRITE = "print(POST_alerts(text='storm'))"


def model(*programs: str) -> ScriptedModel:
    return ScriptedModel(*(f"```python\n{program}\n```" for program in programs))


def test_hooks_see_each_call_before_and_after(two: TwoAPIs, tmp_path: Path) -> None:
    """Calls of HTTP and of functions alike; before it has no status, and neither record shows a credential."""
    (tmp_path / "own.py").write_text('def first() -> int:\n    """Give the first customer."""\n    return 7\n')
    protocol = combine({"crm": document(CRM, two.crm.url, "CRM"), "own": f"functions:{tmp_path / 'own.py'}"})
    before: list[CallRecord] = []
    after: list[CallRecord] = []
    with Agent(
        protocol,
        model=model("print(crm__GET_customers_customer_id(own__first())['name'])"),
        auth=["crm=bearer:env:CRM_TOKEN"],
        writes="allow",
        before_call=before.append,
        after_call=after.append,
    ) as agent:
        solution = agent.solve("What is the name of the first customer? Call first.")

    assert solution.answer == "Ada", solution.message
    assert [call.tool for call in before] == ["own__first", "crm__GET_customers_customer_id"]
    assert [(call.status, call.attempts) for call in before] == [(None, 0)] * 2
    assert [call.status for call in after] == [200, 200]
    assert after[1].response == {"id": 7, "name": "Ada", "email": "ada@example.com"}
    assert CRM_TOKEN not in str([before, after])


def test_a_refused_write_ends_the_solve(api: LocalAPI) -> None:
    """The reason stands in the message; the exit code is that of a refused write, and nothing was sent."""
    with Agent(
        api.protocol,
        model=model(WRITE),
        writes="allow",
        before_call=lambda call: "alerts are frozen today" if call.method == "POST" else None,
    ) as agent:
        solution = agent.solve("Add an alert with the text storm.")

    assert solution.exit_code == 3
    assert "alerts are frozen today" in solution.message
    assert api.requests == []


def test_a_refused_read_is_a_failed_call(api: LocalAPI) -> None:
    """The program gets an error with the reason, and the model may do without the call."""
    with Agent(
        api.protocol,
        model=model(LIST, "try:\n    GET_alerts()\nexcept Exception as error:\n    print(error)"),
        before_call=lambda call: "not in this room",
    ) as agent:
        solution = agent.solve("Which alerts are there?")

    assert api.requests == []
    assert "not in this room" in str(solution.attempts[0].fault)
    assert [call.refused for attempt in solution.attempts for call in attempt.calls][:1] == [False]


def test_a_hook_changes_nothing(api: LocalAPI) -> None:
    """Records are copies: what a hook does to them reaches neither the request nor the program."""

    def before(call: CallRecord) -> None:
        call.arguments["text"] = "changed"

    def after(call: CallRecord) -> str:
        assert isinstance(call.response, dict)
        call.response["text"] = "changed"
        return "ignored"

    with Agent(api.protocol, model=model(WRITE), writes="allow", before_call=before, after_call=after) as agent:
        solution = agent.solve("Add an alert with the text storm.")

    assert api.requests[0].json() == {"text": "storm"}
    assert solution.attempts[0].calls[0].response == {"text": "storm"}


def _fails(call: CallRecord) -> None:
    raise ValueError("the ledger is closed")


@pytest.mark.parametrize(("hook", "sent"), [("before_call", 0), ("after_call", 1)])
def test_a_hook_that_fails_ends_the_solve(api: LocalAPI, hook: str, sent: int) -> None:
    """The error names the hook. Before a call nothing is sent then."""
    message = rf"the hook {hook} \(_fails\) raised ValueError: the ledger is closed"
    with (
        Agent(api.protocol, model=model(LIST), **{hook: _fails}) as agent,  # type: ignore[arg-type]
        pytest.raises(UsageError, match=message),
    ):
        agent.solve("Which alerts are there?")

    assert len(api.requests) == sent


def test_a_hook_gives_a_reason_or_nothing(api: LocalAPI) -> None:
    """True or False could mean either, so they are refused."""
    with (
        Agent(api.protocol, model=model(LIST), before_call=lambda call: False) as agent,  # type: ignore[arg-type, return-value]
        pytest.raises(UsageError, match="must return None or a reason, not bool"),
    ):
        agent.solve("Which alerts are there?")
    assert api.requests == []


def test_a_replayed_call_does_not_leave(api: LocalAPI) -> None:
    """The second program repeats the first call, which the journal answers: the hook before it is not asked again."""
    before: list[CallRecord] = []
    after: list[CallRecord] = []
    programs = ("GET_alerts()\nraise ValueError('x')", LIST)
    with Agent(api.protocol, model=model(*programs), before_call=before.append, after_call=after.append) as agent:
        agent.solve("Which alerts are there?")

    assert len(before) == 1
    assert [call.replayed for call in after] == [False, True]
