"""The form that the ToolLLaMA weights were trained on: how functions are described, and how a message makes a call.

A message is `Thought: …`, `Action: NAME` and `Action Input: JSON`, a line or more each. Functions stand in the system
text, as the text of a Python list. `atc.models.chat_format` writes the conversation.

The sentences are our own. Weights want those that they were trained with: `published_prompt` takes them from a released
file, which the user has.

Source: ToolLLM (arXiv:2307.16789) and its released files.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from atc.models import Message
from benchmarks.methods.actions import BadActionError
from protocols.documents.tool_records import function_name, parameter_name, standard_name
from protocols.errors import UsageError
from protocols.model import Parameter, Protocol, Tool

__all__ = [
    "STOP",
    "ToolLlamaMessage",
    "ToolLlamaPrompt",
    "begin",
    "function_schemas",
    "own_prompt",
    "published_prompt",
    "read_message",
    "record_schema",
    "system_text",
    "tool_descriptions",
    "write_message",
]

STOP = ("\nFunction:", "\nUser:", "\nSystem:", "\nAssistant:")
"""Where a model goes on by itself with the turns that are not its own."""

_FINISH = "Finish"
_FOLDER = Path(__file__).parent
_MAX_DESCRIPTION = 256
"""Characters of the description of a function or a parameter."""
_MAX_TOOL_DESCRIPTION = 512
_PUBLISHED_TYPES = {"NUMBER": "integer", "STRING": "string", "BOOLEAN": "boolean"}
_LARGE = 64_000_000
"""Bytes of a file of which only the head is read: the training data."""
_HEAD = 4_000_000
_CONVERSATIONS = 100
"""Conversations of training data that are looked at for a described function; the first ones may have none."""

_MARKS = ("Thought", "Action", "Action Input")
_MARK = re.compile(r"^[ \t]*(Thought|Action Input|Action):", re.MULTILINE)
_AFTER = re.compile(r"[ \t]*(?:</s>|\n|$)")
_STEP_CLAUSE = re.compile(r"function call\b[^.\n]*\bstep\.")
_FORM = re.compile(r"(?<=step\.)[^\n]*\nThought:\n.*?Action Input:\n", re.DOTALL)
_FUNCTION_LIST = re.compile(r"\[\{'\w+': ")
_LISTED_TOOL = re.compile(r"\d+\.[^\n:]*:[^\n]*\n?")


@dataclass(frozen=True)
class ToolLlamaPrompt:
    """The sentences around the functions.

    Args:
        system: The system text, a template with `$tools` (a line each, the last one ended) and `$functions`.
        bare: The description of a function whose record has none; a template with `$tool`.
        described: The description of any other, with `$tool` and `$text`.
        finish: The schema of `Finish`.
        answer_system: The system text as released answer files have it, without the form of a call and the functions,
            which their preprocessing adds; a template with `$tools`. Empty where no released file was read.
        is_whole: Whether no sentence had to be added to those of a released file.
    """

    system: str
    bare: str
    described: str
    finish: Mapping[str, Any]
    answer_system: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class ToolLlamaMessage:
    """A message of the model: its thought, the function that it calls, the arguments, and these as it wrote them."""

    thought: str
    name: str
    arguments: Mapping[str, Any]
    text: str


# Functions


def function_schemas(
    protocol: Protocol, names: Mapping[str, str], prompt: ToolLlamaPrompt | None = None, *, compat: bool = False
) -> list[dict[str, Any]]:
    """The functions as the model reads them, `Finish` last.

    Each is `{name, description, parameters: {type, properties, required, optional}}`; a property has `type`,
    `description` and maybe an `example_value`. Descriptions are cut at 256 characters.

    Args:
        names: The tools to offer, by the names that the model reads.
        compat: Tools that were made of records are described as published (see `record_schema`), in the order of the
            document, and each of those that share a name.
    """
    prompt = prompt or own_prompt()
    published = [tool.record for tool in protocol.tools if tool.record and tool.operation_id in names]
    if compat and published:
        schemas = [record_schema(record, prompt) for record in published]
    else:
        tools = [(name, protocol.tool(tool)) for name, tool in names.items()]
        schemas = [_tool_schema(name, tool, _tool_of(tool, protocol), prompt) for name, tool in tools]
    return [*schemas, json.loads(json.dumps(prompt.finish))]


def record_schema(record: Mapping[str, Any], prompt: ToolLlamaPrompt | None = None) -> dict[str, Any]:
    """The published schema of a tool record, a member of a query's `api_list`, with the published defects.

    Numbers are integers, all other types are strings, and without required parameters it has none. A default stays
    what it is in JSON, a text or not.
    """
    api, tool = str(record["api_name"]), str(record["tool_name"])
    name = function_name(api, tool)
    text = str(record.get("api_description") or "").strip().replace(api, name)
    fields: dict[str, list[tuple[str, dict[str, Any]]]] = {"required": [], "optional": []}
    for group, listed in fields.items():  # not `record_parameters`: the published code lists a name twice
        for raw in (
            raw for raw in record.get(f"{group}_parameters") or () if isinstance(raw, Mapping) and raw.get("name")
        ):
            kind = _PUBLISHED_TYPES.get(str(raw.get("type")), "string")
            described = _property(kind, str(raw.get("description") or ""), raw.get("default"))
            listed.append((parameter_name(str(raw["name"])), described))
    if not fields["required"]:
        fields["optional"] = []
    return _schema(name, _describe(prompt or own_prompt(), standard_name(tool), text), **fields)


def _tool_schema(name: str, tool: Tool, owner: str, prompt: ToolLlamaPrompt) -> dict[str, Any]:
    text = (tool.description or tool.summary).strip()
    if function_name(text, owner) == name:  # the loader describes an API without description by its name
        text = ""
    return _schema(
        name,
        _describe(prompt, standard_name(owner), text),
        [_argument(parameter) for parameter in tool.arguments if parameter.required],
        [_argument(parameter) for parameter in tool.arguments if not parameter.required],
    )


def _argument(parameter: Parameter) -> tuple[str, dict[str, Any]]:
    schema = parameter.schema
    kind = schema.get("type")
    examples = schema.get("examples")
    listed = examples[0] if isinstance(examples, list) and examples else None
    example = next((value for value in (schema.get("default"), schema.get("example"), listed) if value is not None), "")
    return parameter.argument, _property(kind if isinstance(kind, str) else "string", parameter.description, example)


def _property(kind: str, description: str, example: object) -> dict[str, Any]:
    described: dict[str, Any] = {"type": kind, "description": description[:_MAX_DESCRIPTION]}
    return {**described, "example_value": example} if str(example) else described


def _schema(
    name: str, description: str, required: list[tuple[str, dict[str, Any]]], optional: list[tuple[str, dict[str, Any]]]
) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": dict([*required, *optional]),
        "required": [key for key, _ in required],
        "optional": [key for key, _ in optional],
    }
    return {"name": name, "description": description, "parameters": parameters}


def _describe(prompt: ToolLlamaPrompt, tool: str, text: str) -> str:
    template = prompt.described if text else prompt.bare
    return Template(template).substitute(tool=tool, text=text[:_MAX_DESCRIPTION])


def _tool_of(tool: Tool, protocol: Protocol) -> str:
    """The display name of the published tool that an API belongs to: its tag, else the protocol's title."""
    return tool.tags[0] if tool.tags else protocol.title


