"""Check what an answer rests on: good responses, and no failure that the program hid."""

from __future__ import annotations

import ast
import json
import re

from atc.diagnosis.provenance import lookup
from atc.language.question import Question
from atc.program.source import calls_of
from atc.verify.changes import changes
from atc.verify.findings import Finding, Inspection, failed, made_writes
from atc.verify.printed import is_negative
from protocols.dataflow.operations import is_called
from protocols.model import Protocol
from protocols.text.words import fold, words
from sandbox.records import SAFE, CallRecord, Run

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
    "is_unsupported",
    "made_writes",
    "missing_write",
    "no_evidence",
    "no_good_call",
]


def is_unsupported(run: Run) -> bool:
    """True if no printed value is known to come from the API, and nothing was written."""
    if run.provenance is None or run.provenance.printed:
        return all(failed(call) for call in run.calls)
    return not made_writes(run)


def describe_silent_writes(run: Run, question: Question, protocol: Protocol) -> str | None:
    """Describe the writes of a program that was told to act and printed nothing; None for any other run."""
    if run.outcome != "ok" or run.stdout.strip() or question.is_information_request or not made_writes(run):
        return None
    return changes(run.calls, protocol)


def no_good_call(inspection: Inspection) -> Finding | None:
    """No call was made, or none has a good response."""
    if inspection.good_calls:
        return None
    message = "the program printed an answer without any reply of the API; call the functions"
    if not inspection.run.calls:
        return Finding("NoCall", message)
    call = inspection.run.calls[-1]
    return Finding("NoEvidence", f"{message}: {_describe_call(call)}", call.line, call.index)


def missing_write(inspection: Inspection) -> Finding | None:
    """The question asks for an action that an operation is named after, and the program wrote nothing."""
    if inspection.graph is None or any(call.method not in SAFE for call in inspection.run.calls):
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
    if not inspection.good_calls or inspection.made_writes:
        return None
    if is_unsupported(inspection.run):
        return Finding("NoEvidence", "what the program printed comes from no reply of the API; print the data")
    if (number := _own_number(inspection)) is not None:
        return Finding("NoEvidence", f"{number} stands in the program and in no reply of the API; print what it says")
    if not inspection.printed_sources or any(source.how != "decided" for source in inspection.printed_sources):
        return None
    source_values = [
        lookup(inspection.run.calls[source.call].response, source.path) for source in inspection.printed_sources
    ]
    if inspection.question.yes_or_no and all(isinstance(value, dict) and value for value in source_values):
        return Finding(
            "NoEvidence",
            "what the program printed depends only on there being a reply; print what the reply says, or compare it",
        )
    if inspection.question.offers_choice or is_negative(inspection):
        return None
    printed_words = set(fold(inspection.run.stdout).split())
    if not printed_words <= {word for text in inspection.texts for word in fold(text).split()}:
        return None
    return Finding(
        "NoEvidence", "what the program printed stands in the program itself and in no reply of the API; print the data"
    )


def _own_number(inspection: Inspection) -> str | None:
    """A year or large number in the output that only the program holds."""
    for text in inspection.printed_texts:
        for number in _LARGE_NUMBER.findall(text):
            is_replied = any(
                number in json.dumps(inspection.response(call), default=str) for call in inspection.good_calls
            )
            if number in inspection.run.stdout and number not in inspection.question.text and not is_replied:
                return str(number)
    return None


def failed_call(inspection: Inspection) -> Finding | None:
    """A call failed, and the program went on."""
    for call in inspection.run.calls:
        if not failed(call) and not _says_error(inspection.response(call)):
            continue
        if call.refused or (failed(call) and call.status is not None and call.status < 400):
            continue
        own = [source for source in inspection.printed_sources if source.call == call.index]
        if any(source.how != "decided" for source in own) or _is_error_printed(call, inspection):
            return Finding(
                "ErrorPrinted",
                f"the program printed an error as its answer: {_describe_call(call)}; "
                "correct that call and print its data",
                call.line,
                call.index,
            )
        if not failed(call) or _is_replaced(call, inspection) or _answers_question(call, inspection):
            continue
        return Finding(
            "ErrorSwallowed",
            f"{_describe_call(call)}, and the program went on without it; correct that call and do not catch its error",
            call.line,
            call.index,
        )
    return None


def caught_error(inspection: Inspection) -> Finding | None:
    """The answer is printed by an error handler."""
    if any(failed(call) and _answers_question(call, inspection) for call in inspection.run.calls):
        return None
    for attempt in ast.walk(inspection.tree):
        for handler in attempt.handlers if isinstance(attempt, ast.Try) else ():
            prints = [node for node, _ in calls_of(handler, {"print"})]
            if not prints or not any(_prints_error(node, handler.name, inspection) for node in prints):
                continue
            return Finding(
                "ErrorPrinted",
                f"line {prints[0].lineno} printed the answer after it caught an error; correct its cause instead",
                prints[0].lineno,
            )
    return None


def _prints_error(node: ast.Call, error: str | None, inspection: Inspection) -> bool:
    """True if a print in an error handler produced the answer, as far as its text shows."""
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    own = [part.strip() for part in parts if len(part.strip()) > 1]
    if own:
        rest = inspection.program.splitlines()
        rest[node.lineno - 1 : node.end_lineno] = []
        return all(part in inspection.run.stdout for part in own) and not any(part in "\n".join(rest) for part in own)
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    if error not in names:
        return False
    key = inspection.run.stdout.strip().strip("'\"")
    return key in inspection.texts or _PYTHON_ERROR.search(inspection.run.stdout) is not None


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


def _is_replaced(call: CallRecord, inspection: Inspection) -> bool:
    """True if a later call replaced a failed one.

    That is the same tool with arguments of the program's own, or a call in the error handler that the answer rests on.
    """
    later = [later_call for later_call in inspection.good_calls if later_call.index > call.index]
    own = not any(sources for _, _, sources in inspection.arguments(call))
    if any(later_call.tool == call.tool and (own or later_call.arguments == call.arguments) for later_call in later):
        return True
    used = {source.call for source in inspection.printed_sources if source.how != "decided"}
    for node in ast.walk(inspection.tree):
        if isinstance(node, ast.Try) and _covers(node.body, call.line):
            handled = [
                later_call
                for later_call in later
                if any(_covers(handler.body, later_call.line) for handler in node.handlers)
            ]
            if any(later_call.index in used or later_call.method not in SAFE for later_call in handled):
                return True
    return False


def _covers(body: list[ast.stmt], line: int | None) -> bool:
    return line is not None and any(node.lineno <= line <= (node.end_lineno or node.lineno) for node in body)


def _answers_question(call: CallRecord, inspection: Inspection) -> bool:
    """True if a 404 answers the question: it asks whether something exists."""
    if not inspection.question.yes_or_no or call.status != 404 or call.method not in SAFE:
        return False
    return all(sources or inspection.question.says(value) for _, value, sources in inspection.arguments(call))
