"""What differs from the approved plan is stopped before it is sent."""

from __future__ import annotations

import pytest

from tests.atc.exact.planned_orders import Approval, Shop, solved
from tests.local_api import Answer


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


ORDER_OF_EACH = """POST_orders(customer="Ada")
for number in range(GET_stock()["count"]):
    POST_orders(customer="Bea")
print("done")
"""


def test_each_planned_write_is_used_once(shop: Shop) -> None:
    """A loop that comes out longer is stopped where the plan ends."""
    shop.api.script("GET", "/stock", Answer(body={"count": 2}), Answer(body={"count": 3}))
    solution = solved(shop, ORDER_OF_EACH, approval=Approval())

    assert (solution.exit_code, len(shop.sent("POST"))) == (3, 3)


def test_a_planned_write_that_is_not_made_is_a_warning(shop: Shop) -> None:
    """The second run may do with less; the solution says so."""
    shop.api.script("GET", "/stock", Answer(body={"count": 2}), Answer(body={"count": 1}))
    solution = solved(shop, ORDER_OF_EACH, approval=Approval())

    assert (solution.answer, len(shop.sent("POST"))) == ("done", 2)
    assert "planned and approved, but not made: write 3, POST_orders" in solution.warnings


@pytest.mark.parametrize(("answer", "state"), [(Answer(422, {}), "failed"), (Answer(cut=True), "unknown")])
def test_a_write_that_the_service_refuses(shop: Shop, answer: Answer, state: str) -> None:
    """The plan tells a write that was not done from one that may have been."""
    shop.api.respond("POST", "/orders", lambda received: answer)
    solution = solved(shop, 'POST_orders(customer="Ada")\nprint(1)', approval=Approval(), mode="none")

    assert solution.answer is None
    assert [write.state for write in solution.write_plan.writes] == [state]  # type: ignore[union-attr]


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
