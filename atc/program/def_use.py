"""Where each value of a program comes from before a run, and where it goes: one analysis, made once per text.

`flow = def_use(program)` answers for the nodes of `flow.tree` (read it, never change it):

- `flow.definitions_of("film")`, `flow.reaching(name)`: everything that binds a variable, and what a use of it may read.
- `flow.uses(definition)`: its other direction.
- `flow.resolve(node)`, `flow.constant(node)`: the one expression, and the one constant, that a node stands for.
- `flow.origins(node, is_source)`: the calls and the paths in their responses that a value is taken from, unchanged.
- `flow.parent(node)`, `flow.statement(node)`: what encloses a node.

`is_source` says which calls begin an origin: `calling(tools)`, or a function of your own for `requests.get(…)`.

It follows branches, loops, `break`, handlers, unpacking, comprehensions and functions. It is exact about order within a
function; a variable that functions share may hold any value that one of them gives it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

from atc.program.control_flow import ControlFlow, Definition
from atc.program.source import called_name, called_tool, nodes_of, parsed
from protocols.json_path import Step

__all__ = ["DefUse", "Definition", "ValueOrigin", "calling", "def_use"]

_MAX_STEPS = 200
"""Expressions that are looked at for the origins of one value."""
_SAME_ITEMS = frozenset({"list", "reversed", "set", "sorted", "tuple"})
_ONE_ITEM = frozenset({"max", "min", "next"})
_SAME_VALUE = frozenset({"copy", "json"})
"""Methods that return the value that they are called on."""
_FOLLOWED = frozenset({"assignment", "comprehension", "loop", "parameter"})

IsSource = Callable[[ast.Call], bool]
_Visited = set[tuple[ast.AST, tuple[Step, ...]]]


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """A call, and the path in its response; 0 stands for any item of a list that the program goes through."""

    call: ast.Call
    path: tuple[Step, ...] = ()


def calling(names: Container[str]) -> IsSource:
    """True for calls of some functions by name."""
    return lambda call: called_tool(call) in names


@lru_cache(maxsize=32)
def def_use(program: str) -> DefUse | None:
    """The analysis of a program; None for invalid Python. It knows no definition where a program nests too deeply."""
    tree = parsed(program)
    return DefUse(tree) if tree is not None else None


class DefUse:
    """The definitions of a program, their uses and their values."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        try:
            flow = ControlFlow(tree)
        except RecursionError:
            flow = ControlFlow(ast.Module([], []))
        self.definitions = tuple(flow.definitions)
        """In the order of evaluation, function bodies last."""
        self._reaching = flow.reaching
        self._uses: dict[Definition, list[ast.Name]] = defaultdict(list)
        for use, definitions in flow.reaching.items():
            for definition in definitions - {None}:
                if definition is not None:
                    self._uses[definition].append(use)

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that directly encloses another."""
        return self._parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement around a node, or the node itself."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self._parents.get(current)
        return current

    def definitions_of(self, name: str) -> tuple[Definition, ...]:
        """Everything that binds a name, anywhere in the program."""
        return tuple(definition for definition in self.definitions if definition.name == name)

    def reaching(self, use: ast.Name) -> tuple[Definition, ...]:
        """The definitions that a use of a name may read; none for a builtin, a tool, or an undefined name."""
        reaching = self._reaching.get(use, frozenset())
        return tuple(sorted((d for d in reaching if d is not None), key=self._order.__getitem__))

    @cached_property
    def _order(self) -> dict[Definition, int]:
        return {definition: place for place, definition in enumerate(self.definitions)}

    def uses(self, definition: Definition) -> tuple[ast.Name, ...]:
        """The uses that may read a definition."""
        return tuple(self._uses.get(definition, ()))

    def only(self, use: ast.Name) -> Definition | None:
        """The definition that a use reads if it reads any; None where there are several."""
        reaching = self._reaching.get(use, frozenset()) - {None}
        return next(iter(reaching)) if len(reaching) == 1 else None

    def resolve(self, node: ast.expr) -> ast.expr:
        """The expression that a name certainly stands for, through plain assignments; else the node itself."""
        for _ in range(_MAX_STEPS):
            definition = self.only(node) if isinstance(node, ast.Name) else None
            if definition is None or definition.kind != "assignment" or definition.path or definition.value is None:
                return node
            node = definition.value
        return node

    def constant(self, node: ast.expr) -> object:
        """The constant that an expression is, literal lists and dicts included; None for any other."""
        try:
            return ast.literal_eval(self.resolve(node))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return None

    def origins(self, node: ast.expr, is_source: IsSource) -> tuple[ValueOrigin, ...]:
        """Where a value may be taken from, unchanged; empty where it is computed, or not of any source."""
        return tuple(dict.fromkeys(self._trace(node, (), is_source, set())))

    def _trace(
        self, node: ast.expr, path: tuple[Step, ...], is_source: IsSource, visited: _Visited
    ) -> Iterator[ValueOrigin]:
        """The origins of what lies at a path in the value of an expression."""
        if (node, path) in visited or len(visited) > _MAX_STEPS:
            return
        visited.add((node, path))
        match node:
            case ast.Name():
                for definition in self.reaching(node):
                    for value in self.values(definition):
                        yield from self._trace(value, (*definition.path, *path), is_source, visited)
                    yield from self._appended(definition, path, is_source, visited)
            case ast.Subscript(slice=ast.Slice()):
                yield from self._trace(node.value, path, is_source, visited)
            case ast.Subscript(slice=ast.Constant(str() | int() as step)):
                yield from self._trace(node.value, (step, *path), is_source, visited)
            case ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(int()))):
                yield from self._trace(node.value, (0, *path), is_source, visited)
            case ast.NamedExpr():
                yield from self._trace(node.value, path, is_source, visited)
            case ast.IfExp():
                for branch in (node.body, node.orelse):
                    yield from self._trace(branch, path, is_source, visited)
            case ast.BoolOp():
                for branch in node.values:
                    yield from self._trace(branch, path, is_source, visited)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                if path and isinstance(path[0], int):
                    yield from self._trace(node.elt, path[1:], is_source, visited)
                elif not path:  # a list of items is the list, or a part of it
                    for origin in self._trace(node.elt, (), is_source, set(visited)):
                        if origin.path[-1:] == (0,):
                            yield ValueOrigin(origin.call, origin.path[:-1])
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if path and isinstance(key, ast.Constant) and key.value == path[0]:
                        yield from self._trace(value, path[1:], is_source, visited)
            case ast.List() | ast.Tuple():
                if path and isinstance(path[0], int) and path[0] < len(node.elts):
                    yield from self._trace(node.elts[path[0]], path[1:], is_source, visited)
            case ast.Call() if is_source(node):
                yield ValueOrigin(node, path)
            case ast.Call():
                yield from self._traced_call(node, path, is_source, visited)

    def values(self, definition: Definition) -> Iterator[ast.expr]:
        """The expressions that a definition takes its value from: for a parameter, what the calls pass."""
        function = self.parent(self.parent(definition.node) or definition.node)
        if definition.kind in _FOLLOWED and definition.value is not None:
            yield definition.value
        elif definition.kind == "parameter" and isinstance(function, ast.FunctionDef):
            names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
            own = next(candidate for candidate in self.definitions if candidate.node is function)
            for call in (self.parent(use) for use in self.uses(own)):
                if isinstance(call, ast.Call):
                    passed = dict(zip(names, call.args, strict=False))
                    passed |= {word.arg: word.value for word in call.keywords if word.arg}
                    yield from (passed[definition.name],) if definition.name in passed else ()

    def _traced_call(
        self, node: ast.Call, path: tuple[Step, ...], is_source: IsSource, visited: _Visited
    ) -> Iterator[ValueOrigin]:
        """The origins of what a method or a builtin passes on, and of what a function of the program returns."""
        name, first = called_name(node), node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _SAME_VALUE:
                yield from self._trace(node.func.value, path, is_source, visited)
            elif node.func.attr == "get" and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield from self._trace(node.func.value, (first.value, *path), is_source, visited)
        elif isinstance(node.func, ast.Name) and self.reaching(node.func):
            for definition in self.reaching(node.func):
                if isinstance(definition.node, ast.FunctionDef):
                    for returned in nodes_of(definition.node, ast.Return):
                        if returned.value is not None:
                            yield from self._trace(returned.value, path, is_source, visited)
                    for whole in nodes_of(definition.node, ast.YieldFrom):
                        yield from self._trace(whole.value, path, is_source, visited)
                    for item in nodes_of(definition.node, ast.Yield) if path[:1] == (0,) else ():
                        if item.value is not None:
                            yield from self._trace(item.value, path[1:], is_source, visited)
        elif first is not None and name in _SAME_ITEMS:
            yield from self._trace(first, path, is_source, visited)
        elif first is not None and name in _ONE_ITEM and len(node.args) == 1:
            yield from self._trace(first, (0, *path), is_source, visited)
        elif first is not None and name == "enumerate" and path[:2] == (0, 1):
            yield from self._trace(first, (0, *path[2:]), is_source, visited)

    def _appended(
        self, definition: Definition, path: tuple[Step, ...], is_source: IsSource, visited: _Visited
    ) -> Iterator[ValueOrigin]:
        """The origins of what is put into a list: by `append`, `extend` or `+=`."""
        if not (path and isinstance(path[0], int)):
            return
        statement = self.statement(definition.node) if definition.kind == "augmented" else None
        if isinstance(statement, ast.AugAssign):
            yield from self._trace(statement.target, path, is_source, visited)
            yield from self._trace(statement.value, path, is_source, visited)
        initial = definition.value
        for step in definition.path:  # `films, page = [], 1`
            unpacked = isinstance(initial, ast.Tuple) and isinstance(step, int) and step < len(initial.elts)
            initial = cast("ast.Tuple", initial).elts[cast("int", step)] if unpacked else None
        for use in self.uses(definition) if isinstance(initial, ast.List) else ():
            method = self.parent(use)
            call = self.parent(method) if isinstance(method, ast.Attribute) else None
            if not (isinstance(call, ast.Call) and call.func is method and len(call.args) == 1):
                continue
            if isinstance(method, ast.Attribute) and method.attr in {"append", "extend"}:
                inner = path[1:] if method.attr == "append" else path
                yield from self._trace(call.args[0], inner, is_source, visited)
