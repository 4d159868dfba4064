"""Answers in the form that is judged: one file for each subset, an object by query id.

Its only chain of messages is `system`, `user`, then `tool` (a call with its response) and `assistant` (a thought).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from atc.files import to_json, write_text
from benchmarks.report.runs import check, object_schema
from protocols.bounded_files import read_whole
from protocols.errors import UsageError

__all__ = ["FINISH", "AnswerCall", "JudgedAnswer", "by_id", "chain", "read_converted", "write_converted"]

FINISH = "Finish"
"""The function that ends an answer."""

_GIVE_UP = "give_up_and_restart"
_TEXT: dict[str, object] = {"type": "string"}
_NODE = Draft202012Validator(
    object_schema(
        ("role", "message"),
        role={"enum": ["system", "user", "assistant", "tool"]},
        next={"type": ["array", "null"], "items": {"type": "object"}},
    )
)
_ANSWER = Draft202012Validator(
    object_schema(
        ("query", "available_tools", "answer"),
        query={"type": ["string", "array"]},
        available_tools={"type": "array", "items": {"type": ["object", "string"]}},
        answer=object_schema(
            ("method", "total_steps", "final_answer", "answer_details"),
            method=_TEXT,
            total_steps={"type": "integer"},
            final_answer=_TEXT,
            answer_details={"type": "array", "items": {"type": "object"}},
        ),
    )
)


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """A call of an answer; `arguments` and `response` are texts, `raw` is the message as it is in the file."""

    name: str
    arguments: str
    response: str
    raw: str


@dataclass(frozen=True)
class JudgedAnswer:
    """One converted answer.

    `final_answer` is the text of arguments that Finish was called with, often JSON; empty without such a call.
    `total_steps` counts all messages, `system` and `user` included.
    """

    query_id: str
    query: str
    tools: tuple[Mapping[str, Any], ...]
    method: str
    total_steps: int
    final_answer: str
    details: tuple[Mapping[str, Any], ...]

    @cached_property
    def calls(self) -> tuple[AnswerCall, ...]:
        """The calls in their order, Finish included."""
        return tuple(_call(node["message"]) for node in _walk(self.details) if node["role"] == "tool")

    @cached_property
    def tool_names(self) -> list[str]:
        """The functions that were offered."""
        return [str(_function(tool).get("name", "")) for tool in self.tools]

    @property
    def finished(self) -> bool:
        """True if the last call is Finish."""
        return bool(self.calls) and self.calls[-1].name == FINISH

    @property
    def gave_up(self) -> bool:
        """True without a final answer, and where that one gives up."""
        return not self.final_answer.strip() or _GIVE_UP in self.final_answer

    @property
    def invents_no_tool(self) -> bool:
        """True if every call names a function that was offered."""
        return {call.name for call in self.calls} <= set(self.tool_names)

    @cached_property
    def text(self) -> str:
        """The final answer as the user reads it, taken out of the arguments of Finish."""
        try:
            arguments = json.loads(self.final_answer, strict=False)
        except ValueError:
            return _cut_out(self.final_answer)
        if not isinstance(arguments, dict):
            return self.final_answer.strip()
        text = arguments.get("final_answer", "")
        return text.strip() if isinstance(text, str) else json.dumps(text, ensure_ascii=False)

    @cached_property
    def content_hash(self) -> str:
        """A hash of all that a judge may be shown of the answer, 16 hex digits."""
        shown = [self.query, self.final_answer, self.total_steps, [call.raw for call in self.calls]]
        return _hash(shown)

    @cached_property
    def task_hash(self) -> str:
        """A hash of the query and the functions, 16 hex digits: the same for the answers of all methods."""
        return _hash([self.query, [_function(tool) for tool in self.tools]])

    def steps_text(self) -> str:
        """The calls in the words of the published result files."""
        return "\n".join(f"Step {number}: {call.raw}" for number, call in enumerate(self.calls, 1))

    def final_step_text(self) -> str:
        """The last call in the words of the published result files; empty without calls."""
        return f"Final step: {self.calls[-1].raw}" if self.calls else ""

    def tool_lines(self) -> list[str]:
        """The functions but Finish, a line each: name, parameters, description."""
        return [_tool_line(_function(tool)) for tool in self.tools if _function(tool).get("name") != FINISH]

    def to_json(self) -> dict[str, Any]:
        """The published form of the answer, without its id."""
        return {
            "query": self.query,
            "available_tools": [dict(tool) for tool in self.tools],
            "answer": {
                "method": self.method,
                "total_steps": self.total_steps,
                "final_answer": self.final_answer,
                "answer_details": [dict(node) for node in self.details],
            },
        }


def read_converted(file: Path) -> dict[str, JudgedAnswer]:
    """Read a converted answer file, by query id. Raises: UsageError: It cannot be read, or is no such file."""
    try:
        data = json.loads(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file} is no converted answer file, an object by query id; make one with `atc eval convert`")
    return {query_id: _read(query_id, entry, f"{file}, query {query_id}") for query_id, entry in data.items()}


def _read(query_id: str, entry: Any, place: str) -> JudgedAnswer:
    check(entry, _ANSWER, place)
    for number, node in enumerate(_walk(entry["answer"]["answer_details"]), 1):
        check(node, _NODE, f"{place}, message {number} of answer.answer_details")
    query, answer = entry["query"], entry["answer"]
    read = JudgedAnswer(
        query_id=query_id,
        query=str(query[0] if query else "") if isinstance(query, list) else query,
        tools=tuple(tool if isinstance(tool, dict) else {"name": tool} for tool in entry["available_tools"]),
        method=answer["method"],
        total_steps=answer["total_steps"],
        final_answer=answer["final_answer"],
        details=tuple(answer["answer_details"]),
    )
    try:
        read.calls  # noqa: B018 - read once here, so that a bad message is told with its place
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise UsageError(f"{place}: answer.answer_details: a tool message holds no call: {error}") from None
    return read


def write_converted(file: Path, answers: Mapping[str, JudgedAnswer]) -> None:
    """Write a converted answer file, by query id. Raises: UsageError."""
    data = {query_id: answers[query_id].to_json() for query_id in sorted(answers, key=by_id)}
    try:
        write_text(file, to_json(data))
    except RecursionError:
        raise UsageError(f"{file} cannot be written: an answer has too many messages, each nested in another") from None


def by_id(query_id: str) -> tuple[int, str]:
    """The order of query ids: numbers by their value, before everything else."""
    return (int(query_id), "") if query_id.isascii() and query_id.isdecimal() else (10**18, query_id)


def chain(messages: Sequence[tuple[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Messages, each with its role, as the published chain: every one is the only `next` of the one before it."""
    below: list[dict[str, Any]] = []
    for role, message in reversed(messages):
        below = [{"role": role, "message": message, "next": below}]
    return tuple(below)


def _walk(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All nodes, each before those below it."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        below = node.get("next")
        waiting += reversed(below) if isinstance(below, list) else ()


def _call(message: Any) -> AnswerCall:
    """A tool message: a dictionary, or in older files the text of one."""
    data = ast.literal_eval(message) if isinstance(message, str) else message
    raw = message if isinstance(message, str) else str(message)
    return AnswerCall(str(data["name"]), _as_text(data.get("arguments", "")), _as_text(data.get("response", "")), raw)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function of a tool, in either dialect."""
    wrapped = tool.get("function")
    return wrapped if isinstance(wrapped, Mapping) else tool


def _tool_line(function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    names = ", ".join(map(str, properties)) if isinstance(properties, Mapping) else ""
    description = " ".join(str(function.get("description") or "").split())
    return f"{function.get('name', '?')}({names}): {description}"[:300]


def _cut_out(text: str) -> str:
    """The value of `final_answer` in arguments that are no JSON, such as ones that were cut off."""
    match = re.search(r'"final_answer"\s*:\s*"(.*)', text, re.DOTALL)
    return re.sub(r'"?\s*\}?\s*$', "", match[1]).strip() if match else text.strip()


def _hash(shown: object) -> str:
    text = json.dumps(shown, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
