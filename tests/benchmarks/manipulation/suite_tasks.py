"""The tasks of the suite as parameters of a test (one that needs an extra has its marker), and how an action fares."""

from __future__ import annotations

import pytest

from benchmarks.manipulation.environment import Environment, ManipulationTest, TestScore
from benchmarks.manipulation.suite import TASKS

__all__ = ["SUITE", "judged"]

SUITE = [pytest.param(name, marks=[pytest.mark.manipulation] * (name == "sheets")) for name in TASKS]


def judged(environment: Environment, test: ManipulationTest, action: str, seed: int = 0) -> TestScore:
    """The score of an action, or of a program."""
    environment.reset(test, seed)
    environment.act(action)
    return environment.score()
