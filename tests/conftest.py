"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real benchmark data: `ATC_DATA`, else `../shared/data` beside the checkout."""
    folder = Path(os.environ.get("ATC_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "restbench").is_dir():
        pytest.skip(f"no benchmark data at {folder}: set ATC_DATA to a folder that holds restbench/")
    return folder


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings; models stay where they are, to be downloaded once."""
    monkeypatch.delenv("ATC_MODEL", raising=False)