# The conversation


def tool_descriptions(protocol: Protocol, names: Iterable[str]) -> dict[str, str]:
    """The standardized names of the published tools that these tools belong to, each with its description.

    The description is that of the document, which a query's own list of APIs does not have.
    """
    owners = dict.fromkeys(standard_name(_tool_of(protocol.tool(name), protocol)) for name in names)
    return dict.fromkeys(owners, protocol.description if len(owners) == 1 else "")


def system_text(prompt: ToolLlamaPrompt, functions: Sequence[Mapping[str, Any]], tools: Mapping[str, str]) -> str:
    """The system text: the tools with their descriptions, and the functions as the text of a Python list."""
    lines = []
    for number, (name, text) in enumerate(tools.items(), start=1):
        description = text[:_MAX_TOOL_DESCRIPTION].replace("\n", "").strip() or "None"
        lines.append(f"{number}.{name}: {description}\n")
    return Template(prompt.system).substitute(tools="".join(lines), functions=str([dict(entry) for entry in functions]))


def begin(
    query: str, functions: Sequence[Mapping[str, Any]], tools: Mapping[str, str], prompt: ToolLlamaPrompt | None = None
) -> list[Message]:
    """The conversation up to the first message of the model."""
    system = system_text(prompt or own_prompt(), functions, tools)
    return [Message("system", system), Message("user", f"\n{query}\nBegin!\n")]


