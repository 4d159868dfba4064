"""Facts about answers that hold nothing of a reply: an empty search, a field that no reply has, another spelling.

A filter that no item passes returns an empty list, which looks like an answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from atc.evidence.finding import Finding, made_writes, name_of
from atc.evidence.traced_run import TracedRun, lists_in
from atc.program.tree import called_tool, nodes_of
from protocols.json_path import Step
from sandbox.records import CallRecord

if TYPE_CHECKING:
    from atc.program.def_use import DefUse

__all__ = ["empty_selection", "nothing_found"]

_EMPTY_VALUES = frozenset({"", "None", "[]", "{}", "()", "set()", "nan", "''"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAX_FIELDS = 14
"""Fields that are listed in place of one that is missing."""
_MAX_ARGUMENTS = 120
"""Characters of arguments or output in a message."""


def nothing_found(traced: TracedRun) -> Finding | None:
    """No value of a reply is printed, and a call behind the answer was asked for something and returned no items."""
    if made_writes(traced.run):
        return None
    if traced.lines and all(map(_is_empty, traced.lines)):
        return Finding("NothingFound", f"the program printed {traced.lines[0][:_MAX_ARGUMENTS]!r}, which holds nothing")
    if _holds_data(traced):
        return None
    for call in traced.good_calls:
        lists = [items for _, items, _ in lists_in(traced.response(call))]
        if call.arguments and lists and not any(lists) and traced.is_behind_output(call):
            arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())[:_MAX_ARGUMENTS]
            return Finding.of_call("NothingFound", f"nothing was found by {name_of(call)}({arguments})", call)
    return _null(traced)


def _null(traced: TracedRun) -> Finding | None:
    """All that was printed of replies is null."""
    for source in traced.data_sources:
        if source.how == "exact" and traced.value_of(source) is None:
            call = traced.run.calls[source.call]
            return Finding.of_call("NothingFound", f"the value of {name_of(call)} is null", call, source.path)
    return None


def _is_empty(line: str) -> bool:
    """True for an empty value of Python by itself or after a colon: `[]`, `None`, `Cast: {}`."""
    return line.rpartition(":")[2].strip() in _EMPTY_VALUES


def _holds_data(traced: TracedRun) -> bool:
    """True if a printed value is, or was made from, a value of a reply that is not empty."""
    return any(traced.value_of(source) not in (None, "", [], {}) for source in traced.data_sources)


def empty_selection(traced: TracedRun) -> Finding | None:
    """No item passed: the program compares with another spelling than the replies have, or reads a field they lack.

    Only where the output has no value of a reply and no number but zero.
    """
    if made_writes(traced.run) or traced.shows_data or any(map(float, _NUMBER.findall(traced.run.stdout))):
        return None
    from atc.program.def_use import def_use

    flow = def_use(traced.program)
    return None if flow is None else _missing_field(flow, traced) or _other_spelling(flow, traced)


def _missing_field(flow: DefUse, traced: TracedRun) -> Finding | None:
    """A field is read with a default, and no object that it is read from has the field."""
    for node in nodes_of(flow.tree, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args):
            continue
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if not isinstance(key, str) or "/" in key:  # the path of a request
            continue
        objects = [value for value in _values_of(node.func.value, flow, traced) if isinstance(value, dict) and value]
        if objects and not any(key in value for value in objects):
            listed = ", ".join(list(objects[0])[:_MAX_FIELDS])
            message = f"line {node.lineno} reads {key!r}, and no reply has such a field; there are {listed}"
            return Finding("EmptyForNegative", message, node.lineno)
    return None


def _other_spelling(flow: DefUse, traced: TracedRun) -> Finding | None:
    """A comparison with a text that the values compared have in another case, punctuation or plural."""
    for node in nodes_of(flow.tree, ast.Compare):
        if not isinstance(node.ops[0], ast.Eq | ast.In):
            continue
        for side, opposite in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            constant = flow.constant(side)
            values = list(_values_of(opposite, flow, traced)) if isinstance(constant, str) and constant else []
            alike = next((value for value in values if _bare(value) == _bare(constant)), None)
            if constant not in values and alike is not None:
                message = f"line {node.lineno} compares with {constant!r}, and the reply says {alike!r}"
                return Finding("EmptyForNegative", message, node.lineno)
    return None


def _bare(value: object) -> str:
    """A value as text without what two spellings differ in."""
    return re.sub(r"[\W_]+", "", str(value)).casefold().rstrip("s")


def _values_of(node: ast.expr, flow: DefUse, traced: TracedRun) -> Iterator[object]:
    """What an expression may have been in the run: the values in responses that it is taken from."""
    by_tool: dict[str, list[CallRecord]] = {}
    for call in traced.good_calls:
        by_tool.setdefault(call.tool or "", []).append(call)
    for origin in flow.origins(node, lambda call: called_tool(call) in by_tool):
        for call in by_tool[called_tool(origin.call)]:
            if call.line == origin.call.lineno:
                yield from _at(traced.response(call), origin.path)


def _at(value: object, path: tuple[Step, ...]) -> Iterator[object]:
    """The values at a path in which 0 stands for any item of a list."""
    if not path:
        yield value
    elif isinstance(value, list) and isinstance(path[0], int):
        for item in value:
            yield from _at(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])
