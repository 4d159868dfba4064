"""Diagnostics of a program before it runs, at its own lines and in the words of the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from atc.assist.check.diagnostic import Diagnostic, Edit
from atc.assist.check.diagnostics import Subject, describe_reports
from atc.assist.check.literals import hallucinated_identifiers, placeholders, wrong_constants
from atc.assist.check.stubs import Stubs, write_stubs
from atc.assist.check.type_checker import CheckerError, CheckerReport, run_checker
from atc.assist.language.question import Question
from atc.program.def_use import DefUse, def_use
from atc.program.source import full_name, nodes_of
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import ProgramRefused
from protocols.model import Protocol
from sandbox.language.parsing import parse_program

__all__ = ["check"]

_INTERACTIVE_ONLY = frozenset({"copyright", "credits", "help", "license"})
"""Names that only an interactive Python has."""
_NO_HEADERS = re.compile(r"`(.+)` has no attribute `headers`")


def check(
    program: str,
    contract: Contract,
    tools: Sequence[str] | None = None,
    question: Question | None = None,
    graph: ProtocolGraph | None = None,
    strict: bool = False,
) -> list[Diagnostic]:
    """The diagnostics of a program, in the order of its lines; nothing is run.

    Args:
        contract: What is known of the responses.
        tools: The tools that the program may call; all of the protocol by default.
        question: An identifier in it is not hallucinated. Without it, no identifier is taken to be.
        graph: The data flow between the tools, to tell identifiers from other arguments.
        strict: Fail if the type checker does; without, its diagnostics are missing then.
    Raises: CheckerError: With `strict`.
    """
    protocol = contract.protocol
    names = protocol.with_values(tools if tools is not None else (tool.name for tool in protocol.tools))
    flow = def_use(program)
    if flow is None:
        return list(_syntax(program))
    tree = flow.tree
    used = set(map(full_name, nodes_of(tree, ast.expr)))
    called = [name for name in names if name in used]
    stubbed = [name for name in names if name in used or name.partition(".")[0] in used]
    stubs = write_stubs(contract, protocol.with_values(stubbed))
    subject = Subject(program, flow, contract, names, stubs, graph)
    try:
        reports = [
            report
            for report in run_checker(program, tree, stubs)
            if not (_is_of_headers(report, stubs, protocol) or _is_of_mixed_values(report, tree))
        ]
    except CheckerError:
        if strict:
            raise
        reports = []
    diagnostics = [
        *describe_reports(subject, reports),
        *wrong_constants(tree, protocol, called),
        *_interactive_names(flow),
        *placeholders(tree, called),
        *hallucinated_identifiers(subject, question, called),
    ]
    return _distinct(sorted(diagnostics, key=lambda diagnostic: (diagnostic.line, diagnostic.column)))


def _is_of_headers(report: CheckerReport, stubs: Stubs, protocol: Protocol) -> bool:
    """True for `result.headers`, which no type of a dict or list has, of a function whose results have headers."""
    match = _NO_HEADERS.search(report.text)
    tools = [protocol.tool(name) for name, kind in stubs.returns.items() if match is not None and kind == match[1]]
    return any(tool.writes or any(response.headers for response in tool.responses) for tool in tools)


def _is_of_mixed_values(report: CheckerReport, tree: ast.Module) -> bool:
    """True for the type of an argument in `**arguments`: of a dict of mixed values the checker takes each to be any."""
    unpacked = {(keyword.lineno, keyword.col_offset) for keyword in nodes_of(tree, ast.keyword) if keyword.arg is None}
    return report.rule == "invalid-argument-type" and (report.line, report.column) in unpacked


def _distinct(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, each once, without those that only follow from another one."""
    distinct: dict[tuple[int, str, str, Edit | None], Diagnostic] = {}
    invented = {(entry.line, entry.column) for entry in diagnostics if entry.rule == "made-up-identifier"}
    unknown_arguments = {(entry.line, entry.tool) for entry in diagnostics if entry.rule == "unknown-argument"}
    for diagnostic in diagnostics:
        if diagnostic.rule == "missing-argument" and (diagnostic.line, diagnostic.tool) in unknown_arguments:
            continue  # the missing argument was passed under another name
        if diagnostic.rule in ("wrong-value", "wrong-type") and (diagnostic.line, diagnostic.column) in invented:
            continue  # an invented value is wrong anyway
        distinct.setdefault((diagnostic.line, diagnostic.rule, diagnostic.message, diagnostic.edit), diagnostic)
    return list(distinct.values())


def _interactive_names(flow: DefUse) -> Iterator[Diagnostic]:
    """Names that only an interactive Python defines."""
    for node in nodes_of(flow.tree, ast.Name):
        if node.id in _INTERACTIVE_ONLY and not flow.definitions_of(node.id):
            message = f'"{node.id}" is not defined'
            yield Diagnostic(node.lineno, node.col_offset, "unknown-name", message, key=node.id)


def _syntax(program: str) -> Iterator[Diagnostic]:
    try:
        parse_program(program)
    except SyntaxError as error:
        yield Diagnostic(error.lineno or 1, max((error.offset or 1) - 1, 0), "syntax", f"not Python: {error.msg}")
    except ProgramRefused as error:
        yield Diagnostic(1, 0, "syntax", f"not Python that can be run: {error}")