def write_message(thought: str, name: str, arguments: str) -> str:
    """A message with a call, as in the training data."""
    return f"\nThought: {thought}\nAction: {name}\nAction Input: {arguments}"


def read_message(text: str) -> ToolLlamaMessage:
    """Read a message. What a model writes after its call, on further lines, is left out.

    Raises: BadActionError: A part is missing or out of order, or the arguments are no JSON object.
    """
    thought, action, arguments = _marks(text)
    name = text[action.end() : arguments.start()].strip()
    if not name or re.search(r"\s", name):
        raise BadActionError("after `Action:` stands the name of one function and nothing else")
    written = text[arguments.end() :].strip()
    if not written:
        raise BadActionError("`Action Input:` is empty; without arguments it is {}", name)
    try:
        values, end = json.JSONDecoder(strict=False).raw_decode(written)
    except (ValueError, RecursionError) as error:
        raise BadActionError(f"the `Action Input:` is no JSON: {error}", name) from None
    if not isinstance(values, dict):
        raise BadActionError("the `Action Input:` is no JSON object, like {}", name)
    if not _AFTER.match(written, end):
        raise BadActionError("text follows the JSON object of `Action Input:` on its line", name)
    return ToolLlamaMessage(text[thought.end() : action.start()].strip(), name, values, written[:end])


def _marks(text: str) -> list[re.Match[str]]:
    """The marks of the three parts. Raises: BadActionError."""
    matches = list(_MARK.finditer(text))
    missing = [f"`{mark}:`" for mark in _MARKS if all(match[1] != mark for match in matches)]
    if missing:
        raise BadActionError(f"it has no {' and no '.join(missing)}")
    marks: list[re.Match[str]] = []
    for mark in _MARKS:
        start = marks[-1].end() if marks else 0
        marks += [match for match in matches if match[1] == mark and match.start() >= start][:1]
    if len(marks) < len(_MARKS):
        raise BadActionError("its parts are not in the order `Thought:`, `Action:`, `Action Input:`")
    return marks


# Prompts


@cache
def own_prompt() -> ToolLlamaPrompt:
    """The prompt in our own words."""
    return ToolLlamaPrompt(
        system=_text("system"),
        bare=_text("description").strip(),
        described=_text("described").strip(),
        finish=json.loads((_FOLDER / "toolllama_finish.json").read_text("utf-8")),
    )


