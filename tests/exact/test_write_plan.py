"""Planned writes: one list, one yes, and then nothing is sent but what was on the list."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc import Agent, Solution
from atc.cli import main
from atc.events import CallMade, Event, PlanProposed
from atc.solution_file import read_solution
from protocols import Protocol, load
from protocols.errors import UsageError
from sandbox import Limits, Sandbox
from sandbox.egress.write_plan import WriteLedger, WritePlan
from tests.exact.test_writes import ATC, on_terminal
from tests.local_api import PREFIX, Answer, LocalAPI, Received
from tests.scripted import ScriptedModel

QUESTION = "Order 2 pieces of A1 for Ada"
ORDER = """order = POST_orders(customer="Ada")
line = POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2, of={"order": order["id"]})
print(order["id"], line["sku"])
"""


def shop_document(server: str) -> dict[str, object]:
    """The document of a shop: a stock that is read, orders with lines that are written."""
    text, number = {"type": "string"}, {"type": "integer"}

    def body(**properties: object) -> dict[str, object]:
        schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
        return {"required": True, "content": {"application/json": {"schema": schema}}}

    def ok(status: str = "200", **properties: object) -> dict[str, object]:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return {status: {"description": "ok", "content": {"application/json": {"schema": schema}}}}

    order_id = {"name": "order_id", "in": "path", "required": True, "schema": number}
    inside = {"type": "object", "properties": {"order": number}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": server}],
        "paths": {
            "/stock": {"get": {"responses": ok(count=number)}},
            "/orders": {
                "post": {"requestBody": body(customer=text, note=text), "responses": ok("201", id=number, code=text)}
            },
            "/orders/{order_id}": {"parameters": [order_id], "get": {"responses": ok(id=number, customer=text)}},
            "/orders/{order_id}/lines": {
                "parameters": [order_id],
                "post": {
                    "requestBody": body(sku=text, quantity=number, of=inside),
                    "responses": ok("201", sku=text, quantity=number),
                },
            },
        },
    }


class Shop:
    """The real service: it numbers orders from 4711, and remembers what was written."""

    def __init__(self, api: LocalAPI) -> None:
        self.api = api
        self.protocol: Protocol = load(shop_document(api.url))
        self._lock = threading.Lock()
        self.orders = 0
        api.answer("GET", "/stock", {"count": 5})
        api.respond("POST", "/orders", self._order)
        for number in range(4711, 4721):
            api.respond("POST", f"/orders/{number}/lines", lambda received: Answer(201, received.json()))
            api.answer("GET", f"/orders/{number}", {"id": number, "customer": "Ada"})

    def _order(self, received: Received) -> Answer:
        with self._lock:
            self.orders += 1
            return Answer(201, {"id": 4710 + self.orders, "code": f"c{self.orders}"})

    def sent(self, method: str | None = None) -> list[str]:
        """What arrived: `POST /orders`."""
        requests = [f"{request.method} {request.path.removeprefix(PREFIX)}" for request in self.api.requests]
        return [text for text in requests if method is None or text.startswith(f"{method} ")]


@pytest.fixture
def shop() -> Iterator[Shop]:
    with LocalAPI() as api:
        yield Shop(api)


class Approval:
    """Answers questions about plans, and remembers them."""

    def __init__(self, answer: bool = True) -> None:
        self.answer = answer
        self.plans: list[WritePlan] = []

    def __call__(self, plan: WritePlan) -> bool:
        self.plans.append(plan)
        return self.answer

    @property
    def asked(self) -> list[list[str]]:
        """The tools of the writes of each question."""
        return [[write.tool for write in plan.asked] for plan in self.plans]


def solved(shop: Shop, *programs: str, approval: Approval | None = None, **options: Any) -> Solution:
    """A solve whose model writes these programs in turn."""
    options = {"mode": "naive", "without": ["check", "challenge"], **options}
    model = ScriptedModel(*programs)
    with Agent(shop.protocol, model=model, writes="plan", confirm_plan=approval, **options) as agent:
        return agent.solve(QUESTION)


def origins(plan: WritePlan) -> list[list[tuple[str, str, int | None, tuple[str | int, ...]]]]:
    """Where the values of each write come from: name, origin, source and path."""
    return [
        [(str(value.place[0]), value.origin, value.source, value.path) for value in write.values]
        for write in plan.writes
    ]


# --- One list, one yes


def test_an_id_that_one_write_creates_is_used_by_the_next(shop: Shop) -> None:
    """The question shows a made-up id and where it comes from; what is sent has the id of the real order."""
    approval = Approval()
    solution = solved(shop, ORDER, approval=approval)

    assert (solution.answer, shop.sent()) == ("4711 A1", ["POST /orders", "POST /orders/4711/lines"])
    assert shop.api.requests[1].json() == {"sku": "A1", "quantity": 2, "of": {"order": 4711}}
    assert approval.asked == [["POST_orders", "POST_orders_order_id_lines"]]
    assert origins(approval.plans[0]) == [
        [("customer", "question", None, ())],
        [
            ("order_id", "write", 1, ("id",)),
            ("sku", "question", None, ()),
            ("quantity", "question", None, ()),
            ("of", "write", 1, ("id",)),
        ],
    ]
    assert solution.write_plan is not None
    assert [write.state for write in solution.write_plan.writes] == ["done", "done"]
    assert [call.simulated for call in solution.calls] == [False, False]


def test_a_request_may_use_it_too(shop: Shop) -> None:
    """The same by `requests`, where the id is a part of the URL."""
    program = f"""import requests
