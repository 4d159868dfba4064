"""DFSDT: ReAct as a depth-first tree search, so that a wrong step can be taken back.

A node is a message of the model with the response to its call. Its first child is explored to the end before a second
one is requested, which has to differ from the first (pre-order, without ranking). Giving up takes back the last step.
A call cannot be undone: writes of an abandoned branch stay.

Source: ToolLLM (arXiv:2307.16789), section 2.3 and appendix A. Its depth counts nodes instead of messages, and giving
up at once ends its search; here another first step is requested.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.models import Message
from atc.modes.actions import FINISH, GIVE_UP
from atc.modes.observations import truncate
from atc.modes.rules import OBSERVATION, TryBudget, TryEnded
from atc.modes.toolbox import Toolbox
from atc.prompting import templates

__all__ = ["dfsdt"]

WIDTH = 2
"""Children of a node."""

DEPTH = 8
"""Messages on a path."""

BUDGET = TryBudget(model_calls=40, tokens=250_000)
"""Each node costs one completion, so this bounds the tree, too."""

_SIBLING_TOKENS = 60
"""Tokens of an observation in the summary of an earlier sibling."""


def dfsdt(toolbox: Toolbox) -> str:
    """Answer by a depth-first search. Raises: TryEnded, ModelError."""
    toolbox.budget = BUDGET
    answer = _search(toolbox, toolbox.begin("dfsdt", "react_examples"), 0)
    if answer is None:
        raise TryEnded("failed", "GaveUp", "every branch was given up, or grew too long")
    return answer


def _search(toolbox: Toolbox, messages: Sequence[Message], depth: int) -> str | None:
    """The answer below a node; None without one."""
    if depth == DEPTH:
        return None
    tried: list[str] = []
    for _ in range(WIDTH):
        position = toolbox.api.position()
        branch = [*messages]
        if tried:
            alternatives = templates.render("dfsdt_otherwise", tried="\n".join(tried)).strip()
            branch[-1] = Message("user", f"{messages[-1].content}\n\n{alternatives}")
        action = toolbox.ask_action(branch, (*toolbox.tools, FINISH, GIVE_UP))
        branch[len(messages) - 1] = messages[-1]
        summary = truncate(branch[-1].content, _SIBLING_TOKENS)
        if action is not None:
            if action.name == FINISH:
                return str(action.arguments["answer"])
            if action.name == GIVE_UP and depth > 0:
                return None
            if action.name == GIVE_UP:
                tried.append(str(action))
                continue
            observation = toolbox.call(action).text
            branch.append(Message("user", OBSERVATION + observation))
            summary = f"{action} -> {truncate(observation, _SIBLING_TOKENS)}"
        answer = _search(toolbox, branch, depth + 1)
        if answer is not None:
            return answer
        toolbox.api.backtrack(position, "the branch led to no answer")
        tried.append(summary)
    return None
