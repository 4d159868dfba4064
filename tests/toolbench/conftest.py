"""Published data that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def examples(data: Path) -> Path:
    """StableToolBench's published samples."""
    folder = data / "stabletoolbench" / "data_example"
    if not folder.is_dir():
        pytest.skip("no StableToolBench samples")
    return folder