order = requests.post({shop.api.url!r} + "/orders", json={{"customer": "Ada"}}).json()
reply = requests.post({shop.api.url!r} + f"/orders/{{order['id']}}/lines", json={{"sku": "A1", "quantity": 2}})
print(order["id"], reply.json()["sku"])
"""
    solution = solved(shop, program, approval=Approval())

    assert (solution.answer, shop.sent()) == ("4711 A1", ["POST /orders", "POST /orders/4711/lines"])


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


# --- What differs is stopped


def test_chance_takes_the_same_branch(shop: Shop) -> None:
    """Random numbers, identifiers and the time are the same in both runs."""
    program = """import random, uuid, datetime
names = [str(random.random()), str(uuid.uuid4()), str(datetime.datetime.now())]
for name in names:
    POST_orders(customer=name)
if random.random() < 0.5:
    POST_orders(customer="heads")
else:
    POST_orders(customer="tails")
print("done")
"""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    assert (solution.status, len(shop.sent("POST"))) == ("answered", 4)
    planned = [write.values[0].value for write in approval.plans[0].writes]
    assert [request.json()["customer"] for request in shop.api.requests] == planned  # type: ignore[index]


BRANCH = """order = POST_orders(customer="Ada")
if GET_stock()["count"] > 3:
    POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2)
else:
    POST_orders(customer="Eve", note="later")
print(order["id"])
"""


def test_a_read_that_changes_takes_another_branch_and_is_stopped(shop: Shop) -> None:
    """The stock is read again after the first write, and says otherwise: the other write does not leave."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={"count": 1}))
    solution = solved(shop, BRANCH, approval=Approval())

    assert (solution.status, solution.exit_code) == ("refused", 3)
    assert shop.sent("POST") == ["POST /orders"]
    plan = solution.write_plan
    assert plan is not None and plan.stopped is not None
    assert [write.state for write in plan.writes] == ["done", "approved"]
    assert (plan.stopped.tool, plan.stopped.number) == ("POST_orders", None)
    assert "no such write is left in the approved plan" in solution.message


def test_a_value_that_differs_is_stopped_before_it_is_sent(shop: Shop) -> None:
    """The difference names the value, as planned and as it came out."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={"count": 9}))
    program = """order = POST_orders(customer="Ada")
count = GET_stock()["count"]
POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=count)
print(count)
"""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    value = approval.plans[0].writes[1].values[2]
    assert (value.origin, value.source, value.uncertain) == ("read", 1, True)
    assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])
    stopped = solution.write_plan.stopped if solution.write_plan else None
    assert stopped is not None
    assert [(v.place, v.planned, v.actual) for v in stopped.values] == [(("quantity",), 5, 9)]
    assert "it is not write 2 of the approved plan: quantity is 9, planned 5" in solution.message


def test_a_value_computed_from_a_made_up_one_is_stopped(shop: Shop) -> None:
    """It is in no answer, so that nobody could tell whether it is the planned one; the plan says so beforehand."""
    program = """order = POST_orders(customer="Ada")
