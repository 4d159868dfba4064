"""Check that a write has a reason in the question: the program uses the named values, and the question asks for action.

A program may find the wrong entity, or take the first of a list, and write to it. So each value that the question
quotes, and each path, number and identifier, has to be a literal of the program or an argument of a call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from atc.assist.language.question import Question
from atc.program.source import parsed
from atc.program.tree import nodes_of
from protocols.dataflow.operations import looks_like_read
from protocols.json_path import leaves, nodes
from protocols.model import Protocol, Tool
from protocols.schema_fields import fields
from protocols.text.words import is_identifier, words
from sandbox.records import CallRecord

__all__ = ["PLACEHOLDER", "challenge_write", "intent_mismatch", "is_dated", "missing_names"]

PLACEHOLDER = re.compile(r"[.…?_<>\s-]*(?:…|\.\.\.|<>)[.…?_<>\s-]*")
"""A text that stands for another one."""

_DATE = re.compile(r"(?<![\d.])(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?![\d.])")
_DATE_PARTS = 3
_FIRST_YEAR = 1000
"""The least number of a date that is its year."""

_Date = tuple[int, ...]
"""The three numbers of a date, the least one first: in which order a value has them is up to its class."""

_MINOR_UNITS = (1, 100, 1000)
"""What an amount is multiplied with where a service counts in cents: 24.99 becomes 2499."""


def missing_names(question: Question, program: str, calls: Iterable[CallRecord] = ()) -> list[str]:
    """The named values that neither the program holds nor a call received."""
    names = dict.fromkeys([*question.named_values, *question.codes])
    if not names:
        return []
    calls = list(calls)
    constants = [node.value for node in nodes_of(parsed(program) or ast.Module([], []), ast.Constant)]
    sent = [value for call in calls for _, value in leaves(call.arguments)]
    values = [*constants, *(part.decode("utf-8", "replace") if isinstance(part, bytes) else part for part in sent)]
    texts = [_fold(value) for value in values if isinstance(value, str)]
    numbers = {float(value) for value in values if isinstance(value, int | float)}
    missing = [name for name in names if not _is_used(name, texts, numbers)]
    return [name for name in missing if not is_dated(name, program, calls)] if missing else []


def _is_used(name: str, texts: Sequence[str], numbers: set[float]) -> bool:
    if any(_fold(name) in text for text in texts):
        return True
    try:
        return any(round(float(name) * factor, 6) in numbers for factor in _MINOR_UNITS)
    except ValueError:
        parts = [_fold(part) for part in name.split("/") if part]  # a folder and what lies in it, given apart
        return len(parts) > 1 and all(any(part in text for text in texts) for part in parts)


def is_dated(text: str, program: str, calls: Sequence[CallRecord] = ()) -> bool:
    """True if a text is a date, and a value of the program or an argument of a call has the same year, month and day.

    That is a text in another form, or an object of three numbers: `Day(6, 2, 2025)` for `2025/02/06`.
    """
    match = _DATE.fullmatch(text)
    return (
        match is not None
        and (date := _date(match[1], match[3], match[4])) is not None
        and date
        in {
            *_written_dates(program),
            *(sent_date for call in calls for sent_date in _sent_dates(call)),
        }
    )


def _date(*parts: object) -> _Date | None:
    """The date that has some parts; None where they are no three numbers with a year."""
    numbers = tuple(
        sorted(int(part) for part in parts if type(part) is int or (isinstance(part, str) and part.isdigit()))
    )
    return numbers if len(numbers) == len(parts) == _DATE_PARTS and numbers[-1] >= _FIRST_YEAR else None


def _written_dates(program: str) -> Iterator[_Date | None]:
    """The dates that a program writes: in texts, and as the arguments of a call."""
    tree = parsed(program) or ast.Module([], [])
    for constant in nodes_of(tree, ast.Constant):
        yield from _dates_in(constant.value)
    for call in nodes_of(tree, ast.Call):
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        yield _date(*(argument.value if isinstance(argument, ast.Constant) else None for argument in arguments))


def _sent_dates(call: CallRecord) -> Iterator[_Date | None]:
    """The dates in the arguments of a call: texts, and objects of three numbers."""
    for _, value in nodes(call.arguments):
        yield from _dates_in(value)
        if isinstance(value, dict):
            yield _date(*value.values())


def _dates_in(value: object) -> Iterator[_Date | None]:
    if isinstance(value, str):
        yield from (_date(match[1], match[3], match[4]) for match in _DATE.finditer(value))


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def challenge_write(
    question: Question, program: str, calls: Sequence[CallRecord], tool: Tool | None, protocol: Protocol
) -> str | None:
    """The reason to ask before sending a write; None where the question justifies it.

    Args:
        program: The program with the write; empty in modes that make one call at a time.
        calls: The calls so far, with the write.
        tool: The operation of the write.
    """
    if tool is not None and (why := intent_mismatch(question, tool, protocol)):
        return f"a write, and {why}"
    sent = [value for _, value in leaves(calls[-1].arguments)] if calls else []
    if any(isinstance(value, str) and PLACEHOLDER.fullmatch(value) and not question.says(value) for value in sent):
        return "a write, and one of its arguments stands for a value that is not there"
    if tool is not None and looks_like_read(tool):
        return None
    missing = missing_names(question, program, calls)
    if missing:
        return f"a write, and nothing that the program says or gives to a call names {', '.join(map(repr, missing))}"
    return None


def intent_mismatch(question: Question, tool: Tool, protocol: Protocol) -> str:
    """The reason why a question does not ask for an operation; empty if it may."""
    if not tool.writes or not protocol.tells_writes or looks_like_read(tool) or _only_computes(tool, protocol):
        return ""
    if question.is_information_request:
        return "the question only asks"
    listed = any(other_tool.method == "GET" and other_tool.path == tool.path for other_tool in protocol.tools)
    if tool.method == "POST" and listed and "{" not in tool.path and question.changes_only:
        return "it makes a new thing where the question asks to change what is there"
    return ""


def _only_computes(tool: Tool, protocol: Protocol) -> bool:
    """True if a POST answers with data, and neither its reply nor another operation identifies what it made."""
    schema = tool.success.schema if tool.success is not None else None
    if tool.method != "POST" or not isinstance(schema, dict):
        return False
    is_stored = any(
        other_tool is not tool and (other_tool.path == tool.path or other_tool.path.startswith(f"{tool.path}/{{"))
        for other_tool in protocol.tools
    )
    names = [field.name for field in fields(schema, protocol, 1)]
    return not is_stored and bool(names) and not any(is_identifier(name) or "status" in words(name) for name in names)
