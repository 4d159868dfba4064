"""The API that programs of the tests call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protocols.calls.credentials import BearerToken
from sandbox import Broker
from tests.local_api import Answer, LocalAPI
from tests.sandbox.runs import OSLO, SECRET


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [OSLO]})
        api.answer("GET", "/cities/oslo", OSLO)
        api.script("GET", "/cities/hang", Answer(wait=30))
        api.answer("POST", "/alerts", {"text": "Storm"})
        yield api


@pytest.fixture
def broker(api: LocalAPI) -> Iterator[Broker]:
    api.answer("POST", "/alerts", {"text": "Storm", "level": 3})
    broker = Broker(api.documented, base_url=api.url, credentials=[BearerToken(SECRET)])
    yield broker
    broker.cancel()
    broker.close()