POST_orders(customer="Ada", note=f"after {order['id']}")
print(order["id"])
"""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    value = next(value for value in approval.plans[0].writes[1].values if value.place == ("note",))
    assert (value.origin, value.source, value.uncertain) == ("computed", 0, True)
    assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])


def test_a_value_from_another_place_is_stopped() -> None:
    """The id may differ only where it is the id of the answer, not any other value of it."""
    with LocalAPI() as api:
        shop = Shop(api)
        api.respond("POST", "/orders", lambda received: Answer(201, {"id": 4711, "code": "4712"}))
        program = """order = POST_orders(customer="Ada")
order_id = order["id"] if order["id"] != 4711 else int(order["code"])
POST_orders_order_id_lines(order_id=order_id, sku="A1")
print(order_id)
"""
        solution = solved(shop, program, approval=Approval())

        assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])


def test_a_program_that_swallows_the_stop_writes_nothing_more(shop: Shop) -> None:
    """After one write that was not planned no other one leaves, planned or not."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={"count": 9}))
    program = """POST_orders(customer="Ada")
try:
    POST_orders(customer="Ada", note=str(GET_stock()["count"]))
except ToolError:
    pass
POST_orders(customer="Bea")
print("done")
"""
    solution = solved(shop, program, approval=Approval())

    assert (solution.status, solution.answer, shop.sent("POST")) == ("refused", None, ["POST /orders"])
    assert [call.refused for call in solution.calls] == [False, False, True, True]


def test_each_planned_write_is_used_once(shop: Shop) -> None:
    """A loop that comes out longer is stopped where the plan ends."""
    shop.api.script("GET", "/stock", Answer(body={"count": 2}), Answer(body={"count": 3}))
    program = """POST_orders(customer="Ada")
for number in range(GET_stock()["count"]):
    POST_orders(customer="Bea")
print("done")
"""
    solution = solved(shop, program, approval=Approval())

    assert (solution.exit_code, len(shop.sent("POST"))) == (3, 3)


def test_a_planned_write_that_is_not_made_is_a_warning(shop: Shop) -> None:
    """The second run may do with less; the solution says so."""
    shop.api.script("GET", "/stock", Answer(body={"count": 2}), Answer(body={"count": 1}))
    program = """POST_orders(customer="Ada")
for number in range(GET_stock()["count"]):
    POST_orders(customer="Bea")
print("done")
"""
    solution = solved(shop, program, approval=Approval())

    assert (solution.answer, len(shop.sent("POST"))) == ("done", 2)
    assert "planned and approved, but not made: write 3, POST_orders" in solution.warnings


@pytest.mark.parametrize(("answer", "state"), [(Answer(422, {}), "failed"), (Answer(cut=True), "unknown")])
def test_a_write_that_the_service_refuses(shop: Shop, answer: Answer, state: str) -> None:
    """The plan tells a write that was not done from one that may have been."""
    shop.api.respond("POST", "/orders", lambda received: answer)
    solution = solved(shop, 'POST_orders(customer="Ada")\nprint(1)', approval=Approval(), mode="none")

    assert solution.answer is None
    assert [write.state for write in solution.write_plan.writes] == [state]  # type: ignore[union-attr]


def test_names_in_several_places_hide_nothing(shop: Shop) -> None:
    """A value that differs is found wherever it stands, whatever its name."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={"count": 9}))
    program = f"""import requests
POST_orders(customer="Ada")
count = GET_stock()["count"]
requests.post({shop.api.url!r} + "/orders/4711/lines", params={{"body sku": count, "sku": 1}}, json={{"sku": "A"}})
print(1)
"""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    assert len(approval.plans[0].writes[1].values) == 4
    assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])


def test_writes_side_by_side_are_told_apart(shop: Shop) -> None:
    """Threads may take turns as they like; each line goes to the order of its own planned write."""
    program = """from concurrent.futures import ThreadPoolExecutor
def order(name):
    made = POST_orders(customer=name)
    return POST_orders_order_id_lines(order_id=made["id"], sku=name)["sku"]
with ThreadPoolExecutor(4) as pool:
    print(sorted(pool.map(order, ["A", "B", "C", "D"])))
