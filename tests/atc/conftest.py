"""The API that an agent's programs call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.local_api import LocalAPI


@pytest.fixture
def weather() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "population": 717710}]})
        api.answer("GET", "/cities/osl/weather", {"now": {"rain": True, "degrees": 7}})
        yield api


@pytest.fixture
def towns(weather: LocalAPI) -> LocalAPI:
    """A service that takes alerts, too."""
    weather.answer("POST", "/alerts", {"text": "storm", "level": 2})
    return weather


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
