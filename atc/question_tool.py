"""An agent as a tool of another framework: a plain function with a name, types and a docstring, as all of them take.

The model of that framework reads the docstring, and gets a text back in any case: the answer with the doubts about it,
or why there is none.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from atc.solution import Solution
from protocols.errors import ATCError
from protocols.model import Protocol
from protocols.render import sentence

__all__ = ["async_question_tool", "question_tool"]

Function = TypeVar("Function", bound=Callable[..., object])

_log = logging.getLogger(__name__)

_LISTED = 20
"""Tools that the docstring names; more are many tokens of every request of the other framework."""
_LONGEST = 64
"""Characters of a name, the most that endpoints take for a function."""

_DOCSTRING = """Answer a question with {title}, or carry out what it asks for there. {about}

It can combine and compute as much as the question needs. {changes}

{tools}

Args:
    question: The question in plain words, with all names, dates and identifiers that it needs.
Returns: The answer as text, or why there is none."""


def question_tool(solve: Callable[[str], Solution], protocol: Protocol, changes: str) -> Callable[[str], str]:
    """A function from a question to its answer, named and documented after the protocol.

    Args:
        changes: A sentence on what it may change.
    """

    def ask(question: str) -> str:
        try:
            return _told(solve(question))
        except Exception as error:
            return _failed(error)

    return _named(ask, protocol, changes)


def async_question_tool(
    solve: Callable[[str], Awaitable[Solution]], protocol: Protocol, changes: str
) -> Callable[[str], Awaitable[str]]:
    """The same as a coroutine function."""

    async def ask(question: str) -> str:
        try:
            return _told(await solve(question))
        except Exception as error:
            return _failed(error)

    return _named(ask, protocol, changes)


def _named(function: Function, protocol: Protocol, changes: str) -> Function:
    topic = "_".join(protocol.namespaces) or protocol.title
    name = "ask_" + (re.sub(r"[^a-z0-9]+", "_", topic.lower()).strip("_") or "api")
    function.__name__ = function.__qualname__ = name[:_LONGEST].rstrip("_")
    lines = [f"- {tool.local_name}: {sentence(tool.description)}" for tool in protocol.tools[:_LISTED]]
    more = len(protocol.tools) - len(lines)
    function.__doc__ = _DOCSTRING.format(
        title=protocol.title,
        about=sentence(protocol.description),
        changes=changes,
        tools="\n".join([*lines, *([f"- and {more} operations more"] if more > 0 else [])]),
    )
    return function


def _told(solution: Solution) -> str:
    """The answer, with the reasons to doubt it in lines of their own."""
    if solution.answer is None:
        return _unanswered(solution.message)
    return "\n".join([solution.answer, *(f"Warning: {finding.warning()}" for finding in solution.findings)])


def _unanswered(reason: str) -> str:
    return f"There is no answer: {reason}"


def _failed(error: Exception) -> str:
    """The text for an error; one that is not ours is logged, since the author of the model needs its traceback."""
    if isinstance(error, ATCError):
        return _unanswered(str(error))
    _log.error("the question could not be answered", exc_info=error)
    return _unanswered(f"{type(error).__name__}: {error}")
