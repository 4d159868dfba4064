"""RestGPT: a planner splits the question into steps, a selector chooses functions, and an executor calls them.

The planner knows the question and the results so far, but no function; the selector knows the functions; the executor
writes each call from one function's documentation and reads its response.

Source: RestGPT (arXiv:2306.06624). Its executor parses a response by code written from the response's schema; this one
reads the response, as much of it as a quarter of a prompt holds.
"""

from __future__ import annotations

import re

from atc.models import Message
from atc.prompting import fill
from benchmarks.methods.actions import read_answer
from benchmarks.methods.method_try import RESULT, MethodTry, conversation, correction, method
from benchmarks.methods.roles import execute_task, render_results

__all__ = ["restgpt"]

MOST_SELECTED = 2
"""Functions for one step of the plan."""


@method()
def restgpt(trial: MethodTry) -> str:
    """Answer by planning, selecting and executing in turns. Raises: TryEnded, ModelError."""
    plan = fill("restgpt_plan", title=trial.protocol.title, today=trial.query.today)
    messages = conversation(plan, f"Question: {trial.offer.request}")
    results: list[str] = []
    while True:
        reply = trial.ask(messages, stop=(f"\n{RESULT.strip()}",), max_tokens=120)
        task = _next_task(reply)
        if task is None and (answer := read_answer(reply)):
            return answer
        task = task or trial.query.text
        result = _execute_step(trial, task, results)
        results.append(f"- {task}: {result}")
        messages += [Message("assistant", f"Next: {task}"), Message("user", RESULT + result)]


def _next_task(reply: str) -> str | None:
    """The next step of the plan; None where the answer comes first, or the reply is empty."""
    for line in reply.splitlines():
        text = line.strip(" *#-")
        if re.match(r"(final )?answer\b", text, re.IGNORECASE):
            return None
        if task := re.sub(r"^next\W*:\s*", "", text, flags=re.IGNORECASE):
            return task
    return None


def _execute_step(trial: MethodTry, task: str, earlier_results: list[str]) -> str:
    """Execute a step of the plan and return its result."""
    results: list[str] = []
    for tool in _select_tools(trial, task, earlier_results):
        result, good = execute_task(trial, tool, task, [*earlier_results, *results], corrections=0)
        results.append(result)
        if not good:
            break
    return " ".join(results) or "no function fits that"


def _select_tools(trial: MethodTry, task: str, results: list[str]) -> list[str]:
    """The functions for a task, in the order of their calls; requested once more where none is named."""
    request = fill("restgpt_select_task", known=render_results(results), task=task)
    messages = conversation(fill("restgpt_select", tools=trial.functions()), request)
    for _ in range(2):
        reply = trial.ask(messages, max_tokens=80)
        selected = [name for name in dict.fromkeys(re.findall(r"\w+", reply)) if name in trial.tools]
        if selected:
            return selected[:MOST_SELECTED]
        messages += correction(reply, "select_none")
    return []
