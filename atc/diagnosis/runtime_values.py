"""What the expressions of a failing line held: of the recorded responses, where the failed operation read them.

`KeyError: 'person'` names only the missing key. A model repairs the program when it knows that `credit` was an item of
the "crew" of a response, and its keys. The run's provenance says which values the operation worked on, the program's
def-use analysis which expressions stand for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from atc.diagnosis.provenance import lookup
from atc.fault import Attribution, Fault
from atc.program.def_use import DefUse, def_use
from atc.program.source import called_name, called_tool, lines_of, nodes_of
from protocols.json_path import Step, subscripts
from protocols.quoting import json_text, one_line, shorten
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run, Source

__all__ = ["RuntimeFact", "run_facts", "runtime_facts"]

_KEYS = 14
_MAX_OUTLINE = 400
_MAX_KEY = 80
"""Characters of a key of a reply; a longer one is no name."""
_REQUESTS = frozenset({"delete", "get", "patch", "post", "put", "request"})

Key = str | int | None


@dataclass(frozen=True, slots=True)
class RuntimeFact:
    """A fact about an expression of the failing line; `missing_key` is the key that a response lacks."""

    text: str
    missing_key: str | None = None


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


def run_facts(fault: Fault, attribution: Attribution, program: str, run: Run | None) -> list[str]:
    """What a revision is told of a failed run beside the error; empty where nothing more is known."""
    if run is None or attribution.call is None:
        return []
    rejected = run.error.call if run.error else None
    call = run.calls[attribution.call if rejected is None else rejected]
    if call.tool is None or call.status is None or call.status >= 400:
        return []
    facts = runtime_facts(program, run)
    lines = [fact.text for fact in facts] or [*attribution.evidence]
    lines = lines or [f"{call.tool} returned {_outline(call.response)}"]
    missing_keys = {fact.missing_key for fact in facts if fact.missing_key}
    if not missing_keys and fault.type == "KeyError":
        missing_keys.add(fault.message.strip("'\""))
    places = [(key, next(_paths_to_key(call.response, key), None)) for key in sorted(missing_keys)]
    return lines + [f'"{key}" is in {call.tool}(…){subscripts(path)}' for key, path in places if path is not None]


def runtime_facts(program: str, run: Run) -> list[RuntimeFact]:
    """Facts that explain the failure of a run, from its provenance; empty when nothing is known."""
    flow = def_use(program)
    if flow is None or run.error is None or run.error.line is None or run.provenance is None:
        return []
    accesses = list(_accesses(program, flow.tree, run.error.line))
    facts: dict[str, RuntimeFact] = {}
    for source in run.provenance.fault:
        read = [(access.name, _fact(access, source, run.calls[source.call], flow)) for access in accesses]
        named_facts = [(name, fact) for name, fact in read if fact is not None]
        if len({name for name, _ in named_facts}) == 1:  # else it is uncertain which of the expressions failed
            for _, fact in named_facts:
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
        return RuntimeFact(text) if text else None
    if source.how == "made" and value:  # a part of it may be left
        return None
    origin = next((origin for origin in origins if origin.path == path), None)
    text, is_missing = _explain(access, value)
    # A fact speaks of any item of a list; where only some have the problem, the attribution's evidence names one.
    if origin is None or not text or _explain(access, lookup(call.response, path)) != (text, is_missing):
        return None
    return RuntimeFact(text, str(access.key) if is_missing else None)


def _made(node: ast.Call, call: CallRecord) -> bool:
    """True if an expression made a call."""
    if call.line is None or call.line not in lines_of(node):
        return False
    if call.style == "requests":
        return isinstance(node.func, ast.Attribute) and node.func.attr in _REQUESTS
    return called_tool(node) == call.tool


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
            hint = f"; use {_key_text(near[0])}" if near else ""
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
    lists = [f"{text}[{_key_text(key)}]" for key, part in value.items() if isinstance(part, list)]
    instead = f"; loop over {' or '.join(lists[:3])}" if lists else ""
    return f"`{text}` is a dict with the keys {_quoted_keys(value)}{instead}"


def _quoted_keys(value: Mapping[str, object]) -> str:
    listed = ", ".join(_key_text(key) for key in list(value)[:_KEYS])
    return listed + (", …" if len(value) > _KEYS else "")


def _key_text(key: str) -> str:
    return shorten(json_text(key), _MAX_KEY)


def _outline(response: object) -> str:
    """A response by its keys: `{page, results: [{id, name}, … 20 items]}`; cut to about 400 characters."""
    text = _outline_part(response, 0)
    return text if len(text) <= _MAX_OUTLINE else text[:_MAX_OUTLINE].rsplit(",", 1)[0] + ", …"


def _outline_part(value: object, depth: int) -> str:
    if isinstance(value, dict):
        if depth > 2:
            return "{…}"
        parts = []
        for key, part in value.items():
            inner = _outline_part(part, depth + 1) if isinstance(part, (dict, list)) or part is None else ""
            name = one_line(str(key), _MAX_KEY)
            parts.append(f"{name}: {inner}" if inner else name)
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        more = f", … {len(value)} items" if len(value) > 1 else ""
        return f"[{_outline_part(value[0], depth + 1)}{more}]" if value else "[] (empty)"
    if isinstance(value, LargeBody):
        return one_line(value.beginning, 40)
    return "None" if value is None else json_text(value)[:40]


def _paths_to_key(value: object, key: str, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The paths of a key in a response, in the first item of each list."""
    if isinstance(value, Mapping):
        if key in value:
            yield (*path, key)
        for name, part in value.items():
            yield from _paths_to_key(part, key, (*path, str(name)))
    elif isinstance(value, list) and value:
        yield from _paths_to_key(value[0], key, (*path, 0))
