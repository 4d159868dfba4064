"""A model whose replies are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atc.models import Completion, Message, Usage

__all__ = ["ScriptedModel"]


@dataclass
class ScriptedModel:
    """Replies by a function of the messages; `count` gives the tokens of a text, without marks between messages."""

    name: str
    reply: Callable[[Sequence[Message]], str]
    count: Callable[[str], int] = len

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """The next reply."""
        text = self.reply(messages)
        read = sum(self.count(message.content) for message in messages)
        return Completion(text, Usage(read, self.count(text), 0, 1, 0.0), "stop")

    def close(self) -> None:
        """Nothing is held."""
