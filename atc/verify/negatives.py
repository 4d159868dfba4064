"""Whether "no" and "none" are what the service says, or what a slip in the program makes of it.

A filter that no item passes gives an empty list, and an empty list looks like an answer. Where the program compares
with a text that the replies hold in another spelling or in another field, reads a field that no reply has, or searches
for something that the question does not say, the emptiness is the program's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.verify.entities import foreign, slip_of
from atc.verify.findings import Finding, Inspection, folded, lists_in
from atc.verify.printed import is_negative

__all__ = ["empty_for_negative"]


def empty_for_negative(seen: Inspection) -> Finding | None:
    """The answer is no, none or zero, because of a slip in the program."""
    if not is_negative(seen):
        return None
    for rule in (_other_spelling, _no_such_field, _asked_otherwise, _not_there):
        finding = rule(seen)
        if finding is not None:
            return finding
    return None


def _other_spelling(seen: Inspection) -> Finding | None:
    """A comparison with a text that the replies hold, but not so or not there."""
    values = [(path, value) for _, path, value in seen.values]
    keys = {path[-1] for path, _ in values if path}
    for line, key, wanted in _comparisons(seen.tree):
        there = [value for path, value in values if key in path]
        if key is not None and key not in keys and not there:
            continue  # no such field: another rule
        here = there if key is not None else [value for _, value in values]
        if not here or wanted in here:
            continue
        alike = next((value for value in here if _alike(value, wanted)), None)
        if alike is not None:
            told = f"line {line} compares with {wanted!r}, and the reply says {alike!r}; compare with {alike!r}"
            return Finding("EmptyForNegative", told, line)
        other = next((path for path, value in values if value == wanted or _alike(value, wanted)), None)
        if other and key is not None:
            told = f"line {line} looks for {wanted!r} in {key!r}, and the reply has it in {other[-1]!r}; compare that"
            return Finding("EmptyForNegative", told, line)
    return None


def _comparisons(tree: ast.Module) -> Iterator[tuple[int, str | None, object]]:
    """What a program compares with a constant of its own: line, key of the value if it names one, constant."""
    assigned: dict[str, list[object]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value.value)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.In, ast.NotEq, ast.NotIn)):
            continue
        sides = [node.left, node.comparators[0]]
        for one, other in (sides, sides[::-1]):
            for constant in _constants(one, assigned):
                if (isinstance(constant, str) and constant and not _is_key(other, constant)) or (
                    isinstance(constant, int) and not isinstance(constant, bool) and constant > 9 and _key(other)
                ):
                    yield node.lineno, _key(other), constant


def _constants(node: ast.expr, assigned: dict[str, list[object]]) -> list[object]:
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.Name):
        return assigned.get(node.id, [])
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [part.value for part in node.elts if isinstance(part, ast.Constant)]
    return []


def _is_key(node: ast.expr, constant: object) -> bool:
    """Whether a comparison is with the expression that has the constant as its key."""
    return _key(node) == constant


def _key(node: ast.expr) -> str | None:
    """The last key that an expression reads: `city` of `depot["city"]` and of `depot.get("city", "").lower()`."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) else _key(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
        return _key(node.func.value)
    if isinstance(node, ast.Call) and node.args:
        return _key(node.args[0])
    return None


def _alike(value: object, wanted: object) -> bool:
    """Whether two values are the same but for case, spaces, dashes, a plural, or being a number or its text."""
    if value == wanted or isinstance(value, bool) or value is None:
        return False
    one, other = (re.sub(r"[\W_]+", "", str(part)).casefold() for part in (value, wanted))
    if one == other:
        return True
    if not isinstance(value, str) or not isinstance(wanted, str) or min(len(one), len(other)) < 4:
        return False
    return one.rstrip("s") == other.rstrip("s") or slip_of(wanted, value) == value


def _no_such_field(seen: Inspection) -> Finding | None:
    """A field is read with a default, and no reply has it."""
    keys = {str(step) for call in seen.answered for step in _keys(seen.response(call))}
    if not keys:
        return None
    for node in ast.walk(seen.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if node.func.attr != "get" or not isinstance(key, str) or key in keys or "/" in key:
            continue
        known = ", ".join(sorted(keys)[:14])
        told = f"line {node.lineno} reads {key!r}, and no reply has such a field; there are {known}"
        return Finding("EmptyForNegative", told, node.lineno)
    return None


def _keys(value: object) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield from map(str, one)
            left += one.values()
        elif isinstance(one, list):
            left += one[:200]


def _asked_otherwise(seen: Inspection) -> Finding | None:
    """A reply is empty, and it was asked for with a word that the question does not say."""
    strange = {(call.index, name): value for call, name, value in foreign(seen)}
    for call in seen.answered:
        lists = [items for _, items, _ in lists_in(seen.response(call))]
        if not lists or any(lists):
            continue
        for name, value, sources in seen.arguments(call):
            own = (call.index, name) in strange
            number = isinstance(value, int) and not sources and str(value) not in seen.query
            if not own and not number:
                continue
            meant = slip_of(str(value), seen.query) if own else None
            told = f"nothing was found with {name}={value!r}, which the question does not say"
            told += f"; ask with {meant!r}" if meant else "; ask with the words of the question"
            return Finding("EmptyForNegative", told, call.line, call.index)
    return None


def _not_there(seen: Inspection) -> Finding | None:
    """A search for what the question names found nothing, and the question takes for granted that there is one."""
    if seen.yes_or_no:
        return None
    found = {folded(str(value)) for _, _, value in seen.values}
    for call in seen.answered:
        lists = [items for _, items, _ in lists_in(seen.response(call))]
        if not lists or any(lists):
            continue
        for name, value, sources in seen.arguments(call):
            named = isinstance(value, str) and not sources and any(folded(value) == folded(one) for one in seen.names)
            if named and folded(str(value)) not in found:
                told = f"nothing was found with {name}={value!r}, but what the question names exists; look elsewhere"
                return Finding("EmptyForNegative", told, call.line, call.index)
    return None
