"""Values of a wrong type, from a response or in an argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.assist.check.diagnostic import Diagnostic, Edit
from atc.assist.check.diagnostics.keys import missing_key
from atc.assist.check.diagnostics.names import describe_name
from atc.assist.check.diagnostics.subject import CLASS, SCALARS, Subject, listed
from atc.assist.check.function_stubs import namespaces
from atc.assist.check.stubs import ResponseObject
from atc.assist.check.type_checker import CheckerReport
from atc.program.def_use import Definition
from atc.program.source import nodes_of
from protocols.json_path import subscripts
from protocols.model import Tool
from protocols.text.words import is_identifier

__all__ = ["describe_value"]

_ARGUMENT = re.compile(r"Argument to function `([\w.]+)` is incorrect: Expected `(.*)`, found `(.*)`")
_LITERAL = re.compile(r"^Literal\[(.).*")
_INDEXED = re.compile(r"Method `__getitem__` of type .* on object of type `(.*)`$")


def describe_value(subject: Subject, report: CheckerReport, quoted: list[str]) -> Diagnostic | None:
    """A value of a wrong type, from a response or in an argument."""
    classes = [name for text in quoted for name in CLASS.findall(text) if name in subject.stubs.objects]
    holder = subject.stubs.objects[classes[0]] if classes else None
    tool = holder.tool if holder else None
    if (mismatch := _ARGUMENT.match(report.text)) is not None:
        return _argument_type(subject, report, mismatch[1], mismatch[2], mismatch[3])
    if (indexed := _INDEXED.match(report.text)) is not None:
        return _indexed(subject, report, indexed[1], holder)
    if report.rule in ("missing-attribute", "unresolved-attribute"):
        return _attribute(subject, report, quoted, holder)
    nothing = report.rule == "not-subscriptable" and quoted[:1] == ["None"]
    if nothing and (subject.is_set_later(report) or subject.source_text(report).startswith("re.")):
        return None
    if report.rule == "not-subscriptable" and quoted and quoted[0] in SCALARS:
        return subject.wrong_type(report, f'object of type "{quoted[0]}" is not subscriptable', tool)
    if report.rule == "not-iterable" and quoted and quoted[0] in SCALARS:
        return subject.wrong_type(report, f'object of type "{quoted[0]}" is not iterable', tool)
    if report.rule == "unsupported-operator" and len(quoted) > 1:  # one type where both are of it
        kinds = [_LITERAL.sub(_plain, kind).rstrip("*") for kind in (quoted[1], quoted[-1])]
        if all(kind in SCALARS or kind in subject.stubs.objects for kind in kinds):
            left_type, right_type = map(subject.type_text, kinds)
            message = f'operator "{quoted[0]}" not supported for types "{left_type}" and "{right_type}"'
            return subject.wrong_type(report, message, tool)
    return None


def _attribute(
    subject: Subject, report: CheckerReport, quoted: list[str], holder: ResponseObject | None
) -> Diagnostic | None:
    """`x.name` where x is an object of a response, or a list of them."""
    attribute = quoted[-1]
    if quoted[0] in namespaces(subject.names):
        return describe_name(subject, report, f"{quoted[0]}.{attribute}")
    if (kind := _value_class(subject, quoted[0])) is not None:
        fields = listed([parameter.argument for parameter in kind.arguments])
        message = f'cannot access attribute "{attribute}" for class "{kind.name}"; it has {fields}'
        return subject.wrong_type(report, message, kind.name)
    if report.text.startswith("Module `datetime` "):
        message = f'"{attribute}" is not a known attribute of module "datetime"; write: from datetime import datetime'
        return subject.at(report, "unknown-name", message)
    if holder is None or not quoted[0].startswith(("_T", "list[_T")):
        return None
    if quoted[0].startswith("list["):
        where = f"{holder.tool}(…){subscripts(holder.path[:-1])}"
        message = f'cannot access attribute "{attribute}": {where} is a list; write [0]["{attribute}"]'
        return subject.wrong_type(report, message, holder.tool, f'[0]["{attribute}"]')
    if attribute in holder.keys:
        message = f'cannot access attribute "{attribute}": {holder.text} is a dict; write ["{attribute}"]'
        return subject.wrong_type(report, message, holder.tool, f'["{attribute}"]')
    return missing_key(subject, report, holder, attribute)


def _value_class(subject: Subject, name: str) -> Tool | None:
    """The value class of that name."""
    tool = subject.contract.protocol.tool(name) if name in subject.names else None
    return tool if tool is not None and tool.function is not None and tool.function.made is not None else None


def _argument_type(
    subject: Subject, report: CheckerReport, function: str, expected: str, actual: str
) -> Diagnostic | None:
    """An argument of a wrong type. Literals are checked in `atc.assist.check.literals`."""
    if function not in subject.names or actual.startswith("Literal[") or "Unknown" in actual or "Any" in actual:
        return None
    node = subject.expression(report)
    number = expected.startswith("float")
    argument = node.arg if isinstance(node, ast.keyword) else _positional_argument(subject, report, function, node)
    entry = subject.graph.item_key(function, argument) if subject.graph is not None and argument else ""
    if entry and expected.startswith("Sequence["):
        message = f'{function}(): argument "{argument}" takes objects: [{{"{entry}": …}}, …]'
        return subject.wrong_type(report, message, function)
    value = node.value if isinstance(node, ast.keyword) else node
    key = value.slice.value if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) else None
    if actual == "None" or (actual == "str" and not (number and isinstance(key, str) and not is_identifier(key))):
        return None
    which = f'argument "{argument}"' if argument else "an argument"
    wants = "a number" if number else "a text or number" if expected.startswith("str") else "another type"
    if (python := subject.contract.protocol.tool(function).function) is not None and argument:
        wants = python.hints[argument].text
    classes = [name for name in CLASS.findall(actual) if name in subject.stubs.objects]
    identifiers = [key for key in subject.stubs.objects[classes[0]].keys if is_identifier(key)] if classes else []
    suggestion = None
    if identifiers and not actual.startswith("list["):
        suggestion = f'["{"id" if "id" in identifiers else identifiers[0]}"]'
    hint = f"; take its {suggestion}" if suggestion else ""
    message = f"{function}(): {which} must be {wants}, not {subject.type_text(actual)}{hint}"
    end = Edit(report.end_line, report.end_column, report.end_column, suggestion) if suggestion else None
    return subject.wrong_type(report, message, function, suggestion, end)


def _positional_argument(subject: Subject, report: CheckerReport, function: str, node: ast.AST | None) -> str | None:
    """The argument of a positional value."""
    names = [parameter.argument for parameter in subject.contract.protocol.tool(function).positional]
    for call in subject.calls(report):
        for name, value in zip(names, call.args, strict=False):
            if value is node:
                return name
    return None


def _indexed(subject: Subject, report: CheckerReport, kind: str, holder: ResponseObject | None) -> Diagnostic | None:
    """`x["key"]` where x is a list or a text."""
    if kind.startswith("list["):
        where = f"{holder.tool}(…){subscripts(holder.path[:-1])}" if holder is not None else "this"
        message = f"list indices must be integers: {where} is a list; take an item of it first, as in [0], or loop"
        return subject.wrong_type(report, message, holder.tool if holder is not None else None, "[0]")
    loop = _loop(subject, report) if kind == "str" else None
    if kind == "str" and loop is None:
        return subject.wrong_type(report, "string indices must be integers: this is str")
    return _dict_loop(subject, report, loop) if loop is not None else None


def _dict_loop(subject: Subject, report: CheckerReport, loop: Definition) -> Diagnostic:
    """A loop over a dict: its lists, and the only one with the keys that the program reads."""
    problem = "iterating over a dict gives its keys, which are str"
    iterated = loop.value
    origin = subject.origin_of(iterated) if iterated is not None else None
    if iterated is None or origin is None:
        return subject.wrong_type(report, problem)
    tool, path = origin
    body = subject.contract.body(tool)
    shape = body.at(path) if body is not None else None
    lists = {key: value.type.item for key, value in shape.keys.items() if value.type.kind == "list"} if shape else {}
    used_keys = set(_keys_used_in(subject, loop))
    fitting = [key for key, item in lists.items() if item is not None and used_keys <= set(item.keys)]
    message = f"{problem}; the lists of {tool}(…){subscripts(path)} are {listed(list(lists))}" if lists else problem
    edit = None
    if len(fitting) == 1 and iterated.lineno == iterated.end_lineno:
        end = iterated.end_col_offset or 0
        edit = Edit(iterated.lineno, end, end, f'["{fitting[0]}"]')
        message = f'{problem}; iterate over ["{fitting[0]}"] of {tool}(…){subscripts(path)}'
    return subject.wrong_type(report, message, tool, f'["{fitting[0]}"]' if edit else None, edit)


def _keys_used_in(subject: Subject, loop: Definition) -> Iterator[object]:
    """The keys that are read from the variable of a loop, or from an item picked by it."""
    for use in subject.flow.uses(loop):
        holder: ast.AST | None = use
        picked = subject.flow.parent(use)
        if isinstance(picked, ast.ListComp) and picked.elt is use:  # [… for …][0]["key"]
            holder = subject.flow.parent(picked)
        match subject.flow.parent(holder) if holder is not None else None:
            case ast.Subscript(value=value, slice=ast.Constant(key)) if value is holder:
                yield key


def _loop(subject: Subject, report: CheckerReport) -> Definition | None:
    """The variable that the checker points at, if it takes the items of something in turn.

    `for`, a comprehension, and `max(x, key=lambda one: …)`, which is a loop over x, too.
    """
    node = subject.expression(report)
    for name in nodes_of(node, ast.Name) if node is not None else ():
        definition = subject.flow.only(name)
        if definition is not None and definition.path == (0,) and definition.kind != "assignment":
            return definition
    return None


def _plain(literal: re.Match[str]) -> str:
    """The type of a literal by its first character."""
    return "str" if literal[1] in "\"'" else "int" if literal[1] in "-0123456789" else "bool"
