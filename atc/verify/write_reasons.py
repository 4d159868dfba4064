"""Check that a write has a reason in the question: the program uses the named values, and the question asks for action.

A program may find the wrong entity, or take the first of a list, and write to it. So each value that the question
quotes, and each path, number and identifier, has to be a literal of the program or an argument of a call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from atc.language.question import Question
from atc.program.source import parsed
from atc.program.tree import nodes_of
from protocols.dataflow.operations import looks_like_read
from protocols.json_path import leaves
from protocols.model import Protocol, Tool
from protocols.schema_fields import fields
from protocols.text.words import is_identifier, words
from sandbox.records import CallRecord

__all__ = ["PLACEHOLDER", "challenge_write", "intent_mismatch", "missing_names"]

PLACEHOLDER = re.compile(r"[.…?_<>\s-]*(?:…|\.\.\.|<>)[.…?_<>\s-]*")
"""A text that stands for another one."""

_MINOR_UNITS = (1, 100, 1000)
"""What an amount is multiplied with where a service counts in cents: 24.99 becomes 2499."""


def missing_names(question: Question, program: str, calls: Iterable[CallRecord] = ()) -> list[str]:
    """The named values that neither the program holds nor a call received."""
    names = dict.fromkeys([*question.named_values, *question.codes])
    if not names:
        return []
    constants = [node.value for node in nodes_of(parsed(program) or ast.Module([], []), ast.Constant)]
    sent = [value for call in calls for _, value in leaves(call.arguments)]
    values = [*constants, *(part.decode("utf-8", "replace") if isinstance(part, bytes) else part for part in sent)]
    texts = [_fold(value) for value in values if isinstance(value, str)]
    numbers = {float(value) for value in values if isinstance(value, int | float)}
    return [name for name in names if not _is_used(name, texts, numbers)]


def _is_used(name: str, texts: Sequence[str], numbers: set[float]) -> bool:
    if any(_fold(name) in text for text in texts):
        return True
    try:
        return any(round(float(name) * factor, 6) in numbers for factor in _MINOR_UNITS)
    except ValueError:
        parts = [_fold(part) for part in name.split("/") if part]  # a folder and what lies in it, given apart
        return len(parts) > 1 and all(any(part in text for text in texts) for part in parts)


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
    if not tool.writes or looks_like_read(tool) or _only_computes(tool, protocol):
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