"""
    solution = solved(shop, program, approval=Approval())

    assert (solution.answer, len(shop.sent("POST"))) == ("['A', 'B', 'C', 'D']", 8)


# --- A repaired program


def test_a_repaired_program_is_asked_about_its_further_write_only(shop: Shop) -> None:
    """The first write was done and is replayed; of the new plan only the one that nobody approved is asked."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={}))
    first = 'order = POST_orders(customer="Ada")\nprint(order["id"], GET_stock()["count"])'
    second = """order = POST_orders(customer="Ada")
POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2)
print(order["id"])
"""
    approval = Approval()
    solution = solved(shop, first, second, approval=approval)

    assert (solution.answer, shop.sent("POST")) == ("4711", ["POST /orders", "POST /orders/4711/lines"])
    assert approval.asked == [["POST_orders"], ["POST_orders_order_id_lines"]]
    assert [write.state for write in approval.plans[1].writes] == ["done", "new"]
    assert [call.replayed for call in solution.calls] == [True, False]


def test_a_repaired_program_without_further_writes_is_not_asked(shop: Shop) -> None:
    """What is left of the approved plan is sent without a second question."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={}))
    line = 'POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2)\nprint(order["id"])'
    first = f'order = POST_orders(customer="Ada")\nGET_stock()["count"]\n{line}'
    approval = Approval()
    solution = solved(shop, first, f'order = POST_orders(customer="Ada")\n{line}', approval=approval)

    assert (solution.answer, shop.sent("POST")) == ("4711", ["POST /orders", "POST /orders/4711/lines"])
    assert len(approval.plans) == 1


def test_a_no_to_the_further_write_keeps_what_was_done(shop: Shop) -> None:
    """The solution tells which writes were done, and which were not."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={}))
    approval = Approval()

    def confirm(plan: WritePlan) -> bool:
        return approval(plan) and len(approval.plans) == 1

    first = 'order = POST_orders(customer="Ada")\nprint(order["id"], GET_stock()["count"])'
    with Agent(
        shop.protocol,
        model=ScriptedModel(first, ORDER),
        writes="plan",
        confirm_plan=confirm,
        mode="naive",
        without=["check"],
    ) as agent:
        solution = agent.solve(QUESTION)

    assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])
    assert [write.state for write in solution.write_plan.writes] == ["done", "new"]  # type: ignore[union-attr]


# --- What cannot be planned


def test_writes_of_functions_cannot_be_planned() -> None:
    """Nothing could answer them in their place; that is told before the model is asked."""

    def remember(text: str) -> int:
        """Remember a text."""
        return len(text)

    protocol = Protocol.from_functions(remember)
    with pytest.raises(UsageError, match="are functions, which cannot be simulated and so not planned; take --writes"):
        Agent(protocol, model=ScriptedModel("print(1)"), writes="plan")


def test_modes_without_one_program_cannot_be_planned(shop: Shop) -> None:
    """There is nothing to run a second time."""
    with pytest.raises(UsageError, match="holds one program to its plan, which 'react' has not"):
        Agent(shop.protocol, model=ScriptedModel("print(1)"), writes="plan", mode="react")


def test_a_write_elsewhere_cannot_be_planned(shop: Shop) -> None:
    """An allowed server has no document, and so no twin."""
    with LocalAPI() as elsewhere:
        origin = elsewhere.url.removesuffix(PREFIX)
        program = f"import requests\nrequests.post({origin!r} + '/x', json={{}})\nprint(1)"
        solution = solved(shop, program, approval=Approval(), allow=[origin])

        assert (solution.exit_code, elsewhere.requests) == (3, [])
        assert "cannot be simulated (--writes plan)" in solution.message


def test_a_ledger_needs_a_journal(shop: Shop) -> None:
    """Without one nothing is planned, and nothing sent."""
    with Sandbox(shop.protocol, writes=WriteLedger(), limits=Limits()) as sandbox:
        run = sandbox.run('POST_orders(customer="Ada")')

    assert (run.calls[0].refused, shop.sent()) == (True, [])


# --- The command


