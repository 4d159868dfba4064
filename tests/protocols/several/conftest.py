"""Two real APIs on localhost, with different secrets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from protocols import Protocol, combine
from tests.local_api import LocalAPI
from tests.protocols.several.apis import CRM, SHOP, document

SHOP_TOKEN = "shop-5f2c91aa7e"
CRM_TOKEN = "crm-77ab01d3c9"


@dataclass(frozen=True)
class TwoAPIs:
    """The servers, and the documents that name them."""

    shop: LocalAPI
    crm: LocalAPI

    @property
    def protocol(self) -> Protocol:
        return combine({"shop": document(SHOP, self.shop.url, "Shop"), "crm": document(CRM, self.crm.url, "CRM")})


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    """An API with alerts, which anybody may read and write."""
    with LocalAPI() as server:
        server.answer("GET", "/alerts", ["calm"])
        server.answer("POST", "/alerts", {"text": "storm"})
        yield server


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoAPIs]:
    """A shop and a CRM with answers; the environment has a token for each."""
    monkeypatch.setenv("SHOP_TOKEN", SHOP_TOKEN)
    monkeypatch.setenv("CRM_TOKEN", CRM_TOKEN)
    with LocalAPI() as shop, LocalAPI() as crm:
        shop.answer("GET", "/orders", [{"id": 1, "customer_id": 7, "total": 30}])
        shop.answer("POST", "/orders", {"id": 2, "customer_id": 7, "total": 0})
        crm.answer("GET", "/customers/7", {"id": 7, "name": "Ada", "email": "ada@example.com"})
        crm.answer("GET", "/orders", [{"note": "late"}])
        yield TwoAPIs(shop, crm)
