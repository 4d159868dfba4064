"""Check whether "no" and "none" come from the service or from a mistake in the program.

A filter that no item passes returns an empty list, which looks like an answer. The program itself is the cause where
it compares with another spelling or field than the responses have, reads a field that no response has, or searches
for words that are not in the question.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.verify.entities import foreign_texts, misspelling_of
from atc.verify.findings import Finding, Inspection
from atc.verify.printed import is_negative
from protocols.text.words import fold

__all__ = ["empty_for_negative"]


def empty_for_negative(inspection: Inspection) -> Finding | None:
    """The answer is no, none or zero, because of a mistake in the program."""
    if not is_negative(inspection):
        return None
    for rule in (_other_spelling, _no_such_field, _foreign_search, _empty_search):
        finding = rule(inspection)
        if finding is not None:
            return finding
    return None


def _other_spelling(inspection: Inspection) -> Finding | None:
    """A comparison with a text that the responses hold in another spelling or field."""
    values = [(path, value) for _, path, value in inspection.values]
    keys = {path[-1] for path, _ in values if path}
    for line, key, constant in _comparisons(inspection.tree):
        field_values = [value for path, value in values if key in path]
        if key is not None and key not in keys and not field_values:
            continue  # no such field: another rule
        candidates = field_values if key is not None else [value for _, value in values]
        if not candidates or constant in candidates:
            continue
        alike = next((value for value in candidates if _nearly_equal(value, constant)), None)
        if alike is not None:
            message = f"line {line} compares with {constant!r}, and the reply says {alike!r}; compare with {alike!r}"
            return Finding("EmptyForNegative", message, line)
        other_path = next((path for path, value in values if value == constant or _nearly_equal(value, constant)), None)
        if other_path and key is not None:
            other_key = other_path[-1]
            message = (
                f"line {line} looks for {constant!r} in {key!r}, and the reply has it in {other_key!r}; compare that"
            )
            return Finding("EmptyForNegative", message, line)
    return None


def _comparisons(tree: ast.Module) -> Iterator[tuple[int, str | None, object]]:
    """The program's comparisons with a constant: line, key of the compared value or None, constant."""
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
        for side, opposite in (sides, sides[::-1]):
            for constant in _constants(side, assigned):
                if (isinstance(constant, str) and constant and not _is_key(opposite, constant)) or (
                    isinstance(constant, int) and not isinstance(constant, bool) and constant > 9 and _key(opposite)
                ):
                    yield node.lineno, _key(opposite), constant


def _constants(node: ast.expr, assigned: dict[str, list[object]]) -> list[object]:
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.Name):
        return assigned.get(node.id, [])
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [part.value for part in node.elts if isinstance(part, ast.Constant)]
    return []


def _is_key(node: ast.expr, constant: object) -> bool:
    """True if the constant is the key of the expression that it is compared with."""
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


def _nearly_equal(value: object, constant: object) -> bool:
    """True if two values differ only in case, punctuation, a plural, a slip, or number and text."""
    if value == constant or isinstance(value, bool) or value is None:
        return False
    first, second = (re.sub(r"[\W_]+", "", str(part)).casefold() for part in (value, constant))
    if first == second:
        return True
    if not isinstance(value, str) or not isinstance(constant, str) or min(len(first), len(second)) < 4:
        return False
    return first.rstrip("s") == second.rstrip("s") or misspelling_of(constant, value) == value


def _no_such_field(inspection: Inspection) -> Finding | None:
    """The program reads a field with a default, and no response has the field."""
    keys = {str(step) for call in inspection.good_calls for step in _keys(inspection.response(call))}
    if not keys:
        return None
    for node in ast.walk(inspection.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if node.func.attr != "get" or not isinstance(key, str) or key in keys or "/" in key:
            continue
        known_fields = ", ".join(sorted(keys)[:14])
        message = f"line {node.lineno} reads {key!r}, and no reply has such a field; there are {known_fields}"
        return Finding("EmptyForNegative", message, node.lineno)
    return None


def _keys(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield from map(str, node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node[:200]


def _foreign_search(inspection: Inspection) -> Finding | None:
    """A search with a value that is not in the question returned nothing."""
    strange = {(call.index, name): value for call, name, value in foreign_texts(inspection)}
    for call in inspection.empty_calls:
        for name, value, sources in inspection.arguments(call):
            own = (call.index, name) in strange
            number = isinstance(value, int) and not sources and str(value) not in inspection.question.text
            if not own and not number:
                continue
            meant = misspelling_of(str(value), inspection.question.text) if own else None
            message = f"nothing was found with {name}={value!r}, which the question does not say"
            message += f"; ask with {meant!r}" if meant else "; ask with the words of the question"
            return Finding("EmptyForNegative", message, call.line, call.index)
    return None


def _empty_search(inspection: Inspection) -> Finding | None:
    """A search for a name of the question returned nothing, and the question presupposes a result."""
    if inspection.question.yes_or_no:
        return None
    returned_texts = {fold(str(value)) for _, _, value in inspection.values}
    for call in inspection.empty_calls:
        for name, value, sources in inspection.arguments(call):
            if sources or not isinstance(value, str):
                continue
            if fold(value) in inspection.folded_names - returned_texts:
                message = f"nothing was found with {name}={value!r}, but what the question names exists; look elsewhere"
                return Finding("EmptyForNegative", message, call.line, call.index)
    return None
