"""A simulated API with other habits: uuids, cursors, basic authentication."""

from __future__ import annotations

import pytest

from protocols import load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import (
    NUMBER,
    TEXT,
    WHOLE,
    Client,
    client_of,
    described,
    list_of,
    object_of,
    operation,
)


def page_of(items: object) -> dict[str, object]:
    paging = {"nextCursor": {"type": ["string", "null"]}, "hasMore": {"type": "boolean"}}
    return object_of("data", data=list_of(items), **paging)


def shop_document() -> dict[str, object]:
    """Customers and orders with uuids, cursors, basic authentication."""
    uuid, mail, moment = ({"type": "string", "format": name} for name in ("uuid", "email", "date-time"))
    status = {"type": "string", "enum": ["open", "paid", "shipped"]}
    customer = object_of("uuid", "fullName", uuid=uuid, fullName=TEXT, email=mail, orderCount=WHOLE)
    order_fields = {"uuid": uuid, "customerUuid": uuid, "status": status, "total": NUMBER, "createdAt": moment}
    order = object_of("uuid", "customerUuid", "status", "total", **order_fields)
    new = object_of("fullName", fullName=TEXT, email=TEXT)
    draft = object_of("total", total=NUMBER, status=status)
    paths = {
        "/customers": {
            "get": operation(page_of(customer), {"search": TEXT, "limit": WHOLE, "cursor": TEXT}),
            "post": operation(customer, body=new, status=201),
        },
        "/customers/{uuid}": {
            "get": operation(customer),
            "patch": operation(customer, body=new),
            "delete": operation(status=204),
        },
        "/customers/{uuid}/orders": {
            "get": operation(page_of(order)),
            "post": operation(order, body=draft, status=201),
        },
        "/orders": {"get": operation(page_of(order), {"status": status, "minTotal": NUMBER, "maxTotal": NUMBER})},
        "/orders/{uuid}": {"get": operation(order)},
    }
    login = {"login": {"type": "http", "scheme": "basic"}}
    return {**described(paths, securitySchemes=login), "openapi": "3.1.0", "security": [{"login": []}]}


@pytest.fixture
def shop() -> Client:
    return Client(Simulator(load(shop_document())))


def test_things_are_created_changed_and_deleted(shop: Client) -> None:
    """POST, PATCH and DELETE on a plain collection do what their names say, under basic authentication."""
    created = shop.send("POST", "/customers", {"fullName": "Marta Kowal", "email": "marta@example.com"})
    customer = created.json()
    at = f"/customers/{customer['uuid']}"

    assert created.status == 201
    assert shop.get(at) == customer
    assert shop.get("/customers", search="Marta Kowal")["data"][0] == customer
    assert shop.send("PATCH", at, {"fullName": "Marta Lund"}).json()["fullName"] == "Marta Lund"
    assert (shop.get(at)["fullName"], shop.get(at)["email"]) == ("Marta Lund", "marta@example.com")
    assert shop.send("DELETE", at).status == 204
    assert shop.send("GET", at).status == 404
    assert Client(shop.simulator, signed_in=False).send("GET", at).status == 401


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


def test_keys_that_are_only_required_come_in_the_order_of_the_document() -> None:
    """The bytes of a reply are the same in each process."""
    names = ["id", *(f"part_{letter}" for letter in "hgfedcba")]
    client = client_of(described({"/boats": {"get": operation(list_of(object_of(*names, id=WHOLE)))}}))

    assert {tuple(boat) for boat in client.get("/boats")} == {tuple(names)}
