"""Which definitions of a variable reach which use: the blocks of a program, and a fixed point over them.

`atc.program.def_use` asks the questions; nothing else reads this module. A handler may begin after any statement of its
`try`, a `finally` after any of the whole statement.
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from atc.program.source import called_name
from protocols.json_path import Step

__all__ = ["ControlFlow", "Definition"]

Kind = Literal[
    "assignment", "augmented", "loop", "comprehension", "parameter", "with", "except", "match", "import", "function"
]
_Key = tuple[int, str]
"""A variable: the scope that owns it, and its name."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ITERATING = frozenset({"max", "min", "sorted"})
"""Functions whose `key` is called with each item of the first argument."""


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One place that binds a name.

    `node` binds it: the name itself, a parameter, an alias, a handler, a function. `value` is the expression that it is
    taken from, and `path` the place in its value: `(0,)` for an item of a loop, as in `a` of `a, b = pair`.
    """

    name: str
    kind: Kind
    node: ast.AST
    value: ast.expr | None = None
    path: tuple[Step, ...] = ()


@dataclass(slots=True)
class _Scope:
    owner: ast.AST
    names: set[str]
    is_function: bool = True


@dataclass(slots=True)
class _Block:
    """Names used, set (a definition; a weak one leaves others in place) and deleted (None), in order."""

    events: list[tuple[_Key, ast.Name | Definition | None, bool]] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


class ControlFlow:
    """Definitions in the order of evaluation, and for each use of a name those that it may read."""

    def __init__(self, tree: ast.Module) -> None:
        self.definitions: list[Definition] = []
        self.reaching: dict[ast.Name, frozenset[Definition | None]] = {}
        self._blocks: list[_Block] = []
        self._scopes = [_Scope(tree, _bound(tree.body))]
        self._weak = 0
        self._loops: list[tuple[int, int]] = []
        self._parameter_values: dict[ast.AST, ast.expr] = {}
        self._shared: set[_Key] = set()
        self._by_key: dict[_Key, list[Definition]] = defaultdict(list)
        self._functions: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, list[_Scope]]] = []
        entries = [self._begin()]
        self._statements(tree.body)
        while self._functions:
            function, scopes = self._functions.pop()
            entries.append(self._function(function, scopes))
        self._solve(entries)

    # Blocks

    def _begin(self, *before: int) -> int:
        """Begin a block after some others, and go on in it."""
        self._blocks.append(_Block())
        self._current = len(self._blocks) - 1
        for block in before:
            self._blocks[block].successors.append(self._current)
        return self._current

    def _link(self, *after: int) -> None:
        self._blocks[self._current].successors += after

    def _new(self) -> int:
        """A block for later."""
        self._blocks.append(_Block())
        return len(self._blocks) - 1

    def _key(self, name: str) -> _Key:
        crossed = False
        for scope in reversed(self._scopes):
            if name in scope.names or scope is self._scopes[0]:
                key = (id(scope.owner), name)
                if crossed:
                    self._shared.add(key)
                return key
            crossed |= scope.is_function
        raise AssertionError  # the first scope takes every name

    def _define(
        self, name: str, kind: Kind, node: ast.AST, value: ast.expr | None = None, path: tuple[Step, ...] = ()
    ) -> None:
        definition, key = Definition(name, kind, node, value, path), self._key(name)
        self.definitions.append(definition)
        self._by_key[key].append(definition)
        self._blocks[self._current].events.append((key, definition, self._weak > 0))

    def _bind(self, target: ast.AST, kind: Kind, value: ast.expr | None, path: tuple[Step, ...] = ()) -> None:
        match target:
            case ast.Name():
                self._define(target.id, kind, target, value, path)
            case ast.Tuple() | ast.List():
                starred = any(isinstance(part, ast.Starred) for part in target.elts)
                for place, part in enumerate(target.elts):
                    self._bind(part, kind, None if starred else value, (*path, place))
            case ast.Starred():
                self._bind(target.value, kind, None)
            case _:
                self._expression(target)

    # Statements

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                self._expression(node.value)
                for target in node.targets:
                    self._bind(target, "assignment", node.value)
            case ast.AugAssign():
                self._expression(node.value)
                if isinstance(node.target, ast.Name):
                    self._use(node.target)
                self._bind(node.target, "augmented", None)
            case ast.AnnAssign() if node.value is not None:
                self._expression(node.value)
                self._bind(node.target, "assignment", node.value)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(node)
            case ast.If():
                self._expression(node.test)
                self._branches(node.body, node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._expression(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, "with", item.context_expr)
                self._statements(node.body)
            case ast.Try() | ast.TryStar():
                self._try(node)
            case ast.Match():
                self._match(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._children([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])
                self._define(node.name, "function", node)
                self._functions.append((node, list(self._scopes)))
            case ast.ClassDef():
                self._children([*node.decorator_list, *node.bases, *node.keywords])
                self._statements(node.body)
                self._define(node.name, "function", node)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    self._define(alias.asname or alias.name.partition(".")[0], "import", alias)
            case ast.Break() | ast.Continue():
                if self._loops:
                    self._link(self._loops[-1][isinstance(node, ast.Break)])
                self._begin()
            case ast.Return() | ast.Raise():
                self._children(ast.iter_child_nodes(node))
                self._begin()
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._use(target)
                        self._blocks[self._current].events.append((self._key(target.id), None, False))
                    else:
                        self._expression(target)
            case _:
                self._children(ast.iter_child_nodes(node))

    def _branches(self, *bodies: Sequence[ast.stmt]) -> None:
        """Go on after one of several blocks, each after the current one."""
        before, after = self._current, self._new()
        for body in bodies:
            self._begin(before)
            self._statements(body)
            self._link(after)
        self._current = after

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        if not isinstance(node, ast.While):
            self._expression(node.iter)
        head, after = self._begin(self._current), self._new()
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        if isinstance(node, ast.While):
            self._expression(node.test)
        exhausted = self._current
        self._begin(exhausted)
        if not isinstance(node, ast.While):
            self._bind(node.target, "loop", node.iter, (0,))
        self._loops.append((head, after))
        self._statements(node.body)
        self._loops.pop()
        self._link(head)
        if endless:
            self._begin()
        else:
            self._begin(exhausted)
        self._statements(node.orelse)
        self._link(after)
        self._current = after

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        before, first = self._current, len(self._blocks)
        for statement in node.body:
            self._begin(self._current)
            self._statement(statement)
        raising = [before, *range(first, len(self._blocks))]
        after = self._new()
        self._begin(self._current)
        self._statements(node.orelse)
        self._link(after)
        for handler in node.handlers:
            self._begin(*raising)
            if handler.type is not None:
                self._expression(handler.type)
            if handler.name:
                self._define(handler.name, "except", handler)
            self._statements(handler.body)
            if handler.name:
                self._blocks[self._current].events.append((self._key(handler.name), None, False))
            self._link(after)
        if node.finalbody:
            for block in (before, *range(first, len(self._blocks))):
                if block != after:
                    self._blocks[block].successors.append(after)
        self._current = after
        self._statements(node.finalbody)

    def _match(self, node: ast.Match) -> None:
        self._expression(node.subject)
        before, after = self._current, self._new()
        for case in node.cases:
            self._begin(before)
            for part in ast.walk(case.pattern):
                for name in _names_of(part):
                    self._define(name, "match", part)
                if isinstance(part, ast.expr):
                    self._expression(part)
            if case.guard is not None:
                self._expression(case.guard)
            self._statements(case.body)
            self._link(after)
        last = node.cases[-1]
        if last.guard is not None or not (isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None):
            self._blocks[before].successors.append(after)
        self._current = after

    def _function(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scopes: Sequence[_Scope]) -> int:
        """The blocks of a function's body, and the first of them."""
        body = [function.body] if isinstance(function, ast.Lambda) else function.body
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [part for part in (arguments.vararg, arguments.kwarg) if part is not None]
        self._scopes = [*scopes, _Scope(function, _bound(body) | {parameter.arg for parameter in parameters})]
        self._loops, self._weak = [], 0
        entry = self._begin()
        for parameter in parameters:
            value = self._parameter_values.get(function) if len(parameters) == 1 else None
            self._define(parameter.arg, "parameter", parameter, value, (0,) if value is not None else ())
        self._children(body)
        return entry

    # Expressions

    def _children(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, ast.stmt):
                self._statement(node)
            else:
                self._expression(node)

    def _use(self, name: ast.Name) -> None:
        self._blocks[self._current].events.append((self._key(name.id), name, False))

    def _expression(self, node: ast.AST) -> None:
        match node:
            case ast.Name():
                self._use(node)
            case ast.NamedExpr():
                self._expression(node.value)
                self._bind(node.target, "assignment", node.value)
            case ast.Lambda():
                self._children([*node.args.defaults, *filter(None, node.args.kw_defaults)])
                self._functions.append((node, list(self._scopes)))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.BoolOp() | ast.IfExp():
                with self._maybe():
                    self._children(ast.iter_child_nodes(node))
            case _:
                if isinstance(node, ast.Call):
                    self._parameter_values.update(_key_function(node))
                self._children(ast.iter_child_nodes(node))

    @contextmanager
    def _maybe(self) -> Iterator[None]:
        """Within it, what is set may not be set."""
        self._weak += 1
        yield
        self._weak -= 1

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self._expression(node.generators[0].iter)
        targets = (part for generator in node.generators for part in ast.walk(generator.target))
        self._scopes.append(_Scope(node, {name for part in targets for name in _names_of(part)}, is_function=False))
        for place, generator in enumerate(node.generators):
            if place:
                self._expression(generator.iter)
            self._bind(generator.target, "comprehension", generator.iter, (0,))
            with self._maybe():
                self._children(generator.ifs)
        with self._maybe():
            self._children([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._scopes.pop()

    # Fixed point: a state is a bit set, with a bit for each definition and one for each variable without a value

    def _solve(self, entries: Sequence[int]) -> None:
        keys = dict.fromkeys(key for block in self._blocks for key, _, _ in block.events)
        unbound = {key: 1 << place for place, key in enumerate(keys)}
        bits = {definition: 1 << place for place, definition in enumerate(self.definitions, len(unbound))}
        masks = {key: sum((bits[definition] for definition in self._by_key[key]), unbound[key]) for key in keys}

        def after(state: int, key: _Key, event: ast.Name | Definition | None, is_weak: bool) -> int:
            if isinstance(event, ast.Name):
                return state
            remaining = state if is_weak else state & ~masks[key]
            return remaining | (bits[event] if event is not None else unbound[key])

        states = dict.fromkeys(entries, sum(unbound.values()))
        pending = deque(entries)
        while pending:
            block = self._blocks[number := pending.popleft()]
            state = states[number]
            for step in block.events:
                state = after(state, *step)
            for successor in block.successors:
                merged = states.get(successor, 0) | state
                if merged != states.get(successor):
                    states[successor] = merged
                    pending.append(successor)
        for number, state in states.items():
            for key, event, is_weak in self._blocks[number].events:
                if isinstance(event, ast.Name):
                    held = masks[key] - unbound[key] if key in self._shared else state & masks[key]
                    reaching = [definition for definition in self._by_key[key] if held & bits[definition]]
                    self.reaching[event] = frozenset([*reaching, *([None] if held & unbound[key] else [])])
                state = after(state, key, event, is_weak)


def _names_of(node: ast.AST) -> tuple[str, ...]:
    """The names that a node binds itself."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            return (node.id,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.MatchMapping(rest=str(name)):
            return (name,)
        case ast.alias():
            return (node.asname or node.name.partition(".")[0],)
    return ()


def _bound(body: Sequence[ast.AST]) -> set[str]:
    """The names that belong to a function with a body."""
    names: set[str] = set()
    outer: set[str] = set()
    pending = list(body)
    while pending:
        node = pending.pop()
        names.update(_names_of(node))
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        if isinstance(node, _COMPREHENSIONS):
            pending += [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
        elif not isinstance(node, _FUNCTIONS):
            pending.extend(ast.iter_child_nodes(node))
    return names - outer


def _key_function(call: ast.Call) -> Mapping[ast.AST, ast.expr]:
    """The lambda that a call applies to each item of an argument, and that argument."""
    name = called_name(call)
    if name in ("map", "filter") and len(call.args) == 2:
        return {call.args[0]: call.args[1]}
    keys = [word.value for word in call.keywords if word.arg == "key"]
    return {keys[0]: call.args[0]} if keys and name in _ITERATING and len(call.args) == 1 else {}
