"""The language of the sandbox: a program is checked against it and compiled before anything runs.

RestrictedPython's transformer visits every node of the program and refuses kinds of node that it does not know. Its
own policy is for templates in a shared server process and forbids much of ordinary Python. Here each program has a
process of its own that reaches neither files nor network, so this policy keeps what matters inside that process:

* no attribute leads from an object into the interpreter (frames, globals, subclasses, tracebacks);
* nothing that is not the program's own can be changed (modules, our classes);
* only curated modules are imported.

Everything else compiles to the very byte code that CPython would run. An attribute name is a literal in the source,
so nearly all of them are decided here and cost nothing at run time; the rest go through four guards
(`_getattr_`, `_private_`, `_type_`, `_write_`, see guards.py). In a method that uses `self` as everybody
does, `self` is looked at once when it begins and then left alone.
"""

# ruff: noqa: N802, N815 - ast.NodeVisitor finds its methods by the names of the nodes

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import NoReturn

from RestrictedPython.transformer import RestrictingNodeTransformer

from protocols.errors import ProgramRefused
from sandbox.language.names import CAREFUL, GUARDS, METHOD_DUNDERS, WRITABLE_DUNDERS, is_dunder, is_plain, refusal
from sandbox.language.parsing import FILENAME, bounded, parse_program
from sandbox.language.shims.catalogue import MODULES, PACKAGES, SUGGESTIONS
from sandbox.records import cut

__all__ = ["compile_program"]

PART_LIMIT = 20_000
"""Names, values, expressions and statements that a program may have; one of a page has a thousand."""

TRACKED_LIMIT = 8_000
"""The same for a program that is rewritten, which makes several of each."""

COPIES_LIMIT = 50_000
"""Expressions of a `finally`, each as often as the compiler writes it."""

SCOPE_LIMIT = 2_000
"""Functions, classes and comprehensions."""

KEYWORD_LIMIT = 500
"""Named arguments of one call or pattern; the compiler compares each with all others."""

DEPTH_LIMIT = 25
"""The average depth of expressions and statements; several passes go through all parts of a statement."""

CAPTURE_LIMIT = 30
"""Names that a pattern of `match` may bind; the compiler moves each past all others, in each alternative again."""

SHARED_LIMIT = 2_000
"""Names in `global` and `nonlocal`, which the compiler hands on to each function inside."""

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_READABLE_NAMES = frozenset({"__name__", "__doc__", "__debug__"})
_BINDABLE_NAMES = frozenset({"__all__", "__author__", "__date__", "__doc__", "__license__", "__slots__", "__version__"})

_SELF_MATCHING = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)
"""Builtin classes whose pattern `str(x)` takes the object itself and reads no attribute."""

_UNAVAILABLE = {
    "__import__": "write an import statement",
    "breakpoint": "print what you want to see",
    "compile": "write the code itself",
    "eval": "write the expression itself, or use json.loads for data",
    "exec": "write the code itself",
    "help": "the documentation of the tools is in the prompt",
    "input": "nobody is there to answer; put the value into the program",
    "locals": "use a dict of your own",
    "memoryview": "use bytes and slices",
    "open": "there are no files; print the result",
}

_NODES = {
    "AsyncFor": ("async for", "use a plain for loop"),
    "AsyncFunctionDef": ("async def", "use a plain function, and ThreadPoolExecutor for calls side by side"),
    "AsyncWith": ("async with", "use a plain with statement"),
    "Await": ("await", "call the function directly"),
    "TryStar": ("except*", "use except"),
    "TypeAlias": ("type", "assign the type to a name"),
}
"""Kinds of node that are refused by design: how they are written, and what to write instead."""

_EXITS = (ast.Return, ast.Break, ast.Continue)
"""Statements that leave a `try`, each through a copy of its `finally`."""


def compile_program(source: str, rewrite: Callable[[ast.Module], ast.Module] | None = None) -> CodeType:
    """Check a program against the policy and compile it; `rewrite` may change what the policy let through.

    Raises:
        ProgramRefused: The policy does not allow what a line holds; nothing was run.
        SyntaxError: It is not Python.
    """
    tree = parse_program(source)
    with bounded():
        _check_size(tree, PART_LIMIT if rewrite is None else TRACKED_LIMIT)
        _check_copies(tree.body, 1)
        policy = Policy(_bound_names(tree))
        policy.visit(tree)
        if rewrite is not None:
            tree = rewrite(tree)
        ast.fix_missing_locations(tree)
        return compile(tree, FILENAME, "exec", dont_inherit=True, optimize=0)


