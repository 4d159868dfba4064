"""Planned writes: one list, one yes, and then nothing is sent but what was on the list."""

from __future__ import annotations

import pytest

from atc import Agent
from atc.events import CallMade, Event, PlanProposed
from protocols import Protocol
from protocols.errors import UsageError
from sandbox import Limits, Sandbox
from sandbox.egress.write_plan import WriteLedger, WritePlan
from tests.atc.exact.planned_orders import ORDER, Approval, Shop, solved
from tests.local_api import PREFIX, Answer, LocalAPI
from tests.scripted import ScriptedModel

# --- One list, one yes


@pytest.mark.parametrize("style", ["function", "requests"])
def test_an_id_that_one_write_creates_is_used_by_the_next(shop: Shop, style: str) -> None:
    """The question shows a made-up id and where it comes from; what is sent has the id of the real order. The same by
    `requests`, where the id is a part of the URL."""
    by_requests = f"""import requests
order = requests.post({shop.api.url!r} + "/orders", json={{"customer": "Ada"}}).json()
body = {{"sku": "A1", "quantity": 2, "of": {{"order": order["id"]}}}}
line = requests.post({shop.api.url!r} + f"/orders/{{order['id']}}/lines", json=body).json()
print(order["id"], line["sku"])
"""
    approval = Approval()
    solution = solved(shop, ORDER if style == "function" else by_requests, approval=approval)

    assert (solution.answer, shop.sent()) == ("4711 A1", ["POST /orders", "POST /orders/4711/lines"])
    assert shop.api.requests[1].json() == {"sku": "A1", "quantity": 2, "of": {"order": 4711}}
    assert approval.asked == [["POST_orders", "POST_orders_order_id_lines"]]
    made_up = ("write", 1, ("id",))
    assert [
        [(value.origin, value.source, value.path) for value in write.values] for write in approval.plans[0].writes
    ] == [
        [("question", None, ())],
        [made_up, ("question", None, ()), ("question", None, ()), made_up],
    ]
    assert solution.write_plan is not None
    assert [write.state for write in solution.write_plan.writes] == ["done", "done"]
    assert [call.simulated for call in solution.calls] == [False, False]


def test_without_writes_nobody_is_asked(shop: Shop) -> None:
    """A program that only reads runs once."""
    approval = Approval()
    solution = solved(shop, "print(GET_stock()['count'])", approval=approval)

    assert (solution.answer, approval.plans, shop.sent()) == ("5", [], ["GET /stock"])
    assert solution.write_plan is None


def test_a_no_sends_nothing(shop: Shop) -> None:
    """The solve ends, the solution has the plan, and the model is not asked for another program."""
    solution = solved(shop, ORDER, approval=Approval(answer=False))

    assert (solution.status, solution.exit_code, shop.sent()) == ("refused", 3, [])
    assert solution.message == "the planned writes were not confirmed"
    assert solution.write_plan is not None
    assert [write.state for write in solution.write_plan.writes] == ["new", "new"]


def test_where_nobody_is_there_the_answer_is_no(shop: Shop) -> None:
    """The event has the plan, so that every reader can show it."""
    events: list[Event] = []
    solution = solved(shop, ORDER, on_event=events.append, mode="naive@3")

    assert (solution.exit_code, shop.sent(), len(solution.attempts)) == (3, [], 1)
    assert "nobody is there to confirm them" in solution.message
    proposed = [event for event in events if isinstance(event, PlanProposed)]
    assert [(len(event.plan.asked), event.asks) for event in proposed] == [(2, False)]


def test_a_question_is_asked_when_the_program_would_answer(shop: Shop) -> None:
    """A program that fails while its writes are withheld is repaired first; its writes are never asked about."""
    approval = Approval()
    wrong = 'POST_orders(customer="Eve")\nprint({}["x"])'
    solution = solved(shop, wrong, ORDER, approval=approval)

    assert (solution.answer, len(solution.attempts)) == ("4711 A1", 2)
    assert approval.asked == [["POST_orders", "POST_orders_order_id_lines"]]
    assert shop.sent("POST") == ["POST /orders", "POST /orders/4711/lines"]


# --- Reads


