"""Names that nobody defined: tools that there are not, modules that were not imported, variables that were not set."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from atc.check.diagnostic import Diagnostic, Edit, Rule
from atc.check.diagnostics.subject import Subject
from atc.check.type_checker import Report
from protocols.model import Tool
from protocols.text.words import name_similarity

__all__ = ["import_class", "told_name"]

_METHOD = re.compile(r"(GET|POST|PUT|PATCH|DELETE)_")
_IMPORTS: Mapping[str, str] = {
    **{name: name for name in ("collections", "datetime", "itertools", "json", "math", "random", "re", "statistics")},
    **dict.fromkeys(("Counter", "defaultdict"), "collections"),
    **dict.fromkeys(("date", "timedelta", "timezone"), "datetime"),
}
"""Names that programs use without importing them, and their modules."""


def told_name(subject: Subject, report: Report, name: str) -> Diagnostic:
    """A name that is not defined, and what was probably meant: a module, a tool, a variable that is set later on."""
    if name in _IMPORTS:
        line = _import(subject, name)
        diagnostic = subject.at(report, "unknown-name", f"{name} is not imported", edit=Edit(1, 0, 0, f"{line}\n"))
        return replace(diagnostic, key=name)
    if not _METHOD.match(name):
        near = get_close_matches(name, subject.names, 1, 0.85) if _is_called(subject, report) else []
        meant = f"; did you mean {near[0]}?" if near else ""
        rule: Rule = "unknown-tool" if near else "unknown-name"
        edit = subject.instead(report, near[0] if near else None) or subject.begun_with(name)
        diagnostic = subject.at(report, rule, f"{name} is not defined{meant}", None, near[0] if near else None, edit)
        return replace(diagnostic, key=name)
    passed = _given_to(subject, report)
    best = max(subject.names, key=lambda tool: _fitness(subject, name, passed, tool), default=None)
    near_tool = best if best is not None and _fitness(subject, name, passed, best) >= 0.7 else None
    meant = f"; did you mean {near_tool}?" if near_tool else ""
    if near_tool is None:
        alike = sorted(subject.names, key=lambda tool: -_fitness(subject, name, passed, tool))[:3]
        meant = f"; there are {', '.join(alike)}" if alike else ""
    tool = subject.contract.protocol.tool(near_tool) if near_tool else None
    edit = subject.instead(report, near_tool) if tool is not None and _may_stand_for(tool, name, passed or ()) else None
    return subject.at(report, "unknown-tool", f"there is no function {name}{meant}", near_tool, near_tool, edit)


def _import(subject: Subject, name: str) -> str:
    """The line that imports a name of the standard library; of `datetime` the class, where that is meant."""
    used = {
        node.attr
        for node in ast.walk(subject.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    if name == "datetime" and not used & {"datetime", "date", "timedelta", "timezone"}:
        return "from datetime import datetime"
    module = _IMPORTS[name]
    return f"from {module} import {name}" if module != name else f"import {name}"


def import_class(subject: Subject) -> Edit | None:
    """`from datetime import datetime` for `import datetime`, where nothing else of the module is used."""
    for node in subject.tree.body:
        if isinstance(node, ast.Import) and [(alias.name, alias.asname) for alias in node.names] == [
            ("datetime", None)
        ]:
            line = _import(subject, "datetime")
            if line != "import datetime":
                return Edit(node.lineno, 0, len(subject.lines[node.lineno - 1]), line)
    return None


def _is_called(subject: Subject, report: Report) -> bool:
    """Whether what is at a place is called: else it is no function, whatever it is called like."""
    return subject.lines[report.line - 1][report.end_column :].startswith("(")


def _given_to(subject: Subject, report: Report) -> list[str] | None:
    """The names of the arguments of the call of a function that there is not; None where it is not called."""
    here = (report.line, report.column)
    calls = [node for node in ast.walk(subject.tree) if isinstance(node, ast.Call)]
    for call in calls:
        if isinstance(call.func, ast.Name) and (call.func.lineno, call.func.col_offset) == here:
            return [word.arg for word in call.keywords if word.arg]
    return None


def _fitness(subject: Subject, name: str, passed: Sequence[str] | None, tool: str) -> float:
    """How well a tool stands for a function that there is not: by its name, and by the arguments it takes."""
    method = subject.contract.protocol.tool(tool).method
    if any(name.startswith(f"{verb}_") != (method == verb) for verb in ("GET", "DELETE")):
        return 0.0  # what removes does not stand for what adds
    alike = name_similarity(name, tool)
    if not passed:
        return alike
    taken = {parameter.argument for parameter in subject.contract.protocol.tool(tool).arguments}
    return alike * 0.7 + 0.3 * len(taken.intersection(passed)) / len(passed)


def _may_stand_for(tool: Tool, name: str, passed: Sequence[str]) -> bool:
    """Whether a tool may be called for a function that there is not: a write is never guessed."""
    if tool.writes and not name.startswith(f"{tool.method}_"):
        return False
    return all(tool.argument(argument) is not None for argument in passed)
