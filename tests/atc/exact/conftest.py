"""The services that programs of the tests write to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.atc.exact.planned_orders import Shop
from tests.local_api import LocalAPI


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "oslo", "name": "Oslo"}]})
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo"})
        api.answer("GET", "/alerts", [])
        api.answer("POST", "/alerts", {"text": "Storm", "level": 3})
        yield api


@pytest.fixture
def shop() -> Iterator[Shop]:
    with LocalAPI() as api:
        yield Shop(api)
