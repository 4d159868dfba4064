"""Reads of an API that nothing in a program uses, and the program without them.

Such a call costs time, and its failure ends a program that does not need it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from atc.assist.language.api_words import tool_stems
from atc.assist.language.question import Question
from atc.program.def_use import DefUse, IsSource, calling, def_use
from atc.program.tree import called_name, called_tool, lines_of, nodes_of
from protocols.model import Protocol

__all__ = ["UnusedRead", "without_unused_reads"]

_PURE_METHODS = frozenset({"copy", "get", "items", "json", "keys", "lower", "split", "strip", "upper", "values"})
_BUILTINS = "all any bool dict enumerate float int len list max min next range reversed set sorted str sum tuple zip"
_PURE_FUNCTIONS = frozenset(_BUILTINS.split())
_EXPECTS_FAILURE = (ast.Try, ast.With)
"""Statements in which a call may be made for its error alone."""


class UnusedRead(NamedTuple):
    """A call that was left out: its line in the program, and its tool."""

    line: int
    tool: str


def without_unused_reads(
    program: str, protocol: Protocol, tools: Collection[str], question: Question
) -> tuple[str, list[UnusedRead]]:
    """The program without the calls that nothing uses, and those calls, in the order of their lines.

    A call stays

    - if another call needs its result, be it one that is left out: a chain that leads nowhere speaks against an answer;
    - if it may change anything, or its statement has another effect or shares a line;
    - if it may be made for its error, inside `try` or `with`;
    - if it has a text as an argument, which somebody chose, or the question a word of its tool that no used call has;
    - if its value is replaced before any use: that is more likely a slip;
    - if no call would be left.

    What is looked for in vain is so still found by `atc.assist.rules`.

    Args:
        tools: The names of the functions that a program may call.
    """
    flow = def_use(program)
    if flow is None:
        return program, []
    is_call, lines = calling(tools), program.split("\n")
    unused = list(flow.dead_calls(is_call))
    used = {called_tool(call) for call in nodes_of(flow.tree, ast.Call) if is_call(call) and call not in unused}
    wanted = set(question.stems).difference(*map(tool_stems, used))
    left_out: list[UnusedRead] = []
    statements: set[ast.stmt] = set()
    for call in unused if used else ():
        tool = protocol.tool(called_tool(call))
        if tool.writes or tool.gives_nothing or not wanted.isdisjoint(tool_stems(tool.name)):
            continue
        further = None if _has_text(flow, call) else _removable(flow, call, is_call)
        if further is None or not all(_stands_alone(statement, lines) for statement in further):
            continue
        if _leaves_bodies(flow, statements | further):
            left_out.append(UnusedRead(call.lineno, tool.name))
            statements |= further
    return _without(program, statements), sorted(left_out)


def _has_text(flow: DefUse, call: ast.Call) -> bool:
    """True if an argument of a call is a text that the program says."""
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(isinstance(flow.constant(argument), str) for argument in arguments)


def _without(program: str, statements: Iterable[ast.stmt]) -> str:
    """The program without the lines of some statements."""
    rows = {row for entry in statements for row in lines_of(entry)}
    return "\n".join(text for row, text in enumerate(program.split("\n"), 1) if row not in rows)


def _removable(flow: DefUse, call: ast.Call, is_call: IsSource) -> set[ast.stmt] | None:
    """The statement of an unused call and those that only use its value; None where they do anything else."""
    first = flow.statement(call)
    if first is None or _is_guarded(flow, first):
        return None
    replaced = {lost.value for lost, _ in flow.overwritten()}
    statements, pending = set[ast.stmt](), [first]
    while pending:
        statement = pending.pop()
        if statement in statements:
            continue
        statements.add(statement)
        if getattr(statement, "value", None) in replaced or not _is_pure(statement, call, is_call):
            return None
        pending += _users(flow, statement)
    return statements


def _users(flow: DefUse, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that read a variable that a statement sets."""
    for definition in flow.definitions:
        if flow.statement(definition.node) is statement:
            for use in flow.uses(definition):
                if (user := flow.statement(use)) is not None:
                    yield user


def _is_pure(statement: ast.stmt, call: ast.Call, is_call: IsSource) -> bool:
    """True for an assignment or a call alone that changes nothing but its variable, the call of the tool aside."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr):
        return False
    if any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in ast.walk(statement)):
        return False
    others = (node for node in nodes_of(statement, ast.Call) if node is not call)
    return not any(is_call(node) or not _is_pure_call(node) for node in others)


def _is_pure_call(call: ast.Call) -> bool:
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _PURE_METHODS
    return is_method or called_name(call) in _PURE_FUNCTIONS


def _is_guarded(flow: DefUse, statement: ast.stmt) -> bool:
    """True inside `try` or `with`, where a call may be made to see whether it fails."""
    node: ast.AST | None = statement
    while (node := flow.parent(node) if node is not None else None) is not None:
        if isinstance(node, _EXPECTS_FAILURE):
            return True
    return False


def _stands_alone(statement: ast.stmt, lines: Sequence[str]) -> bool:
    """True if a statement shares its lines with nothing but a comment."""
    before = lines[statement.lineno - 1].encode()[: statement.col_offset]  # syntax trees count bytes
    after = lines[lines_of(statement)[-1] - 1].encode()[statement.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def _leaves_bodies(flow: DefUse, statements: set[ast.stmt]) -> bool:
    """True if no block becomes empty without the statements."""
    for statement in statements:
        for _, block in ast.iter_fields(flow.parent(statement) or flow.tree):
            if isinstance(block, list) and statement in block and all(entry in statements for entry in block):
                return False
    return True
