"""How calls are written in a conversation: as text, as the tool calls of an endpoint, or as ToolLLaMA was trained to.

The search is the same for all forms. A form says how the conversation begins, reads a message, and writes what came of
its calls.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.models import Completion, Message
from atc.models.base import FunctionCall, FunctionSpec, Layout
from atc.prompting import fill
from atc.search_tree import SearchStep
from benchmarks.methods.actions import FINISH, GIVE_UP, Action, BadActionError, read_action, read_answer
from benchmarks.methods.formats import toolllama
from benchmarks.methods.method_try import OBSERVATION, MethodTry, correction
from benchmarks.methods.observations import reader_name, reader_spec
from protocols.errors import UsageError
from protocols.model import Schema, Tool

__all__ = [
    "Dialogue",
    "FunctionsDialogue",
    "Reading",
    "TextDialogue",
    "ToolLlamaDialogue",
    "finish_step",
    "function_names",
]

PUBLISHED_FINISH = "Finish"
"""The one function that ends a published search, with `return_type` and `final_answer`."""

_THOUGHT = re.compile(r"^[\s*#>-]*thought[\s*]*:[\s*]*", re.IGNORECASE)
_ACTION_LINE = re.compile(r"^[\s*#>-]*action\b.*", re.IGNORECASE | re.MULTILINE | re.DOTALL)

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


def function_names(trial: MethodTry, compat: bool) -> dict[str, str]:
    """The tools by the names that the model sees: those of programs, the likeliest first.

    Under `compat` they are the published ones, in the order of the document, as a query lists them.
    """
    if not compat:
        return {name: name for name in trial.tools}
    names: dict[str, str] = {}
    for tool in trial.protocol.tools:
        if tool.name in trial.tools:
            names.setdefault(tool.operation_id or tool.name, tool.name)
    return names


@dataclass(frozen=True, slots=True)
class Reading:
    """A message of the model: its thought, its calls, and the turn of the conversation that it becomes."""

    thought: str
    actions: tuple[Action, ...]
    message: Message


class Dialogue(ABC):
    """A form of conversation; `stop` ends a message, and `functions` are offered with each request.

    `layout` is that of `atc.models.base.ModelRequest`.
    """

    stop: Sequence[str] = ()
    functions: Sequence[FunctionSpec] = ()
    layout: Layout = "chat"
    reader = ""
    """The action that shows more of a reply; empty where there is none."""
    text_answers = False
    """Whether a text without a call is the answer when the model insists on it."""

    @abstractmethod
    def begin(self) -> list[Message]:
        """The conversation up to the first message of the model."""

    @abstractmethod
    def read(self, completion: Completion) -> Reading:
        """Read a message. Raises: BadActionError: It has no usable call."""

    def prose(self, completion: Completion) -> str:
        """The text of a message without a call, as an answer; empty where it has none."""
        return "" if completion.calls else _thought_of(completion.text.strip())

    @abstractmethod
    def correct(self, completion: Completion, why: str) -> list[Message]:
        """A message without a usable call, and the answer to it."""

    @abstractmethod
    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """The results of the calls of a message, in their order."""

    def with_note(self, messages: Sequence[Message], note: str) -> list[Message]:
        """The conversation with a note at its end, for the next message alone."""
        if messages[-1].role == "user":
            return [*messages[:-1], Message("user", f"{messages[-1].content}\n\n{note}")]
        return [*messages, Message("user", note)]


class TextDialogue(Dialogue):
    """A thought and `Action: NAME(argument=value)`.

    Args:
        prompt: The template of the instruction.
        give_up: Whether a branch can be given up.
        compat: With the published finish function and names, without worked example, plans and hints.
    """

    stop = (f"\n{OBSERVATION.strip()}",)

    def __init__(self, trial: MethodTry, prompt: str, *, give_up: bool, compat: bool = False) -> None:
        self._trial = trial
        self._prompt = prompt
        self._compat = compat
        names = function_names(trial, compat)
        self.reader = "" if compat else reader_name(names)
        own = (FINISH, GIVE_UP, self.reader) if give_up else (FINISH, self.reader)
        self._names = (*names, *((PUBLISHED_FINISH,) if compat else own))

    def begin(self) -> list[Message]:
        """As `Dialogue.begin`."""
        if not self._compat:
            return self._trial.begin(self._prompt, "react_examples", reader=self.reader)
        trial = self._trial
        functions = trial.functions(bare=True)
        for published, name in function_names(trial, True).items():
            functions = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", published, functions)
        question = fill("question", tools=functions, query=trial.offer.request)
        instruction = fill("search_compat", today=trial.query.today)
        return [Message("system", instruction.strip()), Message("user", question.strip())]

    def read(self, completion: Completion) -> Reading:
        """As `Dialogue.read`."""
        text = completion.text.strip()
        action = read_action(text, self._names)
        message = text[: action.end].rstrip()
        return Reading(_thought_of(message), (action,), Message("assistant", message))

    def correct(self, completion: Completion, why: str) -> list[Message]:
        """As `Dialogue.correct`."""
        return correction(completion.text.strip(), "bad_action", why=why)

    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """As `Dialogue.observe`."""
        return [Message("user", OBSERVATION + step.observation) for step in steps]


def _thought_of(message: str) -> str:
    """The thought of a message without its action."""
    text = "" if read_answer(message) else _ACTION_LINE.sub("", message)
    return _THOUGHT.sub("", text).strip()


def finish_step(action: Action, text: str) -> SearchStep | None:
    """The step of an action that ends a branch; None for a call. An unusable published finish has code 2."""
    arguments = dict(action.arguments)
    if action.name in (FINISH, GIVE_UP):
        return SearchStep(action.name, arguments, text, code=3 if action.name == FINISH else 4)
    if action.name != PUBLISHED_FINISH:
        return None
    return_type = arguments.get("return_type")
    if return_type == "give_up_and_restart" or (return_type == "give_answer" and arguments.get("final_answer")):
        return SearchStep(action.name, arguments, text, code=3 if return_type == "give_answer" else 4)
    missing = "final_answer" if return_type == "give_answer" else "return_type"
    observation = json.dumps({"error": f"{PUBLISHED_FINISH} needs a usable {missing}", "response": ""})
    return SearchStep(action.name, arguments, text, observation, code=2)


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
        self.functions = (*(_function_spec(trial.protocol.tool(tool), name) for name, tool in tools), *own)

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


def _function_spec(tool: Tool, name: str) -> FunctionSpec:
    """A tool as a function of this name; nested parameters are shown two levels deep."""
    properties = {}
    for parameter in tool.arguments:
        visible_schema = _shown(parameter.schema, 2)
        if parameter.description:
            visible_schema["description"] = parameter.description[: _DESCRIPTION // 4]
        properties[parameter.argument] = visible_schema
    required = [parameter.argument for parameter in tool.arguments if parameter.required]
    description = (tool.description or tool.summary)[:_DESCRIPTION]
    return FunctionSpec(name, description, {"type": "object", "properties": properties, "required": required})


def _shown(schema: Schema, depth: int) -> dict[str, Any]:
    """The part of a schema that a model is shown."""
    visible_schema = {key: schema[key] for key in _KEPT if key in schema}
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(items, Mapping) and depth:
        visible_schema["items"] = _shown(items, depth - 1)
    elif visible_schema.get("type") == "array":
        visible_schema["items"] = {}
    if isinstance(properties, Mapping) and depth:
        visible_schema["properties"] = {
            key: _shown(value, depth - 1) for key, value in properties.items() if isinstance(value, Mapping)
        }
    return visible_schema


class ToolLlamaDialogue(Dialogue):
    """`Thought`, `Action` and `Action Input`, with the published finish function.

    Args:
        file: A released file whose sentences the prompt has; without it they are ours.
        compat: With the published names, and schemas with their defects; nothing of ours in the prompt.
    Raises: UsageError: The file has no such prompt, or under `compat` only a part of it.
    """

    stop = toolllama.STOP
    layout: Layout = "roles"

    def __init__(self, trial: MethodTry, file: Path | None, *, compat: bool) -> None:
        self._trial = trial
        self._compat = compat
        self._prompt = toolllama.published_prompt(file) if file else toolllama.own_prompt()
        if compat and not self._prompt.is_whole:
            raise UsageError(
                f"{file} lacks sentences of the prompt: an answer file has none about the form of a call; under "
                "--compat give training data (`conversations`), as ToolBench's preprocessing makes of answer files"
            )

    def begin(self) -> list[Message]:
        """As `Dialogue.begin`."""
        protocol = self._trial.protocol
        names = function_names(self._trial, self._compat)
        schemas = toolllama.function_schemas(protocol, names, self._prompt, compat=self._compat)
        tools = toolllama.tool_descriptions(protocol, names.values())
        return toolllama.begin(self._trial.offer.request, schemas, tools, self._prompt)

    def read(self, completion: Completion) -> Reading:
        """As `Dialogue.read`."""
        message = toolllama.read_message(completion.text)
        turn = Message("assistant", toolllama.write_message(message.thought, message.name, message.text))
        return Reading(message.thought, (Action(message.name, message.arguments),), turn)

    def correct(self, completion: Completion, why: str) -> list[Message]:
        """As `Dialogue.correct`."""
        return correction(completion.text.strip(), "bad_toolllama", why=why)

    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """As `Dialogue.observe`."""
        return [Message("tool", step.observation, name=step.name) for step in steps]
