"""Two roles that RestGPT and ConAgents share: one writes a call, one reads its reply.

Each has a short conversation of its own and sees nothing but its task; what they find out goes back in a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.models import Message
from atc.modes.actions import Action, BadActionError, read_action
from atc.modes.work import Work
from atc.prompting import templates
from protocols.render import render

__all__ = ["execute_task", "render_results"]

_CALL_TOKENS = 200
_READ_TOKENS = 200


def render_results(known: Sequence[str]) -> str:
    """What was found out, for a prompt."""
    return "\n".join(known) or "nothing"


def execute_task(work: Work, tool: str, task: str, known: Sequence[str], corrections: int) -> tuple[str, bool]:
    """Have a call written and made, and its reply read; gives what was found out, and whether anything was.

    Args:
        corrections: How often a call that failed is written again, with the error in view.
    Raises: Ended, ModelError.
    """
    documentation = render([work.graph.protocol.tool(tool)], work.graph, speaks_of=work.speaks_of, budget=800)
    text = templates.render("role_call_task", documentation=documentation, known=render_results(known), task=task)
    messages = [
        Message("system", templates.render("role_call", today=work.today).strip()),
        Message("user", text.strip()),
    ]
    while True:
        action = _written(work, tool, messages)
        if action is None:
            return f"no call of {tool} could be written", False
        seen = work.call(action)
        if seen.good:
            return _read(work, task, action, seen.text), True
        if corrections == 0:
            return seen.text, False
        corrections -= 1
        messages.append(Message("user", templates.render("role_call_failed", error=seen.text).strip()))


def _written(work: Work, tool: str, messages: list[Message]) -> Action | None:
    """The call, corrected once where it is none; the conversation grows by it."""
    for _ in range(2):
        said = work.ask(messages, max_tokens=_CALL_TOKENS)
        messages.append(Message("assistant", said or "…"))
        try:
            return read_action(said, (tool,))
        except BadActionError as error:
            text = templates.render("role_call_bad", why=str(error), tool=tool)
            messages.append(Message("user", text.strip()))
    return None


def _read(work: Work, task: str, action: Action, reply: str) -> str:
    text = templates.render("role_read_task", query=work.query, task=task, call=str(action), reply=reply)
    messages = [Message("system", templates.render("role_read").strip()), Message("user", text.strip())]
    return " ".join(work.ask(messages, max_tokens=_READ_TOKENS).split())