@cache
def published_prompt(file: Path) -> ToolLlamaPrompt:
    """The prompt of a released file.

    Args:
        file: An answer file, whose `train_messages` and `function` are read; or the training data, whose first
            conversations are read. Only the latter has the sentences about the form of a call and about the functions:
            for an answer file these are ours.
    Raises: UsageError: The file cannot be read, or holds no such prompt.
    """
    data = _read(file)
    functions: Any = None
    if isinstance(data, Mapping):
        generation = data.get("answer_generation")
        generation = generation if isinstance(generation, Mapping) else {}
        functions = generation.get("function")
        system = _first(_first(generation.get("train_messages"))).get("content")
    else:
        system = _first(_first(data).get("conversations")).get("value")
    if not isinstance(system, str) or (isinstance(data, Mapping) and not isinstance(functions, list)):
        raise UsageError(
            f"{file} holds no published prompt; give an answer file with `train_messages` and `function`, or the "
            "training data"
        )
    listed = _FUNCTION_LIST.search(system)
    end = listed.start() if listed else len(system)
    if listed:
        functions = [*_functions(system[end:], file), *_later_functions(data, file)]
    start = system.rfind("\n1.", 0, end) + 1
    tools = re.compile(rf"(?:{_LISTED_TOOL.pattern})+").match(system, start, end) if start else None
    if tools is None:
        raise UsageError(f"{file}: the system text of its first conversation lists no tools")
    opening, closing = (part.replace("$", "$$") for part in (system[:start], system[tools.end() : end]))
    answer_system = f"{_FORM.sub('', opening, count=1)}$tools"
    if listed:
        text = f"{opening}$tools{closing}$functions"
    else:
        answer_system += closing
        hinted = _STEP_CLAUSE.sub(lambda clause: clause[0] + _text("hint").rstrip("\n"), opening, count=1)
        text = f"{hinted}$tools{closing}{_text('functions').rstrip()}"
    bare, described, finish = _descriptions(functions, file)
    is_whole = listed is not None and described != bare
    return ToolLlamaPrompt(text, bare, described, finish, answer_system, is_whole)


def _text(name: str) -> str:
    return (_FOLDER / f"toolllama_{name}.txt").read_text("utf-8")


def _read(file: Path) -> object:
    """The file as JSON; of a very large one the beginning. Raises: UsageError."""
    try:
        if file.stat().st_size <= _LARGE:
            return json.loads(file.read_text("utf-8"))
        from pydantic_core import from_json

        with file.open(encoding="utf-8") as lines:
            return from_json(lines.read(_HEAD), allow_partial=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read as JSON: {error}") from None


def _first(entries: object) -> Any:
    """The first entry of a list; an empty mapping where there is none of a usable kind."""
    entry = entries[0] if isinstance(entries, list) and entries else None
    return entry if isinstance(entry, Mapping | list) else {}


def _later_functions(data: object, file: Path) -> Iterator[Any]:
    """The functions of conversations after the first, where one may be described and the first's are not."""
    for entry in data[1:_CONVERSATIONS] if isinstance(data, list) else ():
        system = _first(entry.get("conversations") if isinstance(entry, Mapping) else None).get("value")
        listed = _FUNCTION_LIST.search(system) if isinstance(system, str) else None
        if listed:
            yield from _functions(listed.string[listed.start() :], file)


def _functions(text: str, file: Path) -> list[Any]:
    try:
        functions = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        functions = None
    if not isinstance(functions, list):
        raise UsageError(f"{file}: the functions in the system text of a conversation cannot be read")
    return functions


def _descriptions(functions: Sequence[Any], file: Path) -> tuple[str, str, Mapping[str, Any]]:
    """The templates of descriptions, and the schema of `Finish`. Raises: UsageError: They are not as published."""
    schemas = [entry.get("function", entry) for entry in functions if isinstance(entry, Mapping)]
    finish = next((schema for schema in schemas if schema.get("name") == _FINISH), None)
    if finish is None:
        raise UsageError(f"{file}: its functions have no {_FINISH}")
    bare = described = ""
    for schema in schemas:
        parts = str(schema.get("description", "")).replace("$", "$$").split('"', 3)
        if schema is finish or len(parts) < 3:
            continue
        if len(parts) == 3:
            bare = f'{parts[0]}"$tool"{parts[2]}'
        elif not described:
            described = f'{parts[0]}"$tool"{parts[2]}"$text"'
            sentence = parts[2].partition(".")
            bare = bare or f'{parts[0]}"$tool"{sentence[0]}{sentence[1]}'
    if not bare:
        raise UsageError(f"{file}: none of its functions names its tool in its description")
    return bare, described or bare, finish
