"""Keys that an object of a response does not have, and where they are."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches

from atc.check.diagnostic import Diagnostic, Edit
from atc.check.diagnostics.subject import CLASS, Subject, listed
from atc.check.stubs import Place
from atc.check.type_checker import Report
from atc.program.source import calls_of, subscripts_at
from protocols.schema_fields import Step, subscripts
from protocols.text.words import abbreviated_names, noun_of

__all__ = ["missing_key", "told_key"]

_SURE = 0.8
"""Likeness of two names from which on one is taken for a slip of the other."""
_ALIKE = (frozenset({"label", "name", "title"}), frozenset({"date", "day"}))
"""Keys that say the same of a thing; of two that an object might have, one is meant by the other."""

_MOMENTS = frozenset({"date", "datetime", "day", "hour", "month", "time", "timestamp", "year"})
"""Keys by which entries of two lists belong together."""


def told_key(subject: Subject, report: Report, keys: list[str], quoted: list[str]) -> Diagnostic | None:
    """A key that an object does not have, or an index into what is no list; None where it may be there after all."""
    place = next((subject.stubs.places[name] for name in quoted if name in subject.stubs.places), None)
    if place is None:
        return None
    if keys:
        return None if _may_have(subject, report, keys[0]) else missing_key(subject, report, place, keys[0])
    lists = [key for key in place.keys if (*place.path, key, 0) in _paths(subject, place.tool)]
    hint = f', and the list is in ["{lists[0]}"]' if len(lists) == 1 else ""
    message = f"{place.tool}(…){subscripts(place.path)} is a dict: its keys are {listed(place.keys)}{hint}"
    if len(lists) != 1:
        return subject.at(report, "wrong-type", message, place.tool, edit=_left_out(subject, report, place))
    written = f'"{lists[0]}"][' + subject.written(report)
    return subject.at(report, "wrong-type", message, place.tool, f'["{lists[0]}"]', subject.instead(report, written))


def _may_have(subject: Subject, report: Report, key: str) -> bool:
    """Whether an object may have a key that its document does not know: the program put it there, it may be a
    dict of the program's own, or it is asked for with `.get` where the object may be another one, too."""
    classes = set(CLASS.findall(report.text))
    if any((class_name, key) in subject.stored for class_name in classes):
        return True
    # Of a dict that the program made of several things, the checker takes each value to be any of them.
    kinds = set(report.text.partition("has type `")[2].rstrip("`)").split(" | ")) - {"", "None"}
    has_key = any(key in subject.stubs.places[class_name].keys for class_name in classes & subject.stubs.places.keys())
    if len(kinds) > 1 and (has_key or not kinds <= classes):
        return True
    taken = next(subscripts_at(subject.tree, report.line, report.column), None)
    if taken is not None:
        return isinstance(taken.value, ast.Name) and taken.value.id in subject.updated
    place = (report.line, report.column)
    for node in ast.walk(subject.tree):
        if isinstance(node, ast.Call) and node.args and (node.args[0].lineno, node.args[0].col_offset) == place:
            return any(
                key in subject.stubs.places[class_name].keys for class_name in classes & subject.stubs.places.keys()
            )
    return False


def _paths(subject: Subject, tool: str) -> set[tuple[Step, ...]]:
    """Where a tool's response has objects."""
    return {place.path for place in subject.stubs.places.values() if place.tool == tool}


