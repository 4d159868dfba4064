"""The task VirtualHome: activities to be written as calls of an agent, judged by the longest common subsequence.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A. By default an answer without any line is not executable;
the released evaluator takes it as executable, and so does `compat`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    GoalAction,
    ManipulationTest,
    TestScore,
    failure_of,
    subsequence_length,
)
from benchmarks.manipulation.virtualhome.grounding import (
    AGENT,
    AgentFunction,
    GroundedLine,
    agent_functions,
    call_error,
    ground,
    line_of,
)
from protocols import Protocol
from protocols.errors import UsageError

__all__ = ["VirtualHome", "likeness"]


class VirtualHome(Environment):
    """Activities of a household. The calls made are the lines compared, written down or made by a program."""

    name = "virtualhome"
    folder = Path(__file__).parent
    metric = "LCS"
    documents_shown = 10
    readable = True
    figures = ("executable",)

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._lines: list[GroundedLine] = []

    @cached_property
    def functions(self) -> Sequence[FunctionDocument]:
        """The 40 functions; what objects each takes is not said."""
        return tuple(function.document for function in agent_functions().values())

    def read_action(self, goal: str, action: str) -> GoalAction:
        """Lines of calls, as they are compared."""
        lines = ground(action)
        names = tuple(line.name for line in lines if line.name)
        if not names:
            raise UsageError(f"it calls no function of {self.name}, such as {AGENT}.Find(novel)")
        return GoalAction(goal, "\n".join(line.text for line in lines), names, "\n".join(line.quoted for line in lines))

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Start with no lines; there is nothing that a seed could vary. Returns: The goal."""
        self._test = test
        self._lines.clear()
        return test.goal

    @cached_property
    def _protocol(self) -> Protocol:
        return Protocol.from_functions({AGENT: _make_agent(self._lines)}, name=self.name)

    def protocol(self) -> Protocol:
        """The functions as methods of `Agent`, whose objects are texts."""
        return self._protocol

    def act(self, text: str) -> ActionResult:
        """Ground each line; nothing runs."""
        lines = ground(text)
        self._lines += lines
        names = tuple(line.name for line in lines if line.name)
        return ActionResult(names, error=next((line.error for line in lines if line.error), ""))

    def score(self) -> TestScore:
        """LCS with the nearest program; `executable` is 1 where every line is, `empty` where there is none.

        `executable LCS` is the same LCS, and there only where every line is executable.
        """
        test = self.test
        written = [line.text for line in self._lines]
        value = max(likeness(written, label.splitlines()) for label in test.labels)
        executable = not any(line.error for line in self._lines) and (bool(written) or self.compat)
        failure = "" if value == 1 else failure_of(executable, [line.name for line in self._lines], test)
        details = {"executable": float(executable), "empty": float(not written)}
        if executable:
            details["executable LCS"] = value
        return TestScore(value, failure, details)


def likeness(written: Sequence[str], label: Sequence[str]) -> float:
    """Lines of the longest common subsequence for each line of the longer text, from 0 to 1."""
    return subsequence_length(written, label) / max(len(written), len(label), 1)


def _make_agent(lines: list[GroundedLine]) -> object:
    """An agent with a method for each function; each call is appended to the lines, also one that raises ValueError."""
    methods = {name: _method(function, lines) for name, function in agent_functions().items()}
    return type(AGENT, (), {"__doc__": "Acts in a household.", **methods})()


def _method(function: AgentFunction, lines: list[GroundedLine]) -> Callable[..., None]:
    def call(objects: Sequence[str]) -> None:
        error = call_error(function.name, objects)
        lines.append(GroundedLine(line_of(function.name, objects), f"{AGENT}.{function.name}", error))
        if error:
            raise ValueError(error)

    def on_nothing(self: Any) -> None:
        call(())

    def on_one(self: Any, object: str) -> None:
        call((object,))

    def on_two(self: Any, object1: str, object2: str) -> None:
        call((object1, object2))

    method: Callable[..., None] = (on_nothing, on_one, on_two)[len(function.objects)]
    method.__name__, method.__qualname__ = function.name, f"{AGENT}.{function.name}"
    method.__doc__ = _docstring(function)
    return method


def _docstring(function: AgentFunction) -> str:
    """What it does, and of each argument some of the objects."""
    arguments = [
        f"    {argument}: Name of an object, such as {', '.join(objects[:3])}."
        for argument, objects in function.objects.items()
    ]
    return "\n".join([function.description, *(["", "Args:", *arguments] if arguments else [])])
