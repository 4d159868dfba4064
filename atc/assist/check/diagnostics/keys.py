"""Keys that an object of a response lacks, or an accumulated entry, and where they are."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from difflib import get_close_matches

from atc.assist.check.diagnostic import Diagnostic, Edit
from atc.assist.check.diagnostics.subject import CLASS, Subject, is_misspelled, listed
from atc.assist.check.stubs import ResponseObject
from atc.assist.check.type_checker import CheckerReport
from atc.program.source import calls_of, nodes_of, subscripts_at
from protocols.json_path import Step, subscripts
from protocols.text.words import abbreviated_names, noun_of

__all__ = ["describe_key", "missing_key"]

_SYNONYMS = (frozenset({"label", "name", "title"}), frozenset({"date", "day"}))
"""Keys of the same meaning; one of them stands for another."""


def describe_key(subject: Subject, report: CheckerReport, keys: list[str], quoted: list[str]) -> Diagnostic | None:
    """A key that an object lacks, or an index into a dict; None where the key may exist after all."""
    holder = next((subject.stubs.objects[name] for name in quoted if name in subject.stubs.objects), None)
    if holder is None:
        return None
    if keys:
        may_have = _asks_for(subject, holder.tool, keys[0]) or _may_have(subject, report, keys[0])
        return None if may_have else missing_key(subject, report, holder, keys[0])
    lists = [key for key in holder.keys if (*holder.path, key, 0) in _paths(subject, holder.tool)]
    hint = f', and the list is in ["{lists[0]}"]' if len(lists) == 1 else ""
    message = f"{holder.text} is a dict: its keys are {listed(holder.keys)}{hint}"
    if len(lists) != 1:
        return subject.wrong_type(report, message, holder.tool, edit=_without_inner_key(subject, report, holder))
    written = f'"{lists[0]}"][' + subject.source_text(report)
    return subject.wrong_type(report, message, holder.tool, f'["{lists[0]}"]', subject.replacement(report, written))


def _may_have(subject: Subject, report: CheckerReport, key: str) -> bool:
    """True if an object may have a key that its document does not have.

    The program may have stored it, the object may be a dict of its own, or `.get` may read one of several types.
    """
    classes = set(CLASS.findall(report.text))
    if any((name, key) in subject.stored for name in classes):
        return True
    # Of a dict that the program made of several things, the checker takes each value to be any of them.
    kinds = set(report.text.partition("has type `")[2].rstrip("`)").split(" | ")) - {"", "None"}
    has_key = any(key in subject.stubs.objects[name].keys for name in classes & subject.stubs.objects.keys())
    if len(kinds) > 1 and (has_key or not kinds <= classes):
        return True
    subscript = next(subscripts_at(subject.tree, report.line, report.column), None)
    if subscript is not None:
        return isinstance(subscript.value, ast.Name) and subscript.value.id in subject.updated
    position = (report.line, report.column)
    for node in nodes_of(subject.tree, ast.Call):
        if node.args and (node.args[0].lineno, node.args[0].col_offset) == position:
            return any(key in subject.stubs.objects[name].keys for name in classes & subject.stubs.objects.keys())
    return False


def _asks_for(subject: Subject, tool: str, key: str) -> bool:
    """True if the program passes the key to the tool among others, as to a parameter that selects fields."""
    values = [keyword.value for call, _ in calls_of(subject.tree, {tool}) for keyword in call.keywords]
    texts = [node.value for value in values for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return any(key in re.findall(r"\w+", text) for text in texts if isinstance(text, str) and text != key)


def _paths(subject: Subject, tool: str) -> set[tuple[Step, ...]]:
    """The paths of objects in a tool's response."""
    return {holder.path for holder in subject.stubs.objects.values() if holder.tool == tool}


def missing_key(subject: Subject, report: CheckerReport, holder: ResponseObject, key: str) -> Diagnostic:
    """A key that an object lacks, with the keys it has and the place of the missing one."""
    where = holder.text
    message = f'{where} has no "{key}"; its keys are {listed(holder.keys)}'
    synonyms = [name for name in holder.keys if noun_of(name) == noun_of(key)]
    alike = next((words for words in _SYNONYMS if key in words), frozenset())
    synonyms = synonyms or [name for name in holder.keys if name in alike][:1] or abbreviated_names(key, holder.keys)
    lower = {name.lower(): name for name in holder.keys}
    near = synonyms or [lower[match] for match in get_close_matches(key.lower(), lower, 1, 0.6)]
    if _is_resource(subject, key):  # another call is meant, and no key that is spelled nearly so
        synonyms, near = [], []
    sure = bool(synonyms) or (bool(near) and is_misspelled(near[0], key))
    suggestion = f'["{near[0]}"]' if near else None
    text = f'"{near[0]}"' if sure else None
    if inside := _key_below(subject, report, holder, key):
        suggestion = subscripts(inside[len(holder.path) :])
        text = suggestion[1:-1]
        message += f'; "{key}" is in {holder.tool}(…){subscripts(inside)}'
    elif near:
        message += f'; did you mean "{near[0]}"?'
    edit = subject.replacement(report, text) if report.rule == "invalid-typed-dict-key" else None
    if not inside and (unread := _unread_response(subject, holder, key)) is not None:
        tool, name, edit = unread
        message = f'{where} has no "{key}"; {name} has it, in {tool}(…){subscripts((*holder.path, key))}'
        suggestion = name
    elif not inside and not synonyms and (beside := _sibling_with_key(subject, holder, key)) is not None:
        wrong, right, path = beside
        message = f'{where} has no "{key}"; "{key}" is in {holder.tool}(…){subscripts(path)}, not in ["{wrong}"]'
        suggestion, edit = f'["{right}"]', _sole_edit(subject, wrong, right)
    elif not inside and not near and (above := _key_in_ancestor(subject, holder, key)) is not None:
        message += f'; "{key}" is in {holder.tool}(…){subscripts(above)}'
        suggestion, edit = subscripts(above), _edit_from_ancestor(subject, report, holder.tool, above)
    edit = edit or _without_inner_key(subject, report, holder)
    diagnostic = subject.at(report, "unknown-key", message, holder.tool, suggestion, edit)
    return replace(diagnostic, path=holder.path, key=key)