def _check_size(tree: ast.AST, most: int) -> None:
    """Look at how much there is to compile. Raises: ProgramRefused: Too much."""
    number = depths = scopes = shared = 0
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
        number += 1
        depths += depth
        line = getattr(node, "lineno", 1)
        scopes += isinstance(node, _SCOPES)
        shared += len(node.names) if isinstance(node, (ast.Global, ast.Nonlocal)) else 0
        keywords = len(node.keywords if isinstance(node, ast.Call) else getattr(node, "kwd_attrs", ()))
        if number > most:
            raise ProgramRefused(line, f"a program of more than {most} expressions", "compute what is regular in it")
        if depths > DEPTH_LIMIT * most:
            raise ProgramRefused(line, "so much in such deep nesting", "put parts of it into functions")
        if scopes > SCOPE_LIMIT:
            description = f"a program of more than {SCOPE_LIMIT} functions and comprehensions"
            raise ProgramRefused(line, description, "write one and call it often")
        if shared > SHARED_LIMIT:
            raise ProgramRefused(line, f"more than {SHARED_LIMIT} names in `global` and `nonlocal`", "use a dict")
        if keywords > KEYWORD_LIMIT:
            raise ProgramRefused(line, f"a call of more than {KEYWORD_LIMIT} named arguments", "pass a dict with **")
        if isinstance(node, ast.match_case) and len(_bound_names(node.pattern)) > CAPTURE_LIMIT:
            description = f"a pattern that binds more than {CAPTURE_LIMIT} names"
            raise ProgramRefused(node.pattern.lineno, description, "match less, and read the rest from the value")


def _check_copies(body: Sequence[ast.AST], copies: int) -> None:
    """Look at how often statements are compiled: the compiler writes what is in a `finally` once for each way there.

    Raises: ProgramRefused: It would write too much.
    """
    for node in body:
        inside = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Try) and node.finalbody:
            inside = [child for child in inside if child not in node.finalbody]
            exits = sum(isinstance(part, _EXITS) for child in inside for part in ast.walk(child))
            ways = copies * (2 + exits)
            if ways * sum(1 for statement in node.finalbody for _ in ast.walk(statement)) > COPIES_LIMIT:
                raise ProgramRefused(node.lineno, "such nesting of `finally`", "put what it does into a function")
            _check_copies(node.finalbody, ways)
        _check_copies(inside, copies)


def _bound_names(tree: ast.AST) -> frozenset[str]:
    """Every name that the program itself binds somewhere; such a name is not the builtin any more."""
    names: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
    return frozenset(name for name in names if name is not None)


