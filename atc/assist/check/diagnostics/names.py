"""Undefined names: unknown tools, modules without an import, variables without an assignment."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from atc.assist.check.diagnostic import Diagnostic, Edit, Rule
from atc.assist.check.diagnostics.subject import Subject
from atc.assist.check.type_checker import CheckerReport
from atc.program.source import nodes_of
from protocols.model import Tool
from protocols.text.words import name_similarity

__all__ = ["describe_name"]

_METHOD = re.compile(r"(GET|POST|PUT|PATCH|DELETE)_")
_IMPORTS: Mapping[str, str] = {
    **{name: name for name in ("collections", "datetime", "itertools", "json", "math", "random", "re", "statistics")},
    **dict.fromkeys(("Counter", "defaultdict"), "collections"),
    **dict.fromkeys(("date", "timedelta", "timezone"), "datetime"),
}
"""Names that programs use without an import, and their modules."""


def describe_name(subject: Subject, report: CheckerReport, name: str) -> Diagnostic:
    """An undefined name, and the module, tool or variable that was probably meant."""
    if (why := subject.contract.protocol.why_left_out(name)) is not None:
        return subject.at(report, "unknown-tool", f'"{name}" is not defined: {why}')
    if name in _IMPORTS:
        line = _import(subject, name)
        message = f'"{name}" is not defined; did you forget: {line}'
        diagnostic = subject.at(report, "unknown-name", message, edit=Edit(1, 0, 0, f"{line}\n"))
        return replace(diagnostic, key=name)
    if not (_METHOD.match(name) or (_is_called(subject, report) and not any(map(_METHOD.match, subject.names)))):
        near = get_close_matches(name, subject.names, 1, 0.85) if _is_called(subject, report) else []
        hint = f'; did you mean "{near[0]}"?' if near else ""
        rule: Rule = "unknown-tool" if near else "unknown-name"
        edit = subject.replacement(report, near[0] if near else None)
        message = f'"{name}" is not defined{hint}'
        diagnostic = subject.at(report, rule, message, None, near[0] if near else None, edit)
        return replace(diagnostic, key=name)
    passed = _argument_names(subject, report)
    best = max(subject.names, key=lambda tool: _fitness(subject, name, passed, tool), default=None)
    near_tool = best if best is not None and _fitness(subject, name, passed, best) >= 0.7 else None
    hint = f'; did you mean "{near_tool}"?' if near_tool else ""
    if near_tool is None:
        alike = sorted(subject.names, key=lambda tool: -_fitness(subject, name, passed, tool))[:3]
        hint = f"; there are {', '.join(alike)}" if alike else ""
    holder, _, attribute = name.rpartition(".")
    problem = f'cannot access attribute "{attribute}" of "{holder}"' if holder else f'"{name}" is not defined'
    tool = subject.contract.protocol.tool(near_tool) if near_tool else None
    sure = tool is not None and _may_stand_for(tool, name, passed or ())
    edit = subject.replacement(report, near_tool) if sure else None
    return subject.at(report, "unknown-tool", f"{problem}{hint}", near_tool, near_tool, edit)


def _import(subject: Subject, name: str) -> str:
    """The import of a name of the standard library; for `datetime` of the class, where that is used."""
    used = {
        node.attr
        for node in nodes_of(subject.tree, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == name
    }
    if name == "datetime" and not used & {"datetime", "date", "timedelta", "timezone"}:
        return "from datetime import datetime"
    module = _IMPORTS[name]
    return f"from {module} import {name}" if module != name else f"import {name}"


def _is_called(subject: Subject, report: CheckerReport) -> bool:
    """True if the name at a position is called; otherwise it is no function."""
    return subject.lines[report.line - 1][report.end_column :].startswith("(")


def _argument_names(subject: Subject, report: CheckerReport) -> list[str] | None:
    """The argument names of a call of an unknown function; None where it is not called."""
    here = (report.line, report.column)
    for call in nodes_of(subject.tree, ast.Call):
        if isinstance(call.func, ast.Name) and (call.func.lineno, call.func.col_offset) == here:
            return [word.arg for word in call.keywords if word.arg]
    return None


def _fitness(subject: Subject, name: str, passed: Sequence[str] | None, tool: str) -> float:
    """How well a tool stands for an unknown function: by its name, and by its arguments."""
    method = subject.contract.protocol.tool(tool).method
    named_method = _METHOD.match(name)
    if named_method and any((named_method[1] == verb) != (method == verb) for verb in ("GET", "DELETE")):
        return 0.0  # what removes does not stand for what adds
    alike = name_similarity(name, tool)
    if not passed:
        return alike
    taken = {parameter.argument for parameter in subject.contract.protocol.tool(tool).arguments}
    return alike * 0.7 + 0.3 * len(taken.intersection(passed)) / len(passed)


def _may_stand_for(tool: Tool, name: str, passed: Sequence[str]) -> bool:
    """True if a tool may replace an unknown function; a write is never guessed."""
    if tool.writes and not name.removeprefix(f"{tool.namespace}__").startswith(f"{tool.method}_"):
        return False
    return all(tool.argument(argument) is not None for argument in passed)
