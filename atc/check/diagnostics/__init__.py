"""Say what the type checker found as somebody would who knows the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from atc.check.diagnostic import Diagnostic, Rule
from atc.check.diagnostics.arguments import told_argument
from atc.check.diagnostics.keys import told_key
from atc.check.diagnostics.missing_keys import told_entries
from atc.check.diagnostics.names import told_name
from atc.check.diagnostics.subject import Subject
from atc.check.diagnostics.values import told_value
from atc.check.type_checker import Report

__all__ = ["Subject", "all_told", "told_entries"]

_TYPES: Mapping[str, Rule] = {
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
"""What of the checker's rules matters to a run; the rest is style, or sure of less than it says."""
_KEY = re.compile(r'Unknown key "([^"]*)" for TypedDict `(_T\d+)`')


def all_told(subject: Subject, reports: Sequence[Report]) -> list[Diagnostic]:
    """The diagnostics of one program. A key that it puts into an object itself is there."""
    stores = {
        (node.slice.lineno, node.slice.col_offset)
        for node in ast.walk(subject.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    stores |= {
        (node.args[0].lineno, node.args[0].col_offset)
        for node in ast.walk(subject.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
        if node.args
    }
    for report in reports:
        unknown_key = _KEY.match(report.text)
        if unknown_key is not None and (report.line, report.column) in stores:
            subject.stored.add((unknown_key[2], unknown_key[1]))
    return [diagnostic for report in reports if (diagnostic := _told(subject, report)) is not None]


def _told(subject: Subject, report: Report) -> Diagnostic | None:
    """A diagnostic; None for what does not matter to a run."""
    rule = _TYPES.get(report.rule)
    if rule is None:
        return None
    quoted = re.findall(r"`([^`]*)`", report.text)
    match rule:
        case "unknown-name":
            return told_name(subject, report, quoted[0] if quoted else "")
        case "possibly-unbound":
            message = f"{quoted[0]} may have no value here: no line before it is sure to set it"
            return subject.at(report, rule, message, edit=subject.begun_with(quoted[0]))
        case "unknown-key":
            return told_key(subject, report, re.findall(r'Unknown key "([^"]*)"', report.text), quoted)
        case "unknown-argument" | "missing-argument":
            return told_argument(subject, report, rule, quoted)
        case _:
            return told_value(subject, report, quoted)
