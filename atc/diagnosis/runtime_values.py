"""What the expressions of a failing line held: of the recorded responses, where the failed operation read them.

`KeyError: 'person'` names only the missing key. A model repairs the program when it knows that `credit` was an item of
the "crew" of a response, and its keys. The run's provenance says which values the operation worked on, the program's
def-use analysis which expressions stand for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from atc.diagnosis.provenance import lookup
from atc.program.def_use import DefUse, def_use
from atc.program.tree import called_name, nodes_of, variable_of
from protocols.dataflow.call_paths import AvailableObject
from protocols.json_path import Step
from protocols.text.words import WRAPPERS, is_identifier, noun_of
from sandbox.records import CallRecord, Run, Source

__all__ = ["RuntimeFact", "runtime_facts"]

_KEYS = 14
_REQUESTS = frozenset({"delete", "get", "patch", "post", "put", "request"})

Key = str | int | None


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


@dataclass(frozen=True, slots=True)
class _Access:
    """A read of `key` from an expression, and of `inner_key` from the result."""

    program: str
    node: ast.expr
    base: ast.expr
    key: Key
    inner_key: Key

    @property
    def name(self) -> str:
        """The expression as the program has it."""
        return self.text(self.base)

    def text(self, node: ast.expr) -> str:
        """A part of the program as it has it."""
        return ast.get_source_segment(self.program, node) or ast.unparse(node)


def runtime_facts(program: str, run: Run) -> list[RuntimeFact]:
    """Facts that explain the failure of a run; empty when nothing is known."""
    flow = def_use(program)
    if flow is None or run.error is None or run.error.line is None or run.provenance is None:
        return []
    accesses = list(_accesses(program, flow.tree, run.error.line))
    facts: dict[str, RuntimeFact] = {}
    for source in run.provenance.fault:
        read = [(access.name, _fact(access, source, run.calls[source.call], flow)) for access in accesses]
        known = [(name, fact) for name, fact in read if fact is not None]
        if len({name for name, _ in known}) == 1:  # else it is uncertain which of the expressions failed
            for _, fact in known:
                facts.setdefault(fact.text, fact)
    return list(facts.values())


def _fact(access: _Access, source: Source, call: CallRecord, flow: DefUse) -> RuntimeFact | None:
    """The problem of an access to a value of a response."""
    value = lookup(call.response, source.path)
    if source.how == "decided" or call.status is None or call.status >= 300:
        return None
    path = tuple(0 if isinstance(step, int) else step for step in source.path)
    origins = flow.origins(access.base, lambda node: _made(node, call))
    if isinstance(value, dict) and any(origin.path == (*path, 0) for origin in origins):
        text = _iterated_keys(access, value, flow)
        return RuntimeFact(text, call.tool, path) if text else None
    if source.how == "made" and value:  # a part of it may be left
        return None
    origin = next((origin for origin in origins if origin.path == path), None)
    text, is_missing = _explain(access, value)
    # A fact speaks of any item of a list; where only some have the problem, the attribution's evidence names one.
    if origin is None or not text or _explain(access, lookup(call.response, path)) != (text, is_missing):
        return None
    if (replacement := _replacement(access, value, _used_keys(flow.tree, access.node))) is not None:
        return RuntimeFact(text, call.tool, path, replacement=(access.node, replacement))
    if not is_missing:
        return RuntimeFact(text, call.tool, path)
    objects = tuple(_around(access, call.tool or "", path))
    arguments = {word.arg: access.text(word.value) for word in origin.call.keywords if word.arg}
    return RuntimeFact(text, call.tool, path, str(access.key), objects, arguments)


def _made(node: ast.Call, call: CallRecord) -> bool:
    """True if an expression made a call."""
    if call.line is None or not node.lineno <= call.line <= (node.end_lineno or node.lineno):
        return False
    if call.style == "requests":
        return isinstance(node.func, ast.Attribute) and node.func.attr in _REQUESTS
    return called_name(node) == call.tool


def _accesses(program: str, tree: ast.Module, line: int) -> Iterator[_Access]:
    """The subscripts, attributes and comparisons of lists on a line."""
    outer = {node.value: node for node in nodes_of(tree, ast.Subscript)}
    for node in nodes_of(tree, ast.expr):
        if node.lineno == line and (base := _base(node)) is not None:
            yield _Access(program, node, base, _key(node), _key(outer[node]) if node in outer else None)


def _base(node: ast.expr) -> ast.expr | None:
    """The container that an expression reads from."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return node.value
    return node.args[0] if isinstance(node, ast.Call) and called_name(node) in {"max", "min"} and node.args else None


