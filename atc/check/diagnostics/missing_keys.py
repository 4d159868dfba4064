"""Keys that the entries of a list of the program's own do not have, or what is inside of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.check.autofix.accumulated_entries import Gathered, asked, lacking
from atc.check.diagnostic import Diagnostic, Edit
from atc.check.diagnostics.subject import Subject, listed
from atc.check.operands import NUMBER
from atc.check.stubs import Place
from protocols.schema_fields import subscripts
from protocols.text.words import abbreviated_names, noun_of

__all__ = ["told_entries"]


def told_entries(subject: Subject) -> Iterator[Diagnostic]:
    """What the checker cannot tell: of a list that begins empty it does not know what its entries are."""
    for accumulated, node, missing in lacking(subject.tree):
        message = (
            f'the entries of {accumulated.name} have no "{missing}", only {listed(accumulated.keys)}: append it, too'
        )
        yield Diagnostic(node.slice.lineno, node.slice.col_offset, "unknown-key", message, key=missing)
    inner = {id(node.value): node for node in ast.walk(subject.tree) if isinstance(node, ast.Subscript)}
    for accumulated, subscript, name in asked(subject.tree):
        outer, place = inner.get(id(subscript)), _place(subject, accumulated, name)
        key = outer.slice.value if outer is not None and isinstance(outer.slice, ast.Constant) else None
        if outer is None or place is None or not isinstance(key, str):
            continue
        column = outer.slice.col_offset
        if key in place.keys:
            if _is_text(subject, place, key) and _is_compared(subject.tree, outer):
                edit = Edit.of(subject.lines, outer, NUMBER.format(ast.unparse(outer).replace("'", '"')))
                message = f"{place.tool}(…){subscripts((*place.path, key))} is a text and is compared with a number"
                yield Diagnostic(outer.slice.lineno, column, "wrong-type", message, place.tool, edit=edit)
            continue
        location = _elsewhere(subject, accumulated, name, key)
        edit, hint = None, ""
        if location is not None:
            text = f'{ast.unparse(subscript.value)}["{location[0]}"]["{location[1]}"]'
            edit, hint = Edit.of(subject.lines, outer, text), f"; write {text}"
        where = f"{place.tool}(…){subscripts(place.path)}"
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
            isinstance(side, ast.Constant) and isinstance(side.value, int | float) and not isinstance(side.value, bool)
            for side in sides
        ):
            return True
    return False


def _place(subject: Subject, accumulated: Gathered, name: str) -> Place | None:
    """Which object of a response a key of the entries holds."""
    value = accumulated.value(name)
    origin = subject.returned(value) if value is not None else None
    return next((place for place in subject.stubs.places.values() if (place.tool, place.path) == origin), None)


def _elsewhere(subject: Subject, accumulated: Gathered, name: str, key: str) -> tuple[str, str] | None:
    """The one thing in the entries that has a key, or one that means the same: what holds it, and what it is called."""
    locations = []
    for entry_key in (name, *(key_name for key_name in accumulated.keys if key_name != name)):
        place = _place(subject, accumulated, entry_key)
        if place is None:
            continue
        matches = [
            inner_key for inner_key in place.keys if inner_key == key or noun_of(inner_key) == noun_of(key)
        ] or abbreviated_names(key, place.keys)
        locations += [(entry_key, inner_key) for inner_key in matches[:1]]
    return locations[0] if len(locations) == 1 else None
