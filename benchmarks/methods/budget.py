"""The limits of a try: its budget, the length of a conversation, and the exception for a try without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atc.models import Message
from protocols.text.prose import estimate

__all__ = ["OBSERVATION", "OUTPUT", "RESULT", "TryBudget", "shorten_observations"]

OBSERVATION, OUTPUT, RESULT = "Observation: ", "Output:\n", "Result: "
"""How the messages begin that may be shortened."""

_SHORTENED_LENGTH = 120
"""Characters of a shortened message."""


@dataclass(frozen=True, slots=True)
class TryBudget:
    """The budget of one try, the same for all methods; `tokens` are those read and those written together."""

    model_calls: int = 40
    tokens: int = 250_000

    def raised(self, model_calls: int) -> TryBudget:
        """The budget with so many completions, and as many more tokens; 0 leaves it as it is."""
        if not model_calls:
            return self
        return TryBudget(model_calls, max(self.tokens, self.tokens * model_calls // self.model_calls))


def shorten_observations(messages: Sequence[Message], most: int) -> Sequence[Message]:
    """The conversation with its oldest observations shortened until it has at most so many tokens."""
    shortened = list(messages)
    excess = 3 * (estimate("".join(message.content for message in shortened)) - most)
    for number, message in enumerate(shortened[:-1]):
        observed = message.role == "tool" or message.content.startswith((OBSERVATION, OUTPUT, RESULT))
        if excess > 0 and observed and len(message.content) > _SHORTENED_LENGTH:
            shortened[number] = replace(message, content=f"{message.content[:_SHORTENED_LENGTH].rstrip()}…")
            excess -= len(message.content) - len(shortened[number].content)
    return shortened
