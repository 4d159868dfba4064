"""Calls as the tool calls of an endpoint: a request offers functions, and results are messages of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from atc.models import Completion, Message
from atc.models.base import FunctionCall, FunctionSpec
from atc.prompting import fill
from atc.search_tree import SearchStep
from benchmarks.methods.actions import FINISH, GIVE_UP, Action, BadActionError
from benchmarks.methods.dialogue import PUBLISHED_FINISH, Dialogue, Reading, function_names
from benchmarks.methods.method_try import MethodTry, correction
from benchmarks.methods.reply_reader import reader_name, reader_spec
from protocols.model import Schema, Tool

__all__ = ["FunctionsDialogue", "function_spec"]

_DESCRIPTION = 1_000
"""Characters of a function's description; of a parameter's a quarter."""

_KEPT = ("type", "enum", "format", "minimum", "maximum", "default")
"""Members of a parameter's schema that a model is shown, beside its items and properties."""

_TEXT = {"type": "string"}
_FINISH = FunctionSpec(
    FINISH,
    "Give the whole answer to the question, once the results answer it.",
    {"type": "object", "properties": {"answer": _TEXT}, "required": ["answer"]},
)
_GIVE_UP = FunctionSpec(
    GIVE_UP,
    "Take back the last call, where it led nowhere; another is tried instead.",
    {"type": "object", "properties": {"reason": _TEXT}, "required": ["reason"]},
)
_PUBLISHED_FINISH = FunctionSpec(
    PUBLISHED_FINISH,
    "End with the answer (give_answer), or leave this path to begin another one (give_up_and_restart).",
    {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {**_TEXT, "description": "The whole answer, with give_answer."},
        },
        "required": ["return_type"],
    },
)


class FunctionsDialogue(Dialogue):
    """A message with a text and any number of calls.

    Args:
        give_up: Whether a branch can be given up.
        compat: With the published finish function and names, without plans and hints.
    """

    text_answers = True

    def __init__(self, trial: MethodTry, *, give_up: bool, compat: bool = False) -> None:
        self._trial = trial
        self._compat = compat
        self._give_up = give_up
        tools = [(_sendable(name, trial, tool), tool) for name, tool in function_names(trial, compat).items()]
        self._tool_names = {} if compat else dict(tools)
        self.reader = "" if compat else reader_name(dict(tools))
        own = [_PUBLISHED_FINISH] if compat else [reader_spec(self.reader), _FINISH, *([_GIVE_UP] if give_up else [])]
        self.functions = (*(function_spec(trial.protocol.tool(tool), name) for name, tool in tools), *own)

    def begin(self) -> list[Message]:
        """As `Dialogue.begin`; the text of the functions adds their results, and where identifiers come from."""
        trial = self._trial
        instruction = trial.instruction("functions_compat" if self._compat else "functions")
        query = trial.offer.request
        if not self._compat:
            query = fill("question", tools=trial.functions(), query=trial.offer.asked)
        return [Message("system", instruction), Message("user", query.strip())]

    def read(self, completion: Completion) -> Reading:
        """As `Dialogue.read`."""
        if not completion.calls:
            raise BadActionError("it calls no function")
        names = self._tool_names
        actions = tuple(
            Action(names.get(call.name, call.name), _arguments(call), id=call.id) for call in completion.calls
        )
        return Reading(completion.text.strip(), actions, completion.message())

    def correct(self, completion: Completion, why: str) -> list[Message]:
        """As `Dialogue.correct`."""
        if not completion.calls:
            return correction(completion.text.strip(), "bad_call", why=why)
        results = [Message("tool", f"Error: {why}", call_id=call.id, name=call.name) for call in completion.calls]
        return [completion.message(), *results]

    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """As `Dialogue.observe`; a call that was not made, after one that ends the branch, has no result."""
        calls = zip(reading.message.calls, steps, strict=False)
        return [Message("tool", step.observation, call_id=call.id, name=call.name) for call, step in calls]


def _sendable(name: str, trial: MethodTry, tool: str) -> str:
    """The name of a tool as an endpoint takes it: `cart_add` for the method `cart.add` of an object."""
    return name.replace(".", "_") if trial.protocol.tool(tool).function is not None else name


def _arguments(call: FunctionCall) -> Mapping[str, object]:
    """The arguments of a call. Raises: BadActionError: They are no JSON object."""
    try:
        arguments = json.loads(call.arguments or "{}", strict=False)
    except ValueError as error:
        raise BadActionError(f"the arguments of {call.name} are no JSON: {error}", call.name) from None
    if not isinstance(arguments, dict):
        raise BadActionError(f"the arguments of {call.name} are no JSON object", call.name)
    return arguments


def function_spec(tool: Tool, name: str) -> FunctionSpec:
    """A tool as a function of this name; nested parameters are shown two levels deep."""
    properties = {}
    for parameter in tool.arguments:
        shown = _shown(parameter.schema, 2)
        if parameter.description:
            shown["description"] = parameter.description[: _DESCRIPTION // 4]
        properties[parameter.argument] = shown
    required = [parameter.argument for parameter in tool.arguments if parameter.required]
    description = (tool.description or tool.summary)[:_DESCRIPTION]
    return FunctionSpec(name, description, {"type": "object", "properties": properties, "required": required})


def _shown(schema: Schema, depth: int) -> dict[str, Any]:
    """The part of a schema that a model is shown."""
    shown = {key: schema[key] for key in _KEPT if key in schema}
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(items, Mapping) and depth:
        shown["items"] = _shown(items, depth - 1)
    elif shown.get("type") == "array":
        shown["items"] = {}
    if isinstance(properties, Mapping) and depth:
        shown["properties"] = {
            key: _shown(value, depth - 1) for key, value in properties.items() if isinstance(value, Mapping)
        }
    return shown
