"""Two roles that RestGPT and ConAgents share: one writes a call, one reads its response.

Each has a short conversation of its own and sees nothing but its task; the result is a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.models import Message
from atc.prompting import fill, tools_text
from benchmarks.methods.actions import Action, BadActionError, read_action
from benchmarks.methods.call_path import Observation
from benchmarks.methods.method_try import MethodTry, conversation, correction
from benchmarks.methods.observations import render_value

__all__ = ["execute_task", "render_results"]

_CALL_TOKENS = 200
_READ_TOKENS = 200


def render_results(results: Sequence[str]) -> str:
    """The results so far, for a prompt."""
    return "\n".join(results) or "nothing"


def execute_task(trial: MethodTry, tool: str, task: str, results: Sequence[str], corrections: int) -> tuple[str, bool]:
    """Have a call written and made, and its response read; returns the result, and whether it succeeded.

    Args:
        corrections: Attempts to correct a failed call, with the error in view.
    Raises: TryEnded, ModelError.
    """
    offer = trial.offer
    tools = [trial.protocol.tool(tool)]
    documentation = tools_text(tools, trial.graph, offer.profile, speaks_of=offer.speaks_of, budget=800)
    text = fill("role_call_task", documentation=documentation, known=render_results(results), task=task)
    messages = conversation(fill("role_call", today=trial.query.today), text)
    while True:
        action = _write_call(trial, tool, messages)
        if action is None:
            return f"no call of {tool} could be written", False
        observation = trial.call(action)
        if observation.good:
            return _read_result(trial, task, action, observation), True
        if corrections == 0:
            return observation.text, False
        corrections -= 1
        messages.append(Message("user", fill("role_call_failed", error=observation.text).strip()))


def _write_call(trial: MethodTry, tool: str, messages: list[Message]) -> Action | None:
    """Have the call written, and corrected once; the conversation grows by it."""
    for _ in range(2):
        reply = trial.ask(messages, max_tokens=_CALL_TOKENS)
        try:
            action = read_action(reply, (tool,))
            messages.append(Message("assistant", reply))
            return action
        except BadActionError as error:
            messages += correction(reply, "role_call_bad", why=str(error), tool=tool)
    return None


def _read_result(trial: MethodTry, task: str, action: Action, observation: Observation) -> str:
    """What the reply says; it is read once and kept in no conversation, so that there is room for most of it."""
    reply = observation.text
    if observation.shortened and observation.call is not None:
        room = max(trial.search.max_observation, trial.offer.profile.prompt_tokens // 4)
        reply = render_value(trial.api.replies[observation.call], room, trial.wanted)
    text = fill("role_read_task", query=trial.query.text, task=task, call=str(action), reply=reply)
    messages = conversation(fill("role_read"), text)
    return " ".join(trial.ask(messages, max_tokens=_READ_TOKENS).split())
