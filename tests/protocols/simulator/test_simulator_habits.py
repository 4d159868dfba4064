"""A simulated API with other habits: uuids, cursors, basic authentication."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protocols import load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import Client, operation


def object_schema(*required: str, **properties: object) -> dict[str, object]:
    return {"type": "object", **({"required": list(required)} if required else {}), "properties": properties}


def page_of(items: object) -> dict[str, object]:
    paging = {"nextCursor": {"type": ["string", "null"]}, "hasMore": {"type": "boolean"}}
    return object_schema("data", data={"type": "array", "items": items}, **paging)


def shop_paths() -> dict:  # type: ignore[type-arg]
    text, number, whole = {"type": "string"}, {"type": "number"}, {"type": "integer"}
    uuid, mail, moment = ({"type": "string", "format": name} for name in ("uuid", "email", "date-time"))
    status = {"type": "string", "enum": ["open", "paid", "shipped"]}
    customer = object_schema("uuid", "fullName", uuid=uuid, fullName=text, email=mail, orderCount=whole)
    order_fields = {"uuid": uuid, "customerUuid": uuid, "status": status, "total": number, "createdAt": moment}
    order = object_schema("uuid", "customerUuid", "status", "total", **order_fields)
    new = object_schema("fullName", fullName=text, email=text)
    draft = object_schema("total", total=number, status=status)
    paths = {
        "/customers": {
            "get": operation("/customers", answer=page_of(customer), search=text, limit=whole, cursor=text),
            "post": operation("/customers", body=new, answer=customer, status=201),
        },
        "/customers/{uuid}": {
            "get": operation("/customers/{uuid}", answer=customer),
            "patch": operation("/customers/{uuid}", body=new, answer=customer),
            "delete": operation("/customers/{uuid}", status=204),
        },
        "/customers/{uuid}/orders": {
            "get": operation("/customers/{uuid}/orders", answer=page_of(order)),
            "post": operation("/customers/{uuid}/orders", body=draft, answer=order, status=201),
        },
        "/orders": {
            "get": operation("/orders", answer=page_of(order), status_=status, minTotal=number, maxTotal=number)
        },
        "/orders/{uuid}": {"get": operation("/orders/{uuid}", answer=order)},
    }
    paths["/orders"]["get"]["parameters"][0]["name"] = "status"
    return paths


def shop_document() -> dict:  # type: ignore[type-arg]
    """Customers and orders with uuids, cursors, basic authentication."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example.com"}],
        "security": [{"login": []}],
        "paths": shop_paths(),
        "components": {"securitySchemes": {"login": {"type": "http", "scheme": "basic"}}},
    }


@pytest.fixture
def shop() -> Iterator[Client]:
    with Simulator(load(shop_document())) as simulator:
        yield Client(simulator)


def test_things_are_created_changed_and_deleted(shop: Client) -> None:
    """POST, PATCH and DELETE on a plain collection do what their names say, under basic authentication."""
    created = shop.send("POST", "/customers", {"fullName": "Marta Kowal", "email": "marta@example.com"})
    customer = created.json()
    at = f"/customers/{customer['uuid']}"

    assert created.status_code == 201
    assert shop.get(at) == customer
    assert shop.get("/customers", search="Marta Kowal")["data"][0] == customer
    assert shop.send("PATCH", at, {"fullName": "Marta Lund"}).json()["fullName"] == "Marta Lund"
    assert (shop.get(at)["fullName"], shop.get(at)["email"]) == ("Marta Lund", "marta@example.com")
    assert shop.send("DELETE", at).status_code == 204
    assert shop.send("GET", at).status_code == 404
    assert Client(shop.simulator, signed_in=False).send("GET", at).status_code == 401


def test_orders_belong_to_their_customer(shop: Client) -> None:
    """A foreign identifier in a response and the list below the thing that it names agree."""
    for order in shop.get("/orders")["data"][:5]:
        below = shop.get(f"/customers/{order['customerUuid']}/orders")["data"]
        assert order["uuid"] in [entry["uuid"] for entry in below]
    customer = shop.get("/customers")["data"][0]["uuid"]
    order = shop.send("POST", f"/customers/{customer}/orders", {"total": 12.5, "status": "paid"}).json()
    assert order["customerUuid"] == customer
    assert shop.get(f"/orders/{order['uuid']}") == order
    below = shop.get(f"/customers/{customer}/orders")["data"]
    assert below[-1] == order
    assert {entry["customerUuid"] for entry in below} == {customer}
    assert shop.get(f"/customers/{customer}")["orderCount"] == len(below)


def test_a_cursor_leads_through_all_pages(shop: Client) -> None:
    uuids: list[str] = []
    cursor: dict[str, object] = {}
    for _ in range(30):
        page = shop.get("/customers", limit=7, **cursor)
        uuids += [entry["uuid"] for entry in page["data"]]
        if not page["hasMore"]:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(uuids) == len(set(uuids)) > 20
    assert page["nextCursor"] is None
