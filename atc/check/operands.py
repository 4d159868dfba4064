"""What an operator is given that does not fit it, and what would.

Small models compare "45 g" with 80, write `"Total: " + 7`, and look for the least of several with a variable that is
None at first, or that nothing has set.
"""

from __future__ import annotations

import ast
from itertools import pairwise

__all__ = ["NUMBER", "begins_with", "misfit", "span", "unbegun"]

NUMBER = 'float(re.search("[0-9]+[.]?[0-9]*", {})[0])'
_TEXT = "str({})"
_LESS = (ast.Lt, ast.LtE)
_MORE = (ast.Gt, ast.GtE)
_SIGNS = frozenset({"-", "/", "*", "<", "<=", ">", ">="})
"""Operators of numbers."""


_EMPTY = {"append": "[]", "extend": "[]", "add": "set()"}
"""What something is at first that is filled by a method."""


def begins_with(tree: ast.AST, name: str) -> str:
    """What a variable is to be before the loop or the branch that sets it: what any other value beats where it is the
    least or the most so far, 0 where it is added to, an empty list or set where it is filled, else None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            return _EMPTY.get(node.attr, "None")
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return "0" if _is_number(node.value) else "None"
        if isinstance(node, ast.If):
            for comparison in ast.walk(node.test):
                if (
                    isinstance(comparison, ast.Compare)
                    and len(comparison.ops) == 1
                    and (sign := _looked_for(comparison, name)) is not None
                ):
                    return f'float("{sign}inf")'
    return "None"


def _looked_for(comparison: ast.Compare, name: str) -> str | None:
    """The sign of infinity that a variable has to begin with which a comparison is about; None where it is not."""
    left_side, right_side = comparison.left, comparison.comparators[0]
    on_left, on_right = (isinstance(side, ast.Name) and side.id == name for side in (left_side, right_side))
    if on_left == on_right:
        return None
    least = isinstance(comparison.ops[0], _LESS if on_right else _MORE)
    most = isinstance(comparison.ops[0], _MORE if on_right else _LESS)
    return "" if least else "-" if most else None


def unbegun(tree: ast.Module, begin: tuple[int, int], end: tuple[int, int]) -> tuple[str, ast.expr, str] | None:
    """Of what is compared at a place the variable that is None at first although it is the least or the most so far.

    With where that None is, and what it is to be; None where the program asks whether it is None.
    """
    for side in _operands(tree, begin, end) or ():
        if not isinstance(side, ast.Name):
            continue
        sets = [node.value for node in tree.body if isinstance(node, ast.Assign) and _names(node) == [side.id]]
        nothing = [value for value in sets if isinstance(value, ast.Constant) and value.value is None]
        value = begins_with(tree, side.id)
        if len(nothing) == len(sets) == 1 and value != "None" and not _is_asked(tree, side.id):
            return side.id, nothing[0], value
    return None


def _names(assignment: ast.Assign) -> list[str]:
    return [target.id for target in assignment.targets if isinstance(target, ast.Name)]


def _is_asked(tree: ast.AST, name: str) -> bool:
    """Whether a program asks if a variable is None, or anything."""
    for node in ast.walk(tree):
        tested = [node.left] if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot) else []
        tested += [node.operand] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []
        tested += [node.test] if isinstance(node, ast.If | ast.IfExp) else []
        tested += node.values if isinstance(node, ast.BoolOp) else []
        if any(isinstance(operand, ast.Name) and operand.id == name for operand in tested):
            return True
    return False


def misfit(
    tree: ast.AST, begin: tuple[int, int], end: tuple[int, int], sign: str, kinds: list[str]
) -> tuple[ast.expr, str] | None:
    """The operand of an operator that does not fit the other one, and how to write it, with {} for what it is.

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
    """The two operands of what stands at a place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and span(node, node) == (begin, end):
            return node.left, node.right
        if isinstance(node, ast.Compare):
            for left_side, right_side in pairwise([node.left, *node.comparators]):
                if span(left_side, right_side) == (begin, end):
                    return left_side, right_side
    return None


def span(first: ast.expr, last: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the text of two expressions, or of one, begins and ends: lines from 1, columns from 0 in bytes."""
    return (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is surely meant as words, and not as a number that is written as a text."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_text(node.left) or _is_text(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is surely a number."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("len", "sum", "int", "float", "round", "abs")
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
