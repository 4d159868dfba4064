"""What differs from the approved plan is stopped before it is sent."""

from __future__ import annotations

import pytest

from tests.atc.exact.planned_orders import Approval, Shop, solved
from tests.local_api import Answer

ORDER_OF_EACH = """POST_orders(customer="Ada")
for number in range(GET_stock()["count"]):
    POST_orders(customer="Bea")
print("done")
"""


def in_stock(shop: Shop, *counts: int) -> None:
    """The stock, as each read in turn finds it."""
    shop.api.script("GET", "/stock", *[Answer(body={"count": count}) for count in counts])


@pytest.mark.parametrize(
    "program",
    [
        """import random, uuid, datetime
names = [str(random.random()), str(uuid.uuid4()), str(datetime.datetime.now())]
for name in names:
    POST_orders(customer=name)
POST_orders(customer="heads" if random.random() < 0.5 else "tails")
print("done")
""",
        """from concurrent.futures import ThreadPoolExecutor
def order(name):
    made = POST_orders(customer=name)
    return POST_orders_order_id_lines(order_id=made["id"], sku=name)["sku"]
with ThreadPoolExecutor(2) as pool:
    list(pool.map(order, ["A", "B"]))
print("done")
""",
    ],
    ids=["chance and time", "threads"],
)
def test_what_is_the_same_in_both_runs_is_sent(shop: Shop, program: str) -> None:
    """Random numbers, identifiers and the time; threads take turns as they like, each line goes to its own order."""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    assert (solution.answer, len(shop.sent("POST"))) == ("done", 4)
    bodies = [request.json() for request in shop.api.requests]
    planned = [write.values[0].value for write in approval.plans[0].writes if write.tool == "POST_orders"]
    assert sorted(body["customer"] for body in bodies if "customer" in body) == sorted(map(str, planned))  # type: ignore[index, operator]


@pytest.mark.parametrize(
    ("program", "counts", "sent", "message"),
    [
        (
            """order = POST_orders(customer="Ada")
if GET_stock()["count"] > 3:
    POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=2)
else:
    POST_orders(customer="Eve", note="later")
print(order["id"])
""",
            (5, 1),
            1,
            "no such write is left in the approved plan",
        ),
        (
            """POST_orders(customer="Ada")
try:
    POST_orders(customer="Ada", note=str(GET_stock()["count"]))
except ToolError:
    pass
POST_orders(customer="Bea")
print("done")
""",
            (5, 9),
            1,
            'it is not write 2 of the approved plan: note is "9", planned "5"',
        ),
        (ORDER_OF_EACH, (2, 3), 3, "no such write is left in the approved plan"),
    ],
    ids=["another branch", "swallowed", "a longer loop"],
)
def test_a_read_that_changes_does_not_change_what_is_written(
    shop: Shop, program: str, counts: tuple[int, ...], sent: int, message: str
) -> None:
    """The stock says otherwise in the second run: what follows from it does not leave, nor any write after it."""
    in_stock(shop, *counts)
    solution = solved(shop, program, approval=Approval())

    assert (solution.status, solution.exit_code, solution.answer) == ("refused", 3, None)
    assert len(shop.sent("POST")) == sent
    assert message in solution.message
    assert solution.write_plan is not None
    states = [write.state for write in solution.write_plan.writes]
    assert states == ["done"] * sent + ["approved"] * (len(states) - sent)
    assert solution.write_plan.stopped is not None


@pytest.mark.parametrize(
    ("quantity", "origin", "difference"),
    [
        ('GET_stock()["count"]', ("read", 1, True), [(("quantity",), 5, 9)]),
        ('order["id"] + 1', ("computed", 0, True), None),
    ],
)
def test_a_value_that_differs_is_stopped_before_it_is_sent(
    shop: Shop, quantity: str, origin: tuple[object, ...], difference: object
) -> None:
    """The difference names it. One computed from a made-up one is in no answer; the plan says so beforehand."""
    in_stock(shop, 5, 9)
    program = f"""order = POST_orders(customer="Ada")
count = {quantity}
POST_orders_order_id_lines(order_id=order["id"], sku="A1", quantity=count)
print(count)
"""
    approval = Approval()
    solution = solved(shop, program, approval=approval)

    value = approval.plans[0].writes[1].values[2]
    assert (value.origin, value.source, value.uncertain) == origin
    assert (solution.exit_code, shop.sent("POST")) == (3, ["POST /orders"])
    stopped = solution.write_plan.stopped if solution.write_plan else None
    assert stopped is not None
    assert difference in ([(v.place, v.planned, v.actual) for v in stopped.values], None)
    assert "it is not write 2 of the approved plan: quantity is" in solution.message


def test_a_planned_write_that_is_not_made_is_a_warning(shop: Shop) -> None:
    """The second run may do with less; the solution says so."""
    in_stock(shop, 2, 1)
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
