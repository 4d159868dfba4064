"""A change of structure changes no prompt and no solve."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests import digests


def changed(name: str, measured: Callable[[str], Mapping[str, object]]) -> list[str]:
    """The digests of a set of questions that are not as in the file."""
    stored = json.loads(digests.FILE.read_text("utf-8"))
    return digests.differences(stored[name], measured(name))


@pytest.mark.parametrize("name", digests.SHIPPED)
def test_solves_of_the_shipped_tasks_are_as_they_were(name: str) -> None:
    """The tasks that come with the package, in every mode; if that is meant: `python -m tests.digests`."""
    assert changed(name, digests.solves) == []


@pytest.mark.parametrize("name", digests.BENCHMARKS)
def test_solves_of_development_tasks_are_as_they_were(name: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The development splits, in every mode, with the mistakes that a revision is asked for."""
    monkeypatch.setenv("ATC_DATA", str(data))

    assert changed(name, digests.solves) == []


@pytest.mark.parametrize("name", digests.QUESTIONS)
def test_first_prompts_of_own_questions_are_as_they_were(
    name: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own questions over the whole APIs."""
    monkeypatch.setenv("ATC_DATA", str(data))

    assert changed(name, digests.first_prompts) == []