def atc(*arguments: str | Path) -> Result:
    """Run the command in this process, where there is no terminal."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def command(shop: Shop, folder: Path, *options: str) -> list[str]:
    """The arguments of a solve whose model is the scripted one."""
    file = folder / "shop.json"
    file.write_text(json.dumps(shop_document(shop.api.url)))
    named = ["solve", QUESTION, "--api", str(file), "--model", "openai:scripted", "--writes", "plan"]
    return [*named, "--mode", "naive", *options]


def test_without_a_terminal_the_list_is_printed(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Exit code 3; stderr has the list, and --out the plan."""
    endpoint(ORDER)
    out = tmp_path / "solution.json"
    result = atc(*command(shop, tmp_path, "--out", str(out)))

    assert (result.exit_code, result.stdout, shop.sent()) == (3, "", [])
    for text in (
        "The program plans 2 writes:",
        f"1. POST_orders: POST {shop.api.url}/orders",
        'customer: "Ada"  (from the question)',
        "from the answer of write 1: id; the value here is made up, the real one is sent",
        "nobody is there to confirm them",
    ):
        assert text in result.stderr
    assert [write["state"] for write in json.loads(out.read_text())["write_plan"]["writes"]] == ["new", "new"]
    assert read_solution(out).write_plan is not None


def test_a_terminal_is_asked_once(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """One question for both writes, below the list."""
    endpoint(ORDER)
    status, screen = on_terminal([*ATC, *command(shop, tmp_path)], {"Send them?": "y\n"})

    assert (status, len(shop.sent("POST"))) == (0, 2), screen
    assert screen.count("[y/N]") == 1
    assert screen.index("2. POST_orders_order_id_lines") < screen.index("Send them? [y/N]")
    assert screen.count("The program plans 2 writes:") == 1


def test_a_stopped_write_is_shown_against_the_plan(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Value by value, with exit code 3."""
    shop.api.script("GET", "/stock", Answer(body={"count": 5}), Answer(body={"count": 9}))
    endpoint('POST_orders(customer="Ada")\nPOST_orders(customer="Bea", note=str(GET_stock()["count"]))\nprint(1)')
    status, screen = on_terminal([*ATC, *command(shop, tmp_path)], {"Send them?": "y\n"})

    assert (status, shop.sent("POST")) == (3, ["POST /orders"]), screen
    assert 'note: planned "5", actual "9"' in screen


def test_a_plan_without_an_answer_is_asked_again(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Ctrl-C at the question ends the command; --resume asks the model nothing, and the same question."""
    endpoint(ORDER, "print('the model was asked again')")
    file = tmp_path / "solve.journal"
    status, screen = on_terminal([*ATC, *command(shop, tmp_path, "--journal", str(file))], {"Send them?": "\x03"})
    assert (status, shop.sent()) == (130, []), screen

    status, screen = on_terminal([*ATC, "solve", "--resume", str(file)], {"Send them?": "y\n"})
    assert (status, shop.sent("POST")) == (0, ["POST /orders", "POST /orders/4711/lines"]), screen


def test_an_approved_plan_goes_on_without_a_question(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """The process is killed between two writes: --resume sends the second one, and the first not again."""
    program = ORDER.replace("line =", "print(GET_stock()['count'])\nline =")
    endpoint(program, "print('the model was asked again')")
    reads: list[Received] = []
    pids = tmp_path / "pid"

    def stock(received: Received) -> Answer:
        reads.append(received)
        if len(reads) == 2:  # the first was in the planning run
            os.kill(int(pids.read_text()), signal.SIGKILL)
        return Answer(body={"count": 5})

    shop.api.respond("GET", "/stock", stock)
    file = tmp_path / "solve.journal"
    start = "import os, sys; open(sys.argv.pop(1), 'w').write(str(os.getpid())); from atc.cli import main; main()"
    arguments = [sys.executable, "-c", start, str(pids), *command(shop, tmp_path, "--journal", str(file))]
    status, screen = on_terminal(arguments, {"Send them?": "y\n"})
    assert (status, shop.sent("POST")) == (-signal.SIGKILL, ["POST /orders"]), screen

    result = atc("solve", "--resume", file)
    assert (result.exit_code, result.stdout) == (0, "5\n4711 A1\n"), result.stderr
    assert shop.sent("POST") == ["POST /orders", "POST /orders/4711/lines"]


def test_the_help_names_the_policy() -> None:
    """`atc solve --help` tells what it does."""
    process = subprocess.run([*ATC, "solve", "--help"], capture_output=True, text=True, check=True)

    assert "ask|allow|deny|simulate|plan" in process.stdout