def _is_resource(subject: Subject, key: str) -> bool:
    """True if another tool returns the key as a sub-resource: `release_dates` of `/films/{id}/release_dates`."""
    paths = [subject.contract.protocol.tool(name).path.rstrip("/") for name in subject.names]
    return any(path.endswith(f"}}/{key}") for path in paths)


def _without_inner_key(subject: Subject, report: CheckerReport, holder: ResponseObject) -> Edit | None:
    """Leave a key or index out where the object has the next key that is taken: `reply["data"]` for
    `reply["daily"]["data"]`."""
    inner = next(subscripts_at(subject.tree, report.line, report.column), None)
    match subject.flow.parent(inner) if inner is not None else None:
        case ast.Subscript(value=ast.Subscript() as value, slice=ast.Constant(following)) if value is inner:
            whole, container = Edit.of(subject.lines, value, ""), Edit.of(subject.lines, value.value, "")
            if following in holder.keys and whole is not None and container is not None:
                return Edit(whole.line, container.end, whole.end, "")
    return None


def _key_in_ancestor(subject: Subject, holder: ResponseObject, key: str) -> tuple[Step, ...] | None:
    """The path of a key in an object around another, lists aside."""
    holders = [holder.path[:length] for length in range(len(holder.path)) if 0 not in holder.path[:length]]
    for obj in subject.stubs.objects.values():
        if obj.tool == holder.tool and obj.path in holders and key in obj.keys:
            return (*obj.path, key)
    return None


def _edit_from_ancestor(subject: Subject, report: CheckerReport, tool: str, path: tuple[Step, ...]) -> Edit | None:
    """Read the key from the whole response, by repeating the only call of a tool that reads.

    Not inside a loop, where the call would be repeated for each item.
    """
    calls = [call for call, _ in calls_of(subject.tree, {tool})]
    wrong = next(subscripts_at(subject.tree, report.line, report.column), None)
    if len(calls) != 1 or wrong is None or subject.contract.protocol.tool(tool).writes:
        return None
    if any(wrong in inside and calls[0] not in inside for inside in map(_loop_body, ast.walk(subject.tree))):
        return None
    return Edit.of(subject.lines, wrong, f"{ast.unparse(calls[0])}{subscripts(path)}")


def _loop_body(node: ast.AST) -> set[ast.AST]:
    """The nodes that a loop repeats, without its iterable."""
    if isinstance(node, ast.For | ast.While):
        return {part for statement in node.body for part in ast.walk(statement)}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return set(ast.walk(node)) - set(ast.walk(node.generators[0].iter))
    return set()


def _sibling_with_key(subject: Subject, holder: ResponseObject, key: str) -> tuple[str, str, tuple[Step, ...]] | None:
    """The sibling of an object that has a key: the wrong step, the right one, and the path of the key."""
    for obj in subject.stubs.objects.values():
        if obj.tool != holder.tool or key not in obj.keys or len(obj.path) != len(holder.path):
            continue
        steps_apart = [pair for pair in zip(holder.path, obj.path, strict=True) if pair[0] != pair[1]]
        if len(steps_apart) == 1:
            wrong, right = steps_apart[0]
            return str(wrong), str(right), (*obj.path, key)
    return None


def _unread_response(subject: Subject, holder: ResponseObject, key: str) -> tuple[str, str, Edit | None] | None:
    """An unread response with the key at the same path: its tool, its variable, and the edit."""
    holders = [
        node.value
        for node in nodes_of(subject.tree, ast.Subscript)
        if isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant)
        and [node.slice.value] == list(holder.path[:1])
        and subject.origin_of(node.value) == (holder.tool, ())
    ]
    for obj in subject.stubs.objects.values():
        if obj.tool == holder.tool or obj.path != holder.path or key not in obj.keys or len(holders) != 1:
            continue
        for name, tool, path in subject.unread_responses():
            if (tool, path) == (obj.tool, ()):
                return tool, name, Edit.of(subject.lines, holders[0], name)
    return None


def _sole_edit(subject: Subject, wrong: str, right: str) -> Edit | None:
    """Replace a key, if the program has it in one place alone."""
    keys = [
        node.slice
        for node in nodes_of(subject.tree, ast.Subscript)
        if isinstance(node.slice, ast.Constant) and node.slice.value == wrong
    ]
    return Edit.of(subject.lines, keys[0], f'"{right}"') if len(keys) == 1 else None


def _key_below(subject: Subject, report: CheckerReport, holder: ResponseObject, key: str) -> tuple[Step, ...] | None:
    """The path of a key below an object, at most three steps deeper.

    An object with the name of the variable comes first (the `track` of an entry), then the nearest.
    """
    called = {
        noun_of(node.value.id)
        for node in nodes_of(subject.tree, ast.Subscript)
        if isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant)
        and (node.slice.value, node.lineno) == (key, report.line)
    }
    below = [
        obj.path
        for obj in subject.stubs.objects.values()
        if obj.tool == holder.tool
        and len(holder.path) < len(obj.path) <= len(holder.path) + 3
        and obj.path[: len(holder.path)] == holder.path
        and key in obj.keys
    ]
    if not below:
        return None
    return *min(below, key=lambda path: (noun_of(str(path[-1])) not in called, len(path))), key
