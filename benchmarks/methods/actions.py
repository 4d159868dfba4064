"""Read the one call in a model's message.

Small models are told to write `NAME(argument=value)` and often write a variant: JSON with text after it, single quotes,
arguments on lines of their own. Such calls are accepted; any other message is refused in one sentence.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

__all__ = ["FINISH", "GIVE_UP", "Action", "BadActionError", "read_action", "read_answer", "unknown_function"]

FINISH = "finish"
GIVE_UP = "give_up"

_ACTION = re.compile(r"^[\s*#>-]*action\b[\s*]*(?:\d+[\s*]*)?:[\s*]*", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^[\s*#>-]*(?:final )?answer[\s*]*:[\s*]*(.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"([A-Za-z_]\w*)(\s*\()?")
"""A word of the message; the second group is there if it may be a call, which `ast` then reads."""
_MEMBER = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)(\s*\()?")
"""The same where functions may belong to objects: `api.search`."""
_NAME_KEYS = ("name", "action", "tool", "function", "tool_name", "api", "api_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "kwargs", "action_input", "input")
_JSON_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_MAX_CLOSINGS = 200  # closing brackets at which a call or an object is tried to end


@dataclass(frozen=True, slots=True)
class Action:
    """A call to make; `str()` of it is a line of Python. `end` is its end in the message, `id` that of the model's
    function call."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    positional: tuple[object, ...] = ()
    end: int = 0
    id: str = field(default="", compare=False)

    def __str__(self) -> str:
        arguments = [*map(repr, self.positional), *(f"{name}={value!r}" for name, value in self.arguments.items())]
        return f"{self.name}({', '.join(arguments)})"


class BadActionError(Exception):
    """A message without a usable action; the text says why. `name` is the function that it calls, if it names one."""

    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


def read_action(text: str, names: Collection[str]) -> Action:
    """The first action of a message.

    Args:
        names: The functions to choose from. With `finish` and `give_up` among them, these are actions too; a line
            `Answer: …` is a `finish`.
    Raises: BadActionError.
    """
    marked, answer = _ACTION.search(text), _ANSWER.search(text)
    if answer and FINISH in names and not (marked and marked.start() < answer.start()):
        return _finish_action(Action(FINISH, {"answer": answer[1].strip()}, end=len(text)))
    start = marked.end() if marked else 0
    names_by_case = {name.lower(): name for name in names}
    action = (
        _parse_call(text, start, names_by_case)
        or _parse_json(text, start, names_by_case)
        or _parse_bare_name(text, start, names_by_case, bool(marked))
    )
    if action is None:
        raise BadActionError("it calls no function")
    return _finish_action(action) if action.name == FINISH else action


def read_answer(text: str) -> str | None:
    """The text after `Answer:` in a message; None without one."""
    match = _ANSWER.search(text)
    return match[1].strip() or None if match else None


def _finish_action(action: Action) -> Action:
    """A `finish` with the answer as its one argument, a text."""
    values = [*action.arguments.values(), *action.positional]
    value = action.arguments.get("answer", values[0] if values else None)
    answer = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    if not answer.strip():
        raise BadActionError(f"{FINISH} needs the answer")
    return Action(FINISH, {"answer": answer.strip()}, end=action.end)


def _parse_call(text: str, start: int, names_by_case: Mapping[str, str]) -> Action | None:
    """Parse `NAME(argument=value)` of a known function."""
    for match in _word_pattern(names_by_case).finditer(text, start):
        if match[2] and match[1].lower() in names_by_case:
            return _parse_arguments(names_by_case[match[1].lower()], text, match.end())
    return None


def _word_pattern(names: Iterable[str]) -> re.Pattern[str]:
    return _MEMBER if any("." in name for name in names) else _NAME


def _parse_arguments(name: str, text: str, start: int) -> Action:
    for end in _ends(text, start, ")"):
        source = text[start:end].removesuffix(")")
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            match ast.parse(f"f({source}\n)", mode="eval").body:
                case ast.Call(args=args, keywords=keywords):
                    return _build_action(name, [_literal(name, "", node) for node in args], keywords, end)
    raise BadActionError(f"the call of {name} is not written as Python, like {name}(argument=value)")


