"""Keys that accumulated entries lack, or that the objects inside them lack."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.check.autofix.accumulated_entries import AccumulatedEntries, entry_reads, missing_keys
from atc.check.diagnostic import Diagnostic, Edit
from atc.check.diagnostics.subject import Subject, listed
from atc.check.operands import NUMBER
from atc.check.stubs import ResponseObject
from protocols.json_path import subscripts
from protocols.text.words import abbreviated_names, noun_of

__all__ = ["describe_entries"]


def describe_entries(subject: Subject) -> Iterator[Diagnostic]:
    """Missing keys of accumulated entries, whose types the checker does not know."""
    for accumulated, node, missing in missing_keys(subject.tree):
        message = (
            f'the entries of {accumulated.name} have no "{missing}", only {listed(accumulated.keys)}: append it, too'
        )
        yield Diagnostic(node.slice.lineno, node.slice.col_offset, "unknown-key", message, key=missing)
    for accumulated, subscript, name in entry_reads(subject.tree):
        outer, holder = subject.flow.parent(subscript), _response_object(subject, accumulated, name)
        if holder is None or not isinstance(outer, ast.Subscript) or outer.value is not subscript:
            continue
        key = outer.slice.value if isinstance(outer.slice, ast.Constant) else None
        if not isinstance(key, str):
            continue
        column = outer.slice.col_offset
        if key in holder.keys:
            if _is_text(subject, holder, key) and _is_compared(subject.flow.parent(outer)):
                edit = Edit.of(subject.lines, outer, NUMBER.format(ast.unparse(outer).replace("'", '"')))
                message = f"{holder.tool}(…){subscripts((*holder.path, key))} is a text and is compared with a number"
                yield Diagnostic(outer.slice.lineno, column, "wrong-type", message, holder.tool, edit=edit)
            continue
        location = _key_in_entry(subject, accumulated, name, key)
        edit, hint = None, ""
        if location is not None:
            text = f'{ast.unparse(subscript.value)}["{location[0]}"]["{location[1]}"]'
            edit, hint = Edit.of(subject.lines, outer, text), f"; write {text}"
        where = holder.text
        message = f'{where} has no "{key}"; its keys are {listed(holder.keys)}{hint}'
        line = outer.slice.lineno
        yield Diagnostic(line, column, "unknown-key", message, holder.tool, edit=edit, path=holder.path, key=key)


def _is_text(subject: Subject, holder: ResponseObject, key: str) -> bool:
    """True if the value of a key is a string."""
    body = subject.contract.body(holder.tool)
    shape = body.at((*holder.path, key)) if body is not None else None
    return shape is not None and shape.kind == "str"


def _is_compared(node: ast.AST | None) -> bool:
    """True if an expression compares something with a numeric constant."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    constants = [side.value for side in sides if isinstance(side, ast.Constant)]
    return any(isinstance(constant, int | float) and not isinstance(constant, bool) for constant in constants)


def _response_object(subject: Subject, accumulated: AccumulatedEntries, name: str) -> ResponseObject | None:
    """The object of a response that a key of the entries holds."""
    value = accumulated.value(name)
    origin = subject.origin_of(value) if value is not None else None
    return next((holder for holder in subject.stubs.objects.values() if (holder.tool, holder.path) == origin), None)


def _key_in_entry(subject: Subject, accumulated: AccumulatedEntries, name: str, key: str) -> tuple[str, str] | None:
    """The only object in the entries with a key, or a synonym of it: the entry's key, and the inner one."""
    locations = []
    for entry_key in (name, *(key_name for key_name in accumulated.keys if key_name != name)):
        holder = _response_object(subject, accumulated, entry_key)
        if holder is None:
            continue
        matches = [
            inner_key for inner_key in holder.keys if inner_key == key or noun_of(inner_key) == noun_of(key)
        ] or abbreviated_names(key, holder.keys)
        locations += [(entry_key, inner_key) for inner_key in matches[:1]]
    return locations[0] if len(locations) == 1 else None
