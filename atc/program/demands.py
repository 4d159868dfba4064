"""What a program looks for in the replies of the service: the constants that it compares with, filters by and passes.

They are read from the def-use analysis alone. A comparison demands a value at the place in the reply that its other
side is taken from; the test of a branch that skips demands the opposite.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, cast

from atc.program.def_use import DefUse, calling, def_use
from atc.program.source import called_name, called_tool, nodes_of
from protocols.json_path import Step
from protocols.simulator.demand import Demand, DemandKind

__all__ = ["demands_of"]

_FOLDING = frozenset({"lower", "upper", "casefold", "title"})
_PASSING = frozenset({"strip", "lstrip", "rstrip", "replace", "date", "isoformat"})
"""Methods whose result stands for the value that they are called on."""
_NUMBERS = frozenset({"int", "float", "Decimal"})
_CONVERTING = _NUMBERS | {"str", "round", "abs", "bool", "len"}
_DATED = frozenset({"fromisoformat", "strptime", "fromtimestamp", "utcfromtimestamp"})
_SKIPS = (ast.Continue, ast.Raise, ast.Return, ast.Break)
_COMPARISONS: dict[type[ast.cmpop], DemandKind] = {
    ast.Eq: "is", ast.Is: "is", ast.NotEq: "is not", ast.IsNot: "is not", ast.In: "is", ast.NotIn: "is not",
    ast.Gt: "above", ast.GtE: "above", ast.Lt: "below", ast.LtE: "below",
}  # fmt: skip
_OPPOSITES: dict[DemandKind, DemandKind] = {
    "is": "is not", "is not": "is", "above": "below", "below": "above", "true": "false", "false": "true",
}  # fmt: skip
_SWAPPED: dict[DemandKind, DemandKind] = {"above": "below", "below": "above"}
_NO_CONSTANT = object()
_MAX_DEPTH = 12
_CALLABLE: dict[str, Callable[..., Any]] = {
    "datetime": datetime, "datetime.datetime": datetime, "date": date, "datetime.date": date, "timedelta": timedelta,
    "datetime.timedelta": timedelta, "timezone": timezone, "datetime.fromisoformat": datetime.fromisoformat,
    "date.fromisoformat": date.fromisoformat, "datetime.strptime": datetime.strptime, "int": int, "str": str,
    "float": float, "Decimal": Decimal, "set": set, "frozenset": frozenset, "list": list, "tuple": tuple,
}  # fmt: skip
"""What an expression of constants may call; methods are those of the values."""
_CLOCKS: dict[str, Callable[[Any, list[Any]], object]] = {
    "now": lambda now, zones: now.astimezone(zones[0]) if zones else now.replace(tzinfo=None),
    "utcnow": lambda now, _: now.astimezone(UTC).replace(tzinfo=None),
    "today": lambda now, _: now.replace(tzinfo=None),
    "date.today": lambda now, _: now.date(),
}
_SPELLED = re.compile(r"^(datetime\.)+")
"""What the clock shows, without the module and the class `datetime`."""
_METHODS = frozenset({
    "timestamp", "isoformat", "date", "strftime", "lower", "upper", "strip", "replace", "astimezone", "split", "title",
    "weekday", "isoweekday",
})  # fmt: skip


def demands_of(program: str, tools: Container[str], now: datetime | None = None) -> tuple[Demand, ...]:
    """The demands of a program, each once; none for invalid Python.

    Args:
        tools: The names that it may call.
        now: What its clock shows, if that is known before it runs.
    """
    flow = def_use(program)
    return tuple(dict.fromkeys(_Reader(flow, tools, now).demands())) if flow is not None else ()


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison that may come from a reply: the expression, and what was done to it."""

    node: ast.expr
    folded: bool = False
    sliced: bool = False
    factor: float = 1.0


