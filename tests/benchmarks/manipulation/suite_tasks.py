"""The tasks of the suite as parameters of a test (one that needs an extra has its marker), and who answers them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import pytest

from atc.models.base import Completion, Message, Usage
from benchmarks.manipulation.environment import Environment, ManipulationTest, TestScore
from benchmarks.manipulation.suite import TASKS

__all__ = ["SPOILED", "SUITE", "LabelModel", "judged"]

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


class LabelModel:
    """Answers with the first label of the test that it was told of, or with its program.

    Args:
        programs: Write a program for an agent, which prints that it is done.
    """

    name = "labels"

    def __init__(self, environment: Environment, *, programs: bool = False) -> None:
        self._steps = environment.steps
        self._programs = programs
        self._answers: deque[str] = deque()

    def expect(self, test: ManipulationTest) -> None:
        """The test that is asked next."""
        label = test.labels[0]
        if self._programs:
            program = test.programs[0] if test.programs else label
            self._answers = deque([f"{program}\nprint('done')\n```"])
        else:
            self._answers = deque(label.splitlines() if self._steps > 1 else [label])

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """The next action, or nothing where there is none left."""
        text = self._answers.popleft() if self._answers else ""
        return Completion(text, Usage(model_calls=1), "stop")

    def close(self) -> None:
        """Nothing to close."""
