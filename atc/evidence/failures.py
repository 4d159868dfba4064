"""Facts about calls without a good response: none was made, the answer is an error, or a program hid a failure."""

from __future__ import annotations

import ast

from atc.evidence.answers import is_unsupported
from atc.evidence.finding import Finding, failed, made_writes
from atc.evidence.traced_run import TracedRun
from atc.program.source import calls_of
from atc.program.tree import lines_of, nodes_of
from sandbox.records import CallRecord

_NOT_FOUND = 404

__all__ = ["caught_error", "failed_call", "no_evidence", "no_good_call"]


def no_good_call(traced: TracedRun) -> Finding | None:
    """No call was made, or none has a good response."""
    if traced.good_calls:
        return None
    message = "the program printed an answer without any reply of the API"
    if not traced.run.calls:
        return Finding("NoCall", message)
    call = traced.run.calls[-1]
    return Finding.of_call("NoEvidence", f"{message}: {_describe_call(call)}", call)


def no_evidence(traced: TracedRun) -> Finding | None:
    """No printed value comes from a reply, and no write was accepted."""
    if not traced.good_calls or made_writes(traced.run) or not is_unsupported(traced.program, traced.run):
        return None
    return Finding("NoEvidence", "what the program printed comes from no reply of the API")


def failed_call(traced: TracedRun) -> Finding | None:
    """A call failed, and the program went on."""
    for call in traced.run.calls:
        if not failed(call) and not _says_error(traced.response(call)):
            continue
        if call.refused or (failed(call) and call.status is not None and call.status < 400):
            continue
        described = _describe_call(call)
        if failed(call) and _is_deliberate(call, traced):
            continue
        if any(source.call == call.index for source in traced.data_sources) or _is_error_printed(call, traced):
            message = f"the program printed an error as its answer: {described}"
            return Finding.of_call("ErrorPrinted", message, call)
        if failed(call) and not _is_replaced(call, traced):
            message = f"{described}, and the program went on without it"
            return Finding.of_call("ErrorSwallowed", message, call)
    return None


def caught_error(traced: TracedRun) -> Finding | None:
    """The answer is what a handler of errors printed, and no value of a reply. A 404 may well be an answer."""
    if traced.shows_data or any(call.status == _NOT_FOUND and not call.writes for call in traced.run.calls):
        return None
    for handler in nodes_of(traced.tree, ast.ExceptHandler):
        for node, _ in calls_of(handler, {"print"}):
            if _printed_answer(node, handler.name, traced):
                message = f"line {node.lineno} printed the answer after it caught an error"
                return Finding("ErrorPrinted", message, node.lineno)
    return None


def _printed_answer(node: ast.Call, error: str | None, traced: TracedRun) -> bool:
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


def _describe_call(call: CallRecord) -> str:
    name = call.tool or f"{call.method} {call.url}"
    return (call.error or f"{name} was answered {call.status}")[:200]


def _says_error(response: object) -> bool:
    """True if a response with a good status reports an error."""
    if not isinstance(response, dict):
        return False
    if response.get("success") is False or response.get("ok") is False:
        return True
    return bool(response.get("error") or response.get("errors")) and len(response) <= 3


def _is_error_printed(call: CallRecord, traced: TracedRun) -> bool:
    """True if the output holds the text of an error."""
    response = traced.response(call)
    texts = [value for value in response.values() if isinstance(value, str)] if isinstance(response, dict) else []
    parts = [*texts, *((call.error or "").split(" \u2014 ")[1:])]
    return any(len(part) > 8 and part[:80] in traced.run.stdout for part in parts)


def _is_deliberate(call: CallRecord, traced: TracedRun) -> bool:
    """True if a handler deals with the failure.

    It prints the answer to a 404, or other calls gave the answer, and a handler for errors of tools looks at the status
    or body of the error, returns something in its place, or goes on to the next of several.
    """
    others = any(good.index != call.index for good in traced.live_calls)
    for attempt in nodes_of(traced.tree, ast.Try):
        for handler in attempt.handlers if _covers(attempt.body, call.line) else ():
            if call.status == _NOT_FOUND and not call.writes and any(calls_of(handler, {"print"})):
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


def _is_replaced(call: CallRecord, traced: TracedRun) -> bool:
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