def test_reads_before_the_first_write_are_made_once(shop: Shop) -> None:
    """The second run gets their replies, errors included; what is read after a write is read again."""
    program = """GET_stock()
try:
    GET_orders_order_id(order_id=1)
except ToolError:
    order = POST_orders(customer="Ada")
print(GET_stock()["count"])
"""
    solution = solved(shop, program, approval=Approval())

    assert solution.answer == "5"
    assert shop.sent() == ["GET /stock", "GET /orders/1", "GET /stock", "POST /orders", "GET /stock"]


def test_a_read_after_a_withheld_write_is_uncertain(shop: Shop) -> None:
    """Its record says so, and the plan lists it; in the second run it is a read as any other."""
    events: list[Event] = []
    approval = Approval()
    program = 'GET_stock()\norder = POST_orders(customer="Ada")\nprint(order["id"], GET_stock()["count"])'
    solution = solved(shop, program, approval=approval, on_event=events.append)

    calls = [event.call.uncertain for event in events if isinstance(event, CallMade)]
    assert calls == [False, False, True, False, False, False]
    assert [(read.call, read.tool, read.after) for read in approval.plans[0].uncertain_reads] == [(2, "GET_stock", 1)]
    assert not any(call.uncertain for call in solution.calls)


# --- A repaired program


LINE = 'POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2)\nprint(order["id"])'
FIRST = 'order = POST_orders(customer="Ada")\nprint(order["id"], GET_stock()["count"])'


@pytest.mark.parametrize(
    ("first", "yes", "asked", "states"),
    [
        (FIRST, True, [["POST_orders"], ["POST_orders_order_id_lines"]], ["done", "done"]),
        (FIRST, False, [["POST_orders"], ["POST_orders_order_id_lines"]], ["done", "new"]),
        (
            f'order = POST_orders(customer="Ada")\nGET_stock()["count"]\n{LINE}',
            False,
            [["POST_orders", "POST_orders_order_id_lines"]],
            ["done", "done"],
        ),
    ],
    ids=["a further write", "a no to it", "no further write"],
)
def test_a_repaired_program_is_asked_about_its_further_writes_only(
    shop: Shop, first: str, yes: bool, asked: list[list[str]], states: list[str]
) -> None:
    """The first write was done and is replayed; of the new plan only what nobody approved is asked. A no to it keeps
    what was done, and the solution tells which writes that was."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={}))
    approval = Approval()

    def confirm(plan: WritePlan) -> bool:
        return approval(plan) and (yes or len(approval.plans) == 1)

    solution = solved(shop, first, f'order = POST_orders(customer="Ada")\n{LINE}', approval=confirm)

    assert approval.asked == asked
    assert solution.write_plan is not None
    assert [write.state for write in solution.write_plan.writes] == states
    assert shop.sent("POST") == ["POST /orders", "POST /orders/4711/lines"][: states.count("done")]
    if states[-1] == "done":
        assert (solution.answer, [call.replayed for call in solution.calls]) == ("4711", [True, False])


# --- What cannot be planned


def test_writes_of_functions_cannot_be_planned() -> None:
    """Nothing could answer them in their place; that is told before the model is asked."""

    def remember(text: str) -> int:
        """Remember a text."""
        return len(text)

    protocol = Protocol.from_functions(remember)
    with pytest.raises(UsageError, match="are functions, which cannot be simulated and so not planned; take writes="):
        Agent(protocol, model=ScriptedModel("print(1)"), writes="plan")


def test_a_write_elsewhere_cannot_be_planned(shop: Shop) -> None:
    """An allowed server has no document, and so no twin."""
    with LocalAPI() as elsewhere:
        origin = elsewhere.url.removesuffix(PREFIX)
        program = f"import requests\nrequests.post({origin!r} + '/x', json={{}})\nprint(1)"
        solution = solved(shop, program, approval=Approval(), allow=[origin])

        assert (solution.exit_code, elsewhere.requests) == (3, [])
        assert 'cannot be simulated (writes="plan")' in solution.message


def test_a_ledger_needs_a_journal(shop: Shop) -> None:
    """Without one nothing is planned, and nothing sent."""
    with Sandbox(shop.protocol, writes=WriteLedger(), limits=Limits()) as sandbox:
        run = sandbox.run('POST_orders(customer="Ada")')

    assert (run.calls[0].refused, shop.sent()) == (True, [])
