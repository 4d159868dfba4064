"""How a program goes through a list of a reply: over all of it, or to the one item that it looked for."""

from __future__ import annotations

import ast

from atc.diagnosis.provenance import TracedRun
from atc.program.source import called_name, called_tool, lines_of
from sandbox.records import CallRecord

__all__ = ["whole_traversal"]

_MIN_ORDERED = 3
"""Different values from which an order is no accident."""
_AGGREGATES = frozenset({"len", "sum", "max", "min", "sorted", "any", "all", "set", "list", "Counter", "map", "filter"})
_RANKING = frozenset({"max", "min", "sum"})
_REORDERING = frozenset({"list", "sorted", "reversed", "enumerate", "tuple", "iter"})
_ACCESSORS = frozenset({"json", "copy", "values", "items"})


def whole_traversal(traced: TracedRun, call: CallRecord, path: tuple[str, ...]) -> int | None:
    """The line that goes through all of a list in a reply; None where the program takes what it looked for.

    That is one item by its name or its place, or the first of a list that comes in an order.
    """
    items = traced.value_at(call, path)
    traversal = _ListTraversal(traced.tree, call, len(items) if isinstance(items, list) else 0)
    taken = _taken_items(call, path, traced)  # of one alone: the program found what it looked for
    if len(taken) == 1 and not traversal.is_ranked:
        return None
    return None if taken == {0} and _has_ordered_field(items) else traversal.line


def _taken_items(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> set[object]:
    """The positions of the items that values were taken from."""
    return {
        source.path[len(path)]
        for source in traced.used_sources
        if source.call == call.index and source.how != "decided" and source.path[: len(path)] == path
        if len(source.path) > len(path)
    }


def _has_ordered_field(items: object) -> bool:
    """True for a list that comes in the order of one of its fields."""
    if not (isinstance(items, list) and items and all(isinstance(item, dict) for item in items)):
        return False
    return any(_is_ordered([item.get(key) for item in items]) for key in items[0])


def _is_ordered(values: list[object]) -> bool:
    """True for numbers, or texts with a digit such as dates, that only rise or only fall."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    dates = all(isinstance(value, str) and value[:1].isdigit() for value in values)
    if not (numbers or dates) or len(set(values)) < _MIN_ORDERED:
        return False
    rising = sorted(values)  # type: ignore[type-var]
    return values in (rising, rising[::-1])


class _ListTraversal:
    """The traversal of a response's list by a program.

    Args:
        size: The number of items in the list; a longer slice asks for missing items.
    """

    def __init__(self, tree: ast.Module, call: CallRecord, size: int) -> None:
        self._tree, self._call, self._list_length = tree, call, size
        self._holding: set[str] = set()
        for node in ast.walk(tree):
            value = node.value if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) else None
            if value is not None and self._yields_list(value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
                self._holding |= {target.id for target in targets if isinstance(target, ast.Name)}

    @property
    def is_ranked(self) -> bool:
        """True if the program takes the greatest or least of the whole list, or adds it up."""
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call) and called_name(node) in _RANKING)
        return any(self._yields_list(argument) for call in calls for argument in call.args)

    @property
    def line(self) -> int | None:
        """The line that iterates over the whole list; None without one."""
        for node in ast.walk(self._tree):
            iterables: list[ast.expr] = []
            if isinstance(node, (ast.For, ast.comprehension)):
                iterables = [node.iter]
            elif isinstance(node, ast.Call) and (
                called_name(node) in _AGGREGATES or getattr(node.func, "attr", "") == "extend"
            ):
                iterables = node.args
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                iterables = node.comparators
            iterated = next((expression for expression in iterables if self._yields_list(expression)), None)
            if iterated is not None:
                return iterated.lineno
        return None

    def _yields_list(self, node: ast.expr) -> bool:
        """True if an expression is the response of the call or a whole list of it, not one item or a part."""
        if isinstance(node, ast.Name):
            return node.id in self._holding
        if isinstance(node, ast.Subscript):
            return self._is_whole(node.slice) and self._yields_list(node.value)
        if isinstance(node, ast.BoolOp):
            return any(map(self._yields_list, node.values))
        if isinstance(node, ast.BinOp):
            return self._yields_list(node.left) or self._yields_list(node.right)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return any(self._yields_list(generator.iter) for generator in node.generators)
        if not isinstance(node, ast.Call):
            return False
        if called_tool(node) == self._call.tool:
            line = self._call.line
            return line is None or line in lines_of(node)
        if isinstance(node.func, ast.Name):
            return node.func.id in _REORDERING and any(map(self._yields_list, node.args))
        if not isinstance(node.func, ast.Attribute):
            return False
        if self._call.style == "requests" and node.func.attr in {"get", "request"} and node.lineno == self._call.line:
            return True
        is_get = node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant)
        return bool(is_get or node.func.attr in _ACCESSORS) and self._yields_list(node.func.value)

    def _is_whole(self, step: ast.expr) -> bool:
        """True if a subscript leads to a list, or to all of one."""
        if isinstance(step, ast.Constant):
            return isinstance(step.value, str)
        if not isinstance(step, ast.Slice):
            return False
        end = step.upper.value if isinstance(step.upper, ast.Constant) else step.upper
        return end is None or (isinstance(end, int) and end > self._list_length)
