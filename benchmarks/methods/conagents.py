"""ConAgents: three roles cooperate; one chooses function and task, one calls, one reads the response.

A failed call goes back to its author, with the error, before the first role hears of it.

Source: ConAgents (arXiv:2403.03031). Its reading role writes code that extracts values, and is corrected by that code's
errors; this one reads the response, as much of it as a quarter of a prompt holds.
"""

from __future__ import annotations

import re

from atc.models import Message
from atc.prompting import fill
from benchmarks.methods.actions import read_answer, unknown_function
from benchmarks.methods.method_try import RESULT, MethodTry, conversation, correction, method
from benchmarks.methods.roles import execute_task

__all__ = ["conagents"]

CORRECTIONS = 2
"""Attempts to correct a failed call."""

_FUNCTION = re.compile(r"^[\s*#-]*function[\s*]*:[\s*`]*(\w+)", re.IGNORECASE | re.MULTILINE)
_TASK = re.compile(r"^[\s*#-]*task[\s*]*:[\s*]*(.+)", re.IGNORECASE | re.MULTILINE)


@method()
def conagents(trial: MethodTry) -> str:
    """Answer by three roles in turns. Raises: TryEnded, ModelError."""
    lead = fill("conagents_ground", tools=trial.functions(), today=trial.query.today)
    messages = conversation(lead, f"Question: {trial.offer.asked}")
    results: list[str] = []
    while True:
        reply = trial.ask(messages, stop=(f"\n{RESULT.strip()}",), max_tokens=160)
        function, task = _FUNCTION.search(reply), _TASK.search(reply)
        if function is None and (answer := read_answer(reply)):
            return answer
        if function is None or function[1] not in trial.tools:
            why = "that gives no task" if function is None else unknown_function(function[1], trial.tools)
            messages += correction(reply, "conagents_ask", why=why)
            continue
        tool, subtask = function[1], task[1].strip() if task else trial.query.text
        result, _ = execute_task(trial, tool, subtask, results, CORRECTIONS)
        results.append(f"- {subtask}: {result}")
        messages += [Message("assistant", f"Function: {tool}\nTask: {subtask}"), Message("user", RESULT + result)]
