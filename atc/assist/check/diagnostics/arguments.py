"""Unknown and missing arguments of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atc.assist.check.diagnostic import Diagnostic, Edit, Rule
from atc.assist.check.diagnostics.subject import Subject, is_misspelled, listed
from atc.assist.check.type_checker import CheckerReport
from atc.program.tree import called_tool
from protocols.calls.binding import nearest_argument, signature
from protocols.model import Tool
from protocols.text.words import words

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
        return subject.at(report, rule, message, name, edit=_with_argument_name(subject, report, tool))
    if rule == "missing-argument":
        missing = [argument for argument in quoted if argument in takes]
        suggestion = f"{missing[0]}=" if missing else None
        edit = _with_missing_arguments(subject, report, name, missing)
        several = "s" if len(missing) != 1 else ""
        names = " and ".join(f'"{argument}"' for argument in missing)
        message = f"{name}(): argument{several} missing for parameter{several} {names}"
        needed = {parameter.argument for parameter in tool.arguments if parameter.location in ("path", "function")}
        doubtful = bool(missing) and needed.isdisjoint(missing)
        return replace(subject.at(report, rule, message, name, suggestion, edit), doubtful=doubtful)
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
    if edit is None and (instead := _equivalent_tool(subject, tool, passed)) is not None:
        hint += f"; write {instead}"
        edit = _with_function(subject, report, name, instead)
    message = f'{name}(): no parameter named "{quoted[0]}"{hint}'
    return subject.at(report, rule, message, name, near, edit)


def _equivalent_tool(subject: Subject, tool: Tool, passed: set[str | None]) -> str | None:
    """The only tool with a like name that takes all passed arguments and needs no other; both only read."""
    name_words = set(words(tool.name)[1:])
    matches = []
    for name in subject.names:
        other_tool = subject.contract.protocol.tool(name)
        takes: set[str | None] = {parameter.argument for parameter in other_tool.arguments}
        needs: set[str | None] = {parameter.argument for parameter in other_tool.arguments if parameter.required}
        reads = not tool.writes and not other_tool.writes
        if needs <= passed <= takes and reads and not name_words.isdisjoint(words(name)[1:]):
            matches.append(name)
    return matches[0] if len(matches) == 1 else None


def _with_function(subject: Subject, report: CheckerReport, name: str, instead: str) -> Edit | None:
    """Call another function."""
    calls = [call for call in subject.calls(report) if called_tool(call) == name]
    return Edit.of(subject.lines, calls[-1].func, instead) if calls else None


def _with_missing_arguments(subject: Subject, report: CheckerReport, name: str, missing: Sequence[str]) -> Edit | None:
    """Pass the missing arguments from calls that need nothing: `user_id=GET_me()["id"]`."""
    calls = [call for call in subject.calls(report) if called_tool(call) == name]
    if not calls or not missing or subject.graph is None or calls[-1].lineno != report.line:
        return None
    texts = []
    for argument in missing:
        sources = subject.graph.providers(name, argument, subject.names)
        if not sources or sources[0].header or 0 in sources[0].path or "…" in subject.graph.expression(sources[0]):
            return None
        texts.append(f"{argument}={subject.graph.expression(sources[0])}")
    row = subject.lines[report.line - 1]
    end = len(row.encode()[: calls[-1].func.end_col_offset].decode(errors="ignore")) + 1
    comma = ", " if calls[-1].args or calls[-1].keywords else ""
    return Edit(report.line, end, end, ", ".join(texts) + comma) if row[end - 1 : end] == "(" else None


def _with_argument_name(subject: Subject, report: CheckerReport, tool: Tool) -> Edit | None:
    """Name a positional value after the only required argument, or the only one that there is."""
    needed = [parameter for parameter in tool.arguments if parameter.required or len(tool.arguments) == 1]
    calls = subject.calls(report)
    if len(needed) != 1 or needed[0] in tool.positional or not calls or len(calls[-1].args) != 1:
        return None
    return Edit(report.line, report.column, report.column, f"{needed[0].argument}=")
