"""Read the one call that a model's message asks for.

Small models are told to write `NAME(argument=value)` and often write something near it: JSON with text after it, single
quotes, the arguments on a line of their own. What is meant is taken; what cannot be is said in one sentence.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

__all__ = ["FINISH", "GIVE_UP", "Action", "BadActionError", "read_action", "read_answer", "unknown_function"]

FINISH = "finish"
GIVE_UP = "give_up"

_ACTION = re.compile(r"^[\s*#>-]*action\b[\s*]*(?:\d+[\s*]*)?:[\s*]*", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^[\s*#>-]*(?:final )?answer[\s*]*:[\s*]*(.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMED = ("name", "action", "tool", "function", "tool_name", "api", "api_name")
_GIVEN = ("arguments", "parameters", "args", "kwargs", "action_input", "input")
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_MOST = 200  # closing brackets at which a call or an object is tried to end


@dataclass(frozen=True, slots=True)
class Action:
    """A call that is to be made; `str()` of it is a line of Python. `end` is where it ends in the message."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    positional: tuple[object, ...] = ()
    end: int = 0

    def __str__(self) -> str:
        given = [*map(repr, self.positional), *(f"{name}={value!r}" for name, value in self.arguments.items())]
        return f"{self.name}({', '.join(given)})"


class BadActionError(Exception):
    """A message that asks for nothing that can be done; the text says why."""


def read_action(text: str, names: Collection[str]) -> Action:
    """The first action of a message.

    Args:
        names: Of the functions that there are. `finish` and `give_up` are actions where they are among them; a line
            `Answer: …` is a `finish`, too.
    Raises: BadActionError.
    """
    marked, answer = _ACTION.search(text), _ANSWER.search(text)
    if answer and FINISH in names and not (marked and marked.start() < answer.start()):
        return _finished(Action(FINISH, {"answer": answer[1].strip()}, end=len(text)))
    start = marked.end() if marked else 0
    known = {name.lower(): name for name in names}
    action = _called(text, start, known) or _listed(text, start, known) or _bare(text, start, known, bool(marked))
    if action is None:
        raise BadActionError("it calls no function")
    return _finished(action) if action.name == FINISH else action


def read_answer(text: str) -> str | None:
    """What comes after `Answer:` in a message; None without it, or with nothing after it."""
    found = _ANSWER.search(text)
    return found[1].strip() or None if found else None


def _finished(action: Action) -> Action:
    """With the answer as its one argument, a text."""
    values = [*action.arguments.values(), *action.positional]
    value = action.arguments.get("answer", values[0] if values else None)
    answer = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    if not answer.strip():
        raise BadActionError(f"{FINISH} needs the answer")
    return Action(FINISH, {"answer": answer.strip()}, end=action.end)


def _called(text: str, start: int, known: Mapping[str, str]) -> Action | None:
    """`NAME(argument=value)` of a function that there is."""
    for found in _NAME.finditer(text, start):
        opened = re.match(r"\s*\(", text[found.end() :])
        if opened and found[0].lower() in known:
            inside = found.end() + opened.end()
            return _arguments(known[found[0].lower()], text, inside)
    return None


def _arguments(name: str, text: str, inside: int) -> Action:
    closings = [match.start() for match in re.finditer(r"\)", text[inside:])][:_MOST]
    for close in [*closings, len(text) - inside]:
        given = text[inside : inside + close]
        for source in (given, re.sub(r"(^|,)\s*(\w+)\s*:", r"\1 \2=", given)):
            try:
                call = ast.parse(f"f({source}\n)", mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            if isinstance(call, ast.Call):
                end = min(inside + close + 1, len(text))
                return _action(name, [_value(name, "", node) for node in call.args], call.keywords, end)
    raise BadActionError(f"the call of {name} is not written as Python, like {name}(argument=value)")


def _action(name: str, args: list[object], keywords: list[ast.keyword], end: int) -> Action:
    named: dict[str, object] = {}
    for keyword in keywords:
        value = _value(name, keyword.arg or "**", keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif isinstance(value, dict):
            named.update(value)
    if len(args) == 1 and not named and isinstance(args[0], dict):  # NAME({"argument": value})
        return Action(name, {str(key): value for key, value in args[0].items()}, end=end)
    return Action(name, named, tuple(args), end)


class _JsonNames(ast.NodeTransformer):
    """JSON's words as Python's."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node) if node.id in _WORDS else node


def _value(name: str, argument: str, node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(_JsonNames().visit(node))
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        what = f"the argument {argument}" if argument else "each argument"
        raise BadActionError(f"{what} of {name} must be a plain value like 7 or 'text', not an expression") from None
    return value


def _listed(text: str, start: int, known: Mapping[str, str]) -> Action | None:
    """A JSON object or Python dict that names the function, or holds the arguments of the one named before it."""
    for found in re.finditer(r"\{", text[start:]):
        at = start + found.start()
        data, end = _object(text, at)
        if not isinstance(data, dict):
            continue
        name, given = _named(data)
        if name is not None and name.lower() in known:
            return Action(known[name.lower()], given, end=end)
        before = [known[word.lower()] for word in _NAME.findall(text, start, at) if word.lower() in known]
        if before or len(known) == 1:
            meant = before[-1] if before else next(iter(known.values()))
            return Action(meant, {str(key): value for key, value in data.items()}, end=end)
        if name is not None:
            raise BadActionError(unknown_function(name, known.values()))
    return None


def _object(text: str, start: int) -> tuple[object, int]:
    """The object that begins there, whatever comes after it, and where it ends."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    for close in [match.end() for match in re.finditer(r"\}", text[start:])][:_MOST]:
        try:
            tree = _JsonNames().visit(ast.parse(text[start : start + close], mode="eval"))
            return ast.literal_eval(tree), start + close
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            continue
    return None, start


def _named(data: Mapping[object, object]) -> tuple[str | None, dict[str, object]]:
    """The function that an object names, and the arguments in it: nested, as a JSON text, or beside the name."""
    key = next((key for key in _NAMED if isinstance(data.get(key), (str, dict))), None)
    if key is None:
        return None, {}
    if isinstance(inner := data[key], dict):
        return _named(inner)
    found = next((data[given] for given in _GIVEN if given in data), None)
    if isinstance(found, str):
        found, _ = _object(found, 0)
    if isinstance(found, dict):
        return str(data[key]), {str(name): value for name, value in found.items()}
    rest = {str(name): value for name, value in data.items() if name != key and name not in (*_GIVEN, "thought")}
    return str(data[key]), rest


def _bare(text: str, start: int, known: Mapping[str, str], marked: bool) -> Action | None:
    """A name alone; what looks like a call of something else is told."""
    words = [(word[0], word.end()) for word in _NAME.finditer(text, start)]
    if marked and words and words[0][0].lower() in known:
        return Action(known[words[0][0].lower()], end=words[0][1])
    other = re.search(r"([A-Za-z_]\w*)\s*\(", text[start:])
    wrong = other[1] if other else words[0][0] if marked and words else None
    if wrong is not None:
        raise BadActionError(unknown_function(wrong, known.values()))
    return None


def unknown_function(name: str, tools: Iterable[str]) -> str:
    """What to say of a function that there is not."""
    known = {tool.lower(): tool for tool in tools}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"there is no function {name}" + (f"; did you mean {known[near[0]]}?" if near else "")
