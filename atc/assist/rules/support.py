"""Check what an answer rests on: good responses, and no failure that the program hid."""

from __future__ import annotations

import ast
import json
import re

from atc.assist.language.question import Question
from atc.assist.rules.changes import account, changes
from atc.assist.rules.findings import Inspection
from atc.assist.rules.printed import is_negative
from atc.evidence.answers import is_unsupported
from atc.evidence.finding import Finding, failed, made_writes
from atc.program.source import calls_of
from atc.program.tree import lines_of, nodes_of
from protocols.dataflow.operations import is_called
from protocols.model import Protocol
from protocols.text.words import fold, words
from sandbox.records import CallRecord, Run

_PYTHON_ERROR = re.compile(
    r"index out of range|object (is not|has no)|not subscriptable|argument|must be|invalid literal|division by zero"
    r"|\bis not defined|\bempty\b|unsupported operand|unhashable|Expecting value"
)
"""Error messages of Python itself."""

_MAX_OPERATIONS = 3
"""Operations named where any of them may be meant."""

_LARGE_NUMBER = re.compile(r"(?<![\w.])\d{4,}(?![\w.]*\w)")

__all__ = [
    "caught_error",
    "describe_silent_writes",
    "failed_call",
    "missing_write",
    "no_evidence",
    "no_good_call",
]


def describe_silent_writes(run: Run, question: Question, protocol: Protocol) -> str | None:
    """Describe the writes of a program that was told to act and printed nothing; None for any other run.

    To call functions that give no result is to act, and so is to call those of which nobody said whether they write.
    """
    if run.outcome != "ok" or run.stdout.strip():
        return None
    calls = [call for call in run.calls if not failed(call)]
    tools = [protocol.tool(call.tool) for call in calls if call.tool is not None and call.tool in protocol]
    without_result = bool(tools) and all(tool.gives_nothing for tool in tools)
    if not without_result and (not made_writes(run) or (question.is_information_request and protocol.tells_writes)):
        return None
    of_functions = bool(tools) and all(tool.function is not None for tool in tools)
    return account(calls) if of_functions else changes(run.calls, protocol)


def no_good_call(inspection: Inspection) -> Finding | None:
    """No call was made, or none has a good response."""
    if inspection.good_calls:
        return None
    message = "the program printed an answer without any reply of the API; call the functions"
    if not inspection.run.calls:
        return Finding("NoCall", message)
    call = inspection.run.calls[-1]
    return Finding.of_call("NoEvidence", f"{message}: {_describe_call(call)}", call)


def missing_write(inspection: Inspection) -> Finding | None:
    """The question asks for an action that an operation is named after, and the program wrote nothing."""
    if inspection.graph is None or any(call.writes for call in inspection.run.calls):
        return None
    tools = [tool for tool in inspection.graph.protocol.tools if tool.writes]
    for verb in inspection.question.requested_actions:
        named = [tool.name for tool in tools if is_called(tool, verb) or words(tool.summary)[:1] == (verb,)]
        if named:
            meant = f"; call {' or '.join(named)}" if len(named) <= _MAX_OPERATIONS else ""
            return Finding("NothingDone", f"the question asks to {verb}, and the program only reads{meant}")
    return None


def no_evidence(inspection: Inspection) -> Finding | None:
    """No printed value comes from a response, or a response only decided whether it is printed."""
    if not inspection.good_calls:
        return None
    if is_unsupported(inspection.program, inspection.run):
        return Finding("NoEvidence", "what the program printed comes from no reply of the API; print the data")
    if (number := _own_number(inspection)) is not None:
        return Finding("NoEvidence", f"{number} stands in the program and in no reply of the API; print what it says")
    if not inspection.printed_sources or inspection.data_sources:
        return None
    values = map(inspection.value_of, inspection.printed_sources)
    printed_words = fold(inspection.run.stdout).split()
    if inspection.question.yes_or_no and all(isinstance(value, dict) and value for value in values):
        message = "depends only on there being a reply; print what the reply says, or compare it"
    elif (
        not inspection.question.offers_choice
        and not is_negative(inspection)
        and {word for text in inspection.texts for word in fold(text).split()}.issuperset(printed_words)
    ):
        message = "stands in the program itself and in no reply of the API; print the data"
    else:
        return None
    return Finding("NoEvidence", f"what the program printed {message}")


def _own_number(inspection: Inspection) -> str | None:
    """A year or large number in the output that only the program holds."""
    numbers = (number for text in inspection.printed_texts for number in _LARGE_NUMBER.findall(text))
    own = [number for number in numbers if number in inspection.run.stdout and not inspection.question.says(number)]
    replies = [json.dumps(inspection.response(call), default=str) for call in inspection.good_calls] if own else []
    return next((number for number in own if not any(number in reply for reply in replies)), None)


