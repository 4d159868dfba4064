"""What a program chose its output by: the filters, orders and limits behind what it prints.

They are read from the program alone, with the def-use analysis: from the printed expressions backwards to the values
that they are made of, and the conditions that these values depend on.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.program.control_flow import Definition
from atc.program.def_use import DefUse, def_use
from atc.program.source import called_name, called_tool, lines_of, nodes_of

__all__ = ["Choice", "ChoiceKind", "choices", "compares", "lines_behind_output"]

ChoiceKind = Literal["filter", "order", "limit"]

_ORDERS = frozenset({"max", "min", "sorted", "nlargest", "nsmallest"})
_INEQUALITIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BRANCHES = (ast.If, ast.While, ast.IfExp)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_RESULTS = (ast.Return, ast.Yield, ast.YieldFrom)
_JUMPS = (ast.Break, ast.Continue, ast.Raise, ast.Return)


@dataclass(frozen=True, slots=True)
class Choice:
    """An expression of a program that decides which values are printed, and its line, from 1."""

    kind: ChoiceKind
    line: int
    text: str


def choices(program: str) -> tuple[Choice, ...]:
    """The choices behind the output of a program, in the order of its lines; none for invalid Python."""
    flow = def_use(program)
    if flow is None:
        return ()
    made: dict[Choice, None] = {}
    for node in _behind_output(flow):
        for kind, expression in _choices_at(node):
            if not (isinstance(expression, ast.Constant) or _asks_own_name(expression)):
                made[Choice(kind, expression.lineno, ast.unparse(expression))] = None
    return tuple(sorted(made, key=lambda choice: choice.line))


def compares(tree: ast.AST) -> bool:
    """True if a program orders anything or asks what is greater, anywhere: methods of its classes are not followed."""
    return any(
        kind == "order" or any(isinstance(operator, _INEQUALITIES) for operator in nodes_of(expression, ast.cmpop))
        for node in ast.walk(tree)
        for kind, expression in _choices_at(node)
    )


def lines_behind_output(program: str, writes: Container[str] = ()) -> frozenset[int]:
    """The lines of the calls that the output is made of or depends on, as the program is written.

    Args:
        writes: Functions whose calls count as output: they change something.
    """
    flow = def_use(program)
    calls = (node for node in (_behind_output(flow, writes) if flow is not None else ()) if isinstance(node, ast.Call))
    return frozenset(line for call in calls for line in lines_of(call))


def _behind_output(flow: DefUse, writes: Container[str] = ()) -> Iterator[ast.AST]:
    """The nodes that printed values are made of, and the branches and loops that they stand in; each once."""
    pending: list[ast.AST] = [node for node in nodes_of(flow.tree, ast.Call) if _is_output(node, writes)]
    visited: set[ast.AST] = set()
    while pending:
        root = pending.pop()
        for node in ast.walk(root):
            if node in visited:
                continue
            visited.add(node)
            yield node
            if isinstance(node, ast.Name):
                for definition in flow.reaching(node):
                    pending += _made_of(flow, definition)
        for branch in _enclosing(flow, root):
            if branch not in visited:
                visited.add(branch)
                yield branch
                pending += _decided_by(flow, branch)


def _is_output(call: ast.Call, writes: Container[str]) -> bool:
    return called_name(call) == "print" or called_tool(call) in writes


def _decided_by(flow: DefUse, branch: ast.AST) -> list[ast.AST]:
    """The expressions that decide whether what a branch holds happens; for a function its calls."""
    match branch:
        case ast.If() | ast.While() | ast.IfExp():
            return [branch.test]
        case ast.For():
            return [branch.iter]
        case ast.Match():
            return [branch.subject]
    names = (use for definition in flow.definitions if definition.node is branch for use in flow.uses(definition))
    return [call for name in names if isinstance(call := flow.parent(name), ast.Call)]


def _made_of(flow: DefUse, definition: Definition) -> list[ast.AST]:
    """The expressions that a variable holds: its value, what is put into it, and what its methods are given."""
    parts: list[ast.AST] = [definition.value] if definition.value is not None else []
    if isinstance(definition.node, ast.FunctionDef):
        parts += (node for node in ast.walk(definition.node) if isinstance(node, _RESULTS))
    if definition.kind == "augmented":
        parts += filter(None, [flow.statement(definition.node)])
    for use in flow.uses(definition):
        parent = flow.parent(use)
        call = flow.parent(parent) if isinstance(parent, ast.Attribute) else None
        if isinstance(call, ast.Call) and isinstance(flow.parent(call), ast.Expr):
            parts.append(call)
        elif isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
            parts += filter(None, [flow.statement(parent)])
    return parts


def _enclosing(flow: DefUse, node: ast.AST) -> Iterator[ast.AST]:
    """The branches, loops and the function around a node, and the branches before it that may end the way to it."""
    current, parent = node, flow.parent(node)
    while parent is not None and not isinstance(current, _FUNCTIONS):
        if isinstance(parent, (*_BRANCHES, ast.For, ast.Match, ast.FunctionDef)):
            yield parent
        if isinstance(parent, ast.For | ast.While):
            yield from _with_jumps(parent.body)
        elif isinstance(current, ast.stmt):
            yield from _early_ends(parent, current)
        current, parent = parent, flow.parent(parent)


def _early_ends(parent: ast.AST, statement: ast.stmt) -> Iterator[ast.If]:
    """The `if` statements before a statement of the same block that may leave it: `if not films: raise …`."""
    for _, block in ast.iter_fields(parent):
        if isinstance(block, list) and statement in block:
            yield from _with_jumps(block[: block.index(statement)])


def _with_jumps(block: Sequence[ast.stmt]) -> Iterator[ast.If]:
    """The `if` statements of a block that may leave it."""
    for node in block:
        if isinstance(node, ast.If) and any(isinstance(part, _JUMPS) for part in ast.walk(node)):
            yield node


def _choices_at(node: ast.AST) -> Iterator[tuple[ChoiceKind, ast.expr]]:
    match node:
        case ast.If() | ast.IfExp():
            yield "filter", node.test
        case ast.comprehension():
            for condition in node.ifs:
                yield "filter", condition
        case ast.Call() if called_name(node) in _ORDERS:
            yield "order", node
        case ast.Call(func=ast.Attribute(attr="sort" | "most_common")):
            yield "order", node
        case ast.Call() if called_name(node) == "next":
            yield "limit", node
        case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper)) if lower is not None or upper is not None:
            yield "limit", node
        case ast.Subscript(slice=ast.Constant(value=int())) | ast.Subscript(slice=ast.UnaryOp()):
            yield "limit", node


def _asks_own_name(test: ast.expr) -> bool:
    """True for `__name__ == "__main__"`, which chooses nothing."""
    return any(name.id == "__name__" for name in nodes_of(test, ast.Name))
