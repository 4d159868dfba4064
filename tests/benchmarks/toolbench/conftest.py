"""Published data that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def examples(data: Path) -> Path:
    """StableToolBench's published samples; a test that asks for them is marked `PUBLISHED`."""
    return data / "stabletoolbench" / "data_example"
