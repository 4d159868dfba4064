"""ReAct: a thought, one call, its reply, and so on until the model finishes.

Source: ReAct (arXiv:2210.03629), with functions in place of its search actions, as the ATC paper compares with it.
"""

from __future__ import annotations

from atc.models import Message
from atc.modes.actions import FINISH
from atc.modes.rules import OBSERVATION
from atc.modes.toolbox import Toolbox

__all__ = ["react"]


def react(toolbox: Toolbox) -> str:
    """Answer by one call per step. Raises: TryEnded, ModelError."""
    messages = toolbox.begin("react", "react_examples")
    names = (*toolbox.tools, FINISH)
    while True:
        action = toolbox.ask_action(messages, names)
        if action is None:
            continue
        if action.name == FINISH:
            return str(action.arguments["answer"])
        messages.append(Message("user", OBSERVATION + toolbox.call(action).text))