class _Reader:
    def __init__(self, flow: DefUse, tools: Container[str], now: datetime | None) -> None:
        self._flow = flow
        self._now = now
        self._tools = tools
        self._is_source = calling(tools)

    def demands(self) -> Iterator[Demand]:
        skipped = self._skipping_tests()
        for node in ast.walk(self._flow.tree):
            if isinstance(node, ast.Call) and called_tool(node) in self._tools:
                yield Demand(called_tool(node), "call")
                yield from self._arguments(node)
            elif isinstance(node, ast.Call):
                yield from self._text_test(node, self._is_negated(node, skipped))
                if called_name(node) in _NUMBERS and node.args and not (side := self._side(node.args[0])).sliced:
                    yield from self._at(side, "number", [None], False)
            elif isinstance(node, ast.Compare):
                yield from self._comparison(node, self._is_negated(node, skipped))
            elif isinstance(node, ast.If | ast.IfExp):
                yield from self._truth(node.test, node in skipped)
            elif isinstance(node, ast.comprehension):
                for test in node.ifs:
                    yield from self._truth(test, negated=False)
            if isinstance(node, ast.Subscript | ast.Call):
                yield from self._key(node)

    # -- tests -----------------------------------------------------------------------------------------------------

    def _skipping_tests(self) -> set[ast.AST]:
        """The branches that only leave what is at hand: `if order["state"] != "paid": continue`."""
        return {
            node
            for node in nodes_of(self._flow.tree, ast.If)
            if isinstance(node.body[-1], _SKIPS) and not node.orelse and not any(nodes_of(node.body[-1], ast.Name))
        }

    def _is_negated(self, node: ast.AST, skipped: set[ast.AST]) -> bool:
        """True if the program goes on where a test fails."""
        negated = False
        child, parent = node, self._flow.parent(node)
        while parent is not None and not isinstance(child, ast.stmt):
            if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                negated = not negated
            if parent in skipped and isinstance(parent, ast.If) and child is parent.test:
                negated = not negated
            child, parent = parent, self._flow.parent(parent)
        return negated

    def _comparison(self, node: ast.Compare, negated: bool) -> Iterator[Demand]:
        sides = (node.left, *node.comparators)
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            kind = _COMPARISONS[type(operator)]
            contains = isinstance(operator, ast.In | ast.NotIn)
            for value_side, other, turned in ((left, right, False), (right, left, True)):
                constants = self.constants(other)
                if constants and not (turned and contains):
                    listed = contains or (negated and kind == "is not")
                    values = [v for c in constants for v in (c if contains and isinstance(c, _LISTS) else [c])]
                    if contains and any(isinstance(constant, str) for constant in constants):
                        continue
                    wanted = _SWAPPED.get(kind, kind) if turned else kind
                    wanted = _OPPOSITES.get(wanted, wanted) if negated else wanted
                    yield from self._at(self._side(value_side), wanted, values, listed)
                elif constants and turned and contains and (kind == "is") == (not negated):
                    # `"x" in item["tags"]`: the list holds it, or the text does.
                    yield from self._at(self._side(value_side), "contains", constants, True)

    def _truth(self, test: ast.expr, negated: bool) -> Iterator[Demand]:
        match test:
            case ast.UnaryOp(op=ast.Not()):
                yield from self._truth(test.operand, not negated)
            case ast.BoolOp():
                for value in test.values:
                    yield from self._truth(value, negated)
            case ast.Name() | ast.Subscript() | ast.Call():
                if called_tool(test) not in self._tools:
                    yield from self._at(self._side(test), "false" if negated else "true", [None], False)

    def _text_test(self, node: ast.Call, negated: bool) -> Iterator[Demand]:
        """The demands of `startswith` and `endswith`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"startswith", "endswith"} and node.args:
            kind: DemandKind = "starts" if node.func.attr == "startswith" else "contains"
            values = [v for c in self.constants(node.args[0]) for v in (c if isinstance(c, tuple) else [c])]
            if not negated:
                yield from self._at(self._side(node.func.value), kind, values, True)

    def _key(self, node: ast.Subscript | ast.Call) -> Iterator[Demand]:
        """The demands of a look-up in a dict that the program made of a reply: `by_name["Harbour"]`."""
        match node:
            case ast.Subscript(value=holder, slice=key):
                pass
            case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[key, *_]):
                pass
            case _:
                return
        table = self._flow.resolve(holder)
        if isinstance(table, ast.DictComp):
            yield from self._at(self._side(table.key), "is", self.constants(key), True)

    def _side(self, node: ast.expr) -> _Side:
        """An expression without what only changes the form of its value."""
        side = _Side(node)
        for _ in range(_MAX_DEPTH):
            match side.node:
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _FOLDING:
                    side = _Side(inner, True, side.sliced, side.factor)
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _PASSING:
                    side = _Side(inner, side.folded, side.sliced, side.factor)
                case ast.Call(args=[inner, *_]) if called_name(side.node) in _CONVERTING:
                    side = _Side(inner, side.folded, side.sliced, side.factor)
                case ast.Call(func=ast.Attribute(attr=name), args=[inner, *_]) if name in _DATED:
                    side = _Side(inner, side.folded, side.sliced, side.factor)
                case ast.Subscript(value=inner, slice=ast.Slice()):
                    side = _Side(inner, side.folded, True, side.factor)
                case ast.BinOp(left=inner, op=ast.Div() | ast.Mult() as operator, right=ast.Constant(int() as number)):
                    factor = number if isinstance(operator, ast.Div) else 1 / number
                    side = _Side(inner, side.folded, side.sliced, side.factor * factor)
                case ast.BoolOp(op=ast.Or(), values=[inner, ast.Constant() | ast.Dict() | ast.List()]):
                    side = _Side(inner, side.folded, side.sliced, side.factor)
                case ast.Name() as name if (value := self._flow.resolve(name)) is not name:
                    side = _Side(value, side.folded, side.sliced, side.factor)
                case _:
                    break
        return side

    def _at(self, side: _Side, kind: DemandKind, values: list[object], listed: bool) -> Iterator[Demand]:
        """The demands for values at the places that an expression is taken from."""
        for origin in self._flow.origins(side.node, self._is_source):
            if not origin.path or isinstance(side.node, ast.Constant):
                continue
            for value in values:
                scaled = value
                if side.factor != 1 and isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
                    scaled = float(value) * side.factor
                form: DemandKind = "starts" if side.sliced and kind == "is" and isinstance(value, str) else kind
                if value is None and kind in {"is", "is not"}:
                    form, scaled = ("false" if kind == "is" else "true"), None
                yield Demand(called_tool(origin.call), form, _plain(scaled), origin.path, side.folded)

    # -- arguments -------------------------------------------------------------------------------------------------

    def _arguments(self, call: ast.Call) -> Iterator[Demand]:
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield from self._argument(called_tool(call), (keyword.arg,), keyword.value)
                continue
            table = self._flow.resolve(keyword.value)  # `**arguments`
            if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "dict":
                for part in table.keywords:
                    if part.arg is not None:
                        yield from self._argument(called_tool(call), (part.arg,), part.value)
            if isinstance(table, ast.Dict):
                for key, value in zip(table.keys, table.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield from self._argument(called_tool(call), (key.value,), value)

    def _argument(self, tool: str, path: tuple[Step, ...], node: ast.expr) -> Iterator[Demand]:
        whole = self._flow.resolve(node)
        if isinstance(whole, ast.Dict):
            for key, value in zip(whole.keys, whole.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield from self._argument(tool, (*path, key.value), value)
            return
        if isinstance(whole, ast.List) and any(isinstance(part, ast.Dict) for part in whole.elts):
            for index, part in enumerate(whole.elts):
                yield from self._argument(tool, (*path, index), part)
            return
        constants = [constant for constant in self.constants(node) if constant is not None]
        for constant in constants:
            yield Demand(tool, "argument", _plain(constant), path)
        if not constants:
            yield Demand(tool, "argument", None, path, taken=True)

    # -- constants -------------------------------------------------------------------------------------------------

    def constants(self, node: ast.expr) -> list[object]:
        """The constants that an expression may be; empty if it is none."""
        value = self._value(node, 0)
        if value is not _NO_CONSTANT:
            return [value]
        if not isinstance(node, ast.Name):
            return []
        values: list[object] = []
        for definition in self._flow.reaching(node):
            for source in self._flow.values(definition):
                constant = self._value(source, 0)
                if definition.path == (0,) and isinstance(constant, _LISTS):
                    values += list(constant)
                elif not definition.path and constant is not _NO_CONSTANT:
                    values.append(constant)
        return values

    def _value(self, node: ast.expr, depth: int) -> object:
        """The value of an expression of constants, dates and methods of them; `_NO_CONSTANT` for any other."""
        if depth > _MAX_DEPTH:
            return _NO_CONSTANT
        node = self._flow.resolve(node)
        if isinstance(node, ast.Constant):
            return node.value
        with suppress(Exception):  # an expression that fails has no value
            match node:
                case ast.List() | ast.Tuple() | ast.Set():
                    return self._all([*node.elts], depth, list)
                case ast.UnaryOp(op=ast.USub()):
                    return self._all([node.operand], depth, lambda parts: -parts[0])
                case ast.BinOp(op=ast.Add()):
                    return self._all([node.left, node.right], depth, lambda parts: parts[0] + parts[1])
                case ast.BinOp(op=ast.Sub()):
                    return self._all([node.left, node.right], depth, lambda parts: parts[0] - parts[1])
                case ast.BinOp(op=ast.Mult()):
                    return self._all([node.left, node.right], depth, lambda parts: _product(*parts))
                case ast.Name() | ast.Attribute() if _SPELLED.sub("", ast.unparse(node)) in {"UTC", "timezone.utc"}:
                    return UTC
                case ast.JoinedStr():
                    plain = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
                    return self._all(plain, depth, lambda parts: "".join(map(str, parts)))
                case ast.Call():
                    return self._called(node, depth)
        return _NO_CONSTANT

    def _called(self, node: ast.Call, depth: int) -> object:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        names = [keyword.arg for keyword in node.keywords]
        count = len(node.args)

        def apply(function: Callable[..., Any], parts: list[Any]) -> object:
            return function(*parts[:count], **dict(zip(cast("list[str]", names), parts[count:], strict=True)))

        name = called_tool(node) or ast.unparse(node.func)
        clock = _CLOCKS.get(_SPELLED.sub("", name)) if self._now is not None and "." in name else None
        if clock is not None:
            return self._all(arguments, depth, lambda zones: clock(self._now, zones))
        if name in _CALLABLE and None not in names:
            return self._all(arguments, depth, lambda parts: apply(_CALLABLE[name], parts))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            method = node.func.attr
            return self._all(
                [node.func.value, *arguments], depth, lambda parts: apply(getattr(parts[0], method), parts[1:])
            )
        return _NO_CONSTANT

    def _all(self, nodes: list[ast.expr], depth: int, join: Callable[[list[Any]], object]) -> object:
        parts = [self._value(node, depth + 1) for node in nodes]
        return _NO_CONSTANT if any(part is _NO_CONSTANT for part in parts) else join(parts)


_LISTS = (list, tuple, set, frozenset)


def _product(first: Any, second: Any) -> object:
    """A product of numbers; texts and lists are not repeated."""
    if not all(isinstance(part, (int, float, Decimal)) for part in (first, second)):
        raise TypeError("no numbers")
    return first * second


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, _LISTS):
        return tuple(_plain(part) for part in value)
    return value
