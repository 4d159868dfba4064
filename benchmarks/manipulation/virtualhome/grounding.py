"""Lines of calls and what makes one executable: a function that there is, with objects that it takes.

No simulator runs. A line is grounded as the released evaluator does it: quotes, semicolons and a number in front of it
do not count; all that is no call with such objects is not executable.

Source: Xu et al. (arXiv:2305.16504), appendix A; `functions.yaml` has the functions and their objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

import yaml

from benchmarks.manipulation.environment import FunctionDocument

__all__ = ["AGENT", "AgentFunction", "GroundedLine", "agent_functions", "call_error", "ground", "line_of"]

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
