"""What several tests read: published data, and a small API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_api import LocalAPI


@pytest.fixture
def examples(data: Path) -> Path:
    """StableToolBench's published samples; a test that asks for them is marked `PUBLISHED`."""
    return data / "stabletoolbench" / "data_example"


@pytest.fixture
def weather() -> Iterator[LocalAPI]:
    """Cities, their weather, and alerts."""
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "population": 717710}]})
        api.answer("GET", "/cities/osl/weather", {"now": {"rain": True, "degrees": 7}})
        api.answer("GET", "/alerts", [])
        yield api
