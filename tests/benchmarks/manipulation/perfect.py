"""A model that knows the labels: what the rest of the suite does and costs when nothing goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from atc.models.base import Completion, Message, Usage
from benchmarks.manipulation.environment import Environment, ManipulationTest

__all__ = ["LabelModel"]


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
