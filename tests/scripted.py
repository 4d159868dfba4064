"""A model for tests that need to know what it says."""

from __future__ import annotations

from collections.abc import Sequence

from atc.models import Completion, Message, Model, Usage
from atc.models.base import ModelRequest, answer
from protocols.errors import ModelError

__all__ = ["ScriptedModel", "sample"]


class ScriptedModel:
    """Writes the given answers in turn, and remembers what it was asked."""

    name = "scripted"
    profile = "small"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[Message]] = []

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.asked.append(list(messages))
        if not self.answers:
            raise ModelError("no answer left")
        return Completion(self.answers.pop(0), Usage(100, 20, 50, 1, 0.01), "stop")

    def close(self) -> None:
        """Nothing to close."""


def sample(
    model: Model, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024, seed: int
) -> Completion:
    """Sample an answer with a seed."""
    return answer(model, ModelRequest(messages, stop, max_tokens, seed))
