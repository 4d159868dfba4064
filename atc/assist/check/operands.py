"""Operands that do not fit their operator, and how to write them.

Small models compare "45 g" with 80, write `"Total: " + 7`, and look for a minimum with a variable that is None at
first, or never initialized.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from atc.program.def_use import DefUse
from atc.program.tree import called_name, nodes_of

__all__ = ["NUMBER", "initial_value", "mismatched_operand", "span", "uninitialized_operand"]

NUMBER = 'float(re.search("[0-9]+[.]?[0-9]*", {})[0])'
_TEXT = "str({})"
_LESS = (ast.Lt, ast.LtE)
_MORE = (ast.Gt, ast.GtE)
_SIGNS = frozenset({"-", "/", "*", "<", "<=", ">", ">="})
"""Operators of numbers."""


_EMPTY = {"append": "[]", "extend": "[]", "add": "set()"}
"""Initial values of collections, by the method that fills them."""


def initial_value(tree: ast.AST, name: str) -> str:
    """The initial value of a variable, as program text, by its use.

    An infinity for a minimum or maximum, 0 for a sum, an empty list or set for a collection, else None.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            return _EMPTY.get(node.attr, "None")
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return "0" if _is_number(node.value) else "None"
        if isinstance(node, ast.If):
            for comparison in nodes_of(node.test, ast.Compare):
                if len(comparison.ops) == 1 and (sign := _infinity_sign(comparison, name)) is not None:
                    return f'float("{sign}inf")'
    return "None"


def _infinity_sign(comparison: ast.Compare, name: str) -> str | None:
    """The sign of the infinity that a compared variable begins with; None where it is not compared."""
    left_side, right_side = comparison.left, comparison.comparators[0]
    on_left, on_right = (isinstance(side, ast.Name) and side.id == name for side in (left_side, right_side))
    if on_left == on_right:
        return None
    least = isinstance(comparison.ops[0], _LESS if on_right else _MORE)
    most = isinstance(comparison.ops[0], _MORE if on_right else _LESS)
    return "" if least else "-" if most else None


def uninitialized_operand(
    flow: DefUse, begin: tuple[int, int], end: tuple[int, int]
) -> tuple[str, ast.expr, str] | None:
    """The compared variable that begins as None although it holds a minimum or maximum so far.

    With the node of that None and the initial value; None where the program tests the variable for None.
    """
    for side in _operands(flow.tree, begin, end) or ():
        if not isinstance(side, ast.Name):
            continue
        initial = [
            (node, definition)
            for definition in flow.reaching(side)
            if isinstance(node := definition.value, ast.Constant) and node.value is None
        ]
        value = initial_value(flow.tree, side.id)
        if len(initial) != 1 or value == "None":
            continue
        nothing, definition = initial[0]
        if not any(_is_test(flow.parent(use), use) for use in flow.uses(definition)):
            return side.id, nothing, value
    return None


def _is_test(node: ast.AST | None, name: ast.Name) -> bool:
    """True if an expression or statement tests a variable for None or for truth."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot(), *_]):
            return left is name
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is name
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return True
    return False


def mismatched_operand(
    tree: ast.AST, begin: tuple[int, int], end: tuple[int, int], sign: str, kinds: list[str]
) -> tuple[ast.expr, str] | None:
    """The operand that does not fit the other one, and its replacement with {} for its text.

    None where it may as well be the other one.

    Args:
        begin, end: Where the two operands are, lines from 1 and columns from 0 in bytes.
        kinds: The types of the two, as the checker names them.
    """
    if set(kinds) not in ({"str", "int"}, {"str", "float"}, {"str"}):
        return None
    operands = _operands(tree, begin, end)
    if operands is None:
        return None
    if kinds[0] == kinds[1]:  # two numbers that are written as texts: one after the other
        return (operands[0], NUMBER) if sign in ("-", "/", "*") and not any(map(_is_text, operands)) else None
    text, number = operands[kinds.index("str")], operands[1 - kinds.index("str")]
    if sign == "+":
        return (number, _TEXT) if _is_text(text) else None
    return (text, NUMBER) if sign in _SIGNS and not _is_text(text) else None


def _operands(tree: ast.AST, begin: tuple[int, int], end: tuple[int, int]) -> tuple[ast.expr, ast.expr] | None:
    """The two operands of the operator at a position."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and span(node, node) == (begin, end):
            return node.left, node.right
        if isinstance(node, ast.Compare):
            for left_side, right_side in pairwise([node.left, *node.comparators]):
                if span(left_side, right_side) == (begin, end):
                    return left_side, right_side
    return None


def span(first: ast.expr, last: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    """The begin and end of two expressions, or of one: lines from 1, columns from 0 in bytes."""
    return (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)


def _is_text(node: ast.expr) -> bool:
    """True if an expression is certainly text, and not a number written as text."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_text(node.left) or _is_text(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_number(node: ast.expr) -> bool:
    """True if an expression is certainly a number."""
    if called_name(node):
        return called_name(node) in ("len", "sum", "int", "float", "round", "abs")
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
