"""Why no item passed a selection: the program writes a text otherwise than the replies, or reads a field they lack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.diagnosis.provenance import TracedRun
from atc.evidence.answers import Finding
from atc.program.def_use import DefUse, def_use
from atc.program.source import called_tool, nodes_of
from protocols.json_path import Step
from protocols.schema_fields import fields
from sandbox.records import CallRecord

__all__ = ["missed_by_spelling"]

_MAX_FIELDS = 14
"""Fields that are listed in place of one that is missing."""


def missed_by_spelling(traced: TracedRun) -> Finding | None:
    """The field that no reply has, or the text that none has in this spelling; None without one."""
    flow = def_use(traced.program)
    return None if flow is None else _missing_field(flow, traced) or _other_spelling(flow, traced)


def _missing_field(flow: DefUse, traced: TracedRun) -> Finding | None:
    """A field is read with a default, and no object that it is read from has the field, nor should have.

    What the document has there may be left out, such as the cursor of a last page.
    """
    for node in nodes_of(flow.tree, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args):
            continue
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if not isinstance(key, str) or "/" in key:  # the path of a request
            continue
        holder = node.func.value
        objects = [value for value in _values_of(holder, flow, traced) if isinstance(value, dict) and value]
        if objects and not any(key in value for value in objects) and not _is_documented(key, holder, flow, traced):
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


def _is_documented(key: str, holder: ast.expr, flow: DefUse, traced: TracedRun) -> bool:
    """True if a reply that an object may be from has such a field there, as the document says."""
    for origin in flow.origins(holder, lambda call: called_tool(call) in traced.tools):
        schema = traced.tools[called_tool(origin.call)].response_schema
        if schema is not None and traced.graph is not None:
            path = (*origin.path, key)
            if any(field.path == path for field in fields(schema, traced.graph.protocol)):
                return True
    return False


def _at(value: object, path: tuple[Step, ...]) -> Iterator[object]:
    """The values at a path in which 0 stands for any item of a list."""
    if not path:
        yield value
    elif isinstance(value, list) and isinstance(path[0], int):
        for item in value:
            yield from _at(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])