def missing_key(subject: Subject, report: Report, place: Place, key: str) -> Diagnostic:
    """A key that an object does not have: which it has, and where that key is."""
    where = f"{place.tool}(…){subscripts(place.path)}"
    message = f'{where} has no "{key}"; its keys are {listed(place.keys)}'
    synonyms = [name for name in place.keys if noun_of(name) == noun_of(key)]
    alike = next((words for words in _ALIKE if key in words), frozenset())
    synonyms = synonyms or [name for name in place.keys if name in alike][:1] or abbreviated_names(key, place.keys)
    lower = {name.lower(): name for name in place.keys}
    near = synonyms or [lower[match] for match in get_close_matches(key.lower(), lower, 1, 0.6)]
    if _is_resource(subject, key):  # another call is meant, and no key that is spelled nearly so
        synonyms, near = [], []
    sure = bool(synonyms) or (bool(near) and SequenceMatcher(None, near[0].lower(), key.lower()).ratio() >= _SURE)
    suggestion = f'["{near[0]}"]' if near else None
    text = f'"{near[0]}"' if sure else None
    if inside := _inside(subject, report, place, key):
        suggestion = subscripts(inside[len(place.path) :])
        text = suggestion[1:-1]
        message += f'; "{key}" is in {place.tool}(…){subscripts(inside)}'
    elif near:
        message += f'; did you mean "{near[0]}"?'
    edit = subject.instead(report, text) if report.rule == "invalid-typed-dict-key" else None
    if not inside and (unread := _unread(subject, place, key)) is not None:
        tool, name, edit = unread
        message = f'{where} has no "{key}"; {name} has it, in {tool}(…){subscripts((*place.path, key))}'
        suggestion = name
    elif not inside and not synonyms and (beside := _beside(subject, place, key)) is not None:
        wrong, right, path = beside
        message = f'{where} has no "{key}"; "{key}" is in {place.tool}(…){subscripts(path)}, not in ["{wrong}"]'
        suggestion, edit = f'["{right}"]', _only(subject, wrong, right)
    elif not inside and not near and (above := _above(subject, place, key)) is not None:
        message += f'; "{key}" is in {place.tool}(…){subscripts(above)}'
        suggestion, edit = subscripts(above), _from_above(subject, report, place.tool, above)
    elif not inside and not near and (joined := _joined(subject, report, place, key)) is not None:
        name, shared, edit = joined
        message += f'; "{key}" is in the entry of {name} with the same "{shared}"'
    edit = edit or _left_out(subject, report, place)
    diagnostic = subject.at(report, "unknown-key", message, place.tool, suggestion, edit)
    return replace(diagnostic, path=place.path, key=key)


def _is_resource(subject: Subject, key: str) -> bool:
    """Whether a key is what another tool returns of a thing: `release_dates` of `/films/{id}/release_dates`."""
    paths = [subject.contract.protocol.tool(name).path.rstrip("/") for name in subject.names]
    return any(path.endswith(f"}}/{key}") for path in paths)


def _left_out(subject: Subject, report: Report, place: Place) -> Edit | None:
    """Leave a key or index out where the object has the next key that is taken: `reply["data"]` for
    `reply["daily"]["data"]`."""
    inner = next(subscripts_at(subject.tree, report.line, report.column), None)
    for node in ast.walk(subject.tree):
        if inner is None or not isinstance(node, ast.Subscript) or node.value is not inner:
            continue
        following = node.slice.value if isinstance(node.slice, ast.Constant) else None
        whole = Edit.of(subject.lines, inner, "")
        held = Edit.of(subject.lines, inner.value, "")
        if following in place.keys and whole is not None and held is not None:
            return Edit(whole.line, held.end, whole.end, "")
    return None


def _above(subject: Subject, place: Place, key: str) -> tuple[Step, ...] | None:
    """Where a key is in one of the objects that an object is in, unless these are several."""
    holders = [place.path[:length] for length in range(len(place.path)) if 0 not in place.path[:length]]
    for other_place in subject.stubs.places.values():
        if other_place.tool == place.tool and other_place.path in holders and key in other_place.keys:
            return (*other_place.path, key)
    return None


def _from_above(subject: Subject, report: Report, tool: str, path: tuple[Step, ...]) -> Edit | None:
    """Take a value from the whole response, which the only call of a tool that reads gives once more.

    Not where that would be for each of several: the call is not made again and again.
    """
    calls = [call for call, _ in calls_of(subject.tree, {tool})]
    wrong = next(subscripts_at(subject.tree, report.line, report.column), None)
    if len(calls) != 1 or wrong is None or subject.contract.protocol.tool(tool).writes:
        return None
    if any(wrong in inside and calls[0] not in inside for inside in map(_repeated, ast.walk(subject.tree))):
        return None
    return Edit.of(subject.lines, wrong, f"{ast.unparse(calls[0])}{subscripts(path)}")


