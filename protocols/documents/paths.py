"""The operations of a document, however its paths are written: without their slash, in other files, with variables that
span segments, with a query within the key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from protocols.documents.source import METHODS, DocumentSet, mapping_or_empty, pointer
from protocols.errors import ProtocolError
from protocols.model import LeftOut, Parameter, Schema
from protocols.naming import argument_name, tool_name

__all__ = [
    "VARIABLE",
    "WrittenOperation",
    "operations",
    "plain_path",
    "reserved",
    "spanning_variables",
    "with_fixed_query",
    "without_query_template",
]

_NO_SLASH = "repaired a path without a slash at its beginning"
_SPELLED = "repaired a method that is not in lower case"
_BESIDE_METHODS = frozenset({"$ref", "summary", "description", "servers", "parameters"})
_FURTHER = "additionalOperations"
"""Of OpenAPI 3.2: operations with methods of any name."""

VARIABLE = re.compile(r"\{([^{}]*)\}")
_EXPANSION = re.compile(r"(?P<sign>\+|\*{1,2}|)(?P<name>[^*+:=]+?)(?P<end>\*|\+|\.\.\.|)([:=](?P<pattern>.*))?")
"""A path variable of a dialect: `{+path}`, `{path*}`, `{proxy+}`, `{**path}`, `{path:.+}`, `{name=projects/*}`."""

_QUERY_TEMPLATE = re.compile(r"\{[?&]([^{}]*)\}")

_SPANNING = re.compile(r"\^?\(?(\.[*+]|path)\)?\$?|.*(/|\*\*).*")
"""The pattern of a variable whose value may have slashes."""


def plain_path(path: str) -> str:
    """A path whose variables have but their names: `/files/{+path}` is `/files/{path}`."""
    return VARIABLE.sub(lambda variable: f"{{{_variable_name(variable[1])}}}", path)


def without_query_template(path: str) -> tuple[str, tuple[str, ...]]:
    """A path without the query of a URI template, and its names: `/j/{id}{?page,size}` is `/j/{id}` (RFC 6570)."""
    written = ",".join(_QUERY_TEMPLATE.findall(path)).split(",")
    names = dict.fromkeys(name.partition(":")[0].strip(" *") for name in written)
    return _QUERY_TEMPLATE.sub("", path), tuple(filter(None, names))


def _variable_name(written: str) -> str:
    match = _EXPANSION.fullmatch(written)
    return match["name"] if match else written


def spanning_variables(path: str) -> Iterator[str]:
    """The names of the variables of a path whose values may have slashes."""
    for written in VARIABLE.findall(path):
        match = _EXPANSION.fullmatch(written)
        if match and (match["sign"] in ("+", "*", "**") or match["end"] or _SPANNING.fullmatch(match["pattern"] or "")):
            yield match["name"]


def reserved(parameter: Parameter, spanning: Collection[str]) -> Parameter:
    """The parameter, spanning segments if its path or its pattern says so."""
    if parameter.location != "path" or parameter.reserved:
        return parameter
    pattern = str(parameter.schema.get("pattern") or "")
    spans = parameter.name in spanning or _SPANNING.fullmatch(pattern.strip("^$")) is not None
    return replace(parameter, reserved=True) if spans else parameter


class WrittenOperation(NamedTuple):
    """An operation and its path item, each with the URI of the document that it is in, and its JSON pointer."""

    path: str
    method: str
    item: Mapping[str, Any]
    item_base: str
    content: object
    base: str
    place: str


def operations(
    document: Mapping[str, Any], documents: DocumentSet, notes: Counter[str]
) -> Iterator[WrittenOperation | LeftOut]:
    """The operations in the order of the document, and what stands there that cannot be called; no extensions.

    Raises: ProtocolError: The paths lie in a file that is none.
    """
    paths, base = documents.resolved(document.get("paths"), documents.uri)
    taken: set[tuple[str, str]] = set()
    for written, raw in paths.items():
        key = str(written).strip()
        if "://" in key:
            yield from _at_whole_url(str(written), raw)
            continue
        if key.startswith("x-"):
            continue
        path = key if key.startswith("/") else f"/{key}"
        notes.update([_NO_SLASH] if path != written else [])
        try:
            item, item_base = documents.resolved(raw, base)
        except ProtocolError as error:
            yield LeftOut("", path, "", str(error), place=pointer("paths", written))
            continue
        for name, value in _with_spelling_last(item):
            method, place = name.strip().lower(), pointer("paths", str(written), name)
            if method not in METHODS:
                yield from _uncallable(path, name, value, place)
                continue
            if (path, method) in taken:
                yield _left_out(path, method, value, f"the document has {method.upper()} {path} twice", place)
                continue
            taken.add((path, method))
            notes.update([_SPELLED] if name != method else [])
            content, where = value, item_base
            try:
                if "$ref" in mapping_or_empty(value):
                    content, where = documents.resolved(value, item_base)
            except ProtocolError as error:
                yield _left_out(path, method, value, str(error), place)
                continue
            yield WrittenOperation(path, method, item, item_base, content, where, place)


def _with_spelling_last(item: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The entries in order, but a method in capitals behind the same one in lower case."""
    entries = [(str(name), value) for name, value in item.items()]
    names = {name for name, _ in entries}
    return sorted(entries, key=lambda entry: entry[0] != entry[0].lower() and entry[0].lower() in names)


