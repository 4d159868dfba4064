"""Constraints of a tool's arguments that its calls show and its document lacks: required in practice, allowed values,
defaults, and page sizes.

Each comes with its evidence; none is a guess of a model.

Services report a missing argument in many ways: `{"path": ["This field is required."]}`, a `loc` of a validator, a JSON
pointer, or a sentence such as `Missing field in JSON data: path`. Searching for the tool's own argument names covers
them without knowing any framework's format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from protocols.model import Parameter, Schema, Tool
from protocols.text.words import NAMES, SIZES, words

__all__ = ["Constraint", "ObservedCall", "infer_constraints", "missing_arguments"]

_MISSING = re.compile(
    r"\b(?:required|missing|mandatory|must (?:be (?:given|provided|set|present|specified)|have|include|contain)"
    r"|(?:can ?not|can't|may not|must not|should not) be (?:empty|blank|null)|not (?:given|provided|specified|supplied)"
    r"|should (?:be (?:given|provided|set|present|specified)|have|include|contain)"
    r"|(?:please|must|have to|need to|to) (?:provide|specify|supply|pass|give|set|choose)"
    r"|(?:provide|specify) (?:a|an|at|either|one)"
    r"|need(?:s|ed)?|expected|invalid_type|blank)\b",
    re.IGNORECASE,
)
"""Words of an error about an argument that may be missing: it is tried next."""
_REQUIRED = re.compile(
    r"\b(required|missing|must be (?:given|provided|set|present)|mandatory|cannot be (?:empty|blank))\b"
)
"""Words of an error that are sure enough for `required` in a document: "provide either a or b" needs neither."""
_MAX_DEPTH = 8
_ALLOWED_VALUES = re.compile(
    r"\b(?:one of|allowed values are|valid (?:values|options) are|permitted:|either)[:\s]+(.+)", re.I
)
_VALUE = re.compile(r"[\w.:+/-]+")
_INVALID_STATUSES = (400, 422)
_PAGING = SIZES | NAMES["offsets"] | NAMES["pages"]
"""Words of paging arguments, whose value a response repeats."""
_TOTALS = frozenset({"total", "totalresults", "totalcount", "totalitems", "count"})


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call of a tool with its response; `problem` says why it has no answer, empty if it has one."""

    arguments: Mapping[str, object]
    status: int | None
    body: object
    problem: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of an argument, or of the pages of a list (`argument` is None).

    required: calls need it; values: the allowed ones; default: the value without it; page_size: items of a page.
    """

    kind: Literal["required", "values", "default", "page_size"]
    argument: str | None
    value: object
    evidence: str


def infer_constraints(tool: Tool, calls: Sequence[ObservedCall]) -> list[Constraint]:
    """The constraints that calls of a tool show and its document lacks."""
    good = [call for call in calls if call.status is not None and call.status < 300 and not call.problem]
    refused = [call for call in calls if call.status in _INVALID_STATUSES]
    held: list[Constraint] = []
    for parameter in tool.arguments:
        held += _required(parameter, good, refused)
        held += _values(parameter, refused)
        held += _default(parameter, good)
    return held + list(_page_size(tool, good))


def _required(parameter: Parameter, good: Sequence[ObservedCall], bad: Sequence[ObservedCall]) -> Iterator[Constraint]:
    """An argument that no successful call lacks, and whose absence made a call fail."""
    if parameter.required or any(parameter.argument not in call.arguments for call in good):
        return
    name = parameter.argument
    for call in bad:
        if name in call.arguments:
            continue
        demanded = _mentions(call.problem, parameter) and _REQUIRED.search(call.problem.lower()) is not None
        if demanded or any(later.arguments == {**call.arguments, name: later.arguments[name]} for later in good):
            yield Constraint("required", parameter.argument, True, f"{call.status} without it: {call.problem}")
            return


def _values(parameter: Parameter, refused: Sequence[ObservedCall]) -> Iterator[Constraint]:
    """The allowed values that a refusal lists."""
    if "enum" in parameter.schema or "enum" in _items(parameter.schema):
        return
    for call in refused:
        listed = _ALLOWED_VALUES.search(call.problem)
        if listed is None or parameter.argument not in call.arguments:
            continue
        if not _mentions(call.problem[: listed.start()], parameter):
            continue
        values = [value for value in _VALUE.findall(listed[1]) if value not in ("and", "or")]
        values = [value.rstrip(".:") for value in values]
        if len(values) > 1 and str(call.arguments[parameter.argument]) not in values:
            yield Constraint("values", parameter.argument, values, f"{call.status}: {call.problem}")
            return


def _items(schema: Schema) -> Schema:
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def _default(parameter: Parameter, good: Sequence[ObservedCall]) -> Iterator[Constraint]:
    """The default that responses repeat under the argument's name.

    Except for paging, a call with the argument must have been repeated too.
    """
    if parameter.required or "default" in parameter.schema:
        return
    bodies = [(call.arguments.get(parameter.argument), call.body) for call in good if isinstance(call.body, Mapping)]
    values = [(argument, body.get(parameter.name)) for argument, body in bodies]
    echoed = [(argument, value) for argument, value in values if isinstance(value, str | int | float)]
    defaults = [value for argument, value in echoed if argument is None]
    repeats = [argument == value for argument, value in echoed if argument is not None]
    agree = all(value == defaults[0] for value in defaults)
    if defaults and agree and all(repeats) and (repeats or _PAGING.intersection(words(parameter.name))):
        answers = f"{len(defaults)} answers without it say" if len(defaults) > 1 else "an answer without it says"
        yield Constraint("default", parameter.argument, defaults[0], f"{answers} {defaults[0]!r}")


def _page_size(tool: Tool, good: Sequence[ObservedCall]) -> Iterator[Constraint]:
    """The number of items of a page without a size argument, from a response with a larger total."""
    sizes = [parameter.argument for parameter in tool.arguments if SIZES.intersection(words(parameter.name))]
    full = []
    for call in good:
        if not isinstance(call.body, Mapping) or any(name in call.arguments for name in sizes):
            continue
        lists = [len(part) for part in call.body.values() if isinstance(part, list)]
        totals = [part for key, part in call.body.items() if "".join(words(str(key))) in _TOTALS]
        if len(lists) == 1 and len(totals) == 1 and isinstance(totals[0], int) and 0 < lists[0] < totals[0]:
            full.append((lists[0], totals[0]))
    if full and len({count for count, _ in full}) == 1:
        yield Constraint("page_size", None, full[0][0], f"{full[0][0]} of {full[0][1]} items came")


def missing_arguments(tool: Tool, body: object, text: str = "") -> list[str]:
    """The arguments of a tool that an error reports as missing, in signature order.

    Args:
        body: The body of the reply.
        text: The error as text, if there is no body.
    """
    reply = _parsed(body)
    names = {argument.name.lower(): argument for argument in tool.arguments}
    missing: set[str] = set()
    for keys, sentence in (*_sentences(reply, ()), ((), text)):
        if _MISSING.search(sentence) is None:
            continue
        missing |= {argument.argument for argument in tool.arguments if _mentions(sentence, argument)}
        missing |= {names[key.lower()].argument for key in keys if key.lower() in names}
    return [argument.argument for argument in tool.arguments if argument.argument in missing]


def _parsed(body: object) -> object:
    """Parse a text body that holds JSON."""
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _sentences(value: object, keys: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text in a body, with the keys above it and the short texts beside it: a `loc`, a `field`, a pointer."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield keys, value
    elif isinstance(value, Mapping):
        beside = tuple(name for part in value.values() for name in _names(part))
        for key, part in value.items():
            yield from _sentences(part, (*keys, str(key), *beside), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _sentences(part, keys, depth + 1)


def _names(value: object) -> Iterator[str]:
    """Candidate argument names in a value beside a message: one word, a list of words, the end of a pointer."""
    if isinstance(value, str) and value and " " not in value:
        yield re.split(r"[/.]", value.rstrip("/"))[-1]
    elif isinstance(value, list) and value and all(isinstance(part, str | int) for part in value):
        yield str(value[-1])
    elif isinstance(value, Mapping):
        for part in value.values():
            if isinstance(part, str):
                yield from _names(part)


def _mentions(text: str, parameter: Parameter) -> bool:
    """True if a text contains the name of an argument as a word."""
    name = re.escape(parameter.name.lower())
    return re.search(rf"(?<![\w-]){name}(?![\w-])", text.lower()) is not None
