"""What a model reads changes only where that is meant."""

from __future__ import annotations

from tests import prompt_snapshots


def test_prompts_are_as_they_were() -> None:
    """Ten prompts of the profiles and of the methods; if that is meant: `python -m tests.prompt_snapshots`."""
    stored = {file.stem: file.read_text("utf-8") for file in prompt_snapshots.FOLDER.glob("*.txt")}

    assert prompt_snapshots.prompts() == stored
