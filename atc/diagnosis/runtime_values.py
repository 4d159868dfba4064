"""Runtime values of the expressions on a failing line, read back from the recorded responses.

`KeyError: 'person'` names only the missing key. A model repairs the program when it knows that `credit` was an item of
the "crew" of a response, and its keys. The program's assignments lead from the line to the response; computed values
are left out rather than guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from atc.program.source import parsed
from atc.program.tree import called_name, nodes_of, variable_of
from protocols.dataflow.call_paths import AvailableObject
from protocols.json_path import Step
from protocols.text.words import WRAPPERS, is_identifier, noun_of
from sandbox.records import CallRecord

__all__ = ["RuntimeFact", "runtime_facts"]

_KEYS = 14


@dataclass(frozen=True, slots=True)
class RuntimeFact:
    """A fact about an expression of the failing line: a value of `tool`'s response at `path`, 0 for any item of a list.

    `missing_key` is the key that a response lacks, and `objects` the object without it and the objects around it on the
    line, nearest first. `arguments` are those of the object's call, as program text. `replacement` is an expression and
    its fix, where the reply leaves only one.
    """

    text: str
    tool: str | None
    path: tuple[Step, ...] = ()
    missing_key: str | None = None
    objects: tuple[AvailableObject, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    replacement: tuple[ast.expr, str] | None = None


class _UnknownError(Exception):
    """The expression does not lead back to a response."""


@dataclass(frozen=True, slots=True)
class _Value:
    value: object
    tool: str | None
    path: tuple[Step, ...] = ()
    """Where the value was in the tool's response, 0 standing for any item."""
    call: ast.Call | None = None
    key_of: str = ""
    """The expression whose keys are iterated, when this is a key of a dict."""


def runtime_facts(program: str, line: int, calls: Sequence[CallRecord]) -> list[RuntimeFact]:
    """Facts that explain the failure of a line; empty when nothing is known."""
    if (tree := parsed(program)) is None:
        return []
    resolver = _Resolver(program, tree, calls)
    outer = {id(node.value): node for node in nodes_of(tree, ast.Subscript)}
    facts: dict[str, RuntimeFact] = {}
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) != line or not isinstance(node, ast.expr):
            continue
        base, key = _access(node)
        if base is None:
            continue
        try:
            holder = resolver.value(base, line)
        except _UnknownError:
            continue
        inner_key = _access(outer[id(node)])[1] if id(node) in outer else None
        if (finding := _explain(resolver.text(base), holder, key, inner_key)) is not None:
            finding = replace(finding, path=holder.path)
            if (
                text := _replacement(resolver.text(base), holder.value, key, inner_key, _used_keys(tree, node))
            ) is not None:
                finding = replace(finding, replacement=(node, text), missing_key=None)
            if finding.missing_key:
                around = tuple(resolver.around(base, holder))
                arguments = resolver.arguments(holder.call)
                finding = replace(finding, objects=around, arguments=arguments)
            facts.setdefault(finding.text, finding)
    return list(facts.values())


def _replacement(
    name: str, value: object, key: str | int | None, inner_key: str | int | None, uses: set[str]
) -> str | None:
    """The expression to take for `name[key]`, where a reply deviates from its document and leaves one way.

    The object itself, where it has the inner key; the value under a wrapper key; the value itself, where its identifier
    is read: a relation that was not expanded.

    Args:
        inner_key: The key that is read from `name[key]`.
        uses: Keys that the program reads from the variable of `name[key]`.
    """
    if isinstance(value, (str, int)) and isinstance(key, str) and is_identifier(key):
        return name
    if not isinstance(value, dict) or not isinstance(key, str) or key in value:
        return None
    if (isinstance(inner_key, str) and inner_key in value) or (inner_key is None and uses and uses <= value.keys()):
        return name
    wraps = [
        wrapper
        for wrapper, part in value.items()
        if noun_of(wrapper) in WRAPPERS and isinstance(part, dict) and key in part
    ]
    return f'{name}["{wraps[0]}"]["{key}"]' if len(wraps) == 1 else None


