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

    def says(self, value: object) -> bool:
        """True if it holds the text of a value, in any case, or what came before it does."""
        text = str(value).casefold()
        return text in self.text.casefold() or (bool(self.context) and text in self.context.casefold())
