"""Orders that are planned writes: the shop that takes them, who approves them, and solves that make them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from atc import Agent, Solution
from protocols import Protocol, load
from sandbox import Journal
from sandbox.egress.write_plan import WritePlan
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


def solved(
    shop: Shop,
    *programs: str,
    approval: Callable[[WritePlan], bool] | None = None,
    journal: Journal | None = None,
    **options: Any,
) -> Solution:
    """A solve whose model writes these programs in turn."""
    options = {"mode": "naive", "ablate": ["check"], **options}
    model = ScriptedModel(*programs)
    with Agent(shop.protocol, model=model, writes="plan", confirm_plan=approval, **options) as agent:
        return agent.solve(QUESTION, journal=journal)