def _used_keys(tree: ast.AST, node: ast.expr) -> set[str]:
    """The keys that are read from the variable of an expression."""
    targets = {variable_of(assignment) for assignment in nodes_of(tree, ast.Assign) if assignment.value is node}
    return {
        str(subscript.slice.value)
        for subscript in nodes_of(tree, ast.Subscript)
        if isinstance(subscript.value, ast.Name)
        and subscript.value.id in targets
        and isinstance(subscript.slice, ast.Constant)
        and isinstance(subscript.slice.value, str)
    }


def _access(node: ast.AST) -> tuple[ast.expr | None, str | int | None]:
    """The container of a subscript or method call, and the constant key."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        key = node.slice.value
        return node.value, key if isinstance(key, (str, int)) else None
    if isinstance(node, ast.Subscript):
        return node.value, None
    if isinstance(node, ast.Attribute):
        return node.value, None
    if isinstance(node, ast.Call) and called_name(node) in {"max", "min"} and node.args:
        return node.args[0], 0
    return None, None


def _explain(name: str, resolved: _Value, key: str | int | None, inner_key: str | int | None) -> RuntimeFact | None:
    """The problem of reading `key` from an expression, and `inner_key` from its value."""
    value = resolved.value
    if resolved.key_of:
        return None if not isinstance(key, str) else RuntimeFact(resolved.key_of, resolved.tool)
    if value is None:
        return RuntimeFact(f"`{name}` is None", resolved.tool)
    if isinstance(value, dict) and isinstance(key, str) and key not in value:
        keys = [str(key_name) for key_name in value]
        if isinstance(inner_key, str) and inner_key in value:
            return RuntimeFact(
                f'`{name}` has no "{key}", but it has "{inner_key}" itself; use `{name}["{inner_key}"]`', resolved.tool
            )
        near = get_close_matches(key, keys, 1, 0.5)
        hint = f'; use "{near[0]}"' if near else ""
        return RuntimeFact(
            f'`{name}` has no "{key}"; its keys are {_quoted_keys(keys)}{hint}', resolved.tool, missing_key=key
        )
    if isinstance(value, dict) and isinstance(key, int):
        return RuntimeFact(
            f"`{name}` is a dict, not a list; its keys are {_quoted_keys([str(key_name) for key_name in value])}",
            resolved.tool,
        )
    if isinstance(value, list) and isinstance(key, str):
        inner = f'; use `{name}[0]["{key}"]`' if value and isinstance(value[0], dict) and key in value[0] else ""
        return RuntimeFact(f"`{name}` is a list, not a dict{inner}", resolved.tool)
    if isinstance(value, list) and isinstance(key, int) and not -len(value) <= key < len(value):
        return RuntimeFact(
            f"`{name}` is a list of {len(value)} items" if value else f"`{name}` is an empty list", resolved.tool
        )
    if isinstance(value, (str, int, float)) and isinstance(key, str):
        return RuntimeFact(f"`{name}` is the {type(value).__name__} {str(value)[:40]!r}, not a dict", resolved.tool)
    return None


def _quoted_keys(keys: Sequence[str]) -> str:
    listed = ", ".join(f'"{key}"' for key in keys[:_KEYS])
    return listed + (", …" if len(keys) > _KEYS else "")


class _Resolver:
    """Follows an expression through assignments and loops to its response."""

    def __init__(self, program: str, tree: ast.AST, calls: Sequence[CallRecord]) -> None:
        self.program = program
        self.calls = calls
        self.bindings: list[tuple[str, int, ast.expr, bool]] = list(_bindings(tree))

    def text(self, node: ast.expr) -> str:
        """An expression as the program has it."""
        return ast.get_source_segment(self.program, node) or ast.unparse(node)

    def around(self, node: ast.expr, resolved: _Value) -> Iterator[AvailableObject]:
        """An object and the objects around it that the expression names."""
        path = resolved.path
        while resolved.tool is not None:
            if not path or isinstance(path[-1], int) or isinstance(resolved.value, dict):
                yield AvailableObject(self.text(node), resolved.tool, path)
            if not isinstance(node, ast.Subscript) or not path:
                return
            node, path = node.value, path[:-1]

    def arguments(self, call: ast.Call | None) -> dict[str, str]:
        """The keyword arguments of a call, as program text."""
        return {word.arg: self.text(word.value) for word in call.keywords if word.arg} if call else {}

    def value(self, node: ast.expr, line: int, depth: int = 0) -> _Value:
        """The value of an expression. Raises: _UnknownError."""
        if depth > 30:
            raise _UnknownError
        if isinstance(node, ast.Name):
            return self._name(node.id, line, depth + 1)
        if isinstance(node, ast.Subscript):
            resolved = self.value(node.value, line, depth + 1)
            return _item(resolved, node.slice)
        if isinstance(node, ast.Call):
            return self._call(node, line, depth + 1)
        raise _UnknownError

    def _name(self, name: str, line: int, depth: int) -> _Value:
        places = [binding for binding in self.bindings if binding[0] == name and binding[1] <= line]
        if not places:
            raise _UnknownError
        _, at, value, iterated = max(places, key=lambda binding: binding[1])
        if not iterated:
            return self.value(value, at - 1 if name in _names(value) else at, depth)
        resolved = self.value(value, at, depth)
        if isinstance(resolved.value, dict):
            text, keys = self.text(value), [str(key) for key in resolved.value]
            lists = [f'{text}["{key}"]' for key, part in resolved.value.items() if isinstance(part, list)]
            instead = f"; loop over {' or '.join(lists[:3])}" if lists else ""
            message = f"`{text}` is a dict with the keys {_quoted_keys(keys)}{instead}"
            return _Value(keys[0] if keys else "", resolved.tool, key_of=message)
        if isinstance(resolved.value, list) and resolved.value:
            return _Value(resolved.value[0], resolved.tool, (*resolved.path, 0), resolved.call)
        raise _UnknownError

    def _call(self, node: ast.Call, line: int, depth: int) -> _Value:
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"json", "get", "copy"}:
            if node.func.attr == "json":
                return self._response(node, None)
            resolved = self.value(node.func.value, line, depth)
            if node.func.attr == "copy":
                return resolved
            return _item(resolved, node.args[0]) if node.args else _Value(None, resolved.tool)
        if called_name(node) in {"list", "sorted", "reversed"} and node.args:
            return self.value(node.args[0], line, depth)
        return self._response(node, called_name(node) or None)

    def _response(self, node: ast.Call, tool: str | None) -> _Value:
        """The response of the last call that a call expression made."""
        first, last = node.lineno, node.end_lineno or node.lineno
        calls = [c for c in self.calls if c.line and first <= c.line <= last and (tool is None or c.tool == tool)]
        if not calls or calls[-1].status is None or calls[-1].status >= 300:
            raise _UnknownError
        return _Value(calls[-1].response, calls[-1].tool, (), node)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in nodes_of(node, ast.Name)}


def _item(resolved: _Value, key: ast.expr) -> _Value:
    """The item of a value at a key. Raises: _UnknownError."""
    if isinstance(key, ast.Slice) and isinstance(resolved.value, list):
        return resolved
    if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant):
        index = key.operand.value
        constant: object = -index if isinstance(index, int) else None
    elif isinstance(key, ast.Constant):
        constant = key.value
    else:
        raise _UnknownError
    try:
        value = resolved.value[constant]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        raise _UnknownError from None
    return _Value(value, resolved.tool, (*resolved.path, constant if isinstance(constant, str) else 0), resolved.call)


def _bindings(tree: ast.AST) -> Iterator[tuple[str, int, ast.expr, bool]]:
    """Assigned names: name, line, value, and True if the name takes the items of the value in turn."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.lineno, node.value, False
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.target.lineno, node.value, False
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.target.lineno, node.iter, True
