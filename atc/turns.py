"""The turns of a chat: each question with what came of it, in short, for the prompts and the rules of the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from atc.evidence.answers import call_text
from atc.prompting import templates
from atc.query import Query
from atc.solution import Solution
from protocols.errors import UsageError
from protocols.quoting import one_line
from protocols.text.prose import estimate

__all__ = ["Turn", "conversation_so_far", "follow_up"]

_GOES_ON = ("", "model_error", "api_error", "interrupted", "refused")
"""Outcomes after which the same question goes on where it was: nothing has been answered for good."""
_MAX_CALLS = 8
"""Calls of a turn that are told."""
_MAX_CALL, _MAX_ANSWER, _MAX_QUERY = 120, 600, 400
"""Characters of a call, of an answer and of a question in a prompt."""
_MAX_CONTEXT = 20_000
"""Characters of earlier turns whose values count as given."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a chat and what came of it.

    `status` and `limit` are the solution's; the status is empty while there is none. `calls` are the last program's, as
    it might have written them, and `tools` the tools that it called.
    """

    query: str
    status: str = ""
    answer: str | None = None
    message: str = ""
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    limit: str | None = None

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """The turn that a solution ended."""
        calls = [call for call in solution.calls if call.status in range(200, 300)]
        described = [f"{call_text(call)}{' (written)' if call.writes else ''}" for call in calls[:_MAX_CALLS]]
        if len(calls) > _MAX_CALLS:
            described.append(f"and {len(calls) - _MAX_CALLS} more")
        tools = tuple(dict.fromkeys(call.tool for call in calls if call.tool))
        return cls(
            solution.query, solution.status, solution.answer, solution.message, tuple(described), tools, solution.limit
        )

    @classmethod
    def from_json(cls, data: object) -> Self:
        """A turn as `to_json` wrote it. Raises: UsageError: It is none."""
        if not isinstance(data, dict) or {"limit", *data} != {entry.name for entry in fields(cls)}:
            raise UsageError("the journal is damaged; move it away and start a new one")
        return cls(**{**data, "calls": tuple(data["calls"]), "tools": tuple(data["tools"])})

    def to_json(self) -> Mapping[str, Any]:
        """Plain data for a journal."""
        return asdict(self)

    @property
    def goes_on(self) -> bool:
        """True if the same question, asked again, goes on with this turn."""
        return self.status in _GOES_ON or self.limit is not None

    def text(self) -> str:
        """The turn as the model reads it, in three lines."""
        answer = self.answer if self.answer is not None else f"none ({self.message or 'it was interrupted'})"
        return templates.render(
            "turn",
            query=one_line(self.query, _MAX_QUERY),
            calls=", ".join(one_line(call, _MAX_CALL) for call in self.calls) or "nothing",
            answer=one_line(answer, _MAX_ANSWER),
        ).strip()


def conversation_so_far(turns: Sequence[Turn], tokens: int) -> str:
    """The latest turns that fit into so many tokens, for a prompt; empty without one."""
    texts: list[str] = []
    for turn in reversed(turns):
        tokens -= estimate(turn.text())
        if tokens < 0:
            break
        texts.insert(0, turn.text())
    return templates.render("earlier", turns="\n".join(texts)).strip() if texts else ""


def follow_up(query: str, turns: Sequence[Turn]) -> Query:
    """A question with those before it, and their values."""
    values = [text for turn in turns for text in (turn.query, *turn.calls, turn.answer or "")]
    return Query(query, "\n".join(values)[-_MAX_CONTEXT:], tuple(turn.query for turn in turns))
