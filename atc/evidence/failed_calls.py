"""What a program made of a call that failed: printed its error, dealt with it, replaced it, or went on without it."""

from __future__ import annotations

import ast

from atc.diagnosis.provenance import TracedRun
from atc.evidence.answers import is_absence
from atc.program.source import calls_of, lines_of, nodes_of
from sandbox.records import CallRecord

__all__ = ["described_failure", "is_deliberate", "is_error_printed", "is_replaced", "printed_answer"]


def described_failure(call: CallRecord) -> str:
    """The error of a call, or its status."""
    name = call.tool or f"{call.method} {call.url}"
    return (call.error or f"{name} was answered {call.status}")[:200]


def is_error_printed(call: CallRecord, traced: TracedRun) -> bool:
    """True if the output holds the text of an error."""
    response = traced.response(call)
    texts = [value for value in response.values() if isinstance(value, str)] if isinstance(response, dict) else []
    parts = [*texts, *((call.error or "").split(" \u2014 ")[1:])]
    return any(len(part) > 8 and part[:80] in traced.run.stdout for part in parts)


def is_deliberate(call: CallRecord, traced: TracedRun) -> bool:
    """True if a handler deals with the failure.

    It looks for a 404 or prints the answer to one; or other calls gave the answer, and a handler for errors of tools
    looks at the status or body of the error, returns something in its place, or goes on to the next of several.
    """
    if is_absence(traced.tree, call):
        return True
    others = any(good.index != call.index for good in traced.live_calls)
    for attempt in nodes_of(traced.tree, ast.Try):
        for handler in attempt.handlers if _covers(attempt.body, call.line) else ():
            if call.status == 404 and not call.writes and any(calls_of(handler, {"print"})):
                return True
            types = {name.id for name in nodes_of(handler.type, ast.Name)} if handler.type is not None else set()
            if others and "ToolError" in types and _deals_with(handler):
                return True
    return False


def _deals_with(handler: ast.ExceptHandler) -> bool:
    looks = any(
        isinstance(node.value, ast.Name) and node.value.id == handler.name for node in nodes_of(handler, ast.Attribute)
    )
    return looks or any(isinstance(node, (ast.Return, ast.Continue)) for node in ast.walk(handler))


def is_replaced(call: CallRecord, traced: TracedRun) -> bool:
    """True if a later call replaced a failed one.

    That is the same tool with arguments of the program's own, or a call in the error handler that the answer rests on.
    """
    later = [later_call for later_call in traced.good_calls if later_call.index > call.index]
    own = not any(sources for _, _, sources in traced.arguments(call))
    if any(later_call.tool == call.tool and (own or later_call.arguments == call.arguments) for later_call in later):
        return True
    used = {source.call for source in traced.data_sources}
    return any(
        _covers(handler.body, later_call.line)
        for attempt in nodes_of(traced.tree, ast.Try)
        if _covers(attempt.body, call.line)
        for handler in attempt.handlers
        for later_call in later
        if later_call.index in used or later_call.writes
    )


def _covers(body: list[ast.stmt], line: int | None) -> bool:
    return line is not None and any(line in lines_of(node) for node in body)


def printed_answer(node: ast.Call, error: str | None, traced: TracedRun) -> bool:
    """True if a print in a handler made the output: by its own text, or as the text of the error."""
    constants = [part.value for part in nodes_of(node, ast.Constant)]
    own = [text.strip() for text in constants if isinstance(text, str) and len(text.strip()) > 1]
    if own:
        lines = traced.program.splitlines()
        rest = "\n".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
        return all(text in traced.run.stdout and text not in rest for text in own)
    if error not in {part.id for part in nodes_of(node, ast.Name)}:
        return False
    try:
        value = ast.literal_eval(traced.run.stdout.strip())
    except (ValueError, SyntaxError, MemoryError):
        return True
    return any(part.value == value for part in nodes_of(traced.tree, ast.Constant))  # the key of a KeyError
