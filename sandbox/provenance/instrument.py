"""Rewrites a program that the policy let through, so that a tracker learns where its values come from.

The rewritten program does the same; each operation is handed to the tracker (sandbox.child.tracker), which performs it
and notes from which response its result came. It runs only after the fact, on recorded replies, so that the program
itself pays nothing. Every expression has a number. Beside each variable stands a shadow: the origin of its value, for
numbers and other values that have no identity of their own."""

# ruff: noqa: N815 - the names are those of ast.NodeVisitor

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sandbox.language.names import GUARDS, TRACKER

__all__ = ["instrument"]

Node = TypeVar("Node", bound=ast.AST)

_NATIVE = frozenset({"super", "locals", "globals", "vars", "dir"})
"""Builtins that look at the frame that calls them."""

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.BitAnd: "and_",
}  # fmt: skip
_COMPARED = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Is: "is_",
    ast.IsNot: "is_not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_"}


def instrument(tree: ast.Module) -> ast.Module:
    """The program of a tree that the policy has visited, rewritten for the tracker; the tree is changed."""
    _Instrument(_shadowed_variables(tree)).visit(tree)
    return ast.fix_missing_locations(tree)


class _Instrument(ast.NodeTransformer):
    def __init__(self, shadowed: frozenset[str]) -> None:
        self._shadowed = shadowed
        self._count = 0
        self._classes: list[str] = []
        self._in_class = False

    # Making nodes

    def _next_number(self) -> int:
        self._count += 1
        return self._count

    def _tracker_call(self, at: ast.AST, method: str, *arguments: object) -> ast.Call:
        func = ast.Attribute(ast.Name(TRACKER, ast.Load()), method, ast.Load())
        parts = [part if isinstance(part, ast.expr) else _constant(part) for part in arguments]
        return _placed(ast.Call(func, parts, []), at)

    def _rewrite(self, node: ast.expr) -> tuple[ast.expr, int]:
        rewritten = self.visit(node)
        return rewritten, getattr(rewritten, "number", 0)

    def _rewrite_all(self, nodes: Sequence[ast.expr]) -> tuple[list[ast.expr], tuple[int, ...]]:
        """Expressions rewritten, with their numbers; -1 for one with a star."""
        pairs = [self._rewrite(node) for node in nodes]
        numbers = tuple(-1 if isinstance(part, ast.Starred) else number for part, number in pairs)
        return [part for part, _ in pairs], numbers

    def _tracked(self, at: ast.AST, method: str, *arguments: object, own: int = 0) -> ast.Call:
        """A call that gives the value of an expression, under a number of its own."""
        number = own or self._next_number()
        call = self._tracker_call(at, method, number, *arguments)
        call.number = number  # type: ignore[attr-defined]
        return call

    def _assign_shadow(self, at: ast.AST, name: str, value: ast.expr) -> list[ast.stmt]:
        if name not in self._shadowed or self._in_class:
            return []
        return [_stored(_shadow_name(name), value, at)]

    # Expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in GUARDS:
            return node
        shadow = ast.Name(_shadow_name(node.id), ast.Load()) if node.id in self._shadowed else ast.Tuple([], ast.Load())
        return self._tracked(node, "name", node, shadow)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            node.value = self.visit(node.value)
            return node
        value, number = self._rewrite(node.value)
        return self._tracked(node, "attribute", number, value, self._mangled(node.attr))

    def _mangled(self, name: str) -> str:
        owner = self._classes[-1].lstrip("_") if self._classes else ""
        return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)  # type: ignore[return-value]
        value, of_value = self._rewrite(node.value)
        key, of_key = self._key(node.slice)
        return self._tracked(node, "item", of_value, of_key, value, key)

    def _key(self, node: ast.expr) -> tuple[ast.expr, int]:
        if isinstance(node, ast.Slice):
            parts = [
                ast.Constant(None) if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)
            ]
            return self._tracker_call(node, "slice", *parts), 0
        return self._rewrite(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in GUARDS:
            value, number = self._rewrite(node.args[0])
            node.args[0] = value
            return self._tracked(node, "guarded", number, node)
        if name in _NATIVE:
            return self.generic_visit(node)  # type: ignore[return-value]
        func, of_func = self._rewrite(node.func)
        positional, numbers = self._rewrite_all(node.args)
        named = [(keyword.arg, *self._rewrite(keyword.value)) for keyword in node.keywords]
        keywords = tuple((name, number) for name, _, number in named)
        call = self._tracked(node, "call", of_func, numbers, keywords, func, *positional)
        call.keywords = [ast.keyword(name, value) for name, value, _ in named]
        return call

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        parts, numbers = self._rewrite_all([node.left, node.right])
        return self._tracked(node, "binary", _BINARY[type(node.op)], *numbers, *parts)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        parts, numbers = self._rewrite_all([node.left, *node.comparators])
        if len(parts) > 2:
            node.left, *node.comparators = parts
            return self._tracked(node, "derived", numbers, node)
        return self._tracked(node, "binary", _COMPARED[type(node.ops[0])], *numbers, *parts)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        value, number = self._rewrite(node.operand)
        return self._tracked(node, "unary", _UNARY[type(node.op)], number, value)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        node.values, numbers = self._rewrite_all(node.values)
        return self._tracked_choice(node, numbers)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test, of_test = self._rewrite(node.test)
        node.body, of_body = self._rewrite(node.body)
        node.orelse, of_else = self._rewrite(node.orelse)
        return self._tracked_choice(node, [of_body, of_else, of_test])

    def _tracked_choice(self, node: ast.expr, numbers: Sequence[int]) -> ast.expr:
        """Rewrite an expression some parts of which may not be evaluated: their earlier origins are forgotten."""
        forgotten = self._tracker_call(node, "forget", tuple(numbers))  # gives None
        either = _placed(ast.BoolOp(ast.Or(), [forgotten, node]), node)
        return self._tracked(node, "chosen", tuple(numbers), either)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        numbers = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value, number = self._rewrite(part.value)
                spec = self.visit(part.format_spec) if part.format_spec is not None else ast.Constant("")
                part.value = self._tracker_call(part, "formatted", number, value, part.conversion, spec)
                part.conversion, part.format_spec = -1, None
                numbers.append(number)
        return self._tracked(node, "derived", tuple(numbers), node)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> ast.expr:
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self.generic_visit(node)  # type: ignore[return-value]
        node.elts, numbers = self._rewrite_all(node.elts)
        return self._tracked(node, "sequence", numbers, node)

    visit_List = visit_Tuple = visit_Set = _sequence

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        keys = [(None, -1) if key is None else self._rewrite(key) for key in node.keys]
        node.keys, of_keys = [key for key, _ in keys], tuple(number for _, number in keys)
        node.values, of_values = self._rewrite_all(node.values)
        return self._tracked(node, "mapping", of_keys, of_values, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value, number = self._rewrite(node.value)
        return self._tracked(node, "same", number, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.args = self._rewrite_defaults(node.args)
        in_class, self._in_class = self._in_class, False
        value, number = self._rewrite(node.body)
        body: ast.expr = self._tracker_call(node.body, "returned", number, value)
        self._in_class = in_class
        names = [name for name in _parameter_names(node.args) if name in self._shadowed]
        if names:
            shadows = ast.arguments([], [ast.arg(_shadow_name(name)) for name in names], None, [], [], None, [])
            entered = ast.Starred(self._entered(node, node.args, names), ast.Load())
            body = _placed(ast.Call(_placed(ast.Lambda(shadows, body), node), [entered], []), node)
        node.body = body
        return node

    # Comprehensions

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        iterable, number = self._rewrite(node.iter)
        node.target, shadows = self.visit(node.target), self._shadow_target(node.target)
        node.target = ast.Tuple([node.target, shadows], ast.Store())
        node.iter = self._tracker_call(iterable, "each", number, _spec(shadows), iterable)
        node.iter.number = number  # type: ignore[attr-defined]
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        node.generators = [self.visit(generator) for generator in node.generators]
        own = self._next_number()
        if isinstance(node, ast.DictComp):
            node.key = self.visit(node.key)
            value, number = self._rewrite(node.value)
            node.value = self._tracker_call(node.value, "element", own, number, value)
        else:
            element, number = self._rewrite(node.elt)
            node.elt = self._tracker_call(node.elt, "element", own, number, element)
        iterables = tuple(generator.iter.number for generator in node.generators)  # type: ignore[attr-defined]
        begun = self._tracker_call(node, "begin", own)  # gives None
        either = _placed(ast.BoolOp(ast.Or(), [begun, node]), node)
        return self._tracked(node, "comprehension", iterables, either, own=own)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def _shadow_target(self, target: ast.expr) -> ast.expr:
        """The shadows of a loop's targets, as a target of the same shape."""
        if isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in target.elts):
            return ast.Tuple([self._shadow_target(part) for part in target.elts], ast.Store())
        has_shadow = isinstance(target, ast.Name) and target.id in self._shadowed and not self._in_class
        return ast.Name(_shadow_name(target.id if isinstance(target, ast.Name) and has_shadow else ""), ast.Store())

    # Statements

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            statements.extend(result if isinstance(result, list) else [result])
        return statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        value, number = self._rewrite(node.value)
        if self._in_class:  # a name more may be a member of an enumeration
            node.value = value
            return [node]
        if len(node.targets) == 1:
            target = node.targets[0]
            return self._assign(node, target, value, number)
        name = f"{self._next_number()}'"
        statements: list[ast.stmt] = [_stored(name, value, node)]
        for target in node.targets:
            statements += self._assign(node, target, ast.Name(name, ast.Load()), number)
        return statements

    def _assign(self, at: ast.stmt, target: ast.expr, value: ast.expr, number: int) -> list[ast.stmt]:
        """`target = value` with what the shadows need."""
        if isinstance(target, ast.Subscript):
            container, of_container = self._rewrite(target.value)
            key, of_key = self._key(target.slice)
            tracked = self._tracker_call(at, "set_item", number, of_container, of_key, value, container, key)
            return [_statement(tracked, at)]
        if isinstance(target, ast.Attribute):
            target.value = self.visit(target.value)
        if isinstance(target, (ast.Tuple, ast.List)):
            starred = [index for index, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
            value = self._tracker_call(at, "unpacked", number, len(target.elts), starred[0] if starred else -1, value)
            statements: list[ast.stmt] = [_placed(ast.Assign([self.visit(target)], value), at)]
            for path, name in _target_variables(target):
                statements += self._assign_shadow(at, name, self._tracker_call(at, "part", number, path))
            return statements
        statements = [_placed(ast.Assign([target], value), at)]
        if isinstance(target, ast.Name):
            statements += self._assign_shadow(at, target.id, self._tracker_call(at, "take", number))
        return statements

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt] | ast.stmt:
        if node.value is None or self._in_class:
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        value, number = self._rewrite(node.value)
        return self._assign(node, node.target, value, number)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt] | ast.stmt:
        operator = "i" + _BINARY[type(node.op)].rstrip("_")
        target = node.target
        if isinstance(target, ast.Name):
            old, of_old = self._rewrite(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value, of_value = self._rewrite(node.value)
            tracked = self._tracked(node, "binary", operator, of_old, of_value, old, value)
            return self._assign(node, target, tracked, tracked.number)  # type: ignore[attr-defined]
        if isinstance(target, ast.Subscript):
            container, of_container = self._rewrite(target.value)
            key, of_key = self._key(target.slice)
            value, of_value = self._rewrite(node.value)
            numbers = (of_container, of_key, of_value)
            return _statement(self._tracker_call(node, "change_item", operator, *numbers, container, key, value), node)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_For(self, node: ast.For) -> ast.stmt:
        if self._in_class:
            return node
        node.iter, number = self._tested(node, node.iter)
        shadows = self._shadow_target(node.target)
        node.target = _placed(ast.Tuple([self.visit(node.target), shadows], ast.Store()), node.target)
        node.iter = self._tracker_call(node.iter, "each", number, _spec(shadows), node.iter)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_If(self, node: ast.If | ast.While) -> ast.stmt:
        if not self._in_class:
            node.test, _ = self._tested(node, node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    visit_While = visit_If

    def _tested(self, node: ast.stmt, tested: ast.expr) -> tuple[ast.expr, int]:
        """What a statement tests or goes through, and its number."""
        value, number = self._rewrite(tested)
        return self._tracker_call(node, "test", number, value), number

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.body = [_statement(self._tracker_call(node, "handled"), node), *self._block(node.body)]
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        value, number = self._rewrite(node.value) if node.value is not None else (ast.Constant(None), 0)
        node.value = self._tracker_call(node, "returned", number, value)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if node.exc is not None:
            value, number = self._rewrite(node.exc)
            node.exc = self._tracker_call(node, "raising", number, value)
        if node.cause is not None:
            node.cause = self.visit(node.cause)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        error = ast.Call(ast.Name("AssertionError", ast.Load()), [node.msg] if node.msg is not None else [], [])
        failed = ast.Raise(_placed(error, node), None)
        return self.visit_If(_placed(ast.If(ast.UnaryOp(ast.Not(), node.test), [failed], []), node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args = self._rewrite_defaults(node.args)
        in_class, self._in_class = self._in_class, False
        names = [name for name in _parameter_names(node.args) if name in self._shadowed]
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        shadows = ast.Tuple([ast.Name(_shadow_name(name), ast.Store()) for name in names], ast.Store())
        entered: list[ast.stmt] = [_placed(ast.Assign([shadows], self._entered(node, node.args, names)), node)]
        node.body = [*node.body[:start], *entered, *self._block(node.body[start:])]
        self._in_class = in_class
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        in_class, self._in_class = self._in_class, True
        self._classes.append(node.name)
        node.body = self._block(node.body)
        self._classes.pop()
        self._in_class = in_class
        return node

    def _rewrite_defaults(self, arguments: ast.arguments) -> ast.arguments:
        arguments.defaults = [self.visit(default) for default in arguments.defaults]
        arguments.kw_defaults = [None if default is None else self.visit(default) for default in arguments.kw_defaults]
        return arguments

    def _entered(self, at: ast.AST, arguments: ast.arguments, names: list[str]) -> ast.Call:
        positional = tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))
        return self._tracker_call(at, "entered", positional, tuple(names))

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:  # its pattern takes no calls
        node.guard = self.visit(node.guard) if node.guard is not None else None
        node.body = self._block(node.body)
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.stmt:
        return node


def _placed(node: Node, at: ast.AST) -> Node:
    """A new node that stands where an old one did; its new parts get their place from it when all is compiled."""
    return ast.copy_location(node, at)


def _statement(value: ast.expr, at: ast.AST) -> ast.stmt:
    return _placed(ast.Expr(value), at)


def _stored(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    return _placed(ast.Assign([ast.Name(name, ast.Store())], value), at)


def _constant(value: Any) -> ast.expr:
    if isinstance(value, tuple):
        return ast.Tuple([_constant(part) for part in value], ast.Load())
    return ast.Constant(value)


def _spec(shadows: ast.expr) -> object:
    """The shape of a loop's targets: 0 for a single one, else a tuple of shapes."""
    return tuple(_spec(part) for part in shadows.elts) if isinstance(shadows, ast.Tuple) else 0


# Variables


def _shadow_name(name: str) -> str:
    """The name of the shadow of a variable, which no program can write."""
    return f"{name}'"


def _shadowed_variables(tree: ast.Module) -> frozenset[str]:
    """The variables that are bound only in ways that bind a shadow too."""
    bound: set[str] = set()
    unshadowed: set[str] = set()

    def walk(node: ast.AST, in_class: bool) -> None:
        here = unshadowed if in_class else bound
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            (unshadowed if isinstance(node.ctx, ast.Del) else here).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            unshadowed.add(node.name or "")
        elif isinstance(node, ast.MatchMapping) and node.rest:
            unshadowed.add(node.rest)
        elif isinstance(node, ast.alias):
            unshadowed.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.For, ast.comprehension)):
            unshadowed.update(_starred(node.target))
        elif isinstance(node, ast.NamedExpr):
            unshadowed.add(node.target.id)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            unshadowed.update(name for _, name in _target_variables(node.optional_vars))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            unshadowed.update(node.names)
        inside = isinstance(node, ast.ClassDef) or (
            in_class and not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.comprehension))
        )
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    walk(tree, False)
    return frozenset(bound - unshadowed)


def _target_variables(target: ast.expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], str]]:
    """The variables of a target, with where in the value each lies; after a star that is not known."""
    if isinstance(target, ast.Name):
        yield path, target.id
    elif isinstance(target, ast.Starred):
        yield from _target_variables(target.value, (*path, -1))
    elif isinstance(target, (ast.Tuple, ast.List)):
        after = False
        for index, part in enumerate(target.elts):
            after = after or isinstance(part, ast.Starred)
            yield from _target_variables(part, (*path, -1 if after else index))


def _starred(target: ast.expr) -> set[str]:
    """The variables of a loop's target that stand beside a star."""
    names: set[str] = set()
    for node in ast.walk(target):
        if isinstance(node, (ast.Tuple, ast.List)) and any(isinstance(part, ast.Starred) for part in node.elts):
            names |= {name for _, name in _target_variables(node)}
    return names


def _parameter_names(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in (*plain, arguments.vararg, arguments.kwarg) if argument is not None]
