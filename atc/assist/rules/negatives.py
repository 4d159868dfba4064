"""Check whether "no" and "none" come from the service or from a mistake in the program.

A filter that no item passes returns an empty list, which looks like an answer. The program itself is the cause where
it compares with another spelling or field than the responses have, reads a field that no response has, or searches
for words that are not in the question.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from atc.assist.rules.entities import misspelling_of
from atc.assist.rules.findings import Inspection
from atc.assist.rules.printed import is_negative
from atc.evidence.finding import Finding, failed
from atc.evidence.traced_run import lists_in
from atc.program.def_use import DefUse, def_use
from atc.program.tree import called_name, called_tool, nodes_of
from protocols.json_path import Step, leaves
from protocols.text.words import fold, selects_page
from sandbox.records import CallRecord, Source

__all__ = ["empty_for_negative"]

_MAX_FIELDS = 14
"""Fields that are listed in place of one that is missing."""


def empty_for_negative(inspection: Inspection) -> Finding | None:
    """The answer is no, none or zero, because of a mistake in the program."""
    if not is_negative(inspection):
        return None
    return (
        _other_spelling(inspection)
        or _no_such_field(inspection)
        or _foreign_search(inspection)
        or _empty_search(inspection)
        or _unsought_name(inspection)
    )


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
        other = next((path for path, value in values if value == constant or _nearly_equal(value, constant)), None)
        if alike is not None:
            message = f"line {line} compares with {constant!r}, and the reply says {alike!r}; compare with {alike!r}"
        elif other and key is not None:
            message = (
                f"line {line} looks for {constant!r} in {key!r}, and the reply has it in {other[-1]!r}; compare that"
            )
        else:
            continue
        return Finding("EmptyForNegative", message, line)
    return None


def _comparisons(tree: ast.Module) -> Iterator[tuple[int, str | None, object]]:
    """The program's comparisons with a constant: line, key of the compared value or None, constant."""
    assigned: dict[str, list[object]] = {}
    for assignment in nodes_of(tree, ast.Assign):
        for target in assignment.targets if isinstance(assignment.value, ast.Constant) else ():
            if isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(assignment.value.value)  # type: ignore[attr-defined]
    for node in nodes_of(tree, ast.Compare):
        if not isinstance(node.ops[0], (ast.Eq, ast.In, ast.NotEq, ast.NotIn)):
            continue
        for side, opposite in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            key = _key(opposite)
            for constant in _constants(side, assigned):
                number = isinstance(constant, int) and not isinstance(constant, bool) and constant > 9
                if (key and number) or (isinstance(constant, str) and constant not in ("", key)):
                    yield node.lineno, key, constant


def _constants(node: ast.expr, assigned: dict[str, list[object]]) -> list[object]:
    if isinstance(node, ast.Name):
        return assigned.get(node.id, [])
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def _key(node: ast.expr) -> str | None:
    """The last key that an expression reads: `city` of `depot["city"]` and of `depot.get("city", "").lower()`."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) else _key(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
        return _key(node.func.value)
    return _key(node.args[0]) if isinstance(node, ast.Call) and node.args else None


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
    """The program reads a field with a default, and no object that it reads from has the field."""
    flow = def_use(inspection.program)
    if flow is None:
        return None
    for node in nodes_of(flow.tree, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args):
            continue
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if not isinstance(key, str) or "/" in key:
            continue
        read = [value for value in _values_of(node.func.value, flow, inspection) if isinstance(value, dict) and value]
        if read and not any(key in value for value in read):
            listed = ", ".join(list(read[0])[:_MAX_FIELDS])
            message = f"line {node.lineno} reads {key!r}, and no reply has such a field; there are {listed}"
            return Finding("EmptyForNegative", message, node.lineno)
    return None


def _values_of(node: ast.expr, flow: DefUse, inspection: Inspection) -> Iterator[object]:
    """What an expression may have been in the run: the values in responses that it is taken from."""
    lines = {call.line for call in inspection.good_calls}
    for origin in flow.origins(node, lambda call: call.lineno in lines and _is_named(call, inspection)):
        for call in inspection.good_calls:
            if call.line == origin.call.lineno and call.tool in (called_tool(origin.call), None):
                yield from _at(inspection.response(call), origin.path)


def _is_named(call: ast.Call, inspection: Inspection) -> bool:
    """True for the call of a name, and of a method that is a tool."""
    return bool(called_name(call)) or any(made.tool == called_tool(call) for made in inspection.good_calls)


def _at(value: object, path: Sequence[Step]) -> Iterator[object]:
    """The values at a path in which 0 stands for any item of a list."""
    if not path:
        yield value
    elif isinstance(value, list) and isinstance(path[0], int):
        for item in value:
            yield from _at(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])


def _foreign_search(inspection: Inspection) -> Finding | None:
    """A search with a value that is not in the question returned nothing."""
    foreign = {(call.index, name) for call, name, _ in inspection.foreign_texts}
    for call, name, value, sources in _fruitless_arguments(inspection):
        own = (call.index, name) in foreign
        number = isinstance(value, int) and not sources and not inspection.question.says(value)
        number = number and not isinstance(value, bool) and not selects_page(name)
        if own or number:
            intended = misspelling_of(str(value), inspection.question.text) if own else None
            hint = repr(intended) if intended else "the words of the question"
            message = f"nothing was found with {name}={value!r}, which the question does not say; ask with {hint}"
            return Finding.of_call("EmptyForNegative", message, call)
    return None


def _empty_search(inspection: Inspection) -> Finding | None:
    """A search for a name of the question returned nothing, and the question presupposes a result."""
    unseen = inspection.folded_names - {fold(str(value)) for _, _, value in inspection.values}
    for call, name, value, sources in _fruitless_arguments(inspection) if not inspection.question.yes_or_no else ():
        if not sources and isinstance(value, str) and fold(value) in unseen:
            message = f"nothing was found with {name}={value!r}, but what the question names exists; look elsewhere"
            return Finding.of_call("EmptyForNegative", message, call)
    return None


def _unsought_name(inspection: Inspection) -> Finding | None:
    """The question names something that the program compares with, and it neither sent it nor got it in a reply."""
    if inspection.question.yes_or_no or "count" in inspection.question.asks or inspection.question.asks_for_several:
        return None
    sent = {fold(str(value)) for _, _, argument, _ in inspection.all_arguments for _, value in leaves(argument)}
    received = {fold(str(value)) for _, _, value in inspection.values}
    for line, _, constant in _comparisons(inspection.tree):
        text = fold(str(constant))
        if text in inspection.folded_names and not any(text in value for value in sent | received):
            message = f"{constant!r} is in no reply, and the program does not ask for it; look for it by a call"
            return Finding("EmptyForNegative", message, line)
    return None


def _fruitless_arguments(inspection: Inspection) -> Iterator[tuple[CallRecord, str, object, tuple[Source, ...]]]:
    """The arguments of good calls whose response has lists, all of them empty."""
    for call, name, value, sources in inspection.all_arguments:
        lists = [] if failed(call) else [items for _, items, _ in lists_in(inspection.response(call))]
        if lists and not any(lists):
            yield call, name, value, sources
