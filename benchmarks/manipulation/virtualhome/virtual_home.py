"""The task VirtualHome: activities to be written as calls of an agent, judged by the longest common subsequence.

No simulator runs. A line is grounded as the released evaluator does it: quotes, semicolons and a number in front of it
do not count; all that is no call of a function that there is, with objects that it takes, is not executable. By default
an answer without any line is not executable; the released evaluator takes it as executable, and so does `compat`.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A; `functions.yaml` has the functions and their objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

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
from protocols import Protocol
from protocols.errors import UsageError

__all__ = ["VirtualHome", "ground", "likeness"]

AGENT = "Agent"
"""The object whose methods the functions are."""

_CALL = re.compile(r"(?P<name>[^()]*)\((?P<arguments>[^()]*)\)")
_NOISE = re.compile(r"[\"';]")
_NUMBER = re.compile(r"^\s*\d+\.\s*")
_STOP = "Task:"


@dataclass(frozen=True, slots=True)
class AgentFunction:
    """A function: what it does, and by argument the objects that it takes."""

    name: str
    description: str
    objects: Mapping[str, tuple[str, ...]]

    @property
    def document(self) -> FunctionDocument:
        """How a prompt describes it; the objects are not listed."""
        name = f"{AGENT}.{self.name}"
        return FunctionDocument(name, f"{name}({', '.join(self.objects)})", self.description)


@dataclass(frozen=True, slots=True)
class GroundedLine:
    """A line as it is compared; `name` is that of its function, and `error` says why it is not executable."""

    text: str
    name: str = ""
    error: str = ""

    @property
    def quoted(self) -> str:
        """The line in a program, where objects are texts."""
        name, _, objects = self.text.removesuffix(")").partition("(")
        if not self.name:
            return self.text
        return line_of(name.removeprefix(f"{AGENT}."), [text for text in objects.split(", ") if text], quoted=True)


@cache
def agent_functions() -> Mapping[str, AgentFunction]:
    """The 40 functions by name."""
    data = yaml.safe_load(files(__package__).joinpath("functions.yaml").read_text("utf-8"))
    return {
        name: AgentFunction(
            name,
            str(entry["description"]),
            {argument: tuple(objects) for argument, objects in entry.items() if argument != "description"},
        )
        for name, entry in data.items()
    }


def line_of(name: str, objects: Sequence[str], quoted: bool = False) -> str:
    """A call as a line: `Agent.Find(novel)`, or for a program `Agent.Find("novel")`."""
    texts = (f'"{text}"' if quoted else text for text in objects)
    return f"{AGENT}.{name}({', '.join(texts)})"


def call_error(name: str, objects: Sequence[str]) -> str:
    """Why a function cannot be called with these objects; empty where it can."""
    function = agent_functions().get(name)
    if function is None:
        return f"there is no function {AGENT}.{name}"
    if len(objects) != len(function.objects):
        return f"{AGENT}.{name} takes {len(function.objects)} objects, not {len(objects)}"
    for (argument, allowed), text in zip(function.objects.items(), objects, strict=True):
        if text not in allowed:
            near = get_close_matches(text, allowed, n=3)
            hint = f"; it takes {', '.join(near or allowed[:3])}{'' if near else ', …'}"
            return f"{AGENT}.{name} takes no {argument} {text!r}{hint}"
    return ""


def ground(text: str) -> list[GroundedLine]:
    """The lines of an answer, up to one that begins the next task; blank ones are left out."""
    lines = []
    for line in text.splitlines():
        if line.startswith(_STOP):
            break
        if line.strip():
            lines.append(_ground(_NUMBER.sub("", _NOISE.sub("", line)).strip()))
    return lines


def _ground(line: str) -> GroundedLine:
    call = _CALL.fullmatch(line)
    if call is None:
        return GroundedLine(line, error=f"{line!r} is no call")
    owner, _, name = call["name"].strip().rpartition(".")
    objects = [text.strip() for text in call["arguments"].split(",")] if call["arguments"].strip() else []
    if owner != AGENT or name not in agent_functions():
        return GroundedLine(line, error=f"there is no function {call['name'].strip()}")
    return GroundedLine(line_of(name, objects), f"{AGENT}.{name}", call_error(name, objects))


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
    def tools(self) -> Protocol:
        """The functions as methods of `Agent`, whose objects are texts; each call is appended to the lines."""
        methods = {name: _method(function, self._lines) for name, function in agent_functions().items()}
        agent = type(AGENT, (), {"__doc__": "Acts in a household.", **methods})()
        return Protocol.from_functions({AGENT: agent}, name=self.name)

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
