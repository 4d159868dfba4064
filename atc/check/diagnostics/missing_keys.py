"""Keys that the entries of a list of the program's own do not have, or what is inside of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.check.autofix.accumulated_entries import Gathered, asked, lacking
from atc.check.diagnostic import Diagnostic, Edit
from atc.check.diagnostics.subject import Subject, listed
from atc.check.operands import NUMBER
from atc.check.stubs import Place
from protocols.dataflow.call_paths import steps
from protocols.text.words import cut_short, noun_of

__all__ = ["told_entries"]


def told_entries(subject: Subject) -> Iterator[Diagnostic]:
    """What the checker cannot tell: of a list that begins empty it does not know what its entries are."""
    for some, node, missing in lacking(subject.tree):
        message = f'the entries of {some.name} have no "{missing}", only {listed(some.keys)}: append it, too'
        yield Diagnostic(node.slice.lineno, node.slice.col_offset, "unknown-key", message, key=missing)
    inner = {id(node.value): node for node in ast.walk(subject.tree) if isinstance(node, ast.Subscript)}
    for some, held, name in asked(subject.tree):
        outer, place = inner.get(id(held)), _place(subject, some, name)
        key = outer.slice.value if outer is not None and isinstance(outer.slice, ast.Constant) else None
        if outer is None or place is None or not isinstance(key, str):
            continue
        column = outer.slice.col_offset
        if key in place.keys:
            if _is_text(subject, place, key) and _is_compared(subject.tree, outer):
                edit = Edit.of(subject.lines, outer, NUMBER.format(ast.unparse(outer).replace("'", '"')))
                message = f"{place.tool}(…){steps((*place.path, key))} is a text and is compared with a number"
                yield Diagnostic(outer.slice.lineno, column, "wrong-type", message, place.tool, edit=edit)
            continue
        found = _elsewhere(subject, some, name, key)
        edit, hint = None, ""
        if found is not None:
            text = f'{ast.unparse(held.value)}["{found[0]}"]["{found[1]}"]'
            edit, hint = Edit.of(subject.lines, outer, text), f"; write {text}"
        where = f"{place.tool}(…){steps(place.path)}"
        message = f'{where} has no "{key}"; its keys are {listed(place.keys)}{hint}'
        line = outer.slice.lineno
        yield Diagnostic(line, column, "unknown-key", message, place.tool, edit=edit, path=place.path, key=key)


def _is_text(subject: Subject, place: Place, key: str) -> bool:
    """Whether the value of a key is a text."""
    body = subject.contract.body(place.tool)
    shape = body.at((*place.path, key)) if body is not None else None
    return shape is not None and shape.kind == "str"


def _is_compared(tree: ast.AST, value: ast.expr) -> bool:
    """Whether a value is compared with a number that is written down."""
    for node in ast.walk(tree):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        if value in sides and any(
            isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool)
            for one in sides
        ):
            return True
    return False


def _place(subject: Subject, some: Gathered, name: str) -> Place | None:
    """Which object of a response a key of the entries holds."""
    value = some.value(name)
    held = subject.returned(value) if value is not None else None
    return next((one for one in subject.stubs.places.values() if (one.tool, one.path) == held), None)


def _elsewhere(subject: Subject, some: Gathered, name: str, key: str) -> tuple[str, str] | None:
    """The one thing in the entries that has a key, or one that means the same: what holds it, and what it is called."""
    found = []
    for other in (name, *(one for one in some.keys if one != name)):
        place = _place(subject, some, other)
        if place is None:
            continue
        same = [one for one in place.keys if one == key or noun_of(one) == noun_of(key)] or cut_short(key, place.keys)
        found += [(other, one) for one in same[:1]]
    return found[0] if len(found) == 1 else None
