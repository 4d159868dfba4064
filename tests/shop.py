"""The service of `docs/examples/shop.yaml`, on localhost with fixed records: README and the guide are run against it.

`python -m tests.shop FOLDER COMMAND…` writes `openapi.yaml` for it to a folder, and serves while a command runs, with
the token as SHOP_TOKEN.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.json_server import JSONHandler, listening

__all__ = ["DOCUMENT", "TOKEN", "Shop", "ShopError", "serving_shop"]

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "examples" / "shop.yaml"
TOKEN = "shop-token"
LARGEST_PAGE = 50
"""Less than the document allows, as services have it: a program that believes the document has to be repaired."""
NAMES = ["Ada Moreau", "Ben Okafor", "Chloe Lindgren", "Dario Ferri", "Ewa Nowak", "Farid Haddad", "Grete Holm"]
CITIES = ["Lyon", "Leeds", "Malmö", "Turin", "Gdańsk", "Brussels", "Bergen"]
PRODUCTS = (("Desk lamp", 39.5), ("Oak shelf", 120.0), ("Wool rug", 89.9), ("Tea pot", 24.0), ("Wall clock", 45.0))
STATUSES = ("shipped", "paid", "unpaid", "shipped", "shipped", "cancelled", "shipped", "paid")
"""Repeated over the orders: eight a week from January to mid-April, so that one month takes more than one page."""


class ShopError(Exception):
    """A request that the service answers with an error: its status, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Shop:
    """The records, and what each operation does with them; every request is noted in `requests` as method and path."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.customers = [
            {"id": 11 + n, "name": name, "email": f"{name.split()[0].lower()}@mail.example", "city": CITIES[n]}
            | {"since": f"202{n % 5}-0{n + 1}-15"}
            for n, name in enumerate(NAMES)
        ]
        self.products = [
            {"id": 201 + n, "name": name, "price": price, "stock": 7 * n} for n, (name, price) in enumerate(PRODUCTS)
        ]
        self.orders = [_order(n) for n in range(120)]
        self.payments = [
            {"id": f"p{order['id']}", "orderId": order["id"], "amount": order["total"], "refunded": 0.0}
            | {"method": ("card", "transfer", "invoice")[order["id"] % 3], "paidAt": order["createdAt"]}
            for order in self.orders
            if order["status"] in ("paid", "shipped")
        ]

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]) -> object:
        """What the operation replies. Raises: ShopError."""
        self.requests.append(f"{method} {path}")
        match (method, *path.strip("/").split("/")):
            case "GET", "orders":
                return _page(sorted(self._selected(query), key=lambda order: order["createdAt"], reverse=True), query)
            case "GET", "customers":
                wanted = query.get("name", "").lower()
                return _page(
                    [customer for customer in self.customers if wanted in str(customer["name"]).lower()], query
                )
            case "GET", "orders", key, "payments":
                order = _with_id(self.orders, key)
                return [payment for payment in self.payments if payment["orderId"] == order["id"]]
            case "GET", ("orders" | "customers" | "products") as collection, key:
                return _with_id(getattr(self, collection), key)
            case "POST", "payments", key, "refund":
                return self._refund(_with_id(self.payments, key), body)
        raise ShopError(404, f"{method} {path} is no operation of this service")

    def _selected(self, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        earliest, end = (_moment(query, name) for name in ("createdFrom", "createdBefore"))
        for order in self.orders:
            created = datetime.fromisoformat(order["createdAt"])
            if (earliest is None or earliest <= created) and (end is None or created < end):
                filters = {"status": order["status"], "customerId": str(order["customerId"])}
                if all(query.get(name, value) == value for name, value in filters.items()):
                    yield order

    @staticmethod
    def _refund(payment: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
        if payment["refunded"]:
            raise ShopError(409, "the payment was given back already")
        amount = body.get("amount", payment["amount"])
        if not body.get("reason") or not 0 < amount <= payment["amount"]:
            raise ShopError(422, "a refund needs a reason, and at most the amount of the payment")
        payment["refunded"] = amount
        return payment


def _order(number: int) -> dict[str, Any]:
    product, quantity = number % 5, 1 + number % 3
    price = PRODUCTS[product][1]
    created = datetime(2026, 1, 1, 9, 30, tzinfo=UTC) + timedelta(hours=21 * number)
    status = STATUSES[number % 8]
    return {
        "id": 1001 + number,
        "status": status,
        "createdAt": _text(created),
        "customerId": 11 + number * 3 % 7,
        "lines": [{"productId": 201 + product, "quantity": quantity, "price": price}],
        "total": round(price * quantity, 2),
        "shippedAt": _text(created + timedelta(days=2)) if status == "shipped" else None,
    }


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(query: Mapping[str, str], name: str) -> datetime | None:
    if name not in query:
        return None
    try:
        moment = datetime.fromisoformat(query[name])
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ShopError(422, f"{name} must be a date and time with a time zone, such as 2026-01-01T00:00:00Z")
    return moment


def _page(rows: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, object]:
    page, size = int(query.get("page", 1)), int(query.get("pageSize", 20))
    if size > LARGEST_PAGE:
        raise ShopError(422, f"pageSize must be at most {LARGEST_PAGE}")
    pages = max(-(-len(rows) // size), 1)
    return {"items": rows[(page - 1) * size : page * size], "page": page, "pages": pages, "total": len(rows)}


def _with_id(rows: list[dict[str, Any]], key: str) -> dict[str, Any]:
    for row in rows:
        if str(row["id"]) == key:
            return row
    raise ShopError(404, f"there is no object {key}")


@contextmanager
def serving_shop(folder: Path) -> Iterator[Shop]:
    """Serve a shop on a free port of localhost; `openapi.yaml` in the folder is its document, with its address."""
    shop = Shop()

    class Handler(JSONHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.read_json()
            try:
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise ShopError(401, "no valid token")
                path = parts.path.removeprefix("/v1")
                status, reply = 200, shop.answer(self.command, path, dict(parse_qsl(parts.query)), body)
            except ShopError as error:
                status, reply = error.status, {"error": str(error)}
            self.reply(reply, status)

        do_POST = do_GET

    with listening(Handler) as url:
        text = DOCUMENT.read_text("utf-8").replace("https://api.shop.example/v1", f"{url}/v1")
        (folder / "openapi.yaml").write_text(text, "utf-8")
        yield shop


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    with serving_shop(where):
        sys.exit(subprocess.run(sys.argv[2:], env={**os.environ, "SHOP_TOKEN": TOKEN}).returncode)
