"""Unknown and missing arguments of tools."""

from __future__ import annotations

from dataclasses import replace

from atc.assist.check.diagnostic import Diagnostic, Edit, Rule
from atc.assist.check.diagnostics.subject import Subject, is_misspelled, listed
from atc.assist.check.type_checker import CheckerReport
from protocols.calls.call_errors import nearest_argument, signature

__all__ = ["describe_argument"]


def describe_argument(subject: Subject, report: CheckerReport, rule: Rule, quoted: list[str]) -> Diagnostic | None:
    """An unknown argument, or a required one that is missing."""
    name = next((name for name in quoted if name in subject.names), None) or subject.callee(report)
    if name is None:
        return None
    tool = subject.contract.protocol.tool(name)
    takes = [parameter.argument for parameter in tool.arguments]
    if report.rule == "too-many-positional-arguments":
        path = ", ".join(parameter.argument for parameter in tool.positional)
        only = f"only {path} may go without a name" if path else "all its arguments need their names"
        message = f"{name}(): expected {len(tool.positional)} positional arguments, {only}; it takes {listed(takes)}"
        if tool.function is not None:
            message = f"too many positional arguments: it is called as {signature(tool)}"
        return subject.at(report, rule, message, name)
    if rule == "missing-argument":
        missing = [argument for argument in quoted if argument in takes]
        suggestion = f"{missing[0]}=" if missing else None
        several = "s" if len(missing) != 1 else ""
        names = " and ".join(f'"{argument}"' for argument in missing)
        message = f"{name}(): argument{several} missing for parameter{several} {names}"
        needed = {parameter.argument for parameter in tool.arguments if parameter.location in ("path", "function")}
        doubtful = bool(missing) and needed.isdisjoint(missing)
        return replace(subject.at(report, rule, message, name, suggestion), doubtful=doubtful)
    passed = {keyword.arg for call in subject.calls(report) for keyword in call.keywords}
    near = nearest_argument(tool, quoted[0], [argument for argument in takes if argument not in passed])
    hint = f'; did you mean "{near}"?' if near else f"; it takes {listed(takes)}"
    protocol = subject.contract.protocol
    other_tools = [
        other_name
        for other_name in subject.names
        if other_name != name and protocol.tool(other_name).argument(quoted[0]) is not None
    ]
    if other_tools:
        hint += f"; {' and '.join(other_tools[:2])} take{'s' if len(other_tools) == 1 else ''} it"
    sure = near is not None and is_misspelled(near, quoted[0])
    edit = None
    if near is not None and (sure or not other_tools) and (sure or len(takes) == 1):
        edit = Edit(report.line, report.column, report.column + len(quoted[0]), near)
    message = f'{name}(): no parameter named "{quoted[0]}"{hint}'
    return subject.at(report, rule, message, name, near, edit)
