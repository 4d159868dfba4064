"""Our own 200 tasks over eight real documents: frozen, so that figures stay comparable."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.harness.registry import BENCHMARKS, SHIPPED
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.references import FOLDER, find_reference

TASKS = SHIPPED / "own" / "tasks.json"
FROZEN = "8853b0561618c3f885610fbaa18c2b4e64774b577110034fb3481d0ff75e2727"
"""The SHA-256 of the tasks on 2026-11-25, before the first run of a model."""
FROZEN_REFERENCES = "3f975ec8e51bc04fa71e5d278aa8eafb99442a5cae3d66c1fec4e05c2653fe04"
"""That of all references, in the order of their names."""


def test_the_tasks_are_those_that_were_frozen() -> None:
    """A change makes figures incomparable: it needs a new set, and a word in the table."""
    references = sorted((FOLDER / "own").glob("*.py"))

    assert hashlib.sha256(TASKS.read_bytes()).hexdigest() == FROZEN
    assert hashlib.sha256(b"".join(file.read_bytes() for file in references)).hexdigest() == FROZEN_REFERENCES
    assert len(references) == 200


def test_each_task_has_a_reference() -> None:
    """25 for each document, from one call to six."""
    tasks = json.loads(TASKS.read_text("utf-8"))

    assert Counter(task["dataset"] for task in tasks) == dict.fromkeys(BENCHMARKS["own"].apis, 25)
    assert all(find_reference("own", task["query"]) for task in tasks)
    assert max(sum(number for _, number in task["solution"]) for task in tasks) <= 6


@pytest.mark.document(*BENCHMARKS["own"].apis.values())
def test_the_tasks_fit_the_documents(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of a solution is an operation of its document, of those documents that are at hand."""
    monkeypatch.setenv("ATC_DATA", str(data))

    dataset = open_dataset("own", None, ())

    assert {task.domain for task in dataset.tasks} == set(dataset.protocols)
