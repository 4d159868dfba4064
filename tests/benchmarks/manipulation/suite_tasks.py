"""The tasks of the suite as parameters of a test (one that needs an extra has its marker), and how an action fares."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from benchmarks.manipulation.environment import Environment, ManipulationTest, TestScore
from benchmarks.manipulation.suite import TASKS

__all__ = ["SPOILED", "SUITE", "judged"]

SUITE = [pytest.param(name, marks=[pytest.mark.manipulation] * (name == "sheets")) for name in TASKS]

SPOILED: Mapping[str, Callable[[str], str]] = {
    "nothing": lambda label: "",
    "prose before": lambda label: f"You can use this: {label}",
    "prose behind": lambda label: f"{label} This gives the answer.",
    "prose in lines of its own": lambda label: f"Here is the call:\n{label}\nIt gives the answer.",
    "code block": lambda label: f"```bash\n{label}\n```",
    "pipe": lambda label: f"{label} | python -m json.tool",
    "header beyond Latin-1": lambda label: f"{label} -H 'x-note: 你好'",
}
"""Texts around a right curl line that do not execute."""


def judged(environment: Environment, test: ManipulationTest, action: str, seed: int = 0) -> TestScore:
    """The score of an action, or of a program."""
    environment.reset(test, seed)
    environment.act(action)
    return environment.score()
