"""A conversation with an API: each question knows those before it, and one journal is shared by all.

A read that an earlier turn made is answered from the journal, as long as nothing was written after it. A write is
another one in another turn, as "do it again" asks for; within a turn no program repeats it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from atc.background import awaited
from atc.interruption import Interruption
from atc.solution import Solution
from atc.turns import Turn
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Journal

__all__ = ["Chat", "ChatQuestion"]


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A question of a chat; `turns` are those before it, oldest first."""

    query: str
    tools: Sequence[str] | None
    journal: Journal
    answer_type: Any
    turns: tuple[Turn, ...]


_Answer: TypeAlias = Callable[[ChatQuestion, Interruption | None], Solution]


class Chat:
    """Questions to one agent, one after another; made by `Agent.chat`. `turns` are those so far, oldest first.

    Args:
        protocol: Of the agent. answer: Answers a question.
        journal: Where the chat is kept; one that is there goes on. In memory by default.
    Raises: UsageError: The journal is that of something else, or of another document.
    """

    def __init__(self, protocol: Protocol, answer: _Answer, journal: Path | Journal | None = None) -> None:
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
            question = ChatQuestion(query, tools, self._journal, answer_type, before)
            solution = self._answer(question, interruption)
            self._keep(before, Turn.of(solution))
            return solution
        finally:
            self._busy.release()

    def _keep(self, before: tuple[Turn, ...], turn: Turn) -> None:
        """Note a turn, which is the last one."""
        self._journal.note("chat", turn.to_json())
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