def _repeated(node: ast.AST) -> set[ast.AST]:
    """What is done again and again in a loop: not what it goes through."""
    if isinstance(node, ast.For | ast.While):
        return {part for statement in node.body for part in ast.walk(statement)}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return set(ast.walk(node)) - set(ast.walk(node.generators[0].iter))
    return set()


def _beside(subject: Subject, place: Place, key: str) -> tuple[str, str, tuple[Step, ...]] | None:
    """An object beside another, which has a key: what was written, what leads there, and its place."""
    for other_place in subject.stubs.places.values():
        if other_place.tool != place.tool or key not in other_place.keys or len(other_place.path) != len(place.path):
            continue
        steps_apart = [pair for pair in zip(place.path, other_place.path, strict=True) if pair[0] != pair[1]]
        if len(steps_apart) == 1:
            wrong, right = steps_apart[0]
            return str(wrong), str(right), (*other_place.path, key)
    return None


def _joined(subject: Subject, report: Report, place: Place, key: str) -> tuple[str, str, Edit | None] | None:
    """A list that the program holds and whose entries have a key, each for the same day as an object that has not: the
    variable, what both have, and the entry in place of the object."""
    wrong = next(subscripts_at(subject.tree, report.line, report.column), None)
    used = {node.id for node in ast.walk(subject.tree) if isinstance(node, ast.Name)}
    entry = next((name for name in ("one", "other") if name not in used), "same")
    for other_place in subject.stubs.places.values():
        shared = [name for name in place.keys if name in other_place.keys and name in _MOMENTS]
        if (
            other_place.tool == place.tool
            or key not in other_place.keys
            or other_place.path[-1:] != (0,)
            or not shared
            or wrong is None
        ):
            continue
        for name in sorted(used):
            value = subject.set_once(name)
            if value is not None and subject.returned(value) == (other_place.tool, other_place.path[:-1]):
                record = ast.unparse(wrong.value).replace("'", '"')
                condition = f'{entry}["{shared[0]}"] == {record}["{shared[0]}"]'
                text = f'next({entry} for {entry} in {name} if {condition})["{key}"]'
                return name, shared[0], Edit.of(subject.lines, wrong, text)
    return None


def _unread(subject: Subject, place: Place, key: str) -> tuple[str, str, Edit | None] | None:
    """A response that the program holds and does nothing with, and which has the key at the same place: of what tool,
    the variable, and that one in place of the other."""
    tree = subject.tree
    read = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    holders = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant)
        and [node.slice.value] == list(place.path[:1])
        and subject.returned(node.value) == (place.tool, ())
    ]
    for other_place in subject.stubs.places.values():
        if (
            other_place.tool == place.tool
            or other_place.path != place.path
            or key not in other_place.keys
            or len(holders) != 1
        ):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not read[node.id] and subject.returned(node) == (other_place.tool, ()):
                return other_place.tool, node.id, Edit.of(subject.lines, holders[0], node.id)
    return None


def _only(subject: Subject, wrong: str, right: str) -> Edit | None:
    """Write one key for another, if the program has it in one place alone."""
    keys = [
        node.slice
        for node in ast.walk(subject.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == wrong
    ]
    return Edit.of(subject.lines, keys[0], f'"{right}"') if len(keys) == 1 else None


def _inside(subject: Subject, report: Report, place: Place, key: str) -> tuple[Step, ...] | None:
    """Where a key is below an object, at most three keys and lists deeper: first in what the program calls the object,
    as the `track` of an entry of a list, then as near as may be."""
    called = {
        noun_of(node.value.id)
        for node in ast.walk(subject.tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant)
        and (node.slice.value, node.lineno) == (key, report.line)
    }
    below = [
        other_place.path
        for other_place in subject.stubs.places.values()
        if other_place.tool == place.tool
        and len(place.path) < len(other_place.path) <= len(place.path) + 3
        and other_place.path[: len(place.path)] == place.path
        and key in other_place.keys
    ]
    if not below:
        return None
    return *min(below, key=lambda path: (noun_of(str(path[-1])) not in called, len(path))), key