def _ends(text: str, start: int, closing: str) -> Iterator[int]:
    """Where a call or an object may end: behind each closing bracket, and at the end of the text."""
    closings = (place + 1 for place in range(start, len(text)) if text[place] == closing)
    yield from itertools.islice(closings, _MAX_CLOSINGS)
    yield len(text)


def _build_action(name: str, args: list[object], keywords: list[ast.keyword], end: int) -> Action:
    named: dict[str, object] = {}
    for keyword in keywords:
        value = _literal(name, keyword.arg or "**", keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif isinstance(value, dict):
            named.update(value)
    if len(args) == 1 and not named and isinstance(args[0], dict):  # NAME({"argument": value})
        return Action(name, {str(key): value for key, value in args[0].items()}, end=end)
    return Action(name, named, tuple(args), end)


class _JsonNames(ast.NodeTransformer):
    """Replaces JSON's literals with Python's."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_JSON_LITERALS[node.id]), node) if node.id in _JSON_LITERALS else node


def _literal(name: str, argument: str, node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(_JsonNames().visit(node))
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        subject = f"the argument {argument}" if argument else "each argument"
        raise BadActionError(f"{subject} of {name} must be a plain value like 7 or 'text', not an expression") from None
    return value


def _parse_json(text: str, start: int, names_by_case: Mapping[str, str]) -> Action | None:
    """Parse a JSON object or Python dict that names the function, or holds the arguments of the one named before it."""
    for position in (place for place in range(start, len(text)) if text[place] == "{"):
        data, end = _read_object(text, position)
        if not isinstance(data, dict):
            continue
        name, arguments = _parse_fields(data)
        if name is not None and name.lower() in names_by_case:
            return Action(names_by_case[name.lower()], arguments, end=end)
        words = [word.lower() for word, _ in _word_pattern(names_by_case).findall(text, start, position)]
        before = [names_by_case[word] for word in words if word in names_by_case]
        if before or len(names_by_case) == 1:
            intended_name = before[-1] if before else next(iter(names_by_case.values()))
            return Action(intended_name, {str(key): value for key, value in data.items()}, end=end)
        if name is not None:
            raise BadActionError(unknown_function(name, names_by_case.values()), name)
    return None


def _read_object(text: str, start: int) -> tuple[object, int]:
    """The object at a position, whatever follows it, and its end."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    for end in _ends(text, start, "}"):
        with suppress(SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            return ast.literal_eval(_JsonNames().visit(ast.parse(text[start:end], mode="eval"))), end
    return None, start


def _parse_fields(data: Mapping[object, object]) -> tuple[str | None, dict[str, object]]:
    """The function that an object names, and its arguments: nested, as a JSON text, or beside the name."""
    key = next((key for key in _NAME_KEYS if isinstance(data.get(key), (str, dict))), None)
    if key is None:
        return None, {}
    if isinstance(inner := data[key], dict):
        return _parse_fields(inner)
    arguments = next((data[argument_key] for argument_key in _ARGUMENT_KEYS if argument_key in data), None)
    if isinstance(arguments, str):
        arguments, _ = _read_object(arguments, 0)
    if isinstance(arguments, dict):
        return str(data[key]), {str(name): value for name, value in arguments.items()}
    rest = {
        str(name): value for name, value in data.items() if name != key and name not in (*_ARGUMENT_KEYS, "thought")
    }
    return str(data[key]), rest


def _parse_bare_name(text: str, start: int, names_by_case: Mapping[str, str], marked: bool) -> Action | None:
    """Parse a name alone. Raises: BadActionError: The text calls an unknown function."""
    words = list(_word_pattern(names_by_case).finditer(text, start))
    if marked and words and words[0][1].lower() in names_by_case:
        return Action(names_by_case[words[0][1].lower()], end=words[0].end(1))
    unknown_name = next((word[1] for word in words if word[2]), words[0][1] if marked and words else None)
    if unknown_name is not None:
        raise BadActionError(unknown_function(unknown_name, names_by_case.values()), unknown_name)
    return None


def unknown_function(name: str, tools: Iterable[str]) -> str:
    """The error message for an unknown function."""
    names = {tool.lower(): tool for tool in tools}
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f"there is no function {name}" + (f"; did you mean {names[near[0]]}?" if near else "")