def _uncallable(path: str, name: str, value: Any, place: str) -> Iterator[LeftOut]:
    """What stands where a method is expected and is none that can be called."""
    if name == _FURTHER:
        for method, operation in mapping_or_empty(value).items():
            reason = f"calls with the method {method} are not supported"
            yield _left_out(path, method, operation, reason, f"{place}/{pointer(method)[2:]}")
    elif name.strip().lower() == "query":
        yield _left_out(path, name.strip(), value, "calls with the method QUERY are not supported", place)
    elif isinstance(value, Mapping) and name.strip().lower() not in _BESIDE_METHODS and not name.startswith("x-"):
        yield _left_out(path, name.strip(), value, f"{name[:40]!r} is no HTTP method", place)


def _at_whole_url(key: str, item: Any) -> Iterator[LeftOut]:
    reason = "its path is a whole URL; write the server under `servers`"
    methods = [name for name in mapping_or_empty(item) if str(name).lower() in METHODS]
    for name in methods:
        yield _left_out(key, str(name), item[name], reason, pointer("paths", key, name))
    if not methods:
        yield LeftOut("", key, "", reason, place=pointer("paths", key))


def _left_out(path: str, method: str, operation: Any, reason: str, place: str) -> LeftOut:
    identifier = str(mapping_or_empty(operation).get("operationId") or "")
    return LeftOut(method.upper(), path, tool_name(method, path), reason, identifier, place)


def with_fixed_query(
    parameters: Mapping[tuple[str, str], Parameter], query: str, optional: Collection[str]
) -> dict[tuple[str, str], Parameter]:
    """The parameters with those of a query in the key of a path: `/items?kind=a&q={q}`; `optional`: of its template."""
    result = dict(parameters)
    for name in optional:
        result.setdefault(("query", name), _in_query(name, False, {"type": "string"}))
    for name, value in parse_qsl(query, keep_blank_values=True):
        variable = VARIABLE.fullmatch(value)
        if variable is None:
            result["query", name] = _in_query(name, True, {"type": "string", "const": value})
            continue
        described = result.pop(("path", variable[1]), None) or result.get(("query", name))
        if described is None:
            raise ProtocolError(f"the path holds {{{variable[1]}}}, which no parameter describes")
        result["query", name] = replace(described, name=name, location="query", style="form", explode=True)
    return result


def _in_query(name: str, required: bool, schema: Schema) -> Parameter:
    return Parameter(name, argument_name(name), "query", required, schema, style="form", explode=True)