def failed_call(inspection: Inspection) -> Finding | None:
    """A call failed, and the program went on."""
    for call in inspection.run.calls:
        if not failed(call) and not _says_error(inspection.response(call)):
            continue
        if call.refused or (failed(call) and call.status is not None and call.status < 400):
            continue
        described = _describe_call(call)
        if failed(call) and _is_deliberate(call, inspection):
            continue
        if any(source.call == call.index for source in inspection.data_sources) or _is_error_printed(call, inspection):
            message = f"the program printed an error as its answer: {described}; correct that call and print its data"
            return Finding.of_call("ErrorPrinted", message, call)
        if failed(call) and not _is_replaced(call, inspection) and not _answers_question(call, inspection):
            message = f"{described}, and the program went on without it; correct that call and do not catch its error"
            return Finding.of_call("ErrorSwallowed", message, call)
    return None


def caught_error(inspection: Inspection) -> Finding | None:
    """The answer is printed by an error handler."""
    if any(failed(call) and _answers_question(call, inspection) for call in inspection.run.calls):
        return None
    for handler in nodes_of(inspection.tree, ast.ExceptHandler):
        prints = [node for node, _ in calls_of(handler, {"print"})]
        if any(_prints_error(node, handler.name, inspection) for node in prints):
            line = prints[0].lineno
            message = f"line {line} printed the answer after it caught an error; correct its cause instead"
            return Finding("ErrorPrinted", message, line)
    return None


def _prints_error(node: ast.Call, error: str | None, inspection: Inspection) -> bool:
    """True if a print in an error handler produced the answer, as far as its text shows."""
    constants = [part.value for part in nodes_of(node, ast.Constant)]
    own = [text.strip() for text in constants if isinstance(text, str) and len(text.strip()) > 1]
    output = inspection.run.stdout
    if own:
        lines = inspection.program.splitlines()
        rest = "\n".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
        return all(text in output and text not in rest for text in own)
    if error not in {part.id for part in nodes_of(node, ast.Name)}:
        return False
    return output.strip().strip("'\"") in inspection.texts or _PYTHON_ERROR.search(output) is not None


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


def _is_error_printed(call: CallRecord, inspection: Inspection) -> bool:
    """True if the output holds the text of an error."""
    response = inspection.response(call)
    texts = [value for value in response.values() if isinstance(value, str)] if isinstance(response, dict) else []
    parts = [*texts, *((call.error or "").split(" \u2014 ")[1:])]
    return any(len(part) > 8 and part[:80] in inspection.run.stdout for part in parts)


def _is_deliberate(call: CallRecord, inspection: Inspection) -> bool:
    """True if a handler for errors of tools deals with the failure, and other calls gave the answer.

    It looks at the status or body of the error, returns something in its place, or goes on to the next of several.
    """
    if not any(good.index != call.index for good in inspection.live_calls):
        return False
    return any(
        _covers(attempt.body, call.line) and _deals_with(handler)
        for attempt in nodes_of(inspection.tree, ast.Try)
        for handler in attempt.handlers
        if handler.type is not None and "ToolError" in {name.id for name in nodes_of(handler.type, ast.Name)}
    )


def _deals_with(handler: ast.ExceptHandler) -> bool:
    looks = any(
        isinstance(node.value, ast.Name) and node.value.id == handler.name for node in nodes_of(handler, ast.Attribute)
    )
    return looks or any(isinstance(node, (ast.Return, ast.Continue)) for node in ast.walk(handler))


def _is_replaced(call: CallRecord, inspection: Inspection) -> bool:
    """True if a later call replaced a failed one.

    That is the same tool with arguments of the program's own, or a call in the error handler that the answer rests on.
    """
    later = [later_call for later_call in inspection.good_calls if later_call.index > call.index]
    own = not any(sources for _, _, sources in inspection.arguments(call))
    if any(later_call.tool == call.tool and (own or later_call.arguments == call.arguments) for later_call in later):
        return True
    used = {source.call for source in inspection.data_sources}
    return any(
        _covers(handler.body, later_call.line)
        for attempt in nodes_of(inspection.tree, ast.Try)
        if _covers(attempt.body, call.line)
        for handler in attempt.handlers
        for later_call in later
        if later_call.index in used or later_call.writes
    )


def _covers(body: list[ast.stmt], line: int | None) -> bool:
    return line is not None and any(line in lines_of(node) for node in body)


def _answers_question(call: CallRecord, inspection: Inspection) -> bool:
    """True if a 404 answers the question: it asks whether something exists."""
    if not inspection.question.yes_or_no or call.status != 404 or call.writes:
        return False
    return all(sources or inspection.question.says(value) for _, value, sources in inspection.arguments(call))
