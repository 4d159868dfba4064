"""The reports of the type checker in the words of the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from atc.assist.check.diagnostic import Diagnostic, Rule
from atc.assist.check.diagnostics.arguments import describe_argument
from atc.assist.check.diagnostics.keys import describe_key
from atc.assist.check.diagnostics.names import describe_name
from atc.assist.check.diagnostics.subject import Subject
from atc.assist.check.diagnostics.values import describe_value
from atc.assist.check.function_stubs import NAMESPACE
from atc.assist.check.type_checker import CheckerReport
from atc.program.source import nodes_of

__all__ = ["Subject", "describe_reports"]

_RULES: Mapping[str, Rule] = {
    "invalid-argument-type": "wrong-type",
    "not-subscriptable": "wrong-type",
    "missing-attribute": "wrong-type",
    "unresolved-attribute": "wrong-type",
    "not-iterable": "wrong-type",
    "unsupported-operator": "wrong-type",
    "call-non-callable": "wrong-type",
    "unknown-argument": "unknown-argument",
    "too-many-positional-arguments": "unknown-argument",
    "missing-argument": "missing-argument",
    "possibly-unresolved-reference": "possibly-unbound",
    "unresolved-reference": "unknown-name",
    "invalid-typed-dict-key": "unknown-key",
}
"""The checker's rules that matter to a run; the others are style, or too uncertain."""
_CONSTRUCTOR = re.compile(r"`(\w+)\.__init__`")
_KEY = re.compile(r'Unknown key "([^"]*)" for TypedDict `(_T\d+)`')


def describe_reports(subject: Subject, reports: Sequence[CheckerReport]) -> list[Diagnostic]:
    """The diagnostics of one program. A key that it puts into an object itself exists."""
    stores = {
        (node.slice.lineno, node.slice.col_offset)
        for node in nodes_of(subject.tree, ast.Subscript)
        if isinstance(node.ctx, ast.Store)
    }
    stores |= {
        (node.args[0].lineno, node.args[0].col_offset)
        for node in nodes_of(subject.tree, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
        if node.args
    }
    reports = [replace(report, text=_in_program_words(subject, report.text)) for report in reports]
    for report in reports:
        unknown_key = _KEY.match(report.text)
        if unknown_key is not None and (report.line, report.column) in stores:
            subject.stored.add((unknown_key[2], unknown_key[1]))
    return [diagnostic for report in reports if (diagnostic := _describe(subject, report)) is not None]


def _in_program_words(subject: Subject, text: str) -> str:
    """A text of the checker with the names of objects and value classes as the program has them."""
    text = text.replace(NAMESPACE, "")
    return _CONSTRUCTOR.sub(lambda match: f"function `{match[1]}`" if match[1] in subject.names else match[0], text)


def _describe(subject: Subject, report: CheckerReport) -> Diagnostic | None:
    """The diagnostic of a report; None where it does not matter to a run."""
    rule = _RULES.get(report.rule)
    if rule is None:
        return None
    quoted = re.findall(r"`([^`]*)`", report.text)
    match rule:
        case "unknown-name":
            return describe_name(subject, report, quoted[0] if quoted else "")
        case "possibly-unbound":
            message = f'"{quoted[0]}" is possibly unbound: no line before it is sure to set it'
            return subject.at(report, rule, message)
        case "unknown-key":
            return describe_key(subject, report, re.findall(r'Unknown key "([^"]*)"', report.text), quoted)
        case "unknown-argument" | "missing-argument":
            return describe_argument(subject, report, rule, quoted)
        case _:
            return describe_value(subject, report, quoted)
