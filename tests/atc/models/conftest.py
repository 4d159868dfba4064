"""An endpoint for the tests of models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chat_endpoint import KEY, ChatEndpoint, serve


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    with serve() as state:
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield state
