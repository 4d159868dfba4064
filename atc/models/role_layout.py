"""A conversation as one text, `Role: value` a turn: the layout that the ToolLLaMA weights were trained on.

A request of this layout goes to the model as it is, without its chat template, of which such weights have none.

Source: ToolLLM (arXiv:2307.16789) and its released files.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.models.base import Message

__all__ = ["role_prompt"]

_ROLES = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Function"}


def role_prompt(messages: Sequence[Message]) -> str:
    """The conversation, open for the assistant's answer, or for the rest of the prefill that it ends with.

    A turn is its role, a colon, a space and its content, and ends with a line break. The training data begin an
    answer with one, so that the open turn has it already.
    """
    prefill = messages[-1].content if messages and messages[-1].role == "assistant" else "\n"
    turns = messages[:-1] if messages and messages[-1].role == "assistant" else messages
    return "".join(f"{_turn(message)}\n" for message in turns) + f"{_ROLES['assistant']}: {prefill}"


def _turn(message: Message) -> str:
    role = f"{_ROLES[message.role]}:"
    return f"{role} {message.content}" if message.content else role
