"""A conversation with an API: each question knows those before it, and one journal is shared by all.

A read that an earlier turn made is answered from the journal, as long as nothing was written after it. A write is
another one in another turn, as "do it again" asks for; within a turn no program repeats it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from atc.background import Interruption, awaited
from atc.evidence.answers import call_text
from atc.prompting import fill
from atc.query import Query
from atc.solution import Solution
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.quoting import estimate, one_line
from sandbox import Journal

__all__ = ["Chat", "Turn", "conversation_so_far", "follow_up"]

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
        """A turn from its fields in a journal. Raises: UsageError: It is none."""
        if not isinstance(data, dict) or {"limit", *data} != {entry.name for entry in fields(cls)}:
            raise UsageError("the journal is damaged; move it away and start a new one")
        return cls(**{**data, "calls": tuple(data["calls"]), "tools": tuple(data["tools"])})

    @property
    def goes_on(self) -> bool:
        """True if the same question, asked again, goes on with this turn."""
        return self.status in _GOES_ON or self.limit is not None

    def text(self) -> str:
        """The turn as the model reads it, in three lines."""
        answer = self.answer if self.answer is not None else f"none ({self.message or 'it was interrupted'})"
        return fill(
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
    return fill("earlier", turns="\n".join(texts)).strip() if texts else ""


def follow_up(query: str, turns: Sequence[Turn]) -> Query:
    """A question with those before it, and their values."""
    values = [text for turn in turns for text in (turn.query, *turn.calls, turn.answer or "")]
    return Query(query, "\n".join(values)[-_MAX_CONTEXT:], tuple(turn.query for turn in turns))


Answer: TypeAlias = Callable[[str, Sequence[str] | None, Journal, Any, Sequence[Turn], Interruption | None], Solution]
"""Answers a question: its text, tools, journal and type, the turns before it, and what may interrupt it."""


class Chat:
    """Questions to one agent, one after another; made by `Agent.chat`. `turns` are those so far, oldest first.

    Args:
        protocol: Of the agent. answer: Answers a question.
        journal: Where the chat is kept; one that is there goes on. In memory by default.
    Raises: UsageError: The journal is that of something else, or of another document.
    """

    def __init__(self, protocol: Protocol, answer: Answer, journal: Path | Journal | None = None) -> None:
        self._answer = answer
        self._own = not isinstance(journal, Journal)
        self._journal = journal if isinstance(journal, Journal) else Journal(journal)
        self._busy = threading.Lock()
        try:
            self.turns = _turns_of(self._journal, protocol)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close the journal, where this chat opened it."""
        if self._own:
            self._journal.close()

    def ask(
        self, query: str, tools: Sequence[str] | None = None, *, answer_type: Any = None, refresh: bool = False
    ) -> Solution:
        """Answer the next question.

        A question that was interrupted, whose model or API could not be had, or that reached one of its limits, goes on
        where it was when it is asked again: what it wrote is not written again.

        Args:
            tools, answer_type: As `Agent.solve` takes them.
            refresh: Make reads again that an earlier question made.
        Returns: As `Agent.solve`; a write that an earlier question made, too, is a warning.
        Raises: UsageError: As `Agent.solve`, or another question of this chat is under way.
        """
        return self._ask(query, tools, answer_type, refresh, None)

    async def aask(
        self, query: str, tools: Sequence[str] | None = None, *, answer_type: Any = None, refresh: bool = False
    ) -> Solution:
        """As `ask`, in a thread of its own; cancelling the task interrupts the question. Raises: as `ask`."""
        return await awaited(lambda _sink, interruption: self._ask(query, tools, answer_type, refresh, interruption))

    def _ask(
        self,
        query: str,
        tools: Sequence[str] | None,
        answer_type: Any,
        refresh: bool,
        interruption: Interruption | None,
    ) -> Solution:
        query = query.strip()
        if not query:
            raise UsageError("the question is empty")
        if not self._busy.acquire(blocking=False):
            raise UsageError("another question of this chat is under way; wait for its end, or start another chat")
        try:
            if self.turns and self.turns[-1].goes_on and self.turns[-1].query == query and not refresh:
                self._journal.resume_turn()
                before = self.turns[:-1]
            else:
                self._journal.begin_turn(recalls=not refresh)
                before = self.turns
            self._keep(before, Turn(query))
            solution = self._answer(query, tools, self._journal, answer_type, before, interruption)
            self._keep(before, Turn.of(solution))
            return solution
        finally:
            self._busy.release()

    def _keep(self, before: tuple[Turn, ...], turn: Turn) -> None:
        """Note a turn, which is the last one."""
        self._journal.note("chat", asdict(turn))
        self.turns = (*before, turn)


def _turns_of(journal: Journal, protocol: Protocol) -> tuple[Turn, ...]:
    """The turns that a journal has, after it was marked as that of a chat. Raises: UsageError."""
    noted = journal.noted("chat", 0)
    where = f"the journal {journal.file or 'in memory'}"
    if noted is None:
        if journal.noted("solve", 0) is not None:
            raise UsageError(f"{where} is that of one question, and of no chat; name another file")
        journal.note("chat", {"protocol": protocol.digest})
    elif noted != {"protocol": protocol.digest}:
        raise UsageError(f"{where} belongs to another document, or it has changed since; start a new chat")
    count = journal.noted("turns", 0) or 0
    return tuple(Turn.from_json(journal.noted("chat", number)) for number in range(1, count + 1))
