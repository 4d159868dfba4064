"""The tests of loading neither read nor write the user's cache."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATC_HOME", str(tmp_path_factory.getbasetemp() / "atc-home"))
