"""Turn the literals of a program that come from its question into parameters of a function.

A literal becomes a parameter where the question says it and the program uses it as a value: as an argument of a call,
in a comparison, as a limit. Keys, indices and labels stay, but for a label that holds such a text.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from atc.diagnosis.provenance import ArgumentFlow
from atc.program.def_use import DefUse
from atc.program.source import called_tool, nodes_of
from protocols.model import Parameter, Protocol
from protocols.schema_fields import type_of
from protocols.text.entities import read_entities
from sandbox.records import CallRecord

__all__ = ["ParameterType", "SavedParameter", "Value", "parametrized"]

Value: TypeAlias = str | int | float
ParameterType = Literal["str", "int", "float"]

MIN_LABEL = 3
"""Fewest characters of a text that is replaced within a label."""

_TRIVIAL = (0, 1)
"""Numbers that programs hold for reasons of their own."""
_FOLDING = frozenset({"casefold", "lower"})
_KEY_METHODS = frozenset({"get", "pop", "setdefault"})
_EQUALITIES = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


@dataclass(frozen=True, slots=True)
class SavedParameter:
    """A parameter of a saved program. `choices` are the values that the API allows; empty for any."""

    name: str
    type: ParameterType
    default: Value
    choices: tuple[Value, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class _Use:
    """A literal that comes from the question: the value as the question has it, the name that its place suggests, the
    argument that it fills, and whether it is compared in lower case."""

    node: ast.Constant
    value: Value
    name: str
    argument: Parameter | None = None
    folded: bool = False


def parametrized(
    program: str,
    question: str,
    protocol: Protocol,
    calls: Collection[CallRecord],
    flow: Collection[ArgumentFlow],
    reserved: Collection[str] = (),
) -> tuple[ast.Module, tuple[SavedParameter, ...]]:
    """The program with its parameters as names, and the parameters in the order of their first use.

    Args:
        calls: Those of the program's run; `flow` says where their arguments came from.
        reserved: Names that no parameter may have.
    """
    tree = ast.parse(program)
    finder = _Finder(DefUse(tree), question, protocol, _arguments_from_question(calls, flow))
    uses: dict[tuple[type, Value], list[_Use]] = {}
    for use in finder.uses():
        uses.setdefault((type(use.value), use.value), []).append(use)
    names = _Names(finder.flow, {tool.name for tool in protocol.tools}.union(reserved))
    parameters = []
    replaced: dict[ast.AST, ast.expr] = {}
    for (_, value), alike in uses.items():
        parameter = _parameter(names.for_uses(alike), value, alike)
        parameters.append(parameter)
        replaced |= {use.node: _read(parameter.name, use.folded) for use in alike}
    texts = [p for p in parameters if isinstance(p.default, str) and len(p.default) >= MIN_LABEL]
    labels = {str(p.default).lower(): _read(p.name, True) for p in texts}
    labels |= {str(p.default): _read(p.name, False) for p in parameters if p in texts or p.type != "str"}
    module: ast.Module = _Replacer(replaced, labels, names.dropped).visit(tree)
    return ast.fix_missing_locations(module), tuple(parameters)


def _arguments_from_question(calls: Collection[CallRecord], flow: Collection[ArgumentFlow]) -> frozenset[str]:
    """The values of arguments that came from the question, as text."""
    by_index = {call.index: call for call in calls}
    values = (
        by_index[entry.call].arguments.get(entry.argument)
        for entry in flow
        if entry.origin == "query" and entry.call in by_index
    )
    return frozenset(str(item) for value in values for item in (value if isinstance(value, list) else [value]))


class _Finder:
    """Finds the literals of a program that come from its question."""

    def __init__(self, flow: DefUse, question: str, protocol: Protocol, passed: frozenset[str]) -> None:
        self.flow = flow
        self._question = question
        self._names = {entity.text.casefold() for entity in read_entities(question).names}
        self._tools = {tool.name: tool for tool in protocol.tools}
        self._passed = passed

    def uses(self) -> Iterator[_Use]:
        """The literals with their names, in the order of the program."""
        constants = [node for node in nodes_of(self.flow.tree, ast.Constant) if type(node.value) in (str, int, float)]
        constants.sort(key=lambda node: (node.lineno, node.col_offset))
        yield from filter(None, map(self._use, constants))

    def _use(self, node: ast.Constant) -> _Use | None:
        value, parent = node.value, self.flow.parent(node)
        assert isinstance(value, str | int | float)
        question_value = self._in_question(value)
        is_label = isinstance(value, str) and isinstance(parent, ast.Call) and called_tool(parent) == "print"
        if question_value is None or is_label or self._is_key(node, parent):
            return None
        name, argument = self._place(node)
        # What went to the API is the same thing wherever else it stands.
        if argument is not None or str(value) in self._passed:
            return _Use(node, value, name, argument)
        if isinstance(parent, ast.Compare):
            is_order = isinstance(value, str) and not isinstance(parent.ops[0], _EQUALITIES)
            folded = question_value != value and _is_folded(parent)
            is_meant = not is_order and value not in _TRIVIAL
            return _Use(node, question_value if folded else value, name, None, folded) if is_meant else None
        if isinstance(value, str):
            is_meant = value.casefold() in self._names
        else:
            is_meant = isinstance(parent, ast.Slice) and node is parent.upper and value not in _TRIVIAL
        return _Use(node, value, name) if is_meant else None

    def _in_question(self, value: Value) -> Value | None:
        """The value as the question spells it; None where the question does not say it."""
        text = str(value).strip()
        pattern = rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)"
        if not re.search(r"\w", text):
            return None
        if re.search(pattern, self._question):
            return value
        spelled = re.search(pattern, self._question, re.IGNORECASE)
        return (spelled[0] if isinstance(value, str) else value) if spelled else None

    def _is_key(self, node: ast.Constant, parent: ast.AST | None) -> bool:
        """Whether a literal is a key, an index or a statement of its own."""
        match parent:
            case ast.Subscript() | ast.Expr() | ast.JoinedStr() | ast.FormattedValue():
                return True
            case ast.Dict():
                return node in parent.keys
            case ast.Call(func=ast.Attribute(attr=method)) if method in _KEY_METHODS:
                return bool(parent.args) and node is parent.args[0]
            case ast.Compare(ops=[ast.In() | ast.NotIn()]) if node is parent.left and isinstance(node.value, str):
                return node.value.islower() and str(node.value) not in self._passed
        return False

    def _place(self, node: ast.expr) -> tuple[str, Parameter | None]:
        """The name that the place of an expression suggests, and the argument of a tool that it fills."""
        parent = self.flow.parent(node)
        match parent:
            case ast.keyword(arg=str() as name):
                call = self.flow.parent(parent)
                tool = self._tools.get(called_tool(call)) if isinstance(call, ast.Call) else None
                return name, tool.argument(name) if tool is not None else None
            case ast.Call() if (tool := self._tools.get(called_tool(parent))) is not None and node in parent.args:
                position = parent.args.index(node)
                argument = tool.positional[position] if position < len(tool.positional) else None
                return (argument.argument if argument else ""), argument
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name, None
            case ast.Dict():
                key = parent.keys[parent.values.index(node)] if node in parent.values else None
                return (str(key.value) if isinstance(key, ast.Constant) else ""), None
            case ast.Slice():
                return "limit", None
            case ast.Compare():
                others = (_key_of(side) for side in (parent.left, *parent.comparators) if side is not node)
                return next(filter(None, others), ""), None
            case ast.For(target=ast.Name(id=name)) | ast.comprehension(target=ast.Name(id=name)):
                return name, None
            case ast.List() | ast.Tuple() | ast.Set():
                return self._place(parent)
        return "", None


def _is_folded(compare: ast.Compare) -> bool:
    """Whether a side of a comparison is put into lower case."""
    return any(
        isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr in _FOLDING
        for side in (compare.left, *compare.comparators)
    )


def _key_of(node: ast.expr) -> str:
    """The name of what an expression reads: its last key, attribute or variable."""
    match node:
        case ast.Subscript(slice=ast.Constant(str() as key)):
            return key
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(str() as key), *_]) if method == "get":
            return key
        case ast.Call(func=ast.Attribute(value=value)) | ast.Subscript(value=value):
            return _key_of(value)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


class _Names:
    """Gives parameters names that mean nothing else in the program."""

    def __init__(self, flow: DefUse, reserved: Collection[str]) -> None:
        self._flow = flow
        self._taken = {node.id for node in nodes_of(flow.tree, ast.Name)} | {*keyword.kwlist, *reserved}
        self._taken |= {definition.name for definition in flow.definitions}
        self._taken |= {name.split("__")[0] for name in reserved}
        self.dropped: set[ast.stmt] = set()
        """Assignments that the parameters stand for."""

    def for_uses(self, uses: list[_Use]) -> str:
        """The name of a parameter, from the best of its uses: a variable of the program, or an argument."""
        for use in uses:
            statement = self._flow.parent(use.node)
            definitions = self._flow.definitions_of(use.name)
            if (
                isinstance(statement, ast.Assign | ast.AnnAssign)
                and statement in self._flow.tree.body
                and len(definitions) == 1
                and use.name.isidentifier()
                and not use.name.startswith("_")
                and not use.folded
            ):
                self.dropped.add(statement)
                return use.name
        suggested = next((use.name for use in sorted(uses, key=lambda use: use.argument is None) if use.name), "")
        base = re.sub(r"\W+", "_", suggested).strip("_").lower() or "value"
        base = base if base[0].isalpha() else f"value_{base}"
        candidates = (base, f"{base}_value", *(f"{base}_{number}" for number in range(2, 1000)))
        name = next(candidate for candidate in candidates if candidate not in self._taken)
        self._taken.add(name)
        return name


def _parameter(name: str, value: Value, uses: list[_Use]) -> SavedParameter:
    argument = next((use.argument for use in uses if use.argument is not None), None)
    kind: ParameterType = "str" if isinstance(value, str) else "int" if isinstance(value, int) else "float"
    if argument is None:
        return SavedParameter(name, kind, value)
    if kind == "int" and type_of(argument.schema) == "number":
        kind = "float"
    listed = argument.schema.get("enum")
    choices = tuple(item for item in listed if isinstance(item, str | int | float)) if isinstance(listed, list) else ()
    description = argument.description.strip().partition("\n")[0]
    return SavedParameter(name, kind, value, choices if value in choices else (), description)


def _read(name: str, folded: bool) -> ast.expr:
    read = ast.Name(name, ast.Load())
    return ast.Call(ast.Attribute(read, "lower", ast.Load()), [], []) if folded else read


class _Replacer(ast.NodeTransformer):
    """Puts names in the place of literals, and of texts within labels."""

    def __init__(
        self, replaced: dict[ast.AST, ast.expr], labels: dict[str, ast.expr], dropped: Collection[ast.stmt]
    ) -> None:
        self._replaced = replaced
        self._dropped = dropped
        self._labels = labels
        longest = sorted(map(re.escape, labels), key=len, reverse=True)
        self._pattern = re.compile(rf"(?<![\w.])({'|'.join(longest)})(?!\w|\.\d)") if labels else None

    def visit(self, node: ast.AST) -> Any:
        if node in self._dropped:
            return None
        if node in self._replaced:
            return deepcopy(self._replaced[node])
        return super().visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        groups = [self._parts(str(p.value)) if isinstance(p, ast.Constant) else [p] for p in node.values]
        node.values = [part for group in groups for part in group]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if called_tool(node) == "print":
            node.args = [self._label(argument) for argument in node.args]
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Nonlocal(node.names)  # the program's own level is that of the function now

    def _label(self, argument: ast.expr) -> ast.expr:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            return argument
        if argument.value in self._labels:
            return deepcopy(self._labels[argument.value])
        parts = self._parts(argument.value)
        return argument if all(isinstance(part, ast.Constant) for part in parts) else ast.JoinedStr(parts)

    def _parts(self, text: str) -> list[ast.expr]:
        """The parts of a label: what stays, and the parameters within."""
        pieces = self._pattern.split(text) if self._pattern is not None else [text]
        return [
            ast.FormattedValue(deepcopy(self._labels[piece]), -1) if place % 2 else ast.Constant(piece)
            for place, piece in enumerate(pieces)
            if piece
        ]
