"""A question as it was asked. Nothing here reads its words: what English says is a matter of help (`atc.help`)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what belongs to it.

    Args:
        text: As the user wrote it.
        context: What a chat has had before: questions, calls and answers, whose values count as given.
        before: The questions before it in a chat, oldest first.
        today: The date that the model is told, as YYYY-MM-DD.
    """

    text: str
    context: str = ""
    before: tuple[str, ...] = ()
    today: str = ""
