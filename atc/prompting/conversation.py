"""What the model is asked after a failure: the first prompt, then each program with what went wrong (Eq. 2).

The oldest of them are shortened where that is too long; a help may ask otherwise (`atc.help`). All of it is a function
of the attempts.

Source: ATC paper (arXiv:2405.16533), Eq. 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.fault import Fault
from atc.models import Message
from atc.prompting import PREFILL, Offer, fill, tools_text
from atc.solution import Attempt
from protocols.quoting import estimate, one_line

__all__ = ["blamed_tool", "conversation", "cut", "described", "seen_attempts"]

_SHORT = 600
"""Characters of an old turn where the conversation is too long."""
_ERROR = 1000
"""Characters of an error, with the reason of a service in it, which has up to 600."""
_DOCUMENTATION = 800
"""Tokens of the documentation of one tool."""


def conversation(offer: Offer, attempts: Sequence[Attempt], *, naive: bool = False) -> list[Message]:
    """The messages to ask with after these attempts of a try, oldest first.

    Args:
        naive: Tell the error text alone.
    """
    messages = offer.messages()
    turn, most = len(messages), offer.profile.prompt_tokens
    for attempt in seen_attempts(attempts):
        messages.append(Message("assistant", f"{PREFILL}{attempt.program}\n```"))
        messages.append(Message("user", _feedback(offer, attempt, naive)))
    while turn < len(messages) - 2 and estimate("".join(message.content for message in messages)) > most:
        old = messages[turn]
        messages[turn] = Message(old.role, cut(old.content, _SHORT, "\n…"))
        turn += 1
    return messages


def seen_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts without those whose program was put right without the model: it reads the corrected one."""
    later = (*(attempt.mended for attempt in attempts[1:]), False)
    return [attempt for attempt, replaced in zip(attempts, later, strict=False) if not replaced]


def blamed_tool(attempt: Attempt) -> str | None:
    """The tool that a revision reads of: the one whose call was rejected, else the one to blame; None without blame."""
    attribution, run = attempt.attribution, attempt.run
    if attribution is None or attribution.tool is None:
        return None
    rejected = run.calls[run.error.call].tool if run and run.error and run.error.call is not None else None
    return rejected or attribution.tool


def _feedback(offer: Offer, attempt: Attempt, naive: bool) -> str:
    """What went wrong with a program, and what is known about it."""
    fault, tool = attempt.fault, blamed_tool(attempt)
    assert fault is not None, "an attempt without a fault is not revised"
    error = described(fault)
    if naive or tool is None:
        return fill("reflect_program", query=offer.asked, error=error)
    documentation = tools_text(
        [offer.graph.protocol.tool(tool)],
        offer.graph,
        offer.profile,
        sources=offer.callable_tools,
        budget=_DOCUMENTATION,
    )
    details = "\n".join(map(one_line, attempt.details))
    return fill("reflect", query=offer.asked, error=error, tool=tool, documentation=documentation, known=details)


def described(fault: Fault) -> str:
    """The error as the model reads it; what a program can make as long as it likes is cut."""
    message, kind = cut(one_line(fault.message), _ERROR, "…"), one_line(fault.type)
    snippet = [cut(line, _SHORT, "…") for line in fault.snippet.rstrip().split("\n")]
    text = f"{kind}: {message}" if message else kind
    return "\n".join([*snippet, text]) if fault.snippet else text


def cut(text: str, limit: int, mark: str) -> str:
    """A text, or its beginning with a mark where it is longer than the limit."""
    return text if len(text) <= limit else text[:limit].rstrip() + mark