class Policy(RestrictingNodeTransformer):
    """Refuses what leads out; leaves the rest of the program as it was written.

    A `visit_` method of the base class that is not overridden here allows its node as it is.
    """

    def __init__(self, bound: frozenset[str]) -> None:
        super().__init__()
        self._bound = bound
        self._classes: list[str] = []
        self._scopes: list[type[ast.AST]] = [ast.Module]
        self._optional_imports = 0
        self._receivers: list[_Receiver] = []

    # Refusals

    def _refuse(self, node: ast.AST, description: str, instead: str) -> NoReturn:
        raise ProgramRefused(getattr(node, "lineno", 1), cut(description, 200), instead)

    def error(self, node: ast.AST, info: str) -> NoReturn:
        """A refusal of the base class."""
        self._refuse(node, type(node).__name__, info)

    def not_allowed(self, node: ast.AST) -> NoReturn:
        """A kind of statement or expression that is refused as such, known or unknown."""
        kind = type(node).__name__
        self._refuse(node, *_NODES.get(kind, (kind, "write it with ordinary statements")))

    # Names

    def _bind(self, node: ast.AST, name: str | None) -> None:
        """Check a name that the program gives to something of its own."""
        if name is None:
            return
        if name in GUARDS:
            self._refuse(node, name, "the sandbox uses this name; choose another")
        ordinary_method = self._scopes[-1] is ast.ClassDef and name in METHOD_DUNDERS
        if is_dunder(name) and name not in _BINDABLE_NAMES and not ordinary_method:
            self._refuse(node, name, "choose a name without double underscores")

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """The base class asks this for arguments of functions."""
        self._bind(node, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Any name; of the special ones only `__name__`; no builtin that reaches files or compiles code."""
        if not isinstance(node.ctx, ast.Load):
            self._bind(node, node.id)
        elif node.id in GUARDS:
            self._refuse(node, node.id, "the sandbox uses this name; choose another")
        elif node.id in _UNAVAILABLE and node.id not in self._bound:
            self._refuse(node, node.id, _UNAVAILABLE[node.id])
        elif is_dunder(node.id) and node.id not in _READABLE_NAMES and node.id not in METHOD_DUNDERS:
            self._refuse(node, node.id, "it leads into the interpreter")
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        for name in node.names:
            self._bind(node, name)
        return node

    visit_Nonlocal = visit_Global

    # Attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`city.name` stays as it is; `city.__globals__` is refused; what depends on the object asks a guard."""
        reading = isinstance(node.ctx, ast.Load)
        reason = refusal(node.attr)
        if reason is not None:
            self._refuse(node, node.attr, reason)
        if not reading and is_dunder(node.attr) and node.attr not in WRITABLE_DUNDERS:
            self._refuse(node, f"{node.attr} = …", "special attributes are read-only here")
        self.node_contents_visit(node)
        private = node.attr.startswith("_") and not is_dunder(node.attr)
        if (private or not reading) and self._is_receiver(node.value):
            self._receivers[-1].private = self._receivers[-1].private or private
            self._receivers[-1].used = True
            return node
        name = ast.Constant(self._mangled(node.attr))
        if not reading:
            node.value = self._guard("_write_", node.value, *([name] if private else []))
            return node
        if node.attr == "__class__":
            return self._guard("_type_", node.value, at=node)
        if private:
            return self._guard("_private_", node.value, name, at=node)
        if node.attr in CAREFUL:
            return self._guard("_getattr_", node.value, name, at=node)
        return node

    def _is_receiver(self, node: ast.expr) -> bool:
        """True for the `self` of the surrounding method, if nothing else can have that name."""
        return isinstance(node, ast.Name) and bool(self._receivers) and node.id == self._receivers[-1].name

    def _guard(self, guard: str, *arguments: ast.expr, at: ast.AST | None = None) -> ast.Call:
        call = ast.Call(func=ast.Name(guard, ast.Load()), args=list(arguments), keywords=[])
        return ast.fix_missing_locations(ast.copy_location(call, at or arguments[0]))

    def _mangled(self, name: str) -> str:
        """`__x` inside a class means `_Class__x`, also when it reaches a guard as text."""
        if self._classes and name.startswith("__") and not name.endswith("__"):
            return f"_{self._classes[-1].lstrip('_')}{name}" if self._classes[-1].strip("_") else name
        return name

    # Statements that the base class rewrites or refuses, and that are safe as they stand

    def _as_it_is(self, node: ast.AST) -> ast.AST:
        return self.node_contents_visit(node)

    visit_AnnAssign = visit_Assign = visit_AugAssign = visit_Call = visit_For = visit_NamedExpr = _as_it_is
    visit_Subscript = visit_With = visit_Yield = visit_YieldFrom = _as_it_is
    visit_Match = visit_match_case = visit_MatchOr = visit_MatchSequence = visit_MatchSingleton = visit_MatchValue = (
        _as_it_is
    )

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """`case Point(x=0)`: a keyword reads an attribute, so it follows the rule for attributes."""
        for name in node.kwd_attrs:
            if not is_plain(name):
                self._refuse(node, f"case …({name}=…)", "match on another attribute")
        builtin = isinstance(node.cls, ast.Name) and node.cls.id in _SELF_MATCHING - self._bound
        if node.patterns and not builtin:  # a class says by text which attributes these read
            self._refuse(node, f"case {ast.unparse(node.cls)}(…)", "name the attributes, as in case Point(x=0)")
        return self.node_contents_visit(node)

    def _binding(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping | ast.ExceptHandler | ast.arg) -> ast.AST:
        fields = [field for field in ("name", "rest", "arg") if field in node._fields]
        self._bind(node, getattr(node, fields[0]))
        return self.node_contents_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = visit_ExceptHandler = visit_arg = _binding

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        if node.is_async:
            self._refuse(node.target, "async for", "use a plain for")
        return self.node_contents_visit(node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """A try that catches ImportError may import what we do not have: it is told so when it runs."""
        tolerant = any(_catches_import_error(handler) for handler in node.handlers)
        self._optional_imports += tolerant
        node.body = [self.visit(statement) for statement in node.body]
        self._optional_imports -= tolerant
        for field in ("handlers", "orelse", "finalbody"):
            setattr(node, field, [self.visit(child) for child in getattr(node, field)])
        return node

    # Functions and classes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._bind(node, node.name)
        self._no_type_parameters(node)
        receiver = _Receiver(_receiver(node) if self._scopes[-1] is ast.ClassDef else None)
        with self._scope(node, _Receiver(None)):  # defaults, decorators and annotations mean the names outside
            node.args = self.visit(node.args)
            node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
            node.returns = self.visit(node.returns) if node.returns is not None else None
        with self._scope(node, receiver):
            node.body = [self.visit(statement) for statement in node.body]
        if receiver.used:
            look = self._guard("_write_", ast.Name(str(receiver.name), ast.Load()), at=node)
            if receiver.private:
                look.args.append(ast.copy_location(ast.Constant("_"), look))
            start = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(start, ast.copy_location(ast.Expr(look), node))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Classes with any bases; of metaclasses only abc.ABCMeta."""
        self._bind(node, node.name)
        self._no_type_parameters(node)
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and ast.unparse(keyword.value) not in {"ABCMeta", "abc.ABCMeta"}:
                self._refuse(node, f"metaclass={ast.unparse(keyword.value)}", "use a class decorator")
        self._classes.append(node.name)
        self._scoped(node)
        self._classes.pop()
        return node

    def _no_type_parameters(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        if getattr(node, "type_params", None):
            self._refuse(node, f"{node.name}[…]", "leave the type parameters out")

    @contextmanager
    def _scope(self, node: ast.AST, receiver: _Receiver) -> Iterator[None]:
        self._scopes.append(type(node))
        self._receivers.append(receiver)
        yield
        self._receivers.pop()
        self._scopes.pop()

    def _scoped(self, node: ast.Lambda | ast.ClassDef) -> ast.AST:
        with self._scope(node, _Receiver(None)):
            return self.node_contents_visit(node)

    visit_Lambda = _scoped

    # Imports

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            self._module(node, alias.name)
            self._bind(node, alias.asname or alias.name.partition(".")[0])
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.level or not node.module:
            self._refuse(node, f"from {'.' * node.level}{node.module or ''} import …", "there are no other files")
        self._module(node, node.module)
        for alias in node.names:
            if alias.name == "*":
                self._refuse(node, f"from {node.module} import *", "name what you need")
            if alias.name.startswith("_"):
                self._refuse(node, f"from {node.module} import {alias.name}", "it is private to that module")
            self._bind(node, alias.asname or alias.name)
        return node

    def _module(self, node: ast.AST, name: str) -> None:
        if name not in MODULES and name not in PACKAGES and not self._optional_imports:
            root = name.partition(".")[0]
            close = difflib.get_close_matches(name, MODULES, 1, 0.8)
            instead = SUGGESTIONS.get(name) or SUGGESTIONS.get(root) or (f"did you mean {close[0]}?" if close else None)
            self._refuse(node, f"import {name}", instead or "use one of " + ", ".join(sorted(MODULES)))


@dataclass(slots=True)
class _Receiver:
    """The `self` of a method: its name if nothing in the method can change what it means, and how it is used there."""

    name: str | None
    used: bool = False
    private: bool = False


def _receiver(method: ast.FunctionDef) -> str | None:
    """The name of a method's first argument, unless the method or something inside it binds that name again."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    static = any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in method.decorator_list
    )
    if not arguments or static:
        return None
    name = arguments[0].arg
    within = ast.Module(method.body, [])
    bound = _bound_names(within) | {
        name
        for node in ast.walk(within)
        for name in (getattr(node, "name", None), getattr(node, "rest", None), *getattr(node, "names", ()))
        if isinstance(name, str)
    }
    return None if name in bound else name


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in {"ImportError", "ModuleNotFoundError"} for kind in kinds)