def _key(node: ast.expr) -> Key:
    """The constant key that an expression reads; 0 for the extreme item of a list."""
    if isinstance(node, ast.Call):
        return 0
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, (str, int)) else None


def _around(access: _Access, tool: str, path: tuple[Step, ...]) -> Iterator[AvailableObject]:
    """An object and the objects around it that the expression names."""
    node = access.base
    yield AvailableObject(access.text(node), tool, path)
    while isinstance(node, ast.Subscript) and path:
        node, path = node.value, path[:-1]
        yield AvailableObject(access.text(node), tool, path)


def _replacement(access: _Access, value: object, uses: set[str]) -> str | None:
    """The expression to take for an access, where a reply deviates from its document and leaves one way.

    The object itself, where it has the inner key; the value under a wrapper key; the value itself, where its identifier
    is read: a relation that was not expanded.

    Args:
        uses: Keys that the program reads from the variable of the access.
    """
    key, inner_key = access.key, access.inner_key
    if isinstance(value, (str, int)) and isinstance(key, str) and is_identifier(key):
        return access.name
    if not isinstance(value, dict) or not isinstance(key, str) or key in value:
        return None
    if (isinstance(inner_key, str) and inner_key in value) or (inner_key is None and uses and uses <= value.keys()):
        return access.name
    wraps = [
        wrapper
        for wrapper, part in value.items()
        if noun_of(wrapper) in WRAPPERS and isinstance(part, dict) and key in part
    ]
    return f'{access.name}["{wraps[0]}"]["{key}"]' if len(wraps) == 1 else None


def _used_keys(tree: ast.AST, node: ast.expr) -> set[str]:
    """The keys that are read from the variable of an expression."""
    targets = {variable_of(assignment) for assignment in nodes_of(tree, ast.Assign) if assignment.value is node}
    return {
        key
        for subscript in nodes_of(tree, ast.Subscript)
        if isinstance(subscript.value, ast.Name) and subscript.value.id in targets
        if isinstance(key := _key(subscript), str)
    }


def _explain(access: _Access, value: object) -> tuple[str, bool]:
    """The problem of an access to a value, empty if it has none; and True if a key is missing."""
    name, key, inner_key = access.name, access.key, access.inner_key
    match value, key:
        case None, _:
            return f"`{name}` is None", False
        case dict(), str() if key not in value:
            if isinstance(inner_key, str) and inner_key in value:
                return f'`{name}` has no "{key}", but it has "{inner_key}" itself; use `{name}["{inner_key}"]`', False
            near = get_close_matches(key, map(str, value), 1, 0.5)
            hint = f'; use "{near[0]}"' if near else ""
            return f'`{name}` has no "{key}"; its keys are {_quoted_keys(value)}{hint}', True
        case dict(), int():
            return f"`{name}` is a dict, not a list; its keys are {_quoted_keys(value)}", False
        case list(), str():
            inner = f'; use `{name}[0]["{key}"]`' if value and isinstance(value[0], dict) and key in value[0] else ""
            return f"`{name}` is a list, not a dict{inner}", False
        case list(), int() if not -len(value) <= key < len(value):
            return f"`{name}` is a list of {len(value)} items" if value else f"`{name}` is an empty list", False
        case str() | int() | float(), str():
            return f"`{name}` is the {type(value).__name__} {str(value)[:40]!r}, not a dict", False
    return "", False


def _iterated_keys(access: _Access, value: Mapping[str, object], flow: DefUse) -> str:
    """The problem of an access to the keys of a dict that a loop goes through; empty if it is none."""
    loops = flow.reaching(access.base) if isinstance(access.base, ast.Name) else ()
    if not loops or loops[0].value is None or not isinstance(access.key, str):
        return ""
    text = access.text(loops[0].value)
    lists = [f'{text}["{key}"]' for key, part in value.items() if isinstance(part, list)]
    instead = f"; loop over {' or '.join(lists[:3])}" if lists else ""
    return f"`{text}` is a dict with the keys {_quoted_keys(value)}{instead}"


def _quoted_keys(value: Mapping[str, object]) -> str:
    listed = ", ".join(f'"{key}"' for key in list(value)[:_KEYS])
    return listed + (", …" if len(value) > _KEYS else "")
